"""Trees of BehaviorTree.CPP on the real engine, and plans of PlanSys2."""

import xml.etree.ElementTree as ET
from typing import Any

import pytest

import nsrecover
from nsrecover.bridges.behaviortree_cpp import plan_tree
from nsrecover.bridges.plansys2 import PlanVocabulary, read_plan, translate, write_plan
from nsrecover.errors import InvalidPlan
from tests.nsrecover.bridges.engine import run_tree

TOWER = nsrecover.Plan.parse("top(green, red); top(blue, green)")


def test_trees_have_the_plan_and_fit_their_model() -> None:
    root = ET.fromstring(plan_tree(TOWER, ["a", "b"]))
    model = {each.get("ID"): {port.get("name") for port in each} for each in root.findall("TreeNodesModel/*")}
    leaves = [node for tree in root.findall("BehaviorTree") for node in tree.iter() if node.tag in model]
    assert {node.tag for node in leaves} == set(model)
    assert all(set(node.attrib) == model[node.tag] for node in leaves)
    assert next(root.iter("NsrecoverPlan")).attrib == {"plan": str(TOWER), "stages": "a; b"}
    with pytest.raises(InvalidPlan, match="one stage for each of 2"):
        plan_tree(TOWER, ["a"])
    with pytest.raises(InvalidPlan, match="without targets"):
        plan_tree(nsrecover.Plan((nsrecover.Action("restore", ("a",), (0.4, 0, 0.02, 0.04, 0.04, 0.04)),)))


def test_the_engine_halts_what_has_to_stop() -> None:
    requests, ticks, halts, told = iter(["act", "done"]), list[int](), list[int](), list[str]()

    def report(board: Any) -> None:
        told.append(board.get_string("what"))
        board.set_string("request", next(requests))

    succeeds = run_tree(
        TOWER,
        {
            "NsrecoverPlan": lambda _: None, "NsrecoverReport": report, "LookAt": lambda _: None,
            "AskPerson": lambda _: None, "NsrecoverGoesOn": lambda _: len(ticks) < 3,
        },
        {"ExecuteAction": (lambda _: bool(ticks.append(1)), lambda: halts.append(len(ticks)))},
    )  # fmt: skip
    assert succeeds
    assert halts == [3]
    assert told == ["observed", "observed"]


PDDL = """; cost 4
0.000: (PICK hand red_cube table) [1.500]
1.501: (stack hand red_cube blue_cube) [2.000]
3.502: (pick hand green table)  [1.500]
5.003: (stack hand green red_cube) [2.000]
"""
WORDS = PlanVocabulary({"pick": None, "stack": ("top", (1, 2))})


def test_plans_of_plansys2_are_read_and_written() -> None:
    found = translate(read_plan(PDDL), WORDS)
    assert str(found.plan) == "top(red cube, blue cube); top(green, red cube)"
    assert ([found.first_item(step) for step in (0, 1, 2)], found.items[1].duration_s) == ([0, 2, 4], 2.0)
    words = PlanVocabulary({"stack": ("top", (0, 1))}, {"r1": "red cube"})
    text = write_plan(found.plan, words, 2.0)
    assert text == "0.000: (stack r1 blue_cube) [2.000]\n2.000: (stack green r1) [2.000]\n"
    assert translate(read_plan(text), words).plan == found.plan


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("0: (stac hand a b)", WORDS, "Did you mean 'stack'"),
        ("0: (stack hand a)", WORDS, "expected 3 objects of stack"),
        ("0: (pick hand a table)", WORDS, "fill in Vocabulary"),
    ],
)
def test_plans_that_cannot_be_used_are_named(text: str, words: PlanVocabulary, expected: str) -> None:
    with pytest.raises(InvalidPlan, match=expected):
        translate(read_plan(text), words)
    with pytest.raises(InvalidPlan, match="an action for 'left'"):
        write_plan(nsrecover.Plan.parse("left(a, b)"), words)
    with pytest.raises(InvalidPlan, match="found a gap"):
        write_plan(nsrecover.Plan.parse("top(a, b)"), words)
