"""Scenes as configuration: every saved mix gives scenes that can be built; what does not fit says so."""

from pathlib import Path

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from hydra.utils import instantiate

from nsrecover.core.actions import Action
from nsrecover.errors import InvalidConfiguration
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.sampling import sample_scene
from sim.tabletop.scene_mix import MOST, SceneMix
from sim.tabletop.scenes import SceneSpec, TableSpec
from sim.tabletop.world import TabletopWorld

CONF = Path(__file__).parents[3] / "conf"


def configured(group: str, name: str):
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return instantiate(compose(f"{group}/{name}")[group])


@pytest.mark.parametrize("name", sorted(path.stem for path in (CONF / "scene").glob("*.yaml")))
def test_every_saved_mix_holds_its_largest_scene(name):
    mix = configured("scene", name)
    scene = sample_scene(np.random.default_rng(3), max(mix.counts), mix, seed=3)
    scene.check()
    assert len(scene.objects) == max(mix.counts)
    assert SceneSpec.from_dict(scene.to_dict()) == scene


def test_fifty_objects_stand_where_they_should():
    scene = sample_scene(np.random.default_rng(0), MOST, configured("scene", "crowd"))
    with TabletopWorld(scene, fidelity=Fidelity.KINEMATIC) as world:
        truth = world.truth()
        assert set(truth.supports.values()) == {"table"}
        for item in scene.objects:
            assert truth.position(item.name)[:2] == pytest.approx(item.position, abs=0.003)
        assert len(world.observe().labels) >= 45


def test_free_places_are_on_the_table_that_was_asked_for():
    # everything far from the middle of the ordinary table is off this one
    table = TableSpec(x_m=(0.3, 0.7), y_m=(0.1, 0.5), start_x_m=(0.35, 0.65), start_y_m=(0.15, 0.45))
    scene = sample_scene(np.random.default_rng(2), 4, SceneMix(table=table))
    with TabletopWorld(scene, fidelity=Fidelity.KINEMATIC) as world:
        for name in scene.names:
            world.execute(Action("free", (name,)))
            assert 0.1 < world.pose(name)[0][1] < 0.5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"colours": ("rad",)}, "Did you mean 'red'"),
        ({"cube_m": (0.04, 0.09)}, "which the gripper can take"),
        ({"counts": (60,)}, "1 to 50"),
        ({"gap_m": -0.1}, "gap_m above 0"),
    ],
)
def test_mixes_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(InvalidConfiguration, match=message):
        SceneMix(**settings)
