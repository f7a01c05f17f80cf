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
from typing import Any

import numpy as np

from nsrecover.core.actions import Action, Plan
from nsrecover.core.scene import Box
from nsrecover.errors import InvalidRecording, NsrecoverError
from nsrecover.perception.objects.boxes import scene_of_boxes
from nsrecover.records.arrays import check_readable
from nsrecover.util.atomic_write import atomic_write
from nsrecover.util.untrusted_json import read_json

FORMAT = "nsrecover boxes"
"""Value of the field `format`."""

SCHEMA = 1
"""Version of the file format; readers refuse any other."""

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
    notes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.scenes) != len(self.plan) + 1:
            raise InvalidRecording(
                f"expected {len(self.plan) + 1} scenes for {len(self.plan)} actions, found {len(self.scenes)}; record "
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
        "schema": SCHEMA,
        "plan": [str(action) for action in recording.plan],
        **({"targets": targets} if any(targets) else {}),
        "scenes": [
            {name: None if box is None else np.asarray(box, float).round(5).tolist() for name, box in scene.items()}
            for scene in recording.scenes
        ],
        "notes": dict(recording.notes),
    }
    with atomic_write(path) as file:
        file.write(json.dumps(document, ensure_ascii=False).encode())


def load(path: str | Path) -> BoxesRecording:
    """Read a recording.

    Raises:
        InvalidRecording: the file does not exist or is no recording of boxes.
    """
    try:
        document = read_json(path)
    except OSError as problem:
        raise InvalidRecording(f"expected recorded boxes at {path}, found no file ({problem.strerror})") from problem
    except ValueError as problem:
        raise InvalidRecording(f"expected recorded boxes as JSON in {path}, found: {problem}") from problem
    if not isinstance(document, dict) or document.get("format") != FORMAT or document.get("schema") != SCHEMA:
        raise InvalidRecording(
            f"expected recorded boxes (format {FORMAT!r}, schema {SCHEMA}) in {path}, found something else; write them "
            "with `nsrecover record` or nsrecover.records.boxes_recording.save"
        )
    try:
        actions = Plan.parse(document["plan"]).actions if document["plan"] else ()
        targets = document.get("targets") or [None] * len(actions)
        plan = Plan(
            tuple(
                Action(action.operator, action.arguments, None if target is None else tuple(map(float, target)))  # type: ignore[arg-type]
                for action, target in zip(actions, targets, strict=True)
            )
        )
        return BoxesRecording(plan, tuple(dict(scene) for scene in document["scenes"]), dict(document.get("notes", {})))
    except (NsrecoverError, KeyError, TypeError, ValueError, AttributeError) as problem:
        raise InvalidRecording(
            f"expected a plan and its boxes in {path}, found: {problem}; record it again"
        ) from problem
