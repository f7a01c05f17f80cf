"""The world as a whole: repeatable to the last bit, saved and restored, faults at their hooks."""

from dataclasses import dataclass, field

import pytest

from nsrecover.core import Action, Plan
from nsrecover.errors import InvalidConfiguration
from sim.tabletop.faults.base import Fault
from sim.tabletop.phases import SkillPhase
from sim.tabletop.scenes import SceneSpec
from sim.tabletop.truth import deviations
from sim.tabletop.world import TabletopWorld
from tests.sim.tabletop.blocks import ROW, SCENE, STACK


@dataclass(frozen=True)
class _Recorder(Fault):
    """Notes what it is called with, and lets go of the object in transport if it is to."""

    drop: bool = False
    phases: list = field(default_factory=list)
    done: list = field(default_factory=list)

    def during(self, context, action, phase, progress):
        self.phases.append((phase, progress))
        if self.drop and phase is SkillPhase.TRANSPORT:
            context.grip.weaken_grip(force_n=0.0, friction=0.0)

    def after(self, context, action):
        self.done.append((context.scene.step, action))


def test_fault_hooks_run_in_every_phase_and_weaken_one_action_only():
    faults = _Recorder(0), _Recorder(1, drop=True), _Recorder(7)
    with TabletopWorld(SCENE, faults) as world:
        for action in (ROW, STACK, STACK):
            world.execute(action)
            if world.step == 2:
                assert world.truth().supports["blue die"] != "red cube", "the grip was to fail"
        phases = [phase for phase, _ in faults[0].phases]
        assert list(dict.fromkeys(phases)) == list(SkillPhase)
        for phase in SkillPhase:
            shares = [share for each, share in faults[0].phases if each is phase]
            assert shares[0] == 0.0
            assert shares[-1] == 1.0
        assert [fault.done for fault in faults] == [[(0, ROW)], [(1, STACK)], []]
        assert world.truth().supports["blue die"] == "red cube", "the grip was to be good again"


def test_with_a_plan_a_fault_strikes_at_its_action_once_whatever_else_is_done():
    aside = Action("free", ("white lego",), (0.6, -0.2, 0.018, 0.056, 0.036, 0.036))
    fault = _Recorder(1)
    with TabletopWorld(SCENE, (fault,), plan=Plan((ROW, STACK, aside))) as world:
        for action in (ROW, ROW, aside):
            world.execute(action)
        assert fault.done == [], "a step that is not carried out does not strike"
        assert world.is_next(STACK)
        start = world.save()
        for action in (STACK, STACK):
            world.execute(action)
        assert fault.done == [(3, STACK)], "it strikes when it is, though the third step was done before"
        assert not world.is_next(STACK)
        world.restore(start)
        assert world.is_next(STACK)


def test_what_falls_off_the_table_is_gone():
    with TabletopWorld(SCENE) as world, TabletopWorld(SCENE) as twin:
        assert deviations(world.truth(), twin.truth()) == {}
        world.external_agent.carry("blue die", (0.5, 0.75, 0.1))
        truth = world.truth()
        assert not truth.present[truth.index("blue die")]
        assert truth.supports["blue die"] is None
        assert deviations(truth, twin.truth()) == {"blue die": "gone from the table"}
        assert "blue die" not in world.observe().labels.values()
        world.execute(STACK)
        assert "not on the table" in world.log[-1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"position": (0.46, 0.01)}, "overlaps the red cube"),
        ({"position": (1.2, 0.0)}, "blue die does not fit on the table"),
        ({"size": (0.1, 0.04, 0.04)}, "the blue die does not fit the gripper"),
        ({"colour": "bleu"}, "Did you mean 'blue'"),
    ],
)
def test_scene_that_does_not_fit_raises(change, message):
    data = SCENE.to_dict()
    data["objects"][1] |= change
    with pytest.raises(InvalidConfiguration, match=message):
        TabletopWorld(SceneSpec.from_dict(data))
