"""`python -m eval.checks.mutations`: put hand-made bugs into a copy of the tree, and run the tests of their package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import yaml
from tqdm import tqdm

from eval.common.runner import Measurement, Run, Settings, run
from eval.common.statistics import share
from eval.common.tables import document, markdown_table
from nsrecover.errors import InvalidConfiguration

ROOT = Path(__file__).parents[2]
BUGS = Path(__file__).with_name("bugs.yaml")
COPIED = (
    "nsrecover",
    "sim",
    "train",
    "eval",
    "conf",
    "tests",
    "docs",
    "examples",
    "ros2",
    "pyproject.toml",
    "README.md",
)
"""What the tests of a package need of the tree."""

PASSED, FAILED = 0, 1
"""Exit codes of pytest."""


@dataclass
class MutationsConfig(Settings):
    """Put one hand-made bug after the other into a copy of the tree, and run the tests that are named for its package.

      python -m eval.checks.mutations                        all bugs; about ten minutes
      python -m eval.checks.mutations only=planning          those of one package

    The bugs are in eval/checks/bugs.yaml: file, old text, new text, tests. A bug whose tests still pass is missed.
    Writes metrics.json and table.md to out=DIR.

    Attributes:
        only: part of the name or of the file of the bugs to try; empty for all.
        timeout_s: time for the tests of one bug, seconds.
    """

    only: str = ""
    timeout_s: float = 300.0
    out: str = "outputs/mutations"


@dataclass(frozen=True)
class Bug:
    """A small change that makes the program wrong.

    Attributes:
        name: what is wrong then.
        file: the file that is changed, below the root of the tree.
        old: text that occurs once in it.
        new: text in its place.
        tests: files, folders or names of tests that are run, as for pytest.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def package(self) -> str:
        """The package that it is in: `nsrecover.planning`, `sim.sensors`."""
        return ".".join(Path(self.file).parts[:2])


class Fate(StrEnum):
    """What became of a bug."""

    CAUGHT = "caught"
    MISSED = "missed"
    TIMED_OUT = "timed out"
    """The tests did not end, which a person would notice, too."""


@dataclass(frozen=True)
class Judged:
    """A bug, what became of it, and how long its tests took."""

    bug: Bug
    fate: Fate
    seconds: float


def read_bugs(path: Path = BUGS, root: Path = ROOT) -> tuple[Bug, ...]:
    """Read the bugs.

    Raises:
        InvalidConfiguration: a bug does not fit the tree, so that it would change nothing, or more than is meant.
    """
    bugs = tuple(Bug(**{**each, "tests": tuple(each["tests"])}) for each in yaml.safe_load(path.read_text()))
    for bug in bugs:
        found = (root / bug.file).read_text(encoding="utf-8").count(bug.old) if (root / bug.file).is_file() else 0
        missing = [test for test in bug.tests if not (root / test.partition("::")[0]).exists()]
        if found != 1 or missing or bug.old == bug.new:
            raise InvalidConfiguration(
                f"expected a bug whose text is once in its file, and tests that exist, found {bug.name!r}: {found} "
                f"times in {bug.file}, missing {missing}; change {path.name} with the program"
            )
    return bugs


@contextmanager
def copied_tree() -> Iterator[Path]:
    """A copy of the tree in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="nsrecover-mutations-") as name:
        for each in COPIED:
            source = ROOT / each
            if source.is_dir():
                shutil.copytree(source, Path(name) / each, ignore=shutil.ignore_patterns("__pycache__", "outputs"))
            elif source.is_file():
                shutil.copy(source, name)
        yield Path(name)


def check_tests(bugs: Sequence[Bug], tree: Path) -> None:
    """Check that all tests pass in a tree without bugs: a test that fails anyway catches nothing.

    Raises:
        InvalidConfiguration: one does not.
    """
    tests = sorted({test for bug in bugs for test in bug.tests})
    if run_tests(tests, tree, None) != PASSED:
        raise InvalidConfiguration(
            f"expected tests that pass without bugs, found one that fails among {' '.join(tests)}"
        )


def judge(bug: Bug, tree: Path, timeout_s: float) -> Judged:
    """Run the tests of a bug in a tree that has it, and take it out again.

    Raises:
        InvalidConfiguration: the tests could not be run.
    """
    path = tree / bug.file
    whole = path.read_text(encoding="utf-8")
    began = time.perf_counter()
    try:
        path.write_text(whole.replace(bug.old, bug.new), encoding="utf-8")
        code = run_tests(bug.tests, tree, timeout_s)
    except subprocess.TimeoutExpired:
        return Judged(bug, Fate.TIMED_OUT, timeout_s)
    finally:
        path.write_text(whole, encoding="utf-8")
    if code not in (PASSED, FAILED):
        raise InvalidConfiguration(f"expected tests of {bug.name!r} that run, found pytest's exit code {code}")
    return Judged(bug, Fate.CAUGHT if code == FAILED else Fate.MISSED, round(time.perf_counter() - began, 1))


def run_tests(tests: Sequence[str], tree: Path, timeout_s: float | None) -> int:
    """Exit code of pytest, which stops at the first failure."""
    quick = ["-q", "-x", "-p", "no:cacheprovider", "--no-header"]
    environment = {**os.environ, "PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *quick, *tests], cwd=tree, env=environment, timeout=timeout_s,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
    ).returncode  # fmt: skip


def chosen(config: MutationsConfig) -> list[Bug]:
    """The bugs that the settings name.

    Raises:
        InvalidConfiguration: there is none, or one does not fit the tree.
    """
    bugs = [bug for bug in read_bugs() if config.only in f"{bug.name} {bug.file}"]
    if not bugs:
        raise InvalidConfiguration(f"expected a part of the name or file of a bug, found {config.only!r}")
    return bugs


def measure(config: MutationsConfig, run: Run) -> dict[str, Any]:
    """Judge all bugs, every time anew: what decides is the whole tree.

    Raises:
        InvalidConfiguration: tests fail without bugs, or cannot be run.
    """
    bugs = chosen(config)
    judged = list[Judged]()
    with copied_tree() as tree, tqdm(bugs, unit="bug") as bar:
        check_tests(bugs, tree)
        for bug in bar:
            bar.set_postfix_str(bug.name)
            judged.append(judge(bug, tree, config.timeout_s))
    return metrics_of(judged)


def metrics_of(judged: Sequence[Judged]) -> dict[str, Any]:
    """The contents of metrics.json."""
    noticed = sum(each.fate is not Fate.MISSED for each in judged)
    return {
        "bugs": len(judged),
        "caught": share(noticed, len(judged)),
        "missed": [each.bug.name for each in judged if each.fate is Fate.MISSED],
        "judged": [
            {"name": each.bug.name, "package": each.bug.package, "fate": each.fate.value, "seconds": each.seconds}
            for each in judged
        ],
    }


def table_of(metrics: dict[str, Any]) -> str:
    """Metrics as a table."""
    rows = [[each["package"], each["name"], each["fate"]] for each in metrics["judged"]]
    return document(
        f"{metrics['bugs'] - len(metrics['missed'])} of {metrics['bugs']} hand-made bugs are caught by the tests of "
        "their package",
        markdown_table(("package", "bug", "fate"), rows),
    )


MEASUREMENT = Measurement(MutationsConfig, measure, table_of, checkpoint=None)

if __name__ == "__main__":
    run(MEASUREMENT)
