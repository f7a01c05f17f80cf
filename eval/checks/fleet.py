"""`python -m eval.checks.fleet`: many robots use one server at the same time."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import httpx
import numpy as np
import psutil
from tqdm import tqdm

from eval.common.served import Served, served
from eval.common.tables import document, markdown_table
from eval.run import Measurement, Run, Settings, run
from nsrecover.core import Action, Plan, SceneGraph
from nsrecover.loading import geometric
from nsrecover.perception.objects.boxes import scene_of_boxes
from nsrecover.records.recording import Recording, example
from nsrecover.serving.client import observation_message

LOOK, RECOVER, SESSION, HEALTH = "look", "look and recover", "session", "health"
"""Kinds of answers: to an observation as expected, to one with an error, about sessions, and of health checks."""
HEALTH_EVERY_S, MEMORY_EVERY_S = 0.25, 10.0
REQUESTS = 8
"""Requests of one address in the interval of observations, at most: twice what a robot sends when it begins anew. The
server's limit is set by it; what checks health comes from an address of its own, too."""
SIDE_M = 0.05


@dataclass
class FleetConfig(Settings):
    """Start `nsrecover serve`, let many robots send it what they see, and measure how long they wait.

      python -m eval.checks.fleet                                   20 robots with cameras, an observation a second each
      python -m eval.checks.fleet boxes=true robots=50              boxes only
      python -m eval.checks.fleet robots=5 seconds=20 out=DIR        a quick look

    Every answer is compared with the expected result of the episode and of its session. An observation has two
    camera views of 320 x 240, as JSON, or the boxes of six objects. Writes metrics.json and table.md to out=DIR.

    Attributes:
        robots: number of robots, each with its own session.
        boxes: boxes by name instead of camera images; needs neither a checkpoint nor torch.
        seconds: duration, seconds.
        every_s: seconds between two observations of one robot.
    """

    robots: int = 20
    boxes: bool = False
    seconds: float = 120.0
    every_s: float = 1.0


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
    bodies = tuple(map(_scene_body, scenes))
    return Story(own, tuple(map(str, plan)), "boxes", "scenes", (*bodies, bodies[-1]), deviating=1)


def _scene_body(scene: SceneGraph) -> bytes:
    boxes = zip(scene.names, scene.boxes.tolist(), strict=True)
    return json.dumps({"objects": [{"name": name, "box": box} for name, box in boxes]}).encode()


@dataclass(frozen=True)
class Answered:
    """One answer: its kind, its latency, how late it was asked for, and its problem; empty if it is right."""

    what: str
    seconds: float
    late_s: float
    wrong: str = ""


class Load:
    """Robots and health checks at one server.

    Args:
        url: of the server.

    Attributes:
        answers: to robots and health checks.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self.answers: list[Answered] = []

    def _client(self, number: int) -> httpx.AsyncClient:
        """From an address of its own, 127.2.x.y, because rates are limited by address."""
        transport = httpx.AsyncHTTPTransport(local_address=f"127.2.{number // 250}.{number % 250 + 1}")
        return httpx.AsyncClient(base_url=self._url, transport=transport, timeout=60.0, trust_env=False)

    async def robot(self, number: int, story: Story, every_s: float, start_s: float, until: float) -> None:
        """Repeat a story, each time in a new session, one observation in every interval."""
        plan = json.dumps({"plan": story.plan, "system": story.system}).encode()
        due = time.perf_counter() + start_s
        await asyncio.sleep(start_s)
        async with self._client(number) as client:
            while due < until:
                session = (await self._ask(client, SESSION, "POST", "/v1/sessions", plan, due)).get("session", "")
                for left, body in enumerate(story.bodies, start=1 - len(story.bodies)):
                    await asyncio.sleep(max(0.0, due - time.perf_counter()))
                    what = LOOK if left else RECOVER
                    await self._ask(client, what, "POST", f"/v1/sessions/{session}/{story.path}", body, due, story)
                    due += every_s
                    if due >= until:
                        return
                await self._ask(client, SESSION, "DELETE", f"/v1/sessions/{session}", b"", due)

    async def _ask(
        self, client: httpx.AsyncClient, what: str, method: str, path: str, body: bytes, due: float,
        story: Story | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        answer: dict[str, Any] = {}
        began = time.perf_counter()
        try:
            response = await client.request(method, path, content=body, headers={"Content-Type": "application/json"})
            answer = response.json() if response.content else {}
            wrong = f"{response.status_code}: {response.content[:200]!r}" if response.status_code >= 300 else ""
            wrong = wrong or (_wrong(story, what, answer) if story is not None else "")
        except (httpx.HTTPError, ValueError) as problem:
            wrong = repr(problem)
        self.answers.append(Answered(what, time.perf_counter() - began, max(0.0, began - due), wrong))
        return answer

    async def health(self, until: float) -> None:
        """Send health checks."""
        async with self._client(250 * 250 - 1) as client:
            while (now := time.perf_counter()) < until:
                await self._ask(client, HEALTH, "GET", "/v1/health", b"", now)
                await asyncio.sleep(HEALTH_EVERY_S)


def _wrong(story: Story, what: str, answer: dict[str, Any]) -> str:
    """The problem of an answer; empty if it is right and about this robot."""
    names = [each["name"] for each in answer["objects"]]
    if any(not name.startswith(story.own) for name in names):
        return f"objects of another robot: {names}"
    asked, turns = answer["request"]["code"], answer["turns"]
    if what != RECOVER:
        recovered = any(turn["recovery"] for turn in turns)
        return f"a request to {asked} with a recovery" if recovered or asked not in ("act", "look") else ""
    found = len(turns[0]["discrepancy"]["deviations"]) if turns else 0
    if asked != "act" or found != story.deviating or turns[0]["recovery"]["status"] != "recovered":
        return f"another recovery than that of the episode: a request to {asked}, {found} deviate"
    return ""


def measure(config: FleetConfig, run: Run) -> dict[str, Any]:
    """Load a server, every time anew."""
    rate = max(REQUESTS / config.every_s, 2 / HEALTH_EVERY_S)
    kind = ["--boxes-only"] if config.boxes else []
    with served("--sessions", str(config.robots), "--rate", str(rate), *kind) as server:
        return under_load(server, config)


def under_load(server: Served, config: FleetConfig) -> dict[str, Any]:
    """Run all robots, and return the contents of metrics.json."""
    return asyncio.run(_under_load(server, config))


async def _under_load(server: Served, config: FleetConfig) -> dict[str, Any]:
    starts = np.random.default_rng(config.seed).uniform(0, config.every_s, config.robots).tolist()
    stories = [(story_in_boxes if config.boxes else story_in_images)(number) for number in range(config.robots)]
    process, load = psutil.Process(server.process.pid), Load(server.url)
    memory_mb, cpu_before = [memory_of(process)], cpu_of(process)
    began = time.perf_counter()
    until = began + config.seconds
    robots = [load.robot(n, stories[n], config.every_s, start_s, until) for n, start_s in enumerate(starts)]
    tasks = [asyncio.create_task(each) for each in (*robots, load.health(until))]
    with tqdm(total=round(config.seconds), unit="s", desc="under load") as bar:
        while (await asyncio.wait(tasks, timeout=0.5))[1]:
            if time.perf_counter() - began > MEMORY_EVERY_S * len(memory_mb):
                memory_mb.append(memory_of(process))
            bar.n = min(round(time.perf_counter() - began), bar.total)
            bar.refresh()
    for task in tasks:
        task.result()
    memory_mb.append(memory_of(process))
    return metrics_of(config, load, memory_mb, cpu_of(process) - cpu_before)


def memory_of(process: psutil.Process) -> float:
    """Megabytes of a process and those that it has started; what they share counts once."""
    return float(sum(each.memory_full_info().pss for each in (process, *process.children(recursive=True))) / 1e6)


def cpu_of(process: psutil.Process) -> float:
    """Seconds of processor time of a process and those that it has started."""
    return sum(sum(each.cpu_times()[:2]) for each in (process, *process.children(recursive=True)))


def metrics_of(config: FleetConfig, load: Load, memory_mb: Sequence[float], cpu_s: float) -> dict[str, Any]:
    """Return the contents of metrics.json: seconds, megabytes."""
    wrong = [each for each in load.answers if each.wrong]
    looks = [each for each in load.answers if each.what in (LOOK, RECOVER)]
    kinds = {kind: [each for each in load.answers if each.what == kind] for kind in (HEALTH, LOOK, RECOVER, SESSION)}
    return {
        "robots": config.robots,
        "input": "boxes" if config.boxes else "images",
        "seconds": config.seconds,
        "observations": len(looks),
        "observations_per_s": round(len(looks) / config.seconds, 2),
        "errors": len(wrong),
        "first_errors": sorted({f"{each.what}: {each.wrong}" for each in wrong})[:5],
        "latency_s": {name: _quantiles(group) for name, group in {"observation": looks, **kinds}.items() if group},
        "late_s": max((each.late_s for each in looks), default=0.0),
        "memory_mb": {"idle": memory_mb[0], "most": max(memory_mb), "last": memory_mb[-1]},
        "cpu_s_per_observation": round(cpu_s / max(len(looks), 1), 4),
        "cpu_share_of_one_core": round(cpu_s / config.seconds, 3),
    }


def _quantiles(answers: Sequence[Answered]) -> dict[str, float]:
    levels = {"p50": 50, "p95": 95, "p99": 99, "most": 100}
    found = np.percentile([each.seconds for each in answers], list(levels.values())).round(4).tolist()
    return {"count": len(answers), **dict(zip(levels, found, strict=True))}


def table_of(metrics: dict[str, Any]) -> str:
    """Metrics as a table, with the first errors."""
    rows = [
        [kind, found["count"], *(f"{found[level] * 1e3:.0f}" for level in ("p50", "p95", "p99", "most"))]
        for kind, found in metrics["latency_s"].items()
    ]
    memory = metrics["memory_mb"]
    return document(
        f"{metrics['robots']} robots with {metrics['input']} for {metrics['seconds']:g} s: "
        f"{metrics['observations']} observations, {metrics['errors']} errors; "
        f"{metrics['cpu_s_per_observation'] * 1e3:.0f} ms of processor time for each; {memory['idle']:.0f} MB idle, at "
        f"most {memory['most']:.0f} MB, {memory['last']:.0f} MB at the end",
        markdown_table(("ms", "answers", "median", "95 %", "99 %", "most"), rows),
        "\n".join(["Errors:", *metrics["first_errors"]]) if metrics["errors"] else "",
    )


LEAST = {"robots": 1, "seconds": 1e-3, "every_s": 1e-3}
MEASUREMENT = Measurement(FleetConfig, measure, table_of, least=LEAST)

if __name__ == "__main__":
    run(MEASUREMENT)
