"""`python -m eval.demo`: run scenarios in which the agent notices, explains and recovers, and write reports."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf
from rich.console import Console, Group
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

import nsrecover
from conf.command import run
from conf.targets import instantiate
from eval.common.video import VideoWriter, write_gif
from eval.demo import apple, kitchen
from eval.demo.result import LOG, PAGE, DemoResult, write_report
from eval.demo.tabletop import AgentFactory, run_scenario
from nsrecover.core import Action, Plan, Recovery, RecoveryStatus, StepRecord, Verdict
from nsrecover.errors import InvalidConfiguration
from nsrecover.explanation.facts import violated_texts
from nsrecover.explanation.reasons import reason_text
from nsrecover.serving.reports.model import MarkedAs
from nsrecover.serving.reports.wording import kind_of
from nsrecover.system import System
from nsrecover.util.english import amount
from sim.common.cameras import DEFAULT_RIG
from sim.sensors.presets import sensor_of
from sim.sensors.sensor import Sensor
from sim.tabletop.scenarios import SCENARIOS, scenario

ALL = "all"
REPORT, LOG, VIDEO, METRICS, CONFIG = PAGE, LOG, "episode.mp4", "metrics.json", "config.yaml"
_ELSEWHERE = (kitchen.NAME, apple.NAME)
"""Scenarios that are not on the table."""


@dataclass
class DemoConfig:
    """Top level of conf/demo.yaml."""

    scenario: str = ALL
    seed: int = 0
    out: str | None = None
    checkpoint: str | None = None
    video: bool = True
    gif: str | None = None
    agent: Any = field(default_factory=dict)
    sensor: Any = None


def demo_folder(out: str | None, name: str, outputs: str = "outputs") -> str:
    """Return the output folder: that of the user, or one of the scenario in `outputs`."""
    if out is not None:
        return out
    return f"{outputs}/demo" if name == ALL else f"{outputs}/demo/{name}"


def run_demo(config: DemoConfig, folder: Path, console: Console) -> list[DemoResult]:
    """Run one scenario or all of them.

    Args:
        config: see conf/demo.yaml.
        folder: where the outputs go; with all scenarios, one folder each inside it.
        console: to print on.

    Returns:
        The result of each.

    Raises:
        NsrecoverError: a setting or the checkpoint cannot be used.
    """
    names = [*SCENARIOS, *_ELSEWHERE] if config.scenario == ALL else [config.scenario]
    if config.gif and (config.scenario == ALL or not config.video):
        raise InvalidConfiguration("expected one scenario with video=true for gif=, found none; set scenario=collapse")
    with console.status("loading the checkpoint"):
        system = nsrecover.load(config.checkpoint)
    agent: AgentFactory = instantiate("agent", config.agent)
    sensor = sensor_of(config.sensor)
    sensor.stream(len(DEFAULT_RIG.views), config.seed)  # rejects events of other cameras before the work begins
    items = [_staged(name, config, system, agent, sensor) for name in names]
    results = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), "left", TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        printer = _Printer(console, progress, progress.add_task("", total=sum(len(item.plan) for item in items)))
        for item in items:
            place = folder / item.name if config.scenario == ALL else folder
            place.mkdir(parents=True, exist_ok=True)
            for name in (REPORT, VIDEO, METRICS, LOG):
                (place / name).unlink(missing_ok=True)
            printer.opening(item, config.seed)
            results.append(item.run(place, printer))
            printer.closing(results[-1], place)
            OmegaConf.save(OmegaConf.structured(config), place / CONFIG)
    if config.gif:
        write_gif(folder / VIDEO, Path(config.gif))
    return results


@dataclass(frozen=True)
class _Staged:
    """A scenario: its plan, and what runs it and writes its files into a folder."""

    name: str
    description: str
    plan: Plan
    run: Callable[[Path, _Printer], DemoResult]
    sensor: str = ""


def _staged(name: str, config: DemoConfig, system: System, agent: AgentFactory, sensor: Sensor) -> _Staged:
    seed, video = config.seed, config.video
    if name == kitchen.NAME:
        return _Staged(
            name, kitchen.DESCRIPTION, kitchen.script(seed)[0].plan,
            lambda place, printer: kitchen.run_kitchen(seed, place, video, printer.turned),
        )  # fmt: skip
    if name == apple.NAME:
        return _Staged(
            name, apple.DESCRIPTION, apple.script(seed)[2],
            lambda place, printer: apple.run_apple(seed, place, video, printer.turned, printer.said),
        )  # fmt: skip
    item = scenario(name, seed)

    def run(place: Path, printer: _Printer) -> DemoResult:
        path = place / VIDEO
        with VideoWriter(path) if video else contextlib.nullcontext() as film:
            result = run_scenario(item, system, agent, film, watcher=printer, sensor=sensor)
        write_report(result, place, path if video else None)
        return result

    return _Staged(name, item.description, item.plan, run, f", sensor {sensor.name}")


class _Printer:
    """Prints the run above the progress bar."""

    def __init__(self, console: Console, progress: Progress, task: Any) -> None:
        self._console, self._progress, self._task = console, progress, task

    def opening(self, item: _Staged, seed: int) -> None:
        """Print scenario and plan."""
        self._console.print()
        self._console.print(Rule(f"[bold]{item.name}[/] seed {seed}{item.sensor}", align="left"))
        self._console.print(item.description, style="italic")
        self._console.print("[bold]Plan[/]")
        for number, action in enumerate(item.plan, start=1):
            self._console.print(f"  {number}  {action}", highlight=False)
        self._console.print("[bold]Run[/]")

    def started(self, label: str, action: Action) -> None:
        """Show the present action."""
        self._progress.update(self._task, description=f"{label}: {action}")

    def turned(self, label: str, record: StepRecord) -> None:
        """Print a turn."""
        if record.action is not None:
            self._progress.advance(self._task)
        found, words = record.discrepancy, "" if record.explanation is None else record.explanation.text
        colour, said = "yellow" if record.recovering else "green", "[green]as expected[/]"
        helped = kind_of(found) is MarkedAs.HELP
        if found.verdict is Verdict.CANNOT_TELL:
            colour, said = "yellow", f"[yellow]cannot tell[/]  {words}"
        elif found.deviates:
            colour, what = ("cyan", "help") if helped else ("red", "error")
            said = f"[bold {colour}]{what} noticed {found.phase.value} it[/]"
        self._console.print(f"  [{colour}]{label:<18}[/] {record.action or found.action}  {said}", highlight=False)
        if not found.deviates:
            return
        deviating = ", ".join(f"{each.name} ({each.cause.value})" for each in found.deviations)
        whose = "Done already: " if helped else "Culprits: "
        body = [Text.assemble((whose, "bold"), deviating or "; ".join(violated_texts(found)))]
        if words:
            body.append(Text.assemble(("Explanation: ", "bold"), words))
        if record.recovery is not None:
            body.append(_recovery_text(record.recovery))
            total = self._progress.tasks[self._task].total or 0
            self._progress.update(self._task, total=total + len(record.recovery.actions))
        self._console.print(Panel(Group(*body), border_style=colour))

    def said(self, text: str) -> None:
        """Print what the robot recovered from."""
        self._console.print(f"    {text}", highlight=False, markup=False)

    def closing(self, result: DemoResult, place: Path) -> None:
        """Print the outcome."""
        judged = "the goal holds" if result.domain else "everything is where a run without faults puts it"
        outcome = f"[bold green]goal reached[/] (ground truth: {judged})"
        if not result.goal_reached:
            outcome = f"[bold red]goal not reached[/]: {'; '.join(f'{k}: {v}' for k, v in result.deviations.items())}"
        self._console.print(f"[bold]Outcome[/] {outcome}", highlight=False)
        if result.reason:
            self._console.print(f"  {result.status}: {result.reason}", highlight=False, markup=False)
        self._console.print(f"  {place / REPORT}", highlight=False, markup=False, soft_wrap=True)


def _recovery_text(recovery: Recovery) -> Text:
    text = Text.assemble(("Recovery: ", "bold"))
    if recovery.status is RecoveryStatus.RECOVERED:
        text.append("; ".join(f"{n} {action}" for n, action in enumerate(recovery.actions, start=1)))
    else:
        text.append(f"{recovery.status.value.replace('_', ' ')} {reason_text(recovery)}".strip())
    text.append(f"  ({recovery.seconds:.2f} s, {recovery.expansions} nodes)", style="dim")
    return text


def _summary(results: list[DemoResult]) -> Table:
    table = Table("scenario", "noticed", "culprits", "right", "recovery", "planning", "goal", title="Summary")
    for result in results:
        first = result.errors[0] if result.errors else None
        right = {True: "[green]yes[/]", False: "[red]no[/]", None: "-"}[first.culprits_right if first else None]
        table.add_row(
            result.scenario,
            f"{first.record.discrepancy.phase.value} {first.label}" if first else "nothing",
            ", ".join(first.record.discrepancy.deviating) if first else "",
            right,
            f"{amount(len(result.recovery_actions), 'action')}",
            f"{result.recovery_time_s:.2f} s",
            "[green]reached[/]" if result.goal_reached else "[red]not reached[/]",
        )
    return table


def _main(settings: DemoConfig) -> None:
    console = Console()
    results = run_demo(settings, Path(HydraConfig.get().runtime.output_dir), console)
    console.print(_summary(results))
    if not all(result.goal_reached for result in results):
        sys.exit(1)


def main() -> None:
    """Entry point of the command."""
    OmegaConf.register_new_resolver("demo_folder", demo_folder, replace=True)
    run("demo", DemoConfig, _main)
