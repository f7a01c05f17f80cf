"""`python -m sim.datasets.digests`: digests of replayed episodes of the datasets in the checkout, to compare engines.

Two builds of the physics engine, or two machines, give the same results if they print the same lines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Annotated

import numpy as np
import typer

from conf.command import run_function
from nsrecover.core.observation import Observation
from sim.datasets import household
from sim.datasets.household import HOUSEHOLD_DATASETS
from sim.datasets.kinds import DATASETS
from sim.datasets.replay import replay
from sim.datasets.shipped import shipped, shipped_lines


def tabletop_digests(name: str, episodes: int) -> Iterator[str]:
    """A line for each episode: digests of all poses after every action, and of all images."""
    for number, episode in enumerate(shipped(name, 0, episodes)):
        poses, images = hashlib.sha256(), hashlib.sha256()
        for step in replay(episode, with_images=True):
            for truth in (step.fault_free, step.truth):
                poses.update(truth.positions.tobytes() + truth.orientations.tobytes())
            for seen in (step.seen_fault_free, step.seen_after):
                images.update(_bytes(seen))
        yield f"{name} {number}: poses {poses.hexdigest()[:16]}, images {images.hexdigest()[:16]}"


def household_digests(name: str, episodes: int) -> Iterator[str]:
    """A line for each episode: a digest of all poses after every action."""
    for number, line in enumerate(shipped_lines(name, 0, episodes)):
        poses = hashlib.sha256()
        for step in household.replay(household.HouseholdEpisode.from_json(line)):
            poses.update(repr(sorted(step.truth.poses().items())).encode())
        yield f"{name} {number}: poses {poses.hexdigest()[:16]}"


def _bytes(seen: Observation | None) -> bytes:
    return (
        b""
        if seen is None
        else b"".join(np.asarray(each).tobytes() for each in (seen.rgb, seen.depth_m, seen.instances))
    )


def main(
    episodes: Annotated[int, typer.Option(help="of each dataset of the tabletop")] = 10,
    kitchens: Annotated[int, typer.Option(help="of each dataset of the kitchen")] = 1,
) -> None:
    """Print digests of replayed episodes."""
    for name in DATASETS:
        for line in tabletop_digests(name, episodes):
            print(line, flush=True)
    for name in HOUSEHOLD_DATASETS:
        for line in household_digests(name, kitchens):
            print(line, flush=True)


if __name__ == "__main__":
    run_function(main)
