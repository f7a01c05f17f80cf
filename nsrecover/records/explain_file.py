"""Explanation of a file: the log of an episode, the log of another robot, or a recording with images."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nsrecover.core import Episode, LanguageModel
from nsrecover.domains.domain import Domain
from nsrecover.errors import InvalidRecording
from nsrecover.explanation.answers.episodes import report_of_episode
from nsrecover.explanation.answers.questions import QuestionAnswer, ask
from nsrecover.explanation.audience import Audience
from nsrecover.logs import explain_log, is_log, read_logs, report_of
from nsrecover.logs.questions import ask_log
from nsrecover.logs.reading import resembling
from nsrecover.records import episode_log, scenes_recording
from nsrecover.records.runs import is_bag, read_run
from nsrecover.util.untrusted_json import JsonObject, parse_json, read_text

GROUNDED_ONLY = (
    "all sentences are made from the facts: a model words logs of other robots here, and single failures of an episode "
    "in nsrecover.explanation.language_model.explainer.LanguageExplainer"
)
EXAMPLE = "example"
"""Name of the recording that comes with the package."""


@dataclass(frozen=True)
class Rewording:
    """The language model that rewords explanations.

    Attributes:
        model: the model; its sentences are verified.
        timeout_s: time limit for one log, seconds.
    """

    model: LanguageModel
    timeout_s: float = 20.0


def explain_file(
    path: Path,
    audience: Audience = Audience.LAY,
    questions: Sequence[str] = (),
    system: str | Path | None = None,
    words: Rewording | None = None,
) -> list[JsonObject]:
    """Explain a file; the learned parts are loaded only for a recording with images.

    Args:
        path: the log of an episode, logs of other robots in a format of `nsrecover.logs.reading`, or a recording.
        audience: readers of the text.
        questions: questions to answer about each log.
        system: what judges a recording, see `nsrecover.loading.system_at`; facts need one.
        words: rewords the explanations of logs of other robots; None: templates only.

    Returns:
        One report for each log, with `answers` if there are questions, and with `source` and `note` (why not all
        sentences come from the model) if there is a model.

    Raises:
        InvalidRecording: the file is of another kind, or damaged.
    """
    ours = {} if words is None else {"source": "grounded", "note": GROUNDED_ONLY}
    if path.suffix == ".npz" or is_bag(path) or (str(path) == EXAMPLE and not path.exists()):
        return [_of_episode(*_reviewed(path, system), audience, questions) | ours]
    try:
        document = parse_json(read_text(path))
    except (OSError, ValueError):
        document = None  # reported in detail below
    if isinstance(document, dict) and document.get("format") in (scenes_recording.BOXES, scenes_recording.FACTS):
        return [_of_episode(*_reviewed(path, system), audience, questions) | ours]
    if episode_log.is_episode(document):
        logged = episode_log.from_document(document, str(path)), episode_log.domain_of(document, str(path))
        return [_of_episode(*logged, audience, questions) | ours]
    if path.is_file() and not is_log(path):
        raise InvalidRecording(f"expected a log or a recorded episode (.npz), found {path}; {_resembling(path)}")
    found = []
    for log in read_logs(path):
        explained = explain_log(log)
        report = report_of(log, explained, audience)
        if words is not None:
            # Imported here, because it is slow and needed only with a model.
            from nsrecover.logs.rewording import reworded

            report |= reworded(log, explained, audience, words.model, words.timeout_s)
        if questions:
            report["answers"] = _answers(ask_log(log, questions, audience))
        found.append(report)
    return found


def _resembling(path: Path) -> str:
    """Which format of logs a file resembles."""
    try:
        return resembling(read_text(path))
    except (OSError, ValueError):
        return "it is no text"


def _of_episode(episode: Episode, domain: Domain, audience: Audience, questions: Sequence[str]) -> JsonObject:
    report = report_of_episode(episode, audience, domain)
    if questions:
        report["answers"] = _answers(ask(episode, questions, audience, domain))
    return report


def _answers(answers: Sequence[QuestionAnswer]) -> list[JsonObject]:
    return [vars(answer) | {"objects": list(answer.objects)} for answer in answers]


def _reviewed(path: Path, system: str | Path | None) -> tuple[Episode, Domain]:
    """Review a recording; the episode and its domain."""
    # Imported here, because it loads scipy, and torch for images, which logs do not need.
    from nsrecover.records.review import review, system_for

    recorded = read_run(path)
    judge = system_for([recorded], system)
    return review(judge, recorded), judge.domain
