"""`python -m eval.checks.timing`: time of a monitor step, from images to discrepancy, without rendering."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

import nsrecover
from conf.command import option
from eval.common.runner import Measurement, Run, Settings, run
from eval.common.tables import document, markdown_table, seen_through
from eval.common.timing import time_monitor
from nsrecover.errors import InvalidConfiguration
from sim.sensors.presets import sensor_of


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


def check(config: TimingConfig) -> None:
    """Check the numbers.

    Raises:
        InvalidConfiguration: a setting is out of its range.
    """
    if config.repeats < 1 or min(config.objects, default=0) < 2 or (config.threads is not None and config.threads < 1):
        raise InvalidConfiguration(
            f"expected at least 1 repeat, 2 objects and 1 thread, found repeats={config.repeats}, "
            f"objects={list(config.objects)}, threads={config.threads}"
        )


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


MEASUREMENT = Measurement(TimingConfig, measure, table, check)

if __name__ == "__main__":
    run(MEASUREMENT)
