"""`python -m eval.server_load`: many robots send observations to one server at the same time."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import psutil
from tqdm import tqdm

from eval.common.output import write_results
from eval.common.served import Served, served
from eval.common.tables import document, markdown_table
from nsrecover.core.actions import Action
from nsrecover.errors import InvalidConfiguration
from nsrecover.integrations.client import observation_message
from nsrecover.records.recording import Recording, example

HEALTH_EVERY_S = 0.25
"""Interval of health checks."""


@dataclass
class ServerLoadConfig:
    """Top level of conf/server_load.yaml."""

    sessions: int = 20
    seconds: float = 120.0
    every_s: float = 1.0
    seed: int = 0
    out: str = "outputs/server_load"


@dataclass(frozen=True)
class Answered:
    """One answer.

    Attributes:
        what: `look`, `look and recover`, `session` or `health`.
        seconds: latency.
        late_s: delay of the request.
        wrong: problem of the answer; empty if it is right.
    """

    what: str
    seconds: float
    late_s: float
    wrong: str = ""


def renamed(recording: Recording, robot: int) -> Recording:
    """Return the recording with names of one robot, to detect data of other robots."""

    def name(each: str) -> str:
        return f"r{robot} {each}"

    actions = [Action(action.operator, tuple(map(name, action.arguments))) for action in recording.plan]
    seen = [
        replace(observation, labels={number: name(label) for number, label in observation.labels.items()})
        for observation in recording.observations
    ]
    return Recording(replace(recording.plan, actions=tuple(actions)), tuple(seen))


class Robot:
    """Repeats the shipped episode, each time in a new session.

    Args:
        url: of the server.
        robot: number, from 0.
        every_s: interval of observations.
        start_s: delay of the first one, different for every robot.
    """

    def __init__(self, url: str, robot: int, every_s: float, start_s: float) -> None:
        episode = renamed(example("collapse"), robot)
        self._plan = json.dumps({"plan": [str(action) for action in episode.plan]}).encode()
        self._bodies = [json.dumps(observation_message(each)).encode() for each in episode.observations]
        self._own = f"r{robot} "
        self._server = urlsplit(url).netloc
        self._every_s, self._start_s = every_s, start_s
        self.answers: list[Answered] = []

    def run(self, until: float) -> None:
        """Send requests until a time of `time.perf_counter`."""
        connection = http.client.HTTPConnection(self._server, timeout=60)
        due, session, step = time.perf_counter() + self._start_s, "", 0
        while due < until:
            time.sleep(max(0.0, due - time.perf_counter()))
            if step == 0:
                state = self._ask(connection, "session", "POST", "/v1/sessions", self._plan, due)
                session = state.get("session", "")
            path = f"/v1/sessions/{session}/observations?budget_s=1"
            last = step == len(self._bodies) - 1
            self._ask(connection, "look and recover" if last else "look", "POST", path, self._bodies[step], due)
            step += 1
            if last:
                self._ask(connection, "session", "DELETE", f"/v1/sessions/{session}", b"", due)
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
        """Return the problem of an answer; empty if it is right and about this robot."""
        if not what.startswith("look"):
            return ""
        names = [each["name"] for each in answer["objects"]]
        if any(not name.startswith(self._own) for name in names):
            return f"objects of another robot: {names}"
        fell = what == "look and recover"
        if answer["as_expected"] == fell:
            return f"as_expected is {answer['as_expected']}"
        if fell and (answer["recovery"]["status"] != "recovered" or len(answer["discrepancy"]["culprits"]) != 5):
            return f"another recovery than that of the episode: {answer['recovery']['status']}"
        return ""


def check_health(url: str, until: float, answers: list[Answered]) -> None:
    """Send health checks."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
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
        time.sleep(HEALTH_EVERY_S)
    connection.close()


def measure(config: ServerLoadConfig) -> dict[str, Any]:
    """Load a server and write metrics and table.

    Raises:
        InvalidConfiguration: a setting is out of its range.
    """
    for name in ("sessions", "seconds", "every_s"):
        if not getattr(config, name) > 0:
            raise InvalidConfiguration(f"expected {name} > 0, found {getattr(config, name)}")
    with served("--sessions", str(config.sessions)) as server:
        metrics = under_load(server, config)
    write_results(config.out, metrics, table_of(metrics), config)
    return metrics


def under_load(server: Served, config: ServerLoadConfig) -> dict[str, Any]:
    """Run all robots, and return the contents of metrics.json."""
    starts = np.random.default_rng(config.seed).uniform(0, config.every_s, config.sessions)
    robots = [Robot(server.url, number, config.every_s, float(s)) for number, s in enumerate(starts)]
    healthy: list[Answered] = []
    process = psutil.Process(server.process.pid)
    before_mb, cpu_before = process.memory_info().rss / 1e6, sum(process.cpu_times()[:2])
    began = time.perf_counter()
    until = began + config.seconds
    threads = [threading.Thread(target=robot.run, args=(until,)) for robot in robots]
    threads.append(threading.Thread(target=check_health, args=(server.url, until, healthy)))
    for thread in threads:
        thread.start()
    memory_mb = [before_mb]
    with tqdm(total=round(config.seconds), unit="s", desc="under load") as bar:
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.5)
            memory_mb.append(process.memory_info().rss / 1e6)
            bar.n = min(round(time.perf_counter() - began), bar.total)
            bar.refresh()
    cpu_s = sum(process.cpu_times()[:2]) - cpu_before
    answers = [answer for robot in robots for answer in robot.answers] + healthy
    return metrics_of(config, answers, memory_mb, cpu_s)


def metrics_of(
    config: ServerLoadConfig, answers: Sequence[Answered], memory_mb: Sequence[float], cpu_s: float
) -> dict[str, Any]:
    """Return the contents of metrics.json: seconds, megabytes."""
    wrong = [answer for answer in answers if answer.wrong]
    looks = [answer for answer in answers if answer.what.startswith("look")]
    kinds = sorted({answer.what for answer in answers})
    return {
        "sessions": config.sessions,
        "seconds": config.seconds,
        "observations": len(looks),
        "observations_per_s": round(len(looks) / config.seconds, 2),
        "errors": len(wrong),
        "first_errors": sorted({f"{answer.what}: {answer.wrong}" for answer in wrong})[:5],
        "latency_s": {"observation": _quantiles(looks)}
        | {kind: _quantiles([answer for answer in answers if answer.what == kind]) for kind in kinds},
        "late_s": max((answer.late_s for answer in looks), default=0.0),
        "memory_mb": {"idle": memory_mb[0], "most": max(memory_mb), "last": memory_mb[-1]},
        "cpu_s_per_observation": round(cpu_s / max(len(looks), 1), 4),
        "cpu_share_of_one_core": round(cpu_s / config.seconds, 3),
    }


def _quantiles(answers: Sequence[Answered]) -> dict[str, float]:
    seconds = [answer.seconds for answer in answers] or [float("nan")]
    levels = {"p50": 50, "p95": 95, "p99": 99, "most": 100}
    return {"count": len(answers)} | {name: round(float(np.percentile(seconds, q)), 4) for name, q in levels.items()}


def table_of(metrics: dict[str, Any]) -> str:
    """Metrics as a table, with the first errors."""
    rows = [
        [kind, found["count"], *(f"{found[level] * 1e3:.0f}" for level in ("p50", "p95", "p99", "most"))]
        for kind, found in metrics["latency_s"].items()
    ]
    return document(
        f"{metrics['sessions']} sessions for {metrics['seconds']:g} s: {metrics['observations']} observations, "
        f"{metrics['errors']} errors; {metrics['cpu_s_per_observation'] * 1e3:.0f} ms of processor time for each; "
        f"{metrics['memory_mb']['idle']:.0f} MB idle, at most {metrics['memory_mb']['most']:.0f} MB",
        markdown_table(("ms", "answers", "median", "95 %", "99 %", "most"), rows),
        "\n".join(["Errors:", *metrics["first_errors"]]) if metrics["errors"] else "",
    )
