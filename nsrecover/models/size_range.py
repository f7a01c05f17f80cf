"""Predictions for objects that are larger or smaller than those of the training data.

What the transition model has learned (gaps, the middle of a support) holds for sides as long as those that it was
trained on. Beyond them a network extrapolates badly: trained with sides up to 70 mm, it put bottles of 120 mm and what
stands beside them 20 mm too high or low. It is therefore shown objects with usual sides, and what they lack is added
where the objects face each other.
"""

import numpy as np
import numpy.typing as npt

from nsrecover.core.geometry import bottom, gaps, top
from nsrecover.core.scene import FloatArray


def limited(boxes: FloatArray, trained_m: tuple[float, float], usual_m: tuple[float, float]) -> FloatArray:
    """Boxes (..., 6) with usual sides, in the same places and on the same surfaces; the given ones if trained.

    Args:
        boxes: (..., 6).
        trained_m: shortest and longest side in the training data.
        usual_m: range of sides that occur there in any combination.
    """
    low, high = trained_m
    if ((boxes[..., 3:] >= low) & (boxes[..., 3:] <= high)).all():
        return boxes
    sides = np.clip(boxes[..., 3:], *usual_m)
    inside = boxes.copy()
    inside[..., 2] += (sides[..., 2] - boxes[..., 5]) / 2
    inside[..., 3:] = sides
    return inside


def extended(
    predicted: FloatArray,
    boxes: FloatArray,
    inside: FloatArray,
    moved: npt.NDArray[np.intp],
    reference: npt.NDArray[np.intp],
) -> FloatArray:
    """Boxes (B, 6) of the moved objects, from what was predicted for objects with usual sides.

    Next to the reference, the moved object moves away from it by half of what both lack along that axis. It stands on
    the top of the reference, or on the same surface as the reference.

    Args:
        predicted: (B, 6) for the limited boxes.
        boxes: (N, 6), or (B, N, 6) if every action has its own scene.
        inside: the same boxes, limited.
        moved: (B,) index of the moved object.
        reference: (B,) index of the object that it is moved relative to.
    """
    rows = np.arange(len(predicted))
    scenes, within = (np.broadcast_to(each, (len(rows), *each.shape[-2:])) for each in (boxes, inside))
    anchor = within[rows, reference]
    own, other = (scenes[rows, index, 3:] - within[rows, index, 3:] for index in (moved, reference))
    apart = gaps(predicted, anchor[:, None])[:, 0]
    axis = apart.argmax(axis=-1)
    result = predicted.copy()
    result[:, 3:] += own
    beside = np.flatnonzero(axis != 2)
    along = axis[beside]
    side = np.sign(predicted[beside, along] - anchor[beside, along])
    result[beside, along] += side * (own[beside, along] + other[beside, along]) / 2
    surface = np.where(axis == 2, top(scenes[rows, reference]), bottom(scenes[rows, reference]))
    result[:, 2] = surface + result[:, 5] / 2
    return result
