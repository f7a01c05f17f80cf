"""Assignment of detections to known objects: the Hungarian method on appearance, place and size, with a gate."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from nsrecover.core.scene import FloatArray
from nsrecover.errors import InvalidConfiguration


@dataclass(frozen=True)
class MatchingCosts:
    """What makes a detection unlike an object, and when it shows another one.

    Attributes:
        place_weight: cost of being far from every place where the object may be.
        near_m: length at which the cost of being elsewhere levels off: beyond it, far and near are equally likely.
        growth_weight: cost of being larger than the object: turned objects have larger boxes.
        growth_m: length at which this cost levels off.
        shrinkage_weight: cost of being smaller: a part may be occluded.
        shrinkage_m: length at which this cost levels off.
        size_error_m: a side that differs less is the same: what touches the object, or covers it, hides its edges.
        looks_gate: cost of looks that differ as much as `LooksGate.elsewhere`. A detection elsewhere whose looks cost
            more shows another object. Places have no gate.
        size_in_gate: weight of sides there (sum of the logarithms of their ratios).
        sides_gate: largest cost of sides of the same object.
        shorter_in_gate: most that shorter sides count in the gate: what is covered shows a part of its sides.
        few: a detection elsewhere with less than this share of the most pixels that have shown an object may show its
            edge alone: shorter sides do not count,
        few_m: and its looks may differ as those of a part if each side differs by less than this.
        in_place_m: a detection this close to where an object may be is in its place.
        rates: shares of images of the same object that a gate may refuse.
        fewest_pairs: fewest pairs to calibrate it on.
        least_difference: its least value.
        unmatched: cost of leaving an object without a detection: more than any allowed pair costs.
    """

    place_weight: float = 0.25
    near_m: float = 0.05
    growth_weight: float = 0.5
    growth_m: float = 0.01
    shrinkage_weight: float = 0.25
    shrinkage_m: float = 0.02
    size_error_m: float = 0.005
    looks_gate: float = 0.36
    size_in_gate: float = 0.1
    sides_gate: float = 0.2
    shorter_in_gate: float = 0.16
    few: float = 0.3
    few_m: float = 0.008
    in_place_m: float = 0.02
    rates: tuple[float, float] = (0.05, 0.01)
    fewest_pairs: int = 20
    least_difference: float = 1e-3
    unmatched: float = 4.0


RULES = MatchingCosts()


@dataclass(frozen=True)
class LooksGate:
    """How much two images of one object differ (1 - cosine), by split-conformal calibration; it belongs to an encoder.

    The default belongs to `Bundle.embed`: 318 pairs of images of 15 real objects in half shadow.

    Attributes:
        elsewhere: of whole objects, turned, in another place and light: at most 5 % differ more.
        part: in the object's place, where light and shadows change, or a part of it or neighbours are seen, too: twice
            as much, and at most 1 % of whole objects differ more.
        pairs: how many pairs of images it was calibrated on.
    """

    elsewhere: float = 0.145
    part: float = 0.29
    pairs: int = 318

    @classmethod
    def calibrated(cls, differences: npt.ArrayLike) -> LooksGate:
        """The gate of an encoder from differences (M,) of pairs of images that show the same object.

        Raises:
            InvalidConfiguration: there are fewer than 20.
        """
        found = np.sort(np.asarray(differences, np.float64))
        if len(found) < RULES.fewest_pairs:
            raise InvalidConfiguration(
                f"expected at least {RULES.fewest_pairs} pairs of images of the same objects, found {len(found)}; "
                "add good runs"
            )
        ranks = (min(ceil((1 - rate) * (len(found) + 1)), len(found)) for rate in RULES.rates)
        elsewhere, part = (max(float(found[rank - 1]), RULES.least_difference) for rank in ranks)
        return cls(elsewhere, max(part, 2 * elsewhere), len(found))

    @property
    def unit(self) -> float:
        """What a difference is multiplied with to have costs that do not depend on the encoder."""
        return RULES.looks_gate / self.elsewhere


def association_costs(
    visual: FloatArray,
    sizes: FloatArray,
    places: FloatArray,
    detected_visual: FloatArray,
    detected_boxes: FloatArray,
    details: tuple[FloatArray, FloatArray] | None = None,
    pixels: tuple[FloatArray, FloatArray] | None = None,
    gate: LooksGate | None = None,
) -> FloatArray:
    """How badly each detection fits each object.

    Args:
        visual: (N, K, D) unit features of the objects, from K observations of each: the costs are averaged.
        sizes: (N, K, 3) of their boxes, metres.
        places: (N, P, 3) centres where each may be: where it was, where it is expected.
        detected_visual: (M, D) unit features of the detections.
        detected_boxes: (M, 6).
        details: unit features (N, K, E) and (M, E) that count besides, and tell objects of one colour apart.
        pixels: the most (N,) that have shown each object, and those of the detections (M,); few may look different.
        gate: of the encoder; the default one if None.

    Returns:
        (N, M); `unmatched` where the appearance rules it out.
    """
    gate = gate or LooksGate()
    part_gate = gate.unit * gate.part
    looks = gate.unit * (1.0 - (visual @ detected_visual.T).mean(axis=1))
    away = np.linalg.norm(places[:, :, None] - detected_boxes[None, None, :, :3], axis=-1).min(axis=1)
    # an object may have been turned over: its sides are compared in order of length
    difference = np.sort(detected_boxes[:, 3:], axis=1) - np.sort(sizes, axis=2)[:, :, None]
    larger = RULES.growth_weight * np.tanh(
        np.maximum(difference - RULES.size_error_m, 0.0).sum(axis=-1) / RULES.growth_m
    )
    smaller = RULES.shrinkage_weight * np.tanh(
        np.maximum(-difference - RULES.size_error_m, 0.0).sum(axis=-1) / RULES.shrinkage_m
    )
    closer = 0.0 if details is None else 1.0 - (details[0] @ details[1].T).mean(axis=1)
    cost = looks + closer + RULES.place_weight * np.tanh(away / RULES.near_m) + (larger + smaller).mean(axis=1)
    now, before = (np.log(np.sort(np.maximum(sides, 1e-3), axis=-1)) for sides in (detected_boxes[:, 3:], sizes))
    change = RULES.size_in_gate * (now - before[:, :, None])
    longer, shorter = np.maximum(change, 0.0).sum(axis=-1), np.maximum(-change, 0.0).sum(axis=-1)
    sides = (longer + np.minimum(shorter, RULES.shorter_in_gate)).min(axis=1)
    elsewhere = (looks > RULES.looks_gate) | (sides > RULES.sides_gate)
    if pixels is not None:
        limit = np.where((np.abs(difference) < RULES.few_m).all(axis=-1).any(axis=1), part_gate, RULES.looks_gate)
        elsewhere &= (pixels[1] >= RULES.few * pixels[0][:, None]) | (looks + longer.min(axis=1) > limit)
    other = np.where(away < RULES.in_place_m, looks > part_gate, elsewhere)
    return np.asarray(np.where(other, RULES.unmatched, cost), dtype=np.float32)


def associate(costs: FloatArray) -> npt.NDArray[np.intp]:
    """The cheapest one-to-one assignment; excluded pairs stay unmatched.

    Args:
        costs: (N, M) of N objects and M detections.

    Returns:
        (N,) index of the detection that shows each object, -1 for none. Detections that no object has are new.
    """
    count, detections = costs.shape
    open_ended = np.full((count, detections + count), RULES.unmatched, dtype=np.float64)
    open_ended[:, :detections] = costs
    rows, columns = linear_sum_assignment(open_ended)
    found = np.full(count, -1, dtype=np.intp)
    matched = (columns < detections) & (open_ended[rows, columns] < RULES.unmatched)
    found[rows[matched]] = columns[matched]
    return found
