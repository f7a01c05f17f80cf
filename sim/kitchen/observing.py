"""Observations of a kitchen: images of the cameras on the robot, with masks and labels of what they show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from nsrecover.core.observation import Observation
from sim.common.cameras import CameraRig, take_picture
from sim.kitchen.cameras import on_base
from sim.kitchen.robot import BasePose


def observe(
    client: int,
    rig: CameraRig,
    base: BasePose,
    bodies: Mapping[str, int],
    markers: Mapping[int, str],
    gripper_opening_m: float,
    holding: bool,
    time_s: float,
    moved: Sequence[npt.NDArray[np.float64] | None] | None = None,
) -> Observation:
    """Take images from where the base stands.

    Args:
        client: physics client.
        rig: cameras, in the frame of the base.
        base: where it stands.
        bodies: name -> body number of what has a mask; the instance numbers follow its order, from 1 on.
        markers: body number -> name of what it belongs to, for the visible bodies of liquids and stains.
        gripper_opening_m: distance between the fingers.
        holding: whether the gripper feels something between its fingers.
        time_s: simulated time.
        moved: (4, 4) motion of each camera from where it is believed to be, in its frame; None: they are there.
    """
    views = [on_base(view, base) for view in rig.views]
    pictures = [
        take_picture(client, view, rig.width, rig.height, rig.light, move)
        for view, move in zip(views, moved or [None] * len(views), strict=True)
    ]
    names = list(bodies)
    number = np.zeros(max([*bodies.values(), *markers, *(int(one.bodies.max()) for one in pictures)]) + 2, np.int32)
    for instance, name in enumerate(names, start=1):
        number[bodies[name]] = instance
    for body, owner in markers.items():
        number[body] = number[bodies[owner]]
    # body -1 (nothing) reads the last entry, which is 0
    instances = np.stack([number[picture.bodies] for picture in pictures])
    return Observation(
        rgb=np.stack([picture.rgb for picture in pictures]),
        depth_m=np.stack([picture.depth_m for picture in pictures]),
        instances=instances,
        cameras=tuple(view.camera(rig.width, rig.height) for view in views),
        labels={int(i): names[int(i) - 1] for i in np.unique(instances) if i > 0},
        gripper_opening_m=gripper_opening_m,
        holding=holding,
        time_s=time_s,
    )
