"""The conformance kit accepts our own world, and names the broken rule of each of many broken worlds."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from nsrecover.core import Action, Observation
from nsrecover.errors import InvalidAction, UnknownObject
from nsrecover.testing import (
    CheckStatus,
    ConformanceReport,
    Rule,
    Tolerances,
    WorldNotConforming,
    check_world,
)
from sim.common.cameras import FRONT, CameraRig
from sim.sound.microphone import Microphone
from sim.tabletop.sampling import sample_scene
from sim.tabletop.world import TabletopWorld
from tests.commands import run
from tests.nsrecover.testing import broken_worlds
from tests.nsrecover.testing.broken_worlds import (
    BROKEN,
    CHANGED,
    SCENE,
    ClosesOnce,
    Table,
    posed,
    shifted,
)

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def report() -> ConformanceReport:
    return check_world(Table)


@pytest.fixture(scope="module")
def photograph() -> Observation:
    with TabletopWorld(SCENE) as world:
        return world.observe()


def test_our_world_keeps_every_rule(report: ConformanceReport) -> None:
    assert report.passed == tuple(Rule)
    assert report.skipped == ()
    assert all(check.times > 0 for check in report.checks)
    assert report.actions[0].startswith("top(")


@pytest.mark.parametrize(("count", "rig"), [(10, CameraRig()), (5, CameraRig((FRONT,))), (1, CameraRig())])
def test_our_world_keeps_them_with_other_scenes_and_cameras(count: int, rig: CameraRig) -> None:
    scene = sample_scene(np.random.default_rng(count), count)
    report = check_world(lambda: TabletopWorld(scene, rig=rig))
    assert report.passed == tuple(Rule)


def test_a_world_with_a_microphone_keeps_every_rule() -> None:
    assert check_world(lambda: TabletopWorld(SCENE, microphone=Microphone())).passed == tuple(Rule)


@pytest.mark.parametrize(("rule", "change"), CHANGED, ids=lambda part: part.value if isinstance(part, Rule) else "")
def test_a_world_with_other_images_breaks_exactly(
    rule: Rule, change: Callable[[Observation], object], photograph: Observation
) -> None:
    class Changed:
        """Returns a real observation with one change, taken at another time."""

        looked = 0

        def observe(self) -> object:
            self.looked += 1
            return change(replace(photograph, time_s=5.0 * self.looked))

        def execute(self, action: Action) -> None: ...

    with pytest.raises(WorldNotConforming) as broken:
        check_world(Changed)  # type: ignore[arg-type]
    assert broken.value.rule == rule, broken.value
    assert_teaches(broken.value)


@pytest.mark.parametrize(("rule", "world"), BROKEN, ids=[world.__name__ for _, world in BROKEN])
def test_a_world_that_behaves_otherwise_breaks_exactly(rule: Rule, world: type) -> None:
    with pytest.raises(WorldNotConforming) as broken:
        check_world(world)
    assert broken.value.rule == rule, broken.value
    assert_teaches(broken.value)


def assert_teaches(error: WorldNotConforming) -> None:
    assert str(error).startswith(f"{error.rule}: expected ")
    assert ", found " in str(error)
    assert "; " in str(error)
    report = error.report
    assert isinstance(report, ConformanceReport)
    assert report.checks[-1].status is CheckStatus.FAILED
    assert report.checks[-1].rule == error.rule


def test_every_rule_has_a_broken_world() -> None:
    assert {rule for rule, _ in (*CHANGED, *BROKEN)} == set(Rule)


def test_every_rule_is_explained_in_the_documentation() -> None:
    page = (ROOT / "docs" / "worlds.md").read_text(encoding="utf-8")
    for rule in Rule:
        assert f"| `{rule}` | {rule.meaning} |" in page


def test_a_single_world_is_checked_and_left_open() -> None:
    with TabletopWorld(SCENE) as world:
        report = check_world(world, action=Action("top", ("green die", "red cube")), provoke_failure=False)
        assert set(report.skipped) == {
            Rule.REPRODUCIBLE, Rule.WORLDS_INDEPENDENT, Rule.CLOSE_TWICE, Rule.FAILURE_NOT_RAISED,
        }  # fmt: skip
        assert report.actions == ("top(green die, red cube)",)
        assert world.client >= 0


def test_rules_can_be_left_out_and_limits_widened(photograph: Observation) -> None:
    class Moving(Table):
        def seen(self, observation: Observation) -> Observation:
            return posed(observation, lambda pose: shifted(y=0.008 * (self.looked % 2)) @ pose)

    with pytest.raises(WorldNotConforming, match="looking-changes-nothing"):
        check_world(Moving, limits=Tolerances(noise_m=0.004))
    report = check_world(ClosesOnce, skip=[Rule.CLOSE_TWICE])
    assert report[Rule.CLOSE_TWICE].reason == "left out on request"


@pytest.mark.parametrize(
    ("action", "error"),
    [
        (Action("top", ("red cube", "blue cub")), UnknownObject),
        (Action("topp", ("red cube", "blue cube")), InvalidAction),
        (Action("free", ("red cube",), (0.55, 0.15, 0.02, 0.04, 0.04, 0.04)), InvalidAction),
    ],
)
def test_an_action_that_cannot_be_done_is_the_users_mistake(action: Action, error: type[Exception]) -> None:
    with TabletopWorld(SCENE) as world, pytest.raises(error):
        check_world(world, action=action)


def test_nothing_learned_and_no_simulator_is_loaded() -> None:
    code = "import sys, nsrecover.testing; print(sorted({'torch', 'pybullet', 'sim'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "[]", done.stderr


command = partial(run, "nsrecover.cli.app", "check-world")


def test_the_command_prints_every_rule() -> None:
    done = command(f"{__name__}:Table")
    assert done.code == 0, done.err
    assert all(rule in done.out for rule in Rule)


def test_the_command_fails_with_1_and_names_the_rule() -> None:
    done = command(f"{broken_worlds.__file__}:ClaimsSuccess")
    assert done.code == 1
    assert "returns-nothing: expected None from execute, found True" in " ".join(done.err.split())
    assert "has-methods" in done.out


def test_a_module_that_cannot_be_imported_is_named() -> None:
    done = command("no.such.module:make")
    assert (done.code, "no.such.module" in done.err) == (2, True)
