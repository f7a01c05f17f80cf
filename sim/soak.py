"""Whether the simulator keeps its memory over hours: `python -m sim.soak`."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Annotated

import psutil
import typer
from tqdm import tqdm

from nsrecover.errors import InvalidConfiguration, cli_errors
from sim.bench import SEED, Tally, run_episode, standard

WARM_UP = 10
"""Episodes before memory counts: modules and caches fill up in them."""
SOAK_SEED = SEED + 1000


def resident_mb() -> float:
    """Memory that this process really occupies, MB."""
    return float(psutil.Process().memory_info().rss) / 1e6


def run(minutes: float, quiet: bool = False) -> tuple[float, float, int]:
    """Run episodes in this process, each in a new world.

    Args:
        minutes: how long, after the warm-up.
        quiet: without a progress bar and without lines in between.

    Returns:
        Resident memory after the warm-up and at the end, MB, and the number of episodes between.
    """
    number = _episodes(0, WARM_UP)
    first, begun, told = resident_mb(), time.monotonic(), 0
    if not quiet:
        print(f"after {WARM_UP} episodes: {first:.1f} MB", flush=True)
    with tqdm(total=round(60 * minutes), unit="s", disable=quiet) as bar:
        while (passed := time.monotonic() - begun) < 60 * minutes:
            number = _episodes(number, 1)
            bar.update(min(int(passed), bar.total) - bar.n)
            bar.set_postfix(episodes=number - WARM_UP, MB=f"{resident_mb():.1f}")
            if passed >= 60 * (told + 1):
                told = int(passed / 60)
                bar.write(f"minute {told}: {resident_mb():.1f} MB, {number - WARM_UP} episodes")
    return first, resident_mb(), number - WARM_UP


def _episodes(number: int, count: int) -> int:
    """Run some episodes from a number on; returns the number of the next one."""
    for _ in range(count):
        # there may be no plan of five steps for the drawn scene
        with contextlib.suppress(InvalidConfiguration):
            run_episode(standard(SOAK_SEED, number), Tally())
        number += 1
    return number


def soak(
    minutes: Annotated[float, typer.Option(help="How long to run, after the warm-up.", min=0.0)] = 10.0,
    limit_mb: Annotated[float, typer.Option(help="Growth from which on the run has failed.", min=0.0)] = 50.0,
) -> None:
    """Run one episode after the other in one process and watch its memory.

    Every episode has a new random scene of five objects, a new world, a plan of five actions and an observation
    after each of them. Resident memory is told after ten episodes, every minute and at the end. The exit code is 1
    if it grew by the limit or more.
    """
    first, last, episodes = run(minutes)
    growth = last - first
    print(f"{episodes} episodes in {minutes:g} min: {first:.1f} MB -> {last:.1f} MB, growth {growth:+.1f} MB")
    if growth >= limit_mb:
        print(f"expected less than {limit_mb:g} MB", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    with cli_errors():
        typer.run(soak)
