"""Pick-and-place of single objects by the arm, in physics, with a friction grasp."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from nsrecover.core.actions import Action
from sim.datasets.shapes import family_of
from sim.tabletop.faults.choosing import in_workspace
from sim.tabletop.placing import place_for
from sim.tabletop.sampling import sample_scene
from sim.tabletop.scenes import SceneSpec
from sim.tabletop.truth import TOLERANCE_M
from sim.tabletop.world import TabletopWorld

NEAR_M, FAR_M = 0.10, 0.30
"""Least and greatest distance between an object and its target."""
TOUCHED_M = 0.01
"""An object that moved less was not taken."""


class GraspOutcome(StrEnum):
    """What came of a pick-and-place."""

    PLACED = "placed"
    """The object's centre is within 2 cm of the target, in height, too."""
    NOT_TAKEN = "not_taken"
    """The object is where it was: no path, or the fingers closed on nothing."""
    ELSEWHERE = "elsewhere"
    """It was pushed, dropped or put down elsewhere, or fell over at its target."""


@dataclass
class GraspTry:
    """One try.

    Attributes:
        family: of the object.
        number: of the try, from 0.
        size: sides of the object, metres.
        model: of a blob; None for other objects.
        outcome: what came of it.
        off_mm: distance of the object from its target.
        note: what the arm reports, if it gave up.
    """

    family: str
    number: int
    size: list[float]
    model: int | None
    outcome: GraspOutcome
    off_mm: float
    note: str = ""


def grasp(family: str, number: int, seed: int) -> GraspTry:
    """Let the arm take an object that stands alone, and put it down elsewhere on the table.

    Args:
        family: of the object.
        number: of the try.
        seed: of the measurement.
    """
    rng = np.random.default_rng([seed, number, *family.encode()])
    scene = sample_scene(rng, 1, family_of(family).mix, number)
    item = scene.objects[0]
    action = Action("free", (item.name,), (*_target(rng, scene), item.size[2] / 2, *item.size))
    with TabletopWorld(scene, seed=number) as world:
        before = world.estimates()
        place = place_for(action, before)
        assert place is not None
        world.execute(action)
        now = world.truth().position(item.name)
        notes = [line for line in world.log if "touches something" not in line]
    off = float(np.linalg.norm(now - place[0]))
    moved = float(np.linalg.norm(now - before.positions[0]))
    outcome = GraspOutcome.PLACED if off <= TOLERANCE_M else GraspOutcome.ELSEWHERE
    if outcome is not GraspOutcome.PLACED and moved < TOUCHED_M:
        outcome = GraspOutcome.NOT_TAKEN
    note = notes[-1].split(": ", 2)[-1] if notes else ""
    return GraspTry(family, number, list(item.size), item.model, outcome, round(1000 * off, 1), note)


def _target(rng: np.random.Generator, scene: SceneSpec) -> tuple[float, float]:
    start = np.array(scene.objects[0].position)
    while True:
        place = np.array([rng.uniform(*span) for span in scene.table.start])
        if NEAR_M <= float(np.linalg.norm(place - start)) <= FAR_M and in_workspace(place, scene.table):
            return round(float(place[0]), 4), round(float(place[1]), 4)
