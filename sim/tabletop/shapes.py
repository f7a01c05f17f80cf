"""Bodies of objects that are no boxes: cylinders, mugs, bottles, and blobs (`sim.tabletop.blobs`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pybullet

from nsrecover.errors import InvalidConfiguration
from sim.tabletop.blobs import MASS_KG, blob_model
from sim.tabletop.scenes import BOX_KINDS, COLOURS, ObjectKind, ObjectSpec

Array = npt.NDArray[np.float64]

DENSITY_KG_M3 = 700.0
"""Density of hard wood."""
HANDLE_M = 0.018
"""Length of the handle of a mug."""
ROLLING = 5e-4
"""Rolling friction; without it, what is round rolls for metres."""
CERAMIC_KG_M3, FULL_KG_M3 = 610.0, 520.0
"""Mass of mugs and of full bottles per volume of the box around them without a handle."""
_WALL_M, _WALLS = 0.004, 8
_NECK, _SHOULDER = 0.42, 0.66
_SECTORS = 24


@dataclass(frozen=True, eq=False)
class Outline:
    """What encloses an object, in its own frame, whose origin is the centre of its box.

    Attributes:
        points: (P, 3) whose convex hull is that of the object, metres.
        mass_centre: (3,) its centre of mass.
    """

    points: Array
    mass_centre: Array


def outline_of(item: ObjectSpec) -> Outline | None:
    """The outline of an object; None for a box, which fills its sides.

    Raises:
        InvalidConfiguration: a blob's model does not exist, or does not have the proportions of the object.
    """
    if item.kind in BOX_KINDS:
        return None
    length, width, height = item.size
    if item.kind is ObjectKind.BLOB:
        model = blob_model(item.model or 0)
        scale = 0.0 if model is None else float(length / model.size[0])
        if model is None or not np.allclose(model.size * scale, item.size, atol=5e-4):
            best = "none at all" if model is None else f"the proportions {model.size.round(4).tolist()}"
            raise InvalidConfiguration(
                f"expected the {item.name} to have the proportions of model {item.model}, which has {best}, found "
                f"{item.size}; take sim.tabletop.blobs.blob_size({item.model})"
            )
        return Outline(model.vertices * scale, model.mass_centre * scale)
    if item.kind is ObjectKind.MUG:
        # the handle is at one side of the vessel
        axis = np.array([-(length - width) / 2, 0.0, 0.0])
        handle = _corners((length / 2 - 0.004, 0.0, 0.0), (0.008, 0.012, 0.55 * height))
        return Outline(np.concatenate([axis + _prism(width / 2, -height / 2, height / 2), handle]), axis)
    rings = [_prism(width / 2, -height / 2, height / 2)]
    if item.kind is ObjectKind.BOTTLE:
        shoulder = -height / 2 + _SHOULDER * height
        rings = [_prism(width / 2, -height / 2, shoulder), _prism(_NECK * width / 2, shoulder, height / 2)]
    return Outline(np.concatenate(rings), np.zeros(3))


def mass_of(item: ObjectSpec) -> float:
    """Mass of an object, kg: solid wood, ceramic mugs and full glass bottles; blobs have that of their models."""
    volume = float(np.prod(item.size))
    if item.kind is ObjectKind.BLOB:
        return MASS_KG
    if item.kind is ObjectKind.CYLINDER:
        return DENSITY_KG_M3 * volume * math.pi / 4
    if item.kind is ObjectKind.MUG:
        return CERAMIC_KG_M3 * float(item.size[1] ** 2 * item.size[2])
    return (FULL_KG_M3 if item.kind is ObjectKind.BOTTLE else DENSITY_KG_M3) * volume


def create_shape(client: int, item: ObjectSpec, folder: Path) -> int:
    """Create the body of an object that is no box, standing on the table; its frame is at its centre of mass.

    Args:
        client: physics client.
        item: its specification.
        folder: for meshes.

    Returns:
        Its body number.
    """
    outline = outline_of(item)
    assert outline is not None
    cos, sin = math.cos(item.yaw), math.sin(item.yaw)
    x, y, z = outline.mass_centre
    place = (item.position[0] + cos * x - sin * y, item.position[1] + sin * x + cos * y, item.size[2] / 2 + float(z))
    if item.kind is ObjectKind.BLOB:
        body = _create_blob(client, item, place, folder)
    else:
        body = _create_parts(client, item, place)
    pybullet.changeVisualShape(body, -1, specularColor=[0.1] * 3, physicsClientId=client)
    pybullet.changeDynamics(
        body,
        -1,
        lateralFriction=1.0,
        spinningFriction=0.0,
        rollingFriction=ROLLING,
        restitution=0.0,
        linearDamping=0.04,
        angularDamping=0.04,
        physicsClientId=client,
    )
    return body


class _Part(NamedTuple):
    """A cylinder along z (two radii and the height) or a box (three sides), in a place, turned about the vertical."""

    kind: int
    size: tuple[float, float, float]
    at: tuple[float, float, float] = (0.0, 0.0, 0.0)
    yaw: float = 0.0


def _parts(item: ObjectSpec) -> list[_Part]:
    """The primitives of an object in the frame of its centre of mass; at most 16, which is all that PyBullet takes."""
    length, width, height = item.size
    radius = width / 2
    if item.kind is ObjectKind.CYLINDER:
        return [_Part(pybullet.GEOM_CYLINDER, (radius, radius, height))]
    if item.kind is ObjectKind.BOTTLE:
        tall, neck = _SHOULDER * height, _NECK * radius
        return [
            _Part(pybullet.GEOM_CYLINDER, (radius, radius, tall), (0.0, 0.0, (tall - height) / 2)),
            _Part(pybullet.GEOM_CYLINDER, (neck, neck, height - tall), (0.0, 0.0, tall / 2)),
        ]
    floor, middle, handle = 0.96 * radius, radius - _WALL_M / 2, length - width
    parts = [_Part(pybullet.GEOM_CYLINDER, (floor, floor, _WALL_M), (0.0, 0.0, (_WALL_M - height) / 2))]
    for turn in (2 * math.pi * wall / _WALLS for wall in range(_WALLS)):
        at = (middle * math.cos(turn), middle * math.sin(turn), 0.0)
        parts.append(_Part(pybullet.GEOM_BOX, (_WALL_M, 2 * radius * math.tan(math.pi / _WALLS), height), at, turn))
    grip = 0.55 * height
    parts.append(_Part(pybullet.GEOM_BOX, (0.008, 0.012, grip), (radius + handle - 0.004, 0.0, 0.0)))
    for z in (0.004 - grip / 2, grip / 2 - 0.004):
        parts.append(_Part(pybullet.GEOM_BOX, (handle, 0.012, 0.008), (radius + handle / 2, 0.0, z)))
    return parts


def _create_parts(client: int, item: ObjectSpec, place: tuple[float, float, float]) -> int:
    parts = _parts(item)
    turns = [pybullet.getQuaternionFromEuler([0.0, 0.0, part.yaw]) for part in parts]
    common = {
        "shapeTypes": [part.kind for part in parts],
        "halfExtents": [[side / 2 for side in part.size] for part in parts],
        "radii": [part.size[0] for part in parts],
        "lengths": [part.size[2] for part in parts],
        "physicsClientId": client,
    }
    places = [list(part.at) for part in parts]
    collision = pybullet.createCollisionShapeArray(
        collisionFramePositions=places, collisionFrameOrientations=turns, **common
    )
    visual = pybullet.createVisualShapeArray(
        visualFramePositions=places,
        visualFrameOrientations=turns,
        rgbaColors=[[*COLOURS[item.colour], 1.0]] * len(parts),
        **common,
    )
    turned = pybullet.getQuaternionFromEuler([0.0, 0.0, item.yaw])
    return int(pybullet.createMultiBody(mass_of(item), collision, visual, place, turned, physicsClientId=client))


def _create_blob(client: int, item: ObjectSpec, place: tuple[float, float, float], folder: Path) -> int:
    model = blob_model(item.model or 0)
    assert model is not None
    vertices = (model.vertices - model.mass_centre) * (item.size[0] / float(model.size[0]))
    path = folder / "blob.obj"
    _write_flat(path, vertices, model.parts)
    collision = pybullet.createCollisionShape(pybullet.GEOM_MESH, fileName=str(path), physicsClientId=client)
    visual = pybullet.createVisualShape(
        pybullet.GEOM_MESH, fileName=str(path), rgbaColor=[*COLOURS[item.colour], 1.0], physicsClientId=client
    )
    turned = pybullet.getQuaternionFromEuler([0.0, 0.0, item.yaw])
    return int(pybullet.createMultiBody(mass_of(item), collision, visual, place, turned, physicsClientId=client))


def _write_flat(path: Path, vertices: Array, parts: tuple[npt.NDArray[np.intp], ...]) -> None:
    """Write convex parts as an OBJ file whose triangles have normals of their own, so that edges are sharp."""
    lines, number = [], 1
    for name, part in enumerate(parts):
        lines.append(f"o part{name}")
        corners = vertices[part]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
        for triangle, normal in zip(corners, normals, strict=True):
            lines += [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in triangle]
            lines += [f"vn {normal[0]:.5f} {normal[1]:.5f} {normal[2]:.5f}"] * 3
            lines.append("f " + " ".join(f"{number + i}//{number + i}" for i in range(3)))
            number += 3
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _prism(radius: float, low: float, high: float) -> Array:
    """Corners (2 * _SECTORS, 3) of a prism around the z axis that encloses a cylinder's outline."""
    turns = 2 * math.pi * np.arange(_SECTORS) / _SECTORS
    ring = np.stack([np.cos(turns), np.sin(turns)], axis=1) * radius
    return np.concatenate([np.column_stack([ring, np.full(_SECTORS, z)]) for z in (low, high)])


def _corners(centre: tuple[float, float, float], size: tuple[float, float, float]) -> Array:
    """The eight corners (8, 3) of a box."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return np.asarray(np.array(centre) + signs * np.array(size) / 2)
