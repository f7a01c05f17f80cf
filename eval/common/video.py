"""Video of an episode: rendered frames with captions about actions and errors."""

from __future__ import annotations

import math
import textwrap
from itertools import pairwise
from pathlib import Path
from typing import Any

import imageio.v2 as imageio
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from nsrecover.util.closing import ClosedByWith
from sim.common.cameras import View

Picture = npt.NDArray[np.uint8]
"""(H, W, 3) uint8."""
FRAME_SIZE = (416, 320)
"""Pixels of a rendered frame; rendering takes 0.05 s at this size."""
CAPTION_HEIGHT = 64
"""Pixels below the frame. Width and total height are multiples of 32, which every player supports."""
FRAMES_A_SECOND = 10
"""Frame rate of the video."""

VIDEO_VIEW = View("video", (1.20, -0.70, 0.62), (0.43, 0.0, 0.17), math.radians(38.0))
"""Camera of the video: the arm and its whole workspace."""
PHOTO_VIEW = View("photo", (1.08, -0.50, 0.50), (0.52, 0.0, 0.07), math.radians(32.0))
"""Camera of the pictures before and after an action: the objects only."""

GIF_S, GIF_RATE, COLOURS = 12.0, 8, 96
"""Seconds, frames a second, and colours of a short film."""
STILL = 0.35
"""Frames that differ by less than this on average, of 255, show the same picture."""

PLAIN, WRONG, RECOVERING, DONE = (235, 236, 238), (255, 112, 117), (246, 184, 72), (104, 214, 145)
"""Colours of the second line of a caption."""


def write_gif(video: Path, path: Path) -> None:
    """Write a short film of a video: at most half of it shows motions, which are as fast as that needs."""
    reader: Any = imageio.get_reader(video)
    with reader:
        frames = [np.asarray(frame) for frame in reader]
    moved = [True, *(float(np.abs(a.astype(np.int16) - b).mean()) >= STILL for a, b in pairwise(frames))]
    shares = np.where(moved, 1 / max(1, sum(moved)), 1 / max(1, len(moved) - sum(moved)))
    ends = np.cumsum(shares) / shares.sum()
    chosen = np.searchsorted(ends, np.linspace(0, 1, round(GIF_S * GIF_RATE), endpoint=False), side="right")
    palette = Image.fromarray(np.concatenate([frames[index] for index in chosen[::8]])).quantize(COLOURS)
    pictures = [Image.fromarray(frames[index]).quantize(palette=palette, dither=Image.Dither.NONE) for index in chosen]
    path.parent.mkdir(parents=True, exist_ok=True)
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=round(1000 / GIF_RATE), loop=0)


class VideoWriter(ClosedByWith):
    """Writes an mp4 frame by frame; use it as a context manager.

    Args:
        path: of the mp4.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._fonts = ImageFont.load_default(15), ImageFont.load_default(13)
        self._writer: Any = imageio.get_writer(
            path, fps=FRAMES_A_SECOND, codec="libx264", quality=7, macro_block_size=16, pixelformat="yuv420p",
            output_params=["-movflags", "+faststart"],
        )  # fmt: skip
        self._frames = 0
        self._title = ""
        self._note = ""
        self._colour = PLAIN

    @property
    def seconds(self) -> float:
        """Length of the film so far."""
        return self._frames / FRAMES_A_SECOND

    def caption(self, title: str, note: str = "", colour: tuple[int, int, int] = PLAIN) -> None:
        """Set the caption of the following frames: a title, and a note of up to two lines in a colour."""
        self._title, self._note, self._colour = title, note, colour

    def add(self, picture: Picture, seconds: float = 1 / FRAMES_A_SECOND) -> None:
        """Show a picture, for one frame or longer."""
        frame = self._compose(picture)
        for _ in range(max(1, round(seconds * FRAMES_A_SECOND))):
            self._writer.append_data(frame)
            self._frames += 1

    def _compose(self, picture: Picture) -> Picture:
        width, height = FRAME_SIZE
        image = Image.new("RGB", (width, height + CAPTION_HEIGHT), (24, 25, 28))
        image.paste(Image.fromarray(picture), (0, 0))
        pen = ImageDraw.Draw(image)
        title_font, note_font = self._fonts
        pen.text((12, height + 6), self._title, font=title_font, fill=(255, 255, 255))
        for line, text in enumerate(textwrap.wrap(self._note, 60, max_lines=2, placeholder=" ...")):
            pen.text((12, height + 27 + 16 * line), text, font=note_font, fill=self._colour)
        return np.asarray(image)

    def close(self) -> None:
        """Finish the file."""
        self._writer.close()
