"""Hand-made bugs fit the tree, are caught by a test that notices them, and are missed by one that does not."""

from pathlib import Path

import pytest

from eval.checks.mutations import Bug, Fate, check_tests, judge, metrics_of, read_bugs, table_of
from nsrecover.errors import InvalidConfiguration


def test_every_bug_fits_the_tree() -> None:
    bugs = read_bugs()
    assert len(bugs) >= 40
    assert len({bug.name for bug in bugs}) == len(bugs)
    packages = {bug.package for bug in bugs}
    own = ("core", "domains", "perception", "models", "monitoring", "planning", "explanation", "records")
    assert packages >= {f"nsrecover.{name}" for name in (*own, "instructions", "integrations")}
    assert packages >= {"sim.sensors", "eval.common"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "program.py").write_text("def double(x):\n    return 2 * x\n")
    (tmp_path / "test_good.py").write_text("from program import double\ndef test_it():\n    assert double(3) == 6\n")
    (tmp_path / "test_blind.py").write_text("from program import double\ndef test_it():\n    assert double(0) == 0\n")
    (tmp_path / "test_slow.py").write_text("import time\ndef test_it():\n    time.sleep(60)\n")
    return tmp_path


@pytest.mark.parametrize(
    ("test", "fate"),
    [("test_good.py", Fate.CAUGHT), ("test_blind.py", Fate.MISSED), ("test_slow.py", Fate.TIMED_OUT)],
)
def test_a_bug_is_caught_by_tests_that_notice_it(test: str, fate: Fate, tree: Path) -> None:
    before = (tree / "program.py").read_text()
    bug = Bug("threefold", "program.py", "2 * x", "3 * x", (test,))
    found = judge(bug, tree, timeout_s=1.0 if fate is Fate.TIMED_OUT else 60.0)
    assert found.fate is fate
    assert (tree / "program.py").read_text() == before
    metrics = metrics_of([found])
    assert metrics["missed"] == (["threefold"] if fate is Fate.MISSED else [])
    assert f"{0 if fate is Fate.MISSED else 1} of 1" in table_of(metrics)


def test_tests_that_cannot_be_run_or_fail_anyway_are_no_catch(tree: Path) -> None:
    (tree / "test_wrong.py").write_text("def test_it():\n    assert False\n")
    with pytest.raises(InvalidConfiguration, match="one that fails among test_wrong"):
        check_tests([Bug("x", "program.py", "2 * x", "3 * x", ("test_wrong.py",))], tree)
    with pytest.raises(InvalidConfiguration, match="tests of 'x' that run"):
        judge(Bug("x", "program.py", "2 * x", "3 * x", ("test_nowhere.py",)), tree, timeout_s=60.0)


def test_a_bug_that_no_longer_fits_is_refused(tree: Path) -> None:
    (tree / "bugs.yaml").write_text("- {name: x, file: program.py, old: 4 * x, new: 3 * x, tests: [test_good.py]}\n")
    with pytest.raises(InvalidConfiguration, match=r"'x': 0 times in program\.py"):
        read_bugs(tree / "bugs.yaml", tree)
