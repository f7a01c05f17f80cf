"""`python -m eval.record SCENARIO FILE`: record a scenario of an open-loop robot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conf.command import run_function
from nsrecover.records.recording import Recording, save
from nsrecover.util.english import amount
from sim.sensors.presets import sensor as preset
from sim.sensors.world import SensedWorld
from sim.tabletop.scenarios import scenario
from sim.tabletop.world import TabletopWorld


def record(
    name: Annotated[str, typer.Argument(help="A scenario of the demo: collapse, slip or helper.")],
    path: Annotated[Path, typer.Argument(help="The file to write, ending in .npz.")],
    seed: Annotated[int, typer.Option(help="Which scene.")] = 0,
    sensor: Annotated[str, typer.Option(help="A preset of conf/sensor: clean, d435, tof, stereo or harsh.")] = "clean",
) -> None:
    """Execute a scenario's whole plan, with its faults and without recoveries; save all observations."""
    item, chosen = scenario(name, seed), preset(sensor)
    with TabletopWorld(item.scene, item.faults, plan=item.plan, seed=seed) as world:
        sensed = SensedWorld(world, chosen.stream(len(world.rig.views), seed))
        observations = [sensed.observe()]
        for action in item.plan:
            sensed.execute(action)
            observations.append(sensed.observe())
    notes = {"scenario": name, "seed": seed, "description": item.description, **chosen.notes()}
    save(Recording(item.plan, tuple(observations), notes), path)
    print(f"{path}: {amount(len(item.plan), 'action')}, {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    run_function(record)
