"""Episode logs: actions, scenes, discrepancies, recoveries and explanations of an episode as JSON, without images.

`RecoveryAgent.run` returns an `Episode`; `save` writes it and `load` reads it. Neither loads torch, so that
`nsrecover explain LOG` starts fast. Appearance features are not kept. Boxes are rounded to 0.01 mm.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from nsrecover.core.actions import Action, Plan
from nsrecover.core.discrepancy import Cause, Deviation, Discrepancy, Phase, Unseen, UnseenReason
from nsrecover.core.episode import Episode, EpisodeStatus, StepRecord
from nsrecover.core.explanation import Explanation, Fact, Sentence
from nsrecover.core.recovery import Improvement, Recovery, RecoveryStatus
from nsrecover.core.scene import Box, SceneGraph, Visibility
from nsrecover.core.sensing import SensorFinding, SensorProblem
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.errors import InvalidRecording, NsrecoverError
from nsrecover.explanation.facts import violated_texts
from nsrecover.explanation.reasons import reason_text
from nsrecover.records.episode_checks import check_consistent
from nsrecover.util.atomic_write import atomic_write
from nsrecover.util.printable import printable
from nsrecover.util.untrusted_json import read_json

FORMAT = "nsrecover episode"
"""Value of the field `format` of a log."""

SCHEMA = 1
"""Version of the file format; readers refuse any other."""


def save(episode: Episode, path: str | Path) -> None:
    """Write the log of an episode atomically.

    Args:
        episode: from `RecoveryAgent.run`, or from `nsrecover.records.review.episode_of`.
        path: the file, usually `.json`; missing folders are created, an existing file is replaced.
    """
    with atomic_write(path) as file:
        file.write(json.dumps(to_document(episode), ensure_ascii=False).encode())


def load(path: str | Path) -> Episode:
    """Read the log of an episode.

    Args:
        path: a file written by `save`.

    Returns:
        The episode, without appearance features.

    Raises:
        InvalidRecording: the file does not exist, is not the log of an episode, or its parts contradict each other.
    """
    path = Path(path)
    try:
        document = read_json(path)
    except OSError as problem:
        raise InvalidRecording(
            f"expected the log of an episode at {path}, found none ({problem.strerror})"
        ) from problem
    except ValueError as problem:
        raise InvalidRecording(f"expected JSON in {path}, found: {problem}") from problem
    return from_document(document, str(path))


def is_episode(document: object) -> bool:
    """Return whether a JSON document is the log of an episode, of any version."""
    return isinstance(document, dict) and document.get("format") == FORMAT


def to_document(episode: Episode) -> dict[str, Any]:
    """Return the JSON document of an episode."""
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        **_fields(episode, "plan", "status", "reason", "start_s", "start"),
        "records": [_record(record) for record in episode.records],
    }


def from_document(document: object, source: str = "log") -> Episode:
    """Return the episode of a JSON document: the inverse of `to_document`.

    Args:
        document: the parsed JSON.
        source: name of the document in errors.

    Raises:
        InvalidRecording: the document is not the log of an episode, of another version, or its parts contradict each
            other, see `nsrecover.records.episode_checks`.
    """
    if not isinstance(document, dict) or not is_episode(document):
        raise InvalidRecording(f"expected the log of an episode (format {FORMAT!r}) in {source}, found something else")
    if document.get("schema") != SCHEMA:
        raise InvalidRecording(
            f"expected a log of schema {SCHEMA} in {source}, found schema {document.get('schema')}; write it again"
        )
    try:
        episode = Episode(
            _read_plan(document["plan"]),
            EpisodeStatus(document["status"]),
            printable(str(document["reason"])),
            _read_graph(document["start"]),
            tuple(_read_record(record) for record in document["records"]),
            float(document["start_s"]),
        )
        _check_verdicts(document, episode)
        check_consistent(episode)
        return episode
    except (NsrecoverError, KeyError, ValueError, TypeError, AttributeError) as problem:
        what = f"no {problem}" if isinstance(problem, KeyError) else str(problem)
        raise InvalidRecording(f"expected a whole log of an episode in {source}, found: {what}") from problem


# -- writing


def _plain(value: Any) -> Any:
    """Return a value of an episode as JSON data; coordinates are rounded."""
    match value:
        case StrEnum():
            return value.value
        case Action():
            return _fields(value, "operator", "arguments", *(() if value.target is None else ("target",)))
        case SceneGraph():
            return _graph(value)
        case Deviation():
            return _fields(value, "name", "cause", "probability", "expected", "observed", "other", "subgoal")
        case Unseen():
            return _fields(value, "name", "reason", "other", "moved")
        case SensorFinding():
            return _fields(value, "problem", "camera", "found", "compensated")
        case Recovery():
            return _recovery(value)
        case Improvement():
            return [round(value.seconds, 6), value.expansions, value.cost]
        case Explanation():
            return _fields(value, "step", "source", "verified", "sentences")
        case Sentence():
            return _fields(value, "text", "facts")
        case Fact():
            return [value.predicate, *value.arguments]
        case Plan() | tuple():
            return [round(float(each), 5) if isinstance(each, float | np.floating) else _plain(each) for each in value]
    return value


def _fields(value: object, *names: str) -> dict[str, Any]:
    return {name: _plain(getattr(value, name)) for name in names}


def _graph(graph: SceneGraph) -> dict[str, Any]:
    by_visibility = {each: list[str]() for each in Visibility}
    for row, name in enumerate(graph.names):
        by_visibility[graph.visibility(row)].append(name)
    return {
        "boxes": {name: _plain(tuple(box)) for name, box in zip(graph.names, graph.boxes.tolist(), strict=True)},
        "unseen": [name for name, seen in zip(graph.names, graph.seen, strict=True) if not seen],
        "hidden": by_visibility[Visibility.OCCLUDED],
        "unknown": by_visibility[Visibility.UNKNOWN],
        "held": None if graph.held is None else graph.names[graph.held],
        "states": {
            name: {variable: dict(chances) for variable, chances in states.items()}
            for name, states in graph.states.items()
        },
    }


def _record(record: StepRecord) -> dict[str, Any]:
    found = record.discrepancy
    return {
        **_fields(record, "action", "recovering", "time_s", "graph", "plan"),
        "discrepancy": {
            **_fields(found, "step", "phase", "action", "expected"),
            "probabilities": _plain(tuple(found.probabilities.tolist())),
            **_fields(found, "total", "threshold"),
            "violated": list(violated_texts(found)),
            "culprits": _plain(found.deviations),
            "verdict": found.verdict.value,
            **_fields(found, "unseen", "missing_to_tell", "sensors", "newcomers", "looks"),
        },
        **_fields(record, "recovery", "explanation"),
    }


def _recovery(recovery: Recovery) -> dict[str, Any]:
    return {
        **_fields(recovery, "status", "actions", "graphs", "subgoal", "rest", "staying"),
        "cost": recovery.cost if math.isfinite(recovery.cost) else None,
        **_fields(recovery, "proven_optimal", "expansions", "seconds"),
        "reason": reason_text(recovery),
        **_fields(recovery, "blamed", "improvements"),
    }


# -- reading

Read = TypeVar("Read")
_CAUSES = {cause.value: cause for cause in Cause}
_REASONS = {reason.value: reason for reason in UnseenReason}


def _check_verdicts(document: Mapping[str, Any], episode: Episode) -> None:
    """Check that verdicts, which older logs lack, are those that follow from the discrepancies."""
    for number, (data, record) in enumerate(zip(document["records"], episode.records, strict=True), start=1):
        found, follows = data["discrepancy"].get("verdict"), record.discrepancy.verdict
        if found not in (None, follows):
            raise InvalidRecording(f"record {number}: expected the verdict {follows}, found {found}")


def _optional(read: Callable[[Any], Read], value: Any) -> Read | None:
    return None if value is None else read(value)


def _box(values: Sequence[float]) -> Box:
    x, y, z, length, width, height = (float(value) for value in values)
    return (x, y, z, length, width, height)


def _read_action(data: Mapping[str, Any]) -> Action:
    return Action(str(data["operator"]), tuple(map(str, data["arguments"])), _optional(_box, data.get("target")))


def _read_plan(data: Sequence[Mapping[str, Any]]) -> Plan:
    return Plan(tuple(_read_action(action) for action in data))


def _read_graph(data: Mapping[str, Any]) -> SceneGraph:
    names = tuple(data["boxes"])
    boxes = np.array([_box(box) for box in data["boxes"].values()], np.float32).reshape(-1, 6)
    unseen, hidden, unknown = set(data["unseen"]), set(data["hidden"]), set(data.get("unknown", ()))
    return SceneGraph(
        names,
        np.zeros((len(names), 0), np.float32),
        boxes,
        np.array([name not in unseen for name in names], np.bool_),
        np.array([name in hidden for name in names], np.bool_) if hidden else None,
        _optional(names.index, data["held"]),
        {name: _read_states(states) for name, states in data["states"].items()},
        np.array([name in unknown for name in names], np.bool_) if unknown else None,
    )


def _read_states(data: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    states = {variable: {value: float(chance) for value, chance in each.items()} for variable, each in data.items()}
    for variable, chances in states.items():
        if not all(0 <= chance <= 1 for chance in chances.values()):
            raise InvalidRecording(f"expected probabilities from 0 to 1 of {variable!r}, found {chances}")
    return states


def _read_record(data: Mapping[str, Any]) -> StepRecord:
    graph, found = _read_graph(data["graph"]), data["discrepancy"]
    discrepancy = Discrepancy(
        step=int(found["step"]),
        phase=Phase(found["phase"]),
        action=_read_action(found["action"]),
        expected=_read_graph(found["expected"]),
        observed=graph,
        probabilities=np.array(found["probabilities"], np.float32),
        threshold=float(found["threshold"]),
        deviations=tuple(_read_culprit(culprit) for culprit in found["culprits"]),
        unmet=tuple(map(TABLETOP.fact, found["violated"])),
        unseen=tuple(map(_read_unseen, found.get("unseen", ()))),
        missing_to_tell=tuple(map(_read_missing, found.get("missing_to_tell", ()))),
        sensors=tuple(map(_read_finding, found.get("sensors", ()))),
        newcomers=tuple(map(str, found.get("newcomers", ()))),
        looks=int(found.get("looks", 1)),
    )
    return StepRecord(
        _optional(_read_action, data["action"]),
        bool(data["recovering"]),
        graph,
        discrepancy,
        _read_plan(data["plan"]),
        _optional(_read_recovery, data["recovery"]),
        _optional(_read_explanation, data["explanation"]),
        float(data["time_s"]),
    )


def _read_culprit(data: Mapping[str, Any]) -> Deviation:
    expected, observed = _box(data["expected"]), _optional(_box, data["observed"])
    return Deviation(
        name=str(data["name"]),
        cause=_CAUSES[data["cause"]],
        probability=float(data["probability"]),
        distance_m=math.inf if observed is None else math.dist(expected[:3], observed[:3]),
        expected=expected,
        observed=observed,
        other=data["other"],
        subgoal=data["subgoal"],
    )


def _read_unseen(data: Mapping[str, Any]) -> Unseen:
    return Unseen(str(data["name"]), _REASONS[data["reason"]], data["other"], bool(data["moved"]))


def _read_finding(data: Mapping[str, Any]) -> SensorFinding:
    problem, corrected = SensorProblem(data["problem"]), bool(data.get("compensated", False))
    return SensorFinding(problem, str(data["camera"]), str(data["found"]), corrected)


def _read_missing(data: Mapping[str, Any]) -> Unseen | SensorFinding:
    return _read_finding(data) if "problem" in data else _read_unseen(data)


def _read_recovery(data: Mapping[str, Any]) -> Recovery:
    return Recovery(
        status=RecoveryStatus(data["status"]),
        actions=tuple(_read_action(action) for action in data["actions"]),
        graphs=tuple(_read_graph(graph) for graph in data["graphs"]),
        subgoal=data["subgoal"],
        rest=tuple(_read_graph(graph) for graph in data["rest"]),
        staying=tuple(data["staying"]),
        cost=math.inf if data["cost"] is None else float(data["cost"]),
        proven_optimal=bool(data["proven_optimal"]),
        expansions=int(data["expansions"]),
        seconds=float(data["seconds"]),
        blamed=tuple(data["blamed"]),
        note=printable(str(data["reason"])),
        # logs of older versions have none
        improvements=tuple(Improvement(float(s), int(n), float(c)) for s, n, c in data.get("improvements", ())),
    )


def _read_explanation(data: Mapping[str, Any]) -> Explanation:
    return Explanation(
        sentences=tuple(
            Sentence(printable(str(each["text"])), tuple(Fact(fact[0], tuple(fact[1:])) for fact in each["facts"]))
            for each in data["sentences"]
        ),
        step=int(data["step"]),
        source=str(data["source"]),
        verified=bool(data["verified"]),
    )
