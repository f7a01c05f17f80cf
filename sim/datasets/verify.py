"""`python -m sim.datasets.verify FOLDER…`: replay random episodes of error datasets twice and compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from tqdm import tqdm

from conf.command import run_function
from nsrecover.errors import InvalidConfiguration
from sim.datasets.replay import final_truth, replay
from sim.datasets.spec import ErrorEpisode, read_episodes


def differences(episode: ErrorEpisode) -> list[str]:
    """Differences between two replays of an episode, and between them and its stored ground truth."""
    first, second = (list(replay(episode)) for _ in range(2))
    found = list[str]()
    if final_truth(first) != final_truth(second):
        found.append("two replays end with other poses")
    if any(a.truth.supports != b.truth.supports for a, b in zip(first, second, strict=True)):
        found.append("two replays end with other supports")
    if tuple(step.error for step in first if step.error is not None) != episode.errors:
        found.append("a replay is not as the stored ground truth says")
    return found


def verify(
    folders: Annotated[list[Path], typer.Argument(help="Folders that `python -m sim.datasets` wrote.")],
    episodes: Annotated[int, typer.Option(help="How many random episodes of each.", min=1)] = 20,
    seed: Annotated[int, typer.Option(help="Which ones.", min=0)] = 0,
) -> None:
    """Replay random episodes of error datasets twice: the poses must be bit-equal, and agree with the ground truth."""
    failures = 0
    for folder in folders:
        every = list(read_episodes(folder))
        if not every:
            raise InvalidConfiguration(f"expected episodes in {folder}, found none; generate the dataset again")
        chosen = np.random.default_rng(seed).permutation(len(every))[:episodes]
        wrong = list[str]()
        for row in tqdm(sorted(chosen), desc=str(folder), unit="episode", leave=False):
            wrong += [f"  episode {every[row].number}: {text}" for text in differences(every[row])]
        steps = sum(len(every[row].plan) for row in chosen)
        print(f"{folder}: {len(chosen)} episodes ({steps} steps) replayed twice, {len(wrong)} differences")
        print("\n".join(wrong), end="\n" if wrong else "")
        failures += len(wrong)
    if failures:
        raise typer.Exit(1)


if __name__ == "__main__":
    run_function(verify)
