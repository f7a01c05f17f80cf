"""Scripted worlds of the contract of all drivers, driven through Gymnasium and through the core of the ROS 2 node."""

import json
import pickle
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import gymnasium
from starlette.testclient import TestClient

from nsrecover.core import Action, Episode, FactScene
from nsrecover.core.sessions.requests import Act, Question
from nsrecover.core.sessions.settings import SessionSettings
from nsrecover.integrations.gymnasium import MonitorWrapper, Response
from nsrecover.integrations.ros2.answers import action_of
from nsrecover.integrations.ros2.buffer import BufferSettings
from nsrecover.integrations.ros2.core import CoreSettings, SessionCore
from nsrecover.integrations.server import Limits, create_app
from nsrecover.records.bags.messages import BOXES, FACTS, PLAN
from nsrecover.records.episode_log import from_document
from nsrecover.util.json_data import to_json
from tests.scenarios import Boxes, Facts, LostConnection, Refusing, Scenario, ScriptedWorld


class _Steps(gymnasium.Env[Any, Any]):
    """An environment in which every step is one action of a world."""

    observation_space = action_space = gymnasium.spaces.Discrete(1)

    def __init__(self, world: ScriptedWorld) -> None:
        self._world = world

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        return 0, {}

    def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
        if action is not None:
            self._world.execute(action)
        return 0, 0.0, False, False, {}


def by_gymnasium(world: ScriptedWorld, scenario: Scenario, person: Refusing) -> Episode[Any]:
    """A policy that carries out what is asked for; recoveries are the wrapper's."""
    settings, stops = SessionSettings(budget_s=None, approve=scenario.vetoes), list[bool]()
    env = MonitorWrapper(
        _Steps(world),
        lambda scene, _: world.system().session(world.plan(), scene, settings),
        lambda *_: world.observe(),
        lambda *_: True,
        Response.REPAIR,
        carry_out=lambda env, action: env.step(action),
        look=lambda env, names: env.step(None),
        decide=person.decide,
    )
    world.stop = lambda: stops.append(True)
    env.reset()
    while isinstance(request := env.session.request, Act):
        try:
            env.step(request.action)
        except LostConnection as error:
            env.session.failed(str(error))
        if stops:
            env.session.stop()
        if scenario.resumes:
            env._session = pickle.loads(pickle.dumps(env.session))
    return env.session.episode


def by_ros2(world: ScriptedWorld, scenario: Scenario, person: Refusing) -> Episode[Any]:
    """An executor that reports by the service; to be resumed, the node is started again before every report."""
    with TemporaryDirectory() as folder:
        return _executed(world, scenario, person, str(Path(folder) / "session"))


def _executed(world: ScriptedWorld, scenario: Scenario, person: Refusing, kept_in: str) -> Episode[Any]:
    moments, stops = count(1), list[bool]()
    world.stop = lambda: stops.append(True)
    settings = CoreSettings(
        BufferSettings(cameras=()), SessionSettings(budget_s=None, approve=scenario.vetoes), kept_in=kept_in
    )

    def node() -> SessionCore:
        core = SessionCore(world.system(), settings)
        threading.Thread(target=core.run, daemon=True).start()
        core.take(PLAN, SimpleNamespace(data=str(world.plan())))
        return core

    core, number, what, text = node(), 0, "observed", ""
    while True:
        moment = float(next(moments))
        answer = core.submit({"reply_to": number, "what": what, "text": text, "not_before": moment})
        if what == "observed":
            seen = world.observe()
            facts = isinstance(seen, FactScene)
            document: Any = to_json(seen) if facts else {"boxes": seen}
            message = SimpleNamespace(data=json.dumps({**document, "stamp_s": moment}))
            core.take(FACTS if facts else BOXES, message)
        told: Any = answer.result(timeout=60)
        request, number, what, text = told["request"], told["number"], "observed", ""
        if request["code"] in ("done", "stopped"):
            break
        if scenario.resumes:
            core.stop()
            core = node()
        if request["code"] == "act":
            try:
                world.execute(action_of(SimpleNamespace(**request["action"])))
            except LostConnection as error:
                what, text = "failed", str(error)
            what = "stop" if stops else what
        elif request["code"] == "ask":
            question = Question(request["question"])
            what, text = "answered", person.decide(SimpleNamespace(question=question)).value  # type: ignore[arg-type]
    core.stop()
    assert core.session is not None
    return core.session.episode


@contextmanager
def http_server() -> Iterator[None]:
    """A server of both systems for `by_http`."""
    app = create_app({kind.__name__: kind.system() for kind in (Boxes, Facts)}, Limits(sessions=1000, workers=1))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        _clients.append(client)
        yield


_clients = list[TestClient]()


def by_http(world: ScriptedWorld, scenario: Scenario, person: Refusing) -> Episode[Any]:
    """A client of the server; sessions are stored between reports, so each is resumed."""
    stops, kind = list[bool](), type(world).__name__
    world.stop = lambda: stops.append(True)
    http = _clients[-1]

    def sent(path: str, body: dict[str, Any]) -> Any:
        answer = http.post(f"/v1/sessions{path}", json=body)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def observed(seen: Any) -> Any:
        if isinstance(seen, FactScene):
            certainty = [[list(prop), sure] for prop, sure in seen.certainty.items()]
            return sent(f"{path}/facts", {"facts": sorted(map(list, seen.facts)), "certainty": certainty})
        unseen = {"box": 6 * [0.0], "seen": False, "hidden": True}
        objects = [{"name": name, **(unseen if box is None else {"box": list(box)})} for name, box in seen.items()]
        return sent(f"{path}/scenes", {"objects": objects})

    plan = [{"operator": each.operator, "arguments": each.arguments, "target": each.target} for each in world.plan()]
    opened = sent("", {"plan": plan, "system": kind, "approve": scenario.vetoes, "budget_s": 30})
    path = f"/{opened['session']}"
    answer = observed(world.observe())
    while (request := answer["request"])["code"] not in ("done", "stopped"):
        match request["code"]:
            case "act":
                try:
                    world.execute(Action(request["action"]["operator"], tuple(request["action"]["arguments"])))
                except LostConnection as error:
                    answer = sent(f"{path}/failed", {"problem": str(error)})
                else:
                    answer = sent(f"{path}/stop", {}) if stops else observed(world.observe())
            case "look":
                answer = observed(world.look(request["names"]))
            case "ask":
                asked = SimpleNamespace(question=Question(request["question"]))
                answer = sent(f"{path}/answer", {"answer": person.decide(asked).value})  # type: ignore[arg-type]
    return from_document(http.get(f"/v1/sessions{path}/episode").json())
