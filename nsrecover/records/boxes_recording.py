"""Recorded runs of users without images: a plan and boxes by name before, between and after its actions, as JSON.

    {"format": "nsrecover boxes", "schema": 1, "plan": ["top(red, blue)"],
     "scenes": [{"red": [0.4, 0.1, 0.02, 0.04, 0.04, 0.04], "blue": [...]}, {"red": [...], "blue": null}], "notes": {}}

A box is centre x, y, z and size x, y, z in metres; null stands for an object that cannot be seen. `targets` may hold
the box that an action was to lead to, or null, for each action.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nsrecover.core import Box, Plan
from nsrecover.errors import InvalidRecording
from nsrecover.perception.objects.boxes import scene_of_boxes
from nsrecover.records.reading import check_readable, plan_with_targets, read_document, readable
from nsrecover.util.atomic_write import atomic_write
from nsrecover.util.english import amount
from nsrecover.util.json_data import from_json, to_json
from nsrecover.util.untrusted_json import JsonMapping

FORMAT = "nsrecover boxes"
"""Value of the field `format`."""

Boxes = Mapping[str, Box | None]


@dataclass(frozen=True)
class BoxesRecording:
    """The boxes of one run.

    Attributes:
        plan: the T actions that were carried out.
        scenes: T + 1 scenes, name -> box (centre and size, metres) or None; `scenes[t]` follows t actions.
        notes: anything that JSON can represent.
    """

    plan: Plan
    scenes: tuple[Boxes, ...]
    notes: JsonMapping = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.scenes) != len(self.plan) + 1:
            raise InvalidRecording(
                f"expected {amount(len(self.plan) + 1, 'scene')} for {amount(len(self.plan), 'action')}, "
                f"found {len(self.scenes)}; record "
                "one before the first action and one after each"
            )
        for scene in self.scenes:
            scene_of_boxes(scene)


def save(recording: BoxesRecording, path: str | Path) -> None:
    """Write a recording atomically.

    Raises:
        InvalidRecording: an action cannot be written as text and read again.
    """
    check_readable(recording.plan)
    targets = [action.target for action in recording.plan]
    document = {
        "format": FORMAT,
        "schema": 1,
        "plan": [str(action) for action in recording.plan],
        **({"targets": targets} if any(targets) else {}),
        "scenes": to_json(recording.scenes, digits=5),
        "notes": dict(recording.notes),
    }
    with atomic_write(path) as file:
        file.write(json.dumps(document, ensure_ascii=False).encode())


def load(path: str | Path) -> BoxesRecording:
    """Read a recording.

    Raises:
        InvalidRecording: the file does not exist or is no recording of boxes.
    """
    document = read_document(path, FORMAT, "recorded boxes, as `nsrecover record` writes them,")
    with readable(f"a plan and its boxes in {path}"):
        plan = plan_with_targets(document["plan"], document.get("targets"))
        scenes = from_json(tuple[dict[str, Box | None], ...], document["scenes"], where="scenes")
        return BoxesRecording(plan, scenes, dict(document.get("notes", {})))
