"""Random input: what ever failed is read again, and the fuzz test notices what is wrong."""

import contextlib
import json
import time
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from eval.checks.fuzz import __main__ as command
from eval.checks.fuzz.__main__ import MEASUREMENT, FuzzConfig, attempt
from eval.checks.fuzz.findings import CORPUS, Findings, kept
from eval.checks.fuzz.server import as_bytes, status_of
from eval.checks.fuzz.targets import TARGETS, Target
from eval.common.overdue import Overdue, within
from nsrecover import geometric
from nsrecover.errors import LONGEST_ERROR, InvalidPlan
from nsrecover.integrations.server import create_app
from tests.nsrecover.integrations.server.conftest import LOCAL, opened

FAILED = [(name, path) for name in TARGETS for path in kept(name)]


@pytest.mark.parametrize(("name", "path"), FAILED, ids=[f"{name} {path.name}" for name, path in FAILED])
def test_inputs_that_once_failed_are_read_or_refused_with_one_error(name: str, path: Path) -> None:
    findings = Findings()
    attempt(TARGETS[name], path.read_bytes(), findings)
    assert findings.failures == {}


@pytest.mark.parametrize("name", TARGETS)
def test_random_input_is_read_or_refused_with_one_error(name: str) -> None:
    findings, inputs = Findings(), TARGETS[name].inputs()

    @hypothesis.seed(11)
    @settings(
        max_examples=25, deadline=None, database=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate]
    )
    @given(inputs)
    def some(data: bytes) -> None:
        attempt(TARGETS[name], data, findings)

    some()
    assert findings.failures == {}
    assert findings.inputs >= 25


def _raises(problem: Exception) -> Callable[[bytes], None]:
    def read(data: bytes) -> None:
        raise problem

    return read


def _never_ends(data: bytes) -> None:
    while True:
        pass


@pytest.mark.parametrize(
    ("read", "place"),
    [
        (_raises(KeyError("x")), "KeyError at test_fuzz.py"),
        (_raises(InvalidPlan("")), "unclear InvalidPlan at test_fuzz.py"),
        (_never_ends, "Overdue at"),
        (_raises(InvalidPlan("expected a plan, found none")), ""),
    ],
)
def test_everything_but_one_clear_error_is_a_finding(
    read: Callable[[bytes], None], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "LONGEST_S", 0.3)
    findings = Findings()
    for data in (b"longer", b"short"):
        attempt(Target("plan", st.binary, read), data, findings)
    if not place:
        assert (findings.failures, findings.outcomes["refused"]) == ({}, 2)
        return
    ((found, (_, smallest)),) = findings.failures.items()
    assert found.startswith(place)
    assert smallest == b"short"


def test_a_fuzz_test_keeps_what_failed_and_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = []

    def read(data: bytes) -> None:
        ran.append(data)
        raise KeyError("missing")

    monkeypatch.setitem(TARGETS, "plan", Target("plan", lambda: st.just(b"bad"), read))
    monkeypatch.setattr(Findings.keep, "__defaults__", (tmp_path / "corpus",))
    config = FuzzConfig(target="plan", minutes=0.005, out=str(tmp_path / "out"))
    metrics = MEASUREMENT.run(config)
    (failure,) = metrics["targets"]["plan"]["failures"]
    assert (tmp_path / "corpus" / failure["input"]).read_bytes() == b"bad"
    assert metrics["failures"] == 1
    assert "KeyError at test_fuzz.py" in (tmp_path / "out" / "table.md").read_text()
    count = len(ran)
    assert json.loads((tmp_path / "out" / "metrics.json").read_text()) == MEASUREMENT.run(config)
    assert len(ran) == count, "a target that is done is kept"


def test_requests_that_once_failed_are_answered() -> None:
    with TestClient(create_app({"boxes": geometric()}), base_url=LOCAL) as http:
        for path in kept("server"):
            assert status_of(path.read_bytes(), http, opened(http, ["top(a, b)"]).rpartition("/")[2]) < 500
        session = opened(http, ["top(a, b)"]).rpartition("/")[2]
        sent = http.get(f"/v1/sessions/{session}").request
        sent.path_url, sent.body = sent.url.path, b""
        data = as_bytes(sent, session)
        assert b"{session}" in data
        assert status_of(data, http, session) == 200
        assert status_of(data, http, "another") == 404


def test_the_corpus_has_inputs() -> None:
    assert len(FAILED) >= 8
    assert {path.name for path in CORPUS.iterdir()} <= {*TARGETS, "server"}


def test_errors_are_short_and_hold_no_control_characters() -> None:
    said = str(InvalidPlan("expected a plan, found " + "x" * 100_000 + "; write one"))
    assert len(said) <= LONGEST_ERROR == 400
    assert said.startswith("expected a plan, found x")
    assert said.endswith("x; write one")
    assert str(InvalidPlan("found \x1b[31m\u202e\nmore")) == "found \\x1b[31m\\u202e\nmore"


def test_work_that_is_late_is_interrupted_whatever_it_catches() -> None:
    def work() -> None:
        with within(0.2), contextlib.suppress(Exception):
            time.sleep(30)

    with pytest.raises(Overdue, match=r"within 0\.2 s"):
        work()
    with within(0.05):
        pass
    time.sleep(0.1)  # nothing comes afterwards
