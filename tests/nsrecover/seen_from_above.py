"""Pictures of cubes from a camera straight above."""

import numpy as np

from nsrecover.core.observation import Camera, Observation

EYE_M, FOCAL, SIDE = 1.0, 300.0, 0.05
DOWN = np.diag([1.0, -1.0, -1.0, 1.0])
DOWN[2, 3] = EYE_M
CAMERA = Camera(np.array([[FOCAL, 0, 160], [0, FOCAL, 120], [0, 0, 1]], np.float32), DOWN.astype(np.float32), "above")


def seen(*tops: tuple[float, float, float], time_s: float = 0.0) -> Observation:
    """A picture of cubes with their tops at x, y and z, metres."""
    depth, masks = np.full((240, 320), EYE_M, np.float32), np.zeros((240, 320), np.int32)
    columns, rows = np.meshgrid(np.arange(320) + 0.5, np.arange(240) + 0.5)
    for number, (x, y, z) in enumerate(tops, 1):
        away = EYE_M - z
        shown = (
            np.maximum(np.abs((columns - 160) * away / FOCAL - x), np.abs((rows - 120) * away / FOCAL + y)) < SIDE / 2
        )
        depth[shown], masks[shown] = away, number
    return Observation(
        rgb=np.zeros((1, 240, 320, 3), np.uint8), depth_m=depth[None], instances=masks[None], cameras=(CAMERA,),
        labels={}, gripper_opening_m=0.08, holding=False, time_s=time_s,
    )  # fmt: skip
