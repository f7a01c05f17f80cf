"""A table of blocks for behaviour trees, with chosen events after actions."""

import threading
from collections.abc import Callable
from typing import Any

import py_trees
from py_trees.common import Access, Status

from nsrecover import Action, Plan, SceneGraph, geometric, scene_of_boxes
from nsrecover.bridges.behaviour_trees import KEYS
from nsrecover.domains.tabletop.operators import operator_of

SIDE_M = 0.05
PLAN = Plan.parse("top(green, red); top(blue, green); top(grey, blue)")


class Table:
    """Blocks on a table; `after` is called after every action, and may move blocks."""

    def __init__(self) -> None:
        rows = {"red": 0.15, "green": 0.0, "blue": -0.15, "grey": -0.25}
        self.scene = scene_of_boxes({name: box(0.45, y) for name, y in rows.items()})
        self.done: list[str] = []
        self.after: Callable[[int], None] = lambda _: None

    def observe(self) -> SceneGraph:
        return self.scene

    def execute(self, action: Action) -> None:
        self.done.append(str(action))
        if not operator_of(action).violated(self.scene, action):
            self.scene = geometric().imagination.step(self.scene, action)
        self.after(len(self.done))

    def put(self, name: str, x: float, y: float) -> None:
        self.scene = self.scene.with_node(self.scene.index(name), box(x, y))

    def lose(self, name: str) -> None:
        keep = [other for other in self.scene.names if other != name]
        self.scene = scene_of_boxes({other: self.scene.boxes[self.scene.index(other)] for other in keep})

    def stands(self) -> bool:
        heights = [self.scene.boxes[self.scene.index(name)][2] for name in ("red", "green", "blue", "grey")]
        return all(abs(height - (row + 0.5) * SIDE_M) < 0.01 for row, height in enumerate(heights))


def box(x: float, y: float) -> tuple[float, ...]:
    return (x, y, SIDE_M / 2, SIDE_M, SIDE_M, SIDE_M)


class Slow:
    """A planner that waits until it may answer, or is cancelled."""

    def __init__(self) -> None:
        self.allowed, self.searching = threading.Event(), threading.Event()

    def recover(self, *scenes: Any, cancelled: Callable[[], bool] | None = None, **options: Any) -> Any:
        self.searching.set()
        while not self.allowed.wait(0.002) and not (cancelled and cancelled()):
            pass
        self.searching.clear()
        return geometric().planner.recover(*scenes, cancelled=cancelled, **options)


def run(tree: Any, until: Callable[[], bool] = lambda: False) -> Status:
    """Tick until the tree ends, or something is the case; scenes are judged in another thread."""
    for _ in range(20_000):
        tree.tick()
        if until() or tree.root.status is not Status.RUNNING:
            break
        threading.Event().wait(0.001)
    return tree.root.status


def reader(namespace: str = "nsrecover") -> Any:
    board = py_trees.blackboard.Client(name="reader", namespace=namespace)
    for key in KEYS:
        board.register_key(key, access=Access.READ)
    return board
