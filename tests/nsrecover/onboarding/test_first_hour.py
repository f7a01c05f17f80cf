"""New projects, and what the mistakes of the first hour say; `tests/test_tutorial.py` goes all the way."""

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.commands import ROOT, run
from tests.nsrecover.onboarding.box_runs import write_runs

nsr = partial(run, "nsrecover.cli.app")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    done = nsr("new", str(folder))
    assert done.code == 0, done.err
    return folder


OLD_PYTHON = "import runpy, sys; sys.modules['tomllib'] = None; runpy.run_path('test_world.py', run_name='__main__')"
"""Runs the test of a project without the modules that Python 3.10 lacks."""


def own_test(project: Path) -> str:
    """What the test of a project prints."""
    done = subprocess.run(
        [sys.executable, "-c", OLD_PYTHON], cwd=project, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_its_own_test_passes_at_once(project: Path) -> None:
    assert "both tests passed" in own_test(project)


def test_a_missing_run_is_recorded_and_recoveries_may_be_limited(project: Path, tmp_path: Path) -> None:
    world, runs = f"{project}/world.py:make_world", tmp_path / "runs"
    assert nsr("record", world, "--runs", "3", "--out", str(runs)).code == 0
    (runs / "run001.json").unlink()
    done = nsr("record", world, "--runs", "3", "--out", str(runs), "--json")
    assert [Path(name).name for name in json.loads(done.out)["written"]] == ["run001.json"]
    assert "0 of 3 steps" in nsr("check", str(runs / "run001.json")).out
    arguments = [f"{project}/world.py:disturbed_world", "--max-recoveries", "0", "--out", str(tmp_path / "log.json")]
    done = nsr("watch", *arguments, "--json")
    assert (done.code, json.loads(done.out)["why"]) == (1, "too_many"), done.err


def test_what_was_found_is_drawn_over_the_images(tmp_path: Path) -> None:
    done = nsr("check-setup", "example", "--out", str(tmp_path))
    assert done.code == 0, done.err
    assert sorted(path.name for path in tmp_path.glob("*.png")) == ["view_left.png", "view_right.png"]
    assert "table at 0 mm" in done.out


def boxes(folder: Path, change: Callable[[list[float]], list[float]]) -> list[str]:
    """A recorded run with other boxes."""
    (file,) = write_runs(folder, 1).glob("*.json")
    document = json.loads(file.read_text())
    document["scenes"] = [{name: change(box) for name, box in scene.items()} for scene in document["scenes"]]
    file.write_text(json.dumps(document))
    return ["check-setup", str(file)]


def on_a_high_table(folder: Path) -> list[str]:
    """A running robot whose boxes are in the frame of the floor."""
    (folder / "high.py").write_text(
        "class World:\n    def execute(self, action): pass\n"
        "    def observe(self): return {'red': (0.45, 0.1, 0.775, 0.05, 0.05, 0.05)}\n"
    )
    return ["check-setup", f"{folder}/high.py:World"]


def images(folder: Path, body: str) -> list[str]:
    """A world that returns the images of the example, changed."""
    (folder / "camera_world.py").write_text(
        "from dataclasses import replace\nimport numpy as np\nfrom nsrecover.records.recording import example\n"
        "class World:\n    plan = example().plan\n    def execute(self, action): pass\n    def observe(self):\n"
        f"        seen = example().observations[0]\n        return {body}\n"
    )
    return ["record", f"{folder}/camera_world.py:World", "--out", str(folder / "runs")]


def one_scene_missing(folder: Path) -> list[str]:
    (file,) = write_runs(folder, 1).glob("*.json")
    document = json.loads(file.read_text())
    document["scenes"].pop()
    file.write_text(json.dumps(document))
    return ["check", str(file)]


MISTAKES: dict[str, tuple[Callable[[Path], list[str]], str]] = {
    "z points down": (lambda f: boxes(f, lambda box: [*box[:2], -0.5, *box[3:]]), "z points up"),
    "a robot on the floor": (on_a_high_table, "height of the table"),
    "cameras in another order": (lambda f: images(f, "replace(seen, cameras=seen.cameras[::-1])"), "in the order of"),
    "no such file": (lambda f: ["report", str(f / "none.json")], "found nothing there"),
    "one observation too few": (one_scene_missing, "one before the first action and one after each"),
}


@pytest.mark.parametrize("name", list(MISTAKES))
def test_a_mistake_of_the_first_hour_is_one_line_that_says_what_to_do(name: str, tmp_path: Path) -> None:
    arguments, message = MISTAKES[name]
    done = nsr(*arguments(tmp_path))
    text = done.err if done.code == 2 else done.out
    (line,) = [each for each in text.splitlines() if each.startswith(("error: ", "problem: "))][:1]
    assert message in line
    assert done.code in (1, 2)
    assert "Traceback" not in done.err
    if done.code == 2:
        assert done.err.count("\n") == 1


def test_a_project_is_never_overwritten(project: Path) -> None:
    done = nsr("new", str(project))
    assert done.code == 2
    assert "nothing was changed" in done.err


def test_a_run_with_an_unusable_observation_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "failing.py").write_text(
        "class World:\n    plan = 'left(a, b)'\n    n = 0\n    def execute(self, action): self.n += 1\n"
        "    def observe(self):\n        side = 0.04 if self.n == 0 else float('nan')\n"
        "        return {'a': (.5, 0, .02, .04, .04, side), 'b': (.5, .2, .02, .04, .04, .04)}\n"
    )
    done = nsr("record", f"{tmp_path}/failing.py:World", "--out", str(tmp_path / "runs"))
    assert done.code == 2
    assert "observation after left(a, b)" in done.err
    assert not (tmp_path / "runs").exists()


def test_setup_checks_name_scatter_and_misses(tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text(
        "import numpy as np\nrng = np.random.default_rng(0)\nclass World:\n    n = 0\n    def observe(self):\n"
        "        self.n += 1\n        x = .5 + rng.normal(0, .02)\n"
        "        b = None if self.n % 2 else (.5, .2, .02, .04, .04, .04)\n"
        "        return {'a': (x, 0, .02, .04, .04, .04), 'b': b}\n"
    )
    done = nsr("check-setup", f"{tmp_path}/noisy.py:World", "--out", str(tmp_path))
    assert done.code == 1
    assert "a scatters by" in done.out
    assert "b was not seen in 5 of 10 looks" in done.out


def test_a_project_of_facts_is_watched_recorded_checked_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, runs, log = tmp_path / "lab", tmp_path / "runs", tmp_path / "watched.json"
    assert nsr("new", str(project), "--facts").code == 0
    monkeypatch.syspath_prepend(project)  # the commands run in this process, where another project may be loaded
    for module in ("domain", "world"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    own_test(project)
    world, system = f"{project}/world.py:disturbed_world", ["--system", f"{project}/world.py:system"]
    watched = nsr("watch", world, *system, "--out", str(log), "--json")
    assert watched.code == 0, watched.err
    assert json.loads(watched.out) == {"status": "completed", "reason": "", "errors": 1, "why": None, "log": str(log)}
    assert nsr("record", world, *system, "--out", str(runs)).code == 0
    run = str(runs / "run000.json")
    assert nsr("check-setup", run, *system).code == 0
    checked = nsr("check", run, *system, "--json")
    assert checked.code == 1, checked.err
    wrong = next(step for step in json.loads(checked.out)["steps"] if not step["as_expected"])
    assert (wrong["step"], [each["name"] for each in wrong["deviations"]]) == (2, ["sample"])
    assert wrong["recovery"]["status"] in ("recovered", "already_at_subgoal")
    for told in (str(log), run):
        page = tmp_path / "report.html"
        assert nsr("report", told, *system, "--out", str(page)).code == 0
        assert "sample" in page.read_text()
        assert "sample" in nsr("explain", told, *system).out
    alone = nsr("check", run)
    assert alone.code == 2
    assert "--system file.py:factory" in alone.err
