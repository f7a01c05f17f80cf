"""Photographs of a report: outlines of objects in them, and encoding within a budget."""

import base64
import io
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from PIL import Image as PillowImage
from scipy.spatial import ConvexHull, QhullError

from nsrecover.core.observation import Camera
from nsrecover.core.scene import Box, FloatArray, SceneGraph
from nsrecover.serving.reports.media import Media, Photo, Polygon
from nsrecover.serving.reports.model import Image, MarkedAs, Outline, OutlinedPhoto
from nsrecover.util.english import listed, the

BUDGET_BYTES = 1_300_000
"""All photographs of a page together."""
WIDEST = 480
"""Pixels of a photograph in a page."""
QUALITIES = ((WIDEST, 82), (WIDEST, 65), (360, 60), (240, 50), (160, 45))
"""Width in pixels and quality of JPEG, tried one after the other until the photographs fit into the budget."""
SMALLEST_PX = 6
"""An outline gets at least this size; a mask of fewer pixels than its square root is no object."""
AROUND, LEAST_SHARE = 0.2, 0.45
"""A photograph is shown with this share of the objects' extent around them, and at least this share of it."""
View = tuple[float, float, float, float]
"""Left, top, width and height of a part of a photograph, pixels."""
NEAR_M = 0.02
"""Objects nearer to a camera than this are not outlined."""

_CORNERS = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])


def data_uri(content: bytes, mime: str) -> str:
    """A file as an address that holds it."""
    return f"data:{mime};base64,{base64.b64encode(content).decode()}"


def outline_of_box(box: Box | FloatArray, camera: Camera) -> Polygon | None:
    """The outline of a box in an image, (P, 2) pixels; None if it is not in front of the camera."""
    (corners,) = _projected(np.asarray(box, np.float64)[None], camera)
    return None if np.isnan(corners).any() else _hull(corners)


def _projected(boxes: npt.NDArray[np.float64], camera: Camera) -> npt.NDArray[np.float64]:
    """The corners of boxes (N, 6) in an image, (N, 8, 2) pixels; NaN where they are not in front of the camera."""
    corners = boxes[:, None, :3] + _CORNERS * boxes[:, None, 3:]
    camera_from_world = np.linalg.inv(camera.world_from_camera.astype(np.float64))
    seen = corners @ camera_from_world[:3, :3].T + camera_from_world[:3, 3]
    depth = np.where(seen[..., 2:] < NEAR_M, np.nan, seen[..., 2:])
    return np.asarray((seen @ camera.intrinsics.astype(np.float64).T)[..., :2] / depth)


def outlines_of_masks(instances: npt.NDArray[np.int32], names: Mapping[int, str]) -> dict[str, Polygon]:
    """The outlines of masks in one image.

    Args:
        instances: (H, W) number of the object at every pixel.
        names: number -> name, several numbers for an object of several masks; other numbers are left out.
    """
    parts: dict[str, list[int]] = {}
    for number, name in names.items():
        parts.setdefault(name, []).append(number)
    found = {}
    for name, numbers in parts.items():
        rows, columns = np.nonzero(np.isin(instances, numbers))
        hull = _hull(np.c_[columns, rows] + 0.5) if len(rows) >= SMALLEST_PX else None
        if hull is not None:
            found[name] = hull
    return found


def _hull(points: npt.NDArray[np.float64]) -> Polygon | None:
    """The convex hull of points; None if they are on one line."""
    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except (QhullError, ValueError):
        return None


def view_of(photos: Sequence[Photo], scenes: Sequence[SceneGraph]) -> View | None:
    """The part of all photographs in which the objects are, so that a page can show it large.

    Returns:
        Left, top, width and height in pixels, in the proportions of the photographs; None if they have different sizes,
        or no cameras.
    """
    if len({photo.rgb.shape for photo in photos}) != 1 or any(photo.camera is None for photo in photos) or not scenes:
        return None
    boxes = np.concatenate([graph.boxes[~graph.missing] for graph in scenes]).astype(np.float64)
    cameras = {photo.camera.world_from_camera.tobytes(): photo.camera for photo in photos if photo.camera is not None}
    corners = np.concatenate([_projected(boxes, camera).reshape(-1, 2) for camera in cameras.values()])
    if len(corners) == 0 or np.isnan(corners).all():
        return None
    size = np.array(photos[0].rgb.shape[1::-1], np.float64)
    low, high = np.clip(np.nanmin(corners, axis=0), 0, size), np.clip(np.nanmax(corners, axis=0), 0, size)
    share = float(np.clip((high - low) / size * (1 + 2 * AROUND), LEAST_SHARE, 1.0).max())
    left, top = np.clip((low + high) / 2 - share * size / 2, 0, size * (1 - share))
    return round(float(left), 1), round(float(top), 1), round(share * size[0], 1), round(share * size[1], 1)


class Album:
    """The photographs of a report; each is stored once, however often it is shown.

    Args:
        media: photographs of every turn.
        scenes: scene graphs that they show; without any, photographs are shown whole.
    """

    def __init__(self, media: Sequence[Media], scenes: Sequence[SceneGraph] = ()) -> None:
        photos = [photo for each in media for photo in (each.before, each.after) if photo is not None]
        distinct = {photo.rgb.tobytes(): photo.rgb for photo in photos}
        numbers = {data: number for number, data in enumerate(distinct)}
        self._numbers = {id(photo): numbers[photo.rgb.tobytes()] for photo in photos}
        self._sizes = [(rgb.shape[1], rgb.shape[0]) for rgb in distinct.values()]
        self._view = view_of(photos, scenes) if photos else None
        self._encoded = _encoded(list(distinct.values()))

    @property
    def images(self) -> tuple[Image, ...]:
        """The photographs."""
        return tuple(
            Image(data_uri(jpeg, "image/jpeg"), *size) for jpeg, size in zip(self._encoded, self._sizes, strict=True)
        )

    @property
    def size(self) -> int:
        """Characters that the photographs take."""
        return sum(len(image.href) for image in self.images)

    def picture(self, title: str, photo: Photo, outlines: Sequence[Outline]) -> OutlinedPhoto:
        """A photograph with outlines."""
        height, width = photo.rgb.shape[:2]
        named = listed(list(dict.fromkeys(the(each.name) for each in outlines if not each.expected)))
        text = f"Photograph {title.lower()}" + (f"; outlined: {named}" if named else "")
        view = self._view or (0.0, 0.0, float(width), float(height))
        return OutlinedPhoto(title, self._numbers[id(photo)], view, text, tuple(outlines))


def outlines(photo: Photo, scene: object, kinds: Mapping[str, MarkedAs], expected: bool = False) -> list[Outline]:
    """The outlines of some objects in a photograph.

    Args:
        photo: the photograph; one with a camera shows the boxes of the scene, another one its own outlines.
        scene: the scene at that moment, or the expected one.
        kinds: the objects, and how they are marked.
        expected: whether the scene is the expected one.
    """
    polygons: Mapping[str, Polygon | None] = photo.outlines
    if photo.camera is not None and isinstance(scene, SceneGraph):
        polygons = _boxes(photo.camera, scene, kinds)
    elif expected:
        return []
    height, width = photo.rgb.shape[:2]
    found = []
    for name, kind in kinds.items():
        polygon = polygons.get(name)
        inside = polygon is not None and bool(((polygon >= 0) & (polygon <= (width, height))).all(axis=1).any())
        if polygon is not None and inside:
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in _grown(polygon))
            found.append(Outline(name, points, kind, expected))
    return found


def _boxes(camera: Camera, scene: SceneGraph, names: Collection[str]) -> dict[str, Polygon | None]:
    rows = {name: scene.index(name) for name in names if name in scene.names}
    return {name: outline_of_box(scene.boxes[i], camera) for name, i in rows.items() if not scene.missing[i]}


def _grown(polygon: Polygon) -> Polygon:
    """A polygon moved out by two pixels, so that its line does not cover the object."""
    middle = polygon.mean(axis=0)
    away = polygon - middle
    length = np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-9)
    return np.asarray(middle + away * np.maximum(1.0 + 2.0 / length, SMALLEST_PX / 2 / length))


def _encoded(pictures: Sequence[npt.NDArray[np.uint8]]) -> list[bytes]:
    """The pictures as JPEG, as good as the budget allows."""
    encoded: list[bytes] = []
    for width, quality in QUALITIES:
        encoded = [jpeg(picture, width, quality) for picture in pictures]
        if sum(map(len, encoded)) <= BUDGET_BYTES:
            break
    return encoded


def stored(rgb: npt.NDArray[np.uint8]) -> Image:
    """A picture (H, W, 3) as a page that goes on shows it, encoded as well as in a short report."""
    return Image(data_uri(jpeg(rgb, *QUALITIES[0]), "image/jpeg"), rgb.shape[1], rgb.shape[0])


def jpeg(rgb: npt.NDArray[np.uint8], width: int, quality: int) -> bytes:
    """A picture (H, W, 3) as JPEG of a width in pixels at most."""
    image = PillowImage.fromarray(rgb)
    if image.width > width:
        image = image.resize((width, max(1, round(image.height * width / image.width))), PillowImage.Resampling.LANCZOS)
    out = io.BytesIO()
    image.save(out, "JPEG", quality=quality, optimize=True)
    return out.getvalue()
