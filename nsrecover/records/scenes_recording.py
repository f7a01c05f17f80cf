"""Recorded runs of users without images: a plan and a scene before, between and after its actions, as JSON.

    {"format": "nsrecover boxes", "schema": 1, "plan": ["top(red, blue)"],
     "scenes": [{"red": [0.4, 0.1, 0.02, 0.04, 0.04, 0.04], "blue": [...]}, {"red": [...], "blue": null}], "notes": {}}

    {"format": "nsrecover facts", "schema": 1, "plan": ["pick_up(mug)"],
     "scenes": [{"facts": [["at", "mug", "table"]]}, {"facts": [["holding", "mug"]]}], "notes": {}}

A box is centre x, y, z and size x, y, z in metres, then its turn about the vertical in radians or its quaternion
x, y, z, w if one is known; null stands for an object that cannot be seen. `targets` may hold
the box that an action should lead to, or null, for each action. A fact is a predicate and its objects; what is not
listed does not hold. `certainty` may say how sure the facts about a property are, as
`[[["place", "mug"], 0.4]]`: 0 if nothing is known, 1 where not listed.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nsrecover.core import FactScene, Plan
from nsrecover.errors import InvalidRecording
from nsrecover.perception.objects.boxes import scene_of_boxes
from nsrecover.records.reading import check_readable, plan_with_targets, read_document, readable
from nsrecover.util.atomic_write import atomic_write
from nsrecover.util.english import amount
from nsrecover.util.json_data import from_json, to_json
from nsrecover.util.untrusted_json import JsonMapping, read_json

BOXES, FACTS = "nsrecover boxes", "nsrecover facts"
"""Values of the field `format`."""

Boxes = Mapping[str, tuple[float, ...] | None]


@dataclass(frozen=True)
class ScenesRecording:
    """The scenes of one run.

    Attributes:
        plan: the T actions that were carried out.
        scenes: T + 1 scenes of one kind; `scenes[t]` follows t actions. Name -> box (centre and size, metres) or None;
            or facts.
        notes: anything that JSON can represent.
    """

    plan: Plan
    scenes: tuple[Boxes, ...] | tuple[FactScene, ...]
    notes: JsonMapping = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.scenes) != len(self.plan) + 1:
            raise InvalidRecording(
                f"expected {amount(len(self.plan) + 1, 'scene')} for {amount(len(self.plan), 'action')}, "
                f"found {len(self.scenes)}; record "
                "one before the first action and one after each"
            )
        for scene in self.scenes:
            if not isinstance(scene, FactScene):
                scene_of_boxes(scene)


def save(recording: ScenesRecording, path: str | Path) -> None:
    """Write a recording atomically.

    Raises:
        InvalidRecording: an action cannot be written as text and read again.
    """
    check_readable(recording.plan)
    targets = [action.target for action in recording.plan]
    document = {
        "format": FACTS if isinstance(recording.scenes[0], FactScene) else BOXES,
        "schema": 1,
        "plan": [str(action) for action in recording.plan],
        **({"targets": targets} if any(targets) else {}),
        "scenes": to_json(recording.scenes, digits=5),
        "notes": dict(recording.notes),
    }
    with atomic_write(path) as file:
        file.write(json.dumps(document, ensure_ascii=False).encode())


def is_recording(path: Path) -> bool:
    """Whether a file is a recording of scenes."""
    try:
        document = read_json(path)
    except (OSError, ValueError):
        return False
    return isinstance(document, dict) and document.get("format") in (BOXES, FACTS)


def load(path: str | Path) -> ScenesRecording:
    """Read a recording.

    Raises:
        InvalidRecording: the file does not exist or is no recording of scenes.
    """
    document = read_document(path, (BOXES, FACTS), "recorded boxes or facts, as `nsrecover record` writes them,")
    with readable(f"a plan and its scenes in {path}"):
        plan = plan_with_targets(document["plan"], document.get("targets"))
        notes = dict(document.get("notes", {}))
        if document["format"] == FACTS:
            facts = from_json(tuple[FactScene, ...], document["scenes"], where="scenes")
            return ScenesRecording(plan, facts, notes)
        boxes = from_json(tuple[dict[str, tuple[float, ...] | None], ...], document["scenes"], where="scenes")
        return ScenesRecording(plan, boxes, notes)
