"""The shipped tree on the engine of BehaviorTree.CPP, with leaves in Python."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from nsrecover.bridges.behaviortree_cpp import plan_tree
from nsrecover.core.actions import Plan


def for_simple_nodes(xml: str, leaves: Mapping[str, object]) -> str:
    """The tree without the ports of its leaves, which the Python bindings of BehaviorTree.CPP cannot declare."""
    root = ET.fromstring(xml)
    for node in root.iter():
        if node.tag in leaves:
            node.attrib.clear()
    root.remove(root.find("TreeNodesModel"))  # type: ignore[arg-type]
    return ET.tostring(root, encoding="unicode")


def run_tree(
    plan: Plan,
    leaves: Mapping[str, Callable[[Any], bool | None]],
    lasting: Mapping[str, tuple[Callable[[Any], bool], Callable[[], None]]] | None = None,
) -> bool:
    """Tick the tree of a plan until it ends; skips the test without the engine.

    Args:
        plan: what to do.
        leaves: leaf -> what it does, with the blackboard of its tree; false stands for a failure.
        lasting: leaf -> what it does at each tick, returning whether it is over; and what it does if it is halted.

    Returns:
        Whether the tree succeeds.
    """
    engine = pytest.importorskip("behaviortreepy", reason="the engine: pip install behaviortreepy")
    factory = engine.BehaviorTreeFactory()
    for name, leaf in leaves.items():

        def tick(node: Any, leaf: Callable[[Any], bool | None] = leaf) -> Any:
            good = leaf(node.config().blackboard) is not False
            return engine.NodeStatus.SUCCESS if good else engine.NodeStatus.FAILURE

        factory.register_simple_action(name, tick)
    for name, (go_on, halted) in (lasting or {}).items():

        def running(node: Any, go_on: Callable[[Any], bool] = go_on) -> Any:
            return engine.NodeStatus.SUCCESS if go_on(node.config().blackboard) else engine.NodeStatus.RUNNING

        factory.register_simple_stateful_action(name, running, running, lambda _, halted=halted: halted())
    tree = factory.create_tree_from_text(for_simple_nodes(plan_tree(plan), {**leaves, **(lasting or {})}))
    return bool(tree.tick_while_running() == engine.NodeStatus.SUCCESS)
