"""An episode of an error dataset as data: one JSON line."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from nsrecover.core.actions import Plan
from nsrecover.errors import InvalidConfiguration, NsrecoverError
from sim.common.cameras import DAYLIGHT, Light
from sim.common.faults import action_from, to_plain
from sim.tabletop.faults import Fault, fault_from_dict
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.scenes import SceneSpec

SCHEMA = 3
"""Version of the line and of the generation from numbers; increase it when either changes."""
READABLE = (1, 2, SCHEMA)
"""Versions that are read: in version 1 all faults strike as they are written, also those of dataset II."""

Parsed = TypeVar("Parsed")

CONSEQUENCE = "consequence"
"""Cause of an object that no fault touched directly: an object fell on it or from under it."""
NATURAL = "natural"
"""Cause of all errors in episodes without faults."""


@dataclass(frozen=True)
class StepError:
    """The error after a step, by the ground truth.

    Attributes:
        step: number of the action, from 0.
        deviations: object -> difference to the fault-free run, in words (`truth.deviations`).
        causes: the same objects -> the fault that touched it, `CONSEQUENCE` or `NATURAL`.
    """

    step: int
    deviations: Mapping[str, str]
    causes: Mapping[str, str]


@dataclass(frozen=True)
class ErrorEpisode:
    """An episode: everything that determines how it runs, and its ground truth.

    Attributes:
        dataset: which dataset it belongs to.
        number: its number there.
        scene: its start.
        plan: the robot's plan.
        faults: injected faults, each at a step of the plan.
        seed: of the world.
        light: the light of the scene.
        errors: the ground truth; all other steps succeed.
        recoverable: whether the robot can return to the plan.
        reason: why it cannot, in a word: `gone`, `out_of_reach` or `support_missing`.
        fidelity: how much of a pick-and-place is simulated.
        drawn_in_place: whether faults are drawn again that would throw an object out of reach, or change nothing, in
            the scene in which they strike; after recoveries it differs from the one in which they were drawn.
    """

    dataset: str
    number: int
    scene: SceneSpec
    plan: Plan
    faults: tuple[Fault, ...]
    seed: int
    light: Light = DAYLIGHT
    errors: tuple[StepError, ...] = ()
    recoverable: bool = True
    reason: str = ""
    fidelity: Fidelity = Fidelity.PHYSICS
    drawn_in_place: bool = False

    def faults_at(self, step: int) -> tuple[Fault, ...]:
        """The faults that strike at a step of the plan."""
        return tuple(fault for fault in self.faults if fault.at_step == step)

    def to_json(self) -> str:
        """One line of JSON, without a line feed."""
        data = {
            "schema": SCHEMA,
            "dataset": self.dataset,
            "number": self.number,
            "seed": self.seed,
            "scene": self.scene.to_dict(),
            "plan": [to_plain(action) for action in self.plan],
            "faults": [fault.to_dict() for fault in self.faults],
            "light": asdict(self.light),
            "errors": [asdict(error) for error in self.errors],
            "recoverable": self.recoverable,
            "reason": self.reason,
            "drawn_in_place": self.drawn_in_place,
        }
        if self.fidelity is not Fidelity.PHYSICS:
            data["fidelity"] = self.fidelity.value
        return json.dumps(data, sort_keys=True)

    @classmethod
    def from_json(cls, line: str) -> ErrorEpisode:
        """The inverse of `to_json`.

        Raises:
            InvalidConfiguration: the line is not an episode of this schema.
        """
        with parsing(line, "an error dataset", READABLE) as data:
            light: dict[str, Any] = {
                key: tuple(value) if isinstance(value, list) else value for key, value in data["light"].items()
            }
            return cls(
                dataset=str(data["dataset"]),
                number=int(data["number"]),
                scene=SceneSpec.from_dict(data["scene"]),
                plan=Plan(tuple(action_from(item, "the plan") for item in data["plan"])),
                faults=tuple(fault_from_dict(item) for item in data["faults"]),
                seed=int(data["seed"]),
                light=Light(**light),
                errors=tuple(StepError(**item) for item in data["errors"]),
                recoverable=bool(data["recoverable"]),
                reason=str(data["reason"]),
                fidelity=Fidelity(data.get("fidelity", Fidelity.PHYSICS)),
                drawn_in_place=bool(data.get("drawn_in_place", False)),
            )


@contextmanager
def parsing(line: str, what: str, schemas: Collection[int]) -> Iterator[dict[str, Any]]:
    """The data of the line of an episode; a problem with them is an `InvalidConfiguration`.

    Args:
        line: JSON.
        what: the dataset, for messages.
        schemas: those that are read, the last one the present one.
    """
    try:
        data = json.loads(line)
        if data["schema"] not in schemas:
            raise InvalidConfiguration(
                f"expected an episode of schema {max(schemas)}, found schema {data['schema']}; "
                "generate the dataset again"
            )
        yield data
    except NsrecoverError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise InvalidConfiguration(
            f"expected an episode of {what}, found a line that is none ({problem!r}); generate the dataset again"
        ) from None


def read_episodes(path: str | Path) -> Iterator[ErrorEpisode]:
    """The episodes of a dataset of the tabletop, in order; arguments and errors as for `parsed_episodes`."""
    return parsed_episodes(path, ErrorEpisode.from_json, "I")


def parsed_episodes(path: str | Path, parse: Callable[[str], Parsed], example: str) -> Iterator[Parsed]:
    """The episodes of a dataset, in order.

    Args:
        path: an `episodes.jsonl`, or a folder with one.
        parse: an episode from its line.
        example: name of such a dataset, for messages.

    Raises:
        InvalidConfiguration: there is no such file, or a line is not an episode; the message has its number.
    """
    path = Path(path)
    path = path / EPISODES if path.is_dir() else path
    if not path.is_file():
        raise InvalidConfiguration(
            f"expected an error dataset at {path}, found no file; run `python -m sim.datasets dataset={example}` first"
        )
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield parse(line)
            except NsrecoverError as problem:
                raise InvalidConfiguration(f"{path}, line {number}: {problem}") from None


EPISODES = "episodes.jsonl"
"""Name of a dataset's file in its folder."""
