"""Examples of every class, the spectral baseline, and the command that shows them."""

import math

import numpy as np
import pytest

from nsrecover.errors import InvalidConfiguration
from sim.sound.baseline import SpectralBaseline, features, log_spectrogram
from sim.sound.bodies import RATE_HZ
from sim.sound.examples import CLASSES, CLIP_S, example, example_event


@pytest.mark.parametrize("label", CLASSES)
def test_an_example_has_its_class_and_is_heard(label):
    for seed in range(3):
        samples, rate_hz, event = example(label, np.random.default_rng(seed), 20.0)
        assert event.label == label
        assert len(samples) == CLIP_S * rate_hz
        before, after = samples[: int(event.start_s * rate_hz)], samples[int(event.start_s * rate_hz) :]
        assert np.abs(after).max() > 2 * np.abs(before).max()
        assert np.abs(samples).max() < 1.0
        assert np.array_equal(samples, example(label, np.random.default_rng(seed), 20.0)[0])


def test_an_unknown_class_is_refused():
    with pytest.raises(InvalidConfiguration, match=r"found 'impact glas'\. Did you mean 'impact glass'"):
        example_event("impact glas", np.random.default_rng(0))


def test_the_spectrogram_shows_a_tone_in_its_band():
    tone = np.sin(2 * math.pi * 1000 * np.arange(RATE_HZ) / RATE_HZ)
    levels = log_spectrogram(tone, RATE_HZ, 40)
    mel = 2595 * np.log10(1 + np.array([60.0, 1000.0, 8000.0]) / 700)
    band = 41 * (mel[1] - mel[0]) / (mel[2] - mel[0]) - 1
    assert abs(int(levels.mean(axis=0).argmax()) - band) <= 1
    with pytest.raises(InvalidConfiguration, match="at least 512 samples"):
        log_spectrogram(tone[:100], RATE_HZ)


def test_the_baseline_separates_what_differs_and_refuses_too_few():
    rng = np.random.default_rng(0)
    found = np.concatenate([rng.normal(0, 1, (50, 5)), rng.normal(1.5, 1, (50, 5))])
    labels = ["low"] * 50 + ["high"] * 50
    guesses = SpectralBaseline.fit(found[::2], labels[::2]).predict(found[1::2])
    assert np.mean(np.array(guesses) == np.array(labels[1::2])) > 0.85
    with pytest.raises(InvalidConfiguration, match="at least two examples of every class"):
        SpectralBaseline.fit(found[:2], ["low", "high"])


def test_appliances_are_recognised_from_their_spectra():
    kinds = ["running_water", "sizzling", "coffee_machine", "tv", "microwave_beep"]
    found = {
        part: [
            (features(*example(label, np.random.default_rng([part, seed]), 20.0)[:2]), label)
            for label in kinds
            for seed in range(8)
        ]
        for part in (1, 2)
    }
    baseline = SpectralBaseline.fit(*zip(*found[1], strict=True))
    guesses = baseline.predict([row for row, _ in found[2]])
    assert np.mean([guess == label for guess, (_, label) in zip(guesses, found[2], strict=True)]) > 0.85
