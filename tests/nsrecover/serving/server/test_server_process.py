"""The server as a process: events, cancelled searches and its shutdown, through the client."""

import json
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib import request

import pytest

from eval.checks.fuzz.server import fuzz
from eval.common.served import Served, served
from nsrecover.records.recording import Recording
from nsrecover.serving.client import Client, ServerRefused
from tests.commands import ROOT
from tests.nsrecover.serving.server.conftest import BOXES


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    # where tests run in the background, Ctrl-C is ignored by everything that they start
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with served("--planning-s", "120") as running:
            yield running
    finally:
        signal.signal(signal.SIGINT, before)


def swapped(pairs: int = 8) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Return boxes on a grid with pairwise exchanged places: proving the shortest recovery takes minutes."""
    places = [[0.35 + 0.08 * (i % 5), -0.28 + 0.08 * (i // 5), 0.02, 0.04, 0.04, 0.04] for i in range(2 * pairs)]
    names = [f"box {i}" for i in range(2 * pairs)]
    return dict(zip(names, places, strict=True)), {name: places[i ^ 1] for i, name in enumerate(names)}


def searching(server: Served) -> tuple[Client, list[dict[str, Any]], threading.Thread]:
    """Return a client, the list for its answer and the thread of its request, once a recovery was found."""
    before, after = swapped()
    client = Client(["top(box 0, box 1)"], server.url, system="boxes", budget_s=120)
    client.scene(before)
    client.scene(after)
    answers: list[dict[str, Any]] = []
    asking = threading.Thread(target=lambda: answers.append(client.scene(after)))
    asking.start()
    assert next(data for kind, data in client.events(wait_s=60) if kind == "improvement")["status"] == "recovered"
    return client, answers, asking


def test_the_client_follows_an_episode_and_its_events(server: Served, episode: Recording, plan: list[str]) -> None:
    client = Client(plan, server.url)
    last = episode.observations[-1]
    answers = [client.observe(each) for each in (*episode.observations, replace(last, time_s=last.time_s + 1.0))]
    assert [answer["request"]["code"] for answer in answers] == ["act", "act", "act", "act", "look", "act"]
    events = list(client.events(wait_s=0.2))
    kinds = [kind for kind, _ in events]
    # the request for the first observation, then what every report led to
    assert kinds[:-3] == ["request", "request", *3 * ["compared", "turn", "request"], "request", "compared",
                          *(kinds.count("improvement") * ["improvement"])][: len(kinds) - 3]  # fmt: skip
    assert kinds[-2:] == ["turn", "request"]
    costs = [data["cost"] for kind, data in events if kind == "improvement"]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] == events[-2][1]["recovery"]["cost"]
    assert events[-1][1] == answers[-1]["request"]
    client.close()
    with pytest.raises(ServerRefused, match=r"404.*unknown_session"):
        client.call("GET", "")


def test_a_report_whose_answer_was_lost_is_sent_again(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    client, opening = Client(["top(a, b)"], server.url), Client._open
    lost: list[str] = []

    def losing(*given: Any) -> Any:
        answer = opening(*given)
        if lost or given[1] != "POST":
            return answer
        lost.append(answer.read().decode())
        raise ConnectionResetError

    monkeypatch.setattr(Client, "_open", losing)
    assert client.scene(BOXES) == json.loads(lost[0])
    assert lost
    client.close()


def test_a_search_is_watched_stopped_and_holds_up_nobody(server: Served) -> None:
    client, answers, asking = searching(server)
    with pytest.raises(ServerRefused, match=r"409.*busy"):
        client.stop()
    for _ in range(10):
        with request.urlopen(f"{server.url}/v1/health", timeout=300) as health:
            assert health.status == 200
    # all of them were answered before the search came to its end
    assert client.call("DELETE", "/search") == {"cancelled": True}
    asking.join(timeout=300)
    recovery = answers[0]["turns"][0]["recovery"]
    assert recovery["status"] == "recovered"
    assert not recovery["proven_optimal"]
    assert recovery["reason_code"] == "cancelled"
    assert client.call("DELETE", "/search") == {"cancelled": False}
    client.close()


def test_a_search_ends_when_its_client_goes_away(server: Served) -> None:
    before, after = swapped(20)
    client = Client(["top(box 0, box 1)"], server.url, timeout_s=60, system="boxes", budget_s=120)
    client.scene(before)
    client.scene(after)
    impatient = Client(["top(box 0, box 1)"], server.url, system="boxes")
    impatient.path, impatient._timeout_s = client.path, 0.2
    with pytest.raises(TimeoutError):
        impatient.scene(after)
    deadline = time.monotonic() + 5
    while (state := client.call("GET", ""))["request"]["code"] != "act" and time.monotonic() < deadline:
        time.sleep(0.1)
    if state["request"]["code"] == "act":  # the session has gone on with the best way back
        assert state["turns"][0]["recovery"]["reason_code"] == "cancelled"
    else:  # there was none yet, so that it looks again
        assert "act" in [client.scene(after)["request"]["code"] for _ in range(2)]
    client.close()


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_curl_commands_of_the_page_work(server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "server.md").read_text(encoding="utf-8")
    program, *_ = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    boxes, images = (block for block in re.findall(r"```bash\n(.*?)```", page, flags=re.DOTALL) if "curl" in block)
    monkeypatch.chdir(tmp_path)  # the program leaves files for the commands
    exec(program)

    def answers(commands: str) -> list[Any]:
        assert "http://127.0.0.1:8765" in commands
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands.replace("http://127.0.0.1:8765", server.url)],
            cwd=tmp_path, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return [json.loads(text) for text in done.stdout.replace("}{", "}\n{").splitlines()]

    asked = [answer["request"]["code"] for answer in answers(boxes)]
    assert asked == ["act", "look", "act", "stopped"]
    start, doubted, found = answers(images)
    assert [each["request"]["code"] for each in (start, doubted, found)] == ["act", "look", "act"]
    (turn,) = found["turns"]
    assert {each["cause"] for each in turn["discrepancy"]["deviations"]} == {"toppled", "dropped", "moved"}
    assert turn["recovery"]["status"] == "recovered"


def test_nothing_that_schemathesis_sends_breaks_it(server: Served) -> None:
    """Runs `python -m eval.checks.fuzz target=server` briefly."""
    fuzzed = fuzz(server.url, cases=80, seed=0)
    assert fuzzed.failures == {}
    assert fuzzed.outcomes.total() >= 70
    # not all of them at the door
    assert fuzzed.outcomes["200"] >= 10


def test_it_ends_when_it_is_told_to_though_somebody_waits(server: Served) -> None:
    """The last test in this file: it ends the shared server."""
    _, answers, asking = searching(server)
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(timeout=300) == 130
    asking.join(timeout=30)
    # what was found until then
    assert answers[0]["turns"][0]["recovery"]["status"] == "recovered"
