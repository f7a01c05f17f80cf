"""A film of a kitchen episode: views for people, the robot's cameras, captions, and what its microphone hears."""

from __future__ import annotations

import subprocess
import tempfile
import textwrap
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from nsrecover.core.actions import Action, Plan
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.explanation.phrases import instruction
from nsrecover.records.wav import wav_bytes
from sim.common.cameras import DAYLIGHT, Picture, View, take_picture
from sim.kitchen.cameras import MAST_RIG, OVERVIEW, OVERVIEW_FAR_M, SHOULDER, on_base
from sim.kitchen.performing import unmet
from sim.kitchen.tasks import TaskSpec
from sim.kitchen.truth import true_state
from sim.kitchen.world import KitchenWorld
from sim.sound.events import INSTANT, SoundEvent, SoundKind

SHOULDER_SIZE = (512, 384)
SMALL_SIZE = (176, 128)
"""Pixels of the other pictures."""
_JPEG_QUALITY = 88
CAPTION_M = 96
"""Pixels below the pictures. Width and total height are multiples of 16, which every player supports."""
SIZE = (SHOULDER_SIZE[0] + SMALL_SIZE[0], SHOULDER_SIZE[1] + CAPTION_M)
DARK, WHITE, GREY, RED, GREEN, BLUE = (
    (24, 25, 28), (255, 255, 255), (170, 172, 178), (255, 112, 117), (104, 214, 145), (130, 180, 255),
)  # fmt: skip
QUIET = (SoundKind.FRIDGE_HUM,)
"""Kinds that are not shown because they always go on."""
_SHOWN_S = 0.8
"""How long a sound that fades out by itself is shown."""
_LOUD = 0.6
"""Peak of the sound track; louder sounds are pressed together above half of it."""


@dataclass(frozen=True)
class Script:
    """An episode that is filmed.

    Attributes:
        name: of its files.
        spec: the task in its kitchen.
        plan: what the robot does.
    """

    name: str
    spec: TaskSpec
    plan: Plan

    @property
    def title(self) -> str:
        """The task in one line."""
        task = self.spec.task
        return f"{task.code} {task.name}: {task.words}"

    @property
    def setting(self) -> str:
        """Which kitchen, in one line."""
        return f"seed {self.spec.seed}, layout {self.spec.kitchen.layout}"

    def verdict(self, world: KitchenWorld) -> str:
        """Whether the goal is reached."""
        missing = unmet(true_state(world.cell), self.spec)
        return "goal reached" if not missing else "goal missed: " + ", ".join(" ".join(fact) for fact in missing)


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
        frames: pictures at a fixed rate; empty if no film was wanted.
        sound: (S,) all samples.
        rate_hz: their rate.
        events: the sound events.
        verdict: whether the goal was reached.
    """

    script: Script
    start_s: float = 0.0
    acts: list[Act] = field(default_factory=list)
    frames: list[Still] = field(default_factory=list)
    sound: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    rate_hz: int = 16_000
    events: tuple[SoundEvent, ...] = ()
    verdict: str = ""

    @property
    def seconds(self) -> float:
        """Simulated time of the episode."""
        return len(self.sound) / self.rate_hz


def picture(jpeg: bytes) -> Image.Image:
    """A picture that was kept."""
    return Image.open(BytesIO(jpeg)).convert("RGB")


def still(world: KitchenWorld, number: int) -> Still:
    """Pictures of the present moment, during action `number`."""
    cell = world.cell
    cell.visuals.update(cell.states)
    shoulder = _jpeg(over_the_shoulder(world).rgb)
    ahead, steep = (_view(world, on_base(view, cell.robot.base)) for view in MAST_RIG.views)
    return Still(cell.time_s, shoulder, _view(world, OVERVIEW), (ahead, steep), number)


def over_the_shoulder(world: KitchenWorld) -> Picture:
    """What is in front of the robot, seen over its shoulder, and the bodies in the picture."""
    return _taken(world, on_base(SHOULDER, world.cell.robot.base), SHOULDER_SIZE)


def _view(world: KitchenWorld, view: View) -> bytes:
    return _jpeg(_taken(world, view, SMALL_SIZE).rgb)


def _taken(world: KitchenWorld, view: View, size: tuple[int, int]) -> Picture:
    seen = take_picture(world.cell.client, view, *size, DAYLIGHT, far_m=OVERVIEW_FAR_M)
    # beyond the floor the renderer draws nothing
    return replace(seen, rgb=np.where(seen.bodies[..., None] < 0, np.uint8(235), seen.rgb))


def _jpeg(rgb: npt.NDArray[np.uint8]) -> bytes:
    out = BytesIO()
    Image.fromarray(rgb).save(out, "JPEG", quality=_JPEG_QUALITY)
    return out.getvalue()


def write_film(footage: Footage, frames_a_second: float, path: Path) -> None:
    """Write an mp4 with a sound track.

    Args:
        footage: with frames.
        frames_a_second: at which it was filmed.
        path: of the film.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        sound = Path(folder) / "sound.wav"
        sound.write_bytes(wav_bytes(listenable(footage.sound), footage.rate_hz))
        command = [
            imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-loglevel", "error",
            "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{SIZE[0]}x{SIZE[1]}", "-r", f"{frames_a_second:g}",
            "-i", "-",
            "-i", str(sound),
            "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "27", "-c:a", "aac", "-b:a", "80k",
            "-movflags", "+faststart", "-shortest", str(path),
        ]  # fmt: skip
        with subprocess.Popen(command, stdin=subprocess.PIPE) as coder:
            assert coder.stdin is not None
            for still in footage.frames:
                coder.stdin.write(np.asarray(composed(footage, still)).tobytes())
            coder.stdin.close()
        if coder.returncode:
            raise OSError(f"expected ffmpeg to write {path}, found exit code {coder.returncode}")


def composed(footage: Footage, still: Still) -> Image.Image:
    """One frame: the robot, the kitchen, its cameras, and what happens in words."""
    image = Image.new("RGB", SIZE, DARK)
    image.paste(picture(still.shoulder), (0, 0))
    for row, jpeg in enumerate((still.overview, *still.robot)):
        image.paste(picture(jpeg), (SHOULDER_SIZE[0], row * SMALL_SIZE[1]))
    pen, top = ImageDraw.Draw(image), SHOULDER_SIZE[1] + 6
    large, small = ImageFont.load_default(15), ImageFont.load_default(13)
    script = footage.script
    pen.text((12, top), f"{script.title.split(':')[0]} ({script.setting})", font=large, fill=WHITE)
    if still.number >= 0:
        act = footage.acts[still.number]
        pen.text((12, top + 22), f"{still.number + 1} of {len(footage.acts)}: {act.words}", font=large, fill=GREEN)
        wrong = "; ".join([*act.trouble, *([f"it fails: {act.failure}"] if act.failure else [])])
        pen.text((12, top + 44), textwrap.shorten(wrong, 98, placeholder=" ..."), font=small, fill=RED)
    heard = ", ".join(sounding(footage, still.time_s))
    pen.text((12, top + 66), f"sound: {heard}", font=small, fill=BLUE)
    pen.text((SIZE[0] - 70, top + 66), f"{still.time_s - footage.start_s:.1f} s", font=small, fill=GREY)
    return image


def sounding(footage: Footage, time_s: float) -> list[str]:
    """Labels of what can be heard at a moment, without what always goes on."""
    labels = [
        event.label
        for event in footage.events
        if event.start_s <= time_s <= event.end_s + (_SHOWN_S if event.kind in INSTANT else 0.0)
        and event.kind not in QUIET
    ]
    return list(dict.fromkeys(labels))


def listenable(samples: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Louder, for people: recordings have the headroom of a microphone; the loudest sounds are pressed together."""
    usual = float(np.quantile(np.abs(samples), 0.998)) if len(samples) else 0.0
    if usual <= 0.0:
        return samples
    return np.asarray(_LOUD * np.tanh(samples / (2 * usual)), np.float32)
