"""What every operator does in physics."""

import math
from itertools import pairwise

import numpy as np
import pybullet
import pytest

from nsrecover.core.actions import Action
from nsrecover.errors import InvalidAction, UnknownObject
from sim.common.rotations import matrix_of, quaternion_of, rotation_about
from sim.tabletop.placing import GAP_M
from sim.tabletop.scenes import ObjectKind, ObjectSpec, SceneSpec
from sim.tabletop.world import TabletopWorld

SCENE = SceneSpec(
    (
        ObjectSpec("red cube", ObjectKind.CUBE, "red", (0.040, 0.040, 0.040), (0.45, 0.0), 0.2),
        ObjectSpec("blue die", ObjectKind.DIE, "blue", (0.044, 0.044, 0.044), (0.55, 0.15), -0.1),
        ObjectSpec("white lego", ObjectKind.LEGO, "white", (0.056, 0.036, 0.036), (0.60, -0.12), 0.1),
    )
)


@pytest.fixture(scope="module")
def _shared():
    with TabletopWorld(SCENE) as world:
        yield world, world.save()


@pytest.fixture
def world(_shared):
    shared, start = _shared
    shared.restore(start)
    return shared


def test_top_stacks_in_the_middle(world):
    world.execute(Action("top", ("blue die", "red cube")))
    truth = world.truth()
    assert truth.supports["blue die"] == "red cube"
    offset = truth.position("blue die") - truth.position("red cube")
    assert np.allclose(offset, [0, 0, 0.042], atol=0.003)


@pytest.mark.parametrize(
    ("operator", "axis", "sign"), [("left", 1, 1), ("right", 1, -1), ("front", 0, -1), ("behind", 0, 1)]
)
def test_beside_leaves_the_promised_gap(world, operator, axis, sign):
    world.execute(Action(operator, ("blue die", "red cube")))
    truth = world.truth()
    offset = truth.position("blue die") - truth.position("red cube")
    # the red cube is turned a little, which widens its box
    half = 0.020 * (math.cos(0.2) + math.sin(0.2)) + 0.022
    assert offset[axis] == pytest.approx(sign * (half + GAP_M), abs=0.004)
    assert offset[1 - axis] == pytest.approx(0.0, abs=0.004)
    assert truth.supports["blue die"] == "table"


def test_placed_objects_are_squared_up(world):
    world.execute(Action("behind", ("white lego", "red cube")))
    matrix = matrix_of(world.pose("white lego")[1])
    assert np.abs(matrix).max(axis=0).min() > math.cos(math.radians(2))


def test_free_without_target_finds_a_clear_place(world):
    world.execute(Action("top", ("blue die", "red cube")))
    before = world.truth()
    world.execute(Action("free", ("blue die",)))
    truth = world.truth()
    assert truth.supports["blue die"] == "table"
    for other in ("red cube", "white lego"):
        assert np.linalg.norm(truth.position(other) - before.position(other)) < 0.003
        assert np.abs(truth.position("blue die") - truth.position(other))[:2].max() > 0.06


def test_restore_reaches_the_target_and_its_orientation(world):
    # the box of the lego when it lies along y
    target = (0.40, -0.2, 0.018, 0.036, 0.056, 0.036)
    world.execute(Action("restore", ("white lego",), target=target))
    assert np.linalg.norm(world.truth().position("white lego") - target[:3]) < 0.004
    assert abs(matrix_of(world.pose("white lego")[1])[1, 0]) > 0.99


def test_restore_puts_on_a_tower_though_the_height_is_measured_badly(world):
    top = world.truth().position("red cube")
    target = (*top[:2], 0.062 + 0.006, 0.044, 0.044, 0.044)
    world.execute(Action("restore", ("blue die",), target=target))
    assert world.truth().supports["blue die"] == "red cube"


def test_leaning_object_is_set_down_flat():
    scene = SceneSpec(
        (
            ObjectSpec("red lego", ObjectKind.LEGO, "red", (0.040, 0.040, 0.022), (0.45, 0.0)),
            ObjectSpec("cyan lego", ObjectKind.LEGO, "cyan", (0.068, 0.036, 0.036), (0.55, 0.2)),
        )
    )
    with TabletopWorld(scene) as world:
        # half beside the flat one: let go, it tips over its edge and leans on it
        world.external_agent.carry("cyan lego", world.pose("red lego")[0] + np.array([0.030, 0.0, 0.029]))
        tilt = np.abs(matrix_of(world.pose("cyan lego")[1])[2]).max()
        assert tilt < math.cos(math.radians(10)), "the object was to lean"
        world.execute(Action("left", ("cyan lego", "red lego")))
        assert np.abs(matrix_of(world.pose("cyan lego")[1])[2]).max() > 0.999
        assert world.truth().supports["cyan lego"] == "table"


@pytest.mark.parametrize("yaw", [0.0, 1.0])
def test_brick_on_its_end_is_laid_down(yaw):
    scene = SceneSpec(
        (
            ObjectSpec("red lego", ObjectKind.LEGO, "red", (0.062, 0.036, 0.036), (0.45, -0.05)),
            ObjectSpec("blue cube", ObjectKind.CUBE, "blue", (0.040, 0.040, 0.040), (0.55, 0.2)),
        )
    )
    with TabletopWorld(scene) as world:
        standing = quaternion_of(
            rotation_about((0.0, 0.0, 1.0), yaw) @ rotation_about((0.0, 1.0, 0.0), math.pi / 2)
        ).tolist()
        pybullet.resetBasePositionAndOrientation(
            world.body("red lego"), [0.45, -0.05, 0.031], standing, physicsClientId=world.client
        )
        world.settle()
        assert world.truth().position("red lego")[2] > 0.030, "the brick was to stand"
        target = (0.55, 0.2, 0.058, 0.062, 0.036, 0.036)
        world.execute(Action("restore", ("red lego",), target=target))
        assert np.linalg.norm(world.truth().position("red lego") - target[:3]) < 0.004
        assert world.truth().supports["red lego"] == "blue cube"
        assert world.log == []


def test_tower_of_six_stands():
    colours = ("red", "green", "blue", "yellow", "cyan", "magenta")
    objects = tuple(
        ObjectSpec(
            f"{colour} cube", ObjectKind.CUBE, colour, (0.04,) * 3, (0.40 + 0.12 * (i % 3), 0.16 * (i // 3)), 0.1 * i
        )
        for i, colour in enumerate(colours)
    )
    scene = SceneSpec(objects)
    with TabletopWorld(scene) as world:
        for below, above in zip(scene.names[:-1], scene.names[1:], strict=True):
            world.execute(Action("top", (above, below)))
        truth = world.truth()
        for below, above in zip(scene.names[:-1], scene.names[1:], strict=True):
            assert truth.supports[above] == below
        assert np.linalg.norm((truth.positions[5] - truth.positions[0])[:2]) < 0.005


def test_tower_of_seven_stands_while_the_arm_works_beside_it():
    colours = ("red", "green", "blue", "yellow", "cyan", "magenta", "orange")
    tower = tuple(
        ObjectSpec(f"{colour} cube", ObjectKind.CUBE, colour, (0.034,) * 3, (0.35 + 0.06 * i, 0.28))
        for i, colour in enumerate(colours)
    )
    die = ObjectSpec("white die", ObjectKind.DIE, "white", (0.04,) * 3, (0.45, -0.2))
    with TabletopWorld(SceneSpec((*tower, die))) as world:
        height = 0.0
        for number, item in enumerate(tower):
            # a little off the middle, as an arm stacks
            place = [0.6 + 0.004 * (-1) ** number, -0.003 * (number % 3), height + item.size[2] / 2]
            world.external_agent.carry(item.name, place)
            height += item.size[2] + 0.0005
        world.settle()
        before = world.truth()
        for y in (-0.3, -0.2, -0.3, -0.2):
            world.execute(Action("free", ("white die",), target=(0.45, y, 0.02, 0.04, 0.04, 0.04)))
        truth = world.truth()
        for below, above in pairwise(tower):
            assert truth.supports[above.name] == below.name
        assert np.abs(truth.positions[:7] - before.positions[:7]).max() < 0.010


def test_another_grasp_is_taken_if_the_arm_finds_no_way_to_the_best_one():
    """Beside this tower the roomiest grasp is one that no straight way leads to."""
    kinds = {ObjectKind.CUBE: "cube", ObjectKind.DIE: "die", ObjectKind.LEGO: "lego"}
    at_start = [
        (ObjectKind.CUBE, "yellow", (0.0536, 0.0536, 0.0536), (0.457, -0.244), -0.06),
        (ObjectKind.DIE, "magenta", (0.0362, 0.0362, 0.0362), (0.575, -0.264), 0.03),
        (ObjectKind.DIE, "yellow", (0.0390, 0.0390, 0.0390), (0.45, 0.1), -0.04),
        (ObjectKind.DIE, "cyan", (0.0399, 0.0399, 0.0399), (0.52, 0.2), -0.03),
        (ObjectKind.LEGO, "white", (0.0584, 0.0389, 0.0389), (0.614, 0.197), 1.56),
    ]
    objects = tuple(ObjectSpec(f"{colour} {kinds[kind]}", kind, colour, *rest) for kind, colour, *rest in at_start)
    with TabletopWorld(SceneSpec(objects)) as world:
        for name, place in (
            ("yellow die", (0.575, -0.263, 0.056)),
            ("cyan die", (0.576, -0.264, 0.095)),
            ("white lego", (0.576, -0.265, 0.134)),
        ):
            world.external_agent.carry(name, place)
        world.settle()
        world.execute(Action("front", ("yellow cube", "magenta die")))
        assert not any("no way" in line for line in world.log)
        die, cube = world.pose("magenta die")[0], world.pose("yellow cube")[0]
        assert die[0] - cube[0] - (0.0362 + 0.0536) / 2 == pytest.approx(GAP_M, abs=0.008)


def test_what_cannot_be_taken_as_it_has_to_be_put_is_set_down_on_its_way():
    heights = {"orange lego": 0.020, "cyan lego": 0.057, "magenta cube": 0.098, "green lego": 0.140}
    scene = SceneSpec(
        (
            ObjectSpec("magenta die", ObjectKind.DIE, "magenta", (0.038, 0.038, 0.038), (0.395, 0.014)),
            *(
                ObjectSpec(
                    name, ObjectKind.LEGO if "lego" in name else ObjectKind.CUBE, name.split()[0], size, (0.45, y)
                )
                for name, size, y in (
                    ("orange lego", (0.060, 0.038, 0.038), -0.1),
                    ("cyan lego", (0.060, 0.036, 0.036), -0.2),
                    ("magenta cube", (0.044, 0.044, 0.044), 0.2),
                    ("green lego", (0.056, 0.038, 0.038), 0.3),
                )
            ),
        )
    )
    with TabletopWorld(scene) as world:
        for name, height in heights.items():
            world.external_agent.carry(name, (0.393, 0.103, height))
        before = world.truth()
        world.execute(Action("behind", ("magenta die", "orange lego")))
        truth = world.truth()
        for name in heights:
            assert np.linalg.norm(truth.position(name) - before.position(name)) < 0.004, name
        assert truth.position("magenta die")[0] > truth.position("orange lego")[0] + 0.05
        assert abs(truth.position("magenta die")[1] - truth.position("orange lego")[1]) < 0.005
        assert not [line for line in world.log if "touches" in line]


def test_tall_neighbours_are_not_touched():
    """A tower stands between the robot and the object: the wrist has to pass beside it."""
    tower = tuple(
        ObjectSpec(f"{colour} cube", ObjectKind.CUBE, colour, (0.042,) * 3, place, 0.0)
        for colour, place in (
            ("red", (0.50, 0.0)),
            ("green", (0.40, 0.2)),
            ("blue", (0.40, -0.2)),
            ("cyan", (0.5, 0.3)),
        )
    )
    scene = SceneSpec((*tower, ObjectSpec("white die", ObjectKind.DIE, "white", (0.04,) * 3, (0.61, 0.02), 0.1)))
    with TabletopWorld(scene) as world:
        for below, above in zip(scene.names[:3], scene.names[1:4], strict=True):
            world.execute(Action("top", (above, below)))
        before = world.truth()
        world.execute(Action("free", ("white die",), target=(0.62, -0.2, 0.02, 0.04, 0.04, 0.04)))
        truth = world.truth()
        assert np.linalg.norm(truth.position("white die") - [0.62, -0.2, 0.02]) < 0.005
        assert np.abs(truth.positions[:4] - before.positions[:4]).max() < 0.003


def test_out_of_reach_is_no_exception(world):
    before = world.truth()
    world.execute(Action("free", ("blue die",), target=(0.95, 0.5, 0.022, 0.044, 0.044, 0.044)))
    assert np.abs(world.truth().positions - before.positions).max() < 0.001
    assert "out of reach" in world.log[-1]


def test_wrong_actions_raise(world):
    with pytest.raises(InvalidAction, match="Did you mean 'top'"):
        world.execute(Action("topp", ("red cube", "blue die")))
    with pytest.raises(UnknownObject, match="Did you mean 'red cube'"):
        world.execute(Action("top", ("red cub", "blue die")))
    with pytest.raises(InvalidAction):
        world.execute(Action("free", ("red cube", "blue die")))
