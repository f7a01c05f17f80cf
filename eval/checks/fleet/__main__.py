"""`python -m eval.checks.fleet`: many robots, some of them hostile, use one server at the same time."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import psutil
from tqdm import tqdm

from eval.checks.fleet.hostile import Hostile
from eval.checks.fleet.robots import (
    LOOK,
    RECOVER,
    Answered,
    Robot,
    check_health,
    of_kind,
    story_in_boxes,
    story_in_images,
)
from eval.common.runner import Measurement, Run, Settings, run
from eval.common.served import Served, served
from eval.common.tables import document, markdown_table

HEALTH_EVERY_S = 0.25
"""Interval of health checks."""

MEMORY_EVERY_S = 10.0
"""Interval of measurements of the memory, which take time."""

REQUESTS = 8
"""Requests of one address in the interval of observations, at most: twice what a robot sends when it begins anew. The
server's limit is set by it; what checks health comes from an address of its own, too."""


@dataclass
class FleetConfig(Settings):
    """Start `nsrecover serve`, let many robots send it what they see, and measure how long they wait.

      python -m eval.checks.fleet                                   20 robots with cameras, an observation a second each
      python -m eval.checks.fleet boxes=true robots=50 hostile=5     boxes only, and five hostile clients
      python -m eval.checks.fleet robots=5 seconds=20 out=DIR        a quick look

    Every answer is compared with the expected result of the episode and of its session. An observation has two
    camera views of 320 x 240, as JSON, or the boxes of six objects. Writes metrics.json and table.md to out=DIR.

    Attributes:
        robots: number of robots, each with its own session.
        hostile: number of clients that send nonsense, floods and half requests, each from an address of its own.
        boxes: boxes by name instead of camera images; needs neither a checkpoint nor torch.
        seconds: duration, seconds.
        every_s: seconds between two observations of one robot.
    """

    robots: int = 20
    hostile: int = 0
    boxes: bool = False
    seconds: float = 120.0
    every_s: float = 1.0
    out: str = "outputs/fleet"


def measure(config: FleetConfig, run: Run) -> dict[str, Any]:
    """Load a server, every time anew."""
    rate = max(REQUESTS / config.every_s, 2 / HEALTH_EVERY_S)
    kind = ["--boxes-only"] if config.boxes else []
    with served("--sessions", str(config.robots), "--rate", str(rate), *kind) as server:
        return under_load(server, config)


def under_load(server: Served, config: FleetConfig) -> dict[str, Any]:
    """Run all robots, and return the contents of metrics.json."""
    starts = np.random.default_rng(config.seed).uniform(0, config.every_s, config.robots)
    story = story_in_boxes if config.boxes else story_in_images
    robots = [Robot(server.url, number, story(number), config.every_s, float(s)) for number, s in enumerate(starts)]
    hostile = [Hostile(server.url, number) for number in range(config.hostile)]
    healthy: list[Answered] = []
    process = psutil.Process(server.process.pid)
    memory_mb, cpu_before = [memory_of(process)], cpu_of(process)
    began = time.perf_counter()
    until = began + config.seconds
    runs = [*(robot.run for robot in robots), *(client.run for client in hostile)]
    threads = [threading.Thread(target=run, args=(until,)) for run in runs]
    threads.append(threading.Thread(target=check_health, args=(server.url, until, HEALTH_EVERY_S, healthy)))
    for thread in threads:
        thread.start()
    with tqdm(total=round(config.seconds), unit="s", desc="under load") as bar:
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.5)
            if time.perf_counter() - began > MEMORY_EVERY_S * len(memory_mb):
                memory_mb.append(memory_of(process))
            bar.n = min(round(time.perf_counter() - began), bar.total)
            bar.refresh()
    memory_mb.append(memory_of(process))
    cpu_s = cpu_of(process) - cpu_before
    answers = [answer for robot in robots for answer in robot.answers] + healthy
    return metrics_of(config, answers, sum((each.statuses for each in hostile), Counter[int]()), memory_mb, cpu_s)


def memory_of(process: psutil.Process) -> float:
    """Megabytes of a process and those that it has started; what they share counts once."""
    return float(sum(each.memory_full_info().pss for each in _family(process)) / 1e6)


def cpu_of(process: psutil.Process) -> float:
    """Seconds of processor time of a process and those that it has started."""
    return sum(sum(each.cpu_times()[:2]) for each in _family(process))


def _family(process: psutil.Process) -> list[psutil.Process]:
    return [process, *process.children(recursive=True)]


def metrics_of(
    config: FleetConfig,
    answers: Sequence[Answered],
    statuses: Counter[int],
    memory_mb: Sequence[float],
    cpu_s: float,
) -> dict[str, Any]:
    """Return the contents of metrics.json: seconds, megabytes."""
    wrong = [answer for answer in answers if answer.wrong]
    looks = of_kind(answers, LOOK, RECOVER)
    kinds = sorted({answer.what for answer in answers})
    return {
        "robots": config.robots,
        "hostile": config.hostile,
        "input": "boxes" if config.boxes else "images",
        "seconds": config.seconds,
        "observations": len(looks),
        "observations_per_s": round(len(looks) / config.seconds, 2),
        "errors": len(wrong),
        "first_errors": sorted({f"{answer.what}: {answer.wrong}" for answer in wrong})[:5],
        "to_hostile": {str(status): count for status, count in sorted(statuses.items())},
        "server_errors": sum(count for status, count in statuses.items() if status >= 500),
        "latency_s": {"observation": _quantiles(looks)} | {kind: _quantiles(of_kind(answers, kind)) for kind in kinds},
        "late_s": max((answer.late_s for answer in looks), default=0.0),
        "memory_mb": {"idle": memory_mb[0], "most": max(memory_mb), "last": memory_mb[-1]},
        "cpu_s_per_observation": round(cpu_s / max(len(looks), 1), 4),
        "cpu_share_of_one_core": round(cpu_s / config.seconds, 3),
    }


def _quantiles(answers: Sequence[Answered]) -> dict[str, float]:
    seconds = [answer.seconds for answer in answers] or [float("nan")]
    levels = {"p50": 50, "p95": 95, "p99": 99, "most": 100}
    return {"count": len(answers)} | {name: round(float(np.percentile(seconds, q)), 4) for name, q in levels.items()}


def table_of(metrics: dict[str, Any]) -> str:
    """Metrics as a table, with the first errors."""
    rows = [
        [kind, found["count"], *(f"{found[level] * 1e3:.0f}" for level in ("p50", "p95", "p99", "most"))]
        for kind, found in metrics["latency_s"].items()
    ]
    to_hostile = {"closed" if status == "0" else status: count for status, count in metrics["to_hostile"].items()}
    refused = ", ".join(f"{count} x {status}" for status, count in to_hostile.items())
    memory = metrics["memory_mb"]
    return document(
        f"{metrics['robots']} robots with {metrics['input']} and {metrics['hostile']} hostile clients for "
        f"{metrics['seconds']:g} s: {metrics['observations']} observations, {metrics['errors']} errors; "
        f"{metrics['cpu_s_per_observation'] * 1e3:.0f} ms of processor time for each; {memory['idle']:.0f} MB idle, at "
        f"most {memory['most']:.0f} MB, {memory['last']:.0f} MB at the end",
        markdown_table(("ms", "answers", "median", "95 %", "99 %", "most"), rows),
        f"Answers to hostile clients: {refused}" if refused else "",
        "\n".join(["Errors:", *metrics["first_errors"]]) if metrics["errors"] else "",
    )


LEAST = {"robots": 1, "seconds": 1e-3, "every_s": 1e-3, "hostile": 0}
MEASUREMENT = Measurement(FleetConfig, measure, table_of, least=LEAST)

if __name__ == "__main__":
    run(MEASUREMENT)
