"""Actions of a household during which something goes wrong, watched meanwhile, or judged after the action only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from eval.common.statistics import share_of
from eval.common.tables import Cell, Columns, columns_table, document, percent_of
from eval.during.settings import ARMS, GOOD_INTERRUPTED, NONE, PROMPTNESS, DuringConfig, Watched, timing
from eval.household.planners import PLANNERS
from eval.kitchen.course import system_for
from eval.kitchen.robot import KitchenRobot
from eval.metrics import columns, summary
from eval.run import Run
from nsrecover.agent import RecoveryAgent
from nsrecover.core.actions import Plan
from nsrecover.core.episode import StepRecord
from nsrecover.core.facts import FactScene
from nsrecover.errors import InvalidConfiguration
from sim.datasets.household.running import Trunk
from sim.datasets.household.truth import reachable
from sim.kitchen.faults import Fault, Moment, snapshot
from sim.kitchen.faults.choosing import free_place
from sim.kitchen.faults.initial import LIQUIDS
from sim.kitchen.faults.irreversible import WrongLiquid
from sim.kitchen.faults.people import DoorClosed, Midway, Taken
from sim.kitchen.faults.robot import Dropped
from sim.kitchen.scenes import HELD_OUT_LAYOUTS
from sim.kitchen.task_list import TASKS
from sim.kitchen.tasks import TaskSpec, draw_task
from sim.sensors.presets import sensor as preset

TASKS_OF = {
    NONE: tuple(task.code for task in TASKS.values()),
    "wrong_liquid": ("T7",),
    "target_taken": ("T3",),
    "dropped": ("T3", "T6", "T7"),
    "door_closed": ("T4", "T6"),
}
"""Kind -> tasks in which it can strike: another liquid in the vessel that is poured out, what something is put into is
taken away, what is carried falls, a door closes in front of what is put in."""
KINDS = list(TASKS_OF)
TRIES = 12


@dataclass(frozen=True)
class WatchedAction(Watched):
    """One episode of one arm.

    Attributes:
        task: code of the task.
        lost: whether the goal could no longer be reached after the last action.
    """

    task: str
    lost: bool


def specified(kind: str, seed: int, episode: int) -> tuple[TaskSpec, Fault | None] | None:
    """A task, and a fault that strikes during one of its actions; None if none fits in some kitchens."""
    tasks = TASKS_OF[kind]
    for turn in range(TRIES):
        rng = np.random.default_rng([seed, KINDS.index(kind), episode, turn])
        layout = int(rng.choice(HELD_OUT_LAYOUTS))
        try:
            spec = draw_task(tasks[episode % len(tasks)], int(rng.integers(2**31)), layout)
        except InvalidConfiguration:
            continue
        if kind == NONE:
            return spec, None
        with Trunk(spec, steps=()) as trunk:
            moments = [trunk.moment(step) for step in range(len(spec.plan)) if not any(trunk.failures)]
        faults = [fault for moment in moments if (fault := _sampled(kind, moment, rng)) is not None]
        if faults:
            return spec, faults[int(rng.integers(len(faults)))]
    return None


def _sampled(kind: str, moment: Moment, rng: np.random.Generator) -> Fault | None:
    """A fault of a kind that strikes during an action, in its first half; None if it does not fit the action."""
    if kind == "dropped":
        return Dropped.sample(moment, rng)
    operator, target = moment.action.operator, moment.action.arguments[-1]
    what: Fault | None = None
    if kind == "wrong_liquid" and operator == "pour":
        what = WrongLiquid(moment.step, moment.action.arguments[0], str(rng.choice(LIQUIDS)))
    elif kind == "target_taken" and operator == "put_in" and target in moment.before.things:
        place = free_place(moment, target, rng)
        what = None if place is None else Taken(moment.step, target, place[1], place[2])
    elif kind == "door_closed" and operator == "put_in" and moment.before.states[target].open:
        what = DoorClosed(moment.step, target)
    after_s = round(float(rng.uniform(0.05, 0.5)) * moment.seconds, 2)
    return None if what is None else Midway(moment.step, what, after_s)


def watch(item: tuple[str, int], config: DuringConfig) -> list[WatchedAction]:
    """All arms of an episode; none if no fault fits."""
    found = specified(item[0], config.seed, item[1])
    arms = [arm for arm in config.arms if arm in ("watched", "after") and (arm == "watched" or item[0] != NONE)]
    return [] if found is None else [_run(arm, item, *found, config) for arm in arms]


def _run(arm: str, item: tuple[str, int], spec: TaskSpec, fault: Fault | None, config: DuringConfig) -> WatchedAction:
    """Carry out a whole plan, or the action during which a fault strikes, from the state before it."""
    first = 0 if fault is None else fault.at_step
    faults = () if fault is None else (fault,)
    with KitchenRobot(spec, faults, sensor=preset(config.sensor)) as robot:
        robot.rate_hz = config.rate_hz
        for action in spec.plan.actions[:first]:
            robot.execute(action)
        for noted in (robot.motions, robot.spoilt, robot.carried_out):
            noted.clear()
        robot.assumed = spec.expected()[first]
        system = system_for(PLANNERS["ours"], robot, config.checkpoint)
        agent = RecoveryAgent(system if arm == "watched" else replace(system, during=None), robot)

        def stop(record: StepRecord[FactScene]) -> None:
            if any(fault is not None or math.isfinite(motion.interrupted_s) for motion in robot.motions):
                agent.stop()

        agent.run(Plan(spec.plan.actions[first:]), stop)
        spoilt = [robot.fails_unwatched(number) for number in range(len(robot.motions))]
        touched = () if fault is None else fault.touched(spec.plan[first])
        lost = reachable(spec, snapshot(robot.world.cell), touched) is False
        return WatchedAction(arm, item[0], item[1], *timing(robot.motions, spoilt), spec.task.code, lost)


def measure(config: DuringConfig, run: Run) -> dict[str, Any]:
    """Run all episodes in both arms."""
    items = [(kind, number) for number in range(config.episodes) for kind in config.kinds]
    found = [each for part in run.each(partial(watch, config=config), items, "episode", str) for each in part]
    kinds = {kind: [each for each in found if each.kind == kind] for kind in config.kinds}
    return {
        "domain": config.domain, "seed": config.seed, "sensor": config.sensor, "rate_hz": config.rate_hz,
        "kinds": {kind: _summary(rows) for kind, rows in kinds.items()},
        "all": _summary(found),
    }  # fmt: skip


def _summary(rows: Sequence[WatchedAction]) -> dict[str, Any]:
    watched = {(each.kind, each.episode): each for each in rows if each.arm == "watched"}
    lost_after = [each for each in rows if each.arm == "after" and each.lost]
    return {
        "arms": {arm: _of_arm([each for each in rows if each.arm == arm]) for arm in ("watched", "after")},
        "avoided": share_of(
            not watched[each.kind, each.episode].lost for each in lost_after if (each.kind, each.episode) in watched
        ),
        "good_interrupted": GOOD_INTERRUPTED.of([each for each in rows if each.arm == "watched"]),
    }


def _of_arm(rows: Sequence[WatchedAction]) -> dict[str, Any]:
    with_faults = [each for each in rows if each.kind != NONE] or rows
    return summary(rows, PROMPTNESS) | {"lost": share_of(each.lost for each in with_faults)}


def table(metrics: dict[str, Any]) -> str:
    """Table of both arms."""
    rows = {
        (kind, ARMS[arm]): {**own, **({"avoided": found["avoided"], "good_interrupted": found["good_interrupted"]}
                                      if arm == "watched" else {})}
        for kind, found in (*metrics["kinds"].items(), ("all", metrics["all"]))
        for arm, own in found["arms"].items()
        if own["lost"]["of"]
    }  # fmt: skip
    more: Columns = (("goals lost", _shown("lost")), ("losses avoided", _shown("avoided")),
                     ("good actions interrupted", _shown("good_interrupted")))  # fmt: skip
    title = f"Faults in a kitchen while the robot moves, behind {metrics['sensor']} at {metrics['rate_hz']:g} Hz"
    return document(title, columns_table(["fault", "judged"], rows, (*columns(PROMPTNESS), *more)))


def _shown(name: str) -> Cell:
    """A share in per cent; empty where there is none."""
    return lambda found: percent_of(found[name]) if found.get(name, {"of": 0})["of"] else ""
