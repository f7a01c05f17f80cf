"""What every operator does in physics."""

import math
from itertools import pairwise

import numpy as np
import pytest

from nsrecover.core.actions import Action
from sim.common.rotations import matrix_of
from sim.tabletop.placing import GAP_M
from sim.tabletop.scenes import ObjectKind, ObjectSpec, SceneSpec
from sim.tabletop.world import TabletopWorld
from tests.sim.tabletop.blocks import SCENE


@pytest.fixture(scope="module")
def _shared():
    with TabletopWorld(SCENE) as world:
        yield world, world.save()


@pytest.fixture
def world(_shared):
    shared, start = _shared
    shared.restore(start)
    return shared


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


def test_restore_reaches_the_target_and_its_orientation(world):
    # the box of the lego when it lies along y
    target = (0.40, -0.2, 0.018, 0.036, 0.056, 0.036)
    world.execute(Action("restore", ("white lego",), target=target))
    assert np.linalg.norm(world.truth().position("white lego") - target[:3]) < 0.004
    assert abs(matrix_of(world.pose("white lego")[1])[1, 0]) > 0.99


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
