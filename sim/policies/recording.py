"""Carries out an episode and keeps its frames, at a fixed rate, and the truth about it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.inspection.dataset import Frame, images
from sim.common.arm import STEP_S
from sim.policies.tasks import Episode
from sim.sensors.sensor import Sensor
from sim.tabletop.demonstrations import DISTURBED_M, PLACED_M, action_failure
from sim.tabletop.placing import place_for
from sim.tabletop.poses import PoseEstimates
from sim.tabletop.world import TabletopWorld

REST_FRAMES = 3
"""Frames after the last action."""


@dataclass(frozen=True)
class Truth:
    """What happened in an episode, from the simulator.

    Attributes:
        succeeded: in the end every object is where the actions should have left it.
        step: number of the first action that left an object elsewhere for good; -1: there is none.
        objects: those objects.
        kind: the disturbance; empty: none.
        reason: see `action_failure`.
    """

    succeeded: bool
    step: int = -1
    objects: tuple[str, ...] = ()
    kind: str = ""
    reason: str = ""


@dataclass
class _Recorder:
    """Takes a frame every so many physics steps.

    Attributes:
        frames: those taken so far.
    """

    episode: Episode
    sensor: Sensor
    names: tuple[str, ...]
    frames: list[Frame] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._stream = self.sensor.stream(len(self.episode.rig.views), self.episode.seed)

    def take(self, world: TabletopWorld) -> None:
        """Take a frame."""
        arm = world.arm
        assert arm is not None
        seen = self._stream.observe(world.observe_from)
        state = [arm.measured_opening_m(), *arm.tool()[0].tolist()]
        self.frames.append({**images(seen, self.names), "observation.state": [float(value) for value in state]})


def record(episode: Episode, sensor: Sensor, names: tuple[str, ...], rate_hz: float) -> tuple[list[Frame], Truth]:
    """Carry out an episode; return its frames and what happened.

    Args:
        episode: the episode.
        sensor: of the cameras.
        names: of all objects of the dataset; masks are numbered after them, from 1.
        rate_hz: frames a second.
    """
    recorder, wrong = _Recorder(episode, sensor, names), dict[str, tuple[int, str]]()
    steps = max(1, round(1 / (rate_hz * STEP_S)))
    with TabletopWorld(episode.scene, episode.faults, episode.rig, seed=episode.seed, frame_steps=steps) as world:
        recorder.take(world)
        world.on_frame = recorder.take
        for number, (action, meant) in enumerate(zip(episode.done, episode.plan, strict=True)):
            before = world.estimates()
            if set(action.arguments) <= set(before.names):
                world.execute(action)
            failure = action_failure(meant, before, world.estimates())
            if failure is None:
                wrong.pop(meant.arguments[0], None)  # it is put right
            else:
                found = out_of_place(meant, before, world.estimates()) or meant.arguments[:1]
                wrong = dict.fromkeys(found, (number, failure[0])) | wrong
        for _ in range(REST_FRAMES * steps):
            world.advance()
    if not wrong:
        return recorder.frames, Truth(True, kind=episode.kind)
    step, reason = min(wrong.values())
    return recorder.frames, Truth(
        False, step, tuple(name for name, (own, _) in wrong.items() if own == step), episode.kind, reason
    )


def out_of_place(action: Action, before: PoseEstimates, after: PoseEstimates) -> tuple[str, ...]:
    """The objects that are not where they should be after an action."""
    wrong, place = [], place_for(action, before)
    for row, name in enumerate(before.names):
        moved = name == action.arguments[0]
        if name in after.names:
            wanted = place[0] if moved and place is not None else before.positions[row]
            off = np.linalg.norm(after.positions[after.index(name)] - wanted)
            if off <= (PLACED_M if moved else DISTURBED_M):
                continue
        wrong.append(name)
    return tuple(wrong)
