"""Sessions are watched in processes: what happens to one process does not happen to the others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

import nsrecover
from eval.common.served import served
from nsrecover.errors import InvalidConfiguration
from nsrecover.integrations.client import Client
from nsrecover.integrations.server import convert, create_app, workers
from tests.nsrecover.integrations.server.conftest import BOXES, LOCAL, opened, scene
from tests.nsrecover.integrations.server.test_server_process import swapped

PLAN = ["top(a, b)"]


def boxes_server() -> FastAPI:
    return create_app({"boxes": nsrecover.geometric()})


def process_of(app: FastAPI, path: str) -> int:
    """Return the number of the process of a session."""
    session = path.rpartition("/")[2]
    (worker,) = (each for each in app.state.service.workers if session in each.sessions)
    number: int = worker._manager._process.pid
    return number


def test_a_process_that_crashes_loses_its_sessions_only() -> None:
    app = boxes_server()
    with TestClient(app, base_url=LOCAL) as http:
        doomed, other = opened(http, PLAN), opened(http, PLAN)
        assert process_of(app, doomed) != process_of(app, other)
        for path in (doomed, other):
            assert http.post(f"{path}/scenes", json=scene(BOXES)).status_code == 200
        os.kill(process_of(app, doomed), signal.SIGKILL)
        lost = http.post(f"{doomed}/scenes", json=scene(BOXES))
        assert (lost.status_code, lost.json()["code"]) == (503, "session_lost")
        assert "open a new session" in lost.json()["message"]
        assert http.get(doomed).json()["code"] == "unknown_session"
        judged = http.post(f"{other}/scenes?budget_s=5", json=scene(BOXES)).json()
        assert judged["verdict"] == "deviating"
        assert judged["recovery"]["status"] == "already_at_subgoal"
        anew = opened(http, PLAN)
        assert process_of(app, anew) != process_of(app, other)
        assert http.post(f"{anew}/scenes", json=scene(BOXES)).json()["state"]["started"]


def hang(*given: Any) -> None:
    """Decodes a scene for ever."""
    time.sleep(1000)


def test_a_process_that_hangs_is_killed_and_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    app = boxes_server()
    with TestClient(app, base_url=LOCAL) as http:
        hanging, other = opened(http, PLAN), opened(http, PLAN)
        with monkeypatch.context() as patched:
            patched.setattr(workers, "LONGEST_LOOK_S", 0.5)
            patched.setattr(convert, "scene_of", hang)
            lost = http.post(f"{hanging}/scenes", json=scene(BOXES))
        assert (lost.status_code, lost.json()["code"]) == (503, "session_lost")
        assert http.post(f"{other}/scenes", json=scene(BOXES)).status_code == 200
        assert http.post(f"{opened(http, PLAN)}/scenes", json=scene(BOXES)).status_code == 200


def test_a_session_that_is_deleted_during_its_search_is_answered() -> None:
    with served("--boxes-only", "--planning-s", "60") as server:
        before, after = swapped()
        client = Client(["top(box 0, box 1)"], server.url, timeout_s=60)
        client.scene(before)
        answers: list[dict[str, Any]] = []
        asking = threading.Thread(target=lambda: answers.append(client.scene(after, "?budget_s=60")))
        asking.start()
        assert next(data for kind, data in client.events(wait_s=60) if kind == "improvement")
        client.close()
        asking.join(timeout=30)
        assert answers[0]["recovery"]["status"] == "recovered"


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
    script.write_text(
        "from nsrecover.integrations.server import serve\nserve(port=0, checkpoints={})\n", encoding="utf-8"
    )
    began = time.monotonic()
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert "expected nsrecover.integrations.server.serve() under" in done.stderr
    assert "expected to start a worker process" in done.stderr
    assert time.monotonic() - began < 100
