"""Mistakes at the entrances: each is one error of the library in one line, and nothing moves.

Every line says what was expected and what was found.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from nsrecover import BoxesPerceiver
from nsrecover.serving.server import ServerLimits, create_app
from tests.case_files import cases_of
from tests.commands import run
from tests.mistakes import (
    BOX_PLAN,
    CALLS,
    CUBE,
    FACT_PLANS,
    FACT_SCENES,
    LAB_SYSTEM,
    LATER,
    NAN,
    PLANS,
    SCENE,
    SCENES,
    SYSTEM,
    Rows,
    by_agent,
    by_monitor,
    by_session,
    cases,
    check,
    given,
    monitor,
    refusal,
)
from tests.scenarios import Boxes, Facts, ScriptedWorld


@pytest.mark.parametrize("entrance", [by_monitor, by_session, by_agent])
class TestFirst:
    """The first call of every entrance."""

    @pytest.mark.parametrize(("plan", "word"), cases("plan", PLANS))
    def test_plan_for_boxes(self, plan: Any, word: str, entrance: Any) -> None:
        self.refused(entrance, SYSTEM, Boxes(), word, plan, SCENE)

    @pytest.mark.parametrize(("scene", "word"), cases("scene", SCENES))
    def test_scene_of_boxes(self, scene: Any, word: str, entrance: Any) -> None:
        self.refused(entrance, SYSTEM, Boxes(), word, BOX_PLAN, scene)

    @pytest.mark.parametrize(("plan", "word"), cases("plan of facts", FACT_PLANS))
    def test_plan_for_facts(self, plan: Any, word: str, entrance: Any) -> None:
        self.refused(entrance, LAB_SYSTEM, Facts(), word, plan, Facts().state)

    @pytest.mark.parametrize(("scene", "word"), cases("scene of facts", FACT_SCENES))
    def test_scene_of_facts(self, scene: Any, word: str, entrance: Any) -> None:
        self.refused(entrance, LAB_SYSTEM, Facts(), word, Facts.plan(), scene)

    @staticmethod
    def refused(entrance: Any, system: Any, world: ScriptedWorld, word: str, plan: Any, scene: Any) -> None:
        check(refusal(lambda: entrance(system, given(plan), scene, world)), word)
        assert world.actions == 0


@pytest.mark.parametrize(("scene", "word"), cases("later", LATER))
def test_later_observations_are_refused_and_change_nothing(scene: Any, word: str) -> None:
    watch = monitor()
    check(refusal(lambda: watch.step(BOX_PLAN[0], scene)), word)
    assert watch.num_executed == 0


@pytest.mark.parametrize(("call", "word"), cases("call", CALLS))
def test_calls(call: Callable[[], object], word: str) -> None:
    check(refusal(call), word)


WORLD = """
import nsrecover
plan = "top(a, b)"
class World:
    plan = "top(a, b)"
    def observe(self): return {"a": (0.5, 0, .02, .04, .04, .04), "b": (0.5, .2, .02, .04, .04, .04)}
    def execute(self, action): raise AssertionError("nothing may move")
class Millimetres(World):
    def observe(self): return {"a": (500, 0, 20, 40, 40, 40), "b": (500, 200, 20, 40, 40, 40)}
class Deaf:
    plan, observe = "top(a, b)", World.observe
class NoPlan(World):
    plan = None
def broken(): raise ValueError("no camera")
def nothing(): pass
number = 7
"""

COMMANDS: Rows = cases_of(__file__)["commands"]
"""Commands in a folder with `world.py`, damaged files and a folder that is not empty."""


@pytest.mark.parametrize(("command", "word"), cases("command", COMMANDS))
def test_commands(command: str, word: str, tmp_path: Path) -> None:
    (tmp_path / "world.py").write_text(WORLD)
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "empty.npz").touch()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "world.py").touch()
    done = run("nsrecover.cli.app", *command.split(), folder=tmp_path)
    assert done.code == 2
    assert word in done.err
    assert "Traceback" not in done.err
    assert len([line for line in done.err.splitlines() if line.strip()]) == 1
    assert not (tmp_path / "watched.json").exists()


POSTED = [{"name": name, "box": list(box)} for name, box in SCENE.items()]


def posted(which: str, **fields: Any) -> dict[str, Any]:
    """A scene in which one object has other fields."""
    return {"objects": [{**each, **(fields if each["name"] == which else {})} for each in POSTED]}


SESSIONS: Rows = {
    "an empty plan": ({"plan": []}, "plan"),
    "half an action": ({"plan": ["top(green"]}, "top(green"),
    "an unknown field": ({"plan": ["top(green, red)"], "plans": []}, "plans"),
    "an unknown system": ({"plan": ["top(green, red)"], "system": "tabletpo"}, "tabletop"),
}
"""Bodies of `POST /v1/sessions`."""

POSTED_SCENES: Rows = {
    "nothing": ({}, "objects"),
    "no number": (posted("grey", box=[NAN, *CUBE[1:]]), "number"),
    "a box of five": (posted("grey", box=list(CUBE[:5])), "box"),
    "millimetres": (posted("grey", box=[450, -100, 25, 50, 50, 50]), "metres"),
    "an object of the plan missing": (posted("green", name="gren"), "green"),
}
"""First bodies of `POST /v1/sessions/…/scenes`."""


@pytest.fixture(scope="module")
def http() -> Any:
    """A server for boxes."""
    with TestClient(create_app({"tabletop": SYSTEM}, ServerLimits(), None), base_url="http://127.0.0.1") as client:
        yield client


@pytest.mark.parametrize(("body", "word"), [*cases("http session", SESSIONS), *cases("http scene", POSTED_SCENES)])
def test_bodies_of_requests(http: TestClient, body: Any, word: str) -> None:
    """Refused in one line; an observation may be asked for again, nothing else."""
    path = "/v1/sessions"
    if "plan" not in body:
        path += f"/{http.post(path, json={'plan': list(map(str, BOX_PLAN))}).json()['session']}/scenes"
    answer = http.post(path, content=json.dumps(body), headers={"Content-Type": "application/json"})
    message = answer.json().get("message") or answer.json()["problem"]
    assert answer.status_code in {400, 422} or answer.json()["request"]["code"] == "look"
    assert "\n" not in message
    assert word in message


def test_a_perceiver_that_is_used_again_has_forgotten_the_episode_before() -> None:
    perceiver = BoxesPerceiver()
    SYSTEM.monitor(BOX_PLAN, {**SCENE, "cup": CUBE}, perceiver)
    assert SYSTEM.monitor(BOX_PLAN, SCENE, perceiver).graph.names == tuple(SCENE)
