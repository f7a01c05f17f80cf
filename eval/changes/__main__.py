"""`python -m eval.changes`: errors noticed and false alarms where place alone does not show what happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from eval.changes.rules import Found, by_rule, pair_of
from eval.common.systems import check_checkpoint, system_of
from eval.metrics import comparison, share, total
from eval.run import Settings, run
from nsrecover.core import Action, FloatArray, Observation, Plan
from nsrecover.errors import InvalidObservation
from nsrecover.perception.objects.association import LooksGate
from nsrecover.perception.objects.detections import AppearanceModel
from nsrecover.perception.perceiver import ScenePerceiver
from nsrecover.system import System
from sim.datasets.changes.episodes import Episode, Event, episode

OURS, WITHOUT, RULE = "ours", "ours without appearance", "place and appearance rule"
FAR_M = 0.03
"""What is said of a place farther from all objects than this, beside their size, is said of none."""
KINDS = {"missing": Event.MISSING, "replaced": Event.REPLACED, "changed": Event.STATE}
"""Causes that are no move."""


@dataclass
class ChangesConfig(Settings):
    """Measure which changes are noticed that place alone does not show, against a rule of place and colour (VIII).

      python -m eval.changes                              300 pairs; half an hour on 2 cores
      python -m eval.changes seed=7 episodes=50 out=DIR   other pairs

    Attributes:
        episodes: number of pairs of observations; seeds 0 to 9 were used in development.
        checkpoint: folder; the shipped one if null.
    """

    seed: int = 2026
    episodes: int = 300
    checkpoint: str | None = None


@dataclass(frozen=True)
class Alike:
    """An appearance model to which everything looks the same."""

    model: AppearanceModel

    @property
    def crop_size(self) -> int:
        """As of the model."""
        return self.model.crop_size

    @property
    def feature_size(self) -> int:
        """As of the model."""
        return self.model.feature_size

    @property
    def gate(self) -> LooksGate:
        """As of the model."""
        return self.model.gate

    def embed(self, crops: npt.NDArray[np.uint8], table_light: FloatArray) -> FloatArray:
        """The same unit vector (B, D) for all crops."""
        return np.full((len(crops), self.feature_size), self.feature_size**-0.5, np.float32)

    def learned(self, visual: FloatArray) -> FloatArray:
        """The part of features that the model has learned."""
        return self.model.learned(visual)


def ours(pair: Episode, system: System[Any], appearance: AppearanceModel) -> tuple[list[Found], bool]:
    """What the monitor says, and whether the checks of the sensors refuse the pair; it is judged without them then."""
    names = sorted(pair.first.labels.values())
    plan = Plan((Action("top", (names[0], names[1])),))
    refused = False
    try:
        monitor = system.monitor(plan, pair.first, ScenePerceiver(appearance))
        start = monitor.graph
        found = monitor.check(pair.second)
    except InvalidObservation:
        refused = True
        monitor = system.monitor(plan, pair.first, ScenePerceiver(appearance), check_sensors=False)
        start = monitor.graph
        try:
            found = monitor.check(pair.second)
        except InvalidObservation:
            return [], True
    causes = {each.name: str(each.cause) for each in found.deviations}
    now = monitor.graph
    gone = {name for name in start.names if name not in now.names or causes.get(name) in ("missing", "replaced")}
    return [
        Found(
            start.boxes[row, :3],
            KINDS.get(causes[name], Event.MOVED) if name in causes else Event.NOTHING,
            None if name in gone else now.boxes[now.index(name), :3],
        )
        for row, name in enumerate(start.names)
    ], refused


def colourless(seen: Observation) -> Observation:
    """The observation with grey images, in which nothing can be compared pixel by pixel."""
    return replace(seen, rgb=np.full_like(seen.rgb, 128))


def wanted(pair: Episode, identity: int) -> Event:
    """What should be said of an object; of one that took another's place, that it moved."""
    if identity not in pair.involved:
        return Event.NOTHING
    return Event.MOVED if pair.event is Event.SWAPPED else pair.event


@dataclass(frozen=True)
class ChangeSeen:
    """What an arm said of a pair of looks.

    Attributes:
        arm: its name.
        event: what happened.
        noticed: whether an involved object is said to have changed.
        kind: whether all involved objects are said to have changed as they did.
        alarms: of every other object, whether it is said to have changed.
        identities: of every object that is still there, whether it is said to be where it is.
        refused: whether the checks of the sensors refuse the pair; it is judged without them then.
    """

    arm: str
    event: str
    noticed: bool
    kind: bool
    alarms: tuple[bool, ...]
    identities: tuple[bool, ...]
    refused: bool = False


def scored(arm: str, pair: Episode, found: Sequence[Found], refused: bool = False) -> ChangeSeen:
    """Judge what an arm said of a pair."""
    noticed, kinds, alarms, identities = list[bool](), list[bool](), list[bool](), list[bool]()
    places = np.array([thing.box[:2] for thing in pair.after])
    for thing in pair.before:
        near = min(found, key=lambda each: np.linalg.norm(each.at[:2] - thing.box[:2]), default=None)
        if near is not None and np.linalg.norm(near.at[:2] - thing.box[:2]) > FAR_M + max(thing.size) / 2:
            near = None
        said = Event.NOTHING if near is None else near.event
        if thing.identity in pair.involved:
            noticed.append(said is not Event.NOTHING)
            kinds.append(said is wanted(pair, thing.identity))
        else:
            alarms.append(said is not Event.NOTHING)
        if any(other.identity == thing.identity for other in pair.after):
            at = None if near is None or near.now is None else near.now[:2]
            row = None if at is None else int(np.linalg.norm(places - at, axis=1).argmin())
            identities.append(row is not None and pair.after[row].identity == thing.identity)
    return ChangeSeen(arm, str(pair.event), any(noticed), all(kinds), tuple(alarms), tuple(identities), refused)


def judge(number: int, config: ChangesConfig) -> list[ChangeSeen]:
    """All arms on one pair."""
    pair, system = episode(config.seed, number), system_of(config.checkpoint)
    told, refused = ours(pair, system, system.model.bundle)
    grey = replace(pair, first=colourless(pair.first), second=colourless(pair.second))
    blind, _ = ours(grey, system, Alike(system.model.bundle))
    ruled = by_rule(pair_of(pair.first, pair.second))
    return [scored(OURS, pair, told, refused), scored(WITHOUT, pair, blind), scored(RULE, pair, ruled)]


def _happened(row: ChangeSeen) -> bool:
    return row.event != Event.NOTHING


def _was(event: Event, row: ChangeSeen) -> bool:
    return row.event == event


METRICS = (
    total("episodes", "episodes"),
    share("noticed", "errors noticed", lambda row: row.noticed, _happened),
    share("false_alarms", "false alarms per object", lambda row: row.alarms),
    share("identities", "identities right", lambda row: row.identities),
    share("kind", "kind right", lambda row: row.kind, _happened),
    *(
        share(f"events.{event}", f"{event} noticed", lambda row: row.noticed, partial(_was, event), 0)
        for event in Event
        if event is not Event.NOTHING
    ),
    share("refused", "", lambda row: row.refused),
)
MEASUREMENT = comparison(
    ChangesConfig, judge, lambda config, run: range(config.episodes), METRICS, {"arm": lambda row: row.arm},
    unit="episode", check=check_checkpoint, least={"episodes": 1}, adds=("episodes",),
)  # fmt: skip


if __name__ == "__main__":
    run(MEASUREMENT)
