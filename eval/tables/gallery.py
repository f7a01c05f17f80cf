"""Failure gallery: every failed episode with its reason, and a report with pictures of a second run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from eval.common import demo_report
from eval.common.episodes import episodes_of
from eval.common.scenario_run import run_scenario
from eval.sweep.controllers import Recovering, warm_system
from eval.sweep.failures import failure_of
from eval.sweep.records import EpisodeRecord
from eval.tables.document import Section
from eval.tables.load import Sweep
from sim.common.groups import instantiate_group
from sim.datasets.spec import ErrorEpisode
from sim.sensors.presets import sensor_of
from sim.sensors.sensor import EXACT, Sensor
from sim.tabletop.scenarios import Scenario

FOLDER = "gallery"
NAMED = 5
"""Objects that a line names."""


def build(sweeps: Sequence[Sweep], out: Path, reports: int, lines: int) -> list[Section]:
    """List the failed episodes, and run the first ones again for a report.

    Args:
        sweeps: finished sweeps.
        out: folder of the tables; reports go to a folder in it.
        reports: how many failed episodes of each sweep get a report. Only episodes of the library's agent without
            faults during recovery can be repeated with pictures.
        lines: how many of each sweep are listed; the others are counted.
    """
    rows = []
    for sweep in sweeps:
        failed = [record for record in sweep.records if failure_of(record) is not None]
        links = reports_of(sweep, failed[:reports], out) if reports and failed else {}
        for record in failed[:lines]:
            label = f"{sweep.planner} {record.label()}"
            link = links.get(record.episode)
            rows.append(
                [
                    label if link is None else f"[{label}]({link})",
                    str(failure_of(record)),
                    record.reason,
                    final_deviations(record),
                ]
            )
        if len(failed) > lines:
            rows.append([f"{sweep.planner} {sweep.dataset}", f"{len(failed) - lines} more", "", ""])
    if not rows:
        return []
    text = (
        "Failed episodes and the deviations at their end, of each planner and dataset the "
        f"first {lines}. `python -m eval.tables --failures N` lists more."
    )
    return [Section("Failure gallery", text, ("episode", "reason", "what the planner says", "what is wrong"), rows)]


def final_deviations(record: EpisodeRecord) -> str:
    """Deviations at the end of an episode, as text."""
    parts = [f"{name}: {why}" for name, why in record.deviations.items()]
    return "; ".join(parts[:NAMED]) + f"; and {len(parts) - NAMED} more" * (len(parts) > NAMED)


def reports_of(sweep: Sweep, failed: Sequence[EpisodeRecord], out: Path) -> dict[int, str]:
    """Run episodes of a sweep again, with pictures, and write a report of each.

    Args:
        sweep: the sweep.
        failed: some of its episodes.
        out: folder; reports go to a folder in it.

    Returns:
        Episode -> address of its report in the folder; empty for planners that cannot be repeated with pictures.
    """
    controller = instantiate_group("planner", sweep.config.planner)
    if not isinstance(controller, Recovering) or sweep.config.during_recovery:
        return {}
    count = max(record.index for record in failed) + 1
    episodes = episodes_of({sweep.dataset: count}, sweep.config.seed, sweep.config.errors)
    sensor, links = sensor_of(sweep.config.get("sensor")), {}
    for record in tqdm(failed, desc=f"reports of {sweep.planner} on {sweep.dataset}", unit="episode"):
        name = f"{sweep.planner}-{sweep.dataset}" + f"-{sweep.sensor}" * (sweep.sensor != "clean")
        place = f"{FOLDER}/{name}-{record.episode}"
        show(episodes[record.index], controller, out / place, str(failure_of(record)), sensor)
        links[record.episode] = f"{place}/report.html"
    return links


def show(episode: ErrorEpisode, controller: Recovering, folder: Path, why: str = "", sensor: Sensor = EXACT) -> None:
    """Run an episode again, with pictures, and write its report.

    Args:
        episode: scene, plan and faults.
        controller: the planner.
        folder: of the report.
        why: reason of the failure.
        sensor: that the planner sees through.
    """
    faults = ", ".join(sorted({fault.kind for fault in episode.faults})) or "nothing is injected"
    scenario = Scenario(
        name=f"{controller.name} {episode.dataset} {episode.number}",
        seed=episode.seed,
        scene=episode.scene,
        plan=episode.plan,
        faults=episode.faults,
        step=min((fault.at_step for fault in episode.faults), default=0),
        description=f"Faults: {faults}." + f" Failed: {why.replace('_', ' ')}." * bool(why),
        light=episode.light,
    )
    result = run_scenario(
        scenario, warm_system(controller.checkpoint), lambda _, world: controller.agent(world), sensor=sensor
    )
    demo_report.write(result, folder)
