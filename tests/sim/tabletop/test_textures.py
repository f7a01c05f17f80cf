"""Textures are computed from the seed, and seen by the cameras."""

import numpy as np
import pytest

from sim.tabletop.kinematic import Fidelity
from sim.tabletop.sampling import sample_scene
from sim.tabletop.scene_mix import SceneMix
from sim.tabletop.scenes import TableSpec, Texture
from sim.tabletop.world import TabletopWorld

PATTERNED = [texture for texture in Texture if texture is not Texture.PLAIN]


@pytest.mark.parametrize("texture", PATTERNED)
def test_cameras_see_textures_on_table_and_objects_and_nothing_else_changes(texture):
    seen = {}
    for look in (Texture.PLAIN, texture):
        mix = SceneMix(kinds=("cube",), textures=(look,), table=TableSpec(texture=look))
        with TabletopWorld(sample_scene(np.random.default_rng(1), 4, mix), fidelity=Fidelity.KINEMATIC) as world:
            seen[look] = world.observe()
    plain, patterned = seen[Texture.PLAIN], seen[texture]
    assert np.array_equal(plain.depth_m, patterned.depth_m)
    assert np.array_equal(plain.instances, patterned.instances)
    table = (plain.instances == 0) & (plain.depth_m > 0)
    assert len(np.unique(patterned.rgb[table], axis=0)) > len(np.unique(plain.rgb[table], axis=0))
    changed = np.abs(patterned.rgb.astype(int) - plain.rgb).max(axis=-1) > 10
    for number in range(1, 5):
        assert changed[plain.instances == number].mean() > 0.05
