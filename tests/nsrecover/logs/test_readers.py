"""Every format of logs: what is read of it, and what is found."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from nsrecover.cli import app as cli
from nsrecover.errors import InvalidRecording
from nsrecover.logs import RootCause, explain_log, log_of, read_logs
from nsrecover.logs.explaining import LogExplanation
from nsrecover.logs.readers.common import action_of
from nsrecover.logs.reading import raw_logs
from nsrecover.logs.trace import trace_lines, trace_of

TREE_CPP = """\
[1700000000.100]: MainSequence              IDLE -> RUNNING
[1700000001.001]: OpenGripper               RUNNING -> SUCCESS
[1700000001.002]: PickPart                  IDLE -> RUNNING
[1700000005.500]: PickPart                  RUNNING -> FAILURE
[1700000005.501]: MainSequence              RUNNING -> FAILURE
"""
TREE_PY = """\
--------- Tick 1 ---------
[-] Load truck [*]
    --> Pick crate [o]
    --> Place crate on truck [*]
--------- Tick 2 ---------
[-] Load truck [x]
    --> Pick crate [o]
    --> Place crate on truck [x] -- crate slipped out of the gripper
"""
ROS = """\
[INFO] [1700000000.123456789] [task_executor]: Executing pick(screw)
[INFO] [1700000003.500000000] [task_executor]: pick(screw) succeeded
[INFO] [1700000003.600000000] [task_executor]: Executing insert(screw, housing)
[ERROR] [1700000008.100000000] [task_executor]: insert(screw, housing) failed: hole is occupied
[ERROR] [1700000008.200000000] [task_executor]: Task failed
"""
GAME = """\
You are in the middle of a room. Looking quickly around you, you see a desk 1, a drawer 1, and a shelf 1.

Your task is to: put a pencil in drawer.

> go to desk 1
On the desk 1, you see a pencil 2, and a mug 1.
> take pencil 2 from desk 1
You pick up the pencil 2 from the desk 1.
> go to drawer 1
The drawer 1 is closed.
> put pencil 2 in/on drawer 1
Nothing happens.
"""
VAL = """\
Plan to validate:
(pick-up b)
(stack b c)
(stack a b)
Checking next happening (time 1)
Deleting (ontable b)
Adding (holding b)
Checking next happening (time 2)
Deleting (holding b)
Adding (on b c)
Checking next happening (time 3)
Plan failed because of unsatisfied precondition in:
(stack a b)
Plan failed to execute
"""
TABLE = """\
time,action,result,fact,holds
1.0,pick(valve),succeeded,,
1.0,,,holding(valve),true
4.0,"place(valve, tray)",succeeded,,
4.0,,,"in(valve, tray)",false
4.0,,,"in(valve, floor)",true
"""
STEPS = {
    "task": "tidy up",
    "goal": "the ball is inside the crate",
    "steps": [
        {"skill": "pick", "args": ["ball"], "success": True, "t": 3, "observations": {"holding": "ball"}},
        {"skill": "place", "args": ["ball", "crate"], "success": True, "t": 7,
         "observations": {"holding": None, "ball": {"location": "floor"}}},
    ],
}  # fmt: skip
TEACH = {
    "tasks": [
        {"episodes": [{"interactions": [
            {"agent_id": 1, "action_name": "Pickup", "success": 1, "oid": "Fork|+01|+00", "time_start": 2.0},
            {"agent_id": 0, "action_name": "Text", "success": 1, "time_start": 3.0},
            {"agent_id": 1, "action_name": "Place", "success": 0, "oid": "Sink|-01|+00", "time_start": 9.0},
        ]}]}
    ]
}  # fmt: skip


def explained(tmp_path: Path, name: str, text: str) -> LogExplanation:
    (tmp_path / name).write_text(text)
    (log,) = read_logs(tmp_path / name)
    return explain_log(log)


@pytest.mark.parametrize(
    ("name", "text", "cause", "time"),
    [
        ("tree.log", TREE_CPP, RootCause.MISSED_GRASP, "00:05"),
        ("tree.txt", TREE_PY, RootCause.DROPPED, "00:02"),
        ("node.log", ROS, RootCause.OCCUPIED, "00:08"),
        ("game.txt", GAME, RootCause.NEVER_OPENED, "00:04"),
        ("val.txt", VAL, RootCause.MISSING_STEP, "00:03"),
        ("facts.csv", TABLE, RootCause.MISPLACED, "00:04"),
        ("steps.json", json.dumps(STEPS), RootCause.MISPLACED, "00:07"),
        ("teach.json", json.dumps(TEACH), RootCause.ACTION_FAILED, "00:09"),
    ],
)
def test_every_format_is_read_and_its_failure_found(
    tmp_path: Path, name: str, text: str, cause: RootCause, time: str
) -> None:
    found = explained(tmp_path, name, text)
    assert (found.finding.cause, found.finding.times[:1]) == (cause, (time,))


def steps(goal: Any, *done: tuple[str, bool, dict[str, Any]]) -> str:
    return json.dumps({"goal": goal, "steps": [{"action": a, "success": ok, "state": s} for a, ok, s in done]})


PUT = (
    ("pick(ball)", True, {"holding": "ball"}),
    ("place(ball, crate)", True, {"in(ball, crate)": True, "holding": None}),
)


@pytest.mark.parametrize("goal", [["in(ball, crate)"], "the ball should be inside the crate", "ball in crate", None])
def test_a_run_that_reached_its_goal_is_a_success(tmp_path: Path, goal: Any) -> None:
    assert explained(tmp_path, "steps.json", steps(goal, *PUT)).finding.cause is RootCause.NONE


def test_a_step_that_failed_and_then_worked_is_no_failure(tmp_path: Path) -> None:
    again = (("pick(ball)", False, {}), *PUT)
    assert explained(tmp_path, "steps.json", steps(["in(ball, crate)"], *again)).finding.cause is RootCause.NONE


def test_a_name_that_nothing_names_is_no_object(tmp_path: Path) -> None:
    for goal in ("the glibber is inside the crate", ["in(glibber, crate)"]):
        found = explained(tmp_path, "steps.json", steps(goal, *PUT))
        assert found.finding.cause is RootCause.UNKNOWN
        assert "glibber" in found.open_question
        assert found.confidence < 0.5


def test_what_nobody_saw_is_no_success(tmp_path: Path) -> None:
    log = {
        "task": "store", "plan": ["(pick_up, can)", "(put_in, can, cabinet)"],
        "success_state": "the can is inside the cabinet and the keys are inside the drawer.",
        "event_summary": ["00:03. Action: Pick up can. Visual observation: can. can is inside robot gripper.",
                          "00:07. Action: Put can in cabinet. Visual observation: can, cabinet. can is inside cabinet. "
                          "nothing is inside robot gripper."],
        "final_state": "can, cabinet. can is inside cabinet. nothing is inside robot gripper.",
    }  # fmt: skip
    assert explained(tmp_path, "log.json", json.dumps(log)).finding.cause is not RootCause.NONE


def test_a_trace_comes_back_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "steps.json").write_text(json.dumps(STEPS))
    (raw,) = raw_logs(tmp_path / "steps.json")
    lines = list(trace_lines(raw))
    (tmp_path / "trace.jsonl").write_text("\n".join(lines))
    (again,) = read_logs(tmp_path / "trace.jsonl")
    assert explain_log(again).finding.cause is RootCause.MISPLACED
    with pytest.raises(InvalidRecording, match="line 2: expected an event"):
        trace_of([json.loads(lines[0]), {"facts": 3}])


def test_an_unknown_format_says_what_it_resembles(tmp_path: Path) -> None:
    for text, resembles in (("[INFO] hello\n[INFO] world", "ROS 2"), ('{"moves": 3}', "results of steps")):
        (tmp_path / "odd.log").write_text(text)
        with pytest.raises(InvalidRecording, match=f"resembles.*{resembles}.*needs"):
            read_logs(tmp_path / "odd.log")


def test_a_gripper_that_never_reports_anything_informs_nobody(tmp_path: Path) -> None:
    lines = [
        f"00:{4 * n:02d}. Action: {what}. Visual observation: apple, box, pear. {where}nothing is inside robot gripper."
        for n, (what, where) in enumerate(
            [("Pick up apple", ""), ("Put apple in box", "apple is inside box. "), ("Pick up pear", ""),
             ("Put pear in box", "pear is inside box. ")], start=1)
    ]  # fmt: skip
    log = {
        "task": "pack", "plan": ["(pick_up, apple)", "(put_in, apple, box)", "(pick_up, pear)", "(put_in, pear, box)"],
        "success_state": "the apple and the pear are inside the box.", "event_summary": lines,
        "final_state": "apple, pear, box. apple is inside box. pear is inside box. nothing is inside robot gripper.",
    }  # fmt: skip
    assert explained(tmp_path, "log.json", json.dumps(log)).finding.cause is RootCause.NONE


def test_the_correction_is_printed_as_a_plan(tmp_path: Path) -> None:
    (tmp_path / "steps.json").write_text(json.dumps(STEPS))
    done = CliRunner().invoke(cli.app, ["explain", str(tmp_path / "steps.json"), "--correct"])
    assert done.exit_code == 0
    assert done.stdout.splitlines() == ["pick_up(ball)", "put_in(ball, crate)"]


def test_time_that_runs_out_is_told(tmp_path: Path) -> None:
    (tmp_path / "steps.json").write_text(json.dumps(STEPS))
    (log,) = read_logs(tmp_path / "steps.json")
    assert explain_log(log, budget_s=0.0).not_considered
    assert explain_log(log, budget_s=20.0).not_considered == ""


def test_an_unknown_step_has_every_effect_that_is_seen_after_it(tmp_path: Path) -> None:
    steps = [
        {"action": "unhook(hose)", "success": True, "state": {"holding(hose)": True, "on(hose, reel)": False}},
        {"action": "thread(hose, drum)", "success": True, "state": {"in(hose, drum)": True, "holding(hose)": False}},
    ]
    log = json.dumps({"goal": ["in(hose, drum)"], "steps": steps})
    assert explained(tmp_path, "steps.json", log).finding.cause is RootCause.NONE
    steps[1]["state"] = {"holding(hose)": True}
    assert (
        explained(tmp_path, "steps.json", json.dumps({"goal": ["in(hose, drum)"], "steps": steps})).finding.step
        is not None
    )


def test_what_a_tree_only_looks_at_is_no_action_and_what_it_skips_is_planned(tmp_path: Path) -> None:
    (tmp_path / "tree.log").write_text(
        """\
[10.0]: Deliver                   IDLE -> RUNNING
[10.0]: PickVial                  IDLE -> RUNNING
[14.0]: PickVial                  RUNNING -> SUCCESS
[14.1]: GripperHoldsVial          IDLE -> FAILURE
[14.2]: PlaceVialOnRack           IDLE -> SKIPPED
[14.2]: Deliver                   RUNNING -> FAILURE
"""
    )
    (raw,) = raw_logs(tmp_path / "tree.log")
    assert [str(step) for step in raw.plan] == ["pick(Vial)", "place(Vial, Rack)"]
    assert [(claim.facts[0], claim.holds) for event in raw.events for claim in event.claims] == [
        (("holding", "Vial"), False)
    ]


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("Pick up red_cube", "pick_up(red cube)"),
        ("OpenDrawer", "open(Drawer)"),
        ("turn the lamp on", "turn_on(lamp)"),
        ("CarryShirtToFolder", "carry(Shirt, Folder)"),
        ("put soap 1 in/on shelf 2", "put_in(soap-1, shelf-2)"),
    ],
)
def test_actions_in_words_have_their_verb_and_their_objects(text: str, action: str) -> None:
    assert str(action_of(text)) == action


def test_a_table_may_have_another_delimiter_and_facts_with_their_truth(tmp_path: Path) -> None:
    (tmp_path / "facts.csv").write_text("time;action;status;fact\n1;pick(nut);succeeded;\n2;;;holding(nut)=false\n")
    (raw,) = raw_logs(tmp_path / "facts.csv")
    assert [(claim.facts[0], claim.holds) for event in raw.events for claim in event.claims] == [
        (("holding", "nut"), False)
    ]


@pytest.mark.parametrize(("objects", "lines"), [(40, 12), (6, 150)])
def test_large_logs_are_explained_in_time(objects: int, lines: int) -> None:
    names = [f"block-{number}" for number in range(1, objects + 1)]
    view = f"{', '.join(names)}, shelf. " + " ".join(f"{name} is on top of shelf." for name in names[1:])
    events = [
        f"{second // 60:02d}:{second % 60:02d}. Action: Pick up block-1. Visual observation: {view} "
        "nothing is inside robot gripper."
        for second in range(1, lines + 1)
    ]
    plan = ["(pick_up, block-1)", "(put_in, block-1, box)"]
    log = log_of({"task": "", "plan": plan, "success_state": "block-1 is in the box.", "event_summary": events,
                  "subgoal_summary": [], "final_state": view})  # fmt: skip
    began = time.thread_time()
    explain_log(log)
    assert time.thread_time() - began < 3.0
