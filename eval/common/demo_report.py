"""Report of a demo run: one HTML file that holds its pictures, drawings and video."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from markupsafe import Markup
from PIL import Image

from eval.common import pages
from eval.common.command import METRICS
from eval.common.demo_result import DemoResult, Picture
from nsrecover.core.discrepancy import Deviation, Discrepancy
from nsrecover.core.recovery import Recovery, RecoveryStatus
from nsrecover.explanation.drawing import FROM_ABOVE, best_side, colour_of, draw
from nsrecover.explanation.facts import violated_texts
from nsrecover.explanation.reasons import reason_text

PHOTO_SIZE = (320, 240)
"""Stored size of pictures, pixels; two are side by side in a third of the page."""

RECOVERY_WORDS = {
    RecoveryStatus.RECOVERED: ("a way back was found", "good"),
    RecoveryStatus.ALREADY_AT_SUBGOAL: ("already on the plan", "good"),
    RecoveryStatus.IMPOSSIBLE: ("impossible", "bad"),
    RecoveryStatus.BUDGET_EXHAUSTED: ("out of time", "bad"),
}
"""Text and kind of the tag for each status."""


def render(result: DemoResult, video: Path | None = None) -> str:
    """Return the report as one HTML page.

    Args:
        result: the run.
        video: an mp4 to put into the page.
    """
    photos = _Photos()
    for turn in result.turns:
        photos.name(turn.before)
        photos.name(turn.after)
    return pages.render(
        "report.html.j2",
        result=result,
        photos=photos,
        video=None if video is None else base64.b64encode(video.read_bytes()).decode(),
        metrics=json.dumps(result.metrics(), indent=2),
        culprits=_culprits,
        drawings=_drawings,
        recovery_facts=_recovery_facts,
        recovery_words=RECOVERY_WORDS,
        colour_of=colour_of,
        violated_texts=violated_texts,
    )


def write(result: DemoResult, folder: Path, video: Path | None = None) -> Sequence[Path]:
    """Write `report.html` and `metrics.json`.

    Args:
        result: the run.
        folder: made if necessary.
        video: an mp4 to put into the page.

    Returns:
        The files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    report, metrics = folder / "report.html", folder / METRICS
    report.write_text(render(result, video), encoding="utf-8")
    metrics.write_text(json.dumps(result.metrics(), indent=2) + "\n", encoding="utf-8")
    return report, metrics


class _Photos:
    """Pictures of the page; each is stored once, however often it is shown."""

    def __init__(self) -> None:
        self._encoded: dict[bytes, str] = {}
        self._names: dict[int, str] = {}

    def name(self, picture: Picture) -> str:
        """Return the class of an element that shows a picture."""
        if id(picture) in self._names:
            return self._names[id(picture)]
        image = Image.fromarray(picture).resize(PHOTO_SIZE, Image.Resampling.LANCZOS)
        buffer = io.BytesIO()
        # Rendered scenes have few colours: a palette halves the file without a visible difference.
        image.quantize(128, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
        self._names[id(picture)] = self._encoded.setdefault(buffer.getvalue(), f"photo{len(self._encoded)}")
        return self._names[id(picture)]

    def style(self) -> Markup:
        """Return the style rules that hold the pictures."""
        return Markup("\n").join(
            Markup(f".{name}{{background-image:url(data:image/png;base64,{base64.b64encode(data).decode()})}}")
            for data, name in self._encoded.items()
        )


def _culprits(discrepancy: Discrepancy) -> Mapping[str, Deviation]:
    return {deviation.name: deviation for deviation in discrepancy.deviations}


def _drawings(discrepancy: Discrepancy) -> list[tuple[str, list[tuple[str, str]]]]:
    """Drawings of the expected and of the observed scene: title, and texts with SVG elements."""
    expected, observed = discrepancy.expected, discrepancy.observed
    boxes, views = [*expected.boxes, *observed.boxes], (best_side(expected, observed), FROM_ABOVE)
    return [
        (title, [(view.title, draw(graph, view, view.frame(boxes), discrepancy.deviating, ghosts)) for view in views])
        for title, graph, ghosts in (("Expected", expected, None), ("Observed", observed, expected))
    ]


def _recovery_facts(recovery: Recovery) -> list[str]:
    facts = [f"{recovery.expansions} nodes expanded", f"{recovery.seconds:.2f} s"]
    if recovery.proven_optimal:
        facts.append("proven optimal")
    reason = reason_text(recovery)
    return [*facts, reason] if reason else facts
