"""Frames during an action: a session asks to stop when something goes wrong, and goes on from where things are."""

import math
import pickle
from dataclasses import replace

import pytest

import nsrecover
from nsrecover import Act, Interrupt, Look, Observation, RobotState
from nsrecover.core.episode import EpisodeStatus
from nsrecover.errors import InvalidConfiguration, InvalidObservation, OutOfTurn
from sim.sensors.sensor import EXACT
from sim.tabletop.demonstrations import DemonstrationMix, specify
from sim.tabletop.faults import Drop
from sim.tabletop.watched import WatchedWorld
from sim.tabletop.world import TabletopWorld

SPEC = specify(DemonstrationMix(), 5301, 3)
REST = RobotState(0.08, (0.36, 0.0, 0.5), gripping=False)


def test_a_drop_is_interrupted_and_recovered_from() -> None:
    system = nsrecover.load()
    with TabletopWorld(SPEC.scene, [Drop(0, 0.3)], SPEC.rig, SPEC.plan) as tabletop:
        world = WatchedWorld(tabletop, EXACT.stream(2, 0))
        session = system.session(SPEC.plan, world.observe())
        assert isinstance(session.request, Act)

        def goes_on(observation: Observation, robot: RobotState) -> bool:
            session.glanced(observation, robot)
            return isinstance(session.request, Act)

        world.execute_watched(session.request.action, goes_on)
        asked = session.request
        assert isinstance(asked, Interrupt)
        assert asked.name == SPEC.plan[0].arguments[0]
        assert 0 < world.motions[0].interrupted_s - world.motions[0].struck_s <= 0.5
        session = pickle.loads(pickle.dumps(session))
        assert session.request == Look()
        session.observed(world.observe())
        again = nsrecover.RecoveryAgent(system, world).resume(session)
    assert again.status is EpisodeStatus.COMPLETED
    assert all(math.isinf(motion.interrupted_s) for motion in world.motions[1:])


def test_frames_are_refused_out_of_turn_and_without_a_model() -> None:
    with TabletopWorld(SPEC.scene, rig=SPEC.rig) as world:
        seen = world.observe()
    session = nsrecover.load().session(SPEC.plan)
    with pytest.raises(OutOfTurn):
        session.glanced(seen, REST)
    session.observed(seen)
    with pytest.raises(InvalidObservation, match="camera images"):
        session.glanced({"a": None}, REST)  # type: ignore[arg-type]
    without = replace(nsrecover.load(), during=None).session(SPEC.plan, seen)
    with pytest.raises(InvalidConfiguration, match=r"train\.motions"):
        without.glanced(seen, REST)
    with pytest.raises(InvalidObservation, match="opening"):
        RobotState(math.nan, (0.0, 0.0, 0.0), gripping=False)
