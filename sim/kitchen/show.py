"""`python -m sim.kitchen.show`: pictures of a sampled kitchen, from above and from the robot's cameras."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import imageio.v3 as imageio
import numpy as np
from rich.console import Console
from rich.table import Table

from conf.command import run
from sim.common.cameras import DAYLIGHT, take_picture
from sim.kitchen.cameras import MAST_RIG, OVERVIEW, OVERVIEW_FAR_M
from sim.kitchen.cell import KitchenCell
from sim.kitchen.observing import observe
from sim.kitchen.scenes import DEFAULT_THINGS, NUM_LAYOUTS, KitchenSpec, sample_kitchen


@dataclass
class ShowConfig:
    """Sample a kitchen and write pictures of it: from above, and what the robot's two cameras see.

      python -m sim.kitchen.show                        a kitchen of the training layouts
      python -m sim.kitchen.show seed=5 layout=4        another one, in a layout that is held out
      python -m sim.kitchen.show 'things=[mug,mug,pot]' other things

    Prints which thing stands where.

    Attributes:
        seed: another seed gives other places, colours and states.
        layout: 0 to 23; null: any that is not held out from training.
        things: kinds of the things in it; a kind may be repeated.
        out: output folder for kitchen.png and one picture of each camera.
    """

    seed: int = 0
    layout: int | None = None
    things: list[str] = field(default_factory=lambda: list(DEFAULT_THINGS))
    out: str = "outputs/kitchen"


def show(config: ShowConfig) -> list[Path]:
    """Write the pictures.

    Returns:
        Their paths: the kitchen, and one for each camera.
    """
    spec = sample_kitchen(config.seed, config.layout, config.things)
    out = Path(config.out)
    out.mkdir(parents=True, exist_ok=True)
    with KitchenCell(spec) as cell:
        cell.visuals.update(cell.states)
        picture = take_picture(cell.client, OVERVIEW, 960, 640, DAYLIGHT, far_m=OVERVIEW_FAR_M)
        seen = observe(
            cell.client,
            MAST_RIG,
            cell.robot.base,
            cell.bodies(),
            cell.visuals.owners,
            cell.robot.opening_m(),
            cell.robot.feels(),
            cell.time_s,
        )
    # beyond the floor the renderer draws nothing
    rgb = np.where(picture.bodies[..., None] < 0, np.uint8(235), picture.rgb)
    paths = [out / "kitchen.png"]
    imageio.imwrite(paths[0], rgb)
    for view, image in zip(MAST_RIG.views, seen.rgb, strict=True):
        paths.append(out / f"{view.name}.png")
        imageio.imwrite(paths[-1], image)
    _report(spec, paths)
    return paths


def _report(spec: KitchenSpec, paths: list[Path]) -> None:
    table = Table("thing", "on", "state")
    for thing in spec.things:
        table.add_row(thing.name, thing.place, "dirty" if thing.state.dirty else "")
    console = Console()
    console.print(f"layout {spec.layout} of {NUM_LAYOUTS}, {len(spec.fixtures)} fixtures, {len(spec.things)} things")
    console.print(table)
    for path in paths:
        console.print(f"wrote {path}", soft_wrap=True)


def _task(config: ShowConfig) -> None:
    show(config)


if __name__ == "__main__":
    run("kitchen", ShowConfig, _task)
