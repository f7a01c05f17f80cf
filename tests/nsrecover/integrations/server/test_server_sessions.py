"""Sessions give the results of the library, also for simultaneous clients."""

from __future__ import annotations

import base64
import inspect
import json
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fastapi.routing import APIRoute
from nsrecover.integrations.server.watches import Seeing
from starlette.testclient import TestClient

from nsrecover.core.discrepancy import Phase
from nsrecover.core.observation import Observation
from nsrecover.core.scene import SceneGraph
from nsrecover.integrations.client import observation_message, png
from nsrecover.integrations.server.routes import router
from nsrecover.integrations.server.workers import RemoteWatch
from nsrecover.records.recording import Recording
from nsrecover.records.review import review
from nsrecover.system import System
from tests.nsrecover.integrations.server.conftest import BOXES, LOCAL, application, opened, scene


def as_files(message: dict[str, Any], recording: Recording, step: int) -> dict[str, Any]:
    """Return an observation as a multipart request."""
    seen = recording.observations[step]
    look = {key: value for key, value in message.items() if key != "views"}
    look["cameras"] = [view["camera"] for view in message["views"]]
    depth = np.rint(seen.depth_m * 10_000).astype(np.uint16)
    files = []
    for view in range(len(seen.cameras)):
        kinds = (("rgb", seen.rgb[view]), ("depth", depth[view]), ("instances", seen.instances[view].astype(np.uint8)))
        files += [(name, (f"{name}{view}.png", png(image), "image/png")) for name, image in kinds]
    return {"data": {"look": json.dumps(look)}, "files": files}


def test_an_episode_is_judged_as_the_library_judges_it(
    http: TestClient, system: System, episode: Recording, plan: list[str], seen: list[dict[str, Any]]
) -> None:
    path = opened(http, plan)
    first = http.post(f"{path}/observations", json=seen[0]).json()
    assert first["phase"] is None
    assert {each["name"] for each in first["objects"]} == set(episode.observations[0].labels.values())
    for item, message in zip(review(system, episode), seen[1:], strict=True):
        verdict = http.post(f"{path}/observations?budget_s=5", json=message).json()
        assert verdict["as_expected"] == (not item.discrepancy)
        assert verdict["state"]["step"] == item.step + 1
    assert item.recovery is not None
    assert item.explanation is not None
    found = {(each["name"], each["cause"], each["other"]) for each in verdict["discrepancy"]["culprits"]}
    assert found == {(each.name, each.cause.value, each.other) for each in item.discrepancy.deviations}
    assert verdict["explanation"]["text"] == item.explanation.text
    assert len(verdict["recovery"]["actions"]) == len(item.recovery.actions)
    assert verdict["recovery"]["proven_optimal"]
    assert verdict["state"]["can_follow"]


def test_every_camera_may_number_its_own_masks(http: TestClient, episode: Recording, plan: list[str]) -> None:
    path = opened(http, plan)
    for number, seen in enumerate(episode.observations):
        instances = seen.instances.copy()
        instances[1][instances[1] > 0] += 100
        own = replace(seen, instances=instances, labels=seen.labels if number == 0 else {}, shared_ids=False)
        answer = http.post(f"{path}/observations", json=observation_message(own))
        assert answer.status_code == 200, answer.text
        assert answer.json().get("as_expected", True) == (number < len(episode.plan))
    names = {name for seen in episode.observations for name in seen.labels.values()}
    assert {each["name"] for each in answer.json()["objects"]} == names


def test_files_say_the_same_as_json(
    http: TestClient, episode: Recording, plan: list[str], seen: list[dict[str, Any]]
) -> None:
    verdicts = []
    for send in ("json", "files"):
        path = opened(http, plan[3:])
        for step in (3, 4):
            if send == "json":
                answer = http.post(f"{path}/observations?recover=false", json=seen[step])
            else:
                parts = as_files(seen[step], episode, step)
                answer = http.post(f"{path}/observations/multipart?recover=false", **parts)
            assert answer.status_code == 200, answer.text
        verdicts.append(answer.json())
    assert verdicts[0]["discrepancy"] == verdicts[1]["discrepancy"]
    assert verdicts[0]["discrepancy"]["culprits"]
    assert verdicts[0]["recovery"] is None


def test_a_recovery_is_asked_for_followed_and_carried_out(http: TestClient) -> None:
    path = opened(http, ["top(a, b)"])
    http.post(f"{path}/scenes", json=scene(BOXES))
    away = {**BOXES, "a": [0.6, -0.2, 0.02, 0.04, 0.04, 0.04]}
    verdict = http.post(f"{path}/scenes?recover=false", json=scene(away)).json()
    assert [(each["name"], each["cause"]) for each in verdict["discrepancy"]["culprits"]] == [("a", "misplaced")]
    assert not verdict["state"]["can_follow"]
    assert http.post(f"{path}/recovery/follow").status_code == 409
    answer = http.post(f"{path}/recovery", json={"budget_s": 5}).json()
    assert answer["recovery"]["status"] == "recovered"
    assert "The recovery takes" in answer["explanation"]["text"]
    state = http.post(f"{path}/recovery/follow").json()
    assert state["plan"] == answer["recovery"]["plan"]
    assert state["next_action"]["arguments"][0] == "a"
    stacked = {**BOXES, "a": [0.5, 0.2, 0.06, 0.04, 0.04, 0.04]}
    verdict = http.post(f"{path}/scenes", json=scene(stacked)).json()
    assert verdict["as_expected"]
    assert verdict["state"]["finished"]
    over = http.post(f"{path}/scenes", json=scene(stacked))
    assert (over.status_code, over.json()["code"]) == (409, "out_of_turn")
    assert http.put(f"{path}/plan", json={"plan": ["left(a, b)"]}).json()["next_action"]["operator"] == "left"


def test_a_look_before_an_action_tells_what_is_in_the_way(http: TestClient) -> None:
    path = opened(http, ["top(a, b)"])
    boxes = {**BOXES, "c": [0.6, -0.2, 0.02, 0.04, 0.04, 0.04]}
    http.post(f"{path}/scenes", json=scene(boxes))
    fine = http.post(f"{path}/scenes?phase=before", json=scene(boxes)).json()
    assert fine["as_expected"]
    assert fine["state"]["step"] == 0
    on_top = {**boxes, "c": [0.5, 0.2, 0.06, 0.04, 0.04, 0.04]}
    blocked = http.post(f"{path}/scenes?phase=before", json=scene(on_top)).json()
    assert blocked["discrepancy"]["violated"] == ["the c already stands on the b"]
    assert blocked["phase"] == "before"


def test_what_cannot_be_told_is_no_error_and_another_look_may_tell(http: TestClient) -> None:
    path = opened(http, ["top(a, b)"])
    early = http.post(f"{path}/scenes", json=scene(BOXES)).json()
    assert (early["verdict"], early["as_expected"]) == (None, True)
    assert http.post(f"{path}/scenes?again=true", json=scene(BOXES)).status_code == 409
    stacked = scene({**BOXES, "a": [0.5, 0.2, 0.06, 0.04, 0.04, 0.04]})
    unseen = scene(BOXES)
    unseen["objects"] = [
        {**each, "seen": False, "unknown": True, "box": [0.5, 0.2, 0.06, 0.04, 0.04, 0.04]}
        if each["name"] == "a"
        else each
        for each in unseen["objects"]
    ]
    answer = http.post(f"{path}/scenes", json=unseen).json()
    assert (answer["verdict"], answer["as_expected"], answer["recovery"]) == ("cannot_tell", False, None)
    assert answer["state"]["verdict"] == "cannot_tell"
    assert not answer["state"]["as_expected"]
    missing = {"name": "a", "reason": "no_mask", "other": None, "moved": True}
    assert answer["discrepancy"]["missing_to_tell"] == answer["discrepancy"]["unseen"] == [missing]
    assert "gives no mask of it" in answer["explanation"]["text"]
    assert [each["visibility"] for each in answer["objects"] if each["name"] == "a"] == ["unknown"]
    assert http.post(f"{path}/recovery", json={}).status_code == 409
    again = http.post(f"{path}/scenes?again=true", json=stacked).json()
    assert (again["verdict"], again["phase"], again["discrepancy"]) == ("as_expected", "after", None)
    assert again["state"]["finished"]


def test_an_alarm_that_another_look_does_not_confirm_is_in_doubt_and_then_withdrawn(http: TestClient) -> None:
    path = opened(http, ["top(a, b)"])
    http.post(f"{path}/scenes", json=scene(BOXES))
    stacked = scene({**BOXES, "a": [0.5, 0.2, 0.06, 0.04, 0.04, 0.04]})
    verdicts = [http.post(f"{path}/scenes?recover=false", json=scene(BOXES)).json()]
    verdicts += [http.post(f"{path}/scenes?again=true", json=stacked).json() for _ in range(2)]
    assert [each["verdict"] for each in verdicts] == ["deviating", "cannot_tell", "as_expected"]
    assert verdicts[1]["discrepancy"]["missing_to_tell"][0]["reason"] == "looks_disagree"
    assert [each["state"]["step"] for each in verdicts] == [1, 1, 1]


def test_a_missing_object_has_no_distance_and_no_way_back(http: TestClient) -> None:
    path = opened(http, ["top(a, b)"])
    http.post(f"{path}/scenes", json=scene(BOXES))
    verdict = http.post(f"{path}/scenes", json=scene({"b": BOXES["b"]})).json()
    (culprit,) = verdict["discrepancy"]["culprits"]
    assert (culprit["cause"], culprit["distance_m"], culprit["observed"]) == ("missing", None, None)
    assert verdict["recovery"]["status"] == "impossible"
    assert verdict["recovery"]["blamed"] == ["a"]
    assert verdict["recovery"]["cost"] is None


def test_features_of_ones_own_are_compared_too(http: TestClient, system: System) -> None:
    rng = np.random.default_rng(0)
    size = system.bundle.config.feature_size
    looks = {name: (v / np.linalg.norm(v)).tolist() for name, v in zip("ab", rng.normal(size=(2, size)), strict=True)}

    def seen(first: str, second: str) -> dict[str, Any]:
        message = scene(BOXES)
        for each, look in zip(message["objects"], (first, second), strict=True):
            each["features"] = looks[look]
        return message

    path = opened(http, ["left(a, b)"])
    assert http.post(f"{path}/scenes", json=seen("a", "b")).status_code == 200
    # in the right places, but each looking like the other
    swapped = http.post(f"{path}/scenes?phase=before", json=seen("b", "a")).json()
    assert {each["name"] for each in swapped["discrepancy"]["culprits"]} == {"a", "b"}
    short = seen("a", "b")
    short["objects"][0]["features"] = [1.0]
    refused = http.post(f"{path}/scenes", json=short)
    assert refused.status_code == 422
    assert f"expected {size} features" in refused.json()["message"]


def test_sessions_do_not_see_one_another(http: TestClient) -> None:
    mine, theirs = opened(http, ["top(a, b)"]), opened(http, ["top(p, q)"])
    others = {"p": BOXES["a"], "q": BOXES["b"]}
    http.post(f"{mine}/scenes", json=scene(BOXES))
    http.post(f"{theirs}/scenes", json=scene(others))
    http.post(f"{mine}/scenes", json=scene({"a": BOXES["a"]}))
    untouched = http.get(theirs).json()
    assert untouched["as_expected"]
    assert untouched["step"] == 0
    stacked = {**others, "p": [0.5, 0.2, 0.06, 0.04, 0.04, 0.04]}
    verdict = http.post(f"{theirs}/scenes", json=scene(stacked)).json()
    assert verdict["as_expected"]
    assert [each["name"] for each in verdict["objects"]] == ["p", "q"]
    assert mine != theirs
    assert len(mine.rsplit("/", 1)[1]) >= 24


def test_a_refused_observation_changes_nothing(http: TestClient, plan: list[str], seen: list[dict[str, Any]]) -> None:
    path = opened(http, plan)
    unnamed = {**seen[0], "labels": {"1": "somebody else"}}
    refused = http.post(f"{path}/observations", json=unnamed)
    assert (refused.status_code, refused.json()["code"]) == (422, "unknown_object")
    assert not http.get(path).json()["started"]
    assert http.post(f"{path}/observations", json=seen[0]).status_code == 200
    kind = http.post(f"{path}/scenes", json=scene(BOXES))
    assert (kind.status_code, kind.json()["code"]) == (409, "out_of_turn")
    damaged = json.loads(json.dumps(seen[1]))
    damaged["views"][1]["depth_png"] = damaged["views"][1]["rgb_png"]
    assert http.post(f"{path}/observations", json=damaged).status_code == 422
    assert http.get(path).json()["step"] == 0
    assert http.post(f"{path}/observations", json=seen[1]).json()["as_expected"]


@pytest.mark.parametrize("files", [False, True])
def test_audio_comes_with_the_images(
    http: TestClient, plan: list[str], episode: Recording, files: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    audio = (np.arange(-800, 800) / 800).astype(np.float32)
    message = observation_message(replace(episode.observations[0], audio=audio, audio_rate_hz=16_000))
    heard: list[Observation | SceneGraph] = []
    look = RemoteWatch.look

    async def note(watch: RemoteWatch, seeing: Seeing, phase: Phase | None, search_follows: bool) -> Any:
        looked = await look(watch, seeing, phase, search_follows)
        heard.append(seeing())
        return looked

    monkeypatch.setattr(RemoteWatch, "look", note)

    def send(message: dict[str, Any]) -> Any:
        path = opened(http, plan)
        if not files:
            return http.post(f"{path}/observations", json=message)
        views, wav = message["views"], base64.b64decode(message["audio_wav"])
        look = {key: value for key, value in message.items() if key not in ("views", "audio_wav")}
        parts = [
            (kind, (f"{kind}.png", base64.b64decode(view[f"{kind}_png"])))
            for kind in ("rgb", "depth", "instances")
            for view in views
        ]
        look["cameras"] = [view["camera"] for view in views]
        form = {"look": json.dumps(look)}
        return http.post(f"{path}/observations/multipart", data=form, files=[*parts, ("audio", ("audio.wav", wav))])

    assert send(message).status_code == 200
    assert isinstance(heard[-1], Observation)
    np.testing.assert_allclose(heard[-1].audio, audio, atol=1.01 / 32_768)
    assert heard[-1].audio_rate_hz == 16_000
    refused = send({**message, "audio_wav": base64.b64encode(b"no sound").decode()})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_observation")
    assert "audio: expected a WAV file with PCM samples, found 8 bytes" in refused.json()["message"]


def test_there_are_only_so_many(system: System) -> None:
    with TestClient(application(system, sessions=2), base_url=LOCAL) as http:
        first, second = opened(http, ["top(a, b)"]), opened(http, ["top(a, b)"])
        refused = http.post("/v1/sessions", json={"plan": ["top(a, b)"]})
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_sessions")
        assert refused.headers["retry-after"]
        assert http.delete(second).status_code == 204
        assert http.get(second).json()["code"] == "unknown_session"
        assert http.get("/v1/health").json()["sessions"] == 1
        assert http.get(first).status_code == 200
        opened(http, ["top(a, b)"])


def test_idle_ones_are_forgotten(system: System) -> None:
    with TestClient(application(system, sessions=1, idle_s=0.2), base_url=LOCAL) as http:
        first = opened(http, ["top(a, b)"])
        time.sleep(0.3)
        assert http.get(first).status_code == 404
        opened(http, ["top(a, b)"])


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        ({"plan": []}, "invalid_request", "body.plan"),
        ({"plan": ["fly(a)"], "checkpoint": "tabletpo"}, "invalid_configuration", "Did you mean 'tabletop'"),
        ({"plan": ["top"]}, "invalid_action", "expected an action like"),
        ({"plan": ["top(a, b)"] * 101}, "invalid_request", "at most 100"),
        ({"plan": ["top(a, b)"], "speed": 3}, "invalid_request", "body.speed"),
        ({"plan": [{"operator": "free", "arguments": ["a"], "target": [1, 2]}]}, "invalid_request", "target"),
    ],
)
def test_a_mistaken_session_is_refused_with_the_reason(
    http: TestClient, body: dict[str, Any], code: str, said: str
) -> None:
    refused = http.post("/v1/sessions", json=body)
    assert refused.status_code == 422
    assert refused.json()["code"] == code
    assert said in refused.json()["message"] + str(refused.json()["details"])


def test_an_unknown_operator_is_noticed_with_the_first_observation(http: TestClient) -> None:
    refused = http.post(f"{opened(http, ['tpo(a, b)'])}/scenes", json=scene(BOXES))
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_action")
    assert "Did you mean 'top'" in refused.json()["message"]


def test_no_request_touches_the_sessions_from_another_thread() -> None:
    """FastAPI runs functions that are not asynchronous in threads, where the sessions may change meanwhile."""

    def calls(dependant: Any) -> list[Any]:
        return [dependant.call, *(call for each in dependant.dependencies for call in calls(each))]

    found = [call for route in router.routes if isinstance(route, APIRoute) for call in calls(route.dependant)]
    assert len(found) > 20
    assert [call.__name__ for call in found if not inspect.iscoroutinefunction(call)] == []
