"""A film of an episode: views for people, the robot's cameras, captions, and what its microphone heard."""

from __future__ import annotations

import subprocess
import tempfile
import textwrap
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from nsrecover.records.wav import wav_bytes
from sim.film.shooting import SHOULDER_SIZE, SMALL_SIZE, Footage, Still, picture
from sim.sound.events import INSTANT, SoundKind

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
