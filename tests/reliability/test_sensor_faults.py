"""Sensors that fail: frames of other times, errors of drivers, dead microphones, and nothing in sight."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nsrecover import Action, Observation, Plan, RecoveryAgent, System, geometric
from nsrecover.core.episode import EpisodeStatus
from nsrecover.errors import InvalidObservation
from nsrecover.perception.sounds import SoundPerceiver
from nsrecover.perception.spectrogram import RATE_HZ
from nsrecover.records.recording import Recording, example
from tests.nsrecover.perception.test_sound_events import Loudest, observation, tone
from tests.nsrecover.test_agent_and_sensors import PLAN, Table, always


class Replay:
    """A robot whose cameras show a recorded run; `seen` may change the n-th observation that is asked for."""

    def __init__(self, recording: Recording, seen: Callable[[int, Observation], Observation]) -> None:
        self.recording, self.seen = recording, seen
        self.executed: list[Action] = []
        self.asked = 0

    def observe(self) -> Observation:
        self.asked += 1
        return self.seen(self.asked, self.recording.observations[len(self.executed)])

    def execute(self, action: Action) -> None:
        self.executed.append(action)


@pytest.fixture(scope="module")
def good() -> Recording:
    """The two first actions of the example, which work."""
    whole = example()
    return Recording(Plan(whole.plan.actions[:2]), whole.observations[:3])


def test_a_frame_of_before_is_not_judged_and_the_scene_is_observed_again(system: System, good: Recording) -> None:
    late = good.observations[0]  # arrives once more, in place of the first observation after the first action

    world = Replay(good, lambda number, seen: late if number == 3 else replace(seen, time_s=seen.time_s + number / 8))
    # the frame is older than the last one only if that was taken later than at the start
    clock = [replace(seen, time_s=10.0 + number) for number, seen in enumerate(good.observations)]
    world.recording = Recording(good.plan, tuple(clock))
    episode = RecoveryAgent(system, world).run(good.plan)
    assert episode.status is EpisodeStatus.COMPLETED
    assert all(record.discrepancy.as_expected for record in episode.records)
    assert [record.time_s for record in episode.records] == [11.25, 12.5]
    assert world.asked == 5  # and what the last action did is looked at twice


def test_a_clock_that_is_set_back_ends_the_run_with_the_reason(system: System, good: Recording) -> None:
    world = Replay(good, lambda number, seen: replace(seen, time_s=100.0 - number))
    episode = RecoveryAgent(system, world).run(good.plan)
    assert episode.status is EpisodeStatus.ASKED_FOR_HELP
    assert "never set back" in episode.reason
    assert world.executed == list(good.plan)[:1], "nothing is done after a step that could not be judged"


@pytest.mark.parametrize("time_s", [float("nan"), float("inf")])
def test_a_time_that_is_no_number_is_refused(good: Recording, time_s: float) -> None:
    with pytest.raises(InvalidObservation, match="finite time_s"):
        replace(good.observations[0], time_s=time_s)


class Failing(Table):
    """A table whose camera driver raises an error at some observations."""

    def __init__(self, failing: Sequence[int]) -> None:
        super().__init__()
        self.failing = failing

    def observe(self) -> Any:
        seen = super().observe()
        if self.observations - 1 in self.failing:
            raise TimeoutError("no frame within 2 s")
        return seen


def test_a_driver_that_raises_is_tried_again_and_then_a_reason() -> None:
    once = Failing([1])
    assert RecoveryAgent(geometric(), once).run(PLAN).status is EpisodeStatus.COMPLETED
    assert once.executed == list(map(str, PLAN))
    always_failing = Failing(range(1, 50))
    episode = RecoveryAgent(geometric(), always_failing).run(PLAN)
    assert episode.status is EpisodeStatus.ASKED_FOR_HELP
    assert "TimeoutError: no frame within 2 s" in episode.reason
    assert always_failing.executed == ["top(green, red)"]
    with pytest.raises(InvalidObservation, match="TimeoutError"):
        RecoveryAgent(geometric(), Failing(range(50))).run(PLAN)


def test_a_robot_that_sees_nothing_any_more_stops_before_it_uses_what_it_cannot_see() -> None:
    world = Table(always(dict.fromkeys(("red", "green", "blue", "grey"))))
    episode = RecoveryAgent(geometric(), world).run(Plan.parse("top(green, red); top(blue, green)"))
    assert episode.status is EpisodeStatus.ASKED_FOR_HELP
    assert "the green" in episode.reason
    assert world.executed == ["top(green, red)"]


def test_a_dead_microphone_is_not_silence() -> None:
    perceiver = SoundPerceiver(Loudest())
    for level in (0.0, 0.25):
        heard = perceiver.reset(observation(np.full(6 * RATE_HZ, level, np.float32)))
        assert not heard.listened
        assert heard.was_heard("low") is None
    assert perceiver.reset(observation(tone(300.0, 0.0, 0.0))).was_heard("low") is False
    # that it was dead for a while says nothing about the noise afterwards
    perceiver.step(observation(np.zeros(6 * RATE_HZ, np.float32), time_s=16.0))
    assert perceiver.step(observation(tone(300.0, 2.0, 3.5, seed=3), time_s=22.0)).labels == ("low",)
