"""`python -m eval.questions`: one person answers the questions of many robots, in several orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from itertools import islice
from typing import Any

import numpy as np

from eval.common.statistics import bootstrap_interval, share
from eval.common.tables import document, markdown_table, percent, percent_of
from eval.questions.rules import rules
from eval.questions.shift import Outcome, Task, Times, drawn_robots, run_shift
from eval.run import Measurement, Run, Settings, run
from nsrecover.errors import InvalidAction, InvalidConfiguration
from sim.datasets.shipped import shipped_lines

DATASETS = ("H1", "H2", "H3")
ALL, OURS = "one person for each robot", "ours"
RESAMPLES = 10_000


@dataclass
class QuestionsConfig(Settings):
    """Measure in which order one person should answer the questions of many robots.

    One simulated person answers one question after the other: in the order of `nsrecover fleet`, first come first
    served, by the earliest deadline, by the largest stake, or at random.

      python -m eval.questions                              20 shifts of 32 robots
      python -m eval.questions shifts=2 robots=6 out=DIR    a quick look
      python -m eval.questions robots=16                    half the load

    Agents run in threads, one at a time, by a simulated clock: results depend on the settings only. Writes
    metrics.json and table.md to out=DIR.

    Attributes:
        seed: another seed gives other shifts.
        shifts: number of shifts, each of which is run with every order.
        robots: number of robots in a shift.
        tasks: number of tasks of each robot, one after the other.
        action_s: duration of an action, simulated seconds.
        answer_s: time of one answer of the person, simulated seconds.
        shift_s: duration of a shift, simulated seconds; what is not done by then is not done.
        begin_s: every robot begins within this time, simulated seconds.
        limits_s: each robot gives up the rest of a partly lost task after one of these times without an answer,
            simulated seconds.
        agrees: probability that the person wants the rest of a partly lost task; the order assumes 0.5.
        episodes: the tasks are the first episodes of each of the datasets H1, H2 and H3, as facts; a plan that no
            session accepts is left out.
    """

    shifts: int = 20
    robots: int = 32
    tasks: int = 2
    action_s: float = 10.0
    answer_s: float = 20.0
    shift_s: float = 240.0
    begin_s: float = 60.0
    limits_s: list[float] = field(default_factory=lambda: [30.0, 60.0, 120.0, 300.0])
    agrees: float = 0.75
    episodes: int = 40
    out: str = "outputs/questions"


def check(config: QuestionsConfig) -> None:
    """Refuse settings that cannot be used."""
    counts = (config.shifts, config.robots, config.tasks, config.episodes)
    seconds = (config.action_s, config.answer_s, config.shift_s, *config.limits_s)
    if min(*counts, *seconds) <= 0 or not config.limits_s or config.begin_s < 0 or not 0 <= config.agrees <= 1:
        raise InvalidConfiguration(
            "expected positive counts and times, and agrees from 0 to 1, found another value; --help explains them"
        )


@cache
def _pool(episodes: int) -> tuple[Task, ...]:
    """Tasks whose plan a session accepts: one that puts food onto a pan that is not flat begins no run."""
    every = (Task(line) for name in DATASETS for line in islice(shipped_lines(name, 0, episodes), episodes))
    return tuple(task for task in every if _accepted(task))


def _accepted(task: Task) -> bool:
    try:
        task.system.check_plan(task.episode.robots_plan)
    except InvalidAction:
        return False
    return True


def run_rules(number: int, config: QuestionsConfig) -> dict[str, Outcome]:
    """One shift with every rule."""
    rng = np.random.default_rng([config.seed, number, 43])
    robots = drawn_robots(
        _pool(config.episodes), config.robots, config.tasks, config.limits_s, config.begin_s, config.agrees, rng
    )
    times = Times(config.action_s, config.answer_s, config.shift_s)
    return {name: run_shift(robots, times, rule) for name, rule in rules(number).items()}


def measure(config: QuestionsConfig, run: Run) -> dict[str, Any]:
    """Run the same shifts with every rule."""
    shifts = run.each(partial(run_rules, config=config), range(config.shifts), "shift")
    found = {name: [shift[name] for shift in shifts] for name in shifts[0]}
    return {
        "seed": config.seed,
        "shifts": config.shifts,
        "shift_s": config.shift_s,
        "answer_s": config.answer_s,
        "action_s": config.action_s,
        "robots": config.robots,
        "rules": {name: _summary(outcomes, found[ALL]) for name, outcomes in found.items()},
        "ours_minus": {
            name: _difference(found[OURS], outcomes, found[ALL])
            for name, outcomes in found.items()
            if name not in (OURS, ALL)
        },
        "raw": {name: [asdict(each) for each in outcomes] for name, outcomes in found.items()},
    }


def table(metrics: dict[str, Any]) -> str:
    """Tables of the rules and of the differences."""
    rows = [
        [
            name,
            percent(each["actions"]["value"], (each["actions"]["low"], each["actions"]["high"]), 1),
            each["goals"],
            each["asked"],
            percent_of(each["answered"], 1),
            each["ran_out"],
            f"{each['busiest']:.1f}",
        ]
        for name, each in metrics["rules"].items()
    ]
    differences = [
        [
            name,
            *(_points(each[key]) for key in ("actions", "goals")),
            f"{each['won']} / {each['equal']} / {each['lost']}",
        ]
        for name, each in metrics["ours_minus"].items()
    ]
    return document(
        f"{metrics['shifts']} shifts of {metrics['shift_s']:g} s with {metrics['robots']} robots; one answer takes "
        f"{metrics['answer_s']:g} s, one action {metrics['action_s']:g} s.",
        markdown_table(
            ("order", "actions done", "goals", "questions", "answered", "ran out", "most open at a time, mean"), rows
        ),
        markdown_table(("ours minus", "actions done", "goals reached", "shifts won / equal / lost"), differences),
        "Actions and goals are shares of what is done with one person for each robot; 95 % intervals by bootstrap over "
        "the shifts, differences of the same shifts.",
    )


def _summary(outcomes: Sequence[Outcome], most: Sequence[Outcome]) -> dict[str, Any]:
    asked = sum(each.asked for each in outcomes)
    return {
        "actions": _ratio(outcomes, most, lambda each: each.actions),
        "done": sum(each.actions for each in outcomes),
        "goals": sum(each.goals for each in outcomes),
        "asked": asked,
        "answered": share(sum(each.answered for each in outcomes), asked),
        "ran_out": sum(each.ran_out for each in outcomes),
        "busiest": round(float(np.mean([each.busiest for each in outcomes])), 2),
    }


def _ratio(outcomes: Sequence[Outcome], most: Sequence[Outcome], of: Callable[[Outcome], int]) -> dict[str, float]:
    """Share of what is done at most, with its 95 % interval."""
    done, all_of_it = (np.array([of(each) for each in every], float) for every in (outcomes, most))
    return _interval(done, all_of_it)


def _difference(ours: Sequence[Outcome], other: Sequence[Outcome], most: Sequence[Outcome]) -> dict[str, Any]:
    """Ours minus another rule in the same shifts, as shares of what is done at most."""
    found: dict[str, Any] = {}
    for key in ("actions", "goals"):
        one, two, all_of_it = (np.array([getattr(each, key) for each in every], float) for every in (ours, other, most))
        found[key] = _interval(one - two, all_of_it)
    ahead = [one.actions - two.actions for one, two in zip(ours, other, strict=True)]
    return found | {
        "won": sum(each > 0 for each in ahead),
        "equal": sum(each == 0 for each in ahead),
        "lost": sum(each < 0 for each in ahead),
    }


def _interval(done: np.ndarray[Any, Any], most: np.ndarray[Any, Any]) -> dict[str, float]:
    """Sum over sum, and its 95 % bootstrap interval over the shifts."""
    low, high = bootstrap_interval(done, most, RESAMPLES)
    value = float(done.sum() / max(most.sum(), 1.0))
    return {"value": round(value, 5), "low": round(low, 5), "high": round(high, 5)}


def _points(found: dict[str, float]) -> str:
    return f"{100 * found['value']:+.1f} points [{100 * found['low']:+.1f}, {100 * found['high']:+.1f}]"


MEASUREMENT = Measurement(QuestionsConfig, measure, table, check=check, checkpoint=None, adds=("shifts",))


if __name__ == "__main__":
    run(MEASUREMENT)
