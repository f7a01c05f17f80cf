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
from sim.tabletop.world import TabletopWorld
from tests.sim.tabletop.blocks import ROW, SCENE, STACK


def kinematic(*faults: Fault) -> TabletopWorld:
    return TabletopWorld(SCENE, faults, fidelity=Fidelity.KINEMATIC)


@dataclass(frozen=True)
class Slack(Fault):
    """The grip fails at a moment."""

    phase: SkillPhase = SkillPhase.TRANSPORT
    progress: float = 0.5

    def during(self, context, action, phase, progress):
        if phase is self.phase and progress >= self.progress:
            context.grip.weaken_grip(force_n=0.0, friction=0.0)


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


def test_faults_that_need_an_arm_are_refused():
    with pytest.raises(InvalidConfiguration, match=r"Elbow.*fidelity=physics"):
        kinematic(Elbow(0))
