"""A behaviour tree with real physics, rendered images and the shipped checkpoint."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("py_trees")

import py_trees
from py_trees.common import Status

from nsrecover import load
from nsrecover.integrations.behaviour_trees import PlanExecution, follow_plan
from sim.tabletop.faults import Displaced
from sim.tabletop.sampling import Structure, sample_plan, sample_scene
from sim.tabletop.truth import deviations
from sim.tabletop.world import TabletopWorld


def test_a_displaced_block_is_brought_back() -> None:
    rng = np.random.default_rng(32)
    scene = sample_scene(rng, 4)
    plan = sample_plan(rng, scene, Structure.TOWER, 2)
    bystander = next(item.name for item in scene.objects if all(item.name not in action.arguments for action in plan))
    board = py_trees.blackboard.Client(name="reader", namespace="nsrecover")
    board.register_key("causes", access=py_trees.common.Access.READ)
    causes = []
    with TabletopWorld(scene, (Displaced(at_step=0, name=bystander, offset_m=(0.05, 0.0)),)) as world:
        start = world.truth()
        execution = PlanExecution(load(), world, plan)
        tree = py_trees.trees.BehaviourTree(follow_plan(execution))
        tree.setup()
        tree.add_post_tick_handler(lambda _: causes.append(dict(board.causes)))
        while tree.root.status in (Status.INVALID, Status.RUNNING):
            tree.tick()
        assert tree.root.status is Status.SUCCESS
        assert bystander not in deviations(world.truth(), start)
    assert {bystander: "moved"} in causes
    assert causes[-1] == {}
    assert execution.recovery is not None
    assert [str(action) for action in execution.recovery.actions] == [f"restore({bystander})"]
