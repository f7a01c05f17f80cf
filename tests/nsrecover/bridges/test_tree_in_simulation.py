"""A behaviour tree with real physics, rendered images and the shipped checkpoint."""

import numpy as np
import pytest

pytest.importorskip("py_trees")

import py_trees
from py_trees.common import Status

from nsrecover import load
from nsrecover.bridges.behaviour_trees import FollowPlan
from sim.tabletop.faults import Displaced
from sim.tabletop.sampling import Structure, sample_plan, sample_scene
from sim.tabletop.truth import deviations
from sim.tabletop.world import TabletopWorld
from tests.nsrecover.bridges.tree_table import run


def test_a_displaced_block_is_brought_back() -> None:
    rng = np.random.default_rng(32)
    scene = sample_scene(rng, 4)
    plan = sample_plan(rng, scene, Structure.TOWER, 2)
    bystander = next(item.name for item in scene.objects if all(item.name not in action.arguments for action in plan))
    with TabletopWorld(scene, (Displaced(at_step=0, name=bystander, offset_m=(0.05, 0.0)),)) as world:
        start = world.truth()
        follow = FollowPlan(load().session(plan), world)
        assert run(py_trees.trees.BehaviourTree(follow)) is Status.SUCCESS
        assert bystander not in deviations(world.truth(), start)
    (wrong,) = [each for each in follow.session.records if each.discrepancy.deviates]
    assert [(each.name, each.cause) for each in wrong.discrepancy.deviations] == [(bystander, "moved")]
    assert wrong.recovery is not None
    assert [str(action) for action in wrong.recovery.actions] == [f"restore({bystander})"]
