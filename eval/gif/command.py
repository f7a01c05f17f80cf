"""`python -m eval.gif EPISODE.mp4 FILE`: a short film of a video, as animated GIF for a README, or as mp4."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import imageio.v2 as imageio
import imageio_ffmpeg
import numpy as np
import numpy.typing as npt
import typer

from nsrecover.errors import InvalidConfiguration

HELD = 0.35
"""Frames that differ by less than this on average (of 255) show the same picture, as compression is not exact."""
HELD_S = 0.5
"""A picture that is shown for so long at least is there to be read, seconds."""
SUFFIXES = (".gif", ".mp4")


def gif(
    video: Annotated[Path, typer.Argument(help="An mp4 of the demo.")],
    path: Annotated[Path, typer.Argument(help="The file to write, ending in .gif or .mp4.")],
    seconds: Annotated[float, typer.Option(min=1.0, help="Length of the film.")] = 12.0,
    rate: Annotated[int, typer.Option(min=1, help="Frames a second.")] = 8,
    colours: Annotated[int, typer.Option(min=4, max=256, help="Size of the palette of a GIF.")] = 96,
) -> None:
    """Shorten a video: what has to be read is shown as long as in the video, and motions take what time is left.

    If that leaves less than a third of the time for motions, what has to be read is shortened, too.
    """
    if not video.is_file():
        raise InvalidConfiguration(f"expected a video at {video}, found no file; run `make demo` first")
    if path.suffix not in SUFFIXES:
        raise InvalidConfiguration(f"expected a file ending in {' or '.join(SUFFIXES)}, found {path}")
    reader: Any = imageio.get_reader(video)
    with reader:
        fps = float(reader.get_meta_data()["fps"])
        frames = [np.asarray(frame) for frame in reader]
    chosen = chosen_frames(held(frames, round(HELD_S * fps)), fps, seconds, rate)
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, [frames[i] for i in chosen], rate, colours)
    print(f"{path}: {len(chosen) / rate:.1f} s, {path.stat().st_size / 1e6:.2f} MB")


def held(frames: Sequence[npt.NDArray[np.uint8]], least: int) -> npt.NDArray[np.bool_]:
    """Whether each frame belongs to a picture that is shown for a number of frames at least, (T,)."""
    same = [float(np.abs(one.astype(np.int16) - other).mean()) < HELD for one, other in pairwise(frames)]
    found = np.zeros(len(frames), np.bool_)
    first = 0
    for i in range(1, len(frames) + 1):
        if i == len(frames) or not same[i - 1]:
            found[first:i] = i - first >= least
            first = i
    return found


def chosen_frames(shown: npt.NDArray[np.bool_], fps: float, seconds: float, rate: int) -> list[int]:
    """The frames of a film of a length, (T,) numbers.

    Args:
        shown: (N,) whether each frame of the video is there to be read.
        fps: of the video.
        seconds: length of the film.
        rate: its frames a second.
    """
    reading, moving = float(shown.sum()) / fps, float((~shown).sum()) / fps
    read_s = min(reading, seconds if not moving else seconds * 2 / 3)
    slow = read_s / reading if reading else 1.0
    fast = (seconds - read_s) / moving if moving else 1.0
    # when each frame of the video begins in the film, seconds
    begins = np.concatenate([[0.0], np.cumsum(np.where(shown, slow, fast) / fps)])[:-1]
    times = np.arange(round(seconds * rate)) / rate
    return [int(i) for i in np.clip(np.searchsorted(begins, times + 1e-9, side="right") - 1, 0, len(shown) - 1)]


def write(path: Path, frames: Sequence[npt.NDArray[np.uint8]], rate: int, colours: int) -> None:
    """Write frames as GIF with a palette of their own, or as mp4."""
    height, width = frames[0].shape[:2]
    palette = (
        f"split[a][b];[a]palettegen=max_colors={colours}:stats_mode=full[p];[b][p]paletteuse=dither=none:"
        "diff_mode=rectangle"
    )
    how = (
        ["-filter_complex", palette]
        if path.suffix == ".gif"
        else ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "24", "-movflags", "+faststart"]
    )
    command = [
        imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-loglevel", "error",
        "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(rate), "-i", "-", *how, str(path),
    ]  # fmt: skip
    subprocess.run(command, input=b"".join(frame.tobytes() for frame in frames), check=True)
