"""Logs of a packing station and a garden, each in a domain of its own."""

import json
from pathlib import Path
from typing import Any

import pytest

from nsrecover.domains import scene_of
from nsrecover.logs import explain_log, log_of, report_of
from tests.nsrecover.logs.own_domains import DOMAINS

LOGS: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("own_domains.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", LOGS)
def test_the_right_step_and_no_word_lost(name: str) -> None:
    given = LOGS[name]
    truth = given["truth"]
    log = log_of(given, scene=scene_of(DOMAINS[given["domain"]], given["objects"]))
    report = report_of(log, explain_log(log))
    assert report["steps"][:1] == [] if not truth["steps"] else report["steps"][0] in truth["steps"]
    assert truth["thing"] is None or truth["thing"] in report["objects"]
    assert all(any(repr(word) in line for line in report["unread"]) for word in truth["unknown"])
    assert bool(report["unread"]) == bool(truth["unknown"])
    assert report["correction"] is not None
    assert report["text_agrees"]
