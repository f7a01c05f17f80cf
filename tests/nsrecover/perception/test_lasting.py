"""Given masks that flicker: other numbers, other outlines, and masks that are split for one frame."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import ndimage

import nsrecover
from nsrecover.core import Action, Observation, Plan
from nsrecover.perception.masks.lasting import rejoined
from tests.nsrecover.perception.test_table_masks import APART, RED, seen
from tests.observations import front_camera

NAMES = {1: "red", 2: "green", 3: "blue"}
CARD = {**APART, (0.5, -0.2, 0.202, 0.05, 0.08, 0.004): RED}
"""A thin card on the green box."""


def observed(boxes: dict = APART, names: dict[int, str] = NAMES, seed: int = 0) -> Observation:  # type: ignore[type-arg]
    """Rendered boxes with other noise for each seed."""
    rgb, depth, masks = seen(boxes, front_camera())
    depth = np.where(depth > 0, depth + np.random.default_rng(seed).normal(0, 0.001, depth.shape), 0)
    return Observation(rgb[None], depth.astype(np.float32)[None], masks[None], (front_camera(),), names)


def split(whole: Observation, number: int, share: float = 0.5) -> Observation:
    """A part of a mask, from the left, has a number of its own."""
    instances = whole.instances.copy()
    columns = np.nonzero(instances[0] == number)[1]
    left = np.arange(instances.shape[2]) < np.quantile(columns, share)
    instances[0][(instances[0] == number) & left] = 9
    return replace(whole, instances=instances, labels={**whole.labels, 9: "part"})


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_mask_that_is_split_for_one_frame_is_whole_again(number: int) -> None:
    before, now = observed(), split(observed(seed=1), number)
    found, joined = rejoined(before, {name: (n,) for n, name in NAMES.items()}, now)
    assert set(joined) <= {number, 9}
    assert len(joined) == 1
    assert len(np.unique(found.instances)) == len(np.unique(before.instances)) == len(found.labels) + 1


def test_what_has_come_stays_a_mask_of_its_own() -> None:
    before, names = observed(), {**NAMES, 4: "card"}
    now = observed(CARD, names, seed=1)
    found, joined = rejoined(before, {name: (n,) for n, name in NAMES.items()}, now)
    assert not joined
    assert found is now


def test_what_was_put_flat_onto_another_object_stays_a_mask_of_its_own() -> None:
    card = {**APART, (0.4, -0.05, 0.002, 0.05, 0.08, 0.004): RED}
    before, now = observed(card, {**NAMES, 4: "card"}), observed(CARD, {**NAMES, 4: "card"}, seed=1)
    assert not rejoined(before, {name: (n,) for n, name in before.labels.items()}, now)[1]


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("grow_px", [-2, 0, 2])
def test_masks_that_flicker_raise_no_alarm(number: int, grow_px: int) -> None:
    monitor = nsrecover.load().monitor(Plan((Action("top", ("red", "green")),)), observed())
    for seed, share in ((1, 0.5), (2, 0.8)):
        now, image = observed(seed=seed), np.zeros((1, 480, 640), np.int32)
        for n, fresh in zip(NAMES, np.roll((4, 5, 6), seed).tolist(), strict=True):
            own = now.instances[0] == n
            change = ndimage.binary_dilation if grow_px > 0 else ndimage.binary_erosion
            own = change(own, iterations=abs(grow_px)) if grow_px else own
            image[0][own & ((now.instances[0] == n) | (now.instances[0] == 0))] = fresh
        fresh = replace(now, instances=image, labels={n: f"thing {n}" for n in (4, 5, 6)})
        other = np.roll((4, 5, 6), seed).tolist()[number - 1]
        found = monitor.check(split(fresh, other, share))
        assert not found.deviations
        assert set(monitor.graph.names) == set(NAMES.values())
