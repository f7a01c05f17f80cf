"""The kinematic world: no arm, the same promises."""

from dataclasses import dataclass

import numpy as np
import pytest

from nsrecover.core.actions import Action
from nsrecover.errors import InvalidConfiguration
from sim.tabletop.faults.base import Fault
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.phases import SkillPhase
from sim.tabletop.placing import place_for
from sim.tabletop.scenes import ObjectKind, ObjectSpec, SceneSpec
from sim.tabletop.world import TabletopWorld

SCENE = SceneSpec(
    (
        ObjectSpec("red cube", ObjectKind.CUBE, "red", (0.040, 0.040, 0.040), (0.45, 0.0), 0.05),
        ObjectSpec("blue die", ObjectKind.DIE, "blue", (0.044, 0.044, 0.044), (0.55, 0.15), -0.05),
        ObjectSpec("white lego", ObjectKind.LEGO, "white", (0.056, 0.036, 0.036), (0.60, -0.12), 0.05),
    )
)
STACK = Action("top", ("blue die", "red cube"))
ROW = Action("left", ("white lego", "red cube"))


def kinematic(*faults: Fault, scene: SceneSpec = SCENE) -> TabletopWorld:
    return TabletopWorld(scene, faults, fidelity=Fidelity.KINEMATIC)


def poses(world):
    truth = world.truth()
    return np.concatenate([truth.positions, truth.orientations], axis=1)


@dataclass(frozen=True)
class Watching(Fault):
    """Writes down what it is told."""

    seen: tuple = ()

    def during(self, context, action, phase, progress):
        self.seen[0].append((phase, progress))


@dataclass(frozen=True)
class Slack(Fault):
    """The grip fails at a moment."""

    phase: SkillPhase = SkillPhase.TRANSPORT
    progress: float = 0.5

    def during(self, context, action, phase, progress):
        if phase is self.phase and progress >= self.progress:
            context.grip.weaken_grip(force_n=0.0, friction=0.0)


@dataclass(frozen=True)
class Wrong(Fault):
    """An estimate is off."""

    name: str = "red cube"
    offset_m: tuple = (0.0, 0.0, 0.0)

    def estimates(self, action, estimates, rng):
        return estimates.shifted(self.name, self.offset_m)


@dataclass(frozen=True)
class Elbow(Fault):
    """Would need an arm."""

    needs_arm = True


@pytest.mark.parametrize("action", [STACK, ROW, Action("free", ("red cube",))], ids=str)
def test_an_action_puts_its_object_where_the_arm_would(action):
    with kinematic() as world:
        assert world.arm is None
        before = world.estimates()
        world.execute(action)
        place = place_for(action, before)
        after = world.estimates()
        moved = before.index(action.arguments[0])
        assert after.positions[moved] == pytest.approx(place[0], abs=0.002)
        others = [i for i in range(3) if i != moved]
        assert after.positions[others] == pytest.approx(before.positions[others], abs=0.001)


def test_it_is_repeatable_and_can_be_saved():
    results = []
    for _ in range(2):
        with kinematic() as world:
            world.execute(STACK)
            saved, at_save = world.save(), poses(world)
            for _ in range(2):
                world.execute(ROW)
                results.append(poses(world))
                world.restore(saved)
                assert np.array_equal(poses(world), at_save)
    assert all(np.array_equal(results[0], other) for other in results[1:])
    assert not np.array_equal(results[0], at_save)


def test_faults_are_told_every_phase_from_its_start_to_its_end():
    told: list = []
    with kinematic(Watching(0, (told,))) as world:
        world.execute(STACK)
    assert list(dict.fromkeys(phase for phase, _ in told)) == list(SkillPhase)
    for phase in SkillPhase:
        progress = [share for told_phase, share in told if told_phase is phase]
        assert progress[0] == 0.0
        assert progress[-1] == 1.0
        assert progress == sorted(progress)


@pytest.mark.parametrize("phase", [SkillPhase.LIFT, SkillPhase.TRANSPORT])
def test_an_object_that_is_not_held_falls_from_where_it_is(phase):
    with kinematic(Slack(0, phase)) as world:
        start = world.pose("blue die")[0]
        world.execute(STACK)
        truth = world.truth()
        assert truth.supports["blue die"] == "table"
        way = float(np.linalg.norm(truth.position("blue die")[:2] - start[:2]))
        assert (way < 0.03) if phase is SkillPhase.LIFT else (way > 0.03)
        world.execute(STACK)
        assert world.truth().supports["blue die"] == "red cube"


def test_fingers_that_close_beside_an_object_take_nothing():
    with kinematic(Wrong(0, "blue die", (0.05, 0.0, 0.0))) as world:
        before = poses(world)
        world.execute(STACK)
        assert poses(world) == pytest.approx(before, abs=1e-3)
        assert "nothing between the fingers" in world.log[-1]


def test_what_stands_on_a_lifted_object_falls():
    with kinematic() as world:
        world.execute(STACK)
        world.execute(Action("left", ("red cube", "white lego")))
        truth = world.truth()
        assert truth.supports["red cube"] == "table"
        assert truth.supports["blue die"] == "table"


def test_a_load_that_is_carried_too_low_knocks_a_tower_over():
    scene = SceneSpec(
        (
            *SCENE.objects[:2],
            ObjectSpec("white die", ObjectKind.DIE, "white", (0.044,) * 3, (0.45, 0.20)),
            ObjectSpec("cyan die", ObjectKind.DIE, "cyan", (0.044,) * 3, (0.45, -0.20)),
        )
    )
    tower = [STACK, Action("top", ("white die", "blue die"))]
    with kinematic(scene=scene) as world:
        for action in tower:
            world.execute(action)
        height = float(world.pose("white die")[0][2])
        world.execute(Action("top", ("cyan die", "white die")))
        assert world.truth().supports["cyan die"] == "white die"
    lower = [Wrong(2, name, (0.0, 0.0, -0.6 * height)) for name in ("blue die", "white die")]
    with kinematic(*lower, scene=scene) as world:
        for action in tower:
            world.execute(action)
        world.execute(Action("top", ("cyan die", "white die")))
        assert world.truth().supports["white die"] != "blue die"


def test_an_object_is_let_go_where_it_touches_something_first():
    # it believes the cube to be lower than it is, and does not press the object into it
    with kinematic(Wrong(0, "red cube", (0.0, 0.0, -0.015))) as world:
        world.execute(STACK)
        truth = world.truth()
        assert truth.supports["blue die"] == "red cube"
        assert truth.position("red cube")[:2] == pytest.approx((0.45, 0.0), abs=0.002)


def test_out_of_reach_stays_out_of_reach():
    with kinematic() as world:
        before = poses(world)
        world.execute(Action("free", ("red cube",), (0.74, 0.35, 0.02, 0.04, 0.04, 0.04)))
        assert "out of reach" in world.log[-1]
        assert poses(world) == pytest.approx(before, abs=1e-3)


def test_faults_that_need_an_arm_are_refused():
    with pytest.raises(InvalidConfiguration, match=r"Elbow.*fidelity=physics"):
        kinematic(Elbow(0))


def test_cameras_see_the_scene_as_ever_but_no_arm():
    with kinematic() as world:
        seen = world.observe()
        assert set(seen.labels.values()) == set(SCENE.names)
        assert seen.gripper_opening_m == pytest.approx(0.08)
