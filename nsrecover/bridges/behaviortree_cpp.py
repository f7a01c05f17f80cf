"""A plan as a tree of BehaviorTree.CPP 4, which Groot2 opens; the tree drives a session through the ROS 2 node.

The leaves are `NsrecoverPlan` and `NsrecoverReport`, which publish the plan and call the service of
docs/integrations.md, and your skills `ExecuteAction`, `LookAt` and `AskPerson`. Nothing here needs BehaviorTree.CPP.
"""

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from importlib import resources

from nsrecover.core import Plan
from nsrecover.errors import InvalidPlan


def plan_tree(plan: Plan, stages: Sequence[str] = ()) -> str:
    """The tree that carries out a plan and recovers it.

    Args:
        plan: T actions without targets.
        stages: T ids, or none.

    Returns:
        XML. The main tree succeeds if the session ends with `done`.

    Raises:
        InvalidPlan: the stages do not fit the plan, or an action has a target.
    """
    if stages and len(stages) != len(plan):
        raise InvalidPlan(f"expected one stage for each of {len(plan)} actions, found {len(stages)}")
    if wrong := [str(action) for action in plan if action.target is not None]:
        raise InvalidPlan(f"expected actions without targets, found {', '.join(wrong)}; publish the plan as JSON")
    root = ET.fromstring((resources.files("nsrecover.bridges") / "session_tree.xml").read_text(encoding="utf-8"))
    begin = next(root.iter("NsrecoverPlan"))
    begin.set("plan", str(plan))
    begin.set("stages", "; ".join(stages))
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
