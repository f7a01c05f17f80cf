"""Scenes as configuration: every saved mix gives scenes that can be built; what does not fit says so."""

from pathlib import Path

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from hydra.utils import instantiate

from nsrecover.core.actions import Action
from nsrecover.errors import InvalidConfiguration
from sim.common.cameras import DEFAULT_RIG
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.sampling import sample_scene
from sim.tabletop.scene_mix import DEFAULT_MIX, MOST, LightMix, SceneMix
from sim.tabletop.scenes import SceneSpec, TableSpec, Texture
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


def test_the_default_configuration_is_the_default_mix():
    assert configured("scene", "default") == DEFAULT_MIX
    assert configured("cameras", "opposed") == DEFAULT_RIG


@pytest.mark.parametrize(("name", "views"), [("opposed", 2), ("front", 1), ("three", 3)])
def test_every_rig_takes_pictures(name, views):
    rig = configured("cameras", name)
    with TabletopWorld(sample_scene(np.random.default_rng(1), 3), rig=rig, fidelity=Fidelity.KINEMATIC) as world:
        seen = world.observe()
    assert seen.rgb.shape == (views, 240, 320, 3)
    assert len(seen.labels) == 3


def test_fifty_objects_stand_where_they_should():
    scene = sample_scene(np.random.default_rng(0), MOST, configured("scene", "crowd"))
    with TabletopWorld(scene, fidelity=Fidelity.KINEMATIC) as world:
        truth = world.truth()
        assert set(truth.supports.values()) == {"table"}
        for item in scene.objects:
            assert truth.position(item.name)[:2] == pytest.approx(item.position, abs=0.003)
        assert len(world.observe().labels) >= 45


def test_more_objects_than_colours_and_kinds_get_numbers():
    mix = SceneMix(kinds=("cube",), colours=("red", "blue"))
    names = sample_scene(np.random.default_rng(0), 5, mix).names
    assert len(set(names)) == 5
    assert {"red cube", "blue cube", "red cube 2", "blue cube 2"} <= set(names)
    assert any(name.endswith(" 3") for name in names)
    action = Action("top", (names[3], names[4]))
    assert Action.parse(str(action)) == action


def test_objects_stand_on_the_table_that_was_asked_for():
    table = TableSpec(x_m=(0.3, 0.6), y_m=(0.0, 0.4), start_x_m=(0.4, 0.5), start_y_m=(0.1, 0.35))
    for seed in range(5):
        scene = sample_scene(np.random.default_rng(seed), 3, SceneMix(table=table))
        assert scene.table == table
        for item in scene.objects:
            assert 0.4 <= item.position[0] <= 0.5
            assert 0.1 <= item.position[1] <= 0.35


def test_free_places_are_on_the_table_that_was_asked_for():
    # everything far from the middle of the ordinary table is off this one
    table = TableSpec(x_m=(0.3, 0.7), y_m=(0.1, 0.5), start_x_m=(0.35, 0.65), start_y_m=(0.15, 0.45))
    scene = sample_scene(np.random.default_rng(2), 4, SceneMix(table=table))
    with TabletopWorld(scene, fidelity=Fidelity.KINEMATIC) as world:
        for name in scene.names:
            world.execute(Action("free", (name,)))
            assert 0.1 < world.pose(name)[0][1] < 0.5


def test_old_scenes_without_a_table_stand_on_the_ordinary_one():
    data = sample_scene(np.random.default_rng(0), 3).to_dict()
    del data["table"]
    for item in data["objects"]:
        del item["texture"]
    assert SceneSpec.from_dict(data) == sample_scene(np.random.default_rng(0), 3)


def test_an_object_off_its_table_is_refused():
    scene = sample_scene(np.random.default_rng(0), 3)
    data = scene.to_dict() | {"table": {"x_m": [0.3, 0.6], "y_m": [0.3, 0.6]}}
    with pytest.raises(InvalidConfiguration, match="does not fit on the table"):
        SceneSpec.from_dict(data).check()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"colours": ("rad",)}, "Did you mean 'red'"),
        ({"kinds": ("cub",)}, "Did you mean 'cube'"),
        ({"textures": ("wod",)}, "Did you mean 'wood'"),
        ({"cube_m": (0.04, 0.09)}, "which the gripper can take"),
        ({"counts": (60,)}, "1 to 50"),
        ({"counts": ()}, "at least one of counts"),
        ({"gap_m": -0.1}, "gap_m above 0"),
    ],
)
def test_mixes_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(InvalidConfiguration, match=message):
        SceneMix(**settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"x_m": (0.5, 0.4)}, "at least 0.15 m apart"),
        ({"y_m": (-2.0, 2.0)}, "from -0.8 to 0.8"),
        ({"start_x_m": (0.1, 0.5)}, "expected start_x_m inside"),
        ({"texture": "marble"}, "expected a texture"),
        ({"colour": (2.0, 0.0, 0.0)}, "three numbers 0 to 1"),
    ],
)
def test_tables_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(InvalidConfiguration, match=message):
        TableSpec(**settings)


def test_light_varies_within_its_range():
    lights = [LightMix(ambient=(0.5, 0.6)).sample(np.random.default_rng(seed)) for seed in range(20)]
    assert all(0.5 <= light.ambient <= 0.6 and light.ambient + light.diffuse == pytest.approx(1.0) for light in lights)
    assert len({light.direction for light in lights}) == 20


def test_one_texture_costs_no_draw():
    plain, wood = (
        sample_scene(np.random.default_rng(4), 4, SceneMix(textures=(texture,))) for texture in ("plain", "wood")
    )
    assert [item.position for item in plain.objects] == [item.position for item in wood.objects]
    assert {item.texture for item in wood.objects} == {Texture.WOOD}
