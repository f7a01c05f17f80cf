"""`python -m sim.bench`: success rate and speed of the simulated arm."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from tqdm import tqdm

from conf.command import run_function
from nsrecover.core.actions import Action, Plan
from nsrecover.errors import InvalidConfiguration
from sim.common.arm import STEP_S
from sim.common.cameras import DEFAULT_RIG
from sim.common.statistics import wilson_interval
from sim.tabletop.demonstrations import DemonstrationMix, DemonstrationSpec, action_failure, specify
from sim.tabletop.sampling import Structure, sample_scene
from sim.tabletop.world import TabletopWorld

SEED = 880_000_000
"""Collections and tests have small seeds, so these scenes occur nowhere else."""
METRICS = "metrics.json"

Specify = Callable[[int, int], DemonstrationSpec]
"""Seed and number -> the episode."""


@dataclass
class Stopwatch:
    """Durations of one kind of work.

    Attributes:
        wall_s: wall-clock times.
        cpu_s: processor times, which do not include other programs.
    """

    wall_s: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)

    def time(self, work: Callable[[], Any]) -> Any:
        """Do some work, add its duration and return its result."""
        wall, cpu = time.perf_counter(), time.process_time()
        result = work()
        self.cpu_s.append(time.process_time() - cpu)
        self.wall_s.append(time.perf_counter() - wall)
        return result

    def metrics(self) -> dict[str, float]:
        """Means and medians, seconds."""
        if not self.wall_s:
            return {}
        return {
            f"{name}_{kind}_s": float(of(values))
            for kind, values in (("wall", self.wall_s), ("cpu", self.cpu_s))
            for name, of in (("mean", np.mean), ("median", np.median))
        }


@dataclass
class Tally:
    """Counts and durations over some episodes.

    Attributes:
        placed: successful placements.
        tried: all placements.
        episodes: episodes begun.
        steps: physics steps of the placements.
        placements: duration of each placement.
        observations: duration of each observation.
        whole: duration of each episode.
        failures: failed placements, one line each.
    """

    placed: int = 0
    tried: int = 0
    episodes: int = 0
    steps: int = 0
    placements: Stopwatch = field(default_factory=Stopwatch)
    observations: Stopwatch = field(default_factory=Stopwatch)
    whole: Stopwatch = field(default_factory=Stopwatch)
    failures: list[str] = field(default_factory=list)

    def success(self) -> dict[str, Any]:
        """Share of successful placements, with its 95 % interval."""
        low, high = wilson_interval(self.placed, self.tried)
        rate = self.placed / max(1, self.tried)
        return {"placed": self.placed, "tried": self.tried, "rate": rate, "low_95": low, "high_95": high}


def run_episode(spec: DemonstrationSpec, tally: Tally, observe: bool = True, label: str = "") -> None:
    """Build a world, carry out the plan and check each action.

    Args:
        spec: scene and plan.
        tally: gets the results.
        observe: whether to observe at the start and after every action.
        label: name of the episode in messages. A failed action ends the episode, because it spoils the next ones.
    """
    tally.whole.time(lambda: _episode(spec, tally, observe, label))
    tally.episodes += 1


def _episode(spec: DemonstrationSpec, tally: Tally, observe: bool, label: str) -> None:
    with TabletopWorld(spec.scene, rig=spec.rig) as world:
        if observe:
            tally.observations.time(world.observe)
        for number, action in enumerate(spec.plan):
            before, start_s = world.estimates(), world.time_s
            tally.placements.time(partial(world.execute, action))
            tally.steps += round((world.time_s - start_s) / STEP_S)
            wrong = action_failure(action, before, world.estimates())
            tally.tried += 1
            if wrong is not None:
                tally.failures.append(f"{label} action {number + 1}: {wrong[1]} ({wrong[0]}; {world.log[-1:]})")
                return
            tally.placed += 1
            if observe:
                tally.observations.time(world.observe)


def tower(height: int) -> Specify:
    """Episodes that build a tower in a random scene of seven objects."""

    def episode(seed: int, number: int) -> DemonstrationSpec:
        scene = sample_scene(np.random.default_rng([seed, number]), 7, seed=number)
        names = scene.names
        plan = Plan(tuple(Action("top", (names[i], names[i - 1])) for i in range(1, height)))
        return DemonstrationSpec(scene, plan, Structure.TOWER, DEFAULT_RIG)

    return episode


def mixed(seed: int, number: int) -> DemonstrationSpec:
    """Episodes like demonstrations, with five objects."""
    return specify(DemonstrationMix(objects=(5,)), seed, number)


def standard(seed: int, number: int) -> DemonstrationSpec:
    """Episodes for timing: five objects and five actions."""
    return specify(DemonstrationMix(objects=(5,), lengths=(5,)), seed, number)


BENCHMARKS: dict[str, tuple[str, Specify, bool]] = {
    "tower_4": ("towers up to 4", tower(4), False),
    "tower_6": ("towers up to 6", tower(6), False),
    "mixed_5": ("demonstration mix, 5 objects", mixed, True),
}
"""Key in metrics.json -> its name, its episodes, and whether they include observations."""


def measure(placements: int, episodes: int, seed: int = SEED, quiet: bool = False) -> tuple[dict[str, Any], list[str]]:
    """Run all benchmarks.

    Args:
        placements: minimum number of placements of each kind.
        episodes: standard episodes to time.
        seed: of all scenes and plans.
        quiet: without a progress bar.

    Returns:
        The metrics as plain data, and the failures, one line each.
    """
    metrics: dict[str, Any] = {"seed": seed}
    failures: list[str] = []
    with tqdm(total=placements * len(BENCHMARKS), unit="placement", disable=quiet) as bar:
        for index, (key, (label, episode, observe)) in enumerate(BENCHMARKS.items()):
            bar.set_description(label)
            tally = Tally()
            _run_until(tally, lambda tally: tally.tried >= placements, episode, [seed + index, observe, label], bar)
            metrics[key] = tally.success()
            failures += tally.failures
    with tqdm(total=episodes, unit="episode", disable=quiet, desc="episodes of 5 steps") as bar:
        tally = Tally()
        _run_until(
            tally, lambda tally: tally.episodes >= episodes, standard, [seed + len(BENCHMARKS), True, "timed"], bar
        )
    metrics["pick_and_place"] = tally.placements.metrics()
    metrics["observation"] = tally.observations.metrics()
    metrics["physics_steps"] = {
        "per_placement": tally.steps / max(1, tally.tried),
        "per_wall_s": tally.steps / sum(tally.placements.wall_s),
        "per_cpu_s": tally.steps / sum(tally.placements.cpu_s),
    }
    metrics["episodes_per_minute"] = {
        "wall": 60 * tally.episodes / sum(tally.whole.wall_s),
        "cpu": 60 * tally.episodes / sum(tally.whole.cpu_s),
    }
    return metrics, failures + tally.failures


def _run_until(tally: Tally, enough: Callable[[Tally], bool], episode: Specify, how: list[Any], bar: tqdm) -> None:
    """Run episodes until there are enough, and advance the bar in its unit."""
    seed, observe, label = how
    number = 0
    while not enough(tally):
        done = tally.tried if bar.unit == "placement" else tally.episodes
        # the drawn scene may have no plan of the drawn length
        with contextlib.suppress(InvalidConfiguration):
            run_episode(episode(seed, number), tally, observe, f"{label}, episode {number},")
        number += 1
        bar.update(min((tally.tried if bar.unit == "placement" else tally.episodes) - done, bar.total - bar.n))


def table(metrics: dict[str, Any]) -> str:
    """The metrics as a table."""
    lines = [f"{'placements that worked':32s} {'':>12s}  95 % interval"]
    for key, (label, _, _) in BENCHMARKS.items():
        row = metrics[key]
        share = f"{row['placed']}/{row['tried']}"
        low, high = 100 * row["low_95"], 100 * row["high_95"]
        lines.append(f"{label:32s} {share:>9s} {100 * row['rate']:6.2f} %  {low:.2f} to {high:.2f}")
    lines.append(f"{'seconds, one core':32s} mean wall  median wall  mean cpu  median cpu")
    for key in ("pick_and_place", "observation"):
        row = metrics[key]
        lines.append(
            f"{key.replace('_', ' '):32s} {row['mean_wall_s']:9.3f} {row['median_wall_s']:12.3f} "
            f"{row['mean_cpu_s']:9.3f} {row['median_cpu_s']:11.3f}"
        )
    steps, rate = metrics["physics_steps"], metrics["episodes_per_minute"]
    lines.append(f"{'physics steps a second':32s} {steps['per_wall_s']:.0f} ({steps['per_placement']:.0f} a placement)")
    lines.append(f"{'episodes of 5 steps a minute':32s} {rate['wall']:.1f} wall, {rate['cpu']:.1f} cpu")
    return "\n".join(lines)


def bench(
    placements: Annotated[int, typer.Option(help="Placements of each kind, at least.", min=1)] = 500,
    episodes: Annotated[int, typer.Option(help="Episodes of five steps to time.", min=1)] = 20,
    seed: Annotated[int, typer.Option(help="Of all scenes and plans.", min=0)] = SEED,
    out: Annotated[Path | None, typer.Option(help="Folder to write metrics.json into.")] = None,
) -> None:
    """Measure the success rate and the duration of placements by the simulated arm.

    Three kinds of plans are run without faults: towers of four, towers of six, and plans like those of demonstrations,
    with five objects. A placement succeeds if the promised relation holds, the object is within 2 cm of its goal and
    no other object has moved by more than 1 cm; `sim.collect` uses the same criterion. A failure ends its episode.

    Then complete episodes are timed on one core: five objects, five actions, a new world each, an observation (two
    RGB-D images with masks) at the start and after each action.

    Everything takes about ten minutes. For a short run: python -m sim.bench --placements 30 --episodes 5
    """
    if out is not None and out.exists() and not out.is_dir():
        raise InvalidConfiguration(f"expected a folder as --out, found a file: {out}")
    metrics, failures = measure(placements, episodes, seed)
    for failure in failures:
        print("failed:", failure)
    print(table(metrics))
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / METRICS).write_text(json.dumps(metrics | {"failures": failures}, indent=2) + "\n", encoding="utf-8")
        print(f"written to {out / METRICS}")


if __name__ == "__main__":
    run_function(bench)
