"""`python -m eval.changes`: errors noticed and false alarms where place alone does not show what happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from eval.changes.rules import RULES, Found, pair_of
from eval.common.statistics import grouped, paired_difference, share_of
from eval.common.systems import check_checkpoint, system_of
from eval.common.tables import columns_table, difference, document, markdown_table, percent, percent_of
from eval.metrics import columns, share, summary
from eval.run import Measurement, Run, Settings, run
from nsrecover.core import Action, FloatArray, Observation, Plan
from nsrecover.errors import InvalidObservation
from nsrecover.perception.objects.association import LooksGate
from nsrecover.perception.objects.detections import AppearanceModel
from nsrecover.perception.perceiver import ScenePerceiver
from nsrecover.system import System
from sim.datasets.changes.episodes import Episode, Event, episode

ORACLE, OURS, WITHOUT = "oracle", "ours", "ours without appearance"
FAR_M = 0.03
"""What is said of a place farther from all objects than this, beside their size, is said of none."""
KINDS = {"missing": Event.MISSING, "replaced": Event.REPLACED, "changed": Event.STATE}
"""Causes that are no move."""


@dataclass
class ChangesConfig(Settings):
    """Measure which changes are noticed that place alone does not show, against rules of place and of colour (VIII).

      python -m eval.changes                              300 pairs; half an hour on 2 cores
      python -m eval.changes seed=7 episodes=50 out=DIR   other pairs

    Attributes:
        episodes: number of pairs of observations; seeds 0 to 9 were used in development.
        checkpoint: folder; the shipped one if null.
    """

    seed: int = 2026
    episodes: int = 300
    checkpoint: str | None = None
    out: str = "outputs/changes"


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


def oracle(pair: Episode) -> list[Found]:
    """The truth."""
    places = {thing.identity: thing.box[:3] for thing in pair.after}
    return [Found(t.box[:3], wanted(pair, t.identity), places.get(t.identity)) for t in pair.before]


def wanted(pair: Episode, identity: int) -> Event:
    """What should be said of an object; of one that took another's place, that it moved."""
    if identity not in pair.involved:
        return Event.NOTHING
    return Event.MOVED if pair.event is Event.SWAPPED else pair.event


def scored(pair: Episode, found: Sequence[Found]) -> dict[str, Any]:
    """Plain record of what an arm said of an episode.

    Returns:
        `noticed` (None without an event), whether an involved object is said to have changed; `kind`, whether all are
        said to have changed as they did; `alarms`, of every other object; `identities`, of every object that is still
        there, whether it is said to be where it is; `large`, sizes of these.
    """
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
    event = pair.event is not Event.NOTHING
    return {"noticed": any(noticed) if event else None, "kind": all(kinds) if event else None, "alarms": alarms,
            "identities": identities}  # fmt: skip


def judge(index: int, seed: int, checkpoint: str | None) -> dict[str, Any]:
    """All arms on one episode: a plain record."""
    pair, system = episode(seed, index), system_of(checkpoint)
    seen, bundle = pair_of(pair.first, pair.second), system.model.bundle
    told, refused = ours(pair, system, bundle)
    grey = replace(pair, first=colourless(pair.first), second=colourless(pair.second))
    blind, _ = ours(grey, system, Alike(bundle))
    arms = {ORACLE: oracle(pair), OURS: told, WITHOUT: blind} | {name: rule(seen) for name, rule in RULES.items()}
    scores = {name: scored(pair, found) for name, found in arms.items()}
    return {"event": str(pair.event), "refused": refused, "arms": scores}


def measure(config: ChangesConfig, run: Run) -> dict[str, Any]:
    """Judge all episodes; return the rates of all arms."""
    task = partial(judge, seed=config.seed, checkpoint=config.checkpoint)
    records = run.each(task, range(config.episodes), "episode")
    names = list(records[0]["arms"])
    return {
        "episodes": len(records),
        "refused": share_of(each["refused"] for each in records),
        "arms": {name: summary([each["arms"][name] for each in records], METRICS) for name in names},
        "events": {
            event: {"of": len(group)} | {n: METRICS[0].of([each["arms"][n] for each in group]) for n in names}
            for event, group in grouped(records, lambda each: each["event"]).items() if event != Event.NOTHING
        },
        "differences": {f"{OURS} - {name}": _difference(records, name) for name in names if name not in (ORACLE, OURS)},
    }  # fmt: skip


METRICS = (
    share("noticed", "errors noticed", lambda each: each["noticed"], lambda each: each["noticed"] is not None),
    share("false_alarms", "false alarms per object", lambda each: each["alarms"]),
    share("identities", "identities right", lambda each: each["identities"]),
    share("kind", "kind right", lambda each: each["kind"], lambda each: each["kind"] is not None),
)
"""Of the scores of one arm."""


def _difference(records: Sequence[dict[str, Any]], other: str) -> dict[str, Any]:
    """Difference in errors noticed."""
    arms = [each["arms"] for each in records if each["event"] != Event.NOTHING]
    return paired_difference([each[OURS]["noticed"] for each in arms], [each[other]["noticed"] for each in arms])


def table(metrics: dict[str, Any]) -> str:
    """The tables of the arms, of the events, and of differences."""
    arms = list(metrics["arms"])
    events = [
        [name, *(percent(found[arm]["value"], None, 0) for arm in arms), found["of"]]
        for name, found in metrics["events"].items()
    ]
    of = metrics["arms"][OURS]
    counts = (
        f"{metrics['episodes']} episodes, {of['noticed']['of']} with an event; {of['false_alarms']['of']} objects to "
        f"which nothing happens, {of['identities']['of']} with an identity. The checks of the sensors refuse "
        f"{percent_of(metrics['refused'], 1)} of the episodes; these are judged without the checks."
    )
    return document(
        "Changes that place alone does not show",
        counts,
        columns_table(["arm"], metrics["arms"], columns(METRICS)),
        markdown_table(["noticed of", *arms, "episodes"], events),
        columns_table(["errors noticed, same episodes"], metrics["differences"], [("difference", difference)]),
    )


MEASUREMENT = Measurement(ChangesConfig, measure, table, check_checkpoint, {"episodes": 1}, adds=("episodes",))


if __name__ == "__main__":
    run(MEASUREMENT)
