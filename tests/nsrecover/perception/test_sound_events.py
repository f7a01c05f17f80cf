"""Sound events: windows above the noise floor, times, unknown sounds, and no microphone."""

import numpy as np
import numpy.typing as npt
import pytest

from nsrecover.core.observation import Observation
from nsrecover.perception.sounds import UNKNOWN_SOUND, Hearing, SoundPerceiver
from nsrecover.perception.spectrogram import RATE_HZ


class Loudest:
    """Names a window by its loudest band: `low` or `high`; nothing that is known in between."""

    def heard(self, windows: npt.ArrayLike) -> list[dict[str, float]]:
        bands = np.asarray(windows).max(axis=1).argmax(axis=1)
        return [{"low": 0.9} if b < 20 else {"high": 0.8} if b > 40 else {} for b in bands]

    def hints(self, windows: npt.ArrayLike) -> list[dict[str, float]]:
        return [{"middle": 0.3}] * len(np.asarray(windows))


def observation(audio: npt.NDArray[np.float32] | None, rate_hz: int = RATE_HZ, time_s: float = 10.0) -> Observation:
    image = np.zeros((0, 4, 4))
    return Observation(
        np.zeros((0, 4, 4, 3), np.uint8), image.astype(np.float32), image.astype(np.int32), (), {},
        time_s=time_s, audio=audio, audio_rate_hz=0 if audio is None else rate_hz,
    )  # fmt: skip


def tone(hertz: float, begin_s: float, end_s: float, seconds: float = 6.0, seed: int = 0) -> npt.NDArray[np.float32]:
    time = np.arange(int(seconds * RATE_HZ)) / RATE_HZ
    on = (time >= begin_s) & (time < end_s)
    # several partials, so that more than a few bands are loud
    wave = sum(np.sin(2 * np.pi * hertz * k * time) for k in (0.8, 0.9, 1.0, 1.1, 1.25))
    noise = np.random.default_rng(seed).normal(size=len(time))
    return np.asarray(0.05 * on * np.asarray(wave) + 0.001 * noise, np.float32)


def test_an_event_has_the_time_of_its_sound() -> None:
    heard = SoundPerceiver(Loudest()).reset(observation(tone(300.0, 2.0, 3.5)))
    assert heard.listened
    assert heard.labels == ("low",)
    (event,) = heard.events
    # the recording began 6 s before the observation
    assert event.start_s == pytest.approx(6.0, abs=0.06)
    assert event.end_s == pytest.approx(7.5, abs=0.25)


def test_two_sounds_are_two_events_in_their_order() -> None:
    both = tone(5000.0, 0.5, 1.0) + tone(300.0, 3.5, 5.5, seed=1)
    heard = SoundPerceiver(Loudest()).reset(observation(both))
    assert heard.labels == ("high", "low")
    assert heard.was_heard("low")
    assert heard.was_heard("glass") is False


def test_what_belongs_to_no_class_is_an_unknown_sound() -> None:
    (event,) = SoundPerceiver(Loudest()).reset(observation(tone(1500.0, 2.0, 3.0))).events
    assert (event.label, event.known, event.probability) == (UNKNOWN_SOUND, False, 0.0)


def test_noise_alone_is_no_event() -> None:
    perceiver = SoundPerceiver(Loudest())
    assert perceiver.reset(observation(tone(300.0, 0.0, 0.0))).events == ()
    assert perceiver.step(observation(tone(300.0, 0.0, 0.0, seed=2), time_s=16.0)).events == ()


def test_a_sound_that_fills_a_whole_recording_is_heard_because_the_floor_is_remembered() -> None:
    perceiver = SoundPerceiver(Loudest())
    perceiver.reset(observation(tone(300.0, 0.0, 0.0)))
    assert perceiver.step(observation(tone(300.0, 0.0, 6.0, seed=1), time_s=16.0)).labels == ("low",)


def test_a_known_sound_that_goes_on_for_minutes_does_not_become_the_floor() -> None:
    perceiver = SoundPerceiver(Loudest())
    perceiver.reset(observation(tone(300.0, 0.0, 0.0)))
    for minute in range(1, 30):
        heard = perceiver.step(observation(tone(300.0, 0.0, 6.0, seed=minute), time_s=10.0 + 6.0 * minute))
        assert heard.labels == ("low",)
    assert perceiver.step(observation(tone(300.0, 0.0, 0.0, seed=99), time_s=190.0)).events == ()


def test_without_a_microphone_nothing_is_known() -> None:
    heard = SoundPerceiver(Loudest()).reset(observation(None))
    assert heard == Hearing((), False, 10.0, 10.0)
    assert heard.was_heard("low") is None
