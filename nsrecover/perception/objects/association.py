"""Assignment of detections to known objects: the Hungarian method on appearance, place and size, with a gate."""

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from nsrecover.core.scene import FloatArray

PLACE_WEIGHT = 0.25
"""Cost of being far from every place where the object may be; different appearance costs up to 2."""

NEAR_M = 0.05
"""Length at which the cost of being elsewhere levels off: beyond it, far and near are equally likely."""

GROWTH_WEIGHT, GROWTH_M = 0.5, 0.01
"""Cost of being larger than the object, and the length at which it levels off: turned objects have larger boxes."""

SHRINKAGE_WEIGHT, SHRINKAGE_M = 0.25, 0.02
"""Cost of being smaller, and the length at which it levels off: a part may be occluded."""

SIZE_ERROR_M = 0.005
"""A side that differs less is the same: what touches the object, or covers it, hides its edges."""

LOOKS_GATE = 0.6
"""A detection whose appearance differs more than this (1 - cosine) shows another object. Place and size have no gate:
objects that tumbled, or are half occluded, are elsewhere and of another size."""

IN_PLACE_M, IN_PLACE_GATE = 0.02, 0.8
"""A detection this close to where the object may be can look more different: its mask may show neighbours, too."""

UNMATCHED = 4.0
"""Cost of leaving an object without a detection: more than any allowed pair costs."""


def association_costs(
    visual: FloatArray,
    sizes: FloatArray,
    places: FloatArray,
    detected_visual: FloatArray,
    detected_boxes: FloatArray,
) -> FloatArray:
    """How badly each detection fits each object.

    Args:
        visual: (N, K, D) unit features of the objects, from K observations of each: the costs are averaged.
        sizes: (N, K, 3) of their boxes, metres.
        places: (N, P, 3) centres where each may be: where it was, where it is expected.
        detected_visual: (M, D) unit features of the detections.
        detected_boxes: (M, 6).

    Returns:
        (N, M); `UNMATCHED` where the appearance rules it out.
    """
    looks = 1.0 - (visual @ detected_visual.T).mean(axis=1)
    away = np.linalg.norm(places[:, :, None] - detected_boxes[None, None, :, :3], axis=-1).min(axis=1)
    # an object may have been turned over: its sides are compared in order of length
    difference = np.sort(detected_boxes[:, 3:], axis=1) - np.sort(sizes, axis=2)[:, :, None]
    larger = GROWTH_WEIGHT * np.tanh(np.maximum(difference - SIZE_ERROR_M, 0.0).sum(axis=-1) / GROWTH_M)
    smaller = SHRINKAGE_WEIGHT * np.tanh(np.maximum(-difference - SIZE_ERROR_M, 0.0).sum(axis=-1) / SHRINKAGE_M)
    cost = looks + PLACE_WEIGHT * np.tanh(away / NEAR_M) + (larger + smaller).mean(axis=1)
    gate = np.where(away < IN_PLACE_M, IN_PLACE_GATE, LOOKS_GATE)
    return np.asarray(np.where(looks > gate, UNMATCHED, cost), dtype=np.float32)


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
