"""Examples of every class, and the spectral baseline."""

import numpy as np
import pytest

from nsrecover.errors import InvalidConfiguration
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
