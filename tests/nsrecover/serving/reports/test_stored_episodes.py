"""Reports of what is on disk: logs, recordings of boxes, recordings with images and sound, and files of other kinds."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nsrecover.core.actions import Plan
from nsrecover.records import episode_log
from nsrecover.records.recording import Recording, example, save
from nsrecover.serving.reports.build import report_of
from nsrecover.serving.reports.episodes import report_at
from nsrecover.serving.reports.model import MarkedAs
from tests.nsrecover.explanation.made_episodes import fallen
from tests.nsrecover.kitchen_facts import HOME, WINE, FactWorld, after
from tests.nsrecover.onboarding.box_runs import write_runs
from tests.nsrecover.serving.reports.shown_reports import carried_out


def test_a_log_has_the_same_report_as_its_episode_without_photographs(tmp_path: Path) -> None:
    episode_log.save(fallen(), tmp_path / "watched.json")
    report = report_at(str(tmp_path / "watched.json"))
    assert report.title == "Episode watched"
    assert [step.kind for step in report.steps] == [MarkedAs.OK, MarkedAs.ERROR, MarkedAs.OK, MarkedAs.OK, MarkedAs.OK]
    assert report.shown == 1
    assert not report.images
    assert "There are no photographs" in report.notes[0]
    assert "at 00:24 of the run" in report.answers[1].lines[0].text


def test_a_log_of_facts_needs_no_domain_besides(tmp_path: Path) -> None:
    episode = carried_out(FactWorld(hook=after(1, WINE)))
    episode_log.save(episode, tmp_path / "wine.json", HOME.domain)
    told, own = report_at(str(tmp_path / "wine.json")), report_of(episode, "Wine", domain=HOME.domain)
    assert (told.answers, told.way) == (own.answers, own.way)
    assert [(step.kind, step.lines, step.rows, step.scenes) for step in told.steps] == [
        (step.kind, step.lines, step.rows, step.scenes) for step in own.steps
    ]
    assert "D, the expected number of wrong objects" not in dict(told.steps[0].numbers)


def test_boxes_have_no_clock(tmp_path: Path) -> None:
    (file,) = write_runs(tmp_path, 1).glob("*.json")
    report = report_at(str(file))
    assert {step.kind for step in report.steps} == {MarkedAs.OK}
    assert report.outcome == "recording"
    assert not any("of the run" in line.text for answer in report.answers for line in answer.lines)


def test_a_recording_brings_its_photographs_and_its_sound(tmp_path: Path) -> None:
    run = example()
    heard = tuple(
        replace(seen, audio=np.full(800 * (i + 1), 0.1, np.float32), audio_rate_hz=8000)
        for i, seen in enumerate(run.observations[-3:])
    )
    save(Recording(Plan(run.plan.actions[-2:]), heard), tmp_path / "run.npz")
    report = report_at(str(tmp_path / "run.npz"))
    assert len(report.images) == 3
    assert [len(step.pictures) for step in report.steps] == [2, 2]
    assert [step.sound.seconds for step in report.steps if step.sound] == pytest.approx([0.2, 0.3])
    assert [step.kind for step in report.steps] == [MarkedAs.OK, MarkedAs.ERROR]
    assert report.notes == ()
