"""Runs an episode and keeps what is needed to show it: pictures, what was said to the robot, sound and its events."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from io import BytesIO

import numpy as np
import numpy.typing as npt
from PIL import Image
from tqdm import tqdm

from nsrecover.core.actions import Action
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.explanation.phrases import instruction
from sim.common.cameras import DAYLIGHT, Picture, View, take_picture
from sim.film.script import Script
from sim.kitchen.cameras import MAST_RIG, OVERVIEW, OVERVIEW_FAR_M, SHOULDER, on_base
from sim.kitchen.world import KitchenWorld
from sim.sound.events import SoundEvent

RATE_HZ = 200
"""Physics steps a second."""
SHOULDER_SIZE = (512, 384)
SMALL_SIZE, STILL_SIZE = (176, 128), (256, 192)
"""Pixels of the other pictures: in a film, and of the moments between actions."""
_JPEG_QUALITY = 88
_AFTER_S = 1.5
"""How long the film goes on after the last action."""


@dataclass(frozen=True, eq=False)
class Still:
    """Pictures of one moment.

    Attributes:
        time_s: simulated time.
        shoulder: the robot and what is in front of it, JPEG.
        overview: the whole kitchen, JPEG.
        robot: what the robot's two cameras see, JPEG.
        number: of the action that is carried out, from 0; -1 before the first.
    """

    time_s: float
    shoulder: bytes
    overview: bytes
    robot: tuple[bytes, bytes]
    number: int


@dataclass(frozen=True)
class Act:
    """One action of an episode.

    Attributes:
        action: the action.
        begin_s: when it began, seconds of simulated time.
        end_s: when it ended.
        failure: why it failed; empty if it did not.
        trouble: what went wrong.
    """

    action: Action
    begin_s: float
    end_s: float
    failure: str
    trouble: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The action as in the plan."""
        return str(self.action)

    @property
    def words(self) -> str:
        """The action in words."""
        return instruction(self.action, domain=HOUSEHOLD)


@dataclass(eq=False)
class Footage:
    """All of an episode.

    Attributes:
        script: what was filmed.
        start_s: simulated time at which sound and pictures begin.
        acts: the actions.
        stills: the start, and the end of every action.
        frames: pictures in between, at a fixed rate; empty if no film was wanted.
        sound: (S,) all samples.
        rate_hz: their rate.
        events: the sound events.
        verdict: whether the goal was reached.
        sound_cpu_s: processor time of hearing and of the recording.
    """

    script: Script
    start_s: float = 0.0
    acts: list[Act] = field(default_factory=list)
    stills: list[Still] = field(default_factory=list)
    frames: list[Still] = field(default_factory=list)
    sound: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    rate_hz: int = 16_000
    events: tuple[SoundEvent, ...] = ()
    verdict: str = ""
    sound_cpu_s: float = 0.0

    @property
    def seconds(self) -> float:
        """Simulated time of the episode."""
        return len(self.sound) / self.rate_hz


def shoot(script: Script, frames_a_second: float) -> Footage:
    """Carry out an episode and film it.

    Args:
        script: what is filmed.
        frames_a_second: of the film; 0: only the pictures before and after the actions.
    """
    footage = Footage(script)
    number = -1

    def frame(world: KitchenWorld) -> None:
        footage.frames.append(still(world, number))

    steps = max(1, round(RATE_HZ / frames_a_second)) if frames_a_second else 1
    heard: list[npt.NDArray[np.float32]] = []
    with script.world(frame if frames_a_second else None, steps) as world:
        hearing = world.hearing
        assert hearing is not None, "a film needs a microphone"
        footage.start_s = hearing.soundscape.heard_until_s
        watch = hearing.step

        def watched() -> None:
            started = time.process_time()
            watch()
            footage.sound_cpu_s += time.process_time() - started

        hearing.step = watched  # type: ignore[method-assign]
        footage.stills.append(still(world, number, STILL_SIZE))
        for number, action in enumerate(tqdm(script.plan, desc=script.name, unit="action", leave=False)):
            begin_s = world.cell.time_s
            world.execute(action)
            started = time.process_time()
            samples, footage.rate_hz = hearing.listen()
            footage.sound_cpu_s += time.process_time() - started
            heard.append(samples)
            footage.stills.append(still(world, number, STILL_SIZE))
            footage.acts.append(
                Act(action, begin_s, world.cell.time_s, world.failures[-1], tuple(script.struck(world)))
            )
        # what the last action has started is heard
        for _ in range(round(_AFTER_S * RATE_HZ)):
            world.cell.advance()
        heard.append(hearing.listen()[0])
        footage.events = hearing.soundscape.events
        footage.verdict = script.verdict(world)
    footage.sound = np.concatenate(heard) if heard else footage.sound
    return footage


def picture(jpeg: bytes) -> Image.Image:
    """A picture that was kept."""
    return Image.open(BytesIO(jpeg)).convert("RGB")


def still(world: KitchenWorld, number: int, small: tuple[int, int] = SMALL_SIZE) -> Still:
    """Pictures of the present moment, during action `number`."""
    cell = world.cell
    cell.visuals.update(cell.states)
    shoulder = _jpeg(over_the_shoulder(world).rgb)
    ahead, steep = (_view(world, on_base(view, cell.robot.base), small) for view in MAST_RIG.views)
    return Still(cell.time_s, shoulder, _view(world, OVERVIEW, small), (ahead, steep), number)


def over_the_shoulder(world: KitchenWorld) -> Picture:
    """What is in front of the robot, seen over its shoulder, and the bodies in the picture."""
    return _taken(world, on_base(SHOULDER, world.cell.robot.base), SHOULDER_SIZE)


def _view(world: KitchenWorld, view: View, size: tuple[int, int]) -> bytes:
    return _jpeg(_taken(world, view, size).rgb)


def _taken(world: KitchenWorld, view: View, size: tuple[int, int]) -> Picture:
    seen = take_picture(world.cell.client, view, *size, DAYLIGHT, far_m=OVERVIEW_FAR_M)
    # beyond the floor the renderer draws nothing
    return replace(seen, rgb=np.where(seen.bodies[..., None] < 0, np.uint8(235), seen.rgb))


def _jpeg(rgb: npt.NDArray[np.uint8]) -> bytes:
    out = BytesIO()
    Image.fromarray(rgb).save(out, "JPEG", quality=_JPEG_QUALITY)
    return out.getvalue()
