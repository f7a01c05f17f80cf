"""The content of a report, ready to be laid out: sentences, steps, scenes, objects, the recovery, downloads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nsrecover.util.python310 import StrEnum


class MarkedAs(StrEnum):
    """How a step or an object is marked."""

    OK = "ok"
    """As expected."""
    ERROR = "error"
    """Not as expected."""
    HELP = "help"
    """Ahead of the plan: a later step is done already. This is no error."""
    DOUBT = "doubt"
    """Unknown."""


SYMBOLS: Mapping[MarkedAs, str] = {MarkedAs.OK: "✓", MarkedAs.ERROR: "✗", MarkedAs.HELP: "+", MarkedAs.DOUBT: "?"}
"""Symbol of each kind, for readers who do not see colours."""

KIND_WORDS: Mapping[MarkedAs, str] = {
    MarkedAs.OK: "as expected",
    MarkedAs.ERROR: "not as expected",
    MarkedAs.HELP: "ahead of the plan",
    MarkedAs.DOUBT: "unknown",
}


@dataclass(frozen=True)
class Line:
    """A sentence for readers, and the facts behind it."""

    text: str
    facts: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReaderAnswer:
    """The answer to one of the questions of readers.

    Attributes:
        key: stable name of the question.
        question: the question.
        lines: the sentences.
    """

    key: str
    question: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Outline:
    """The outline of an object in a picture.

    Attributes:
        name: the object.
        points: corners as in SVG, pixels.
        kind: how it is marked.
        expected: whether this is where the object should be, not where it is.
    """

    name: str
    points: str
    kind: MarkedAs
    expected: bool = False


@dataclass(frozen=True)
class Image:
    """A stored photograph: its data URI, and the width and height (pixels) that outlines refer to."""

    href: str
    width: int
    height: int


@dataclass(frozen=True)
class OutlinedPhoto:
    """A photograph with outlines.

    Attributes:
        title: above it.
        image: number of the photograph in `Report.images`.
        view: the part that is shown: left, top, width and height, pixels.
        text: what it shows, for readers who cannot see it.
        outlines: of objects that are not as expected.
    """

    title: str
    image: int
    view: tuple[float, float, float, float]
    text: str
    outlines: tuple[Outline, ...]


@dataclass(frozen=True)
class FactPlace:
    """An object in a scene of facts, with what is in or on it.

    Attributes:
        name: the object.
        states: its states in words.
        how: how it is with respect to what it stands below: `in`, `on top`, `held`; empty at the top.
        kind: how it is marked.
        content: what is in or on it.
    """

    name: str
    states: tuple[str, ...]
    how: str
    kind: MarkedAs
    content: tuple[FactPlace, ...]


@dataclass(frozen=True)
class SceneView:
    """The expected or the observed scene.

    Attributes:
        title: above it.
        drawings: title and SVG element of each direction, for scenes with boxes.
        places: the objects that are not in or on others, for scenes of facts.
    """

    title: str
    drawings: tuple[tuple[str, str], ...] = ()
    places: tuple[FactPlace, ...] = ()


@dataclass(frozen=True)
class Sound:
    """What was heard.

    Attributes:
        wav: content of a WAV file; None if it was left out, so that the page stays small.
        seconds: its length.
        loudness: the upper edge of the sound as points of SVG, in a box of `WAVE_SIZE`.
        events: what is to be heard, in words.
    """

    wav: bytes | None
    seconds: float
    loudness: str
    events: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """An object in the table of a step.

    Attributes:
        number: in the drawings; None without drawings.
        name: the object.
        colour: of its drawing; empty without drawings.
        expected: how it should be.
        seen: how it is.
        verdict: what is said of it.
        kind: how it is marked.
        probability: P(as expected); None if there is none.
        distance_m: from its place, metres; None if that is not known.
    """

    number: int | None
    name: str
    colour: str
    expected: str
    seen: str
    verdict: str
    kind: MarkedAs
    probability: float | None
    distance_m: float | None


@dataclass(frozen=True)
class ReportStep:
    """One turn of the episode.

    Attributes:
        kind: how it is marked.
        label: which step of the plan or of a recovery it is.
        heading: the action in words.
        action: the action as in the plan.
        verdict: what was found, in a few words.
        recovering: whether the action belongs to a recovery.
        pictures: before and after.
        scenes: expected and observed.
        sound: what was heard.
        lines: the sentences.
        rows: the objects.
        numbers: name and value of what is measured.
        ends_s: when it ended, seconds since the start; in the film, if there is one.
    """

    kind: MarkedAs
    label: str
    heading: str
    action: str
    verdict: str
    recovering: bool
    pictures: tuple[OutlinedPhoto, ...]
    scenes: tuple[SceneView, ...]
    sound: Sound | None
    lines: tuple[Line, ...]
    rows: tuple[Row, ...]
    numbers: tuple[tuple[str, str], ...]
    ends_s: float = 0.0


class Mark(StrEnum):
    """What an entry of the way is."""

    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    HELPED = "helped"
    RECOVERY = "recovery"
    PROPOSED = "proposed"
    VETOED = "vetoed"
    SKIPPED = "skipped"
    REJOIN = "rejoin"
    NOT_DONE = "not_done"


MARK_WORDS: Mapping[Mark, tuple[str, str]] = {
    Mark.DONE: ("✓", "done"),
    Mark.FAILED: ("✗", "not as expected"),
    Mark.STOPPED: ("✗", "not carried out"),
    Mark.HELPED: ("+", "ahead of the plan"),
    Mark.RECOVERY: ("↺", "recovery"),
    Mark.PROPOSED: ("↺", "recovery, not carried out"),
    Mark.VETOED: ("⊘", "vetoed, not carried out"),
    Mark.SKIPPED: ("⤼", "skipped"),
    Mark.REJOIN: ("→", "back on the plan"),
    Mark.NOT_DONE: ("·", "not done"),
}
"""Symbol and words of each."""


@dataclass(frozen=True)
class WayEntry:
    """A line of the list of what was done.

    Attributes:
        mark: what it is.
        number: of the step in the plan; None for actions of a recovery.
        text: in words.
        action: as in the plan; empty if it is none.
        step: number in `Report.steps` that shows it; None if none does.
    """

    mark: Mark
    number: int | None
    text: str
    action: str
    step: int | None


@dataclass(frozen=True)
class Curve:
    """The anytime search: costs of the ways found over time.

    Attributes:
        seconds: when each was found.
        costs: of each.
        expansions: nodes expanded until then.
        end_s: when the search ended.
        lower_bound: no way costs less; None if nothing is known.
        proven: whether the last one is proven to be the cheapest.
        label: of the step.
        unit: what costs count, as a plural noun.
    """

    seconds: tuple[float, ...]
    costs: tuple[float, ...]
    expansions: tuple[int, ...]
    end_s: float
    lower_bound: float | None
    proven: bool
    label: str
    unit: str


@dataclass(frozen=True)
class Download:
    """A file in the page."""

    name: str
    label: str
    size: str
    href: str


@dataclass(frozen=True)
class Report:
    """Everything that the page shows.

    Attributes:
        title: of the page.
        description: what the run was about; may be empty.
        summary: what happened, in one sentence.
        outcome: the outcome in two or three words.
        outcome_kind: how it is marked.
        answers: to the questions of readers.
        steps: every turn.
        shown: number of the step that is shown first.
        way: what was done, with the recoveries.
        curves: of every search for a recovery.
        images: the photographs, each once.
        film: a film as data URI; empty if there is none.
        notes: what is missing in the page and why.
        downloads: the raw data.
    """

    title: str
    description: str
    summary: str
    outcome: str
    outcome_kind: MarkedAs
    answers: tuple[ReaderAnswer, ...]
    steps: tuple[ReportStep, ...]
    shown: int
    way: tuple[WayEntry, ...]
    curves: tuple[Curve, ...]
    images: tuple[Image, ...]
    film: str
    notes: tuple[str, ...]
    downloads: tuple[Download, ...]
