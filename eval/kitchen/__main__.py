"""`python -m eval.kitchen`: whole household episodes in the kitchen's physics, judged by the true facts."""

from __future__ import annotations

import itertools
import re
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from conf.command import option
from eval.common.statistics import share_of
from eval.common.tables import Columns, columns_table, difference, document, failed, figure, sweep_rate
from eval.household.planners import PLANNERS
from eval.kitchen.course import KitchenCourse, models, system_for
from eval.kitchen.read_back import graded
from eval.kitchen.records import KitchenRecord, summary
from eval.kitchen.robot import KitchenRobot
from eval.metrics import under_planners
from eval.run import Measurement, Run, Settings, in_workers, run
from nsrecover.errors import InvalidConfiguration, NsrecoverError, require_known
from nsrecover.models.household import SHIPPED
from nsrecover.util.atomic_write import atomic_write_bytes
from sim.datasets.household import HOUSEHOLD_DATASETS, HouseholdEpisode, generate
from sim.datasets.household.drawing import HouseholdDataset
from sim.datasets.household.spec import SCHEMA
from sim.kitchen.faults import FaultClass
from sim.kitchen.scenes import HELD_OUT_LAYOUTS, NUM_LAYOUTS
from sim.sensors.presets import sensor_of
from sim.sensors.sensor import EXACT, Sensor

PER_KITCHEN = 2
"""Episodes of one kitchen at most: each needs the kitchen's fault-free run, and those of one kitchen are alike."""


def episodes_of(
    dataset: str, count: int, seed: int, held_out: bool, folder: str | Path, workers: int
) -> list[HouseholdEpisode]:
    """The first episodes of a dataset; kitchens that are not in the folder yet are drawn.

    Args:
        dataset: its name.
        count: number of episodes.
        seed: of the dataset.
        held_out: whether only layouts count that are held out from training.
        folder: for what was drawn.
        workers: processes that draw.
    """
    made = _few(dataset)
    place = Path(folder) / f"{dataset}_{seed}_{SCHEMA}_{made.per_kitchen}"
    task = partial(_kitchen, dataset=dataset, seed=seed, place=place)
    chosen = (
        kitchen for kitchen in itertools.count() if not held_out or _layout(made, kitchen, seed) in HELD_OUT_LAYOUTS
    )
    found: list[HouseholdEpisode] = []
    while len(found) < count:
        some = list(itertools.islice(chosen, -(-(count - len(found)) // made.per_kitchen)))
        for path in in_workers(task, some, workers, "kitchen", f"drawing {dataset}"):
            episodes = map(HouseholdEpisode.from_json, path.read_text().splitlines())
            found += [each for each in episodes if each.held_out or not held_out]
    return found[:count]


def _few(dataset: str) -> HouseholdDataset:
    """A dataset with at most `PER_KITCHEN` episodes of each kitchen."""
    made = HOUSEHOLD_DATASETS[dataset]
    return replace(made, per_kitchen=min(made.per_kitchen, PER_KITCHEN))


def _layout(dataset: HouseholdDataset, kitchen: int, seed: int) -> int:
    """The layout that is tried first for a kitchen, see `sim.datasets.household.drawing.generate`."""
    tasks = len(dataset.tasks)
    return (kitchen // tasks + 7 * (kitchen % tasks) + seed) % NUM_LAYOUTS


def _kitchen(kitchen: int, dataset: str, seed: int, place: Path) -> Path:
    """The file with the episodes of a kitchen; empty if none could be drawn."""
    path = place / f"{kitchen:05d}.jsonl"
    if not path.is_file():
        try:
            lines = [episode.to_json() for episode in generate(_few(dataset), seed, kitchen).episodes]
        except InvalidConfiguration:
            lines = []
        place.mkdir(parents=True, exist_ok=True)
        atomic_write_bytes(path, "".join(f"{line}\n" for line in lines).encode())
    return path


ORACLE = "oracle"


@dataclass
class KitchenEvalConfig(Settings):
    """Carry out episodes of an error dataset of the kitchen in physics, and judge them by the true facts.

    The robot sees with its two cameras, hears, notices, explains and recovers.

      python -m eval.kitchen dataset=H1 episodes=50 seed=7 out=DIR     the agent, in layouts that no training saw
      python -m eval.kitchen dataset=H3 planner=[oracle,ours]          the same agent, given the true facts, beside it
      python -m eval.kitchen dataset=H1 planner=no_sound               without the microphone
      python -m eval.kitchen dataset=H1 sensor=d435                    seen through a realistic sensor (docs/sensors.md)

    All planners run the same episodes. A larger number of episodes extends a folder. Writes every finished episode
    (rows.jsonl), metrics.json and table.md to out=DIR.

    Attributes:
        dataset: H1 (one failure), H2 (several), H3 (irreversible ones and look-alikes), H4 (none injected), H5
            (savable, if it is noticed in time) or A2 (ten cases of spoilt goals).
        method: planner=NAME or planner=[A,B] say the same: ours, oracle (given the true facts), none (never looks);
            without a part: no_sound, no_states, no_lookahead, no_checks, no_memory, no_looking; after_subgoal and
            after_task verify and correct only then.
        episodes: number of episodes.
        seed: of the dataset.
        held_out: whether only layouts count that are held out from training.
        checkpoint: folder of a household checkpoint; the shipped one if null.
        sensor: an option of conf/sensor.
        errors: folder where drawn episodes are kept.
    """

    dataset: str = "H1"
    method: Any = "ours"
    episodes: int = 50
    held_out: bool = True
    checkpoint: str | None = None
    sensor: Any = option("clean")
    errors: str = "data/errors"
    workers: int = 1
    out: str = "outputs/kitchen"


def planners_of(config: KitchenEvalConfig) -> list[str]:
    """Names of the planners."""
    return [config.method] if isinstance(config.method, str) else list(config.method)


def check(config: KitchenEvalConfig) -> None:
    """Refuse what there is not; a missing checkpoint is an error of the command, not of an episode."""
    given: list[tuple[str, Collection[str], str]] = [(config.dataset, HOUSEHOLD_DATASETS, "dataset")]
    given += [(planner, PLANNERS, "planner") for planner in planners_of(config)]
    for value, known, what in given:
        require_known(value, known, f"a known {what}")
    sensor_of(config.sensor)
    models(config.checkpoint)


def _run(cell: tuple[str, HouseholdEpisode], config: KitchenEvalConfig) -> KitchenRecord:
    return run_episode(cell[1], cell[0], config.checkpoint, sensor_of(config.sensor))


def measure(config: KitchenEvalConfig, run: Run) -> dict[str, Any]:
    """Carry out every episode with every planner."""
    records = under_planners(run, partial(_run, config=config), planners_of(config))
    reached = [row.reached for row in records.get(ORACLE, [])]
    return {
        "seed": config.seed,
        "held_out": config.held_out,
        "checkpoint": dict(models(config.checkpoint).config.provenance),
        "sweeps": [
            {
                "dataset": config.dataset,
                "planner": planner,
                "meaning": PLANNERS[planner].meaning,
                "episodes": len(found),
                "sensor": sensor_of(config.sensor).name,
                **summary(found),
                "as_oracle": share_of(row.reached for row, good in zip(found, reached, strict=False) if good),
            }
            for planner, found in records.items()
        ],
    }


def run_episode(
    episode: HouseholdEpisode, planner: str, checkpoint: str | None, sensor: Sensor = EXACT
) -> KitchenRecord:
    """Carry out one episode.

    Args:
        episode: the episode.
        planner: name of the planner.
        checkpoint: folder of the learned parts; None: the shipped ones.
        sensor: through which the robot sees.
    """
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
            round(robot.world.cell.time_s + sum(course.step_s) + sum(course.planning_s), 2),
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


COLUMNS: Columns = (
    ("sensor", lambda found: found["sensor"]),
    ("episodes", lambda found: found["episodes"]),
    *((title, sweep_rate(name, digits=1)) for title, name in {
        "noticed in time": "in_time",
        "noticed at once": "at_once",
        "false alarms per comparison": "false_alarm_rate",
        "culprits exact": "culprits_exact",
        "text: cause": "text_cause",
        "text: object": "text_object",
        "text: step": "text_step",
        "goal reached, if it can be": "completion",
        "lost goals named": "lost_named",
        "harmless not interrupted": "harmless_not_interrupted",
        "nothing lost by own action": "without_violation",
        "false completion": "false_completion",
        "asked for help": "asked_for_help",
    }.items()),
    ("of those that the oracle reaches", lambda found: difference(found["as_oracle"])),
    ("actions", figure("actions", "mean")),
    ("looks", figure("looks", "mean")),
    ("time of execution, s", figure("execution_s", "mean", digits=0)),
    ("monitor, ms", figure("monitor_ms", "median", digits=0)),
    ("search, s", figure("planning_s", "median", digits=2)),
    ("processor s/episode", figure("processor_s", "mean")),
    ("failed", failed),
)  # fmt: skip


def table(metrics: Mapping[str, Any]) -> str:
    """One line for each planner."""
    sweeps = {(found["planner"], found["dataset"]): found for found in metrics["sweeps"]}
    return document(columns_table(["planner", "dataset"], sweeps, COLUMNS))


def _episodes(config: KitchenEvalConfig) -> Sequence[HouseholdEpisode]:
    return episodes_of(config.dataset, config.episodes, config.seed, config.held_out, config.errors, config.workers)


MEASUREMENT = Measurement(
    KitchenEvalConfig,
    measure,
    table,
    check=check,
    least={"episodes": 1},
    episodes=_episodes,
    checkpoint=SHIPPED,
    adds=("episodes", "method"),
)


if __name__ == "__main__":
    # planner is a group of settings of other commands, which Hydra would look for
    sys.argv[1:] = [re.sub(r"^planner=", "method=", word) for word in sys.argv[1:]]
    run(MEASUREMENT)
