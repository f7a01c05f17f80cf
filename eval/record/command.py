"""`python -m eval.record SCENARIO FILE`: record a scenario of an open-loop robot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nsrecover.records.recording import Recording, save
from sim.tabletop.scenarios import scenario
from sim.tabletop.world import TabletopWorld


def record(
    name: Annotated[str, typer.Argument(help="A scenario of the demo: collapse, slip or helper.")],
    path: Annotated[Path, typer.Argument(help="The file to write, ending in .npz.")],
    seed: Annotated[int, typer.Option(help="Which scene.")] = 0,
) -> None:
    """Execute a scenario's whole plan, with its faults and without recoveries; save all observations."""
    item = scenario(name, seed)
    with TabletopWorld(item.scene, item.faults, plan=item.plan, seed=seed) as world:
        observations = [world.observe()]
        for action in item.plan:
            world.execute(action)
            observations.append(world.observe())
    notes = {"scenario": name, "seed": seed, "description": item.description}
    save(Recording(item.plan, tuple(observations), notes), path)
    print(f"{path}: {len(item.plan)} actions, {path.stat().st_size / 1e6:.2f} MB")
