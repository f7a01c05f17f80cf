"""`python -m sim.datasets.digests`: digests of drawn episodes, to compare processors, engines and kernels.

Two machines, builds of the physics engine, kernels of BLAS (`OPENBLAS_CORETYPE=Haswell`) or numbers of threads draw the
same episodes if they print the same lines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from typing import Annotated

import numpy as np
import typer
from tqdm import tqdm

from conf.command import run_function
from nsrecover.core.observation import Observation
from sim.common.parallel import run_parallel
from sim.datasets import household
from sim.datasets.household import HOUSEHOLD_DATASETS
from sim.datasets.kinds import DATASETS, generate
from sim.datasets.replay import replay

KITCHENS = ("H1", "H2", "H3", "H4")
"""Datasets of the kitchen that come with the checkout."""


def tabletop_digest(name: str, seed: int, number: int, images: bool = False) -> str:
    """One line: digests of a drawn episode and of all poses after every action of its replay, and of all images."""
    episode = generate(DATASETS[name], seed, number).episode
    poses, pictures = hashlib.sha256(), hashlib.sha256()
    for step in replay(episode, with_images=images):
        for truth in (step.fault_free, step.truth):
            poses.update(truth.positions.tobytes() + truth.orientations.tobytes())
        for seen in (step.seen_fault_free, step.seen_after):
            pictures.update(_bytes(seen))
    shown = f", images {_short(pictures)}" if images else ""
    text = hashlib.sha256(episode.to_json().encode())
    return f"{name} seed {seed} episode {number}: {_short(text)}, poses {_short(poses)}{shown}"


def household_digest(name: str, seed: int, kitchen: int) -> str:
    """One line: digests of the first drawn episode of a kitchen and of all poses after every action of its replay."""
    episode = household.generate(HOUSEHOLD_DATASETS[name], seed, kitchen).episodes[0]
    poses = hashlib.sha256()
    for step in household.replay(episode):
        poses.update(repr(sorted(step.truth.poses().items())).encode())
    text = hashlib.sha256(episode.to_json().encode())
    return f"{name} seed {seed} kitchen {kitchen}: {_short(text)}, poses {_short(poses)}"


def _short(digest: hashlib._Hash) -> str:
    return digest.hexdigest()[:16]


def _bytes(seen: Observation | None) -> bytes:
    return (
        b""
        if seen is None
        else b"".join(np.asarray(each).tobytes() for each in (seen.rgb, seen.depth_m, seen.instances))
    )


def _line(draw: Callable[[], str]) -> str:
    return draw()


def main(
    episodes: Annotated[int, typer.Option(help="of each dataset of the tabletop and each seed", min=0)] = 4,
    seeds: Annotated[int, typer.Option(help="of the tabletop: 0, 1, and so on", min=1)] = 3,
    kitchens: Annotated[int, typer.Option(help="of H1, H2, H3 and H4 each, with seed 0", min=0)] = 1,
    images: Annotated[bool, typer.Option(help="digests of images of the tabletop, too")] = False,
    workers: Annotated[int, typer.Option(help="processes; the lines do not depend on it", min=1)] = 1,
) -> None:
    """Draw and replay episodes of all datasets and print a digest of each; about 5 s of one core each."""
    draws: list[Callable[[], str]] = [
        partial(tabletop_digest, name, seed, number, images)
        for seed in range(seeds)
        for name in DATASETS
        for number in range(episodes)
    ]
    draws += [partial(household_digest, name, 0, kitchen) for name in KITCHENS for kitchen in range(kitchens)]
    for line in tqdm(run_parallel(_line, draws, workers), total=len(draws), unit="episode"):
        tqdm.write(line)


if __name__ == "__main__":
    run_function(main)
