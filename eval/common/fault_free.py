"""Ground truth of a run: the same plan in the same scene without faults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nsrecover.core.actions import Plan
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.scenes import SceneSpec
from sim.tabletop.truth import Truth, deviations
from sim.tabletop.world import TabletopWorld


@dataclass(frozen=True)
class FaultFreeRun:
    """True states along a plan without faults.

    Attributes:
        truths: T + 1 states; `truths[t]` is the state after t actions.
    """

    truths: tuple[Truth, ...]

    def wrong_after(self, done: int, truth: Truth) -> Mapping[str, str]:
        """Deviating objects after `done` actions: name -> deviation in words."""
        return deviations(truth, self.truths[done])

    def wrong_at_the_end(self, truth: Truth) -> Mapping[str, str]:
        """Deviating objects at the end of the plan; the goal is reached if there are none."""
        return deviations(truth, self.truths[-1])


def run_without_faults(scene: SceneSpec, plan: Plan, seed: int, fidelity: Fidelity = Fidelity.PHYSICS) -> FaultFreeRun:
    """Execute a plan without faults and return the state after each action."""
    with TabletopWorld(scene, seed=seed, fidelity=fidelity) as world:
        truths = [world.truth()]
        for action in plan:
            world.execute(action)
            truths.append(world.truth())
    return FaultFreeRun(tuple(truths))
