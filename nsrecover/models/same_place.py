"""Whether objects are in the same place, and with the same side down."""

import numpy as np

from nsrecover.core.geometry import fits_into, near_enough, rigid_shift, same_side_up
from nsrecover.core.scene import FloatArray
from nsrecover.models.protocols import RecoveryModels

ITSELF = 0.4
"""An object looks like itself from this cosine of learned features on; nine in ten pairs of different colours are
below."""


def same_place(
    models: RecoveryModels, visual_a: FloatArray, boxes_a: FloatArray, visual_b: FloatArray, boxes_b: FloatArray
) -> FloatArray:
    """P(same object in the same place, on the same side) for M pairs of nodes: (M,).

    The models compare places and appearance (Kalithasan et al., section IV-C). A brick that tipped over in its place
    keeps both, but an object put onto it would be too high or too low. Places differ as far as both faces of a box do
    on each axis: one face that noise or an occlusion moves is no displacement. A push that turns an object changes its
    sides, too, and the displacement would look smaller than it is: an object is not in its place either if its centre
    is farther away than the tolerance, and its sides do not say why (`near_enough`).
    On a crowded table (`RecoveryModels.room_m`) an object must also take no more room than expected.

    Args:
        models: their discriminator is used.
        visual_a: (M, D) features, as expected.
        boxes_a: (M, 6), as expected.
        visual_b: (M, D).
        boxes_b: (M, 6).
    """
    same = models.same(visual_a, boxes_a, visual_b, rigidly_moved(boxes_a, boxes_b))
    same = np.minimum(same, same_side_up(boxes_a, boxes_b))
    same = np.minimum(same, near_enough(boxes_b, boxes_a, models.tolerance_m))
    return same if models.room_m is None else np.minimum(same, fits_into(boxes_b, boxes_a, models.room_m))


def well_placed(models: RecoveryModels, boxes_a: FloatArray, boxes_b: FloatArray) -> FloatArray:
    """P(M objects that were just put down are where they should be, on the same side): (M,); 0.5 at the tolerance.

    They were followed to their places, so that the distance decides and what else the models compare does not.

    Args:
        models: their tolerance is used.
        boxes_a: (M, 6), as expected.
        boxes_b: (M, 6), as observed.
    """
    away = np.linalg.norm(rigid_shift(boxes_a, boxes_b), axis=-1)
    near = np.minimum(np.exp2(-((away / models.tolerance_m) ** 4)), same_side_up(boxes_a, boxes_b))
    return np.asarray(near) if models.room_m is None else np.minimum(near, fits_into(boxes_b, boxes_a, models.room_m))


def rigidly_moved(boxes_a: FloatArray, boxes_b: FloatArray) -> FloatArray:
    """Boxes b (M, 6) as far from a as both of their faces are on each axis; their sides stay."""
    moved = np.array(boxes_b, dtype=np.float32)
    moved[..., :3] = np.asarray(boxes_a, dtype=np.float32)[..., :3] + rigid_shift(boxes_a, boxes_b)
    return moved
