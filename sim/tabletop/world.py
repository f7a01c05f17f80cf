"""The simulated tabletop: a Panda, boxes on a table, cameras, and faults that act on them physically."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt
import pybullet

from nsrecover.core.actions import Action, Plan
from nsrecover.core.observation import Observation
from nsrecover.domains.tabletop.operators import REACHED_M, operator_of
from nsrecover.errors import InvalidConfiguration, UnknownObject, did_you_mean
from sim.common.arm import OPEN_M, STEP_S, Arm
from sim.common.cameras import DEFAULT_RIG, VIDEO, CameraRig, View, take_picture
from sim.tabletop.faults.base import Fault, SkillPhase
from sim.tabletop.hand import Hand
from sim.tabletop.kinematic import Carrier, Fidelity
from sim.tabletop.objects import create_object, create_table
from sim.tabletop.placing import place_for
from sim.tabletop.poses import PoseEstimates
from sim.tabletop.scenes import SceneSpec
from sim.tabletop.skills import in_hand_pose, run_action
from sim.tabletop.truth import Truth, read_truth

Array = npt.NDArray[np.float64]
OnFrame = Callable[["TabletopWorld"], None]

GONE_BELOW_M = -0.10
"""An object whose centre is lower has fallen off the table."""
_PIT_M = -50.0
_FAULT_STEPS = 4
_SETTLE_STEPS = 200
_ITERATIONS = 80
"""Of the constraint solver, at most, for each physics step: with fewer, a gripped object creeps."""
_ITERATIONS_EMPTY = 20
"""The same while the gripper is empty and on its way: nothing is pressed then, and it is a fifth of the time."""
_EMPTY = frozenset({SkillPhase.APPROACH, SkillPhase.RETREAT})
_TALL = 6
"""Objects in a tower from which on it falls by itself with `_ITERATIONS_EMPTY`; with `_ITERATIONS`, seven stand."""
_COLUMN_M = 0.05
"""Farther than this beside the highest object, horizontally, stands nothing of its tower."""


@dataclass(frozen=True, eq=False)
class SavedWorld:
    """A moment of a world; give it back to the same world's `restore`, any number of times.

    Attributes:
        state: number of the saved physics state.
        step: actions executed by then.
        carried_out: numbers of the actions of the plan that were carried out by then.
        time_s: simulated time.
        ticks: physics steps by then: faults are asked at every few of them.
        generator: state of the random generator.
    """

    state: int
    step: int
    carried_out: frozenset[int]
    time_s: float
    ticks: int
    generator: dict[str, Any]


class TabletopWorld:
    """A Panda at a table; implements `nsrecover.core.protocols.World`.

    Use it as a context manager, or call `close`: every world owns one physics client.

    Attributes:
        scene: what stood on the table at the start.
        rig: the cameras.
        plan: what the robot is to do, if the faults' steps are steps of a plan.
        client: number of the physics client.
        fidelity: how much of a pick-and-place is simulated.
        arm: the robot arm; None in a kinematic world.
        hand: moves objects without the robot.
        log: what the skills did, in words, for debugging.
        struck: the faults that struck at the last action.
        step: actions executed so far.
        time_s: simulated time.
    """

    def __init__(
        self,
        scene: SceneSpec,
        faults: Sequence[Fault] = (),
        rig: CameraRig = DEFAULT_RIG,
        plan: Plan | None = None,
        seed: int = 0,
        on_frame: OnFrame | None = None,
        frame_steps: int = 20,
        fidelity: Fidelity = Fidelity.PHYSICS,
    ) -> None:
        """Build the scene and let it come to rest.

        Args:
            scene: what stands on the table.
            faults: what goes wrong, and when.
            rig: the cameras.
            plan: what the robot is to do. The faults of a step strike when its action is carried out for the first
                time; whatever else the robot does in between, to recover for instance, does not count. Without a plan
                every action counts as the next step.
            seed: of everything random: the faults' generator.
            on_frame: called with the world every `frame_steps` physics steps (200 a second) while things move, for
                videos; it may call `render`.
            frame_steps: at 20, a video with 10 frames a second runs in real time.
            fidelity: whether the arm does everything, or objects are carried without one (see `kinematic`).

        Raises:
            InvalidConfiguration: the scene does not fit, the message names the object; or a fault needs an arm.
        """
        scene.check()
        if frame_steps < 1:
            raise InvalidConfiguration(f"expected frame_steps of at least 1, found {frame_steps}")
        self.scene, self.rig, self.faults, self.fidelity = scene, rig, tuple(faults), Fidelity(fidelity)
        for fault in self.faults:
            if fault.needs_arm and self.fidelity is Fidelity.KINEMATIC:
                raise InvalidConfiguration(
                    f"expected faults that can strike without an arm in a kinematic world, found "
                    f"{type(fault).__name__}; use fidelity=physics, or leave it out"
                )
        self.plan, self._carried_out = plan, frozenset[int]()
        self.on_frame, self.frame_steps = on_frame, frame_steps
        self.log: list[str] = []
        self.step, self.time_s = 0, 0.0
        self._rng = np.random.default_rng(seed)
        self._ticks = 0
        self._now: tuple[Action, SkillPhase | None] | None = None
        self._striking: tuple[Fault, ...] = ()
        self.struck: tuple[Fault, ...] = ()
        self._saved: set[int] = set()
        self.client = pybullet.connect(pybullet.DIRECT)
        self.hand = Hand(self)
        self._build()
        self.settle()

    def _build(self) -> None:
        client = self.client
        pybullet.setGravity(0, 0, -9.81, physicsClientId=client)
        pybullet.setPhysicsEngineParameter(
            fixedTimeStep=STEP_S,
            numSolverIterations=_ITERATIONS,
            solverResidualThreshold=1e-5,
            deterministicOverlappingPairs=1,
            # the cache would keep the marks of every object there ever was
            enableFileCaching=0,
            physicsClientId=client,
        )
        self._table = create_table(client, self.scene.table, self.scene.seed)
        # what falls off the table is kept out of sight
        ground = pybullet.createCollisionShape(pybullet.GEOM_PLANE, physicsClientId=client)
        pybullet.createMultiBody(0.0, ground, -1, [0, 0, _PIT_M], physicsClientId=client)
        self.arm = Arm(client) if self.fidelity is Fidelity.PHYSICS else None
        self._carrier = Carrier(self)
        self._bodies = {
            item.name: create_object(client, item, self.scene.seed + i) for i, item in enumerate(self.scene.objects)
        }
        self._instances = {body: i + 1 for i, body in enumerate(self._bodies.values())}

    # -- nsrecover.core.protocols.World -------------------------------------------------------------------------------

    def observe(self) -> Observation:
        """Take a picture with every camera."""
        rig = self.rig
        pictures = [take_picture(self.client, view, rig.width, rig.height, rig.light) for view in rig.views]
        number = np.zeros(max(self._instances) + 2, dtype=np.int32)
        for body, instance in self._instances.items():
            number[body] = instance
        # body -1 (nothing) reads the last entry, which is 0
        instances = np.stack([number[picture.bodies] for picture in pictures])
        names = list(self._bodies)
        visible = [int(i) for i in np.unique(instances) if i > 0]
        return Observation(
            rgb=np.stack([picture.rgb for picture in pictures]),
            depth_m=np.stack([picture.depth_m for picture in pictures]),
            instances=instances,
            cameras=tuple(view.camera(rig.width, rig.height) for view in rig.views),
            labels={i: names[i - 1] for i in visible},
            gripper_opening_m=OPEN_M if self.arm is None else self.arm.measured_opening_m(),
            holding=False,
            time_s=self.time_s,
        )

    def execute(self, action: Action) -> None:
        """Carry out an action with the arm; returns when the arm is home again, whether it worked or not.

        Raises:
            InvalidAction: the operator is unknown or takes other arguments.
            UnknownObject: an argument is not an object of the scene.
        """
        operator_of(action)
        for name in action.arguments:
            self.body(name)
        self.weaken_grip()
        estimates = self.estimates()
        number = self._plan_step(action)
        self._striking = tuple(fault for fault in self.faults if fault.at_step == number)
        for fault in self._striking:
            estimates = fault.estimates(action, estimates, self._rng)
        self._now = (action, None)
        if self.arm is None:
            self._carrier.run(estimates, action)
        else:
            run_action(self, estimates, action)
        self._now = None
        self._iterate(_ITERATIONS)
        self.weaken_grip()
        self.settle()
        for fault in self._striking:
            fault.after(self, action)
        self.struck, self._striking = self._striking, ()
        self.step += 1

    # -- what skills and faults use -------------------------------------------------------------------------------

    def tick(self, phase: SkillPhase, progress: float) -> None:
        """Run one physics step of a phase of the present action, with the faults' say in it."""
        if self._now is not None and (phase is not self._now[1] or progress >= 1.0 or self._ticks % _FAULT_STEPS == 0):
            self.report(phase, progress)
        self.advance()

    def report(self, phase: SkillPhase, progress: float) -> None:
        """Let the faults have their say in a moment of the present action; a phase begins with progress 0."""
        if self._now is not None:
            action, before = self._now
            self._now = (action, phase)
            if (phase in _EMPTY) != (before in _EMPTY):
                self._iterate(_ITERATIONS_EMPTY if phase in _EMPTY and not self._is_tall() else _ITERATIONS)
            for fault in self._striking:
                fault.during(self, action, phase, 0.0 if phase is not before else progress)

    def body(self, name: str) -> int:
        """Body number of an object.

        Raises:
            UnknownObject: there is none of that name.
        """
        if name not in self._bodies:
            raise UnknownObject(f"expected an object of the scene, found {name!r}.{did_you_mean(name, self._bodies)}")
        return self._bodies[name]

    def advance(self) -> None:
        """Run one physics step."""
        pybullet.stepSimulation(physicsClientId=self.client)
        self.time_s += STEP_S
        self._ticks += 1
        if self.on_frame is not None and self._ticks % self.frame_steps == 0:
            self.on_frame(self)

    def settle(self) -> None:
        """Let everything come to rest: until nothing moves, or a second is over."""
        for step in range(_SETTLE_STEPS):
            self.advance()
            if step % 8 == 7 and self._quiet():
                break
        for name in self._bodies:
            position = self.pose(name)[0]
            if _PIT_M + 1.0 < position[2] < GONE_BELOW_M:
                self.note(f"the {name} fell off the table")
                self.put_out_of_sight(name)

    def put_out_of_sight(self, name: str) -> None:
        """Put an object to where it is gone from the table for good."""
        place = [5.0 + list(self._bodies).index(name), 0.0, _PIT_M + 0.03]
        pybullet.resetBasePositionAndOrientation(self.body(name), place, [0, 0, 0, 1], physicsClientId=self.client)
        pybullet.resetBaseVelocity(self.body(name), [0, 0, 0], [0, 0, 0], physicsClientId=self.client)

    def goal(self, action: Action, estimates: PoseEstimates) -> tuple[Array, Array] | None:
        """Where an action puts what it moves: as `place_for` has it, unless a fault has it otherwise."""
        place = place_for(action, estimates)
        for fault in self._striking:
            if place is not None:
                place = fault.goal(action, estimates, place)
        return place

    def weaken_grip(self, force_n: float | None = None, friction: float | None = None) -> None:
        """Let the fingers hold with another force (newtons) or friction until the end of the action."""
        (self.arm or self._carrier).weaken_grip(force_n, friction)

    def in_hand(self, name: str) -> tuple[Array, Array]:
        """Pose of an object in the tool's frame: position (3,) and rotation (3, 3)."""
        return in_hand_pose(self.arm, *self.pose(name))

    def note(self, text: str) -> None:
        """Write into the log."""
        self.log.append(f"step {self.step}: {text}")

    def pose(self, name: str) -> tuple[Array, Array]:
        """True centre (3,) and orientation (4,) xyzw of an object."""
        position, orientation = pybullet.getBasePositionAndOrientation(self.body(name), physicsClientId=self.client)
        return np.array(position), np.array(orientation)

    def estimates(self) -> PoseEstimates:
        """Undistorted poses of all objects that are on the table."""
        names = [name for name in self._bodies if self.pose(name)[0][2] > GONE_BELOW_M]
        poses = [self.pose(name) for name in names]
        return PoseEstimates(
            tuple(names),
            np.array([position for position, _ in poses]).reshape(-1, 3),
            np.array([orientation for _, orientation in poses]).reshape(-1, 4),
            np.array([self.scene[name].size for name in names]).reshape(-1, 3),
            self.scene.table,
        )

    # -- for judging, videos and repeating ------------------------------------------------------------------------

    def truth(self) -> Truth:
        """Where everything really is."""
        return read_truth(self.client, self._bodies, self._table, GONE_BELOW_M)

    def render(self, width: int = 640, height: int = 480, camera: View = VIDEO) -> npt.NDArray[np.uint8]:
        """A picture for people, (height, width, 3) uint8."""
        return take_picture(self.client, camera, width, height, self.rig.light).rgb

    def save(self) -> SavedWorld:
        """Remember this moment, to the last bit. `release` it when it is no longer needed."""
        state = pybullet.saveState(physicsClientId=self.client)
        self._saved.add(state)
        generator = copy.deepcopy(self._rng.bit_generator.state)
        return SavedWorld(state, self.step, self._carried_out, self.time_s, self._ticks, generator)

    def restore(self, saved: SavedWorld) -> None:
        """Go back to a moment of this world.

        Raises:
            InvalidConfiguration: it was released, or belongs to another world.
        """
        if saved.state not in self._saved:
            raise InvalidConfiguration("expected a state saved by this world and not released, found another one")
        pybullet.restoreState(saved.state, physicsClientId=self.client)
        self.weaken_grip()
        if self.arm is not None:
            self.arm.rest()
        self.step, self._carried_out, self.time_s = saved.step, saved.carried_out, saved.time_s
        self._ticks = saved.ticks
        self._rng.bit_generator.state = copy.deepcopy(saved.generator)

    def release(self, saved: SavedWorld) -> None:
        """Forget a saved moment, so that its memory is free."""
        if saved.state in self._saved:
            self._saved.remove(saved.state)
            pybullet.removeState(saved.state, physicsClientId=self.client)

    def close(self) -> None:
        """End the physics client. Calling it again does nothing."""
        if self.client >= 0:
            pybullet.disconnect(physicsClientId=self.client)
            self.client = -1

    def __enter__(self) -> TabletopWorld:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def is_next(self, action: Action) -> bool:
        """Whether an action is one of those that are left of the plan, so that it counts as its step."""
        return self._found_in_plan(action) is not None

    # -- inside ---------------------------------------------------------------------------------------------------

    def _iterate(self, most: int) -> None:
        """Limit the constraint solver's iterations."""
        pybullet.setPhysicsEngineParameter(numSolverIterations=most, physicsClientId=self.client)

    def _is_tall(self) -> bool:
        """Whether a tower stands so high that it needs care."""
        positions = np.array([self.pose(name)[0] for name in self._bodies]).reshape(-1, 3)
        if len(positions) < _TALL:
            return False
        beside = np.linalg.norm(positions[:, :2] - positions[positions[:, 2].argmax(), :2], axis=1)
        return int((beside < _COLUMN_M).sum()) >= _TALL

    def _plan_step(self, action: Action) -> int | None:
        """Number of the plan's action that this is; None if it is none of those that are left."""
        if self.plan is None:
            return self.step
        number = self._found_in_plan(action)
        if number is not None:
            self._carried_out |= {number}
        return number

    def _found_in_plan(self, action: Action) -> int | None:
        planned = [] if self.plan is None else enumerate(self.plan)
        left = ((number, other) for number, other in planned if number not in self._carried_out)
        return next((number for number, other in left if _same(other, action)), None)

    def _quiet(self) -> bool:
        for body in self._bodies.values():
            linear, angular = pybullet.getBaseVelocity(body, physicsClientId=self.client)
            if max(map(abs, linear)) > 0.004 or max(map(abs, angular)) > 0.08:
                return False
        return True


def _same(planned: Action, action: Action) -> bool:
    """Whether an action is a planned one; a target that was seen again may be a little off."""
    if (planned.operator, planned.arguments) != (action.operator, action.arguments):
        return False
    if planned.target is None or action.target is None:
        return planned.target is None
    return float(np.linalg.norm(np.subtract(planned.target[:3], action.target[:3]))) <= REACHED_M
