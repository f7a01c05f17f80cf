"""High towers stand while the arm works next to them, and crowded objects are grasped without touching others."""

import itertools
import math

import numpy as np
import pytest

from nsrecover.core.actions import Action
from sim.common import kinematics
from sim.common.arm import DOWN, HOME_POSITION_M
from sim.tabletop.grasp import choose_grasps
from sim.tabletop.physics import SOLVER_ITERATIONS_EMPTY, PhysicsScene
from sim.tabletop.pick_and_place import SkillFailure
from sim.tabletop.poses import PoseEstimates
from sim.tabletop.scenes import ObjectKind, ObjectSpec, SceneSpec
from sim.tabletop.skills import PickAndPlace
from sim.tabletop.world import TabletopWorld

UPRIGHT = (0.0, 0.0, 0.0, 1.0)
SIZES = ((0.031,) * 3, (0.032,) * 3, (0.043,) * 3, (0.041,) * 3, (0.056, 0.039, 0.039), (0.057, 0.038, 0.038))
COLOURS = ("red", "green", "blue", "yellow", "cyan", "magenta", "white", "orange")


def bricks(sizes, place):
    """Objects of some sizes in a row that begins at a place."""
    kinds = [ObjectKind.CUBE if len(set(size)) == 1 else ObjectKind.LEGO for size in sizes]
    return tuple(
        ObjectSpec(f"{colour} brick", kind, colour, size, (place[0], place[1] + 0.075 * number))
        for number, (colour, kind, size) in enumerate(zip(COLOURS, kinds, sizes, strict=False))
    )


def stack(world, names, yaws=None):
    """Put objects onto the first of them, each exactly onto the one below."""
    for number, (below, name) in enumerate(itertools.pairwise(names), start=1):
        centre = world.pose(below)[0]
        centre[2] += (world.scene[below].size[2] + world.scene[name].size[2]) / 2
        yaw = 0.0 if yaws is None else yaws[number]
        world.put(name, centre, (0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2)))


def test_a_tower_stands_while_the_empty_hand_moves():
    scene = SceneSpec(bricks(SIZES, (0.5, -0.2)))
    with PhysicsScene(scene, with_arm=False) as world:
        names = [item.name for item in scene.objects]
        stack(world, names)
        before = world.pose(names[-1])[0]
        world.limit_iterations(SOLVER_ITERATIONS_EMPTY)
        for _ in range(800):
            world.advance()
        assert np.linalg.norm(world.pose(names[-1])[0] - before) < 0.01


@pytest.mark.parametrize("gap_m", [0.018, 0.05])
def test_an_object_between_others_is_grasped_without_touching_them(gap_m):
    side = 0.04
    away = side + gap_m
    names = ("red cube", "green cube", "blue cube", "yellow cube", "cyan cube")
    places = np.array([(0.5, 0.0), (0.5 + away, 0.0), (0.5 - away, 0.0), (0.5, away), (0.5, -away)])
    estimates = PoseEstimates(
        names,
        np.column_stack([places, np.full(5, side / 2)]),
        np.tile(UPRIGHT, (5, 1)),
        np.full((5, 3), side),
    )
    (home,), _ = kinematics.solve(np.array([HOME_POSITION_M]), DOWN[None], kinematics.REST)
    goal = np.array([0.5, 0.25, side / 2])
    assert next(choose_grasps(estimates, "red cube", goal, np.eye(3), 0.15, home)).room_m >= 0.0


def test_the_arm_passes_a_tower_with_its_elbow_too():
    # the forearm comes close to the tower on the way to the die, not where the hand grasps it
    across = math.pi / 2
    sizes = [(0.0608, 0.0404, 0.0404), (0.0613, 0.0386, 0.0386), (0.0365,) * 3, (0.0626, 0.0416, 0.0416)]
    sizes += [(0.0625, 0.0407, 0.0407), (0.0375,) * 3, (0.0406,) * 3, (0.0351,) * 3]
    tower = bricks(sizes, (0.5335, -0.2015))
    die = ObjectSpec("cyan die", ObjectKind.DIE, "cyan", (0.031,) * 3, (0.5215, -0.2584))
    near = ObjectSpec("cyan cube", ObjectKind.CUBE, "cyan", (0.0367,) * 3, (0.4431, -0.2559))
    others = (
        ObjectSpec("blue cube", ObjectKind.CUBE, "blue", (0.0382,) * 3, (0.5754, -0.0342), across),
        ObjectSpec("blue die", ObjectKind.DIE, "blue", (0.0335,) * 3, (0.3688, -0.0685)),
        ObjectSpec("orange die", ObjectKind.DIE, "orange", (0.0373,) * 3, (0.3946, -0.1181)),
    )
    with TabletopWorld(SceneSpec((*tower, die, near, *others))) as world:
        names = [item.name for item in tower]
        stack(world, names, [0.0, across, 0.0, across, 0.0, 0.0, 0.0, 0.0])
        world.settle()
        world.execute(Action("top", ("cyan die", names[-1])))
        assert world.truth().supports["cyan die"] == names[-1]
        assert world.truth().position("cyan die")[2] > 0.3


def test_the_first_grasp_whose_motions_touch_nothing_is_taken(monkeypatch):
    seen, taken, rooms = [], [], iter([-0.01, 0.0])

    def room(self, grasp, *motion):
        seen.append(grasp)
        return next(rooms)

    def carry(self, grasp, *goal):
        taken.append(grasp)
        raise SkillFailure("that is enough")

    monkeypatch.setattr(PickAndPlace, "_room_along", room)
    monkeypatch.setattr(PickAndPlace, "_carry", carry)
    with TabletopWorld(SceneSpec(bricks(((0.04,) * 3,), (0.5, 0.0)))) as world:
        world.execute(Action("free", ("red brick",)))
    assert len(seen) == 2
    assert taken == [seen[1]]
