"""How long one step of the monitor takes, from images to discrepancy; rendering excluded, alone in the process."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from nsrecover.structs import Plan
from nsrecover.system import System
from sim.sampling import sample_scene
from sim.world import TabletopWorld

WARM_UP = 3


def time_monitor(system: System, objects: Sequence[int], repeats: int, seed: int = 0) -> dict[str, Any]:
    """Time monitor steps on scenes of some sizes, seen by two cameras.

    Args:
        system: the learned parts.
        objects: how many objects, for each scene.
        repeats: steps that are timed in each scene.
        seed: of the scenes.

    Returns:
        "threads", "cores" and "objects": for each number the milliseconds "median_ms", "p95_ms" and of it "perceive_ms"
        from images to scene graph, also a median.
    """
    rows: dict[str, Any] = {}
    for count in objects:
        with TabletopWorld(sample_scene(np.random.default_rng((seed, count)), count)) as world:
            observation = world.observe()
        perceiver = system.perceiver()
        first = perceiver(observation)
        trace = system.imagination.trace(first, Plan.parse(f"free({first.names[0]})"))
        seconds = []
        for _ in range(WARM_UP + repeats):
            fresh = perceiver.fork()
            started = time.perf_counter()
            graph = fresh(observation, expected=trace.graphs[0])
            perceived = time.perf_counter()
            system.comparison.before(graph, trace, 0)
            seconds.append((time.perf_counter() - started, perceived - started))
        whole, perceiving = 1000 * np.array(seconds[WARM_UP:]).T
        rows[str(count)] = {
            "median_ms": round(float(np.median(whole)), 2),
            "p95_ms": round(float(np.quantile(whole, 0.95)), 2),
            "perceive_ms": round(float(np.median(perceiving)), 2),
        }
    return {"threads": torch.get_num_threads(), "cores": os.cpu_count(), "objects": rows}
