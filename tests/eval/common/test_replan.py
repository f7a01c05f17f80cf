"""RePlan, the forward search baseline: its actions and its goal."""

from dataclasses import replace

import numpy as np
import pytest

import nsrecover
from eval.common.replan import RePlanner
from nsrecover.core import Plan, RecoveryStatus, SceneGraph, Trace
from nsrecover.models.bundle import Bundle

SIDE = 0.045


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return Bundle.load()


def scene(bundle: Bundle, **boxes: tuple[float, ...]) -> SceneGraph:
    """Cubes, or boxes of given sides, with different appearances."""
    whole = np.array([(*box, SIDE, SIDE, SIDE)[:6] for box in boxes.values()], dtype=np.float32)
    visual = np.eye(bundle.config.feature_size, dtype=np.float32)[: len(boxes)]
    return SceneGraph(tuple(boxes), visual, whole, np.ones(len(boxes), np.bool_))


def test_its_last_scene_is_the_goal_and_a_missing_object_makes_it_impossible(bundle: Bundle) -> None:
    """The goal of the trace is used, not the imagined scene."""
    start = scene(bundle, a=(0.5, -0.2, SIDE / 2), b=(0.5, 0.1, SIDE / 2))
    goal = scene(bundle, a=(0.5, 0.1, 1.5 * SIDE), b=(0.5, 0.1, SIDE / 2))
    trace = Trace(Plan.parse("top(a, b)"), (start, goal))
    comparison = nsrecover.load().comparison
    found = RePlanner(bundle).recover(start, trace, comparison.after(start, trace, 0), None)
    assert found.status is RecoveryStatus.RECOVERED
    assert [action.arguments[0] for action in found.actions] == ["a"]
    assert found.graphs[-1] is goal
    assert len(found.graphs) == len(found.actions)
    lost = replace(start, seen=np.array([False, True]))
    gone = RePlanner(bundle).recover(lost, trace, comparison.after(lost, trace, 0), None)
    assert (gone.status, gone.blamed) == (RecoveryStatus.IMPOSSIBLE, ("a",))
    there = RePlanner(bundle).recover(goal, trace, comparison.after(goal, trace, 0), None)
    assert (there.actions, there.graphs) == ((), ())
