"""Robots that send what they see to a server, and check its answers."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

from nsrecover.core.actions import Action, Plan
from nsrecover.core.scene import SceneGraph
from nsrecover.integrations.client import observation_message
from nsrecover.loading import geometric
from nsrecover.perception.objects.boxes import scene_of_boxes
from nsrecover.records.recording import Recording, example

LOOK, RECOVER, SESSION = "look", "look and recover", "session"
"""Kinds of answers: to an observation as expected, to one with an error, and about sessions."""

SIDE_M = 0.05
_TIMEOUT_S = 60.0


def own_address(network: int, number: int) -> tuple[str, int]:
    """Address 127.network.x.y of this machine and any port, for a client with a number from 0."""
    return f"127.{network}.{number // 250}.{number % 250 + 1}", 0


@dataclass(frozen=True)
class Answered:
    """One answer.

    Attributes:
        what: its kind.
        seconds: latency.
        late_s: delay of the request.
        wrong: problem of the answer; empty if it is right.
    """

    what: str
    seconds: float
    late_s: float
    wrong: str = ""


@dataclass(frozen=True)
class Story:
    """What one robot sends: an episode whose last step goes wrong, and a second look at that.

    Attributes:
        own: begin of the names of its objects, to detect data of other robots.
        plan: the texts of its actions.
        system: name of the server's system that takes the observations.
        path: where observations go, below the session.
        bodies: the observations, the first one before any action.
        deviating: number of objects that deviate after the last one.
    """

    own: str
    plan: tuple[str, ...]
    system: str
    path: str
    bodies: tuple[bytes, ...]
    deviating: int


def story_in_images(robot: int) -> Story:
    """The shipped episode, two views of 320 x 240 pixels."""
    own = f"r{robot} "
    episode = renamed(example("collapse"), own)
    last = episode.observations[-1]
    seen = (*episode.observations, replace(last, time_s=last.time_s + 1.0))  # it is looked at again
    bodies = tuple(json.dumps(observation_message(each)).encode() for each in seen)
    return Story(own, tuple(map(str, episode.plan)), "tabletop", "observations", bodies, deviating=5)


def renamed(recording: Recording, own: str) -> Recording:
    """The recording with names that begin in another way."""
    actions = [Action(each.operator, tuple(own + name for name in each.arguments)) for each in recording.plan]
    seen = [
        replace(each, labels={number: own + label for number, label in each.labels.items()})
        for each in recording.observations
    ]
    return Recording(replace(recording.plan, actions=tuple(actions)), tuple(seen))


def story_in_boxes(robot: int) -> Story:
    """A tower of four cubes is built from six; in the end its top falls beside it."""
    own = f"r{robot} "
    names = [f"{own}cube {number}" for number in range(6)]
    scene = scene_of_boxes({
        name: (0.5, 0.3 - 0.12 * number, SIDE_M / 2, *3 * [SIDE_M]) for number, name in enumerate(names)
    })  # fmt: skip
    plan = Plan(tuple(Action("top", (above, below)) for below, above in pairwise(names[:4])))
    scenes = [scene]
    for action in plan:
        scenes.append(geometric().imagination.step(scenes[-1], action))
    scenes[-1] = scenes[-1].with_node(3, (0.62, 0.3, SIDE_M / 2, *3 * [SIDE_M]))
    bodies = tuple(map(scene_body, scenes))
    return Story(own, tuple(map(str, plan)), "boxes", "scenes", (*bodies, bodies[-1]), deviating=1)


def scene_body(scene: SceneGraph) -> bytes:
    """A scene as the server takes it."""
    boxes = zip(scene.names, scene.boxes.tolist(), strict=True)
    return json.dumps({"objects": [{"name": name, "box": box} for name, box in boxes]}).encode()


class Robot:
    """Repeats its story, each time in a new session.

    Args:
        url: of the server.
        number: from 0; the address is its own, 127.2.x.y, as rates are limited by address.
        story: what it sends.
        every_s: interval of observations.
        start_s: delay of the first one, different for every robot.
    """

    def __init__(self, url: str, number: int, story: Story, every_s: float, start_s: float) -> None:
        self._story, self._server = story, urlsplit(url).netloc
        self._source = own_address(2, number)
        self._every_s, self._start_s = every_s, start_s
        self.answers: list[Answered] = []

    def run(self, until: float) -> None:
        """Send requests until a time of `time.perf_counter`."""
        connection = http.client.HTTPConnection(self._server, timeout=_TIMEOUT_S, source_address=self._source)
        due, session, step = time.perf_counter() + self._start_s, "", 0
        bodies, story = self._story.bodies, self._story
        plan = json.dumps({"plan": story.plan, "system": story.system}).encode()
        while due < until:
            time.sleep(max(0.0, due - time.perf_counter()))
            if step == 0:
                session = self._ask(connection, SESSION, "POST", "/v1/sessions", plan, due).get("session", "")
            path, last = f"/v1/sessions/{session}/{story.path}", step == len(bodies) - 1
            self._ask(connection, RECOVER if last else LOOK, "POST", path, bodies[step], due)
            step += 1
            if last:
                self._ask(connection, SESSION, "DELETE", f"/v1/sessions/{session}", b"", due)
                step = 0
            due += self._every_s
        connection.close()

    def _ask(
        self, connection: http.client.HTTPConnection, what: str, method: str, path: str, body: bytes, due: float
    ) -> dict[str, Any]:
        answer: dict[str, Any] = {}
        began = time.perf_counter()
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            data = response.read()
            seconds = time.perf_counter() - began
            answer = json.loads(data) if data else {}
            wrong = f"{response.status}: {data[:200]!r}" if response.status >= 300 else self._wrong(what, answer)
        except (OSError, http.client.HTTPException, ValueError) as problem:
            connection.close()
            seconds, wrong = time.perf_counter() - began, repr(problem)
        self.answers.append(Answered(what, seconds, max(0.0, began - due), wrong))
        return answer

    def _wrong(self, what: str, answer: dict[str, Any]) -> str:
        """The problem of an answer; empty if it is right and about this robot."""
        if what == SESSION:
            return ""
        names = [each["name"] for each in answer["objects"]]
        if any(not name.startswith(self._story.own) for name in names):
            return f"objects of another robot: {names}"
        asked, turns = answer["request"]["code"], answer["turns"]
        if what != RECOVER:
            recovered = any(turn["recovery"] for turn in turns)
            return f"a request to {asked} with a recovery" if recovered or asked not in ("act", "look") else ""
        found = len(turns[0]["discrepancy"]["deviations"]) if turns else 0
        if asked != "act" or found != self._story.deviating or turns[0]["recovery"]["status"] != "recovered":
            return f"another recovery than that of the episode: a request to {asked}, {found} deviate"
        return ""


def check_health(url: str, until: float, every_s: float, answers: list[Answered]) -> None:
    """Send health checks."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=_TIMEOUT_S)
    while (began := time.perf_counter()) < until:
        try:
            connection.request("GET", "/v1/health")
            response = connection.getresponse()
            response.read()
            wrong = "" if response.status == 200 else str(response.status)
        except (OSError, http.client.HTTPException) as problem:
            connection.close()
            wrong = repr(problem)
        answers.append(Answered("health", time.perf_counter() - began, 0.0, wrong))
        time.sleep(every_s)
    connection.close()


def of_kind(answers: Sequence[Answered], *kinds: str) -> list[Answered]:
    """The answers of some kinds."""
    return [answer for answer in answers if answer.what in kinds]
