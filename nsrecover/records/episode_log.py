"""Episode logs: actions, scenes, discrepancies, recoveries and explanations of an episode as JSON, without images.

`RecoveryAgent.run` returns an `Episode`; `save` writes it and `load` reads it. Neither loads torch, so that
`nsrecover explain LOG` starts fast. Appearance features are not kept. Boxes are rounded to 0.01 mm.

A log has the fields of `Episode`, as `nsrecover.util.json_data` writes them. Its scenes are in the list `scenes`, each
once; the other fields have their numbers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from nsrecover.core.episode import Episode
from nsrecover.core.scene import Box, ObjectStates, SceneGraph, Visibility
from nsrecover.errors import InvalidRecording, NsrecoverError
from nsrecover.records.episode_checks import check_consistent
from nsrecover.util.atomic_write import atomic_write
from nsrecover.util.json_data import Json, from_json, to_json
from nsrecover.util.untrusted_json import read_json

FORMAT = "nsrecover episode"
"""Value of the field `format` of a log."""

SCHEMA = 2
"""Version of the file format; readers refuse any other."""

DIGITS = 5


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


def to_document(episode: Episode) -> dict[str, Json]:
    """Return the JSON document of an episode."""
    scenes: dict[int, Json] = {}

    def number(scene: SceneGraph) -> int:
        scenes.setdefault(id(scene), _scene(scene))
        return list(scenes).index(id(scene))

    fields = to_json(episode, {SceneGraph: number}, DIGITS)
    assert isinstance(fields, dict)
    return {"format": FORMAT, "schema": SCHEMA, **fields, "scenes": list(scenes.values())}


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
        scenes = [_read_scene(each) for each in document["scenes"]]

        def scene(number: Any) -> SceneGraph:
            if not isinstance(number, int) or not 0 <= number < len(scenes):
                raise InvalidRecording(f"expected the number of one of {len(scenes)} scenes, found {number!r}")
            return scenes[number]

        fields = {name: value for name, value in document.items() if name not in ("format", "schema", "scenes")}
        episode = from_json(Episode, fields, {SceneGraph: scene})
        check_consistent(episode)
        return episode
    except (NsrecoverError, KeyError, ValueError, TypeError, AttributeError) as problem:
        what = f"no {problem}" if isinstance(problem, KeyError) else str(problem)
        raise InvalidRecording(f"expected a whole log of an episode in {source}, found: {what}") from problem


def _scene(graph: SceneGraph) -> Json:
    by_visibility = {each: list[str]() for each in Visibility}
    for row, name in enumerate(graph.names):
        by_visibility[graph.visibility(row)].append(name)
    return {
        "boxes": to_json(dict(zip(graph.names, graph.boxes, strict=True)), digits=DIGITS),
        "unseen": [name for name, seen in zip(graph.names, graph.seen, strict=True) if not seen],
        "hidden": by_visibility[Visibility.OCCLUDED],
        "unknown": by_visibility[Visibility.UNKNOWN],
        "held": None if graph.held is None else graph.names[graph.held],
        "states": to_json(graph.states),
    }


def _read_scene(data: Any) -> SceneGraph:
    boxes = from_json(dict[str, Box], data["boxes"], where="boxes")
    states = from_json(dict[str, ObjectStates], data["states"], where="states")
    for chances in (each for variables in states.values() for each in variables.values()):
        if not all(0 <= chance <= 1 for chance in chances.values()):
            raise InvalidRecording(f"expected probabilities of values from 0 to 1, found {chances}")
    names = tuple(boxes)
    unseen, hidden, unknown = (np.isin(names, list(data[key])) for key in ("unseen", "hidden", "unknown"))
    return SceneGraph(
        names,
        np.zeros((len(names), 0), np.float32),
<<<<<<< HEAD
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
=======
        np.array(list(boxes.values()), np.float32).reshape(-1, 6),
        ~unseen,
        hidden if hidden.any() else None,
        None if data["held"] is None else names.index(data["held"]),
        states,
        unknown if unknown.any() else None,
>>>>>>> 9bc8d90023469dd91841c81234f66bf6f8b7e9ae
    )
