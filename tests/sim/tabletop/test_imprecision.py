"""An imprecise arm errs by its physics: in the same way for a seed, more at height, and never without an arm."""

from dataclasses import replace

import numpy as np

from nsrecover.core.actions import Action
from sim.tabletop.imprecision import Imprecision
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.poses import PoseEstimates
from sim.tabletop.sampling import sample_scene
from sim.tabletop.scenes import SceneSpec
from sim.tabletop.world import TabletopWorld

ROUGH = Imprecision(place_m=0.004, place_per_m=0.02, yaw_rad=0.02, force_n=3.0, force_spread=0.5)


def test_noise_grows_with_height() -> None:
    count = 400
    heights = np.repeat([0.0, 0.4], count // 2)
    exact = PoseEstimates(
        tuple(f"object {i}" for i in range(count)),
        np.stack([np.zeros(count), np.zeros(count), heights], axis=1),
        np.tile([0.0, 0.0, 0.0, 1.0], (count, 1)),
        np.full((count, 3), 0.05),
    )
    off = exact.measured(ROUGH, np.random.default_rng(0)).positions - exact.positions
    low, high = off[: count // 2, :2].std(), off[count // 2 :, :2].std()
    assert abs(low - 0.004) < 0.0008
    assert abs(high - 0.012) < 0.0024
    assert not off[:, 2].any()


def test_a_scene_keeps_its_imprecision_in_json() -> None:
    scene = sample_scene(np.random.default_rng(0), 3)
    rough = replace(scene, imprecision=ROUGH)
    assert SceneSpec.from_dict(rough.to_dict()) == rough
    assert "imprecision" not in scene.to_dict()


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
