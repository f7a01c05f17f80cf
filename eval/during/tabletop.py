"""Drops and pushes while the arm moves, watched meanwhile, or judged after the action only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from eval.common.fault_free import run_without_faults
from eval.common.systems import system_of
from eval.common.tables import columns_table, document
from eval.during.settings import ARMS, GOOD_INTERRUPTED, NONE, PROMPTNESS, DuringConfig, Watched, timing
from eval.metrics import ENDINGS, Metric, columns, share, summary, total
from eval.run import Run
from nsrecover.agent import RecoveryAgent
from nsrecover.core.actions import Plan
from nsrecover.core.episode import EpisodeStatus, StepRecord
from nsrecover.errors import InvalidObservation, UnknownObject
from nsrecover.monitoring.motion import MotionModel
from sim.sensors.presets import sensor as preset
from sim.tabletop.demonstrations import DemonstrationMix, DemonstrationSpec, specify
from sim.tabletop.faults import FAULTS
from sim.tabletop.faults.base import Fault, Moment
from sim.tabletop.watched import WatchedWorld
from sim.tabletop.world import TabletopWorld

RULE = MotionModel(0.003, (0.02, 0.02, 0.02), (0.8, 0.8, 0.8), 0.02, 0.8, 1.0)
"""Limits that a person would set for this robot."""
KINDS = [NONE, "drop", "drop_closing", "slip", "slip_closing", "push_midway"]
DISTURBED_M = 0.01
"""An object that neither the fault nor the action moves is disturbed from this distance on."""
TRIES = 20
STEPS = 2
"""Faults strike at one of so many first actions of a plan."""


@dataclass(frozen=True)
class WatchedEpisode(Watched):
    """One episode of one arm.

    Attributes:
        total_s: simulated time until the end.
        disturbed: objects that moved during an action that does not concern them, by another cause than the fault.
        completed: whether the agent says that the plan is done.
        off: objects that are not where a run without faults puts them in the end.
    """

    total_s: float
    disturbed: int
    completed: bool
    off: int = 0

    @property
    def false_completion(self) -> bool:
        """Whether the agent says that the plan is done, and an object is not where it should be."""
        return self.completed and self.off > 0

    @property
    def asked_for_help(self) -> bool:
        """Whether it ended without the plan done."""
        return not self.completed


def specified(kind: str, seed: int, episode: int) -> tuple[DemonstrationSpec, Fault | None]:
    """A plan and a fault that strikes during one of its actions; the fault is None for `NONE`, or if none fits."""
    for turn in range(TRIES):
        number = episode * TRIES + turn
        spec = specify(DemonstrationMix(), seed, number)
        if kind == NONE:
            return spec, None
        rng = np.random.default_rng([seed, number])
        step = int(rng.integers(min(STEPS, len(spec.plan))))
        with TabletopWorld(spec.scene, rig=spec.rig) as world:
            for action in spec.plan.actions[:step]:
                world.execute(action)
            before = world.estimates()
            world.execute(spec.plan[step])
            fault = FAULTS[kind].sample(Moment(step, spec.plan, before, world.estimates()), rng)
        if fault is not None:
            return replace(spec, plan=Plan(spec.plan.actions[: step + 1])), fault
    return spec, None


def watch(item: tuple[str, int], config: DuringConfig) -> list[WatchedEpisode]:
    """All arms of an episode; none if no fault fits, or the plan's objects are not seen at first."""
    kind, episode = item
    spec, fault = specified(kind, config.seed, episode)
    if fault is None and kind != NONE:
        return []
    system = system_of(config.checkpoint)
    try:
        return [
            _run(replace(system, during=motions), arm, item, (spec, fault), config)
            for arm, motions in zip(ARMS, (system.during, RULE, None), strict=True)
            if arm in config.arms and (fault is not None or motions is not None)
        ]
    except (InvalidObservation, UnknownObject):
        return []


def _run(
    system: Any, arm: str, item: tuple[str, int], given: tuple[DemonstrationSpec, Fault | None], config: DuringConfig
) -> WatchedEpisode:
    (kind, number), (spec, fault) = item, given
    faults = () if fault is None else (fault,)
    should = run_without_faults(spec.scene, spec.plan, number)
    with TabletopWorld(spec.scene, faults, spec.rig, spec.plan, seed=number) as tabletop:
        stream = preset(config.sensor).stream(len(spec.rig.views), config.seed + number)
        world = WatchedWorld(tabletop, stream, config.rate_hz)
        books = _Disturbed(tabletop, fault)
        episode = RecoveryAgent(system, world).run(spec.plan, books.record)
        completed = episode.status is EpisodeStatus.COMPLETED
        ended_s, off = tabletop.time_s, should.wrong_at_the_end(tabletop.truth())
        return WatchedEpisode(arm, kind, number, *timing(world.motions), ended_s, books.count, completed, len(off))


class _Disturbed:
    """Counts objects that move in actions that do not concern them; a fault's own effect does not count."""

    def __init__(self, tabletop: TabletopWorld, fault: Fault | None) -> None:
        self._tabletop, self._fault, self._before, self.count = tabletop, fault, tabletop.estimates(), 0

    def record(self, record: StepRecord[Any]) -> None:
        """Compare the true poses with those before."""
        before, now = self._before, self._tabletop.estimates()
        self._before = now
        if record.action is None:
            return
        own = {record.action.arguments[0]} | (self._fault.touched(record.action) if self._fault else frozenset())
        for name in set(before.names) - own:
            moved = (
                name not in now
                or np.linalg.norm(now.positions[now.index(name)] - before.positions[before.index(name)]) > DISTURBED_M
            )
            self.count += bool(moved)


def measure(config: DuringConfig, run: Run) -> dict[str, Any]:
    """Run all episodes in all arms."""
    items = [(kind, number) for number in range(config.episodes) for kind in config.kinds]
    found = [each for part in run.each(partial(watch, config=config), items, "episode", str) for each in part]
    return {
        "domain": config.domain,
        "seed": config.seed,
        "sensor": config.sensor,
        "rate_hz": config.rate_hz,
        "arms": {
            arm: {kind: summary(rows, (PROMPTNESS[0], *METRICS)) for kind, rows in _parts(found, arm)}
            for arm in config.arms
        },
    }


def _parts(found: Sequence[WatchedEpisode], arm: str) -> Iterator[tuple[str, list[WatchedEpisode]]]:
    own = [each for each in found if each.arm == arm]
    for kind in dict.fromkeys(each.kind for each in own):
        yield kind, [each for each in own if each.kind == kind]


METRICS = (
    total("episodes", "episodes"),
    *PROMPTNESS[1:],
    GOOD_INTERRUPTED,
    share("completed", "completed", lambda each: each.completed, digits=2),
    *ENDINGS,
    Metric("mean_total_s", "time of the episode", lambda rows: float(np.mean([each.total_s for each in rows])),
           lambda found: f"{found['mean_total_s']:.1f} s"),
    total("disturbed", "objects disturbed", lambda each: each.disturbed),
)  # fmt: skip


def table(metrics: dict[str, Any]) -> str:
    """Table of all arms."""
    rows = {
        (kind, ARMS[arm]): kinds[kind]
        for kind in KINDS
        for arm, kinds in metrics["arms"].items()
        if kind in kinds
    }  # fmt: skip
    title = f"Faults while the arm moves, behind {metrics['sensor']} at {metrics['rate_hz']:g} Hz"
    return document(title, columns_table(["fault", "judged"], rows, columns(METRICS)))
