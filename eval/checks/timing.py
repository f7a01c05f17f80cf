"""`python -m eval.checks.timing`: time of a monitor step, from images to discrepancy, without rendering."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

import nsrecover
from conf.command import option
from eval.common.tables import document, markdown_table, seen_through
from eval.run import Measurement, Run, Settings, run
from nsrecover.core.actions import Plan
from nsrecover.core.observation import Observation
from nsrecover.core.scene import SceneGraph
from nsrecover.perception.perceiver import ScenePerceiver
from nsrecover.system import System
from sim.sensors.presets import sensor_of
from sim.sensors.sensor import EXACT, Sensor
from sim.sensors.world import SensedWorld
from sim.tabletop.sampling import Structure, sample_plan, sample_scene
from sim.tabletop.world import TabletopWorld

WARM_UP = 3
STEPS = 4
"""Most actions of a plan, which builds a tower."""


class _Clocked:
    """Perceiver that measures the duration of its last call."""

    def __init__(self, perceiver: ScenePerceiver) -> None:
        self._perceiver, self.seconds = perceiver, 0.0

    def __call__(self, observation: Observation, expected: SceneGraph | None = None) -> SceneGraph:
        began = time.perf_counter()
        graph = self._perceiver(observation, expected=expected)
        self.seconds = time.perf_counter() - began
        return graph


def time_monitor(
    system: System, objects: Sequence[int], repeats: int, seed: int = 0, sensor: Sensor = EXACT
) -> dict[str, Any]:
    """Time `Monitor.step` on episodes with some numbers of objects, seen by two cameras.

    Args:
        system: the learned parts.
        objects: how many objects, for each episode.
        repeats: steps that are timed for each.
        seed: of the scenes and plans, and of the errors of the sensor.
        sensor: what the cameras see through.

    Returns:
        "threads", "cores" and "objects": for each number the milliseconds "median_ms" and "p95_ms", of it the median
        "perceive_ms" from images to scene graph, and "cpu_ms", the processor time of all threads, which does not depend
        on other programs.
    """
    rows: dict[str, Any] = {}
    for count in objects:
        plan, observations = _episode(count, seed, sensor)
        steps, perceiving = list[tuple[float, float]](), list[float]()
        with tqdm(total=repeats, desc=f"{count} objects", unit="step", leave=False) as bar:
            while len(steps) < WARM_UP + repeats:
                perceiver = _Clocked(system.perceiver())
                monitor = system.monitor(plan, observations[0], perceiver)
                for action, observation in zip(plan, observations[1:], strict=True):
                    began, processor = time.perf_counter(), time.process_time()
                    monitor.step(action, observation)
                    steps.append((time.perf_counter() - began, time.process_time() - processor))
                    perceiving.append(perceiver.seconds)
                    bar.update()
        whole, processors = 1000 * np.array(steps[WARM_UP:]).T
        rows[str(count)] = {
            "median_ms": round(float(np.median(whole)), 2),
            "p95_ms": round(float(np.quantile(whole, 0.95)), 2),
            "perceive_ms": round(1000 * float(np.median(perceiving[WARM_UP:])), 2),
            "cpu_ms": round(float(np.median(processors)), 2),
            "steps": len(whole),
        }
    return {"threads": torch.get_num_threads(), "cores": os.cpu_count(), "objects": rows}


def _episode(count: int, seed: int, sensor: Sensor) -> tuple[Plan, list[Observation]]:
    """Return a plan that builds a tower, and the observations before, between and after its actions."""
    rng = np.random.default_rng((seed, count))
    scene = sample_scene(rng, count)
    plan = sample_plan(rng, scene, Structure.TOWER, min(STEPS, count - 1))
    with TabletopWorld(scene) as world:
        sensed = SensedWorld(world, sensor.stream(views=2, seed=seed))
        observations = [sensed.observe()]
        for action in plan:
            world.execute(action)
            observations.append(sensed.observe())
    return plan, observations


@dataclass
class TimingConfig(Settings):
    """Measure the time of one step of the monitor, from images of two cameras to a discrepancy.

      python -m eval.checks.timing                          scenes of 5 and 10 objects; a minute
      python -m eval.checks.timing objects=[10] threads=1   one thread only
      python -m eval.checks.timing sensor=d435              behind a sensor, every view with its own masks
      python -m eval.checks.timing checkpoint=outputs/train/bundle

    The simulator builds towers first; then `Monitor.step` processes the recorded images, alone in the process. Writes
    metrics.json and table.md to out=DIR.

    Attributes:
        objects: numbers of objects.
        repeats: number of timed steps for each number of objects.
        threads: number of threads of PyTorch; PyTorch's default if null.
        sensor: see conf/sensor.
        checkpoint: folder of a checkpoint; the shipped one if null.
    """

    objects: list[int] = field(default_factory=lambda: [5, 10])
    repeats: int = 100
    threads: int | None = None
    sensor: Any = option("clean")
    checkpoint: str | None = None
    workers: int = 1
    out: str = "outputs/timing"


def measure(config: TimingConfig, run: Run) -> dict[str, Any]:
    """Time the monitor, every time anew."""
    sensor = sensor_of(config.sensor)
    before = torch.get_num_threads()
    torch.set_num_threads(config.threads or before)
    try:
        timed = time_monitor(nsrecover.load(config.checkpoint), config.objects, config.repeats, config.seed, sensor)
    finally:
        torch.set_num_threads(before)
    return {"seed": config.seed, "sensor": sensor.name, **timed}


def table(metrics: dict[str, Any]) -> str:
    """Milliseconds by number of objects."""
    columns = {
        "step, median": "median_ms",
        "step, 95th percentile": "p95_ms",
        "of it perception": "perceive_ms",
        "processor time": "cpu_ms",
    }
    rows = [[count, *(f"{row[key]} ms" for key in columns.values())] for count, row in metrics["objects"].items()]
    return document(
        seen_through([metrics["sensor"]]),
        markdown_table(["objects", *columns], rows),
        f"{metrics['threads']} threads of PyTorch on {metrics['cores']} cores.",
    )


MEASUREMENT = Measurement(TimingConfig, measure, table, least={"repeats": 1, "objects": 2, "threads": 1})

if __name__ == "__main__":
    run(MEASUREMENT)
