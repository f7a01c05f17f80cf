"""The session behind the transports: whole episodes on boxes and facts, and every code of an answer."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import nsrecover
from nsrecover.bridges.ros2.buffer import BufferSettings
from nsrecover.bridges.ros2.codes import AnswerCode
from nsrecover.bridges.ros2.core import CoreSettings, SessionCore
from nsrecover.bridges.ros2.endpoints import DISCREPANCY, RECOVERY, STATE
from nsrecover.core.sessions.settings import SessionSettings
from nsrecover.errors import InvalidConfiguration, InvalidRecording
from nsrecover.records.bags.messages import BOXES, PLAN
from tests.commands import ROOT
from tests.nsrecover.bridges.box_table import Robot, text
from tests.nsrecover.bridges.ros2_types import PACKAGE, message_of
from tests.scenarios import DROP, SIDE_M, Boxes, Facts

TOWER = ["top(green, red)", "top(blue, green)"]
KINDS = {DISCREPANCY: "Discrepancy", RECOVERY: "RecoveryPlan", STATE: "State"}
Heard = list[tuple[str, Any]]
Make = Callable[..., tuple[SessionCore, Heard]]


@pytest.fixture
def make() -> Iterator[Make]:
    cores: list[SessionCore] = []

    def made(system: Any = None, **settings: Any) -> tuple[SessionCore, Heard]:
        heard: Heard = []

        def publish(topic: str, fields: Any) -> None:
            message_of(PACKAGE + KINDS[topic], fields)  # every field is in the definition
            heard.append((topic, fields))

        core = SessionCore(
            system or nsrecover.geometric(), CoreSettings(BufferSettings(cameras=()), **settings), publish
        )
        threading.Thread(target=core.run, daemon=True).start()
        cores.append(core)
        return core, heard

    yield made
    for core in cores:
        core.stop()


def test_an_episode_with_a_collapse_resumes_at_its_stage(make: Make) -> None:
    core, heard = make()
    world = Boxes(DROP)
    robot = Robot(core, world)
    core.take(PLAN, text(plan=TOWER, stages=["stack green", "stack blue"], episode="7"))
    told = robot.tell("observed")
    assert (told["code"], told["request"]["action"]["stage"]) == ("ok", "stack green")
    robot.number = 0
    assert robot.tell("observed") == told, "the answer was lost"
    told = robot.carry_out(told, turns=1)
    assert told["request"]["code"] == "look"
    told = robot.tell("observed")
    assert (told["request"]["recovering"], told["request"]["action"]["stage"]) == (True, "")
    (wrong,) = [fields for topic, fields in heard if topic == DISCREPANCY]
    assert (wrong["episode"], wrong["verdict"], wrong["action"]["stage"]) == ("7", "deviating", "stack green")
    assert [each["name"] for each in wrong["deviations"]] == ["green"]
    assert "green" in wrong["text"]
    (way,) = [fields for topic, fields in heard if topic == RECOVERY]
    assert (way["status"], way["resume_at"], way["resume_stage"]) == ("recovered", 1, "stack blue")
    assert [each["stage"] for each in way["plan"]] == ["", "stack blue"]
    assert robot.carry_out(told)["request"]["code"] == "done"
    assert world.log == [f"act {action}" for action in (TOWER[0], *TOWER)]
    assert world.boxes["blue"][2] == pytest.approx(2.5 * SIDE_M)
    last = next(fields for topic, fields in reversed(heard) if topic == STATE)
    assert (last["number"], last["done"], last["request"]["code"]) == (robot.number, 2, "done")
    core.take(PLAN, text(plan=TOWER[:1], episode="8"))
    robot.number = 0
    assert robot.tell("observed")["number"] == 1, "a new episode"


def test_facts_are_text_and_a_person_is_asked(make: Make) -> None:
    core, heard = make(Facts.system(), session=SessionSettings(approve=True))
    robot = Robot(core, Facts(DROP, state=frozenset({("at", "tube", "centrifuge")})))
    core.take(PLAN, SimpleNamespace(data="spin(tube); mix(tube)"))
    request = robot.carry_out(robot.tell("observed"))["request"]
    assert (request["code"], [each["operator_name"] for each in request["recovery"]]) == ("ask", ["put"])
    assert robot.carry_out(robot.tell("answered", text="yes"))["request"]["code"] == "done"
    (wrong,) = [fields for topic, fields in heard if topic == DISCREPANCY and fields["deviations"]]
    assert json.loads(wrong["deviations"][0]["facts"])["observed"] == [["at", "tube", "floor"]]


def test_a_node_that_was_started_again_goes_on(make: Make, tmp_path: Path) -> None:
    kept = tmp_path / "session"
    first, _ = make(kept_in=str(kept))
    robot = Robot(first, Boxes(DROP))
    first.take(PLAN, text(plan=TOWER))
    robot.carry_out(robot.tell("observed"), turns=2)
    first.stop()
    robot.core, _ = make(kept_in=str(kept))
    robot.core.take(PLAN, text(plan=TOWER))  # it is latched
    robot.number = 0
    assert robot.tell("observed")["code"] == AnswerCode.OUT_OF_STEP
    told = robot.tell()
    assert (told["number"], told["request"]["code"]) == (3, "look")
    assert robot.carry_out(told)["request"]["code"] == "done"
    assert kept.stat().st_mode & 0o077 == 0
    kept.write_bytes(b"nothing")
    with pytest.raises(InvalidRecording, match="delete the file"):
        make(kept_in=str(kept))
    kept.chmod(0o620)
    with pytest.raises(InvalidConfiguration, match="only you can write"):
        make(kept_in=str(kept))


def test_images_that_do_not_arrive_are_asked_for_again(make: Make) -> None:
    core, _ = make(wait_s=0.05)
    core.take(PLAN, text(plan=TOWER))
    assert Robot(core, Boxes()).tell("observed")["request"]["code"] == "act"
    answers: list[Any] = []
    for number in (1, 2, 3):
        answers.append(core.submit({"reply_to": number, "what": "observed"}).result())
    assert [each["request"]["code"] for each in answers] == ["look", "look", "stopped"]
    assert BOXES in answers[0]["message"]
    assert answers[2]["request"]["why"] == "no_observation"


def test_every_refusal_has_its_code(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    core, _ = make(wait_s=0.1)
    world, seen = Boxes(), dict[str, str]()
    robot = Robot(core, world)

    def note(answer: dict[str, Any]) -> None:
        seen[answer["code"]] = answer["message"]

    note(robot.tell("observed"))
    assert seen.keys() == {"no_plan"}
    for broken in ("top(green", '{"plan": ["top(a, b)"]', '{"plan": ["top(a, b)"], "stages": ["x", "y"]}',
                   '{"plan": "top(a, b)"}', '{"plan": ["top(a, b)"], "targets": 3}'):  # fmt: skip
        core.take(PLAN, SimpleNamespace(data=broken))
        assert robot.tell("observed")["code"] == "invalid_plan"
    core.take(PLAN, SimpleNamespace(data="top(green, violet)"))
    for _ in range(3):
        told = robot.tell("observed")
    note(told)
    assert "violet" in seen["invalid_plan"]
    core.take(PLAN, SimpleNamespace(data="top(green, red)"))
    robot.number, good, world.boxes = 0, world.boxes, {"red": (0.0, 1.0)}  # type: ignore[dict-item]
    for _ in range(3):
        told = robot.tell("observed")
    note(told)
    world.boxes = good
    assert robot.tell("observed")["request"]["code"] == "act"
    note(robot.tell("observd"))
    assert "Did you mean 'observed'" in seen["invalid_report"]
    note(robot.tell("answered", text="yes"))
    assert "act" in seen["invalid_report"]
    robot.number += 4
    note(robot.tell("observed"))
    assert robot.tell()["request"]["code"] == "act"
    assert robot.tell("failed", text="the arm is stuck")["request"]["why"] == "execution_failed"
    monkeypatch.setattr(core, "_answer", lambda *_: 1 / 0)
    note(robot.tell())
    core.active = False
    note(robot.tell())
    core.active = True
    core.stop()
    time.sleep(0.25)
    for _ in range(6):
        waiting = core.submit({})
    note(waiting.result(timeout=1))  # type: ignore[arg-type]
    assert seen.keys() == {code.value for code in AnswerCode} - {"ok"}


def test_the_page_lists_every_code() -> None:
    page = (ROOT / "docs" / "integrations.md").read_text(encoding="utf-8")
    assert dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", page.split("### Codes")[1].split("\n## ")[0], re.MULTILINE)) == {
        code.value: code.meaning for code in AnswerCode
    }


@pytest.mark.parametrize("boxes", [{"stamp_s": "x"}, {"stamp_s": [1]}, {"boxes": {"green": 3.0}}])
def test_boxes_that_cannot_be_used_are_asked_for_again(make: Make, boxes: dict[str, Any]) -> None:
    core, _ = make(wait_s=0.2)
    core.take(PLAN, SimpleNamespace(data=json.dumps({"plan": TOWER[:1]})))
    good = {"green": [0.45, 0.0, 0.02, 0.04, 0.04, 0.04], "red": [0.45, 0.15, 0.02, 0.04, 0.04, 0.04]}
    core.take(BOXES, SimpleNamespace(data=json.dumps({"boxes": good, **boxes})))
    answer = core.submit({"what": "observed", "not_before": 0.1}).result(30)
    assert (answer["code"], answer["request"]["code"]) == ("ok", "look")
    assert answer["message"].startswith("expected")
