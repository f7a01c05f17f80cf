"""Actions of a simulated robot that are watched, and stopped, while they run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from nsrecover.core import Action, Observation
from nsrecover.core.glances import RobotState
from nsrecover.errors import InvalidConfiguration
from sim.common.arm import STEP_S, Arm
from sim.sensors.sensor import Pose, SensorStream


class MovingWorld(Protocol):
    """A simulated world that shows frames while it moves, and whose motion can be stopped.

    Attributes:
        on_frame: called with the world every `frame_steps` physics steps.
        frame_steps: see there.
        halting: whether the motion that runs is to be stopped at the next physics step.
    """

    on_frame: Callable[[Any], None] | None
    frame_steps: int
    halting: bool

    @property
    def arm(self) -> Arm | None:
        """The robot's arm; None if there is none."""
        ...

    @property
    def moving(self) -> bool:
        """Whether an action runs that can be stopped."""
        ...

    @property
    def time_s(self) -> float:
        """Simulated time."""
        ...

    @property
    def struck_s(self) -> float:
        """When a fault struck during the last action; infinite: none did."""
        ...

    def observe_from(self, offsets: Sequence[Pose | None], /) -> Observation:
        """Exact images from the true poses of the cameras."""
        ...

    def execute(self, action: Action, /) -> None:
        """Carry out one action."""
        ...


@dataclass(frozen=True)
class Motion:
    """When an action ran, by the simulated time, seconds.

    Attributes:
        began_s: its begin.
        struck_s: when a fault struck; infinite: none did.
        interrupted_s: when it was interrupted; infinite: it was not.
        ended_s: when the arm was home again.
    """

    began_s: float
    struck_s: float
    interrupted_s: float
    ended_s: float


def robot_of(world: MovingWorld) -> RobotState:
    """What the arm measures of itself.

    Raises:
        InvalidConfiguration: the world has no arm.
    """
    if world.arm is None:
        raise InvalidConfiguration("expected a world with an arm that moves, found one without")
    x, y, z = world.arm.tool()[0].tolist()
    return RobotState(world.arm.measured_opening_m(), (x, y, z), world.arm.gripping)


def check_watched(world: MovingWorld, rate_hz: float) -> None:
    """Refuse a world without an arm, and a rate that is not from 0.5 to 50 Hz."""
    robot_of(world)
    if not 0.5 <= rate_hz <= 50:
        raise InvalidConfiguration(f"expected a rate of frames from 0.5 to 50 Hz, found {rate_hz:g}")


def watch(
    world: MovingWorld,
    action: Action,
    stream: SensorStream,
    rate_hz: float = 10.0,
    glance: Callable[[Observation, RobotState], bool] | None = None,
) -> Motion:
    """Carry out one action, and stop it if `glance` returns false.

    Args:
        world: the exact world; its `on_frame` is used.
        action: the action.
        stream: the sensor through which frames are seen.
        rate_hz: frames a second of simulated time.
        glance: see `nsrecover.core.protocols.GlancingWorld`; None: nobody watches.
    """
    interrupted_s, began_s = math.inf, world.time_s

    def frame(_: object) -> None:
        nonlocal interrupted_s
        if not world.moving or glance is None or not math.isinf(interrupted_s):
            return
        if not glance(stream.observe(world.observe_from, quick=True), robot_of(world)):
            interrupted_s, world.halting = world.time_s, True

    before = world.on_frame, world.frame_steps
    if glance is not None:
        world.on_frame, world.frame_steps = frame, max(1, round(1 / (rate_hz * STEP_S)))
    try:
        world.execute(action)
    finally:
        world.on_frame, world.frame_steps = before
    return Motion(began_s, world.struck_s, interrupted_s, world.time_s)
