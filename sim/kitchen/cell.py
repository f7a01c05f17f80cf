"""A kitchen with its robot: physics, states and laws advance together, one physics step at a time."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pybullet

from nsrecover.domains.household.names import slice_of
from nsrecover.util.english import amount
from sim.common.arm import STEP_S
from sim.common.rotations import matrix_of
from sim.kitchen.assemblies import controls_of
from sim.kitchen.clearance import Obstacles
from sim.kitchen.fixtures import Control, Fixture
from sim.kitchen.floor_plan import FloorPlan, Obstacle
from sim.kitchen.laws import breaks
from sim.kitchen.physics import KitchenPhysics
from sim.kitchen.processes import LAW_TICKS, Process
from sim.kitchen.robot import BasePose, Robot
from sim.kitchen.scenes import KitchenSpec, ordinal
from sim.kitchen.states import ObjectState
from sim.kitchen.things import FRAGILE, slices_of
from sim.kitchen.visuals import Visuals

Array = npt.NDArray[np.float64]

_APART_M = 0.006
"""Between slices that have just been cut."""


class KitchenCell(KitchenPhysics):
    """Physics, robot and states of one kitchen.

    Attributes:
        robot: the robot.
        states: name -> state of every fixture and thing; the simulator's truth.
        cutting: name of what the knife cuts just now; empty for nothing.
        slices: name of what has been sliced -> names of its slices.
        on_tick: called after every physics step.
        moving: whether a skill moves the robot just now.
        struck_s: when a fault struck while the last action ran, seconds; infinite: none did.
        looked_from: name -> where the robot has stood to look at it.
    """

    def __init__(self, spec: KitchenSpec) -> None:
        super().__init__(spec)
        self.on_tick: Callable[[], None] | None = None
        self.moving, self.struck_s = False, math.inf
        self.robot = Robot(self.client)
        self.states: dict[str, ObjectState] = {name: ObjectState() for name in self.fixtures}
        self.states |= {name: thing.state for name, thing in self.things.items()}
        self.looked_from: dict[str, list[BasePose]] = {}
        self.cutting = ""
        self.slices: dict[str, tuple[str, ...]] = {}
        self.visuals = Visuals(self)
        self._process = Process(self)
        self._velocities: dict[str, Array] = {}
        for name, state in self.states.items():
            if state.on and name in self.fixtures:
                self._start(self.fixtures[name])
            if state.open and name in self.things and (lid := controls_of(self.things[name].kind).get("door")):
                self.set_joint(name, lid.joint, lid.travel)
        self.settle()

    def _start(self, fixture: Fixture) -> None:
        """Turn the knob of what runs at the start."""
        for other in self.fixtures.values():
            if other.switch is not None and (other.operates or other.name) == fixture.name:
                self.set_joint(other.name, other.switch.joint, other.switch.travel)

    def advance(self) -> None:
        """Run one physics step; the laws follow at every few of them."""
        super().advance()
        if self.robot.check_latch():
            self.note(f"the {self.robot.held} was torn out of the gripper")
            self.robot.held = ""
        self._watch_impacts()
        if self.ticks % LAW_TICKS == 0:
            self._watch_grip()
            self._process.run(LAW_TICKS * STEP_S)
        if self.on_tick is not None:
            self.on_tick()

    @contextlib.contextmanager
    def watched(self, watch: Callable[[], None]) -> Iterator[None]:
        """Call a function after every physics step of a block, besides what is called already."""
        before = self.on_tick

        def both() -> None:
            if before is not None:
                before()
            watch()

        self.on_tick = both
        try:
            yield
        finally:
            self.on_tick = before

    def tick(self, _: float = 0.0) -> None:
        """Run one physics step during a motion."""
        self.advance()

    def change(self, name: str, **changes: object) -> None:
        """Replace fields of a state."""
        self.states[name] = replace(self.states[name], **changes)  # type: ignore[arg-type]

    def cut(self, name: str, along: Array) -> None:
        """Replace food by its slices, which lie in a row along a horizontal unit vector (3,).

        The thing keeps its state, with `sliced`; slices have the temperature of the whole.
        """
        whole = self.things[name]
        centre, _ = self.pose(name)
        up = np.array([0.0, 0.0, 1.0])
        rotation = np.column_stack([np.cross(along, up), along, up])
        self.take_away(name)
        self.change(name, sliced=True)
        made = []
        for number, (kind, offset) in enumerate(slices_of(whole.kind)):
            made.append(f"{ordinal(number)} {slice_of(name)}")
            # the blade pushes them apart
            spread = offset * (1.0 + _APART_M / kind.size[1])
            self.bring(replace(whole, name=made[-1], kind=kind), centre + spread * along, rotation)
            self.states[made[-1]] = replace(ObjectState(), temperature_c=self.states[name].temperature_c)
        self.slices[name] = tuple(made)
        self.note(f"the {name} was cut into {amount(len(made), 'slice')}")

    def meant_by(self, name: str) -> list[str]:
        """The bodies that a name of the household domain can mean: of slices there are several, what is held first."""
        for whole, made in self.slices.items():
            if name == slice_of(whole):
                base = self.robot.base
                gaps = {one: math.dist(self.pose(one)[0][:2], (base.x, base.y)) for one in made}
                return sorted(made, key=lambda one: (one != self.robot.held, gaps[one]))
        return [name]

    def position_of(self, fixture: Fixture, control: Control) -> float:
        """Joint position of a control."""
        return self.joint(fixture.name, control.joint)

    def floor_plan(self) -> FloorPlan:
        """What stands on the floor now, with open doors and drawers."""
        return FloorPlan(tuple(self._obstacles()))

    def _obstacles(self) -> Iterator[Obstacle]:
        for fixture in self.fixtures.values():
            if fixture.footprint is not None:
                x0, x1, y0, y1 = fixture.footprint
                tall = fixture.kind in ("fridge", "cabinet")
                yield _rectangle(fixture, x0, x1, y0, y1, tall)
            if fixture.door is None:
                continue
            opened = self.position_of(fixture, fixture.door)
            joint = fixture.assembly.joints[fixture.door.joint]
            if joint.kind == "prismatic" and opened > 0.02:
                part = joint.link.parts[0]
                half = part.size[1] / 2
                yield _rectangle(fixture, 0.0, opened + 0.07, -half, half, False)
            elif joint.kind == "revolute" and opened > 0.1:
                _, rotation = self.grip_of(fixture, fixture.door.joint, (0.0, 0.0, 0.0))
                yield self.door_obstacle(fixture, rotation)

    def door_obstacle(self, fixture: Fixture, rotation: Array) -> Obstacle:
        """What a door covers of the floor, with its handle, when its link has a rotation (3, 3)."""
        assert fixture.door is not None, f"the {fixture.name} has no door"
        joint = fixture.assembly.joints[fixture.door.joint]
        panel = joint.link.parts[0]
        centre = fixture.to_world(joint.at) + rotation @ np.asarray(panel.at) + 0.03 * rotation[:, 0]
        yaw = math.atan2(rotation[1, 0], rotation[0, 0])
        return Obstacle((float(centre[0]), float(centre[1])), (0.05, panel.size[1] / 2), yaw, True)

    def arm_obstacles(self, ignored: Collection[str]) -> Obstacles:
        """Boxes around what the arm must not touch: furniture as it stands now, and things but those ignored."""
        centres, rotations, halves = [], [], []
        for name, fixture in self.fixtures.items():
            frame = fixture.rotation()
            moving = [] if name in ignored else [(joint.link, n) for n, joint in enumerate(fixture.assembly.joints)]
            for link, number in [(fixture.assembly.base, -1), *moving]:
                origin, turn = (np.array(fixture.position), frame)
                if number >= 0:
                    origin, turn = self.grip_of(fixture, number, (0.0, 0.0, 0.0))
                for part in link.parts:
                    if not part.solid:
                        continue
                    tilted = matrix_of(pybullet.getQuaternionFromEuler(part.turn))
                    half = np.asarray(part.size) / (2.0 if part.shape == "box" else 1.0)
                    if part.shape == "cylinder":
                        half = np.array([part.size[0], part.size[1], part.size[2] / 2])
                    centres.append(origin + turn @ np.asarray(part.at))
                    rotations.append(turn @ tilted)
                    halves.append(half)
        for name, thing in self.things.items():
            if name in ignored:
                continue
            position, rotation = self.pose(name)
            centres.append(position)
            rotations.append(rotation)
            halves.append(np.array(thing.kind.halves))
        return Obstacles(np.array(centres), np.array(rotations), np.array(halves))

    def contents(self, name: str) -> list[str]:
        """Things that lie inside a vessel or on a plate, directly."""
        outer = self.things[name].kind
        if not outer.capacity_l:
            return []
        position, rotation = self.pose(name)
        found = []
        for other in self.things:
            if other == name or other == self.robot.held:
                continue
            local = rotation.T @ (self.pose(other)[0] - position)
            inner = self.things[other].kind
            if inner.radius_m > outer.radius_m and inner.form != "knife":
                continue
            low = local[2] + outer.height_m / 2
            if math.hypot(local[0], local[1]) < outer.size[0] and -0.02 < low < outer.height_m + inner.height_m / 2:
                found.append(other)
        return found

    def standing_on(self, name: str) -> list[str]:
        """Things in or on a fixture, directly."""
        return self._process.standing_on(name)

    def stands_on(self, name: str) -> str:
        """The fixture in or on which a thing is, directly; empty if there is none."""
        # the foot of a coffee machine is hardly higher than the worktop: places for one thing come first
        narrow = sorted(self.fixtures.values(), key=lambda one: not any(place.single for place in one.places))
        return next((one.name for one in narrow if one.places and name in self.standing_on(one.name)), "")

    def carried_things(self) -> list[str]:
        """Names of what the robot holds and of what lies in it."""
        names = [self.robot.held] if self.robot.held else []
        for name in names:
            names += [other for other in self.contents(name) if other not in names]
        return names

    def carried(self) -> list[int]:
        """Body numbers of what the robot holds, with what lies in it."""
        return [self.body(name) for name in self.carried_things()]

    def _watch_grip(self) -> None:
        """Notice that the held object is no longer between the fingers."""
        name = self.robot.held
        if not name:
            return
        kind = self.things[name].kind
        gap = float(np.linalg.norm(self.pose(name)[0] - self.robot.tool()[0]))
        reach = max(kind.halves) if kind.form in ("knife", "loaf") else kind.radius_m + kind.height_m / 2
        reach += kind.handle_m
        if gap > reach + 0.02:
            self.note(f"the {name} slipped out of the gripper")
            self.robot.unlatch()
            self.robot.held = ""

    def _watch_impacts(self) -> None:
        """Break what is fragile and changes its speed in one or two physics steps by too much."""
        for name, thing in self.things.items():
            if thing.kind.material not in FRAGILE or self.states[name].broken:
                continue
            now = np.array(pybullet.getBaseVelocity(self._bodies[name], physicsClientId=self.client)[0])
            before = self._velocities.get(name)
            self._velocities[name] = now
            if before is None or name == self.robot.held:
                continue
            change = float(np.linalg.norm(now - before)) - 9.81 * STEP_S
            if breaks(thing.kind.material, change):
                self.note(f"the {name} broke in an impact of {change:.1f} m/s")
                if thing.kind.material == "shell":
                    self.change(name, cracked=True, broken=True)
                else:
                    self.change(name, broken=True, volume_l=0.0, liquid="")


def _rectangle(fixture: Fixture, x0: float, x1: float, y0: float, y1: float, tall: bool) -> Obstacle:
    centre = fixture.to_world([(x0 + x1) / 2, (y0 + y1) / 2, 0.0])
    return Obstacle((float(centre[0]), float(centre[1])), ((x1 - x0) / 2, (y1 - y0) / 2), fixture.yaw, tall)
