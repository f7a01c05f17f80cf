"""The film of an episode: rendered frames with a caption that says what the robot is doing and what it noticed."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path
from types import TracebackType
from typing import Any

import imageio.v2 as imageio
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from eval.common.demo_result import Picture
from sim.common.cameras import View

FRAME_SIZE = (416, 320)
"""Of the rendered picture; rendering is what a video costs, 0.05 s a frame at this size."""
CAPTION_HEIGHT = 64
"""Below the picture. Width and total height are multiples of 32, so that every player shows every pixel."""
FRAMES_A_SECOND = 10
"""Of the film."""

VIDEO_VIEW = View("film", (1.20, -0.70, 0.62), (0.43, 0.0, 0.17), math.radians(38.0))
"""Of the film: the arm at work and the whole reach of its table."""
PHOTO_VIEW = View("photo", (1.08, -0.50, 0.50), (0.52, 0.0, 0.07), math.radians(32.0))
"""Of the pictures before and after an action: the objects, as large as they can be."""

PLAIN, WRONG, RECOVERING, DONE = (235, 236, 238), (255, 112, 117), (246, 184, 72), (104, 214, 145)
"""Colours of the second line of a caption."""


class VideoWriter:
    """Writes an mp4 as it goes; use it as a context manager.

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
        self._title = ""
        self._note = ""
        self._colour = PLAIN

    def caption(self, title: str, note: str = "", colour: tuple[int, int, int] = PLAIN) -> None:
        """What to write below the frames from now on: a title, and a note of up to two lines in a colour."""
        self._title, self._note, self._colour = title, note, colour

    def add(self, picture: Picture, seconds: float = 1 / FRAMES_A_SECOND) -> None:
        """Show a picture, for one frame or longer."""
        frame = self._compose(picture)
        for _ in range(max(1, round(seconds * FRAMES_A_SECOND))):
            self._writer.append_data(frame)

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

    def __enter__(self) -> VideoWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
