"""An imprecise arm errs by its physics: in the same way for a seed, more at height, and never without an arm."""

from dataclasses import replace

import numpy as np

from nsrecover.core.actions import Action
from sim.tabletop.imprecision import Imprecision
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.sampling import sample_scene
from sim.tabletop.scenes import SceneSpec
from sim.tabletop.world import TabletopWorld

ROUGH = Imprecision(place_m=0.004, place_per_m=0.02, yaw_rad=0.02, force_n=3.0, force_spread=0.5)


def test_an_arm_errs_the_same_way_for_a_seed_and_an_ideal_executor_never() -> None:
    scene = replace(sample_scene(np.random.default_rng(1), 3), imprecision=ROUGH)
    first, second = scene.names[:2]

    def outcome(scene: SceneSpec, seed: int, fidelity: Fidelity = Fidelity.PHYSICS) -> np.ndarray:
        with TabletopWorld(scene, seed=seed, fidelity=fidelity) as world:
            world.execute(Action("left", (first, second)))
            return world.truth().position(first)

    assert np.array_equal(outcome(scene, 5), outcome(scene, 5))
    assert np.linalg.norm(outcome(scene, 5) - outcome(scene, 6)) > 0.0005
    ideal = [outcome(replace(scene, imprecision=each), 5, Fidelity.KINEMATIC) for each in (ROUGH, None)]
    assert np.array_equal(*ideal)
