"""A server in this process with the shipped checkpoint, boxes and a kitchen of facts."""

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

import nsrecover
from nsrecover.records.recording import Recording, example
from nsrecover.serving.client import observation_message
from nsrecover.serving.server import ServerLimits, create_app
from nsrecover.system import System
from tests.nsrecover.kitchen_facts import HOME, WATERED

LOCAL = "http://127.0.0.1"

BOXES = {"a": [0.5, 0.0, 0.02, 0.04, 0.04, 0.04], "b": [0.5, 0.2, 0.02, 0.04, 0.04, 0.04]}
STACKED = {**BOXES, "a": [0.5, 0.2, 0.06, 0.04, 0.04, 0.04]}
AWAY = {**BOXES, "a": [0.6, -0.2, 0.02, 0.04, 0.04, 0.04]}


@pytest.fixture(scope="session")
def episode() -> Recording:
    return example("collapse")


@pytest.fixture(scope="session")
def seen(episode: Recording) -> list[dict[str, Any]]:
    """Return the observations of the episode as messages."""
    return [observation_message(observation) for observation in episode.observations]


@pytest.fixture(scope="session")
def plan(episode: Recording) -> list[str]:
    return [str(action) for action in episode.plan]


def application(token: str | None = None, **limits: Any) -> FastAPI:
    """A server without torch."""
    systems: dict[str, System[Any]] = {
        "boxes": nsrecover.geometric(), "kitchen": nsrecover.symbolic(HOME, WATERED)
    }  # fmt: skip
    return create_app(systems, ServerLimits(**{"sessions_of_client": 64, **limits}), token)


@pytest.fixture(scope="module")
def http() -> Iterator[TestClient]:
    """A server of boxes and facts."""
    with TestClient(application(), base_url=LOCAL) as client:
        yield client


@pytest.fixture(scope="package")
def cameras(system: System) -> Iterator[TestClient]:
    """A server of camera images."""
    with TestClient(
        create_app({"tabletop": system}, ServerLimits(workers=1, sessions_of_client=64)), base_url=LOCAL
    ) as client:
        yield client


def opened(http: TestClient, plan: list[str], **fields: Any) -> str:
    """Open a session and return its path."""
    answer = http.post("/v1/sessions", json={"plan": plan, **fields})
    assert answer.status_code == 201, answer.text
    return f"/v1/sessions/{answer.json()['session']}"


def started(http: TestClient, plan: list[str], **fields: Any) -> str:
    """Open a session that has seen the boxes, and return its path."""
    path = opened(http, plan, **fields)
    assert http.post(f"{path}/scenes", json=scene(BOXES)).json()["request"]["code"] == "act"
    return path


def scene(boxes: dict[str, list[float]]) -> dict[str, Any]:
    return {"objects": [{"name": name, "box": box} for name, box in boxes.items()]}


def reported(http: TestClient, path: str, *scenes: dict[str, list[float]]) -> Any:
    """Report boxes, and return the last answer."""
    for boxes in scenes:
        answer = http.post(f"{path}/scenes", json=scene(boxes))
        assert answer.status_code == 200, answer.text
    return answer.json()
