"""A recorded action whose outcome is a distribution, as data: one JSON line. Dataset XI has such lines."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from nsrecover.errors import InvalidConfiguration
from nsrecover.models.outcomes.scene import Array, ContactAction, ContactScene
from nsrecover.util.untrusted_json import parse_json

SCHEMA = 1
"""Version of the line and of the generation from numbers; increase it when either changes."""
GOOD = "good"
ERRORS = ("missed", "blocked", "stuck", "neighbour_moved", "wrong_object")
"""What can go wrong; drops have the first and the last two."""


@dataclass(frozen=True, eq=False)
class ContactEpisode:
    """One action, what is seen before and after it, and the truth.

    Attributes:
        number: its number in the dataset.
        kind: `GOOD` or one of `ERRORS`.
        scene: as it is seen before the action.
        action: what the robot was to do, in that scene.
        after: (N, 3) centres as they are seen afterwards, metres.
        before_truth: (N, 3) true centres before.
        after_truth: (N, 3) true centres afterwards.
        culprits: indices of the objects that are wrong; none in a good episode.
    """

    number: int
    kind: str
    scene: ContactScene
    action: ContactAction
    after: Array
    before_truth: Array
    after_truth: Array
    culprits: tuple[int, ...] = ()

    @property
    def moved(self) -> Array:
        """(N, 3) seen displacements in the axes of the action, metres."""
        return self.action.to_action(self.after - self.scene.centres)

    def to_json(self) -> str:
        """One line of JSON, without a line feed."""
        scene, action = self.scene, self.action
        data = {
            "schema": SCHEMA,
            "dataset": "XI",
            "number": self.number,
            "kind": self.kind,
            "shapes": scene.shapes.tolist(),
            "centres": _short(scene.centres),
            "sizes": _short(scene.sizes),
            "yaws": _short(scene.yaws),
            "operator": action.operator,
            "target": action.target,
            "start": _short(action.start),
            "direction": _short(action.direction, 7),
            "distance": round(action.distance, 5),
            "after": _short(self.after),
            "before_truth": _short(self.before_truth),
            "after_truth": _short(self.after_truth),
            "culprits": list(self.culprits),
        }
        return json.dumps(data)

    @classmethod
    def from_json(cls, line: str) -> ContactEpisode:
        """The inverse of `to_json`, up to 10 µm.

        Raises:
            InvalidConfiguration: the line is not an episode of this schema.
        """
        try:
            data = parse_json(line)
            if (data["schema"], data["dataset"]) != (SCHEMA, "XI"):
                raise ValueError(f"schema {data['schema']} of dataset {data['dataset']}")
            array = {
                key: np.asarray(data[key], dtype=np.float64)
                for key in ("centres", "sizes", "yaws", "start", "direction", "after", "before_truth", "after_truth")
            }
            scene = ContactScene(np.asarray(data["shapes"], np.int64), array["centres"], array["sizes"], array["yaws"])
            action = ContactAction(
                str(data["operator"]),
                int(data["target"]),
                array["start"],
                array["direction"],
                float(data["distance"]),
            )
            return cls(
                int(data["number"]),
                str(data["kind"]),
                scene,
                action,
                array["after"],
                array["before_truth"],
                array["after_truth"],
                tuple(int(i) for i in data["culprits"]),
            )
        except (ValueError, KeyError, TypeError) as problem:
            raise InvalidConfiguration(
                f"expected an episode of dataset XI, schema {SCHEMA}, found another line ({problem!r}); generate the "
                "dataset again"
            ) from None


def _short(values: Array, digits: int = 5) -> object:
    return np.round(values, digits).tolist()
