"""The monitor behind the transports: whole episodes on boxes, and every code of an answer."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import nsrecover
from nsrecover.integrations.ros2.buffer import BufferSettings
from nsrecover.integrations.ros2.codes import AnswerCode
from nsrecover.integrations.ros2.core import CoreSettings, MonitorCore
from nsrecover.integrations.ros2.endpoints import RECOVERY, STATE, Request
from nsrecover.records.bags.messages import BOXES, PLAN
from tests.commands import ROOT
from tests.nsrecover.integrations.box_table import SIDE, Table, text

TOWER = "top(green, red); top(blue, green)"


@pytest.fixture
def made() -> Iterator[Any]:
    cores: list[MonitorCore] = []

    def make(wait_s: float = 5.0) -> tuple[Table, list[tuple[str, Any]]]:
        heard: list[tuple[str, Any]] = []
        settings = CoreSettings(BufferSettings(cameras=()), wait_s=wait_s)
        core = MonitorCore(nsrecover.geometric(), settings, lambda *each: heard.append(each))
        threading.Thread(target=core.run, daemon=True).start()
        cores.append(core)
        return Table(core), heard

    yield make
    for core in cores:
        core.stop()


def test_an_episode_with_a_collapse_resumes_at_its_stage(made: Any) -> None:
    table, heard = made()
    table.core.take(PLAN, text(plan=TOWER.split("; "), stages=["stack green", "stack blue"], episode="7"))
    assert table.ask(Request.CHECK, done=0)["next_action"]["stage"] == "stack green"
    table.act({"operator": "top", "arguments": ["green", "red"], "has_target": False})
    table.boxes["green"] = (0.6, 0.25, SIDE / 2, SIDE, SIDE, SIDE)  # and it falls
    judged = table.ask(Request.JUDGE, done=0)
    assert judged["code"] == "ok"
    (wrong,) = judged["discrepancy"]["deviations"]
    assert (wrong["name"], judged["discrepancy"]["action"]["stage"]) == ("green", "stack green")
    assert "green" in judged["discrepancy"]["text"]
    assert table.ask(Request.JUDGE, done=0) == judged  # the answer was lost
    assert table.ask(Request.CHECK, done=1)["proceed"] is False
    back = table.ask(Request.RECOVER)
    assert table.ask(Request.RECOVER) == back
    recovery = back["recovery"]
    assert (recovery["status"], recovery["resume_at"], recovery["resume_stage"]) == ("recovered", 1, "stack blue")
    assert [each["stage"] for each in recovery["plan"]] == ["", "stack blue"]
    for done, action in enumerate(recovery["plan"]):
        assert table.ask(Request.CHECK, done=done)["proceed"]
        table.act(action)
        assert table.ask(Request.JUDGE, done=done)["discrepancy"]["verdict"] == "as_expected"
    assert table.ask(Request.CHECK)["code"] == "plan_done"
    assert table.boxes["blue"][2] == pytest.approx(2.5 * SIDE)
    assert [topic for topic, _ in heard].count(RECOVERY) == 1
    assert next(f for t, f in reversed(heard) if t == STATE)["done"] == 2


def test_a_monitor_that_was_restarted_goes_on_at_the_callers_step(made: Any) -> None:
    table, _ = made()
    table.act({"operator": "top", "arguments": ["green", "red"], "has_target": False})
    table.core.take(PLAN, SimpleNamespace(data=TOWER))
    assert table.ask(Request.JUDGE, done=0)["code"] == AnswerCode.NO_REFERENCE
    found = table.ask(Request.CHECK, done=1)
    assert (found["proceed"], found["next_action"]["arguments"]) == (True, ["blue", "green"])
    table.core.take(PLAN, SimpleNamespace(data=TOWER))  # published again: nothing begins anew
    assert table.ask(Request.CHECK, done=1)["code"] == "ok"
    table.core.take(PLAN, text(plan=TOWER.split("; "), episode="next"))
    assert table.ask(Request.CHECK, done=0)["next_action"]["arguments"] == ["green", "red"]


def test_every_refusal_has_its_code(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    table, _ = made(wait_s=0.3)
    seen = {}

    def note(answer: dict[str, Any]) -> None:
        seen[answer["code"]] = answer["message"]

    note(table.ask(Request.CHECK))
    assert seen.keys() == {"no_plan"}
    for broken in (
        "top(green",
        '{"plan": ["top(a, b)"], "stages": []',
        '{"plan": ["top(a, b)"], "stages": ["x", "y"]}',
    ):
        table.core.take(PLAN, SimpleNamespace(data=broken))
        note(table.ask(Request.CHECK))
    table.core.take(PLAN, SimpleNamespace(data="top(green, violet)"))
    note(table.ask(Request.CHECK))
    assert "violet" in seen["invalid_plan"]
    table.core.take(PLAN, SimpleNamespace(data="top(green, red)"))
    note(table.core.submit(Request.CHECK, {"done": 0}).result())  # no boxes arrive meanwhile
    assert BOXES in seen["no_observation"]
    note(table.ask(Request.JUDGE))
    note(table.ask(Request.RECOVER))
    good, table.boxes = table.boxes, {"red": (0.0, 1.0)}
    note(table.ask(Request.CHECK))
    table.boxes = good
    assert table.ask(Request.CHECK, done=0)["code"] == "ok"
    note(table.ask(Request.CHECK, done=1))
    assert "done=0" in seen["out_of_step"]
    # with its support gone there is no way back
    del table.boxes["red"]
    table.ask(Request.CHECK, done=0)
    note(table.ask(Request.RECOVER))
    monkeypatch.setattr(table.core, "_check", lambda *_: 1 / 0)
    note(table.ask(Request.CHECK))
    table.core.active = False
    note(table.ask(Request.CHECK))
    table.core.active = True
    table.core.stop()
    time.sleep(0.25)
    for _ in range(6):
        waiting = table.core.submit(Request.CHECK, {})
    note(waiting.result(timeout=1))
    table2, _ = made()
    table2.core.take(PLAN, SimpleNamespace(data="top(green, red)"))
    table2.ask(Request.CHECK, done=0)
    table2.act({"operator": "top", "arguments": ["green", "red"], "has_target": False})
    table2.ask(Request.JUDGE, done=0)
    note(table2.ask(Request.CHECK))
    assert seen.keys() == {code.value for code in AnswerCode} - {"ok"}


def test_the_page_lists_every_code() -> None:
    page = (ROOT / "docs" / "ros2.md").read_text(encoding="utf-8")
    assert dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", page.split("## Codes")[1], re.MULTILINE)) == {
        code.value: code.meaning for code in AnswerCode
    }
