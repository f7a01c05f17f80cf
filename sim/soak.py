"""`python -m sim.soak`: check that the memory of the simulator does not grow over hours."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Annotated

import psutil
import typer
from tqdm import tqdm

from conf.command import run_function
from nsrecover.errors import InvalidConfiguration
from sim.bench import SEED, Tally, run_episode, standard

WARM_UP = 10
"""Episodes before the first measurement: modules and caches fill up in them."""
SOAK_SEED = SEED + 1000


def resident_mb() -> float:
    """Resident memory of this process, MB."""
    return float(psutil.Process().memory_info().rss) / 1e6


def run(minutes: float, quiet: bool = False) -> tuple[float, float, int]:
    """Run episodes in this process, each in a new world.

    Args:
        minutes: duration after the warm-up.
        quiet: without a progress bar and without intermediate lines.

    Returns:
        Resident memory after the warm-up and at the end, MB, and the number of episodes in between.
    """
    number = _episodes(0, WARM_UP)
    first, begun, minute = resident_mb(), time.monotonic(), 0
    if not quiet:
        print(f"after {WARM_UP} episodes: {first:.1f} MB", flush=True)
    with tqdm(total=round(60 * minutes), unit="s", disable=quiet) as bar:
        while (passed := time.monotonic() - begun) < 60 * minutes:
            number = _episodes(number, 1)
            bar.update(min(int(passed), bar.total) - bar.n)
            bar.set_postfix(episodes=number - WARM_UP, MB=f"{resident_mb():.1f}")
            if passed >= 60 * (minute + 1):
                minute = int(passed / 60)
                bar.write(f"minute {minute}: {resident_mb():.1f} MB, {number - WARM_UP} episodes")
    return first, resident_mb(), number - WARM_UP


def _episodes(number: int, count: int) -> int:
    """Run `count` episodes from `number` on, and return the number of the next one."""
    for _ in range(count):
        # the drawn scene may have no plan of five actions
        with contextlib.suppress(InvalidConfiguration):
            run_episode(standard(SOAK_SEED, number), Tally())
        number += 1
    return number


def soak(
    minutes: Annotated[float, typer.Option(help="Duration after the warm-up.", min=0.0)] = 10.0,
    limit_mb: Annotated[float, typer.Option(help="Growth at which the run fails.", min=0.0)] = 50.0,
) -> None:
    """Run episodes in one process and measure its memory.

    Every episode has a new random scene of five objects, a new world, a plan of five actions and an observation after
    each of them. Resident memory is printed after ten episodes, every minute and at the end. The exit code is 1 if it
    grew by the limit or more.
    """
    first, last, episodes = run(minutes)
    growth = last - first
    print(f"{episodes} episodes in {minutes:g} min: {first:.1f} MB -> {last:.1f} MB, growth {growth:+.1f} MB")
    if growth >= limit_mb:
        print(f"expected less than {limit_mb:g} MB", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    run_function(soak)
