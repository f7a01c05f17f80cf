"""Household episodes monitored at the level of facts: detection, recovery, what is saved, and ablations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from eval.common.statistics import grouped
from eval.common.tables import duration
from eval.household.fact_world import FactWorld
from eval.household.planners import PLANNERS, Course, rest_of
from eval.metrics import ENDINGS, Metric, comparison, levels, share, summary, total
from eval.run import Run, Settings, run
from nsrecover.core.episode import StepRecord
from nsrecover.core.facts import FactScene
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


class FactCourse(Course):
    """What happens when a plan is carried out.

    Attributes:
        alarms: number of actions that were done by each alarm, whether it was false, and whether it led to actions.
        turns: number of comparisons.
    """

    def __init__(self, world: FactWorld) -> None:
        super().__init__()
        self._world, self._events = world, 0
        self.alarms: list[tuple[int, bool, bool]] = []
        self.turns = 0

    def refused(self, problem: str) -> None:
        """Note an alarm before the first action."""
        super().refused(problem)
        self.turns += 1
        self.alarms.append((0, False, False))

    def recorded(self, record: StepRecord[FactScene]) -> None:
        """Note a comparison; an alarm is false if no fact has changed since the last one, and the plan works."""
        super().recorded(record)
        world = self._world
        self.turns += 1
        changed, self._events = world.events > self._events, world.events
        if record.discrepancy.deviates:
            acts = record.recovery is not None and bool(record.recovery.actions)
            self.alarms.append((world.executed, not changed and world.works(rest_of(record)), acts))


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

    @property
    def asked_for_help(self) -> bool:
        """Whether it asked for help."""
        return self.asked

    @property
    def false_completion(self) -> bool:
        """Whether it ended as if the goal held, and it does not."""
        return not self.asked and not self.success


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


def judge(item: tuple[HouseholdEpisode, int], config: HouseholdConfig) -> list[Outcome]:
    """All controllers in an episode, with the seed of the errors of perception."""
    return run_episode(item[0], _names(config), config.hidden, config.wrong, item[1])


OF_A_FAULT = (
    share("detected", "", lambda o: o.detected, lambda o: o.visible),
    share("completed", "", lambda o: o.success, lambda o: o.reachable),
)
METRICS = (
    total("episodes", ""),
    total("visible", "", lambda o: o.visible),
    share("detection.recall", "noticed by the failing step", lambda o: o.detected, lambda o: o.visible),
    share("detection.false_alarm_rate", "false alarms per turn",
          lambda o: [True] * o.false_alarms + [False] * (o.turns - o.false_alarms), digits=2),
    share("completion.all", "", lambda o: o.success),
    share("completion.reachable", "goal reached, if it can be", lambda o: o.success, lambda o: o.reachable),
    share("lost.named", "lost goals named", lambda o: o.impossible and o.asked, lambda o: not o.reachable),
    share("lost.claimed_done", "", lambda o: not o.asked and not o.success, lambda o: not o.reachable),
    share("harmless_not_interrupted", "harmless changes not interrupted", lambda o: not o.interrupted,
          lambda o: o.harmless),
    *ENDINGS,
    replace(levels("recovery_s", "search, median", lambda o: o.seconds, 5), cell=duration("recovery_s", "median")),
    Metric("by_fault", "", lambda outcomes: {
        kind: summary(group, OF_A_FAULT) for kind, group in grouped(outcomes, lambda o: o.kind).items()
    }, str),
)  # fmt: skip


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


def cases(config: HouseholdConfig, run: Run) -> list[tuple[HouseholdEpisode, int]]:
    """Every episode with every seed of the errors of perception."""
    return [(episode, config.seed + i) for i in range(config.repeats) for episode in run.episodes]


def facts(config: HouseholdConfig) -> dict[str, Any]:
    """What else is in metrics.json."""
    told = {name: getattr(config, name) for name in ("dataset", "hidden", "wrong", "seed", "repeats")}
    return told | {"perfect_perception": not config.hidden and not config.wrong}


MEASUREMENT = comparison(
    HouseholdConfig, judge, cases, METRICS, {"controller": lambda o: o.controller}, facts, name="controllers",
    unit="episode", key=lambda item: f"{item[0].number} {item[1]}", check=check, episodes=episodes_of,
    checkpoint=None, adds=("episodes", "repeats"),
)  # fmt: skip

if __name__ == "__main__":
    run(MEASUREMENT)
