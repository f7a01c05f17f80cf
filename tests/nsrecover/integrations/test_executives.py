"""Trees of BehaviorTree.CPP on the real engine, stages of tasks, and plans of PlanSys2."""

from __future__ import annotations

import threading
import xml.etree.ElementTree as ET
from types import SimpleNamespace
from typing import Any

import pytest

import nsrecover
from nsrecover.core.recovery import ReasonCode, Recovery, RecoveryStatus
from nsrecover.errors import InvalidPlan
from nsrecover.integrations.behaviortree_cpp import _PORTS, check_tree, plan_tree, recovery_tree
from nsrecover.integrations.plansys2 import Vocabulary, read_plan, translate, write_plan
from nsrecover.integrations.ros2.answers import action_of
from nsrecover.integrations.ros2.buffer import BufferSettings
from nsrecover.integrations.ros2.core import CoreSettings, MonitorCore
from nsrecover.integrations.ros2.endpoints import Request
from nsrecover.integrations.stages import StageMap, one_stage_each
from nsrecover.records.bags.messages import PLAN
from tests.nsrecover.integrations.box_table import SIDE, Table

TOWER = nsrecover.Plan.parse("top(green, red); top(blue, green)")
BACK = Recovery(RecoveryStatus.RECOVERED, nsrecover.Plan.parse("free(green); top(green, red)").actions, subgoal=1)
LOST = Recovery(RecoveryStatus.IMPOSSIBLE, reason_code=ReasonCode.MISSING_OBJECTS)


def test_the_trees_fit_their_model_and_mistakes_are_named() -> None:
    for xml in (plan_tree(TOWER, ["a", "b"]), plan_tree(TOWER), recovery_tree(BACK, TOWER, ["a", "b"])):
        assert check_tree(xml) == ()
    xml = recovery_tree(BACK, TOWER, ["a", "b"])
    steps = {tree.get("ID"): [step.get("name") for step in tree.iter("SubTree")] for tree in ET.fromstring(xml)}
    assert (steps["Recovery"], steps["Plan"]) == (["free(green)", "top(green, red)"], ["b"])
    whole = Recovery(RecoveryStatus.RECOVERED, BACK.actions, subgoal=2)
    assert "Plan" not in {tree.get("ID") for tree in ET.fromstring(recovery_tree(whole, TOWER))}
    for old, new, found in (
        ('SubTree ID="Plan"', 'SubTree ID="Plam"', "Did you mean 'Plan'"),
        ("<NsrecoverCheck done", "<NsrecoverCheck dome", "expected ports of NsrecoverCheck, found 'dome'"),
        ('BTCPP_format="4"', 'BTCPP_format="3"', "expected <root BTCPP_format"),
        ("<RunTree xml", "<RanTree xml", "expected a node of TreeNodesModel"),
        ('<SubTree ID="Repair"', '<SubTree ID="Main"', "found Main in itself"),
        ("</root>", "", "expected XML"),
    ):
        assert any(found in each for each in check_tree(plan_tree(TOWER).replace(old, new))), found
    with pytest.raises(InvalidPlan, match=r"missing_objects.*ask for help"):
        recovery_tree(LOST, TOWER)
    with pytest.raises(InvalidPlan, match="one stage for each of 2"):
        plan_tree(TOWER, ["a"])


def for_simple_nodes(xml: str) -> str:
    """The tree without the ports of its leaves, which the Python bindings of BehaviorTree.CPP cannot declare."""
    root = ET.fromstring(xml)
    for node in root.iter():
        if node.tag in _PORTS:
            node.attrib.clear()
    root.remove(root.find("TreeNodesModel"))  # type: ignore[arg-type]
    return ET.tostring(root, encoding="unicode")


def test_the_engine_repairs_a_plan_with_a_tree_made_at_run_time() -> None:
    engine = pytest.importorskip("behaviortreepy")
    core = MonitorCore(nsrecover.geometric(), CoreSettings(BufferSettings(cameras=())))
    threading.Thread(target=core.run, daemon=True).start()
    table, done, trees = Table(core), list[str](), list[str]()
    core.take(PLAN, SimpleNamespace(data=str(TOWER)))

    def status(good: bool) -> Any:
        return engine.NodeStatus.SUCCESS if good else engine.NodeStatus.FAILURE

    def number(node: Any) -> int:
        return int(node.config().blackboard.get_string("done"))

    def check(node: Any) -> Any:
        return status(table.ask(Request.CHECK, done=number(node))["proceed"])

    def act(node: Any) -> Any:
        board = node.config().blackboard
        arguments = board.get_string("arguments").split("; ")
        table.act({"operator": board.get_string("operator"), "arguments": arguments, "has_target": False})
        if len(table.done) == 1:
            table.boxes["green"] = (0.6, 0.25, SIDE / 2, SIDE, SIDE, SIDE)
        return status(True)

    def judge(node: Any) -> Any:
        return status(table.ask(Request.JUDGE, done=number(node))["discrepancy"]["verdict"] == "as_expected")

    def recover(node: Any) -> Any:
        found = table.ask(Request.RECOVER)["recovery"]
        plan = nsrecover.Plan(tuple(action_of(SimpleNamespace(**each)) for each in found["plan"]))
        back = Recovery(RecoveryStatus(found["status"]), plan.actions[: len(found["actions"])], subgoal=0)
        rest = nsrecover.Plan(plan.actions[len(found["actions"]) :])
        trees.append(recovery_tree(back, rest))
        return status(True)

    def run(xml: str) -> Any:
        assert check_tree(xml) == ()
        factory = engine.BehaviorTreeFactory()
        factory.register_simple_condition("NsrecoverCheck", check)
        factory.register_simple_condition("NsrecoverJudge", judge)
        factory.register_simple_action("ExecuteAction", act)
        factory.register_simple_action("NsrecoverRecover", recover)
        factory.register_simple_action("RunTree", lambda node: run(trees[-1]))
        done.append("tree")
        return factory.create_tree_from_text(for_simple_nodes(xml)).tick_while_running()

    assert run(plan_tree(TOWER)) == engine.NodeStatus.SUCCESS
    assert (done, len(trees)) == (["tree", "tree"], 1)
    assert table.boxes["blue"][2] == pytest.approx(2.5 * SIDE)
    core.stop()


def test_a_task_resumes_at_the_stage_of_its_step() -> None:
    stages = StageMap((("pick green", 0), ("place green", 0), ("pick blue", 1), ("place blue", 1)))
    assert (stages.step_of("place green"), stages.first_stage(1), stages.first_stage(2)) == (0, "pick blue", None)
    assert stages.ids() == ("pick green", "pick blue")
    assert stages.resume(BACK) == ("pick blue", "place blue")
    assert one_stage_each(["a", "b"]).resume(Recovery(RecoveryStatus.RECOVERED, subgoal=2)) == ()
    for wrong, expected in (
        ((("a", 0), ("a", 1)), "an id of its own"),
        ((("a", 0), ("b", 2)), "give every step a stage"),
        ((("a", 1), ("b", 0)), "in order"),
    ):
        with pytest.raises(InvalidPlan, match=expected):
            StageMap(wrong)
    with pytest.raises(InvalidPlan, match="Did you mean 'pick blue'"):
        stages.step_of("pick blu")
    with pytest.raises(InvalidPlan, match="ask for help"):
        stages.resume(LOST)


PDDL = """; cost 4
0.000: (PICK hand red_cube table) [1.500]
1.501: (stack hand red_cube blue_cube) [2.000]
3.502: (pick hand green table)  [1.500]
5.003: (stack hand green red_cube) [2.000]
"""
WORDS = Vocabulary({"pick": None, "stack": ("top", (1, 2))})


def test_plans_of_plansys2_are_read_and_written() -> None:
    found = translate(read_plan(PDDL), WORDS)
    assert str(found.plan) == "top(red cube, blue cube); top(green, red cube)"
    assert ([found.first_item(step) for step in (0, 1, 2)], found.items[1].duration_s) == ([0, 2, 4], 2.0)
    words = Vocabulary({"stack": ("top", (0, 1))}, {"r1": "red cube"})
    text = write_plan(found.plan, words, 2.0)
    assert text == "0.000: (stack r1 blue_cube) [2.000]\n2.000: (stack green r1) [2.000]\n"
    assert translate(read_plan(text), words).plan == found.plan


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("stack a b", WORDS, "expected lines like"),
        ("; nothing", WORDS, "at least one line"),
        ("0: (stac hand a b)", WORDS, "Did you mean 'stack'"),
        ("0: (stack hand a)", WORDS, "expected 3 objects of stack"),
        ("0: (pick hand a table)", WORDS, "fill in Vocabulary"),
    ],
)
def test_plans_that_cannot_be_used_are_named(text: str, words: Vocabulary, expected: str) -> None:
    with pytest.raises(InvalidPlan, match=expected):
        translate(read_plan(text), words)
    with pytest.raises(InvalidPlan, match="an action for 'left'"):
        write_plan(nsrecover.Plan.parse("left(a, b)"), words)
    with pytest.raises(InvalidPlan, match="found a gap"):
        write_plan(nsrecover.Plan.parse("top(a, b)"), words)
