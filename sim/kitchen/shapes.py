"""Bodies by code: boxes, cylinders and ellipsoids on links with joints, loaded into PyBullet as URDF."""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from xml.etree import ElementTree

import pybullet

from sim.common.rounding import rounded

Vector = tuple[float, float, float]
Colour = tuple[float, float, float]

_ORIGIN: Vector = (0.0, 0.0, 0.0)


class Shape(StrEnum):
    """Primitive shapes."""

    BOX = "box"
    """size: three sides"""
    CYLINDER = "cylinder"
    """size: radius, radius, height; its axis is z"""
    ELLIPSOID = "ellipsoid"
    """size: three half axes"""
    FRUSTUM = "frustum"
    """size: radius at the lower end, radius at the upper end, height; its axis is z"""


@dataclass(frozen=True)
class Part:
    """One primitive of a link.

    Attributes:
        shape: the primitive.
        size: metres, see `Shape`.
        at: its centre in the frame of the link, metres.
        colour: red, green, blue in 0..1.
        turn: roll, pitch and yaw in the frame of the link, radians.
        solid: whether it collides.
        visible: whether cameras see it.
    """

    shape: Shape
    size: Vector
    at: Vector = _ORIGIN
    colour: Colour = (0.8, 0.8, 0.8)
    turn: Vector = _ORIGIN
    solid: bool = True
    visible: bool = True


@dataclass(frozen=True)
class Link:
    """Parts that move together; the centre of mass is the origin of the link's frame.

    Attributes:
        parts: at least one.
        mass_kg: of all parts together.
    """

    parts: tuple[Part, ...]
    mass_kg: float = 1.0


class JointKind(StrEnum):
    """How a link moves on the base."""

    HINGE = "revolute"
    SLIDE = "prismatic"


@dataclass(frozen=True)
class Joint:
    """A link on the base of an assembly.

    Attributes:
        name: of the joint, unique in its assembly.
        kind: hinge or slide.
        axis: unit vector in the frame of the base.
        at: origin of the link's frame in the frame of the base, metres.
        limits: lowest and highest position, radians or metres.
        link: what moves.
        friction: torque or force that holds it where it is, newton metres or newtons.
        spring: share of the way back to 0 that it is driven in every physics step; 0: it stays where it is.
    """

    name: str
    kind: JointKind
    axis: Vector
    at: Vector
    limits: tuple[float, float]
    link: Link
    friction: float
    spring: float = 0.0


@dataclass(frozen=True)
class Assembly:
    """A base with links on joints.

    Attributes:
        base: stands still if the assembly is a fixture.
        joints: links on the base.
    """

    base: Link
    joints: tuple[Joint, ...] = field(default=())


def box(size: Vector, at: Vector = _ORIGIN, colour: Colour = (0.8, 0.8, 0.8), turn: Vector = _ORIGIN) -> Part:
    """A solid box with three sides, metres."""
    return Part(Shape.BOX, size, at, colour, turn)


def cylinder(
    radius_m: float, height_m: float, at: Vector = _ORIGIN, colour: Colour = (0.8, 0.8, 0.8), turn: Vector = _ORIGIN
) -> Part:
    """A solid cylinder along z."""
    return Part(Shape.CYLINDER, (radius_m, radius_m, height_m), at, colour, turn)


def ellipsoid(half_axes: Vector, at: Vector = _ORIGIN, colour: Colour = (0.8, 0.8, 0.8)) -> Part:
    """A solid ellipsoid."""
    return Part(Shape.ELLIPSOID, half_axes, at, colour)


def frustum(lower_m: float, upper_m: float, height_m: float, colour: Colour, turn: Vector = _ORIGIN) -> Part:
    """A solid cone without its tip, around the origin."""
    return Part(Shape.FRUSTUM, (lower_m, upper_m, height_m), _ORIGIN, colour, turn)


def ring(
    radius_m: float, height_m: float, wall_m: float, colour: Colour, at: Vector = _ORIGIN, sides: int = 8
) -> tuple[Part, ...]:
    """Walls of an upright hollow prism.

    Args:
        radius_m: from the axis to the outer faces.
        height_m: of the walls.
        wall_m: thickness.
        colour: of the walls.
        at: centre of the ring.
        sides: number of walls; eight simulate three times as fast as sixteen.
    """
    middle = radius_m - wall_m / 2
    width = 2 * radius_m * math.tan(math.pi / sides)
    return tuple(
        box(
            (wall_m, width, height_m),
            (at[0] + middle * math.cos(angle), at[1] + middle * math.sin(angle), at[2]),
            colour,
            (0.0, 0.0, angle),
        )
        for angle in (2 * math.pi * side / sides for side in range(sides))
    )


def create_body(client: int, assembly: Assembly, position: Vector, yaw: float = 0.0, fixed: bool = False) -> int:
    """Load an assembly into a physics client.

    Args:
        client: of PyBullet.
        assembly: what to load.
        position: of its base's frame, metres.
        yaw: about the vertical, radians.
        fixed: whether the base stands still.

    Returns:
        Its body number; joint number i is `assembly.joints[i]`.
    """
    with tempfile.TemporaryDirectory(prefix="nsrecover-") as folder:
        path = Path(folder) / "body.urdf"
        path.write_text(_urdf(assembly, Path(folder)), encoding="utf-8")
        body = int(
            pybullet.loadURDF(
                str(path),
                rounded(position).tolist(),
                pybullet.getQuaternionFromEuler([0.0, 0.0, yaw]),
                useFixedBase=fixed,
                physicsClientId=client,
            )
        )
    for number, joint in enumerate(assembly.joints):
        hold_joint(client, body, number, joint)
    return body


def hold_joint(client: int, body: int, number: int, joint: Joint, rest: float = 0.0) -> None:
    """Apply the friction of a joint, or its spring towards a position, from now on."""
    if joint.spring:
        pybullet.setJointMotorControl2(
            body,
            number,
            pybullet.POSITION_CONTROL,
            targetPosition=rest,
            positionGain=joint.spring,
            force=joint.friction,
            physicsClientId=client,
        )
    else:
        pybullet.setJointMotorControl2(
            body,
            number,
            pybullet.VELOCITY_CONTROL,
            targetVelocity=0.0,
            force=joint.friction,
            physicsClientId=client,
        )


def _urdf(assembly: Assembly, folder: Path) -> str:
    robot = ElementTree.Element("robot", name="body")
    _add_link(robot, "base", assembly.base, folder)
    for joint in assembly.joints:
        _add_link(robot, joint.name, joint.link, folder)
        element = ElementTree.SubElement(robot, "joint", name=f"{joint.name} joint", type=joint.kind.value)
        ElementTree.SubElement(element, "parent", link="base")
        ElementTree.SubElement(element, "child", link=joint.name)
        ElementTree.SubElement(element, "origin", xyz=_text(joint.at))
        ElementTree.SubElement(element, "axis", xyz=_text(joint.axis))
        low, high = joint.limits
        ElementTree.SubElement(element, "limit", lower=repr(low), upper=repr(high), effort="1000", velocity="100")
        ElementTree.SubElement(element, "dynamics", damping="0.0", friction="0.0")
    # PyBullet fails to read very long lines
    ElementTree.indent(robot)
    return ElementTree.tostring(robot, encoding="unicode")


def _add_link(robot: ElementTree.Element, name: str, link: Link, folder: Path) -> None:
    element = ElementTree.SubElement(robot, "link", name=name)
    inertial = ElementTree.SubElement(element, "inertial")
    ElementTree.SubElement(inertial, "mass", value=repr(link.mass_kg))
    # PyBullet computes the inertia from the collision shapes
    ElementTree.SubElement(inertial, "inertia", ixx="1", iyy="1", izz="1", ixy="0", ixz="0", iyz="0")
    for number, part in enumerate(link.parts):
        for kind in ("visual",) * part.visible + ("collision",) * part.solid:
            drawn = ElementTree.SubElement(element, kind)
            ElementTree.SubElement(drawn, "origin", xyz=_text(part.at), rpy=_text(part.turn))
            geometry = ElementTree.SubElement(drawn, "geometry")
            _add_geometry(geometry, part, folder / f"{name}{number}.obj")
            if kind == "visual":
                # a name that is used again takes the last colour
                material = ElementTree.SubElement(drawn, "material", name=f"{name}{number}")
                ElementTree.SubElement(material, "color", rgba=f"{_text(part.colour)} 1")


def _add_geometry(geometry: ElementTree.Element, part: Part, path: Path) -> None:
    if part.shape is Shape.BOX:
        ElementTree.SubElement(geometry, "box", size=_text(part.size))
    elif part.shape is Shape.CYLINDER:
        ElementTree.SubElement(geometry, "cylinder", radius=repr(part.size[0]), length=repr(part.size[2]))
    elif part.shape is Shape.FRUSTUM:
        _write_frustum(path, part.size)
        ElementTree.SubElement(geometry, "mesh", filename=str(path))
    elif part.size[0] == part.size[1] == part.size[2]:
        ElementTree.SubElement(geometry, "sphere", radius=repr(part.size[0]))
    else:
        _write_ellipsoid(path, part.size)
        ElementTree.SubElement(geometry, "mesh", filename=str(path))


def _write_ellipsoid(path: Path, half_axes: Vector, rings: int = 7, sectors: int = 12) -> None:
    """Write an ellipsoid as an OBJ file; its vertices lie on the surface."""
    directions = [(0.0, 0.0, 1.0)]
    for i in range(1, rings):
        polar = math.pi * i / rings
        directions += [
            (math.sin(polar) * math.cos(turn), math.sin(polar) * math.sin(turn), math.cos(polar))
            for turn in (2 * math.pi * j / sectors for j in range(sectors))
        ]
    directions.append((0.0, 0.0, -1.0))
    last, faces = len(directions) - 1, []
    for j in range(sectors):
        k = (j + 1) % sectors
        faces.append((0, 1 + j, 1 + k))
        faces.append((last, last - sectors + k, last - sectors + j))
        for i in range(rings - 2):
            a, b = 1 + i * sectors + j, 1 + i * sectors + k
            faces += [(a, a + sectors, b), (b, a + sectors, b + sectors)]
    lines = [f"v {' '.join(f'{d * half:.6f}' for d, half in zip(one, half_axes, strict=True))}" for one in directions]
    for one in directions:
        normal = [d / half for d, half in zip(one, half_axes, strict=True)]
        length = math.hypot(*normal)
        lines.append(f"vn {' '.join(f'{value / length:.5f}' for value in normal)}")
    lines += [f"f {' '.join(f'{corner + 1}//{corner + 1}' for corner in face)}" for face in faces]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _write_frustum(path: Path, size: Vector, sectors: int = 16) -> None:
    """Write a frustum as an OBJ file with flat ends and a smooth side."""
    lower, upper, height = size
    turns = [2 * math.pi * j / sectors for j in range(sectors)]
    slope = (lower - upper) / height
    lines = [f"v {r * math.cos(turn):.6f} {r * math.sin(turn):.6f} {z:.6f}"
             for r, z in ((lower, -height / 2), (upper, height / 2)) for turn in turns]  # fmt: skip
    length = math.hypot(1.0, slope)
    lines += [f"vn {math.cos(turn) / length:.5f} {math.sin(turn) / length:.5f} {slope / length:.5f}" for turn in turns]
    lines += ["vn 0 0 -1", "vn 0 0 1"]
    down, up = sectors + 1, sectors + 2
    for j in range(sectors):
        a, b = j + 1, (j + 1) % sectors + 1
        lines.append(f"f {a}//{a} {b}//{b} {b + sectors}//{b}")
        lines.append(f"f {a}//{a} {b + sectors}//{b} {a + sectors}//{a}")
        if 1 < a < sectors:
            lines.append(f"f 1//{down} {a + 1}//{down} {a}//{down}")
            lines.append(f"f {1 + sectors}//{up} {a + sectors}//{up} {a + 1 + sectors}//{up}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _text(values: Vector) -> str:
    return " ".join(f"{value:.6g}" for value in values)
