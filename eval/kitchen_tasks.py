"""`python -m eval.kitchen_tasks`: how often each household task succeeds without faults, over all layouts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from eval.common.statistics import grouped, share_of
from eval.common.tables import columns_table, document, figure, rate
from eval.metrics import Metric, columns, share, summary, total
from eval.run import Measurement, Run, Settings, run
from nsrecover.errors import InvalidConfiguration
from sim.kitchen.performing import carry_out, unmet
from sim.kitchen.scenes import NUM_LAYOUTS
from sim.kitchen.task_list import TASKS, task_of
from sim.kitchen.tasks import draw_task
from sim.kitchen.world import KitchenWorld


@dataclass
class KitchenTasksConfig(Settings):
    """Carry out every household task in sampled kitchens without faults.

      python -m eval.kitchen_tasks                            24 kitchens for each task; 20 minutes on 2 cores
      python -m eval.kitchen_tasks 'tasks=[T1]' runs=2        fewer

    A run succeeds if after every action exactly that is true what the household domain expects, and the goal holds in
    the end. Writes metrics.json, table.md and every run (rows.jsonl) to out=DIR.

    Attributes:
        runs: of each task; the layouts take turns.
        tasks: names or codes; all ten if empty.
    """

    runs: int = 24
    tasks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class TaskRun:
    """One run of a task.

    Attributes:
        task: its name.
        layout: number of the layout.
        failure: the action that did not end as the domain expects, and why; empty if the goal was reached.
        operator: of that action; `goal` if the plan ended without the goal, `draw` if there was no kitchen.
        operators: of the actions that were carried out; the last one failed if `operator` names it.
        cpu_s: processor time of all actions.
    """

    task: str
    layout: int
    failure: str
    operator: str
    operators: tuple[str, ...] = ()
    cpu_s: float = 0.0


def run_task(number: int, config: KitchenTasksConfig) -> TaskRun:
    """One run: tasks take turns, and the layouts of each of them do."""
    tasks = _tasks(config)
    name, layout = tasks[number % len(tasks)], (number // len(tasks)) % NUM_LAYOUTS
    try:
        spec = draw_task(name, 1000 * config.seed + number, layout)
    except InvalidConfiguration as problem:
        return TaskRun(name, layout, str(problem), "draw")
    done = TaskRun(name, layout, "", "")
    with KitchenWorld(spec.kitchen) as world:
        for outcome in carry_out(world, spec):
            operator, spent = outcome.action.operator, round(done.cpu_s + outcome.cpu_s, 3)
            done = replace(done, cpu_s=spent, operators=(*done.operators, operator))
            if outcome.reason:
                return replace(done, failure=f"{outcome.action}: {outcome.reason}", operator=operator)
        missing = unmet(outcome.truth, spec)
    return replace(done, failure=", ".join(" ".join(fact) for fact in missing), operator="goal" if missing else "")


METRICS = (
    share("reached", "succeeded", lambda each: not each.failure, digits=0),
    total("runs", "of"),
    Metric("layouts", "layouts", lambda runs: len({each.layout for each in runs}), figure("layouts", digits=0)),
    Metric("cpu_s_an_action", "s an action",
           lambda runs: round(sum(r.cpu_s for r in runs) / max(1, sum(len(r.operators) for r in runs)), 2),
           figure("cpu_s_an_action", digits=2)),
    Metric("failed_at", "failed at", lambda runs: dict(sorted(Counter(r.operator for r in runs if r.failure).items())),
           lambda found: ", ".join(f"{operator} {count}" for operator, count in found["failed_at"].items())),
)  # fmt: skip


def measure(config: KitchenTasksConfig, run: Run) -> dict[str, Any]:
    """Carry out every task."""
    numbers = range(config.runs * len(_tasks(config)))
    runs = run.each(partial(run_task, config=config), numbers, "run")
    tried = [
        (operator, not (place == len(each.operators) and operator == each.operator))
        for each in runs
        for place, operator in enumerate(each.operators, 1)
    ]
    return {
        "seed": config.seed,
        "tasks": {name: summary([each for each in runs if each.task == name], METRICS) for name in _tasks(config)},
        "skills": {name: share_of(good for _, good in own) for name, own in grouped(tried, lambda t: t[0]).items()},
    }


def table(metrics: Mapping[str, Any]) -> str:
    """The tables of tasks and of skills."""
    tasks = {f"{TASKS[name].code} {name}": found for name, found in metrics["tasks"].items()}
    skills = (("as expected", rate()), ("of", lambda found: found["of"]))
    return document(
        columns_table(["task"], tasks, columns(METRICS)), columns_table(["skill"], metrics["skills"], skills)
    )


def _tasks(config: KitchenTasksConfig) -> tuple[str, ...]:
    return tuple(task_of(name).name for name in config.tasks) or tuple(TASKS)


MEASUREMENT = Measurement(
    KitchenTasksConfig, measure, table, check=_tasks, least={"runs": 1}, checkpoint=None, adds=("runs",)
)

if __name__ == "__main__":
    run(MEASUREMENT)
