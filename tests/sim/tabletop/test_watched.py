"""Actions that are watched and stopped while they run, and faults that strike meanwhile."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from nsrecover import Observation, RobotState
from nsrecover.core.protocols import GlancingWorld
from sim.sensors.sensor import EXACT
from sim.tabletop.demonstrations import DemonstrationMix, specify
from sim.tabletop.faults import PushMidway
from sim.tabletop.faults.base import Fault
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.phases import SkillPhase
from sim.tabletop.watched import WatchedWorld
from sim.tabletop.world import TabletopWorld

SPEC = specify(DemonstrationMix(), 5301, 3)
MOVED, OTHER = SPEC.plan[0].arguments[0], "orange lego"


@contextmanager
def watched(*faults: Fault, fidelity: Fidelity = Fidelity.PHYSICS) -> Iterator[WatchedWorld]:
    rig = replace(SPEC.rig, width=64, height=48)
    with TabletopWorld(SPEC.scene, faults, rig, fidelity=fidelity) as tabletop:
        yield WatchedWorld(tabletop, EXACT.stream(len(rig.views), 0), rate_hz=5.0)


def until(count: int, states: list[RobotState]) -> Callable[[Observation, RobotState], bool]:
    """Note what the robot says, and stop the action at a frame."""

    def glance(observation: Observation, robot: RobotState) -> bool:
        assert observation.time_s > 0
        states.append(robot)
        return len(states) < count

    return glance


def test_an_action_that_is_stopped_puts_back_what_it_holds() -> None:
    with watched() as world:
        assert isinstance(world, GlancingWorld)
        before, states = world.tabletop.estimates(), list[RobotState]()
        world.execute_watched(SPEC.plan[0], until(10, states))
        after, motion = world.tabletop.estimates(), world.motions[0]
    assert len(states) == 10, "it was watched after it had been stopped"
    assert states[-1].opening_m < states[0].opening_m - 0.01, "nothing was held"
    assert motion.began_s + 1.5 < motion.interrupted_s < motion.ended_s
    np.testing.assert_allclose(after.positions, before.positions, atol=0.015)


def test_an_action_that_is_not_stopped_is_as_ever() -> None:
    with watched() as world, watched() as unwatched:
        states = list[RobotState]()
        world.execute_watched(SPEC.plan[0], until(1000, states))
        unwatched.execute(SPEC.plan[0])
        one, other = world.tabletop.estimates(), unwatched.tabletop.estimates()
        assert world.motions[0] == unwatched.motions[0]
    assert len(states) > 10
    np.testing.assert_array_equal(one.positions, other.positions)


def test_faults_strike_while_the_arm_moves() -> None:
    push = PushMidway(0, OTHER, (0.0, 0.06, 0.0), SkillPhase.APPROACH, 0.5)
    with watched(push) as world:
        start, seen = world.tabletop.estimates(), list[tuple[float, float]]()

        def glance(observation: Observation, robot: RobotState) -> bool:
            there = world.tabletop.estimates()
            moved = np.linalg.norm(there.positions[there.index(OTHER)] - start.positions[start.index(OTHER)])
            seen.append((observation.time_s, float(moved)))
            return True

        world.execute_watched(SPEC.plan[0], glance)
        motion = world.motions[0]
    assert motion.began_s < motion.struck_s < motion.ended_s - 1
    assert {moved > 0.01 for time_s, moved in seen if time_s > motion.struck_s + 0.5} == {True}
    assert {moved > 0.01 for time_s, moved in seen if time_s <= motion.struck_s} == {False}
