"""Episodes with objects of other shapes, at any yaw: one family for each shape, one plan with several errors each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from nsrecover.errors import require_known
from sim.common.cameras import Light
from sim.datasets.replay import step_error
from sim.datasets.spec import ErrorEpisode, StepError
from sim.tabletop.demonstrations import action_failure
from sim.tabletop.faults import FAULTS, Fault, Moment
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.sampling import Structure, add_object, sample_plan, sample_scene
from sim.tabletop.scene_mix import SceneMix
from sim.tabletop.scenes import BOX_KINDS, ObjectKind, SceneSpec
from sim.tabletop.truth import Truth
from sim.tabletop.world import SavedWorld, TabletopWorld

KINDS = ("displaced", "toppled", "swap", "removed", "offset_placement", "wrong_support")
"""Faults that strike; each is as likely as the others."""
TRIES = 12
"""Maximum number of faults that are tried at a step."""
OBJECTS = (3, 4, 4, 5)
"""Numbers of objects of the family, equally often; a cube stands beside them, to stack something on."""
ANY_YAW = math.pi / 4
"""Objects are turned by up to this from the axes; boxes look the same after a quarter turn, others are turned by
quarters, too."""
GAP_M = 0.04
"""Least gap between objects at the start."""


@dataclass(frozen=True)
class ShapeErrors:
    """Plans with objects of one family that succeed without faults, and faults at some of their steps.

    Attributes:
        name: of the family.
        mix: distribution of its scenes, without the cube.
        episodes: default number.
        length: number of actions.
        errors: number of steps at which something goes wrong.
    """

    name: str
    mix: SceneMix
    episodes: int = 15
    length: int = 4
    errors: int = 2

    def draw(self, rng: np.random.Generator, number: int) -> tuple[ErrorEpisode, int] | None:
        """An episode and the number of faults that were tried; None if this draw does not give one."""
        scene = self.sample_scene(rng, number)
        plan = sample_plan(rng, scene, Structure(str(rng.choice(list(Structure)))), self.length)
        light = Light() if self.mix.light is None else self.mix.light.sample(rng)
        seed = int(rng.integers(2**31))
        episode = ErrorEpisode(self.name, number, scene, plan, (), seed, light, fidelity=Fidelity.KINEMATIC)
        steps = set(rng.choice(self.length, self.errors, replace=False).tolist())
        faults, errors, tried = list[Fault](), list[StepError](), 0
        with TabletopWorld(scene, plan=plan, seed=seed, fidelity=episode.fidelity) as world:
            for step in range(self.length):
                start, before = world.save(), world.estimates()
                world.execute(plan[step])
                moment = Moment(step, plan, before, world.estimates())
                if action_failure(plan[step], before, moment.after) is not None:
                    return None
                if step in steps:
                    found, count = _error(world, start, moment, world.truth(), rng)
                    tried += count
                    if found is None:
                        return None
                    faults.append(found[0])
                    errors.append(found[1])
                world.release(start)
        return replace(episode, faults=tuple(faults), errors=tuple(errors)), tried

    def sample_scene(self, rng: np.random.Generator, number: int) -> SceneSpec:
        """A random scene: objects of the family, and a cube."""
        scene = sample_scene(rng, int(rng.choice(OBJECTS)), self.mix, number)
        return add_object(rng, scene, ObjectKind.CUBE, self.mix)


def _error(
    world: TabletopWorld, start: SavedWorld, moment: Moment, fault_free: Truth, rng: np.random.Generator
) -> tuple[tuple[Fault, StepError] | None, int]:
    """A fault that displaces an object that it touches, and how many were tried; the world is as it was afterwards."""
    goal, found, tried = world.save(), None, 0
    for _ in range(TRIES):
        fault = FAULTS[KINDS[int(rng.integers(len(KINDS)))]].sample(moment, rng)
        if fault is None:
            continue
        tried += 1
        world.restore(start)
        world.faults = (fault,)
        world.execute(moment.action)
        world.faults = ()
        error = step_error(moment.step, moment.action, (fault,), world.truth(), fault_free)
        if error is not None and fault.touched(moment.action) & error.deviations.keys():
            found = fault, error
            break
    world.restore(goal)
    world.release(goal)
    return found, tried


def _family(name: str, *kinds: ObjectKind, held_out: bool = False) -> ShapeErrors:
    return ShapeErrors(name, SceneMix(kinds=kinds, gap_m=GAP_M, yaw_jitter=ANY_YAW, held_out=held_out))


FAMILIES: Mapping[str, ShapeErrors] = {
    family.name: family
    for family in (
        _family("boxes", *BOX_KINDS),
        _family("cylinders", ObjectKind.CYLINDER),
        _family("mugs", ObjectKind.MUG),
        _family("bottles", ObjectKind.BOTTLE),
        _family("blobs", ObjectKind.BLOB),
        _family("held_out_blobs", ObjectKind.BLOB, held_out=True),
    )
}
"""Every family by its name; nothing is trained or tuned on the last one."""


def family_of(name: str) -> ShapeErrors:
    """A family by its name.

    Raises:
        InvalidConfiguration: there is no such family.
    """
    require_known(name, FAMILIES, "a family of shapes")
    return FAMILIES[name]
