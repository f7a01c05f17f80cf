"""Trees of BehaviorTree.CPP 4 (XML) and of py_trees (dot) as plans, if they are sequences of actions.

A sequence, a subtree, a retry or a timeout is read through; a fallback, a parallel, a condition or a loop has no single
order of actions, and is refused by its name. Nothing here needs BehaviorTree.CPP or py_trees.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from nsrecover.core.actions import Action, Plan
from nsrecover.errors import InvalidPlan, did_you_mean
from nsrecover.util.untrusted_json import InvalidJson, read_text

Meaning = tuple[str, tuple[str, ...]] | None
"""Operator, and the ports that are its arguments; None for a node that changes nothing the monitor looks at."""

_SEQUENCES = ("Sequence", "SequenceStar", "SequenceWithMemory")
_ONCE = ("RetryUntilSuccessful", "Timeout", "Delay", "RunOnce", "ForceSuccess")
"""Decorators whose child is carried out once if nothing goes wrong."""

_CONTROL = (
    "Fallback", "ReactiveFallback", "ReactiveSequence", "AsyncFallback", "AsyncSequence", "Parallel", "ParallelAll",
    "IfThenElse", "WhileDoElse", "Switch2", "Switch3", "Switch4", "Switch5", "Switch6", "Inverter", "ForceFailure",
    "KeepRunningUntilFailure", "Repeat", "LoopString", "LoopInt", "LoopDouble", "Precondition", "ScriptCondition",
    "AlwaysFailure", "Condition", "Control", "Decorator", "EntryUpdated", "SkipUnlessUpdated", "WaitValueUpdated",
)  # fmt: skip
_SETTING = re.compile(r"\s*(\w+)\s*:?=\s*'([^']*)'\s*")
_PORT = re.compile(r"\{(=|[^{}]+)\}")
MOST_NESTED = 50
MOST_NODES = 10_000


def plan_of_tree(source: str | Path, meanings: Mapping[str, Meaning] | None = None) -> Plan:
    """The plan of a tree of BehaviorTree.CPP 4.

    Args:
        source: a file, or the XML itself.
        meanings: node -> what it means; of other nodes the name is the operator, and all ports are its arguments, in
            their order in the XML.

    Raises:
        InvalidPlan: it is no such tree, or not a sequence of actions; names the construct.
    """
    text = _text(source, "<")
    first, *others = text.split("<!--")
    if "<!" in first or any("<!" in each.partition("-->")[2] for each in others):
        raise InvalidPlan("expected XML without declarations, found '<!'; take the document type out")
    try:
        root = ET.fromstring(text)
    except ET.ParseError as problem:
        raise InvalidPlan(f"expected XML of BehaviorTree.CPP, found: {problem}") from problem
    trees = {str(tree.get("ID")): tree for tree in root.iter("BehaviorTree")}
    main = root.get("main_tree_to_execute") or (next(iter(trees)) if len(trees) == 1 else "")
    if root.tag != "root" or main not in trees:
        raise InvalidPlan(
            f"expected <root main_tree_to_execute=…> with that tree, found {main!r}.{did_you_mean(main, trees)}"
        )
    actions = list(_Reader(trees, meanings or {}).actions(list(trees[main]), {}, (main,)))
    if not actions:
        raise InvalidPlan(f"expected actions in the tree {main!r}, found none")
    return Plan(tuple(actions))


class _Reader:
    """Walks through the trees of a file."""

    def __init__(self, trees: Mapping[str, ET.Element], meanings: Mapping[str, Meaning]) -> None:
        self._trees, self._meanings, self._visited = trees, meanings, 0

    def actions(self, nodes: Sequence[ET.Element], board: dict[str, str], way: tuple[str, ...]) -> Iterator[Action]:
        """The actions of some nodes, one after the other; `board` has the values of the blackboard."""
        if len(way) > MOST_NESTED:
            raise InvalidPlan(f"expected at most {MOST_NESTED} nodes inside one another, found more; write it flatter")
        for node in nodes:
            self._visited += 1
            if self._visited > MOST_NODES:
                raise InvalidPlan(f"expected at most {MOST_NODES} nodes with those of subtrees, found more")
            kind = str(node.get("ID")) if node.tag in ("Action", "SubTree") else node.tag
            if hook := next((name for name in node.attrib if name[0] == "_" and name != "_autoremap"), ""):
                raise _refused(f"{hook} of {kind}", "a script at a node")
            if node.tag in (*_SEQUENCES, *_ONCE):
                yield from self.actions(list(node), board, (*way, kind))
            elif node.tag == "SubTree":
                yield from self._subtree(node, kind, board, way)
            elif node.tag in ("SetBlackboard", "Script"):
                key, value = _setting(node)
                board[key] = _value(value, board, kind)
            elif kind in self._meanings or node.tag not in (*_CONTROL, "AlwaysSuccess"):
                yield from self._action(node, kind, board)
            elif node.tag in _CONTROL:
                raise _refused(kind, "no single order of actions")

    def _subtree(self, node: ET.Element, name: str, board: dict[str, str], way: tuple[str, ...]) -> Iterator[Action]:
        if name not in self._trees:
            raise InvalidPlan(f"expected the tree {name!r} in the file, found none.{did_you_mean(name, self._trees)}")
        if name in way:
            raise _refused(f"SubTree {name}", "a tree in itself")
        shared = node.get("_autoremap", "false").lower() in ("true", "1")
        ports = {key: value for key, value in node.items() if key not in ("ID", "name", "_autoremap")}
        inner = dict(board) if shared else {}
        for key, value in ports.items():
            port = _PORT.fullmatch(value)
            outside = (key if port[1] == "=" else port[1]) if port else ""
            if not port or outside in board:
                inner[key] = board[outside] if port else value
        yield from self.actions(list(self._trees[name]), inner, (*way, name))
        for key, value in ports.items():  # what a subtree writes to a port is seen outside
            if (port := _PORT.fullmatch(value)) and key in inner:
                board[key if port[1] == "=" else port[1]] = inner[key]

    def _action(self, node: ET.Element, kind: str, board: Mapping[str, str]) -> Iterator[Action]:
        if len(node):
            raise _refused(kind, "a control node that is not known")
        meaning = self._meanings.get(kind, (kind, tuple(key for key in node.attrib if key not in ("ID", "name"))))
        if meaning is None:
            return
        operator, ports = meaning
        if lost := [port for port in ports if port not in node.attrib]:
            raise InvalidPlan(f"expected the port {lost[0]!r} of {kind}, found {', '.join(node.attrib) or 'none'}")
        yield Action(operator, tuple(_value(node.attrib[port], board, kind, port) for port in ports))


def _setting(node: ET.Element) -> tuple[str, str]:
    """The entry of the blackboard that a node writes, and its value."""
    if node.tag == "SetBlackboard":
        return node.get("output_key", "").strip("{}"), node.get("value", "")
    match = _SETTING.fullmatch(node.get("code", ""))
    if match is None:
        raise _refused(f"Script {node.get('code', '')[:60]!r}", "more than one text that is set")
    return match[1], match[2]


def _value(text: str, board: Mapping[str, str], kind: str, port: str = "value") -> str:
    match = _PORT.fullmatch(text)
    name = port if match and match[1] == "=" else match[1] if match else ""
    if match and name not in board:
        raise InvalidPlan(
            f"expected a value of {{{name}}} for {port!r} of {kind}, found none that the tree sets; write the name in "
            "the tree, or set it with SetBlackboard"
        )
    return board[name] if match else text


def plan_of_dot(source: str | Path) -> Plan:
    """The plan of a tree that py_trees has drawn (`py_trees.display.dot_tree`), whose leaves are named as actions.

    Args:
        source: a file, or the dot itself.

    Raises:
        InvalidPlan: it is no such tree, or not a sequence of actions such as `pick(red cube)`; names the construct.
    """
    text = _text(source, "digraph")
    nodes = {match[1] or match[2]: match[3] for match in _NODE.finditer(text)}
    edges = [(match[1] or match[2], match[3] or match[4]) for match in _EDGE.finditer(text)]
    nodes = {name: given for name, given in nodes.items() if name not in ("node", "edge", "graph")}
    roots = nodes.keys() - {child for _, child in edges}
    if len(roots) != 1 or len(edges) != len(nodes) - 1 or any(name not in nodes for edge in edges for name in edge):
        raise InvalidPlan(
            f"expected the dot file of a tree of py_trees, found {len(nodes)} nodes and {len(edges)} edges"
        )
    children: dict[str, list[str]] = {}
    for parent, child in edges:
        children.setdefault(parent, []).append(child)
    actions, waiting = list[Action](), [*roots]
    while waiting:
        name = waiting.pop()
        given = dict(_ATTRIBUTE.findall(nodes[name]))
        shape = given.get("shape", "").strip('"')
        if name in children and shape != "box":
            raise _refused(name, {"octagon": "a selector", "parallelogram": "a parallel"}.get(shape, "a decorator"))
        if name not in children:
            actions.append(Action.parse(re.sub(r"\*+$", "", name).strip()))
        waiting += reversed(children.get(name, []))
    return Plan(tuple(actions))


_NAME = r'(?:"([^"\n]*)"|([\w.]+))'
_NODE = re.compile(rf"^\s*{_NAME}\s*\[([^\n]*)\];?\s*$", re.MULTILINE)
_EDGE = re.compile(rf"^\s*{_NAME}\s*->\s*{_NAME}\s*(?:\[[^\n]*\])?;?\s*$", re.MULTILINE)
_ATTRIBUTE = re.compile(r'(\w+)=("[^"]*"|[^,\]\s]+)')


def _text(source: str | Path, begins: str) -> str:
    """The text of a file, or the text itself."""
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith(begins):
        return source.lstrip("\ufeff \t\r\n")
    try:
        return read_text(source).lstrip("\ufeff \t\r\n")
    except (OSError, InvalidJson) as problem:
        raise InvalidPlan(f"expected a file with a tree, found {str(source)[:120]!r} ({problem})") from problem


def _refused(construct: str, why: str) -> InvalidPlan:
    return InvalidPlan(
        f"expected a sequence of actions, found {construct}: {why}; give the part of the tree that is a sequence, or "
        "drive a session from the tree"
    )
