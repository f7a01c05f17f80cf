"""Bodies of the scene's objects: boxes that look like cubes, dice and lego bricks; others are in `shapes`."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pybullet

from sim.tabletop.scenes import BOX_KINDS, COLOURS, ObjectKind, ObjectSpec, TableSpec, Texture
from sim.tabletop.shapes import create_shape, mass_of
from sim.tabletop.textures import paint, picture

RELIEF_M = 0.0006
"""Height of pips and studs: visible, but below the resolution of a depth camera."""

Array = npt.NDArray[np.float64]
Mesh = tuple[list[list[float]], list[int], list[list[float]]]

_PIPS: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    5: ((-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)),
    6: ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
}
_FACES: tuple[tuple[int, int, int], ...] = ((2, 1, 1), (2, -1, 6), (0, 1, 2), (0, -1, 5), (1, 1, 3), (1, -1, 4))
"""Axis, sign and number of pips of each face of a die: opposite faces sum to seven."""


def _disc(axis: int, sign: int, centre: tuple[float, float], height: float, radius: float) -> Mesh:
    """An octagon slightly above a face: vertices, triangle indices and normals."""
    first, second = (axis + 1) % 3, (axis + 2) % 3
    normal = [0.0, 0.0, 0.0]
    normal[axis] = float(sign)
    vertices = []
    for corner in range(8):
        angle = 2 * math.pi * (corner + 0.5) / 8
        vertex = [0.0, 0.0, 0.0]
        vertex[axis] = sign * (height + RELIEF_M)
        vertex[first] = centre[0] + radius * math.cos(angle)
        vertex[second] = centre[1] + radius * math.sin(angle)
        vertices.append(vertex)
    indices = []
    for corner in range(1, 7):
        indices += [0, corner, corner + 1] if sign > 0 else [0, corner + 1, corner]
    return vertices, indices, [normal] * 8


def _joined(meshes: list[Mesh]) -> Mesh:
    vertices: list[list[float]] = []
    indices: list[int] = []
    normals: list[list[float]] = []
    for part_vertices, part_indices, part_normals in meshes:
        indices += [index + len(vertices) for index in part_indices]
        vertices += part_vertices
        normals += part_normals
    return vertices, indices, normals


def _marks(item: ObjectSpec) -> Mesh | None:
    """Pips or studs on an object's faces; None for a cube."""
    half = [side / 2 for side in item.size]
    if item.kind is ObjectKind.DIE:
        discs = []
        for axis, sign, count in _FACES:
            first, second = half[(axis + 1) % 3], half[(axis + 2) % 3]
            for u, v in _PIPS[count]:
                discs.append(_disc(axis, sign, (0.5 * u * first, 0.5 * v * second), half[axis], 0.2 * min(half)))
        return _joined(discs)
    if item.kind is ObjectKind.LEGO:
        columns = max(1, round(item.size[0] / 0.018))
        rows = max(1, round(item.size[1] / 0.018))
        return _joined(
            [
                _disc(
                    2,
                    1,
                    (half[0] * (2 * (i + 0.5) / columns - 1), half[1] * (2 * (j + 0.5) / rows - 1)),
                    half[2],
                    0.006,
                )
                for i in range(columns)
                for j in range(rows)
            ]
        )
    return None


def _mark_colour(item: ObjectSpec) -> list[float]:
    """Colour of an object's marks: black or white pips, studs in a darker shade of the brick."""
    colour = np.array(COLOURS[item.colour])
    if item.kind is ObjectKind.DIE:
        return [*([0.05] * 3 if colour @ [0.3, 0.6, 0.1] > 0.5 else [0.97] * 3), 1.0]
    return [*(colour * 0.62).tolist(), 1.0]


_TABLE_HALF_M = (0.62, 0.60, 0.02)
_TABLE_CENTRE_M = (0.42, 0.0, -0.02)
_EDGE_M = 0.20
"""Minimum distance between the workspace and the table's edge."""
_MAT_EDGE_M = 0.04
"""Distance between the workspace, which holds the objects' centres, and the edge of a mat."""
_MAT_M = 0.0005
"""Height of a mat, below the resolution of a depth camera."""


def create_table(client: int, table: TableSpec, seed: int = 0) -> int:
    """Create the table's body: a slab with its top at height 0, larger for a larger workspace.

    Args:
        client: physics client.
        table: its specification.
        seed: of its texture.

    Returns:
        Its body number.
    """
    centre, half = list(_TABLE_CENTRE_M), list(_TABLE_HALF_M)
    more = max(0.0, table.x_m[1] + _EDGE_M - (centre[0] + half[0]))
    centre[0], half[0] = centre[0] + more / 2, half[0] + more / 2
    half[1] = max(half[1], max(map(abs, table.y_m)) + _EDGE_M)
    collision = pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=half, physicsClientId=client)
    visual = pybullet.createVisualShape(
        pybullet.GEOM_BOX, halfExtents=half, rgbaColor=[*table.colour, 1.0], physicsClientId=client
    )
    body = int(pybullet.createMultiBody(0.0, collision, visual, centre, physicsClientId=client))
    pybullet.changeDynamics(body, -1, lateralFriction=1.0, physicsClientId=client)
    if table.texture is not Texture.PLAIN:
        paint(client, body, picture(table.texture, table.colour, np.random.default_rng([seed, 0]), size=512))
    return body


def create_mat(client: int, table: TableSpec) -> int:
    """Mark the workspace of a table with a dark mat that is seen and not felt.

    Args:
        client: physics client.
        table: its specification.

    Returns:
        Its body number.
    """
    (x_low, x_high), (y_low, y_high) = table.x_m, table.y_m
    half = [(x_high - x_low) / 2 + _MAT_EDGE_M, (y_high - y_low) / 2 + _MAT_EDGE_M, _MAT_M]
    colour = [0.55 * shade for shade in table.colour]
    visual = pybullet.createVisualShape(
        pybullet.GEOM_BOX, halfExtents=half, rgbaColor=[*colour, 1.0], physicsClientId=client
    )
    centre = [(x_low + x_high) / 2, (y_low + y_high) / 2, 0.0]
    return int(pybullet.createMultiBody(0.0, -1, visual, centre, physicsClientId=client))


def _write(path: Path, mesh: Mesh) -> None:
    """Write a mesh exactly as an OBJ file."""
    vertices, indices, normals = mesh
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in vertices] + [f"vn {x!r} {y!r} {z!r}" for x, y, z in normals]
    corners = [f"{i + 1}//{i + 1}" for i in indices]
    lines += [f"f {' '.join(corners[i : i + 3])}" for i in range(0, len(corners), 3)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def create_object(client: int, item: ObjectSpec, seed: int = 0) -> int:
    """Create an object's body, standing on the table.

    Args:
        client: physics client.
        item: its specification.
        seed: of its texture.

    Returns:
        Its body number.
    """
    # marks go through a file, because PyBullet never frees vertices that it gets directly
    with tempfile.TemporaryDirectory(prefix="nsrecover-") as folder:
        if item.kind not in BOX_KINDS:
            return create_shape(client, item, Path(folder))
        return _create(client, item, seed, Path(folder) / "marks.obj")


def _create(client: int, item: ObjectSpec, seed: int, path: Path) -> int:
    half = [side / 2 for side in item.size]
    colour = [*COLOURS[item.colour], 1.0]
    collision = pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=half, physicsClientId=client)
    visual = pybullet.createVisualShape(
        pybullet.GEOM_BOX, halfExtents=half, rgbaColor=colour, specularColor=[0.1] * 3, physicsClientId=client
    )
    marks = _marks(item)
    links: dict[str, list[Any]] = {}
    if marks is not None:
        _write(path, marks)
        drawn = pybullet.createVisualShape(
            pybullet.GEOM_MESH,
            fileName=str(path),
            rgbaColor=_mark_colour(item),
            specularColor=[0.1] * 3,
            physicsClientId=client,
        )
        # marks are a massless fixed link without collision shape, so they are merged into the base
        links = {
            "linkMasses": [0.0],
            "linkCollisionShapeIndices": [-1],
            "linkVisualShapeIndices": [drawn],
            "linkPositions": [[0.0, 0.0, 0.0]],
            "linkOrientations": [[0.0, 0.0, 0.0, 1.0]],
            "linkInertialFramePositions": [[0.0, 0.0, 0.0]],
            "linkInertialFrameOrientations": [[0.0, 0.0, 0.0, 1.0]],
            "linkParentIndices": [0],
            "linkJointTypes": [pybullet.JOINT_FIXED],
            "linkJointAxis": [[0.0, 0.0, 1.0]],
        }
    body = pybullet.createMultiBody(
        baseMass=mass_of(item),
        baseCollisionShapeIndex=collision,
        baseVisualShapeIndex=visual,
        basePosition=[*item.position, half[2]],
        baseOrientation=pybullet.getQuaternionFromEuler([0.0, 0.0, item.yaw]),
        physicsClientId=client,
        **links,
    )
    pybullet.changeDynamics(
        body,
        -1,
        lateralFriction=1.0,
        # the four corners on a surface already resist turning
        spinningFriction=0.0,
        rollingFriction=0.0,
        restitution=0.0,
        linearDamping=0.04,
        angularDamping=0.04,
        physicsClientId=client,
    )
    if item.texture is not Texture.PLAIN:
        paint(client, body, picture(item.texture, COLOURS[item.colour], np.random.default_rng([seed, 1])))
    return int(body)
