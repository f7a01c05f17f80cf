"""What the definitions of several error datasets share: plans that succeed, and faults that show in physics."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from nsrecover.core.actions import Plan
from sim.common.cameras import Light
from sim.datasets.inject import NONE, inject
from sim.datasets.spec import ErrorEpisode, StepError
from sim.tabletop.demonstrations import action_failure
from sim.tabletop.faults import Fault, Moment
from sim.tabletop.scene_mix import SceneMix
from sim.tabletop.scenes import SceneSpec
from sim.tabletop.world import TabletopWorld


def injected(
    episode: ErrorEpisode,
    steps: Collection[int],
    count: int,
    rng: np.random.Generator,
    often: Mapping[str, float] = NONE,
    first_kind: str | None = None,
) -> tuple[ErrorEpisode, int] | None:
    """An episode with faults that show at some of its steps.

    Args:
        episode: without faults.
        steps: at which something goes wrong.
        count: number of faults at each of them.
        rng: the source of randomness.
        often: kind of fault -> how likely it is drawn before all others.
        first_kind: kind of the first fault of a step; any if None.

    Returns:
        The episode with faults and errors, and the number of faults that were tried; None if the plan fails without
        faults, or too few faults fit.
    """
    faults, errors, tried = list[Fault](), list[StepError](), 0
    with TabletopWorld(episode.scene, plan=episode.plan, seed=episode.seed, fidelity=episode.fidelity) as world:
        for step in range(len(episode.plan)):
            start = world.save()
            moment = carry_out(world, episode.plan, step)
            if moment is None:
                return None
            if step in steps:
                goal = world.save()
                found = inject(world, start, moment, world.truth(), count, rng, often, first_kind)
                if found is None:
                    return None
                faults += found.faults
                errors.append(found.error)
                tried += found.tried
                world.restore(goal)
                world.release(goal)
            world.release(start)
    return replace(episode, faults=tuple(faults), errors=tuple(errors)), tried


def undisturbed(
    name: str, number: int, scene: SceneSpec, plan: Plan, mix: SceneMix, rng: np.random.Generator
) -> ErrorEpisode:
    """An episode without faults.

    Args:
        name: of its dataset.
        number: its number there.
        scene: its start.
        plan: the robot's plan.
        mix: has the distribution of lights.
        rng: the source of randomness.
    """
    seed = int(rng.integers(2**31))
    light = Light() if mix.light is None else mix.light.sample(rng)
    return ErrorEpisode(name, number, scene, plan, (), seed, light)


def carry_out(world: TabletopWorld, plan: Plan, step: int) -> Moment | None:
    """Carry out an action of a plan without faults; None if it fails."""
    before = world.estimates()
    world.execute(plan[step])
    after = world.estimates()
    return Moment(step, plan, before, after) if action_failure(plan[step], before, after) is None else None
