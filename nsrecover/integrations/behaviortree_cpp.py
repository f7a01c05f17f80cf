"""Plans and recoveries as XML of BehaviorTree.CPP 4, which Groot2 opens.

The leaves are the three services of the ROS 2 node (docs/ros2.md) and `ExecuteAction`, your skills. Nothing here needs
BehaviorTree.CPP.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nsrecover.core.actions import Action, Plan
from nsrecover.core.recovery import Recovery
from nsrecover.errors import InvalidPlan, did_you_mean

FORMAT = "4"
"""`BTCPP_format` of the files."""

MAIN, PLAN, RECOVERY, STEP, REPAIR = "Main", "Plan", "Recovery", "Step", "Repair"
"""IDs of the trees."""

_PORTS: dict[str, tuple[str, dict[str, str]]] = {
    "ExecuteAction": ("Action", {"operator": "input", "arguments": "input", "stage": "input"}),
    "NsrecoverCheck": ("Condition", {"done": "input", "code": "output"}),
    "NsrecoverJudge": (
        "Condition", {"done": "input", "code": "output", "verdict": "output", "causes": "output", "text": "output"}
    ),
    "NsrecoverRecover": (
        "Action", {"code": "output", "resume_stage": "output", "resume_at": "output", "xml": "output", "text": "output"}
    ),
    "RunTree": ("Action", {"xml": "input"}),
}  # fmt: skip
"""Leaves: their kind and ports."""

_CONTROL = ("Sequence", "Fallback", "ReactiveSequence", "ReactiveFallback", "SequenceWithMemory")
_DECORATORS = ("Inverter", "ForceSuccess", "ForceFailure", "RetryUntilSuccessful", "Repeat", "KeepRunningUntilFailure")


@dataclass(frozen=True)
class TreeSettings:
    """How trees are written.

    Attributes:
        attempts: how often a plan is repaired before the tree fails.
    """

    attempts: int = 10


def plan_tree(plan: Plan, stages: Sequence[str] = (), settings: TreeSettings | None = None) -> str:
    """The tree of a plan: every step is checked, executed and judged, and the plan is repaired if one fails.

    Args:
        plan: T actions.
        stages: T ids, or none.
        settings: see there.

    Returns:
        XML. `Main` tries `Plan`; if that fails, `Repair` asks for a recovery and runs its tree.

    Raises:
        InvalidPlan: the stages do not fit the plan.
    """
    return _document(plan, stages, 0, settings or TreeSettings())


def recovery_tree(
    recovery: Recovery, plan: Plan, stages: Sequence[str] = (), settings: TreeSettings | None = None
) -> str:
    """The tree of a recovery and of what is left of the plan then.

    Args:
        recovery: a recovery that was found.
        plan: the plan that it leads back to.
        stages: of that plan.
        settings: see there.

    Returns:
        XML. `Recovery` has the steps that lead back, and `Plan` those of the plan after them.

    Raises:
        InvalidPlan: there is no recovery, or the stages do not fit the plan.
    """
    if not recovery.found:
        raise InvalidPlan(
            f"expected a recovery that was found, found {recovery.status.value} ({recovery.reason_code}); ask for help"
        )
    _require_stages(plan, stages)
    subgoal = recovery.resumes_at(len(plan))
    actions = (*recovery.actions, *plan.actions[subgoal:])
    rest = (*("" for _ in recovery.actions), *stages[subgoal:]) if stages else ()
    return _document(actions, rest, len(recovery.actions), settings or TreeSettings())


def check_tree(xml: str) -> tuple[str, ...]:
    """What is wrong with a tree of BehaviorTree.CPP 4, as far as its structure goes; empty if nothing is.

    Checked are the format, IDs of trees and references to them (circles, too), numbers of children, leaves and their
    ports against `TreeNodesModel`, and `main_tree_to_execute`.
    """
    try:
        root = ET.fromstring(xml)
    except ET.ParseError as problem:
        return (f"expected XML, found text that is none ({problem})",)
    if root.tag != "root" or root.get("BTCPP_format") != FORMAT:
        return (f'expected <root BTCPP_format="{FORMAT}">, found <{root.tag}> with {root.attrib}',)
    problems: list[str] = []
    trees: dict[str, ET.Element] = {}
    for tree in root.findall("BehaviorTree"):
        name = tree.get("ID", "")
        if not name or name in trees:
            problems.append(f"expected an ID of its own for every tree, found {name!r} twice or empty")
        trees[name] = tree
    if (main := root.get("main_tree_to_execute")) not in trees:
        problems.append(f"expected main_tree_to_execute to be a tree, found {main!r}.{did_you_mean(str(main), trees)}")
    model = {
        (each.get("ID") or ""): {port.get("name") or "" for port in each} for each in root.findall("TreeNodesModel/*")
    }
    for name, tree in trees.items():
        if len(tree) != 1:
            problems.append(f"tree {name}: expected one child, found {len(tree)}")
        for node in tree.iter():
            problems += [f"tree {name}: {each}" for each in _problems(node, trees, model)]
    return (*problems, *_circles(trees))


def _problems(node: ET.Element, trees: Mapping[str, ET.Element], model: Mapping[str, set[str]]) -> list[str]:
    if node.tag == "BehaviorTree":
        return []
    if node.tag in _CONTROL:
        return [] if len(node) else [f"expected children of {node.tag}, found none"]
    if node.tag in _DECORATORS:
        return [] if len(node) == 1 else [f"expected one child of {node.tag}, found {len(node)}"]
    found = [f"expected no children of {node.tag}, found {len(node)}"] if len(node) else []
    if node.tag == "SubTree":
        if (name := node.get("ID") or "") not in trees:
            found.append(f"expected a tree, found {name!r}.{did_you_mean(name, trees)}")
        return found
    if node.tag not in model:
        return [*found, f"expected a node of TreeNodesModel, found {node.tag!r}.{did_you_mean(node.tag, model)}"]
    unknown = set(node.attrib) - model[node.tag] - {"name"}
    return [*found, *(f"expected ports of {node.tag}, found {each!r}" for each in sorted(unknown))]


def _circles(trees: Mapping[str, ET.Element]) -> list[str]:
    inside = {name: {each.get("ID") for each in tree.iter("SubTree")} for name, tree in trees.items()}
    reached = dict(inside)
    for _ in trees:
        reached = {n: r.union(*(inside.get(str(each), set()) for each in r)) for n, r in reached.items()}
    return [f"expected trees without circles, found {name} in itself" for name, r in reached.items() if name in r]


def _require_stages(plan: Plan | Sequence[Action], stages: Sequence[str]) -> None:
    if stages and len(stages) != len(plan):
        raise InvalidPlan(f"expected one stage for each of {len(plan)} actions, found {len(stages)}")


def _document(plan: Plan | Sequence[Action], stages: Sequence[str], inserted: int, settings: TreeSettings) -> str:
    _require_stages(plan, stages)
    root = ET.Element("root", BTCPP_format=FORMAT, main_tree_to_execute=MAIN)
    choice = ET.SubElement(_tree(root, MAIN), "Fallback", name="the plan, or repaired")
    attempt = ET.SubElement(choice, "Sequence", name="the plan")
    ET.SubElement(attempt, "SubTree", {"ID": RECOVERY if inserted else PLAN})
    if inserted and inserted < len(plan):
        ET.SubElement(attempt, "SubTree", {"ID": PLAN})
    retry = ET.SubElement(choice, "RetryUntilSuccessful", num_attempts=str(settings.attempts))
    ET.SubElement(retry, "SubTree", {"ID": REPAIR, "_autoremap": "true"})
    for name, first, last in ((RECOVERY, 0, inserted), (PLAN, inserted, len(plan))):
        if last > first:
            steps = ET.SubElement(_tree(root, name), "Sequence", name=name.lower())
            for number, action in enumerate([*plan][first:last], start=first):
                stage = stages[number] if stages else ""
                ET.SubElement(steps, "SubTree", _step(action, number, stage))
    step = ET.SubElement(_tree(root, STEP), "Sequence", name="check, act, judge")
    ET.SubElement(step, "NsrecoverCheck", done="{done}", code="{code}")
    ET.SubElement(step, "ExecuteAction", operator="{operator}", arguments="{arguments}", stage="{stage}")
    ET.SubElement(
        step, "NsrecoverJudge", done="{done}", code="{code}", verdict="{verdict}", causes="{causes}", text="{text}"
    )
    repair = ET.SubElement(_tree(root, REPAIR), "Sequence", name="ask for the recovery, run it")
    ET.SubElement(
        repair, "NsrecoverRecover", code="{code}", resume_stage="{resume_stage}", resume_at="{resume_at}", xml="{xml}",
        text="{text}",
    )  # fmt: skip
    ET.SubElement(repair, "RunTree", xml="{xml}")
    model = ET.SubElement(root, "TreeNodesModel")
    for name, (kind, ports) in _PORTS.items():
        node = ET.SubElement(model, kind, ID=name)
        for port, way in ports.items():
            ET.SubElement(node, f"{way}_port", name=port)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _tree(root: ET.Element, name: str) -> ET.Element:
    return ET.SubElement(root, "BehaviorTree", ID=name)


def _step(action: Action, number: int, stage: str) -> dict[str, str]:
    return {
        "ID": STEP, "name": stage or str(action), "operator": action.operator, "arguments": "; ".join(action.arguments),
        "stage": stage, "done": str(number), "_autoremap": "true",
    }  # fmt: skip
