"""Scripted worlds of the contract of all drivers, driven through Gymnasium, ROS 2, BehaviorTree.CPP and HTTP."""

import json
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

from nsrecover.bridges.gymnasium import MonitorWrapper, Response
from nsrecover.bridges.ros2.answers import action_of
from nsrecover.bridges.ros2.buffer import BufferSettings
from nsrecover.bridges.ros2.core import CoreSettings, SessionCore
from nsrecover.core import Action, Episode, EpisodeStatus, FactScene
from nsrecover.core.sessions.requests import Act, Question
from nsrecover.core.sessions.settings import SessionSettings
from nsrecover.records.bags.messages import BOXES, FACTS, PLAN
from nsrecover.records.episode_log import from_document
from nsrecover.serving.server import ServerLimits, create_app
from nsrecover.util.json_data import to_json
from tests.nsrecover.bridges.engine import run_tree
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
    return env.session.episode


class _Executor:
    """Reports to the core of the node by the service; to be resumed, the node is started again when it looks."""

    def __init__(self, world: ScriptedWorld, scenario: Scenario, kept_in: str) -> None:
        self._world, self._moments, self._number, self._stops = world, count(1), 0, list[bool]()
        self._resumes, self._request = scenario.resumes, dict[str, Any]()
        world.stop = lambda: self._stops.append(True)
        session = SessionSettings(budget_s=None, approve=scenario.vetoes)
        self._settings = CoreSettings(BufferSettings(cameras=()), session, kept_in=kept_in)

    def begin(self) -> None:
        """Start the node, and publish the plan."""
        self.core = SessionCore(self._world.system(), self._settings)
        threading.Thread(target=self.core.run, daemon=True).start()
        self.core.take(PLAN, SimpleNamespace(data=str(self._world.plan())))

    def report(self, what: str, text: str) -> dict[str, Any]:
        """Report, publish what is seen, and return what to do next."""
        moment, what = float(next(self._moments)), "stop" if self._stops else what
        answer = self.core.submit({"reply_to": self._number, "what": what, "text": text, "not_before": moment})
        if what == "observed":
            seen = self._world.observe()
            facts = isinstance(seen, FactScene)
            document: Any = to_json(seen) if facts else {"boxes": seen}
            message = SimpleNamespace(data=json.dumps({**document, "stamp_s": moment}))
            self.core.take(FACTS if facts else BOXES, message)
        told: dict[str, Any] = answer.result(timeout=60)
        self._request, self._number = told["request"], told["number"]
        if self._resumes and self._request["code"] == "look":
            self._resumes = False
            self.core.stop()
            self.begin()
        return self._request

    def act(self) -> str:
        """Carry out the action that is asked for; why the robot could not end it, empty if it could."""
        try:
            self._world.execute(action_of(SimpleNamespace(**self._request["action"])))
        except LostConnection as error:
            return str(error)
        return ""

    def decision(self) -> SimpleNamespace:
        """What a person is asked."""
        return SimpleNamespace(question=Question(self._request["question"]))

    def episode(self) -> Episode[Any]:
        """What the session of the node has seen."""
        self.core.stop()
        assert self.core.session is not None
        return self.core.session.episode


def by_ros2(world: ScriptedWorld, scenario: Scenario, person: Refusing) -> Episode[Any]:
    """An executor that reports to the core of the ROS 2 node."""
    with TemporaryDirectory() as folder:
        executor = _Executor(world, scenario, str(Path(folder) / "session"))
        executor.begin()
        what, text = "observed", ""
        while (request := executor.report(what, text))["code"] not in ("done", "stopped"):
            what, text = "observed", ""
            if request["code"] == "act" and (text := executor.act()):
                what = "failed"
            elif request["code"] == "ask":
                what, text = "answered", person.decide(executor.decision()).value  # type: ignore[arg-type]
        return executor.episode()


def by_behaviortree_cpp(world: ScriptedWorld, scenario: Scenario, person: Refusing) -> Episode[Any]:
    """The shipped tree on the engine of BehaviorTree.CPP."""
    with TemporaryDirectory() as folder:
        executor = _Executor(world, scenario, str(Path(folder) / "session"))

        def report(board: Any) -> None:
            board.set_string("request", executor.report(board.get_string("what"), board.get_string("said"))["code"])

        def act(board: Any) -> bool:
            board.set_string("problem", problem := executor.act())
            return not problem

        def ask(board: Any) -> None:
            board.set_string("answer", person.decide(executor.decision()).value)  # type: ignore[arg-type]

        done = run_tree(
            world.plan(),
            {
                "NsrecoverPlan": lambda _: executor.begin(), "NsrecoverReport": report, "ExecuteAction": act,
                "LookAt": lambda _: None, "NsrecoverGoesOn": lambda _: None, "AskPerson": ask,
            },
        )  # fmt: skip
        episode = executor.episode()
    assert done == (episode.status is EpisodeStatus.COMPLETED)
    return episode


@contextmanager
def http_server() -> Iterator[None]:
    """A server of both systems for `by_http`."""
    app = create_app(
        {kind.__name__: kind.system() for kind in (Boxes, Facts)},
        ServerLimits(sessions=1000, sessions_of_client=1000, workers=1),
    )
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
