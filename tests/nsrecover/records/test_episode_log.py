"""Episode logs are read as they were written, and other files are refused."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nsrecover.agent import RecoveryAgent
from nsrecover.core import Cause, Episode, EpisodeStatus, SensorFinding, SensorProblem, Unseen, UnseenReason, Visibility
from nsrecover.errors import InvalidConfiguration, InvalidRecording
from nsrecover.explanation import facts_of
from nsrecover.explanation.answers.episodes import report_of_episode
from nsrecover.loading import load, symbolic
from nsrecover.records import episode_log
from nsrecover.records.recording import example
from nsrecover.records.review import review
from tests.nsrecover.kitchen_facts import HOME, WATER, WATERED, WINE, FactWorld, after


@pytest.fixture(scope="module")
def reviewed() -> Episode:
    recording = example()
    return review(load(), recording)


def test_what_is_written_is_read_back(reviewed: Episode, tmp_path: Path) -> None:
    path = tmp_path / "new" / "episode.json"
    episode_log.save(reviewed, path)
    back = episode_log.load(path)
    assert episode_log.to_document(back) == episode_log.to_document(reviewed)
    assert [r.time_s for r in back.records] == pytest.approx([r.time_s for r in reviewed.records], abs=1e-5)
    for old, new in zip(reviewed.records, back.records, strict=True):
        np.testing.assert_allclose(new.graph.boxes, old.graph.boxes, atol=1e-5)
        assert facts_of(new.discrepancy, new.recovery) == facts_of(old.discrepancy, old.recovery)
        assert (new.explanation and new.explanation.text) == (old.explanation and old.explanation.text)
    assert {c.cause for c in back.records[-1].discrepancy.deviations} >= {Cause.TOPPLED, Cause.DROPPED}
    assert back.status is EpisodeStatus.REVIEWED


def test_what_was_not_seen_is_kept(reviewed: Episode) -> None:
    first = reviewed.records[0]
    doubted = first.graph.doubted(first.graph.names[:1])
    unseen = Unseen(first.graph.names[0], UnseenReason.NO_MASK, moved=True)
    finding = SensorFinding(SensorProblem.NO_DEPTH, "left", "0 depth readings")
    found = replace(
        first.discrepancy,
        observed=doubted,
        unseen=(unseen,),
        missing_to_tell=(unseen, finding),
        sensors=(finding,),
        newcomers=("hand",),
        looks=3,
    )
    episode = replace(reviewed, records=(replace(first, graph=doubted, discrepancy=found),))
    document = json.loads(json.dumps(episode_log.to_document(episode)))
    (record,) = episode_log.from_document(document).records
    assert record.graph.visibility(0) is Visibility.UNKNOWN
    for name in ("unseen", "missing_to_tell", "sensors", "newcomers", "looks", "verdict"):
        assert getattr(record.discrepancy, name) == getattr(found, name)
    assert record.graph is record.discrepancy.observed


def test_an_episode_of_facts_is_read_back_with_its_words() -> None:
    episode = RecoveryAgent(symbolic(HOME, WATERED), FactWorld(hook=after(1, WINE))).run(WATER)
    document = json.loads(json.dumps(episode_log.to_document(episode, HOME.domain)))
    back, words = episode_log.from_document(document), episode_log.domain_of(document)
    assert back.start == episode.start
    assert episode_log.to_document(back, words) == document
    found, was = back.records[0].discrepancy, episode.records[0].discrepancy
    assert (found.observed, found.deviations) == (was.observed, was.deviations)
    assert report_of_episode(back, domain=words) == report_of_episode(episode, domain=HOME.domain)
    with pytest.raises(InvalidConfiguration, match="pass domain="):
        episode_log.to_document(episode)
    with pytest.raises(InvalidRecording, match="words of a domain"):
        episode_log.domain_of(document | {"domain": {"name": "home", "relations": {"at": "nearby"}}})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"format": "something"}, "something else"),
        ({"schema": 99}, "schema 99"),
        ({"records": [{}]}, "whole log"),
        ({"status": "asleep"}, "asleep"),
    ],
)
def test_what_is_no_log_is_refused(reviewed: Episode, change: dict[str, object], told: str, tmp_path: Path) -> None:
    path = tmp_path / "episode.json"
    path.write_text(json.dumps({**episode_log.to_document(reviewed), **change}))
    with pytest.raises(InvalidRecording, match=told):
        episode_log.load(path)


def test_a_file_that_is_not_there_or_no_json_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidRecording, match=r"nowhere\.json"):
        episode_log.load(tmp_path / "nowhere.json")
    (tmp_path / "half.json").write_text('{"format": ')
    with pytest.raises(InvalidRecording, match=r"half\.json"):
        episode_log.load(tmp_path / "half.json")


def _later(document: Any, key: str, value: Any) -> None:
    """Change the second record."""
    document["records"][1][key] = value


def test_fields_that_are_written_no_more_are_left_out(reviewed: Episode, tmp_path: Path) -> None:
    document = json.loads(json.dumps(episode_log.to_document(reviewed)))
    document["records"][-1]["discrepancy"]["cause"] = []
    (tmp_path / "old.json").write_text(json.dumps(document))
    assert episode_log.load(tmp_path / "old.json").records[-1].discrepancy is not None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d["records"].reverse(), "expected a time after"),
        (lambda d: _later(d, "time_s", d["start_s"] - 1), "expected a time after"),
        (lambda d: [each.update(time_s=0) for each in d["records"]] and d.update(start_s=0), ""),
        (lambda d: [each.update(time_s=d["start_s"]) for each in d["records"]] and d["records"].reverse(), "step"),
        (lambda d: d["records"].pop(1), "expected step 1 after step 0, found step 2"),
        (lambda d: d["records"].insert(0, d["records"][0]), "expected step 1 after step 0, found step 0"),
        (lambda d: _later(d, "action", d["records"][0]["action"]), "expected the action that was judged"),
        (lambda d: d["records"][1]["discrepancy"].update(step=9), "expected a step of the plan"),
        (lambda d: d["records"][1]["discrepancy"].update(step=-1), "expected a step of the plan"),
        (lambda d: d["records"][1]["discrepancy"]["action"].update(operator="free"), "step 1 of the plan"),
        (lambda d: d["records"][1]["plan"]["actions"][0].update(arguments=["a ghost", "blue cube"]), "'a ghost'"),
        (lambda d: d["records"][-1]["discrepancy"]["deviations"][0].update(name="a ghost"), "'a ghost'"),
        (lambda d: d["records"][-1]["discrepancy"].update(verdict="as_expected"), "found 'verdict'"),
        (lambda d: d["records"][0].update(graph=99), "found 99"),
        (lambda d: d["records"][-1]["discrepancy"]["probabilities"].pop(), "probability for each object"),
        (lambda d: d["records"][-1]["discrepancy"]["probabilities"].__setitem__(0, 7), "from 0 to 1"),
        (lambda d: d["records"][-1]["recovery"].update(subgoal=99), "found 99"),
        (lambda d: d["records"][-1]["recovery"].update(subgoal=None), "found recovered"),
        (lambda d: d["records"][-1]["recovery"]["graphs"].pop(), "after each of"),
        (lambda d: d["records"][-1]["recovery"]["actions"][0].update(arguments=["a ghost"]), "'a ghost'"),
        (lambda d: d["records"][-1]["explanation"].update(step=1), "explanation of step"),
        (lambda d: d.update(reason="it stopped"), "if and only if help was asked for"),
        (lambda d: d.update(status="asked_for_help"), "if and only if help was asked for"),
    ],
)
def test_logs_whose_parts_contradict_each_other_are_refused(
    reviewed: Episode, change: Callable[[Any], object], said: str, tmp_path: Path
) -> None:
    document = json.loads(json.dumps(episode_log.to_document(reviewed)))
    change(document)
    path = tmp_path / "episode.json"
    path.write_text(json.dumps(document))
    if not said:
        assert len(episode_log.load(path).records) == len(reviewed.records)
        return
    with pytest.raises(InvalidRecording, match=re.escape(said)) as refused:
        episode_log.load(path)
    assert str(path) in str(refused.value)
