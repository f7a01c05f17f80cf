"""Judging by ground truth: a run is compared with its twin, the same plan in the same scene without faults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nsrecover.core.actions import Plan
from sim.tabletop.scenes import SceneSpec
from sim.tabletop.truth import Truth, deviations
from sim.tabletop.world import TabletopWorld


@dataclass(frozen=True)
class FaultFreeRun:
    """What a scene looks like along a plan when nothing goes wrong.

    Attributes:
        truths: T + 1 states; `truths[t]` is the one after the first t actions.
    """

    truths: tuple[Truth, ...]

    def wrong_after(self, done: int, truth: Truth) -> Mapping[str, str]:
        """Objects that are not where they should be once `done` actions are done: name -> why, in words."""
        return deviations(truth, self.truths[done])

    def wrong_at_the_end(self, truth: Truth) -> Mapping[str, str]:
        """Objects that are not where the whole plan should have put them; the goal is reached if there are none."""
        return deviations(truth, self.truths[-1])


def run_without_faults(scene: SceneSpec, plan: Plan, seed: int) -> FaultFreeRun:
    """Carry out a plan without faults and without looking, and note where everything is after each action."""
    with TabletopWorld(scene, seed=seed) as world:
        truths = [world.truth()]
        for action in plan:
            world.execute(action)
            truths.append(world.truth())
    return FaultFreeRun(tuple(truths))
