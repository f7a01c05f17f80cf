"""How well and how fast the simulated arm works: `python -m sim.bench [SCENES [SEED]]`.

Builds towers of 4 and 6 and mixed structures from random scenes and prints which share of the placements ended within
15 mm of where the action promises, and what a pick-and-place and an observation cost.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import typer

from nsrecover.errors import InvalidConfiguration, told_in_one_line
from nsrecover.structs import Action
from sim.placing import place_for
from sim.sampling import Structure, sample_plan, sample_scene
from sim.world import TabletopWorld

GOOD_M = 0.015
"""A placement counts if the object ends up this near to its place."""


@dataclass
class Tally:
    """Results of one kind of structure.

    Attributes:
        errors_m: distance of every placement from its place; infinite if another object was disturbed.
        seconds: wall time of every action.
        failures: what went wrong, one line each.
    """

    errors_m: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def line(self, label: str) -> str:
        """One row of the table."""
        errors = np.array(self.errors_m)
        good = int(np.count_nonzero(errors <= GOOD_M))
        return (
            f"{label:8s} {good}/{len(errors)} placed ({100 * good / max(1, len(errors)):.1f} %), "
            f"median error {1000 * float(np.median(errors)):.2f} mm, {float(np.mean(self.seconds)):.3f} s each"
        )


def run_actions(world: TabletopWorld, actions: list[Action], tally: Tally, label: str) -> bool:
    """Carry out actions and compare each outcome with what the action promises.

    An action that fails ends the run: later ones would be judged by its mess.

    Returns:
        Whether all of them worked.
    """
    for number, action in enumerate(actions):
        before = world.truth()
        place = place_for(action, world.estimates())
        started = time.perf_counter()
        world.execute(action)
        tally.seconds.append(time.perf_counter() - started)
        after = world.truth()
        moved = before.index(action.arguments[0])
        shift = np.linalg.norm(after.positions - before.positions, axis=1)
        shift[moved] = 0.0
        error = np.inf if place is None else float(np.linalg.norm(after.positions[moved] - place[0]))
        if shift.max() > GOOD_M:
            error = np.inf
        tally.errors_m.append(error)
        if error > GOOD_M:
            disturbed = [f"{before.names[i]} {1000 * shift[i]:.0f} mm" for i in np.flatnonzero(shift > 0.005)]
            tally.failures.append(
                f"{label}, action {number} {action}: {1000 * error:.0f} mm off, disturbed {disturbed}, {world.log[-2:]}"
            )
            return False
    return True


def tower_actions(names: tuple[str, ...], height: int) -> list[Action]:
    """Stack the first objects of a scene on one another."""
    return [Action("top", (names[i], names[i - 1])) for i in range(1, height)]


def bench(
    scenes: Annotated[int, typer.Argument(help="Random scenes for each kind of structure.", min=1)] = 10,
    seed: Annotated[int, typer.Argument(help="Number of the first scene.", min=0)] = 0,
) -> None:
    """Build towers of 4 and 6 and mixed structures; print how many placements held, and what each costs."""
    for label, height in (("tower 4", 4), ("tower 6", 6), ("mixed", 0)):
        tally, looks = Tally(), []
        for number in range(seed, seed + scenes):
            rng = np.random.default_rng(number)
            scene = sample_scene(rng, 7, seed=number)
            try:
                plan = None if height else sample_plan(rng, scene, Structure.MIXED, 6)
            except InvalidConfiguration:
                continue
            with TabletopWorld(scene, seed=number) as world:
                actions = tower_actions(scene.names, height) if plan is None else list(plan)
                run_actions(world, actions, tally, f"{label} scene {number}")
                started = time.perf_counter()
                world.observe()
                looks.append(time.perf_counter() - started)
        print(tally.line(label), f"{float(np.mean(looks)):.3f} s an observation", flush=True)
        for failure in tally.failures:
            print("   ", failure)


if __name__ == "__main__":
    with told_in_one_line():
        typer.run(bench)
