"""The decision threshold, by split-conformal calibration on successful held-out steps, and what was measured."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nsrecover.models.bundle import Bundle
from nsrecover.structs import FloatArray
from train.demonstrations import Demonstration


def lowest_probabilities(
    demonstrations: Sequence[Demonstration], visual: Sequence[FloatArray], bundle: Bundle
) -> FloatArray:
    """For every successful step, the lowest P(as expected) over the objects: what an alarm would be raised on.

    The expectation is imagined from the frame before the step, as the agent does it.
    """
    lowest = []
    for demo, features in zip(demonstrations, visual, strict=True):
        for step, action in enumerate(demo.plan):
            boxes, looks = demo.boxes[step].copy(), features[step].copy()
            moved = demo.names.index(action.arguments[0])
            if len(action.arguments) == 2:
                box, feature = _predict(bundle, looks, boxes, demo, step)
                boxes[moved], looks[moved] = box, feature
            else:
                # the target comes with the action, and is where the object was put
                boxes[moved] = demo.boxes[step + 1, moved]
            lowest.append(bundle.same(looks, boxes, features[step + 1], demo.boxes[step + 1]).min())
    return np.asarray(lowest, dtype=np.float32)


def _predict(
    bundle: Bundle, visual: FloatArray, boxes: FloatArray, demo: Demonstration, step: int
) -> tuple[FloatArray, FloatArray]:
    action = demo.plan[step]
    moved, reference = (demo.names.index(name) for name in action.arguments)
    number = bundle.config.operators.index(action.operator)
    box, feature = bundle.predict(visual[None], boxes[None], [number], [moved], [reference])
    return box[0], feature[0]


def conformal_threshold(scores: FloatArray, alpha: float) -> float:
    """Threshold below which at most a share `alpha` of new successful steps falls.

    With n exchangeable calibration scores, the k-th smallest with k = floor(alpha (n + 1)) has that guarantee.

    Args:
        scores: (n,) of successful steps.
        alpha: promised false-alarm rate per step.

    Returns:
        The threshold; 0 (no alarm ever) if there are too few scores to promise so low a rate.
    """
    rank = int(np.floor(alpha * (len(scores) + 1)))
    return 0.0 if rank < 1 else float(np.sort(scores)[rank - 1])


def box_errors_mm(
    demonstrations: Sequence[Demonstration], visual: Sequence[FloatArray], bundle: Bundle, steps: Sequence[int]
) -> dict[str, float]:
    """Median error of the moved object's imagined centre after 1, 2, ... imagined steps, millimetres."""
    errors: dict[int, list[float]] = {count: [] for count in steps}
    for demo, features in zip(demonstrations, visual, strict=True):
        boxes, looks = demo.boxes[0].copy(), features[0].copy()
        for step, action in enumerate(demo.plan):
            moved = demo.names.index(action.arguments[0])
            if len(action.arguments) != 2:
                boxes[moved] = demo.boxes[step + 1, moved]
                continue
            boxes[moved], looks[moved] = _predict(bundle, looks, boxes, demo, step)
            if step + 1 in errors:
                errors[step + 1].append(float(np.linalg.norm(boxes[moved, :3] - demo.boxes[step + 1, moved, :3])))
    return {str(count): round(1000 * float(np.median(found)), 2) for count, found in errors.items() if found}


def displacement_recall(
    demonstrations: Sequence[Demonstration], visual: Sequence[FloatArray], bundle: Bundle, seed: int = 0
) -> dict[str, float]:
    """Share of displaced copies of held-out objects that the discriminator tells apart, by distance in millimetres."""
    rng = np.random.default_rng(seed)
    looks = np.concatenate([features[0] for features in visual])
    boxes = np.concatenate([demo.boxes[0] for demo in demonstrations])
    rates = {}
    for millimetres in (5, 10, 15, 20, 25, 30, 40, 60):
        direction = rng.normal(size=(len(boxes), 3))
        shifted = boxes.copy()
        shifted[:, :3] += direction / np.linalg.norm(direction, axis=1, keepdims=True) * millimetres / 1000
        rates[str(millimetres)] = round(float((bundle.same(looks, boxes, looks, shifted) < bundle.threshold).mean()), 4)
    return rates
