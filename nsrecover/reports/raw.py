"""The raw data of an episode as JSON."""

from __future__ import annotations

import json

from nsrecover.core.actions import Action, Plan
from nsrecover.core.episode import Episode
from nsrecover.core.facts import FactScene
from nsrecover.records import episode_log
from nsrecover.util.json_data import Json, to_json

FACTS_FORMAT = "nsrecover episode of facts"
"""Value of the field `format` for scenes of facts; scene graphs have the format of `nsrecover.records.episode_log`."""


def raw_json(episode: Episode) -> bytes:
    """The episode: the log that `nsrecover explain` reads, or the same fields with scenes of facts."""
    document = episode_log.to_document(episode)
    if isinstance(episode.start, FactScene):
        fields = to_json(episode, {Action: str, Plan: lambda plan: list(map(str, plan)), FactScene: _scene})
        document = {"format": FACTS_FORMAT, "schema": 1, **fields}
    return json.dumps(document, ensure_ascii=False).encode()


def _scene(scene: FactScene) -> Json:
    sure = {f"{prop} of {name}": p for (prop, name), p in sorted(scene.certainty.items())}
    return {"facts": to_json(scene.facts), "certainty": to_json(sure, digits=4)}
