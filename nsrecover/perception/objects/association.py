"""Assignment of detections to known objects: the Hungarian method on appearance, place and size, with a gate."""

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from nsrecover.core.scene import FloatArray

PLACE_WEIGHT = 0.25
"""Cost of being far from every place where the object may be."""

NEAR_M = 0.05
"""Length at which the cost of being elsewhere levels off: beyond it, far and near are equally likely."""

GROWTH_WEIGHT, GROWTH_M = 0.5, 0.01
"""Cost of being larger than the object, and the length at which it levels off: turned objects have larger boxes."""

SHRINKAGE_WEIGHT, SHRINKAGE_M = 0.25, 0.02
"""Cost of being smaller, and the length at which it levels off: a part may be occluded."""

SIZE_ERROR_M = 0.005
"""A side that differs less is the same: what touches the object, or covers it, hides its edges."""

LOOKS_GATE, SIZE_IN_GATE = 0.36, 0.1
"""A detection elsewhere whose appearance (1 - cosine) and sides (sum of the logarithms of their ratios, with this
weight) differ more than this shows another object. Of pairs of different real objects 6 % are below, of pairs of
images of the same one, turned and partly covered, 95 %. Places have no gate."""

SHORTER_IN_GATE = 0.16
"""Most that shorter sides count in the gate: what is covered shows a part of its sides."""

IN_PLACE_GATE = 0.37
"""The same in the object's place, by appearance alone: light changes, and a shadow may fall on it."""

PART_GATE = 0.6
"""The same for a detection in the object's place that is smaller than the object: it shows a part, or neighbours, too.
"""

FEW, FEW_GATE, FEW_M = 0.3, 0.6, 0.008
"""A detection elsewhere with less than this share of the most pixels that have shown an object may show its edge alone:
shorter sides do not count, and its appearance may differ by this much if each side differs by less than this."""

IN_PLACE_M = 0.02
"""A detection this close to where an object may be is in its place."""

PART_M = 0.015
"""A detection of which a side is this much shorter may show a part of the object."""

UNMATCHED = 4.0
"""Cost of leaving an object without a detection: more than any allowed pair costs."""


def association_costs(
    visual: FloatArray,
    sizes: FloatArray,
    places: FloatArray,
    detected_visual: FloatArray,
    detected_boxes: FloatArray,
    details: tuple[FloatArray, FloatArray] | None = None,
    pixels: tuple[FloatArray, FloatArray] | None = None,
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

    Returns:
        (N, M); `UNMATCHED` where the appearance rules it out.
    """
    looks = 1.0 - (visual @ detected_visual.T).mean(axis=1)
    away = np.linalg.norm(places[:, :, None] - detected_boxes[None, None, :, :3], axis=-1).min(axis=1)
    # an object may have been turned over: its sides are compared in order of length
    difference = np.sort(detected_boxes[:, 3:], axis=1) - np.sort(sizes, axis=2)[:, :, None]
    larger = GROWTH_WEIGHT * np.tanh(np.maximum(difference - SIZE_ERROR_M, 0.0).sum(axis=-1) / GROWTH_M)
    smaller = SHRINKAGE_WEIGHT * np.tanh(np.maximum(-difference - SIZE_ERROR_M, 0.0).sum(axis=-1) / SHRINKAGE_M)
    closer = 0.0 if details is None else 1.0 - (details[0] @ details[1].T).mean(axis=1)
    cost = looks + closer + PLACE_WEIGHT * np.tanh(away / NEAR_M) + (larger + smaller).mean(axis=1)
    part = (difference.min(axis=-1) < -PART_M).any(axis=1)
    now, before = (np.log(np.sort(np.maximum(sides, 1e-3), axis=-1)) for sides in (detected_boxes[:, 3:], sizes))
    change = SIZE_IN_GATE * (now - before[:, :, None])
    longer, shorter = np.maximum(change, 0.0).sum(axis=-1), np.maximum(-change, 0.0).sum(axis=-1)
    unlike = looks + (longer + np.minimum(shorter, SHORTER_IN_GATE)).min(axis=1)
    in_place = np.where(part, looks > PART_GATE, looks > IN_PLACE_GATE)
    elsewhere = unlike > LOOKS_GATE
    if pixels is not None:
        gate = np.where((np.abs(difference) < FEW_M).all(axis=-1).any(axis=1), FEW_GATE, LOOKS_GATE)
        elsewhere &= (pixels[1] >= FEW * pixels[0][:, None]) | (looks + longer.min(axis=1) > gate)
    other = np.where(away < IN_PLACE_M, in_place, elsewhere)
    return np.asarray(np.where(other, UNMATCHED, cost), dtype=np.float32)


def associate(costs: FloatArray) -> npt.NDArray[np.intp]:
    """The cheapest one-to-one assignment; excluded pairs stay unmatched.

    Args:
        costs: (N, M) of N objects and M detections.

    Returns:
        (N,) index of the detection that shows each object, -1 for none. Detections that no object has are new.
    """
    count, detections = costs.shape
    open_ended = np.full((count, detections + count), UNMATCHED, dtype=np.float64)
    open_ended[:, :detections] = costs
    rows, columns = linear_sum_assignment(open_ended)
    found = np.full(count, -1, dtype=np.intp)
    matched = (columns < detections) & (open_ended[rows, columns] < UNMATCHED)
    found[rows[matched]] = columns[matched]
    return found
