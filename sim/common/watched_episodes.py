"""Episodes that are watched while their actions run: one file for each, with the frames of its actions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Protocol

from tqdm import tqdm

from nsrecover.util.atomic_write import atomic_write_bytes
from sim.common.parallel import run_parallel

Actions = Iterable[object]
"""Of each action its frames, as plain data for JSON."""


class WatchConfig(Protocol):
    """What is watched, and how; see `sim.glances.GlancesConfig`."""

    episodes: int
    seed: int
    sensor: str
    rate_hz: float
    workers: int
    out: str


def watch_episodes(simulate: Callable[[int], Actions], config: WatchConfig) -> int:
    """Write a file for each episode, unless it is there already.

    Args:
        simulate: the actions of the episode of a number.
        config: number of episodes, the names of their files, and where these are.

    Returns:
        The number of actions in all of them.
    """
    folder = Path(config.out)
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{config.sensor}_{config.rate_hz:g}_{config.seed}"
    files = [(number, folder / f"{stem}_{number:06d}.json") for number in range(config.episodes)]
    with closing(run_parallel(partial(_watch, simulate), files, config.workers)) as counts:
        return sum(tqdm(counts, total=len(files), unit="episode", desc="watching"))


def _watch(simulate: Callable[[int], Actions], file: tuple[int, Path]) -> int:
    number, path = file
    if not path.is_file():
        atomic_write_bytes(path, json.dumps(list(simulate(number))).encode())
    return len(json.loads(path.read_text(encoding="utf-8")))
