"""A page about one episode: what happened step by step, drawn, explained, and the way back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nsrecover.core.discrepancy import Verdict
from nsrecover.core.episode import Episode, StepRecord
from nsrecover.core.extras import needs_extra
from nsrecover.errors import InvalidRecording
from nsrecover.explanation.drawing import FROM_ABOVE, best_side, draw
from nsrecover.explanation.episodes import report_of_episode
from nsrecover.records import episode_log
from nsrecover.records.review import episode_of, review, system_for
from nsrecover.records.runs import read_run

HEADINGS = {
    Verdict.AS_EXPECTED: "as expected",
    Verdict.DEVIATING: "not as expected",
    Verdict.CANNOT_TELL: "cannot tell",
}


def episode_at(path: str, checkpoint: Path | None) -> Episode:
    """The episode of a log, or of a recorded run that is reviewed now.

    Raises:
        InvalidRecording: the file is neither.
    """
    place = Path(path)
    if place.suffix == ".json" and place.is_file():
        try:
            document = json.loads(place.read_text(encoding="utf-8"))
        except ValueError as problem:
            raise InvalidRecording(f"expected JSON in {path}, found: {problem}") from problem
        if episode_log.is_episode(document):
            return episode_log.from_document(document, path)
    run = read_run(path)
    return episode_of(list(review(system_for([run], checkpoint), run)), run)


def page_of(episode: Episode, title: str) -> str:
    """The page as HTML that needs no other file; text is escaped.

    Raises:
        InvalidConfiguration: the extra `report` is not installed.
    """
    with needs_extra("report", "jinja2"):
        from jinja2 import Environment, PackageLoader
    environment = Environment(loader=PackageLoader("nsrecover.onboarding", "pages"), autoescape=True)
    return environment.get_template("episode.html.jinja").render(
        title=title,
        text=report_of_episode(episode)["text"],
        turns=[_turn(number, record) for number, record in enumerate(episode.records, start=1)],
    )


def _turn(number: int, record: StepRecord) -> dict[str, Any]:
    found, recovery = record.discrepancy, record.recovery
    action = record.action if record.action is not None else "before the next action"
    wrong = not found.as_expected
    return {
        "verdict": found.verdict.value,
        "heading": f"{number}. {action}: {HEADINGS[found.verdict]}",
        "text": record.explanation.text if record.explanation is not None else "",
        "way": "; ".join(map(str, recovery.actions)) if recovery is not None and recovery.found else "",
        "drawings": _drawings(record) if wrong else (),
    }


def _drawings(record: StepRecord) -> list[str]:
    """The observed scene from above and from one side; expected places of deviating objects are dashed."""
    found = record.discrepancy
    boxes = [*found.expected.boxes, *found.observed.boxes]
    return [
        draw(found.observed, view, view.frame(boxes), found.deviating, found.expected)
        for view in (FROM_ABOVE, best_side(found.expected, found.observed))
    ]
