"""Actions in the kitchen that are watched and stopped while they run, and people who act meanwhile."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from nsrecover import Action, Observation, Plan, RobotState
from sim.kitchen.faults import Fault
from sim.kitchen.faults.people import Midway, Taken
from sim.kitchen.sounding import microphone_in
from sim.kitchen.world import KitchenWorld
from sim.sensors.sensor import EXACT
from sim.sensors.watched import Motion, watch
from tests.sim.kitchen.kitchens import CLEAN, TOP, kitchen

SPEC = kitchen(("mug", TOP, (0.0, 0.0), 180, CLEAN), ("bowl", TOP, (0.0, 0.4), 180, CLEAN))
PLAN = Plan.parse("pick_up(mug); put_in(mug, sink)")
Frames = list[tuple[Observation, RobotState]]


@contextmanager
def world(*faults: Fault) -> Iterator[KitchenWorld]:
    with KitchenWorld(SPEC, faults=faults, plan=PLAN, microphone=microphone_in(SPEC)) as made:
        yield made


def watched(made: KitchenWorld, action: Action, frames: Frames, until: Callable[[Frames], bool]) -> Motion:
    """Carry out an action, note its frames, and stop it when they say so."""

    def glance(observation: Observation, robot: RobotState) -> bool:
        frames.append((observation, robot))
        return not until(frames)

    return watch(made, action, EXACT.stream(len(made.rig.views), 0), 2.0, glance)


def test_what_is_held_stays_in_the_hand_of_an_action_that_is_stopped() -> None:
    with world() as made:
        made.execute(PLAN[0])
        frames: Frames = []
        motion = watched(made, PLAN[1], frames, lambda seen: len(seen) == 4)
        assert len(frames) == 4, "it was watched after it had been stopped"
        assert motion.began_s < motion.interrupted_s < motion.ended_s
        assert made.failures == ["", "it was interrupted"]
        assert made.cell.robot.held == "mug"
        assert all(robot.gripping and seen.holding for seen, robot in frames)
        made.execute(PLAN[1])
        assert made.cell.stands_on("mug") == "sink"


def test_frames_change_nothing_and_take_no_sound_away() -> None:
    with world() as one, world() as other:
        frames: Frames = []
        one.observe()
        other.observe()
        motion = watched(one, PLAN[0], frames, lambda _: False)
        other.execute(PLAN[0])
        heard, unwatched = one.observe(), other.observe()
        np.testing.assert_array_equal(one.cell.pose("mug")[0], other.cell.pose("mug")[0])
    assert math.isinf(motion.interrupted_s)
    assert math.isinf(motion.struck_s)
    assert heard.audio is not None
    assert unwatched.audio is not None
    assert len(heard.audio) == pytest.approx(len(unwatched.audio), abs=len(frames) + 1)
    lengths = [len(seen.audio) for seen, _ in frames if seen.audio is not None]
    assert lengths == sorted(lengths)
    assert len(lengths) == len(frames) > 5


def test_a_person_acts_once_while_the_robot_moves() -> None:
    away = (*SPEC.things[1].position[:2], SPEC.things[1].position[2])
    taken = Midway(0, Taken(0, "bowl", (away[0], away[1] - 0.15, away[2]), 0.0), 1.5)
    with world(taken) as made:
        frames: Frames = []
        before = made.cell.pose("bowl")[0].copy()
        motion = watched(made, PLAN[0], frames, lambda _: False)
        moved = float(np.linalg.norm(made.cell.pose("bowl")[0] - before))
    assert motion.began_s + 1.4 < motion.struck_s < motion.began_s + 1.6 < motion.ended_s
    assert moved == pytest.approx(0.15, abs=0.02)
