"""Household episodes monitored at the level of facts: detection, recovery, what is saved, and ablations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from eval.common.runner import Measurement, Run, Settings
from eval.common.statistics import grouped, share_of, spread
from eval.common.tables import markdown_table, milliseconds, percent_of
from eval.household.course import FactCourse
from eval.household.fact_world import FactWorld
from eval.household.planners import PLANNERS
from nsrecover.errors import InvalidConfiguration, require_known
from nsrecover.loading import symbolic
from sim.datasets.household import HOUSEHOLD_DATASETS, HouseholdEpisode, read_episodes
from sim.datasets.shipped import shipped_lines
from sim.kitchen.faults import FaultClass

CONTROLLERS = {
    "ours": "ours",
    "without look-ahead": "no_lookahead",
    "without checks before actions": "no_checks",
    "after each subgoal": "after_subgoal",
    "after the task": "after_task",
    "no replanning": "none",
}
"""Name of a row -> name of the planner."""


@dataclass
class HouseholdConfig(Settings):
    """Measure household tasks monitored at the level of facts, with the faults of the kitchen as changes of facts.

    What is noticed, recovered from and lost is counted.

    Nothing is seen by cameras: the facts are the simulator's, exactly or with random errors.

      python -m eval.household errors=data/household                         60 episodes of H1, six controllers
      python -m eval.household dataset=H3 errors=data/household out=DIR      irreversible failures and look-alikes
      python -m eval.household hidden=0.05 wrong=0.01                        with errors of perception

    Writes metrics.json, table.md and rows.jsonl (every episode) to out=DIR.

    Attributes:
        dataset: H1 (one failure), H2 (several), H3 (irreversible ones and look-alikes), H4 (none injected) or H5
            (savable, if it is noticed in time).
        episodes: number of episodes, the first ones of the dataset.
        errors: folder with the datasets, each in a folder of its name; `python -m sim.datasets dataset=H1 out=DIR/H1`
            makes one.
        hidden: probability that an observation does not show a property: a place, or a state of an object; 0 is perfect
            perception.
        wrong: probability that it shows another value than the true one.
        seed: of these errors.
        repeats: how often each episode is carried out, every time with other errors of perception.
        controllers: all, or names of rows of the table, separated by commas.
    """

    dataset: str = "H1"
    episodes: int = 60
    errors: str = "data/errors"
    hidden: float = 0.0
    wrong: float = 0.0
    repeats: int = 1
    controllers: str = "all"
    workers: int = 1
    out: str = "outputs/household"


@dataclass(frozen=True)
class Outcome:
    """How one controller did in one episode.

    Attributes:
        controller: its name.
        number: of the episode.
        kind: of its fault; "none" without.
        fault_class: class of its fault.
        visible: whether something is wrong by the facts: they change, or the robot's plan does not reach the goal.
        detected: whether an alarm came before the failing action, or right after it.
        turns: number of comparisons.
        false_alarms: comparisons with an alarm although no fact had changed and the plan led to its goal.
        success: whether the goal holds in the end, its purpose included.
        reachable: whether the goal can be reached after the errors, by the search of the dataset.
        harmless: whether the facts change, and the plan leads to its goal nevertheless.
        interrupted: whether it did something that is not in the plan, or asked for help.
        impossible: whether it found that the goal is lost.
        asked: whether it asked for help.
        seconds: of each search that led to actions.
    """

    controller: str
    number: int
    kind: str
    fault_class: str
    visible: bool
    detected: bool
    turns: int
    false_alarms: int
    success: bool
    reachable: bool
    harmless: bool
    interrupted: bool
    impossible: bool
    asked: bool
    seconds: tuple[float, ...]


def run_episode(
    episode: HouseholdEpisode, names: Sequence[str], hidden: float, wrong: float, seed: int
) -> list[Outcome]:
    """Carry out an episode with several controllers."""
    plan, fault = episode.robots_plan, next(iter(episode.faults), None)
    undisturbed = FactWorld(episode, 0.0, 0.0, seed)
    good_plan = undisturbed.events == 0 and undisturbed.works(plan.actions)
    for action in plan:
        undisturbed.execute(action)
    struck, failed = undisturbed.struck, undisturbed.failed
    visible = struck is not None or (fault is not None and fault.fault_class is FaultClass.PLANNING and not good_plan)
    # what is wrong from the beginning has to be noticed before an action fails, or by the end
    failing = struck if struck else failed if failed is not None else len(plan)
    outcomes = []
    for name in names:
        world = FactWorld(episode, hidden, wrong, seed)
        course, planner = FactCourse(world), PLANNERS[CONTROLLERS[name]]
        system = symbolic(world.home, world.goal, assumed=world.expected_start)
        planner.carry_out(planner.of(system), world, plan, course)
        outcomes.append(
            Outcome(
                name,
                episode.number,
                fault.kind if fault is not None else "none",
                fault.fault_class.value if fault is not None else "none",
                visible,
                any(done <= failing and not false for done, false, _ in course.alarms),
                course.turns,
                sum(false for _, false, _ in course.alarms),
                world.reached(),
                episode.recoverable,
                visible and undisturbed.reached() and failed is None,
                course.asked or any(acts for _, _, acts in course.alarms),
                course.impossible,
                course.asked,
                tuple(course.planning_s),
            )
        )
    return outcomes


def _repeated(item: tuple[HouseholdEpisode, int], names: Sequence[str], hidden: float, wrong: float) -> list[Outcome]:
    return run_episode(item[0], names, hidden, wrong, item[1])


def summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Metrics of one controller."""
    visible, reachable = [o for o in outcomes if o.visible], [o for o in outcomes if o.reachable]
    lost = [o for o in outcomes if not o.reachable]
    turns, false = sum(o.turns for o in outcomes), sum(o.false_alarms for o in outcomes)
    return {
        "episodes": len(outcomes),
        "visible": len(visible),
        "detection": {
            "recall": share_of(o.detected for o in visible),
            "false_alarm_rate": share_of([True] * false + [False] * (turns - false)),
        },
        "completion": {
            "all": share_of(o.success for o in outcomes),
            "reachable": share_of(o.success for o in reachable),
        },
        "lost": {
            "named": share_of(o.impossible and o.asked for o in lost),
            "claimed_done": share_of(not o.asked and not o.success for o in lost),
        },
        "harmless_not_interrupted": share_of(not o.interrupted for o in outcomes if o.harmless),
        "recovery_s": spread(
            [s for o in outcomes for s in o.seconds], median=np.median, p95=lambda x: np.quantile(x, 0.95)
        ),
        "by_fault": {
            kind: {
                "detected": share_of(o.detected for o in group if o.visible),
                "completed": share_of(o.success for o in group if o.reachable),
            }
            for kind, group in grouped(outcomes, lambda o: o.kind).items()
        },
    }


def markdown(metrics: dict[str, Any]) -> str:
    """Metrics as a table."""
    head = (
        "controller", "noticed by the failing step", "false alarms per turn", "goal reached, if it can be",
        "lost goals named", "harmless changes not interrupted", "search, median",
    )  # fmt: skip
    table = [
        [
            name,
            percent_of(found["detection"]["recall"], 1),
            percent_of(found["detection"]["false_alarm_rate"], 2),
            percent_of(found["completion"]["reachable"], 1),
            percent_of(found["lost"]["named"], 1),
            percent_of(found["harmless_not_interrupted"], 1),
            milliseconds(found["recovery_s"]["median"]),
        ]
        for name, found in metrics["controllers"].items()
    ]
    return markdown_table(head, table) + "\n"


def check(config: HouseholdConfig) -> None:
    """Refuse settings that cannot be used."""
    require_known(config.dataset, HOUSEHOLD_DATASETS, f"a dataset among {', '.join(HOUSEHOLD_DATASETS)}")
    for name in _names(config):
        require_known(name, CONTROLLERS, f"controllers among {', '.join(CONTROLLERS)}")


def _names(config: HouseholdConfig) -> list[str]:
    return list(CONTROLLERS) if config.controllers == "all" else config.controllers.split(",")


def episodes_of(config: HouseholdConfig) -> list[HouseholdEpisode]:
    """The first episodes of the dataset: of the folder, or those of the checkout if there is none."""
    folder = Path(config.errors) / config.dataset
    shipped = map(HouseholdEpisode.from_json, shipped_lines(config.dataset, 0, config.episodes))
    episodes = list(islice(read_episodes(folder) if folder.is_dir() else shipped, config.episodes))
    if len(episodes) < config.episodes:
        raise InvalidConfiguration(
            f"expected {config.episodes} episodes of {config.dataset} in {config.errors}, found {len(episodes)}; run "
            f"`python -m sim.datasets dataset={config.dataset} episodes={config.episodes} "
            f"out={Path(config.errors) / config.dataset}`"
        )
    return episodes


def measure(config: HouseholdConfig, run: Run) -> dict[str, Any]:
    """Carry out the episodes with every controller."""
    names = _names(config)
    work = partial(_repeated, names=names, hidden=config.hidden, wrong=config.wrong)
    items = [(episode, config.seed + i) for i in range(config.repeats) for episode in run.episodes]
    done = run.each(work, items, "episode", key=lambda item: f"{item[0].number} {item[1]}")
    outcomes = [outcome for found in done for outcome in found]
    rows = {name: summary([o for o in outcomes if o.controller == name]) for name in names}
    return {
        "dataset": config.dataset,
        "hidden": config.hidden,
        "wrong": config.wrong,
        "seed": config.seed,
        "repeats": config.repeats,
        "perfect_perception": not config.hidden and not config.wrong,
        "controllers": rows,
    }


MEASUREMENT = Measurement(
    HouseholdConfig, measure, markdown, check=check, episodes=episodes_of, checkpoint=None, adds=("episodes", "repeats")
)
