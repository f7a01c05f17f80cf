"""The simulated tabletop: a Panda, boxes on a table, cameras, and faults that act on them physically."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pybullet

from nsrecover.core import Action, Observation, Plan
from nsrecover.domains.tabletop.operators import PUSH, REACHED_M, operator_of
from nsrecover.errors import InvalidConfiguration
from sim.common.arm import OPEN_M
from sim.common.cameras import DEFAULT_RIG, VIDEO, CameraRig, View, observation_of, stamp_s, take_picture
from sim.sound.microphone import Microphone
from sim.tabletop.execution import Execution
from sim.tabletop.external_agent import ExternalAgent
from sim.tabletop.fault_context import FaultContext
from sim.tabletop.faults.base import Fault
from sim.tabletop.hearing import Hearing, SavedHearing
from sim.tabletop.kinematic import Fidelity, FrictionGrip, KinematicPickAndPlace
from sim.tabletop.physics import SOLVER_ITERATIONS, PhysicsScene
from sim.tabletop.poses import PoseEstimates
from sim.tabletop.push import Push
from sim.tabletop.scenes import SceneSpec
from sim.tabletop.skills import PickAndPlace

OnFrame = Callable[["TabletopWorld"], None]


@dataclass(frozen=True, eq=False)
class SavedWorld:
    """A saved state of a world, for the same world's `restore`, any number of times.

    Attributes:
        state: number of the saved physics state.
        step: actions executed by then.
        carried_out: numbers of the plan's actions that were carried out by then.
        time_s: simulated time.
        ticks: physics steps by then: faults are called at every few of them.
        generator: state of the random generator.
        sound: what was heard until then; None without a microphone.
    """

    state: int
    step: int
    carried_out: frozenset[int]
    time_s: float
    ticks: int
    generator: Mapping[str, Any]
    sound: SavedHearing | None = None


class TabletopWorld(PhysicsScene):
    """A Panda at a table; implements `nsrecover.core.protocols.World`.

    Use it as a context manager, or call `close`: every world owns one physics client.

    Attributes:
        rig: the cameras.
        faults: what goes wrong, and when.
        plan: what the robot is to do, if the faults' steps are steps of a plan.
        fidelity: how much of a pick-and-place is simulated.
        external_agent: moves objects without the robot.
        last_faults: the faults that struck at the last action.
        hearing: what is heard; None without a microphone.
        moving: whether an action runs.
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
        microphone: Microphone | None = None,
    ) -> None:
        """Build the scene and let it come to rest.

        Args:
            scene: what stands on the table.
            faults: what goes wrong, and when.
            rig: the cameras.
            plan: what the robot is to do. The faults of a step strike when its action is carried out for the first
                time; other actions in between, of a recovery for instance, do not count. Without a plan every action
                counts as the next step.
            seed: of the faults' random generator.
            on_frame: called with the world every `frame_steps` physics steps (200 a second) while things move, for
                videos; it may call `render`.
            frame_steps: at 20, a video with 10 frames a second runs in real time.
            fidelity: whether the arm does everything, or objects are carried without one (see `kinematic`).
            microphone: if given, observations have the sound since the last one; it changes nothing else.

        Raises:
            InvalidConfiguration: the scene does not fit, the message names the object; or a fault needs an arm.
        """
        if frame_steps < 1:
            raise InvalidConfiguration(f"expected frame_steps of at least 1, found {frame_steps}")
        self.rig, self.faults, self.fidelity = rig, tuple(faults), Fidelity(fidelity)
        for fault in self.faults:
            if fault.needs_arm and self.fidelity is Fidelity.KINEMATIC:
                raise InvalidConfiguration(
                    f"expected faults that can strike without an arm in a kinematic world, found "
                    f"{type(fault).__name__}; use fidelity=physics, or leave it out"
                )
        self.plan, self._carried_out = plan, frozenset[int]()
        self.on_frame, self.frame_steps = on_frame, frame_steps
        self.last_faults: tuple[Fault, ...] = ()
        self._seed, self._rng = seed, np.random.default_rng(seed)
        self._saved: set[int] = set()
        self.moving, self._stamp_s = False, -math.inf
        super().__init__(scene, with_arm=self.fidelity is Fidelity.PHYSICS)
        self._grip = self.arm or FrictionGrip()
        self.external_agent = ExternalAgent(self)
        self.fault_context = FaultContext(self, self.external_agent, self._grip)
        self.hearing = None if microphone is None else Hearing(self, microphone)
        self.settle()

    def observe(self) -> Observation:
        """Exact images of all cameras, gripper and sound; `sim.sensors.world` adds errors of the cameras."""
        return self.observe_from([None] * len(self.rig.views))

    def observe_from(self, offsets: Sequence[npt.NDArray[np.float64] | None]) -> Observation:
        """What the cameras see where they truly are, with the poses that their user believes.

        Args:
            offsets: for every camera the motion (4, 4) from its believed to its true pose, in the camera's frame; None:
                there is none.
        """
        self._stamp_s = stamp_s(self.time_s, self._stamp_s)
        audio, audio_rate_hz = (None, 0) if self.hearing is None else self.hearing.listen()
        return observation_of(
            self.client,
            self.rig,
            offsets,
            self._bodies,
            gripper_opening_m=OPEN_M if self.arm is None else self.arm.measured_opening_m(),
            holding=False,
            time_s=self._stamp_s,
            audio=audio,
            audio_rate_hz=audio_rate_hz,
        )

    def execute(self, action: Action) -> None:
        """Carry out an action; return when the arm is home again, whether the action succeeded or not.

        Raises:
            InvalidAction: the operator is unknown or takes other arguments.
            UnknownObject: an argument is not an object of the scene.
        """
        operator_of(action)
        for name in action.arguments:
            self.body(name)
        self._grip.weaken_grip()
        estimates = self._measured_and_gripping()
        number = self._plan_step(action)
        striking = tuple(fault for fault in self.faults if fault.at_step == number)
        for fault in striking:
            estimates = fault.estimates(action, estimates, self._rng)
        self.struck_s, self.halting = math.inf, False
        execution = Execution(action, self.fault_context, striking)
        self.moving = True
        if isinstance(self._grip, FrictionGrip):
            KinematicPickAndPlace(execution, self._grip, estimates).run()
        else:
            (Push if action.operator == PUSH.name else PickAndPlace)(execution, self._grip, estimates).run()
        self.limit_iterations(SOLVER_ITERATIONS)
        self._grip.weaken_grip()
        self.moving = False
        self.settle()
        for fault in striking:
            fault.after(self.fault_context, action)
        self.last_faults = striking
        self.step += 1

    def _measured_and_gripping(self) -> PoseEstimates:
        """The estimates of an arm and the force of its grip in this action, as imprecise as the scene says."""
        imprecision, exact = self.scene.imprecision, self.estimates()
        if imprecision is None or self.arm is None:
            return exact
        # repeating an action gives other errors, repeating an episode the same ones
        rng = np.random.default_rng([self._seed, self.step])
        self._grip.weaken_grip(imprecision.grip_n(rng))
        return exact.measured(imprecision, rng)

    def advance(self) -> None:
        """Run one physics step."""
        super().advance()
        if self.hearing is not None:
            self.hearing.step()
        if self.on_frame is not None and self.ticks % self.frame_steps == 0:
            self.on_frame(self)

    def render(self, width: int = 640, height: int = 480, camera: View = VIDEO) -> npt.NDArray[np.uint8]:
        """A picture for human viewers, (height, width, 3) uint8."""
        return take_picture(self.client, camera, width, height, self.rig.light).rgb

    def save(self) -> SavedWorld:
        """Save the state exactly. `release` it when it is no longer needed."""
        state = pybullet.saveState(physicsClientId=self.client)
        self._saved.add(state)
        generator = copy.deepcopy(self._rng.bit_generator.state)
        sound = None if self.hearing is None else self.hearing.save()
        return SavedWorld(state, self.step, self._carried_out, self.time_s, self.ticks, generator, sound)

    def restore(self, saved: SavedWorld) -> None:
        """Return to a saved state of this world.

        Raises:
            InvalidConfiguration: it was released, or belongs to another world.
        """
        if saved.state not in self._saved:
            raise InvalidConfiguration("expected a state saved by this world and not released, found another one")
        pybullet.restoreState(saved.state, physicsClientId=self.client)
        self._grip.weaken_grip()
        if self.arm is not None:
            self.arm.rest()
        self.step, self._carried_out, self.time_s = saved.step, saved.carried_out, saved.time_s
        self.ticks, self._stamp_s = saved.ticks, -math.inf
        self._rng.bit_generator.state = copy.deepcopy(saved.generator)
        if self.hearing is not None and saved.sound is not None:
            self.hearing.restore(saved.sound)

    def release(self, saved: SavedWorld) -> None:
        """Free the memory of a saved state."""
        if saved.state in self._saved:
            self._saved.remove(saved.state)
            pybullet.removeState(saved.state, physicsClientId=self.client)

    def is_next(self, action: Action) -> bool:
        """Whether an action is one of the remaining actions of the plan, so that it counts as a step of it."""
        return self.next_step(action) is not None

    def _plan_step(self, action: Action) -> int | None:
        """Number of this action in the plan, which is done from now on; None if no remaining action equals it."""
        if self.plan is None:
            return self.step
        number = self.next_step(action)
        if number is not None:
            self._carried_out |= {number}
        return number

    def next_step(self, action: Action) -> int | None:
        """Number of the first remaining action of the plan that equals an action; None if there is none."""
        planned = [] if self.plan is None else enumerate(self.plan)
        left = ((number, other) for number, other in planned if number not in self._carried_out)
        return next((number for number, other in left if _same(other, action)), None)


def _same(planned: Action, action: Action) -> bool:
    """Whether an action is the planned one; a target that was measured again may differ slightly."""
    if (planned.operator, planned.arguments) != (action.operator, action.arguments):
        return False
    if planned.target is None or action.target is None:
        return planned.target is None
    return float(np.linalg.norm(np.subtract(planned.target[:3], action.target[:3]))) <= REACHED_M
