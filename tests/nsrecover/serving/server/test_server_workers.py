"""Reports are worked on in processes: if one ends, no session is lost."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

import nsrecover
from eval.common.served import served
from nsrecover.core.sessions.requests import Act
from nsrecover.errors import InvalidConfiguration
from nsrecover.serving.client import Client
from nsrecover.serving.server import ServerLimits, create_app, observations
from nsrecover.serving.server.work.jobs import restored, stored
from nsrecover.system import System
from tests.nsrecover.kitchen_facts import HOME, WATER, WATERED, FactWorld
from tests.nsrecover.serving.server.conftest import BOXES, LOCAL, STACKED, opened, reported, scene, started
from tests.nsrecover.serving.server.test_server_process import swapped

PLAN = ["top(a, b)"]


def busy_process(app: FastAPI) -> int:
    """Return the number of the process that searches, once there is one."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        for worker in app.state.service.searchers:
            if worker.busy and worker.process is not None and worker.process.pid is not None:
                return int(worker.process.pid)
        time.sleep(0.01)
    raise AssertionError("nothing is searched for")


@pytest.fixture(scope="module")
def app() -> FastAPI:
    return create_app({"boxes": nsrecover.geometric()}, ServerLimits(judging_s=1.0))


@pytest.fixture(scope="module")
def http(app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app, base_url=LOCAL) as client:
        yield client


def hang(*given: Any) -> None:
    """Decodes a scene for ever."""
    time.sleep(1000)


def test_a_process_that_hangs_ends_and_no_session_is_lost(http: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    path, other = started(http, PLAN), started(http, PLAN)
    with monkeypatch.context() as patched:
        patched.setattr(observations, "scene_of", hang)
        lost = http.post(f"{path}/scenes", json=scene(BOXES))
    assert (lost.status_code, lost.json()["code"]) == (503, "worker_lost")
    assert "send the report again" in lost.json()["message"]
    assert reported(http, other, STACKED)["request"]["code"] == "look"
    assert reported(http, path, STACKED)["request"]["code"] == "look"


def test_a_process_that_crashes_in_a_search_loses_no_session(app: FastAPI, http: TestClient) -> None:
    before, after = swapped()
    path = opened(http, ["top(box 0, box 1)"], budget_s=30)
    reported(http, path, before, after)
    lost = list[Any]()
    asking = threading.Thread(target=lambda: lost.append(http.post(f"{path}/scenes", json=scene(after))))
    asking.start()
    os.kill(busy_process(app), signal.SIGKILL)
    asking.join(timeout=30)
    assert (lost[0].status_code, lost[0].json()["code"]) == (503, "worker_lost")
    assert http.get(path).json()["request"]["code"] == "look"
    ended = http.post(f"{path}/stop", json={}).json()["request"]
    assert ended["code"] == "stopped"


def test_sessions_are_stored_without_the_parts_of_their_system() -> None:
    kitchen = nsrecover.symbolic(HOME, WATERED)
    systems: dict[str, System[Any]] = {"boxes": nsrecover.geometric(), "kitchen": kitchen}
    session = kitchen.session(WATER, FactWorld().observe())
    state = stored(session, systems)
    assert len(state) < 20_000 < len(pickle.dumps(session))
    again: Any = restored(state, systems)
    assert again.system is kitchen
    assert again.request == session.request == Act(WATER[0])
    again.observed(FactWorld().observe())
    assert session.discrepancy is not again.discrepancy


def test_images_that_share_memory_are_stored_once() -> None:
    views = np.arange(6_000, dtype=np.float32).reshape(2, 50, 60)
    turned = views.transpose(2, 0, 1).copy(order="K")
    given = {
        "views": views,
        "each": [views[0], views[1]],
        "column": views[:, :, 3],
        "turned": turned,
        "part": turned[5:],
    }
    given |= {"few": views[1, 3], "none": views[:0], "names": np.array(["a", None, {}], object)[1:]}
    state = stored(given, {})
    assert len(state) < 3 * views.nbytes  # `turned` and `part` are stored as they are
    again: Any = restored(state, {})
    again = restored(stored(again, {}), {})
    for name, array in given.items():
        np.testing.assert_array_equal(again[name], array)
    again["views"][1] = 7
    assert (again["each"][1] == 7).all()
    assert (again["each"][0] == views[0]).all()


def test_a_session_that_is_deleted_during_its_search_is_answered() -> None:
    with served("--boxes-only", "--planning-s", "60") as server:
        before, after = swapped()
        client = Client(["top(box 0, box 1)"], server.url, timeout_s=60, budget_s=60)
        client.scene(before)
        client.scene(after)
        answers: list[dict[str, Any]] = []
        asking = threading.Thread(target=lambda: answers.append(client.scene(after)))
        asking.start()
        assert next(data for kind, data in client.events(wait_s=60) if kind == "improvement")
        client.close()
        asking.join(timeout=30)
        assert answers[0]["turns"][0]["recovery"]["status"] == "recovered"


def test_processes_end_with_a_server_that_is_killed() -> None:
    with served("--boxes-only") as server:
        children = psutil.Process(server.process.pid).children(recursive=True)
        assert len(children) >= 2
        server.process.kill()
        gone, alive = psutil.wait_procs(children, timeout=20)
        assert not alive, f"{len(gone)} ended, {alive} did not"


def test_systems_that_cannot_be_sent_to_a_process_are_refused() -> None:
    own = replace(nsrecover.geometric(), explainer=lambda found, recovery: None)  # type: ignore[arg-type]
    with pytest.raises(InvalidConfiguration, match="cannot be pickled"):
        create_app({"own": own})


def test_a_script_that_serves_at_its_top_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("from nsrecover.serving.server import serve\nserve(port=0, systems={})\n", encoding="utf-8")
    began = time.monotonic()
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert "expected nsrecover.serving.server.serve() under" in done.stderr
    assert "expected to start a worker process" in done.stderr
    assert time.monotonic() - began < 100
