"""`python -m eval.checks.rig`: what training on own runs gains on a rig that the shipped checkpoint does not know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conf.command import option
from eval.common.statistics import share
from eval.common.tables import document, markdown_table, percent_of
from eval.run import Measurement, Run, Settings, run
from nsrecover.cli import commands
from nsrecover.errors import InvalidConfiguration
from nsrecover.loading import load
from nsrecover.onboarding import scoring
from nsrecover.onboarding.scoring import ScoredStep
from nsrecover.onboarding.training import FALSE_ALARMS, quality_of
from nsrecover.records.archive import Archive, write_archive
from nsrecover.records.runs import read_runs
from sim.collect import CollectConfig, collect

TOLERANCE_M = 0.02
"""Tolerance of the shipped checkpoint."""


@dataclass
class RigConfig(Settings):
    """Record runs of a rig that the shipped checkpoint does not know, run `nsrecover train` on them, and compare.

      python -m eval.checks.rig                           ideal depth, so that only what can be learned differs
      python -m eval.checks.rig sensor=d435 out=DIR       noisy depth on both rigs
      python -m eval.checks.rig cameras=corners out=DIR   other cameras

    The rig has other cameras, colours and table than those of the training. What is compared are the displacements that
    are detected at the same rate of false alarms. The known rig has the default cameras and scene, and the same sensor.
    Takes ten minutes; writes metrics.json and table.md to out=DIR.

    Attributes:
        runs: runs to train on.
        transitions: good steps of fresh runs to measure on, of this rig and of the one that the checkpoint knows.
        distances_mm: displacements of one object, millimetres.
        settings: settings of the training, as of `nsrecover train --setting`.
        scene: see conf/scene.
        cameras: see conf/cameras.
        sensor: see conf/sensor.
    """

    runs: int = 50
    transitions: int = 300
    distances_mm: list[float] = field(default_factory=lambda: [10, 12, 15, 20, 25])
    settings: list[str] = field(default_factory=list)
    scene: Any = option("workshop")
    cameras: Any = option("low_wide")
    sensor: Any = option("clean")


def measure(config: RigConfig, run: Run) -> dict[str, Any]:
    """Record runs of the rig, train on them, and compare on fresh runs; what is there already is kept."""
    out, rig = run.folder, {"scene": config.scene, "cameras": config.cameras}
    # the mean plan has four actions, so this many give a few runs more than are needed
    own = _recorded(config, out / "runs", 3 * config.seed, 5 * config.runs, rig)
    fresh = _recorded(config, out / "fresh", 3 * config.seed + 1, config.transitions, rig)
    home = _recorded(config, out / "home", 3 * config.seed + 2, config.transitions, {})
    runs = _first_runs(own, config.runs, out / "first")
    commands.train(episodes=[str(runs)], out=out / "trained", setting=list(config.settings))
    steps = {
        name: scoring.all_steps(
            load(checkpoint), list(read_runs([place])), config.distances_mm, out / "parts", f"judging: {name}"
        )
        for name, checkpoint, place in (
            ("known rig, shipped", None, home),
            ("this rig, shipped", None, fresh),
            ("this rig, trained", out / "trained" / "best", fresh),
        )
    }
    return {
        "seed": config.seed,
        "runs": config.runs,
        "rigs": {name: _judged(found) for name, found in steps.items()},
    }


def _recorded(config: RigConfig, folder: Path, seed: int, transitions: int, rig: dict[str, Any]) -> Path:
    """File of recorded runs."""
    settings = CollectConfig(
        transitions=transitions, seed=seed, out=str(folder), workers=config.workers, fidelity="kinematic",
        sensor=config.sensor, **rig,
    )  # fmt: skip
    collect(settings)
    return folder / "demonstrations.h5"


def _first_runs(file: Path, count: int, folder: Path) -> Path:
    """File with the first runs of another one."""
    with Archive(file, trusted=True) as archive:
        if len(archive) < count:
            raise InvalidConfiguration(f"expected {count} runs, found {len(archive)} in {file}; collect more")
        write_archive(folder / "runs.h5", (archive[number] for number in archive.episodes[:count]))
    return folder / "runs.h5"


def _judged(steps: Sequence[ScoredStep]) -> dict[str, Any]:
    quality = quality_of(steps, TOLERANCE_M)
    return {
        "good_steps": quality.alarms.steps,
        "false_alarms": quality.alarms.hits,
        "placing_error_mm": [round(error, 1) for error in quality.placed_mm],
        "detected": {f"{mm:g}": share(found.hits, found.steps) for mm, found in quality.by_mm.items()},
    }


def table(metrics: dict[str, Any]) -> str:
    """The results as Markdown."""
    rigs = metrics["rigs"]
    rows = [
        [f"displaced by {mm} mm", *(percent_of(found["detected"][mm], 1) for found in rigs.values())]
        for mm in next(iter(rigs.values()))["detected"]
    ]
    errors = ["{} / {} mm".format(*found["placing_error_mm"]) for found in rigs.values()]
    rows.append(["placing error, median / 90 %", *errors])
    title = f"Detected at {100 * FALSE_ALARMS:g} % false alarms, before and after training on {metrics['runs']} runs"
    return document(title, markdown_table(["", *rigs], rows))


LEAST = {"runs": 10, "transitions": 20, "distances_mm": 0}
MEASUREMENT = Measurement(RigConfig, measure, table, least=LEAST)

if __name__ == "__main__":
    run(MEASUREMENT)
