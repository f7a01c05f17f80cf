"""High towers stand while the arm works next to them, and crowded objects are grasped without touching others."""

import numpy as np
import pytest

from sim.common import kinematics
from sim.common.arm import DOWN, HOME_POSITION_M
from sim.tabletop.grasp import choose_grasps
from sim.tabletop.poses import PoseEstimates

UPRIGHT = (0.0, 0.0, 0.0, 1.0)


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
