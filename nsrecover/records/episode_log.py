"""Episode logs: actions, scenes, discrepancies, recoveries and explanations of an episode as JSON, without images.

`RecoveryAgent.run` returns an `Episode`; `save` writes it and `load` reads it. Neither loads torch, so that
`nsrecover explain LOG` starts fast. Appearance features are not kept. Boxes are rounded to 0.01 mm.

A log has the fields of `Episode`, as `nsrecover.util.json_data` writes them. Its scenes are in the list `scenes`, each
once; the other fields have their numbers. If they are facts, `domain` has the words of their domain, so that the log
can be explained without the program that wrote it.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from nsrecover.core import (
    AnyDeviation,
    Box,
    Deviation,
    Episode,
    FactScene,
    ObjectStates,
    SceneGraph,
    StateFact,
    Visibility,
)
from nsrecover.core.episode import AnyEpisode
from nsrecover.domains.domain import Domain
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.errors import InvalidConfiguration
from nsrecover.records.episode_checks import check_consistent
from nsrecover.records.reading import check_document, read_document, readable
from nsrecover.util.atomic_write import atomic_write
from nsrecover.util.json_data import Json, Readers, from_json, to_json
from nsrecover.util.untrusted_json import InvalidJson, Parsed

FORMAT = "nsrecover episode"
"""Value of the field `format` of a log."""

SCHEMA = 2
"""Version of the file format; readers refuse any other."""
GONE = frozenset({"cause"})
"""Fields of a discrepancy that earlier logs of this version have."""

WHAT = "the log of an episode"
DIGITS = 5


_WORDS = ("name", "kinds", "traits", "variables", "relations", "operators", "words", "cost_unit")
"""The fields of a domain that are needed to put its facts and actions into words."""


def save(episode: AnyEpisode, path: str | Path, domain: Domain | None = None) -> None:
    """Write the log of an episode atomically.

    Args:
        episode: from `RecoveryAgent.run`, or from `nsrecover.records.review.review`.
        path: the file, usually `.json`; missing folders are created, an existing file is replaced.
        domain: `System.domain`; needed for scenes of facts.

    Raises:
        InvalidConfiguration: there are scenes of facts and no domain.
    """
    document = to_document(episode, domain)
    with atomic_write(path) as file:
        file.write(json.dumps(document, ensure_ascii=False).encode())


def load(path: str | Path) -> AnyEpisode:
    """Read the log of an episode.

    Args:
        path: a file written by `save`.

    Returns:
        The episode, without appearance features; its scenes are scene graphs or facts.

    Raises:
        InvalidRecording: the file does not exist, is not the log of an episode, or its parts contradict each other.
    """
    return from_document(read_document(path, (FORMAT,), WHAT, SCHEMA), str(path))


def is_episode(document: object) -> bool:
    """Return whether a JSON document is the log of an episode, of any version."""
    return isinstance(document, dict) and document.get("format") == FORMAT


def to_document(episode: AnyEpisode, domain: Domain | None = None) -> dict[str, Json]:
    """Return the JSON document of an episode; arguments and errors as for `save`."""
    scenes: dict[int, Json] = {}

    def number(scene: SceneGraph | FactScene) -> int:
        scenes.setdefault(id(scene), to_json(scene, digits=DIGITS) if isinstance(scene, FactScene) else _scene(scene))
        return list(scenes).index(id(scene))

    fields = to_json(episode, {SceneGraph: number, FactScene: number}, DIGITS)
    assert isinstance(fields, dict)
    document = {"format": FORMAT, "schema": SCHEMA, **fields, "scenes": list(scenes.values())}
    return document if isinstance(episode.start, SceneGraph) else document | {"domain": _words_of(domain)}


def domain_of(document: object, source: str = "log") -> Domain:
    """Return the domain of a JSON document, which has words and no conditions and effects; by default the tabletop.

    Raises:
        InvalidRecording: the document is not the log of an episode, or of another version.
    """
    words = check_document(document, (FORMAT,), WHAT, source, SCHEMA).get("domain")
    if words is None:
        return TABLETOP
    with readable(f"the words of a domain in {source}"):
        return from_json(Domain, words, where="domain")


def from_document(document: object, source: str = "log") -> AnyEpisode:
    """Return the episode of a JSON document: the inverse of `to_document`.

    Args:
        document: the parsed JSON.
        source: name of the document in errors.

    Raises:
        InvalidRecording: the document is not the log of an episode, of another version, or its parts contradict each
            other, see `nsrecover.records.episode_checks`.
    """
    known = check_document(document, (FORMAT,), WHAT, source, SCHEMA)
    with readable(f"a whole log of an episode in {source}"):
        scenes = [_read_scene(each) for each in known["scenes"]]
        value: Any = tuple[StateFact, ...] if isinstance(scenes[0], FactScene) else Box

        def scene(number: Parsed) -> SceneGraph | FactScene:
            if not isinstance(number, int) or not 0 <= number < len(scenes):
                raise InvalidJson(f"expected the number of one of {len(scenes)} scenes, found {number!r}")
            return scenes[number]

        fields = {name: value for name, value in known.items() if name not in ("format", "schema", "scenes", "domain")}
        fields["records"] = [_without_gone(record) for record in fields["records"]]
        readers: Readers = {SceneGraph: scene, AnyDeviation: lambda data: from_json(Deviation[value], data)}
        episode = from_json(Episode[SceneGraph], fields, readers)
        check_consistent(episode)
        return episode


def _without_gone(record: Parsed) -> Parsed:
    """A record without fields of discrepancies that are written no more."""
    found = record.get("discrepancy")
    return record if found is None else {**record, "discrepancy": {k: v for k, v in found.items() if k not in GONE}}


def _words_of(domain: Domain | None) -> Json:
    if domain is None:
        raise InvalidConfiguration("expected the domain of scenes of facts, found none; pass domain=system.domain")
    plain = {name: replace(each, preconditions=(), effects=()) for name, each in domain.operators.items()}
    return {name: to_json(plain if name == "operators" else getattr(domain, name)) for name in _WORDS}


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


def _read_scene(data: Parsed) -> SceneGraph | FactScene:
    if "facts" in data:
        return from_json(FactScene, data)
    boxes = from_json(dict[str, Box], data["boxes"], where="boxes")
    states = from_json(dict[str, ObjectStates], data["states"], where="states")
    for chances in (each for variables in states.values() for each in variables.values()):
        if not all(0 <= chance <= 1 for chance in chances.values()):
            raise ValueError(f"expected probabilities of values from 0 to 1, found {chances}")
    names = tuple(boxes)
    unseen, hidden, unknown = (np.isin(names, list(data[key])) for key in ("unseen", "hidden", "unknown"))
    return SceneGraph(
        names,
        np.zeros((len(names), 0), np.float32),
        np.array(list(boxes.values()), np.float32).reshape(-1, 6),
        ~unseen,
        hidden if hidden.any() else None,
        None if data["held"] is None else names.index(data["held"]),
        states,
        unknown if unknown.any() else None,
    )
