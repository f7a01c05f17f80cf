"""A behaviour tree builds a tower, a block is knocked off it, and the tree recovers.

    pip install 'nsrecover[py-trees]'
    python py_trees_recovery.py

The world is a table of boxes in this file; no simulator, no images and no checkpoint are needed. With cameras, use
`nsrecover.load()` and a world that returns `nsrecover.Observation`.
"""

from __future__ import annotations

import time

import py_trees

import nsrecover
from nsrecover.bridges.behaviour_trees import FollowPlan

SIDE_M = 0.05
SYSTEM = nsrecover.geometric()


class Table:
    """Blocks on a table, and a robot whose actions work; a person knocks off the blue block after the second."""

    def __init__(self) -> None:
        rows = {"red": 0.15, "green": 0.0, "blue": -0.15, "grey": -0.25}
        self._scene = nsrecover.scene_of_boxes({name: (0.45, y, SIDE_M / 2, *[SIDE_M] * 3) for name, y in rows.items()})
        self._done = 0

    def observe(self) -> nsrecover.SceneGraph:
        """Return the scene, as a detector would."""
        return self._scene

    def execute(self, action: nsrecover.Action) -> None:
        """Carry out an action."""
        print(f"  the robot does {action}")
        self._scene, self._done = SYSTEM.imagination.step(self._scene, action), self._done + 1
        if self._done == 2:
            blue = self._scene.index("blue")
            self._scene = self._scene.with_node(blue, (0.6, 0.2, SIDE_M / 2, *[SIDE_M] * 3))


def main() -> None:
    """Build the tower."""
    plan = nsrecover.Plan.parse("top(green, red); top(blue, green); top(grey, blue)")
    follow = FollowPlan(SYSTEM.session(plan), Table())
    tree = py_trees.trees.BehaviourTree(follow)
    board = py_trees.blackboard.Client(name="reader", namespace="nsrecover")
    board.register_key("causes", access=py_trees.common.Access.READ)
    while not follow.session.request.final:
        tree.tick()
        print(f"{follow.status.name}: {follow.feedback_message}", board.causes or "")
        time.sleep(0.01)
    print(follow.session.episode.status)
    assert follow.session.episode.status == "completed"


if __name__ == "__main__":
    main()
