"""Random input: what ever failed is read again, and the fuzz test notices what is wrong."""

import json
import os
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from eval.checks.fuzz import reading
from eval.checks.fuzz.__main__ import MEASUREMENT, FuzzConfig, attack
from eval.checks.fuzz.reading import CORPUS, Findings, Reader, outcome_of
from eval.checks.fuzz.targets import TARGETS, Target
from nsrecover.errors import LONGEST_ERROR, InvalidPlan

FAILED = [(name, path) for name in TARGETS for path in sorted((CORPUS / name).glob("*"))]


@pytest.mark.parametrize(("name", "path"), FAILED, ids=[f"{name} {path.name}" for name, path in FAILED])
def test_inputs_that_once_failed_are_read_or_refused_with_one_error(name: str, path: Path) -> None:
    outcome = outcome_of(TARGETS[name], path.read_bytes())
    assert not outcome.failed, outcome


@pytest.mark.parametrize("name", TARGETS)
def test_random_input_is_read_or_refused_with_one_error(name: str) -> None:
    findings = attack(TARGETS[name], 25, 11)
    assert findings.failures == {}
    assert findings.outcomes.total() >= 25


def _raises(problem: Exception) -> Callable[[Path], None]:
    def read(path: Path) -> None:
        raise problem

    return read


def _never_ends(path: Path) -> None:
    while True:
        pass


def _hangs(path: Path) -> None:
    """What no signal but SIGKILL ends, as a loop in C."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    time.sleep(1000)


def _plan(read: Callable[[Path], object]) -> Target:
    return Target("plan", lambda: [b"bad"], lambda examples: st.just(examples[0]), read)


@pytest.mark.parametrize(
    ("read", "place"),
    [
        (_raises(KeyError("x")), "KeyError at test_fuzz.py"),
        (_raises(InvalidPlan("")), "unclear InvalidPlan at test_fuzz.py"),
        (_never_ends, "Overdue at"),
        (lambda path: bytearray(b"x" * 40_000_000), "too much"),
        (_hangs, "hangs"),
        (lambda path: os._exit(1), "crashes"),
        (_raises(InvalidPlan("expected a plan, found none")), ""),
    ],
)
def test_everything_but_one_clear_error_is_a_finding(
    read: Callable[[Path], None], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LONGEST_S", 0.3)
    monkeypatch.setattr(reading, "MOST_MB", 30.0)
    monkeypatch.setattr(reading, "HANGS_S", 0.5 if place == "hangs" else 60.0)
    findings = Findings()
    with closing(Reader(_plan(read))) as apart:
        for data in (b"longer", b"short"):
            findings.take(apart.read(data), data)
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

    def change(examples: Sequence[bytes]) -> SearchStrategy[bytes]:
        ran.append(examples)
        return st.just(examples[0])

    monkeypatch.setitem(TARGETS, "plan", replace(_plan(_raises(KeyError("missing"))), change=change))
    monkeypatch.setattr(Findings.keep, "__defaults__", (tmp_path / "corpus",))
    config = FuzzConfig(target="plan", inputs=2, workers=1, out=str(tmp_path / "out"))
    metrics = MEASUREMENT.run(config)
    (failure,) = metrics["targets"]["plan"]["failures"]
    assert (tmp_path / "corpus" / failure["input"]).read_bytes() == b"bad"
    assert metrics["failures"] == 1
    assert "KeyError at test_fuzz.py" in (tmp_path / "out" / "table.md").read_text()
    count = len(ran)
    assert json.loads((tmp_path / "out" / "metrics.json").read_text()) == MEASUREMENT.run(config)
    assert len(ran) == count, "a target that is done is kept"


def test_errors_are_short_and_hold_no_control_characters() -> None:
    said = str(InvalidPlan("expected a plan, found " + "x" * 100_000 + "; write one"))
    assert len(said) <= LONGEST_ERROR == 400
    assert said.startswith("expected a plan, found x")
    assert said.endswith("x; write one")
    assert str(InvalidPlan("found \x1b[31m\u202e\nmore")) == "found \\x1b[31m\\u202e\nmore"
