"""A table of blocks for behaviour trees, with chosen events between the ticks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import py_trees
from py_trees.common import Access, Status

from nsrecover import Action, Plan, SceneGraph, System, geometric, scene_of_boxes
from nsrecover.domains.tabletop.operators import operator_of
from nsrecover.integrations.behaviour_trees import (
    PlanExecution,
    follow_plan,
)
from nsrecover.integrations.plan_execution import KEYS

SIDE_M = 0.05
PLAN = Plan.parse("top(green, red); top(blue, green); top(grey, blue)")


class Table:
    """Blocks on a table; `after` is called after every action, and may move blocks."""

    def __init__(self) -> None:
        rows = {"red": 0.15, "green": 0.0, "blue": -0.15, "grey": -0.25}
        self.scene = scene_of_boxes({name: box(0.45, y) for name, y in rows.items()})
        self.done: list[str] = []
        self.after: Callable[[str], None] = lambda _: None

    def observe(self) -> SceneGraph:
        return self.scene

    def execute(self, action: Action) -> None:
        self.done.append(str(action))
        if not operator_of(action).violated(self.scene, action):
            self.scene = geometric().imagination.step(self.scene, action)
        self.after(str(action))

    def put(self, name: str, x: float, y: float, z: float = SIDE_M / 2) -> None:
        self.scene = self.scene.with_node(self.scene.index(name), box(x, y, z))

    def lose(self, name: str) -> None:
        keep = [other for other in self.scene.names if other != name]
        self.scene = scene_of_boxes({other: self.scene.boxes[self.scene.index(other)] for other in keep})

    def on(self, upper: str, lower: str) -> bool:
        a, b = (self.scene.boxes[self.scene.index(name)] for name in (upper, lower))
        return bool(abs(a[:3] - b[:3] - (0, 0, SIDE_M)).max() < 0.01)

    def stands(self) -> bool:
        return self.on("green", "red") and self.on("blue", "green") and self.on("grey", "blue")


def box(x: float, y: float, z: float = SIDE_M / 2) -> tuple[float, ...]:
    return (x, y, z, SIDE_M, SIDE_M, SIDE_M)


@dataclass(frozen=True)
class Slow(System):
    """A system whose planner waits until it may answer, or is cancelled."""

    allowed: threading.Event = field(default_factory=threading.Event)
    cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def planner(self) -> Any:
        return self

    def recover(self, *arguments: Any, cancelled: Callable[[], bool], **options: Any) -> Any:
        while not self.allowed.wait(0.002):
            if cancelled():
                self.cancelled.set()
                break
        return System.planner.fget(self).recover(*arguments, cancelled=cancelled, **options)


def slow() -> Slow:
    return Slow(geometric().models)


def tree_of(execution: PlanExecution) -> Any:
    tree = py_trees.trees.BehaviourTree(follow_plan(execution))
    tree.setup()
    return tree


def run(tree: Any, ticks: int = 20_000) -> Status:
    """Tick until the tree ends; searches run in a thread and may take many ticks."""
    for _ in range(ticks):
        tree.tick()
        if tree.root.status is not Status.RUNNING:
            break
        threading.Event().wait(0.001)
    return tree.root.status


def reader(namespace: str = "nsrecover") -> Any:
    board = py_trees.blackboard.Client(name="reader", namespace=namespace)
    for key in KEYS:
        board.register_key(key, access=Access.READ)
    return board


def node(root: Any, kind: type) -> Any:
    return next(behaviour for behaviour in root.iterate() if isinstance(behaviour, kind))
