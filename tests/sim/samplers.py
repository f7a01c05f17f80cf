"""What samplers of faults promise, on the table and in the kitchen."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np


def check_sampler(kind: Any, moment: Any, seeds: int, steps: Collection[int], everything: frozenset[str]) -> None:
    """It follows the generator, and leaves alone what is taken."""
    for seed in range(seeds):
        fault = kind.sample(moment, np.random.default_rng(seed))
        assert fault == kind.sample(moment, np.random.default_rng(seed))
        if fault is None:
            continue
        assert fault.at_step in steps
        touched = fault.touched(moment.action)
        again = kind.sample(replace(moment, taken=touched), np.random.default_rng(seed))
        assert again is None or not again.touched(moment.action) & touched
    assert kind.sample(replace(moment, taken=everything), np.random.default_rng(0)) is None
