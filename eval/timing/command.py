"""`python -m eval.timing`: what the monitor costs in your own loop, from images to discrepancy, without rendering."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from omegaconf import OmegaConf
from tqdm import tqdm

import nsrecover
from nsrecover.core.actions import Plan
from nsrecover.core.atomic_write import atomic_write_bytes
from nsrecover.core.observation import Observation
from nsrecover.core.scene import SceneGraph
from nsrecover.errors import InvalidConfiguration
from nsrecover.perception.perceiver import ScenePerceiver
from nsrecover.system import System
from sim.common.folder import write_json
from sim.tabletop.sampling import Structure, sample_plan, sample_scene
from sim.tabletop.world import TabletopWorld

WARM_UP = 3
STEPS = 4
"""Actions in the plan of a scene, if it has objects enough: a tower."""


@dataclass
class TimingConfig:
    """Top level of conf/timing.yaml."""

    seed: int = 0
    objects: list[int] = field(default_factory=lambda: [5, 10])
    repeats: int = 100
    threads: int | None = None
    checkpoint: str | None = None
    out: str = "outputs/timing"


class _Clocked:
    """A perceiver that says how long it took the last time."""

    def __init__(self, perceiver: ScenePerceiver) -> None:
        self._perceiver, self.seconds = perceiver, 0.0

    def __call__(self, observation: Observation, expected: SceneGraph | None = None) -> SceneGraph:
        began = time.perf_counter()
        graph = self._perceiver(observation, expected=expected)
        self.seconds = time.perf_counter() - began
        return graph


def time_monitor(system: System, objects: Sequence[int], repeats: int, seed: int = 0) -> dict[str, Any]:
    """Time `Monitor.step` on episodes with some numbers of objects, seen by two cameras.

    Args:
        system: the learned parts.
        objects: how many objects, for each episode.
        repeats: steps that are timed for each.
        seed: of the scenes and plans.

    Returns:
        "threads", "cores" and "objects": for each number the milliseconds "median_ms", "p95_ms" and of it "perceive_ms"
        from images to scene graph, also a median; "cpu_ms" is the processor time of all threads, which is the same on a
        machine that does other things too.
    """
    rows: dict[str, Any] = {}
    for count in objects:
        plan, observations = _episode(count, seed)
        steps, perceiving = [], []
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


def _episode(count: int, seed: int) -> tuple[Plan, list[Observation]]:
    """A tower that is built, and what was seen before, between and after its actions."""
    rng = np.random.default_rng((seed, count))
    scene = sample_scene(rng, count)
    plan = sample_plan(rng, scene, Structure.TOWER, min(STEPS, count - 1))
    with TabletopWorld(scene) as world:
        observations = [world.observe()]
        for action in plan:
            world.execute(action)
            observations.append(world.observe())
    return plan, observations


def measure(config: TimingConfig) -> dict[str, Any]:
    """Time, and write metrics and table.

    Args:
        config: see conf/timing.yaml.

    Returns:
        What is written to metrics.json.

    Raises:
        InvalidConfiguration: a setting is out of its range.
        InvalidCheckpoint: the checkpoint cannot be used.
    """
    if config.repeats < 1 or min(config.objects, default=0) < 2 or (config.threads is not None and config.threads < 1):
        raise InvalidConfiguration(
            f"expected at least 1 repeat, 2 objects and 1 thread, found repeats={config.repeats}, "
            f"objects={list(config.objects)}, threads={config.threads}"
        )
    before = torch.get_num_threads()
    torch.set_num_threads(config.threads or before)
    try:
        timed = time_monitor(nsrecover.load(config.checkpoint), config.objects, config.repeats, config.seed)
    finally:
        torch.set_num_threads(before)
    metrics = {"seed": config.seed, **timed}
    lines = ["| objects | step, median | step, 95th percentile | of it perception | processor time |"]
    lines += ["| ---: | ---: | ---: | ---: | ---: |"]
    for count, row in timed["objects"].items():
        cells = (f"{row[key]} ms" for key in ("median_ms", "p95_ms", "perceive_ms", "cpu_ms"))
        lines.append(f"| {count} | {' | '.join(cells)} |")
    lines += ["", f"{timed['threads']} threads of PyTorch on {timed['cores']} cores.", ""]
    out = Path(config.out)
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "metrics.json", metrics)
    atomic_write_bytes(out / "table.md", "\n".join(lines).encode())
    atomic_write_bytes(out / "config.yaml", OmegaConf.to_yaml(OmegaConf.structured(config)).encode())
    return metrics
