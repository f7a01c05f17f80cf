"""A page with pictures of an episode: before the first action and after every one, over its sound and sound events."""

from __future__ import annotations

import textwrap
from io import BytesIO
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from nsrecover.util.atomic_write import atomic_write_bytes
from sim.film.shooting import Footage, Still, picture
from sim.film.video import QUIET
from sim.sound.baseline import WINDOW, log_spectrogram
from sim.sound.events import INSTANT

matplotlib.use("Agg")
import matplotlib.pyplot as plt

TILE = (208, 156)
"""Pixels of one picture; each moment has one over the robot's shoulder, and one of its steep camera below."""
COLUMNS = 5
MOST_BYTES = 120_000
_TEXT_M, _HEAD_M, _GAP_M = 46, 70, 6
_WIDTH = COLUMNS * (TILE[0] + _GAP_M) + _GAP_M
_WHITE, _BLACK, _RED, _GREEN = (255, 255, 255), (20, 20, 22), (190, 20, 30), (10, 110, 50)
_BANDS = 48


def write_page(footage: Footage, path: Path) -> None:
    """Write the page as a JPEG of at most `MOST_BYTES`."""
    image = drawn(footage)
    for quality in (80, 70, 60, 50, 42, 35, 28, 22):
        out = BytesIO()
        image.save(out, "JPEG", quality=quality, optimize=True)
        if out.tell() <= MOST_BYTES:
            break
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write_bytes(path, out.getvalue())


def drawn(footage: Footage) -> Image.Image:
    """The page."""
    rows = -(-len(footage.stills) // COLUMNS)
    cell_height = 2 * TILE[1] + _TEXT_M + _GAP_M
    chart = _chart(footage)
    image = Image.new("RGB", (_WIDTH, _HEAD_M + rows * cell_height + chart.height), _WHITE)
    pen = ImageDraw.Draw(image)
    large, small = ImageFont.load_default(17), ImageFont.load_default(12)
    script = footage.script
    pen.text((_GAP_M, 4), textwrap.shorten(f"{script.title} ({script.setting})", 120), font=large, fill=_BLACK)
    if script.trouble:
        pen.text((_GAP_M, 27), textwrap.shorten(script.trouble, 150), font=ImageFont.load_default(14), fill=_RED)
    good = footage.verdict == "goal reached"
    pen.text((_GAP_M, 48), footage.verdict, font=ImageFont.load_default(14), fill=_GREEN if good else _RED)
    for number, still in enumerate(footage.stills):
        x = _GAP_M + number % COLUMNS * (TILE[0] + _GAP_M)
        y = _HEAD_M + number // COLUMNS * cell_height
        _tile(image, pen, still, x, y)
        text, colour = ("at the start", _BLACK) if not number else _caption(footage, number)
        for line, part in enumerate(textwrap.wrap(text, 34, max_lines=3, placeholder=" ...")):
            pen.text((x, y + 2 * TILE[1] + 2 + 14 * line), part, font=small, fill=colour)
    image.paste(chart, (0, _HEAD_M + rows * cell_height))
    return image


def _tile(image: Image.Image, pen: ImageDraw.ImageDraw, still: Still, x: int, y: int) -> None:
    for row, jpeg in enumerate((still.shoulder, still.robot[1])):
        image.paste(picture(jpeg).resize(TILE, Image.Resampling.LANCZOS), (x, y + row * TILE[1]))


def _caption(footage: Footage, number: int) -> tuple[str, tuple[int, int, int]]:
    act = footage.acts[number - 1]
    wrong = [*act.trouble, *([act.failure] if act.failure else [])]
    return f"{number}. {act.words}" + (": " + "; ".join(wrong) if wrong else ""), _RED if wrong else _BLACK


def _chart(footage: Footage) -> Image.Image:
    """Spectrogram over a line for every class of events, with the borders of the actions."""
    events = [event for event in footage.events if event.kind not in QUIET]
    labels = list(dict.fromkeys(event.label for event in events))
    seconds = max(footage.seconds, 0.1)
    height = 1.3 + 0.16 * max(1, len(labels))
    figure, (upper, lower) = plt.subplots(
        2,
        1,
        figsize=(_WIDTH / 100, height + 0.5),
        dpi=100,
        sharex=True,
        height_ratios=[1.3, 0.16 * max(1, len(labels))],
    )
    if len(footage.sound) > WINDOW:
        levels = log_spectrogram(footage.sound, footage.rate_hz, _BANDS)
        # as many columns as pixels: the loudest of each
        edges = np.linspace(0, len(levels), min(len(levels), _WIDTH), endpoint=False).astype(int)
        shown = np.maximum.reduceat(levels, edges, axis=0).T
        upper.imshow(
            shown - shown.max(),
            origin="lower",
            aspect="auto",
            cmap="magma",
            vmin=-75,
            vmax=0,
            extent=(0, seconds, 0, 1),
        )
    upper.set(yticks=[], ylabel="60 Hz to 8 kHz")
    for event in events:
        row = len(labels) - 1 - labels.index(event.label)
        begin = event.start_s - footage.start_s
        length = 0.25 if event.kind in INSTANT else min(event.duration_s, seconds - begin)
        lower.barh(row, max(length, 0.25), left=begin, height=0.7, color="tab:orange")
    for number, act in enumerate(footage.acts):
        for axis in (upper, lower):
            axis.axvline(act.begin_s - footage.start_s, color="tab:blue", linewidth=0.7)
        upper.text(
            act.begin_s - footage.start_s, 1.02, str(number + 1), fontsize=7, color="tab:blue",
            transform=upper.get_xaxis_transform(),
        )  # fmt: skip
    lower.set(xlabel="seconds", yticks=range(len(labels)), ylim=(-0.6, max(0.6, len(labels) - 0.4)), xlim=(0, seconds))
    lower.set_yticklabels(labels[::-1], fontsize=7)
    lower.tick_params(axis="x", labelsize=7)
    figure.tight_layout(pad=0.4, h_pad=0.2)
    out = BytesIO()
    figure.savefig(out, format="png")
    plt.close(figure)
    return Image.open(out).convert("RGB")
