"""`python -m sim.kitchen.success`: how often each household task succeeds without faults, over all layouts."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

from conf.command import run_function
from nsrecover.errors import InvalidConfiguration
from sim.common.folder import claim_folder, read_ledger, write_json
from sim.common.origin import write_run
from sim.common.parallel import run_parallel
from sim.common.statistics import wilson_interval
from sim.common.tables import document, markdown_table
from sim.kitchen.performing import carry_out, unmet
from sim.kitchen.scenes import NUM_LAYOUTS
from sim.kitchen.task_list import TASKS, task_of
from sim.kitchen.tasks import draw_task
from sim.kitchen.world import KitchenWorld

LEDGER = "runs.jsonl"
FORMAT = 1
"""Of the runs on disk."""


@dataclass(frozen=True)
class TaskRun:
    """One run of a task.

    Attributes:
        number: of the run.
        task: its name.
        layout: number of the layout.
        actions: of the plan.
        done: actions that ended as the domain expects.
        failure: the action that did not, and why; empty if the goal was reached.
        operator: of that action; empty if there is none.
        cpu_s: processor time of all actions.
        operators: of the actions that were carried out; the last one failed if `operator` names it.
    """

    number: int
    task: str
    layout: int
    actions: int
    done: int
    failure: str
    operator: str
    cpu_s: float
    operators: Sequence[str] = ()


def run_task(tasks: Sequence[str], seed: int, number: int) -> TaskRun:
    """One run: tasks take turns, and the layouts of each of them do."""
    name, layout = tasks[number % len(tasks)], (number // len(tasks)) % NUM_LAYOUTS
    try:
        spec = draw_task(name, 1000 * seed + number, layout)
    except InvalidConfiguration as problem:
        return TaskRun(number, name, layout, 0, 0, str(problem), "draw", 0.0)
    run = TaskRun(number, name, layout, len(spec.plan), 0, "", "", 0.0)
    with KitchenWorld(spec.kitchen) as world:
        for outcome in carry_out(world, spec):
            carried_out = (*run.operators, outcome.action.operator)
            run = replace(run, cpu_s=round(run.cpu_s + outcome.cpu_s, 3), operators=carried_out)
            if outcome.reason:
                return replace(run, failure=f"{outcome.action}: {outcome.reason}", operator=outcome.action.operator)
            run = replace(run, done=run.done + 1)
        missing = unmet(outcome.truth, spec)
    return replace(run, failure=", ".join(" ".join(fact) for fact in missing), operator="goal" if missing else "")


def summary(runs: Iterable[TaskRun]) -> dict[str, Any]:
    """For each task: runs, successes, interval, processor time of an action, and what failed how often."""
    by_task: dict[str, list[TaskRun]] = defaultdict(list)
    for run in runs:
        by_task[run.task].append(run)
    found = {}
    for task in (name for name in TASKS if name in by_task):
        ended = by_task[task]
        good = sum(not run.failure for run in ended)
        low, high = wilson_interval(good, len(ended))
        failed: dict[str, int] = defaultdict(int)
        for run in ended:
            if run.failure:
                failed[run.operator] += 1
        actions = sum(run.done + bool(run.failure) for run in ended)
        found[task] = {
            "runs": len(ended),
            "succeeded": good,
            "share": round(good / len(ended), 3),
            "interval": [round(low, 3), round(high, 3)],
            "layouts": len({run.layout for run in ended}),
            "cpu_s_an_action": round(sum(run.cpu_s for run in ended) / max(1, actions), 2),
            "failed_at": dict(sorted(failed.items())),
        }
    return found


def skills(runs: Sequence[TaskRun]) -> dict[str, dict[str, Any]]:
    """For each operator: how often it was carried out, how often exactly as the domain expects, and the interval."""
    tried = Counter(operator for run in runs for operator in run.operators)
    failed = Counter(run.operator for run in runs if run.operators and run.operator == run.operators[-1])
    found = {}
    for operator, count in sorted(tried.items()):
        good = count - failed[operator]
        low, high = wilson_interval(good, count)
        found[operator] = {"value": round(good / count, 4), "low": round(low, 4), "high": round(high, 4), "of": count}
    return found


def main(
    runs: Annotated[
        int, typer.Option(help="of each task; the layouts take turns; about 5 s of processor time each")
    ] = 24,
    seed: Annotated[int, typer.Option(help="another seed gives other kitchens")] = 0,
    tasks: Annotated[str, typer.Option(help="names or codes, separated by commas; all ten by default")] = "",
    workers: Annotated[int, typer.Option(help="number of processes")] = 1,
    out: Annotated[str, typer.Option(help="folder for the runs and metrics.json; a second call continues")] = "",
    failures: Annotated[bool, typer.Option(help="list every failure")] = False,
) -> None:
    """Carry out every household task in sampled kitchens without faults, and print how often each succeeds.

    A run succeeds if after every action exactly that is true what the household domain expects, and the goal holds in
    the end. For example `python -m sim.kitchen.success --runs 24 --seed 100 --out outputs/tasks --failures`.
    """
    if runs < 1 or workers < 1 or seed < 0:
        raise InvalidConfiguration(
            f"expected runs and workers of at least 1 and a seed of at least 0, found {runs}, {workers} and {seed}"
        )
    chosen = tuple(task_of(name.strip()).name for name in tasks.split(",") if name.strip()) or tuple(TASKS)
    done: list[TaskRun] = []
    if not out:
        for run in _left(chosen, seed, range(runs * len(chosen)), workers):
            done.append(run)
        _print(done, failures)
        return
    folder = Path(out)
    with claim_folder(folder, {"format": FORMAT, "seed": seed, "tasks": list(chosen)}, "a measurement of tasks"):
        done = read_ledger(folder / LEDGER, lambda line: TaskRun(**json.loads(line)), lambda run: run.number)
        with (folder / LEDGER).open("a", encoding="utf-8") as ledger:
            for run in _left(chosen, seed, range(len(done), runs * len(chosen)), workers):
                done.append(run)
                ledger.write(json.dumps(asdict(run), sort_keys=True) + "\n")
                ledger.flush()
        write_json(folder / "metrics.json", {"seed": seed, "tasks": summary(done), "skills": skills(done)})
        (folder / "table.md").write_text(_markdown(done), encoding="utf-8")
        write_run(folder, "sim.kitchen.success")
    _print(done, failures)


def _left(tasks: Sequence[str], seed: int, numbers: range, workers: int) -> Iterator[TaskRun]:
    """The runs that are left, with their progress."""
    runs = run_parallel(partial(run_task, tasks, seed), numbers, workers)
    yield from tqdm(runs, total=len(numbers), desc="runs", unit="run")


_TASKS = ("task", "succeeded", "of", "95 %", "layouts", "s an action", "failed at")
_SKILLS = ("skill", "as expected", "of", "95 %")


def _task_rows(runs: Sequence[TaskRun]) -> list[tuple[str, ...]]:
    return [
        (
            f"{TASKS[name].code} {name}",
            f"{100 * row['share']:.0f} %",
            str(row["runs"]),
            f"{100 * row['interval'][0]:.0f}-{100 * row['interval'][1]:.0f} %",
            str(row["layouts"]),
            f"{row['cpu_s_an_action']:.2f}",
            ", ".join(f"{operator} {count}" for operator, count in row["failed_at"].items()),
        )
        for name, row in summary(runs).items()
    ]


def _skill_rows(runs: Sequence[TaskRun]) -> list[tuple[str, ...]]:
    return [
        (name, f"{100 * row['value']:.1f} %", str(row["of"]), f"{100 * row['low']:.1f}-{100 * row['high']:.1f} %")
        for name, row in skills(runs).items()
    ]


def _markdown(runs: Sequence[TaskRun]) -> str:
    return document(markdown_table(_TASKS, _task_rows(runs)), markdown_table(_SKILLS, _skill_rows(runs)))


def _print(runs: Sequence[TaskRun], failures: bool) -> None:
    console = Console()
    for run in runs if failures else ():
        if run.failure:
            console.print(f"{run.task}, layout {run.layout}: {run.failure}", soft_wrap=True, markup=False)
    for headers, rows in ((_TASKS, _task_rows(runs)), (_SKILLS, _skill_rows(runs))):
        table = Table(*headers)
        for row in rows:
            table.add_row(*row)
        console.print(table)


if __name__ == "__main__":
    run_function(main)
