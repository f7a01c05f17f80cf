"""The raw data of an episode as JSON."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from nsrecover.core.actions import Action, Plan
from nsrecover.core.episode import Episode
from nsrecover.core.facts import FactScene
from nsrecover.records import episode_log

FACTS_FORMAT = "nsrecover episode of facts"
"""Value of the field `format` for scenes of facts; scene graphs have the format of `nsrecover.records.episode_log`."""


def raw_json(episode: Episode) -> bytes:
    """The episode: the log that `nsrecover explain` reads, or the same fields with scenes of facts."""
    if isinstance(episode.start, FactScene):
        document = {"format": FACTS_FORMAT, "schema": 1, **_plain(episode)}
    else:
        document = episode_log.to_document(episode)
    return json.dumps(document, ensure_ascii=False).encode()


def _plain(value: Any) -> Any:
    """Any value of an episode as JSON data: data classes as objects, facts as lists, sets in order."""
    match value:
        case Action():
            return str(value)
        case Plan():
            return [str(action) for action in value]
        case FactScene():
            sure = {f"{prop} of {name}": round(float(p), 4) for (prop, name), p in sorted(value.certainty.items())}
            return {"facts": sorted(map(list, value.facts)), "certainty": sure}
        case Enum():
            return value.value
        case float():
            return round(value, 6) if abs(value) < float("inf") else None
        case tuple() | list():
            return [_plain(each) for each in value]
        case frozenset():
            return sorted(map(_plain, value))
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return value
