"""Calibrated RGB-D cameras with instance masks, rendered by PyBullet's software renderer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pybullet

from nsrecover.core import Camera, Observation
from nsrecover.errors import InvalidConfiguration

Vector = tuple[float, float, float]

NEAR_M = 0.2
"""Nearest depth the renderer resolves."""
FAR_M = 4.0
"""Farthest depth the renderer resolves."""

NEXT_FRAME_S = 0.001
"""A frame that is taken while the simulated time stands still is stamped this much later than the last one."""


def stamp_s(time_s: float, last_s: float) -> float:
    """The time of a frame.

    Args:
        time_s: simulated time.
        last_s: the time of the last frame; -inf if there was none.
    """
    return time_s if time_s > last_s else last_s + NEXT_FRAME_S


@dataclass(frozen=True)
class Light:
    """One distant lamp.

    Attributes:
        direction: from the scene towards the lamp.
        colour: red, green, blue in 0..1.
        ambient: share of light without a direction.
        diffuse: share that comes from the lamp.
        specular: strength of highlights.
    """

    direction: Vector = (0.4, 0.3, 1.0)
    colour: Vector = (1.0, 1.0, 1.0)
    ambient: float = 0.6
    diffuse: float = 0.4
    specular: float = 0.05


DAYLIGHT = Light()
"""Default light."""


@dataclass(frozen=True)
class View:
    """Pose and opening angle of a camera.

    Attributes:
        name: of the camera.
        eye: position of the camera, metres.
        target: the point in the centre of its image, metres.
        fov: vertical opening angle, radians.
    """

    name: str
    eye: Vector
    target: Vector
    fov: float = math.radians(38.0)

    def __post_init__(self) -> None:
        # lists come from configuration files
        for name in ("eye", "target"):
            place = tuple(float(value) for value in getattr(self, name))
            if len(place) != 3:
                raise InvalidConfiguration(f"expected the {name} of the view {self.name!r} as x, y, z, found {place}")
            object.__setattr__(self, name, place)

    def camera(self, width: int, height: int) -> Camera:
        """Calibration for images of this size in pixels; the centre of the first pixel is (0.5, 0.5)."""
        focal = height / 2.0 / math.tan(self.fov / 2.0)
        intrinsics = np.array(
            [[focal, 0, PIXEL_ORIGIN_X + width / 2.0], [0, focal, PIXEL_ORIGIN_Y + height / 2.0], [0, 0, 1]]
        )
        view = np.array(self._view_matrix()).reshape(4, 4).T
        # OpenGL looks along -z with y up, OpenCV along +z with y down
        world_from_camera = np.linalg.inv(view) @ np.diag([1.0, -1.0, -1.0, 1.0])
        return Camera(intrinsics.astype(np.float32), world_from_camera.astype(np.float32), self.name)

    def _view_matrix(self) -> tuple[float, ...]:
        forward = np.subtract(self.target, self.eye)
        vertical = float(np.linalg.norm(forward[:2])) < 1e-6
        up = (1.0, 0.0, 0.0) if vertical else (0.0, 0.0, 1.0)
        return tuple(pybullet.computeViewMatrix(self.eye, self.target, up))


PIXEL_ORIGIN_X = 0.5
PIXEL_ORIGIN_Y = -0.5
"""The renderer samples a pixel at its left and lower edge, not at its centre (measured by lifting known objects; with
this offset no error is left)."""

LEFT = View("left", (0.525, 0.86, 0.86), (0.525, 0.0, 0.06))
"""Shows the left sides and the tops."""
RIGHT = View("right", (0.525, -0.86, 0.86), (0.525, 0.0, 0.06))
"""Shows the right sides and the tops."""
FRONT = View("front", (1.55, 0.0, 0.75), (0.52, 0.0, 0.06))
"""Faces the robot from the far side of the table."""
VIDEO = View("video", (1.35, -0.75, 0.75), (0.42, 0.0, 0.20), math.radians(42.0))
"""Shows the arm and the table, for human viewers."""


@dataclass(frozen=True)
class CameraRig:
    """The cameras of a cell.

    Attributes:
        views: at least one.
        width: of every image, pixels.
        height: of every image, pixels.
        light: how the scene is lit.
    """

    views: tuple[View, ...] = (LEFT, RIGHT)
    width: int = 320
    height: int = 240
    light: Light = Light()

    def __post_init__(self) -> None:
        object.__setattr__(self, "views", tuple(self.views))
        if not self.views or self.width < 16 or self.height < 16:
            raise InvalidConfiguration(
                f"expected at least one view of at least 16x16 pixels, found {len(self.views)} of "
                f"{self.width}x{self.height}"
            )
        names = [view.name for view in self.views]
        if len(set(names)) != len(names):
            raise InvalidConfiguration(f"expected different camera names, found {names}")


DEFAULT_RIG = CameraRig()
"""Two opposed cameras, 320x240."""


@dataclass(frozen=True, eq=False)
class Picture:
    """One rendered image.

    Attributes:
        rgb: (H, W, 3) uint8.
        depth_m: (H, W) float32, along the optical axis.
        bodies: (H, W) int32, body number of every pixel; -1 for the background.
    """

    rgb: npt.NDArray[np.uint8]
    depth_m: npt.NDArray[np.float32]
    bodies: npt.NDArray[np.int32]


def take_picture(
    client: int,
    view: View,
    width: int,
    height: int,
    light: Light,
    moved: npt.NDArray[np.float64] | None = None,
    far_m: float = FAR_M,
) -> Picture:
    """One rendered view of the current state of a physics client.

    Args:
        client: of PyBullet.
        view: where the camera is believed to be.
        width: of the image, pixels.
        height: of the image, pixels.
        light: how the scene is lit.
        moved: (4, 4) motion from there to where it is, in the camera's frame (OpenCV); None: it is there.
        far_m: nothing farther away is drawn.
    """
    matrix = view._view_matrix()
    if moved is not None:
        flip = np.diag([1.0, -1.0, -1.0, 1.0])
        matrix = tuple((flip @ np.linalg.inv(moved) @ flip @ np.array(matrix).reshape(4, 4).T).T.ravel())
    projection = pybullet.computeProjectionMatrixFOV(math.degrees(view.fov), width / height, NEAR_M, far_m)
    _, _, rgba, buffer, segments = pybullet.getCameraImage(
        width,
        height,
        matrix,
        projection,
        lightDirection=light.direction,
        lightColor=light.colour,
        lightDistance=3.0,
        lightAmbientCoeff=light.ambient,
        lightDiffuseCoeff=light.diffuse,
        lightSpecularCoeff=light.specular,
        shadow=0,
        renderer=pybullet.ER_TINY_RENDERER,
        physicsClientId=client,
    )
    rgb = np.ascontiguousarray(np.asarray(rgba, dtype=np.uint8).reshape(height, width, 4)[..., :3])
    depth = np.asarray(buffer, dtype=np.float64).reshape(height, width)
    bodies = np.array(segments, dtype=np.int32).reshape(height, width)
    metres = far_m * NEAR_M / (far_m - (far_m - NEAR_M) * depth)
    metres[depth >= 1.0] = 0.0
    return Picture(rgb, metres.astype(np.float32), bodies)


def observation_of(
    client: int,
    rig: CameraRig,
    offsets: Sequence[npt.NDArray[np.float64] | None],
    bodies: Mapping[str, int],
    markers: Mapping[int, str] = MappingProxyType({}),
    **others: Any,
) -> Observation:
    """Images of all cameras of a rig, with masks and labels of what they show.

    Args:
        client: of PyBullet.
        rig: where the cameras are believed to be.
        offsets: for every camera the motion (4, 4) from there to where it is, in its frame; None: it is there.
        bodies: name -> body number of what has a mask; the instance numbers follow its order, from 1 on.
        markers: body number -> name of what it belongs to, for the visible bodies of liquids and stains.
        others: the other fields of the observation.
    """
    pictures = [
        take_picture(client, view, rig.width, rig.height, rig.light, offset)
        for view, offset in zip(rig.views, offsets, strict=True)
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
        cameras=tuple(view.camera(rig.width, rig.height) for view in rig.views),
        labels={int(i): names[int(i) - 1] for i in np.unique(instances) if i > 0},
        **others,
    )
