"""The panels of a live page: from what happened in a run to HTML, with the parts and drawings of reports."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.episode import Episode
from nsrecover.core.observation import Observation
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneGraph
from nsrecover.domains.costs import counted_by_costs
from nsrecover.domains.domain import Domain
from nsrecover.serving.live.desk import Desk
from nsrecover.serving.reports.build import curve_of, latest_step
from nsrecover.serving.reports.media import Clip, Photo
from nsrecover.serving.reports.model import Image, MarkedAs, Outline, OutlinedPhoto, ReportStep
from nsrecover.serving.reports.page import environment
from nsrecover.serving.reports.pictures import View, outlines, outlines_of_masks, stored, view_of
from nsrecover.serving.reports.scenes import colour_of
from nsrecover.serving.reports.way import way_of
from nsrecover.serving.reports.wording import Wording, kinds_of

SPARK = (150, 34)
"""Size of the drawing of a probability over time, units of SVG."""
SHORTEST = 10
"""Turns that the drawing of a probability has room for, at least."""


@dataclass(frozen=True)
class RunStatus:
    """Activity of the robot, in a sentence.

    Attributes:
        kind: how it is marked.
        word: in a word or two.
        text: as a sentence.
        running: whether a run goes on.
    """

    kind: MarkedAs
    word: str
    text: str
    running: bool = True


@dataclass(frozen=True)
class Utterance:
    """An entry of the conversation: who, and what."""

    who: str
    text: str


@dataclass(frozen=True)
class Chance:
    """The probability that an object is as expected, over time.

    Attributes:
        row: the object as in a report.
        line: the curve as points of SVG; empty if nothing is known.
        last: the last point; None if nothing is known.
        text: the last values, for readers who cannot see the curve.
    """

    row: Any
    line: str
    last: tuple[float, float] | None
    text: str


class Chances:
    """Collects the probabilities of a run."""

    def __init__(self) -> None:
        self._turns = 0
        self._known: dict[str, list[tuple[int, float]]] = {}

    def add(self, step: ReportStep) -> list[Chance]:
        """Add a turn; returns the curves of its objects."""
        for row in step.rows:
            if row.probability is not None:
                self._known.setdefault(row.name, []).append((self._turns, row.probability))
        self._turns += 1
        return [self._chance(row) for row in step.rows]

    def _chance(self, row: Any) -> Chance:
        known = self._known.get(row.name, [])
        room = max(self._turns, SHORTEST) - 1
        points = [(4 + turn / room * (SPARK[0] - 8), height(p)) for turn, p in known]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        return Chance(row, line, points[-1] if points else None, ", ".join(f"{100 * p:.0f} %" for _, p in known[-5:]))


def height(probability: float) -> float:
    """Where a probability is in its drawing."""
    return round(3 + (1 - probability) * (SPARK[1] - 6), 1)


def render(panel: str, **values: Any) -> str:
    """The HTML of a panel; text is escaped."""
    known = environment("nsrecover.serving.live")
    known.globals["clock"] = lambda seconds: time.strftime("%H:%M:%S", time.localtime(seconds))
    known.globals["colour"], known.globals["middle"] = colour_of, middle
    return str(getattr(known.get_template("panels.html.jinja").module, panel)(**values))


def middle(points: str) -> tuple[float, float]:
    """The middle of the corners of an outline."""
    corners = [tuple(map(float, corner.split(","))) for corner in points.split()]
    x, y = (sum(each) / len(corners) for each in zip(*corners, strict=True))
    return round(x, 1), round(y, 1)


def state(status: RunStatus, desk: Desk, safety: Sequence[str]) -> str:
    """Activity of the robot, the buttons that pause it, and what people should know before they reach in."""
    return render(
        "state",
        status=status,
        doubt=MarkedAs.DOUBT,
        paused=desk.paused,
        waiting=desk.waiting,
        asking=desk.decision is not None,
        approve=desk.approve,
        safety=safety,
    )


def cameras(observation: Observation, found: Any, scenes: Sequence[Any]) -> str:
    """The camera images, with outlines of what is not as expected.

    Args:
        observation: the images.
        found: the comparison; None if there is none yet.
        scenes: what the images are about; with scene graphs, only the part with their objects is shown.
    """
    pictures, graphs = [], [scene for scene in scenes if isinstance(scene, SceneGraph)]
    for number, camera in enumerate(observation.cameras):
        image = stored(observation.rgb[number])
        photo = Photo(observation.rgb[number], camera)
        if found is not None and not isinstance(found, Discrepancy):
            photo = Photo(photo.rgb, None, outlines_of_masks(observation.instances[number], observation.labels))
        pictures.append((image, _picture(camera.name, image, _outlined(photo, found), view_of([photo], graphs))))
    return render("cameras", pictures=pictures)


def extra_picture(name: str, image: Image) -> str:
    """A further picture, of a film for instance."""
    return render("cameras", pictures=[(image, _picture(name, image, [], None))])


def _picture(name: str, image: Image, lines: list[Outline], view: View | None) -> OutlinedPhoto:
    text = f"picture of {name}" + (f"; marked: {', '.join(dict.fromkeys(each.name for each in lines))}" * bool(lines))
    return OutlinedPhoto(name, 0, view or (0, 0, image.width, image.height), text, tuple(lines))


def _outlined(photo: Photo, found: Any) -> list[Outline]:
    if found is None:
        return []
    kinds = kinds_of(found)
    wrong = {name: kind for name, kind in kinds.items() if kind is MarkedAs.ERROR}
    lines = outlines(photo, found.observed, kinds)
    return lines + outlines(photo, found.expected, wrong, expected=True) * isinstance(found.expected, SceneGraph)


def turn(
    episode: Episode, words: Wording, clip: Clip | None, chances: Chances, problem: ReportStep | None
) -> tuple[ReportStep, dict[str, str]]:
    """The panels that change with every turn.

    Args:
        episode: so far.
        words: how its domain is put into words.
        clip: the sound of the turn.
        chances: gets the turn.
        problem: the last turn that was not as expected.

    Returns:
        The turn, and panel -> HTML.
    """
    step = latest_step(episode, words, clip)
    found = episode.records[-1].discrepancy
    threshold = height(found.threshold) if isinstance(found, Discrepancy) else None
    return step, {
        "text": render("text", step=step, problem=problem if step.kind is MarkedAs.OK else None, draft=""),
        "scenes": render("scenes", step=step),
        "chances": render("chances", chances=chances.add(step), threshold=threshold, limit=_limit(found), size=SPARK),
        "way": way(episode, words),
        "sound": render("sound", step=step),
    }


def _limit(found: Any) -> str:
    return f"{100 * found.threshold:.0f} %" if isinstance(found, Discrepancy) else ""


def other_way(episode: Episode, words: Wording) -> dict[str, str]:
    """The panels that change if the last turn has another recovery."""
    step = latest_step(episode, words)
    return {"text": render("text", step=step, problem=None, draft=""), "way": way(episode, words)}


def way(episode: Episode, words: Wording) -> str:
    """What was done, and what comes next."""
    return render("way", entries=[replace(entry, step=None) for entry in way_of(episode, words)])


def search(recovery: Recovery | None, label: str, over: bool, domain: Domain) -> str:
    """How the search goes.

    Args:
        recovery: the best way so far; None if there is none yet.
        label: what it is for.
        over: whether the search is over.
        domain: says what costs count.
    """
    curve, unit = curve_of(recovery, label, domain), counted_by_costs(domain)
    return render("search", recovery=recovery, curve=curve, label=label, over=over, unit=unit)
