"""A behaviour tree builds a tower, a block is knocked off it, and the tree recovers.

    pip install 'nsrecover[py_trees]'
    python py_trees_recovery.py

The world is a table of boxes in this file; no simulator, no images and no checkpoint are needed. With cameras, give the
execution `nsrecover.load()` and a world that returns `nsrecover.Observation`.
"""

from __future__ import annotations

import time

import py_trees

import nsrecover
from nsrecover.domains.tabletop.operators import operator_of
from nsrecover.integrations.behaviour_trees import PlanExecution, follow_plan

SIDE_M = 0.05


class Table:
    """Blocks on a table; feasible actions work exactly, and infeasible ones move nothing.

    Args:
        system: predicts the results of actions.
    """

    def __init__(self, system: nsrecover.System) -> None:
        rows = {"red": 0.15, "green": 0.0, "blue": -0.15, "grey": -0.25}
        boxes = {name: (0.45, y, SIDE_M / 2, SIDE_M, SIDE_M, SIDE_M) for name, y in rows.items()}
        self.scene = nsrecover.scene_of_boxes(boxes)
        self._system = system

    def observe(self) -> nsrecover.SceneGraph:
        """Return the scene, as a detector would."""
        return self.scene

    def execute(self, action: nsrecover.Action) -> None:
        """Carry out an action."""
        print(f"  the robot does {action}")
        if not operator_of(action).violated(self.scene, action):
            self.scene = self._system.imagination.step(self.scene, action)

    def knock_off(self, name: str) -> None:
        """Put a block somewhere else on the table, as a person might."""
        print(f"  somebody knocks off the {name} block")
        self.scene = self.scene.with_node(self.scene.index(name), (0.6, 0.2, SIDE_M / 2, SIDE_M, SIDE_M, SIDE_M))


def main() -> None:
    """Build the tower, with a disturbance after the second step."""
    system = nsrecover.geometric()
    table = Table(system)
    execution = PlanExecution(system, table, nsrecover.Plan.parse("top(green, red); top(blue, green); top(grey, blue)"))
    tree = py_trees.trees.BehaviourTree(follow_plan(execution))
    tree.setup()
    board = py_trees.blackboard.Client(name="reader", namespace="nsrecover")
    board.register_key("causes", access=py_trees.common.Access.READ)

    mishaps = ["blue"]
    while tree.root.status not in (py_trees.common.Status.SUCCESS, py_trees.common.Status.FAILURE):
        tree.tick()
        print(f"{tree.root.status.name}: {tree.root.feedback_message}", board.causes or "")
        if mishaps and execution.step == 2:
            table.knock_off(mishaps.pop())
        time.sleep(0.01)
    print(py_trees.display.unicode_tree(tree.root, show_status=True))
    assert tree.root.status is py_trees.common.Status.SUCCESS
    assert execution.recovery is not None
    print("The tower stands; the way back was:", ", ".join(map(str, execution.recovery.actions)))


if __name__ == "__main__":
    main()
