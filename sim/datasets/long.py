"""Long plans: dataset X, with people who help and hinder."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sim.datasets.drawing import injected, undisturbed
from sim.datasets.spec import ErrorEpisode
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.sampling import Structure, sample_plan, sample_scene
from sim.tabletop.scene_mix import DEFAULT_MIX, SceneMix
from sim.tabletop.scenes import TableSpec

PEOPLE = {"helping_person": 0.4, "displaced": 0.15, "unstack": 0.15, "blocked_place": 0.15, "swap": 0.15}
"""What people do, and how often it is drawn: four in ten draws are help."""
EVERY = 5
"""A person does something about once in so many steps."""
OBJECTS = (14, 22)
"""Numbers of objects with the shortest and with the longest plans."""
MANY = replace(
    DEFAULT_MIX,
    cube_m=(0.034, 0.040),
    die_m=(0.034, 0.038),
    lego_length_m=(0.044, 0.050),
    lego_width_m=(0.034, 0.036),
    gap_m=0.022,
    table=TableSpec(start_x_m=(0.34, 0.72), start_y_m=(-0.33, 0.33)),
)
"""Small objects, so that the table holds one for most actions: a plan that moves few objects again and again can be cut
short at the first error."""


@dataclass(frozen=True)
class LongPlans:
    """Plans of 20 to 40 steps without an arm, in which people carry out steps, move, swap and take down objects.

    A scene has about two objects for three steps.

    Attributes:
        name: of the dataset.
        episodes: default number.
        lengths: least and greatest number of actions, all equally often.
        mix: distribution of scenes.
    """

    name: str
    episodes: int
    lengths: tuple[int, int]
    mix: SceneMix = MANY

    def draw(self, rng: np.random.Generator, number: int) -> tuple[ErrorEpisode, int] | None:
        """A scene, a plan that succeeds when nobody interferes, and what people do at some of its steps."""
        least, most = self.lengths
        length = least + number * 8 % (most - least + 1)
        few, many = OBJECTS
        objects = few + (many - few) * (length - least) // max(most - least, 1)
        scene = sample_scene(rng, objects, self.mix, number)
        plan = sample_plan(rng, scene, Structure.MIXED, length)
        episode = undisturbed(self.name, number, scene, plan, self.mix, rng)
        steps = {int(step) for step in rng.choice(length - 1, length // EVERY, replace=False)}
        episode = replace(episode, fidelity=Fidelity.KINEMATIC, drawn_in_place=True)
        return injected(episode, steps, 1, rng, PEOPLE)
