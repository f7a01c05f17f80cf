"""Trees of BehaviorTree.CPP and py_trees: read as plans where they are sequences, or refused by the construct."""

import time

import pytest

from nsrecover.bridges.tree_files import plan_of_dot, plan_of_tree
from nsrecover.errors import NsrecoverError

py_trees = pytest.importorskip("py_trees", reason="py_trees is not installed")


def xml(main: str, more: str = "", named: str = ' main_tree_to_execute="Main"') -> str:
    return f'<root BTCPP_format="4"{named}><BehaviorTree ID="Main">{main}</BehaviorTree>{more}</root>'


PICK = '<Pick object="cup"/>'


def tree(name: str, *nodes: str) -> str:
    return f'<BehaviorTree ID="{name}"><Sequence>{"".join(nodes)}</Sequence></BehaviorTree>'


PUT = tree("Put", '<Pick object="{what}"/>', '<Place object="{what}" on="{on}"/>')

READ: dict[str, tuple[str, str]] = {
    "one action": (xml(PICK), "Pick(cup)"),
    "one tree without a main one": (xml(PICK, named=""), "Pick(cup)"),
    "a sequence of both ways of writing": (
        xml(f'<Sequence name="s">{PICK}<Action ID="Place" object="cup" on="tray"/></Sequence>'),
        "Pick(cup); Place(cup, tray)",
    ),
    "a declaration, a comment and blanks": (
        f'\n<?xml version="1.0"?>\n<!-- <!DOCTYPE x> -->{xml(PICK)}', "Pick(cup)",
    ),
    "subtrees with ports": (
        xml(
            '<Sequence><SubTree ID="Put" what="cup" on="tray"/><SubTree ID="Put" what="jug" on="cup"/></Sequence>', PUT
        ),
        "Pick(cup); Place(cup, tray); Pick(jug); Place(jug, cup)",
    ),
    "the blackboard": (
        xml('<Sequence><SetBlackboard value="cup" output_key="thing"/><Script code="where := \'tray\'"/>'
            '<SubTree ID="Put" what="{thing}" on="{where}"/></Sequence>', PUT),
        "Pick(cup); Place(cup, tray)",
    ),
    "names that are passed on": (
        xml('<Sequence><Script code=" what:=\'cup\' "/><SetBlackboard output_key="{on}" value="tray"/>'
            '<SubTree ID="Put" _autoremap="true"/></Sequence>', PUT),
        "Pick(cup); Place(cup, tray)",
    ),
    "decorators that carry out once": (
        xml(f'<RetryUntilSuccessful num_attempts="3"><Timeout msec="900">{PICK}</Timeout></RetryUntilSuccessful>'),
        "Pick(cup)",
    ),
    "nodes that are left out": (xml(f'<Sequence><DoorOpen door="d"/><OpenHand/>{PICK}</Sequence>'), "pick(cup)"),
}  # fmt: skip
MEANT = {"DoorOpen": None, "OpenHand": None, "Pick": ("pick", ("object",))}


@pytest.mark.parametrize("case", READ)
def test_a_sequence_is_read_as_it_is_carried_out(case: str) -> None:
    text, plan = READ[case]
    meanings = MEANT if "left out" in case else None
    assert str(plan_of_tree(text, meanings)) == plan


REFUSED: dict[str, tuple[str, str]] = {
    **{
        f"a {kind}": (xml(f"<{kind}>{PICK}{PICK}</{kind}>"), f"found {kind}")
        for kind in ("Fallback", "Parallel", "ReactiveSequence", "IfThenElse", "WhileDoElse", "Repeat", "Inverter")
    },
    "a condition": (xml('<Sequence><ScriptCondition code="x == 1"/></Sequence>'), "ScriptCondition"),
    "a condition by its name": (xml('<Sequence><Condition ID="DoorOpen"/></Sequence>'), "Condition"),
    "a control node of one's own": (xml(f"<Recovery>{PICK}</Recovery>"), "Recovery"),
    "a script at a node": (xml('<Pick object="cup" _skipIf="done"/>'), "_skipIf of Pick"),
    "a script that calculates": (xml('<Sequence><Script code="n += 1"/></Sequence>'), "Script"),
    "a tree in itself": (xml('<SubTree ID="A"/>', tree("A", '<SubTree ID="A"/>')), "in itself"),
    "a tree that is none": (xml('<SubTree ID="Putt"/>', PUT), "Did you mean 'Put'"),
    "a value that nothing sets": (xml('<Pick object="{thing}"/>'), "{thing}"),
    "no action": (xml("<Sequence/>"), "actions"),
    "another main tree": (xml(PICK, named=' main_tree_to_execute="Min"'), "Did you mean 'Main'"),
    "no tree": ("<rosbag/>", "main_tree_to_execute"),
    "no XML": ("<root", "XML"),
    "entities": ('<!DOCTYPE r [<!ENTITY a "b">]>' + xml(PICK), "declarations"),
    "comments without an end": ("<!--" * 300_000, "XML"),
    "many nodes": (xml("<Sequence>" * 80 + PICK + "</Sequence>" * 80), "flatter"),
    "trees that double": (
        xml('<SubTree ID="T0"/>', "".join(
            tree(f"T{n}", *[f'<SubTree ID="T{n + 1}"/>'] * 2) for n in range(20)) + tree("T20")),
        "at most 10000 nodes",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_sequence_is_refused_by_its_construct(case: str) -> None:
    text, named = REFUSED[case]
    began = time.process_time()
    with pytest.raises(NsrecoverError) as refused:
        plan_of_tree(text)
    assert named in str(refused.value), refused.value
    assert time.process_time() - began < 5


def drawn(*children: py_trees.behaviour.Behaviour) -> str:
    root = py_trees.composites.Sequence("all of it", memory=True)
    root.add_children(children)
    return str(py_trees.display.dot_tree(root).to_string())


def leaf(name: str) -> py_trees.behaviour.Behaviour:
    return py_trees.behaviours.Success(name)


def test_a_drawn_tree_of_py_trees_is_read_in_its_order() -> None:
    inner = py_trees.composites.Sequence("then", memory=True)
    inner.add_children([leaf("top(red cube, blue cube)"), leaf("pick(red)")])
    text = drawn(leaf("pick(red)"), inner, leaf("wait()"))
    assert str(plan_of_dot(text)) == "pick(red); top(red cube, blue cube); pick(red); wait()"


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: py_trees.composites.Selector("either", False, [leaf("pick(red)")]), "either: a selector"),
        (
            lambda: py_trees.composites.Parallel("both", py_trees.common.ParallelPolicy.SuccessOnAll(), [leaf("a(b)")]),
            "both: a parallel",
        ),
        (lambda: py_trees.decorators.Inverter("not", leaf("pick(red)")), "a decorator"),
        (lambda: leaf("Drive home"), "Drive home"),
    ],
)
def test_what_is_no_sequence_in_a_drawn_tree_is_refused(make: object, named: str) -> None:
    assert callable(make)
    with pytest.raises(NsrecoverError, match=named):
        plan_of_dot(drawn(make()))
