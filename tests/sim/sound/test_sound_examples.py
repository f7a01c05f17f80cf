"""Examples of every class, and the spectral baseline."""

import numpy as np
import pytest

from nsrecover.errors import InvalidConfiguration
from sim.sound.baseline import SpectralBaseline
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


def test_the_baseline_separates_what_differs():
    rng = np.random.default_rng(0)
    found = np.concatenate([rng.normal(0, 1, (50, 5)), rng.normal(1.5, 1, (50, 5))])
    labels = ["low"] * 50 + ["high"] * 50
    guesses = SpectralBaseline.fit(found[::2], labels[::2]).predict(found[1::2])
    assert np.mean(np.array(guesses) == np.array(labels[1::2])) > 0.85
