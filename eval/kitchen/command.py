"""Episodes in the kitchen's physics under a planner, judged by the true facts; resumable."""

from __future__ import annotations

import os
import time
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from tqdm import tqdm

from eval.common.identity import content_of, identity
from eval.common.output import overrides, write_results
from eval.common.tables import markdown_table, number, percent
from eval.household.planners import PLANNERS
from eval.kitchen.course import KitchenCourse, models, system_for
from eval.kitchen.episodes import episodes_of
from eval.kitchen.read_back import graded
from eval.kitchen.records import FORMAT, KitchenRecord, summary
from eval.kitchen.robot import KitchenRobot
from nsrecover.errors import InvalidConfiguration, NsrecoverError, did_you_mean
from nsrecover.models.household import SHIPPED
from sim.common.folder import claim_folder, read_ledger
from sim.common.origin import machine
from sim.common.parallel import run_parallel
from sim.datasets.household import HOUSEHOLD_DATASETS, HouseholdEpisode
from sim.kitchen.faults import FaultClass
from sim.sensors.presets import sensor_of
from sim.sensors.sensor import EXACT, Sensor

RECORDS = "episodes.jsonl"
"""Every finished episode, one line each, in the order of finishing."""


@dataclass
class KitchenEvalConfig:
    """Top level of conf/kitchen_episodes.yaml."""

    dataset: str = "H1"
    method: str = "ours"
    episodes: int = 50
    seed: int = 0
    held_out: bool = True
    checkpoint: str | None = None
    sensor: Any = None
    errors: str = "data/errors"
    workers: int = 1
    out: str | None = None


def measure(config: KitchenEvalConfig) -> dict[str, Any]:
    """Carry out the episodes that are not done yet, and write metrics and table.

    Args:
        config: see conf/kitchen_episodes.yaml.

    Returns:
        The contents of metrics.json.

    Raises:
        NsrecoverError: a setting or the checkpoint cannot be used, or the folder holds something else.
    """
    for value, known, what in ((config.dataset, HOUSEHOLD_DATASETS, "dataset"), (config.method, PLANNERS, "planner")):
        if value not in known:
            raise InvalidConfiguration(
                f"expected {what} as one of {', '.join(known)}, found {value!r}.{did_you_mean(value, known)}"
            )
    if config.episodes < 1 or config.seed < 0 or config.workers < 1:
        raise InvalidConfiguration(
            f"expected episodes and workers of at least 1 and a seed of at least 0, found episodes={config.episodes}, "
            f"workers={config.workers}, seed={config.seed}"
        )
    learned = models(config.checkpoint)  # a missing checkpoint is an error of the command, not of an episode
    sensor = sensor_of(config.sensor)
    name = "-".join([config.method, config.dataset, *([] if sensor.exact else [sensor.name])])
    folder = Path(config.out or f"outputs/eval/{name}")
    episodes = episodes_of(config.dataset, config.episodes, config.seed, config.held_out, config.errors, config.workers)
    settings = {
        "format": FORMAT,
        "dataset": config.dataset,
        "planner": config.method,
        "seed": config.seed,
        "held_out": config.held_out,
        "sensor": sensor.to_dict(),
        "first_episode": content_of(episodes[:1]),
    }
    manifest = identity("eval.kitchen.command", settings, [config.checkpoint or SHIPPED])
    with claim_folder(folder, manifest, "the episodes of a sweep"):
        records = _run_all(config, episodes, folder, sensor)
        found = {
            "dataset": config.dataset,
            "planner": config.method,
            "meaning": PLANNERS[config.method].meaning,
            "episodes": len(records),
            "seed": config.seed,
            "held_out": config.held_out,
            "sensor": sensor.name,
            **summary(records),
            "checkpoint": dict(learned.config.provenance),
            "asked": overrides() if HydraConfig.initialized() else None,
            **machine(),
        }
        write_results(folder, found, table(found), config)
    return found


def _run_all(
    config: KitchenEvalConfig, episodes: list[HouseholdEpisode], folder: Path, sensor: Sensor
) -> list[KitchenRecord]:
    done = {record.index: record for record in read_ledger(folder / RECORDS, KitchenRecord.from_json, None)}
    jobs = [(number, episode) for number, episode in enumerate(episodes) if number not in done]
    task = partial(run_episode, planner=config.method, checkpoint=config.checkpoint, sensor=sensor)
    good = sum(not record.failure for record in done.values())
    with (
        tqdm(
            total=len(episodes),
            initial=len(episodes) - len(jobs),
            unit="episode",
            desc=f"{config.method} on {config.dataset}",
        ) as bar,
        (folder / RECORDS).open("a", encoding="utf-8") as file,
        closing(run_parallel(task, jobs, config.workers, ordered=False)) as every,
    ):
        for record in every:
            file.write(record.to_json() + "\n")
            file.flush()
            os.fsync(file.fileno())
            done[record.index] = record
            good += not record.failure
            bar.set_postfix_str(f"as it should {good}/{len(done)}", refresh=False)
            bar.update()
    return [done[number] for number in range(len(episodes))]


def run_episode(
    job: tuple[int, HouseholdEpisode], planner: str, checkpoint: str | None, sensor: Sensor = EXACT
) -> KitchenRecord:
    """Carry out one episode.

    Args:
        job: its number in the sweep, and the episode.
        planner: name of the planner.
        checkpoint: folder of the learned parts; None: the shipped ones.
        sensor: through which the robot sees.
    """
    index, episode = job
    how, began = PLANNERS[planner], time.process_time()
    plan, fault = episode.robots_plan, next(iter(episode.faults), None)
    robot = KitchenRobot(episode.spec, episode.faults, how.microphone, how.looks, how.facts, sensor=sensor)
    course, crash = KitchenCourse(robot), ""
    try:
        planned = robot.works(plan.actions)
        try:
            how.carry_out(system_for(how, robot, checkpoint), robot, plan, course)
        except NsrecoverError as problem:
            crash = f"{type(problem).__name__}: {problem}"
        bad_plan = fault is not None and fault.fault_class is FaultClass.PLANNING and not planned
        harmless = _harmless(episode, robot)
        # an error of the robot is a failed action; what others change makes a later action fail, or the goal be missed
        own = fault is not None and fault.fault_class in (FaultClass.EXECUTION, FaultClass.IRREVERSIBLE)
        failing = robot.struck if own and robot.struck is not None else robot.failed
        # what is wrong from the beginning can only be noticed later
        since = robot.struck or (robot.failed if robot.failed is not None else len(plan))
        wrong = robot.struck is not None or bad_plan
        # to skip what is done already is no interruption
        acted = robot.executed > len(plan) or bool(course.recovery_actions)
        return KitchenRecord(
            index,
            episode.dataset,
            episode.number,
            episode.task,
            episode.layout,
            tuple(each.kind for each in episode.faults),
            fault.fault_class.value if fault is not None else "none",
            episode.recoverable,
            harmless,
            wrong,
            any(right and (failing is None or done <= failing) for done, right in course.alarms),
            any(right and done <= since for done, right in course.alarms),
            tuple(course.decisions),
            tuple(course.alarms),
            tuple(course.culprits),
            _explained(episode, robot, course, harmless),
            robot.reached(),
            course.asked,
            course.reason,
            course.why or "",
            course.impossible,
            acted or course.asked,
            robot.violations,
            robot.executed,
            len(plan),
            course.recovery_actions,
            robot.looks,
            tuple(text for _, _, text, _ in course.told),
            tuple(reason for reason in robot.world.failures if reason),
            tuple(round(each, 5) for each in course.step_s),
            tuple(round(each, 5) for each in course.planning_s),
            round(time.process_time() - began, 2),
            crash,
        )
    finally:
        robot.close()


def _explained(
    episode: HouseholdEpisode, robot: KitchenRobot, course: KitchenCourse, harmless: bool
) -> tuple[bool, ...]:
    """Whether the first text after the injected fault has its cause, object and step right; none is wrong.

    Empty if no fault has struck, and if it was harmless and nothing was said about it.
    """
    fault = next(iter(episode.faults), None)
    if fault is None or robot.injected is None:
        return ()
    _, last, text, true = next((one for one in course.told if one[0] >= robot.injected), (0, "", "", frozenset()))
    return () if harmless and not text else graded(text, fault, episode.spec.plan, last, true)


def _harmless(episode: HouseholdEpisode, robot: KitchenRobot) -> bool:
    """Whether the errors change facts and the plan still leads to the goal, in the domain's simulation."""
    from eval.household.fact_world import FactWorld

    world = FactWorld(episode, 0.0, 0.0, 0)
    for action in episode.robots_plan:
        world.execute(action)
    return world.struck is not None and world.failed is None and world.reached()


def table(found: dict[str, Any]) -> str:
    """One line with the most important metrics."""
    shares = {
        "noticed in time": "in_time",
        "noticed at once": "at_once",
        "false alarms": "false_alarm_rate",
        "culprits exact": "culprits_exact",
        "text: cause": "text_cause",
        "text: object": "text_object",
        "text: step": "text_step",
        "completed": "completion",
        "lost goals named": "lost_named",
        "harmless not interrupted": "harmless_not_interrupted",
    }
    head = [
        "planner",
        "dataset",
        "sensor",
        "episodes",
        *shares,
        "actions",
        "looks",
        "monitor, ms",
        "search, s",
        "processor s/episode",
        "failed",
    ]
    failures = ", ".join(f"{reason} {count}" for reason, count in sorted(found["failures"].items()))
    row = [
        found["planner"],
        found["dataset"],
        found["sensor"],
        found["episodes"],
        *(percent(found[key], found["intervals"][key]) for key in shares.values()),
        number(found["actions"]["mean"], 1),
        number(found["looks"]["mean"], 1),
        number(found["monitor_ms"]["median"], 0),
        number(found["planning_s"]["median"], 2),
        number(found["processor_s"]["mean"], 1),
        failures or "none",
    ]
    return markdown_table(head, [row]) + "\n"


def print_table(config: KitchenEvalConfig) -> None:
    """Measure, and print the table."""
    print(table(measure(config)), end="")
