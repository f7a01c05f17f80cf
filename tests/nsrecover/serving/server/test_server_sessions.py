"""Sessions ask for what the library's sessions ask for, also for simultaneous clients."""

import base64
import json
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from nsrecover.core.sessions.settings import SessionSettings
from nsrecover.records import episode_log
from nsrecover.records.recording import Recording
from nsrecover.serving.client import observation_message
from nsrecover.serving.server import messages
from nsrecover.serving.server.answers import session_answer
from nsrecover.serving.server.observations import json_observation
from nsrecover.system import System
from tests.nsrecover.kitchen_facts import START, WINE
from tests.nsrecover.serving.server.conftest import (
    AWAY,
    BOXES,
    LOCAL,
    STACKED,
    application,
    opened,
    reported,
    scene,
    started,
)


def test_images_are_judged_as_the_library_judges_them(
    cameras: TestClient, system: System, episode: Recording, plan: list[str], seen: list[dict[str, Any]]
) -> None:
    path = opened(cameras, plan, budget_s=5)
    session = system.session(episode.plan, settings=SessionSettings(budget_s=5))
    for message in [*seen, {**seen[-1], "time_s": seen[-1]["time_s"] + 1.0}]:  # the last one is asked for again
        decoded = json_observation(messages.ObservationMessage.model_validate(message), 10**9)
        before = session.records
        session.observed(decoded)
        answer = cameras.post(f"{path}/observations", json=message).json()
        messages.SessionState.model_validate(answer)
        expected: Any = json.loads(json.dumps(session_answer(session, list(session.records[len(before) :]))))
        for each in (*answer["turns"], *expected["turns"]):
            if each["recovery"] is not None:
                del each["recovery"]["seconds"]
        assert {**expected, "session": answer["session"], "system": "tabletop"} == answer
    (turn,) = answer["turns"]
    assert {each["cause"] for each in turn["discrepancy"]["deviations"]} == {"toppled", "moved", "dropped"}
    assert turn["recovery"]["proven_optimal"]
    assert answer["plan"] == turn["recovery"]["plan"]
    log = cameras.get(f"{path}/episode").json()
    assert len(episode_log.from_document(log).records) == len(plan)


def test_audio_comes_with_the_images(cameras: TestClient, plan: list[str], episode: Recording) -> None:
    audio = (np.arange(-800, 800) / 800).astype(np.float32)
    message = observation_message(replace(episode.observations[0], audio=audio, audio_rate_hz=16_000))
    decoded = json_observation(messages.ObservationMessage.model_validate(message), 10**9)
    np.testing.assert_allclose(decoded.audio, audio, atol=1.01 / 32_768)
    assert decoded.audio_rate_hz == 16_000

    broken = {**message, "audio_wav": base64.b64encode(b"no sound").decode()}
    refused = cameras.post(f"{opened(cameras, plan)}/observations", json=broken)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_observation")


def test_features_of_ones_own_are_compared_too(cameras: TestClient, system: System) -> None:
    size = system.model.bundle.feature_size
    crops = np.zeros((2, system.model.bundle.crop_size, system.model.bundle.crop_size, 3), np.uint8)
    crops[0, 8:-8, 8:-8], crops[1, 8:-8, 8:-8] = (200, 30, 30), (30, 60, 200)
    looks = dict(zip("ab", system.model.bundle.embed(crops).tolist(), strict=True))

    def seen(boxes: dict[str, list[float]], *features: Any) -> dict[str, Any]:
        message = scene(boxes)
        for each, feature in zip(message["objects"], features, strict=True):
            each["features"] = feature
        return message

    path = opened(cameras, ["left(a, b)"])
    mixed = cameras.post(f"{path}/scenes", json=seen(BOXES, looks["a"], None))
    assert (mixed.status_code, mixed.json()["code"]) == (422, "invalid_observation")
    short = cameras.post(f"{path}/scenes", json=seen(BOXES, [1.0], [1.0])).json()
    assert f"length {size}" in short["problem"]
    assert cameras.post(f"{path}/scenes", json=seen(BOXES, looks["a"], looks["b"])).json()["request"]["code"] == "act"
    # in the right places, but each looking like the other
    left = {**BOXES, "a": [0.5, 0.27, 0.02, 0.04, 0.04, 0.04]}
    swapped = cameras.post(f"{path}/scenes", json=seen(left, looks["b"], looks["a"])).json()
    assert {each["name"] for each in swapped["discrepancy"]["deviations"]} == {"a", "b"}


def test_boxes_may_have_orientations(http: TestClient) -> None:
    brick = {"a": [0.5, 0.0, 0.02, 0.08, 0.04, 0.04, 0.0], "b": [0.5, 0.2, 0.02, 0.04, 0.04, 0.04]}
    path = opened(http, ["left(b, a)"])
    assert http.post(f"{path}/scenes", json=scene(brick)).json()["request"]["code"] == "act"
    turned = {"a": [0.5, 0.0, 0.02, 0.08, 0.04, 0.04, 0.0, 0.0, 0.5, 0.866], "b": [0.5, 0.07, 0.02, 0.04, 0.04, 0.04]}
    told = reported(http, path, turned, turned)["turns"][0]["discrepancy"]["deviations"]
    assert [(each["name"], each["cause"]) for each in told] == [("a", "turned")]
    refused = http.post(f"{path}/scenes", json=scene({"a": brick["a"][:5], "b": brick["b"]}))
    assert refused.status_code == 422


def test_a_session_that_is_over_takes_no_more_reports(http: TestClient) -> None:
    path = started(http, ["top(a, b)"])
    done = reported(http, path, STACKED, STACKED)
    assert (done["request"], done) == ({"code": "done"}, http.get(path).json())
    over = http.post(f"{path}/scenes", json=scene(STACKED))
    assert (over.status_code, over.json()["code"]) == (409, "out_of_turn")


def test_facts_that_deviate_are_said(http: TestClient) -> None:
    path = opened(http, ["pick_up(pot)"], system="kitchen")
    held = START - {("at", "pot", "countertop")} | {("holding", "pot"), WINE}
    answer = http.post(f"{path}/facts", json={"facts": sorted(map(list, START))}).json()
    while not answer["turns"]:
        answer = http.post(f"{path}/facts", json={"facts": sorted(map(list, held))}).json()
        messages.SessionState.model_validate(answer)
    (deviation,) = answer["turns"][0]["discrepancy"]["deviations"]
    assert (deviation["name"], list(WINE) in deviation["observed"]) == ("pot", True)
    assert list(WINE) in answer["facts"]["facts"]
    wrong = {"facts": [["at", "pto", "sink"]]}
    strange = http.post(f"{opened(http, ['pick_up(pot)'], system='kitchen')}/facts", json=wrong)
    assert "Did you mean 'pot'" in strange.json()["problem"]


def test_what_was_not_observed_is_asked_for_again(http: TestClient) -> None:
    path = started(http, ["top(a, b)"])
    assert http.post(f"{path}/waited").json()["request"]["code"] == "look"
    assert reported(http, path, BOXES)["request"]["code"] == "act"
    for number in range(3):
        answer = http.post(f"{path}/no_observation", json={"problem": "the camera is off"}).json()
        assert answer["problem"] == "the camera is off"
        assert answer["request"]["code"] == ("look" if number < 2 else "stopped")
    assert answer["request"]["why"] == "no_observation"


def test_another_plan_begins_from_the_last_scene(http: TestClient) -> None:
    path = opened(http, ["top(a, b)"])
    early = http.put(f"{path}/plan", json={"plan": ["top(b, a)"]}).json()
    assert (early["request"]["code"], early["plan"][0]["arguments"]) == ("look", ["b", "a"])
    reported(http, path, BOXES)
    refused = http.put(f"{path}/plan", json={"plan": ["top(b, c)"]})
    assert (refused.status_code, refused.json()["code"]) == (422, "unknown_object")
    other = http.put(f"{path}/plan", json={"plan": ["left(a, b)"]}).json()
    assert other["request"]["action"]["operator"] == "left"
    assert http.get(f"{path}/episode").json()["plan"]["actions"][0]["operator"] == "left"


def test_sessions_do_not_see_one_another(http: TestClient) -> None:
    mine, theirs = started(http, ["top(a, b)"]), opened(http, ["top(p, q)"])
    reported(http, theirs, {"p": BOXES["a"], "q": BOXES["b"]})
    reported(http, mine, {"a": BOXES["a"]})
    assert http.get(theirs).json()["discrepancy"]["verdict"] == "as_expected"
    for code in ("look", "done"):
        done = reported(http, theirs, {"p": STACKED["a"], "q": BOXES["b"]})
        assert done["request"]["code"] == code
    assert [each["name"] for each in done["objects"]] == ["p", "q"]
    assert len(mine.rsplit("/", 1)[1]) >= 24


def test_a_refused_observation_changes_nothing(
    cameras: TestClient, plan: list[str], seen: list[dict[str, Any]]
) -> None:
    path = opened(cameras, plan)
    cameras.post(f"{path}/observations", json=seen[0])
    before = cameras.get(path).json()
    damaged = json.loads(json.dumps(seen[1]))
    damaged["views"][1]["depth_png"] = damaged["views"][1]["rgb_png"]
    assert cameras.post(f"{path}/observations", json=damaged).status_code == 422
    assert cameras.get(path).json() == before
    kind = cameras.post(f"{path}/scenes", json=scene(BOXES)).json()
    assert kind["problem"].startswith("expected camera images, found SceneGraph")
    assert cameras.post(f"{path}/observations", json=seen[1]).json()["request"]["code"] == "act"


def test_there_are_only_so_many() -> None:
    with TestClient(application(sessions=2), base_url=LOCAL) as http:
        first, second = opened(http, ["top(a, b)"]), opened(http, ["top(a, b)"])
        refused = http.post("/v1/sessions", json={"plan": ["top(a, b)"]})
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_sessions")
        assert refused.headers["retry-after"]
        assert http.delete(second).status_code == 204
        assert http.get(second).json()["code"] == "unknown_session"
        assert http.get("/v1/health").json()["sessions"] == 1
        assert http.get(first).status_code == 200
        opened(http, ["top(a, b)"])


def test_those_that_are_over_make_room() -> None:
    with TestClient(application(sessions_of_client=2), base_url=LOCAL) as http:
        running, last = opened(http, ["top(a, b)"]), ""
        for _ in range(3):
            before, last = last, opened(http, ["top(a, b)"])
            assert http.post(f"{last}/stop", json={"reason": ""}).json()["request"]["code"] == "stopped"
        assert http.get(running).status_code == http.get(last).status_code == 200
        assert http.get(before).status_code == 404
        opened(http, ["top(a, b)"])
        assert http.post("/v1/sessions", json={"plan": ["top(a, b)"]}).status_code == 429


def test_a_report_that_is_sent_again_counts_once(http: TestClient) -> None:
    path = opened(http, ["top(a, b)"])
    keys = ["one", "one", "two", "two", "three"]
    seen = [BOXES, BOXES, AWAY, AWAY, AWAY]
    answers = [
        http.post(f"{path}/scenes", json=scene(boxes), headers={"Idempotency-Key": key}).json()
        for key, boxes in zip(keys, seen, strict=True)
    ]
    assert answers[0] == answers[1]
    assert answers[2] == answers[3]
    assert [each["request"]["code"] for each in answers[::2]] == ["act", "look", "act"]


def test_idle_ones_are_forgotten() -> None:
    with TestClient(application(sessions=1, idle_s=0.2), base_url=LOCAL) as http:
        first = opened(http, ["top(a, b)"])
        time.sleep(0.3)
        assert http.get(first).status_code == 404
        opened(http, ["top(a, b)"])


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        ({"plan": ["tpo(a, b)"]}, "invalid_action", "Did you mean 'top'"),
        ({"plan": ["top(a, b)", "top(b, a)"]}, "invalid_plan", "circle"),
        ({"plan": ["top(a, b)"] * 101}, "invalid_request", "at most 100"),
        ({"plan": ["pick_up(pot)"], "system": "kitchen", "rejoin": "pose"}, "invalid_configuration", "one of facts"),
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
