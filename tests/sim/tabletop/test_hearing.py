"""A microphone at the table: blocks that fall are heard, and nothing else changes."""

import math

import numpy as np
import pytest

from sim.sound.events import SoundKind
from sim.sound.microphone import Background, Microphone
from sim.tabletop.world import TabletopWorld
from tests.sim.tabletop.blocks import SCENE, STACK

QUIET = Microphone(background=Background(level_db=0.0), noise_db=0.0)


def _impacts(world):
    return [event for event in world.hearing.soundscape.events if event.kind is SoundKind.IMPACT]


def _let_fall(world, name, place, height_m):
    half = world.scene[name].size[2] / 2
    world.put(name, [*place, half + height_m], [0, 0, 0, 1])
    world.settle()


def test_a_block_that_falls_is_heard_when_it_lands():
    with TabletopWorld(SCENE, microphone=QUIET) as world:
        world.observe()
        begin = world.time_s
        _let_fall(world, "red cube", (0.5, -0.2), 0.2)
        seen = world.observe()
        (impact,) = _impacts(world)
        falling = math.sqrt(2 * 0.2 / 9.81)
        assert impact.start_s == pytest.approx(begin + falling, abs=0.011)
        mass = impact.bodies[0].mass_kg
        assert impact.strength == pytest.approx(mass * 9.81 * falling, rel=0.25)
        assert [body.name for body in impact.bodies] == ["red cube", "table"]
        assert seen.audio_rate_hz == 16_000
        assert len(seen.audio) == pytest.approx(16_000 * (world.time_s - begin), abs=1)
        first = np.argmax(np.abs(seen.audio) > 0.2 * np.abs(seen.audio).max()) / seen.audio_rate_hz
        assert first == pytest.approx(falling, abs=0.015)


def test_a_microphone_changes_nothing_else_and_hears_the_arm():
    results = []
    for microphone in (None, Microphone(), Microphone()):
        with TabletopWorld(SCENE, microphone=microphone) as world:
            first = world.observe()
            world.execute(STACK)
            results.append((first, world.observe(), world.pose("blue die")[0]))
            if world.hearing is not None:
                (motors, *_) = world.hearing.soundscape.events
                assert motors.kind is SoundKind.ARM_MOTOR
                assert not _impacts(world)
    deaf, hearing, again = results
    assert (deaf[1].audio, deaf[1].audio_rate_hz) == (None, 0)
    for moment in (0, 1):
        np.testing.assert_array_equal(deaf[moment].rgb, hearing[moment].rgb)
        np.testing.assert_array_equal(deaf[moment].depth_m, hearing[moment].depth_m)
        np.testing.assert_array_equal(hearing[moment].audio, again[moment].audio)
    np.testing.assert_array_equal(deaf[2], hearing[2])
