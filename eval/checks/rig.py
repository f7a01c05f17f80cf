"""`python -m eval.checks.rig`: what training on own runs gains on a rig that the shipped checkpoint does not know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

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

RESAMPLES = 1000

TOLERANCE_M = 0.02
"""Tolerance of the shipped checkpoint."""

SMALLEST_GAP = 0.05
"""Smaller differences between the rigs are no gap."""


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
    out: str = "outputs/rig"


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
        "closed": _closed(*steps.values()),
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


def _closed(
    home: Sequence[ScoredStep], before: Sequence[ScoredStep], after: Sequence[ScoredStep]
) -> dict[str, dict[str, float]]:
    """Displacement, mm -> share of the gap to the known rig that training closes, with its 95 % interval over runs."""
    rng = np.random.default_rng(0)
    point = [_shares(steps) for steps in (home, before, after)]
    drawn = np.empty((RESAMPLES, 3, len(point[0])))
    for resample in drawn:
        resample[0] = _shares(_of_runs(home, rng.choice(_runs(home), len(_runs(home)))))
        chosen = rng.choice(_runs(before), len(_runs(before)))  # both models judge the same runs
        resample[1], resample[2] = (_shares(_of_runs(steps, chosen)) for steps in (before, after))
    closed = {}
    for place, mm in enumerate(quality_of(home, TOLERANCE_M).by_mm):
        gap = point[0][place] - point[1][place]
        if gap >= SMALLEST_GAP:
            gaps = np.maximum(drawn[:, 0, place] - drawn[:, 1, place], 1e-9)
            low, high = np.quantile((drawn[:, 2, place] - drawn[:, 1, place]) / gaps, (0.025, 0.975)).tolist()
            value = float((point[2][place] - point[1][place]) / gap)
            closed[f"{mm:g}"] = {"value": round(value, 4), "low": round(low, 4), "high": round(high, 4)}
    return closed


def _shares(steps: Sequence[ScoredStep]) -> npt.NDArray[np.float64]:
    return np.array([found.value for found in quality_of(steps, TOLERANCE_M).by_mm.values()])


def _runs(steps: Sequence[ScoredStep]) -> list[int]:
    return sorted({step.run for step in steps})


def _of_runs(steps: Sequence[ScoredStep], runs: npt.NDArray[np.int_]) -> list[ScoredStep]:
    by_run: dict[int, list[ScoredStep]] = {}
    for step in steps:
        by_run.setdefault(step.run, []).append(step)
    return [step for run in runs.tolist() for step in by_run[run]]


def table(metrics: dict[str, Any]) -> str:
    """The results as Markdown."""
    rigs = metrics["rigs"]
    rows = [
        [
            f"displaced by {mm} mm",
            *(percent_of(found["detected"][mm], 1) for found in rigs.values()),
            percent_of(metrics["closed"][mm], 0) if mm in metrics["closed"] else "no gap",
        ]
        for mm in next(iter(rigs.values()))["detected"]
    ]
    errors = ["{} / {} mm".format(*found["placing_error_mm"]) for found in rigs.values()]
    rows.append(["placing error, median / 90 %", *errors, ""])
    title = f"Detected at {100 * FALSE_ALARMS:g} % false alarms, before and after training on {metrics['runs']} runs"
    return document(title, markdown_table(["", *rigs, "gap closed"], rows))


LEAST = {"runs": 10, "transitions": 20, "distances_mm": 0}
MEASUREMENT = Measurement(RigConfig, measure, table, least=LEAST)

if __name__ == "__main__":
    run(MEASUREMENT)
