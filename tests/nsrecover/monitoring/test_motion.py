"""Phases of actions, from frames made up here: the tool goes to an object, carries it to its place, and goes home."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nsrecover.core.glances import Glance
from nsrecover.errors import InvalidCheckpoint, InvalidRecording
from nsrecover.monitoring.motion import FILE, MotionModel, fit_motions

PARTS = ("approach", "grasp", "lift", "carry", "lower", "release", "retreat")
FAR_M = 0.3


def action(rng: np.random.Generator, lost_at: int | None = None) -> list[Glance]:
    """The frames of an action; from frame `lost_at` on the object lies on the table halfway, and the hand is empty."""
    frames = []
    for number, part in enumerate(np.repeat(PARTS, 2)):
        share = {"approach": 0.0, "grasp": 0.0, "lift": 0.0, "carry": 0.5}.get(part, 1.0)
        up = {"approach": 0.3, "grasp": 0.0, "lift": 0.1, "carry": 0.15, "lower": 0.02, "release": 0.0}.get(part, 0.3)
        held = part in ("lift", "carry", "lower")
        place = 0 if part in ("approach", "grasp") else 1 if held else 2
        beyond = np.array([share * FAR_M + 0.1 * held, 0.0 if held else 0.2, (1 - share) * FAR_M + 0.1 * held])
        beyond[place] = 0.0
        lost = lost_at is not None and number >= lost_at
        opening = 0.08 if part in ("approach", "release", "retreat") else 0.0 if lost else 0.04
        noise = rng.normal(0, 0.002, 8)
        to_start, to_goal = np.array([share * FAR_M, up]) + noise[1:3], np.array([(1 - share) * FAR_M, up]) + noise[3:5]
        away = np.abs((np.full(3, 0.15) if lost else beyond) + noise[5:8])
        others, unseen = np.abs(noise[:2]), np.zeros(3)
        frames.append(
            Glance(0.2 * number, opening + noise[0] / 4, to_start, to_goal, 0.04, away, unseen, others, unseen[:2])
        )
    return frames


@pytest.fixture(scope="module")
def model() -> MotionModel:
    rng = np.random.default_rng(3)
    return fit_motions([action(rng) for _ in range(40)]).calibrated([action(rng) for _ in range(40)], 0.05)


def test_good_actions_pass_and_a_drop_does_not(model: MotionModel) -> None:
    rng = np.random.default_rng(4)
    interrupted = sum(model.score(action(rng)) > model.threshold for _ in range(100))
    assert interrupted <= 15
    assert all(model.score(action(rng, lost_at)) > model.threshold for lost_at in range(5, 10))


def test_a_drop_is_known_two_frames_later(model: MotionModel) -> None:
    frames = action(np.random.default_rng(5), lost_at=6)
    assert model.score(frames[:6]) <= model.threshold < model.score(frames[:8])


def test_one_wrong_frame_is_not_enough(model: MotionModel) -> None:
    frames = action(np.random.default_rng(6))
    wrong = replace(frames[6], beyond_m=np.full(3, 0.3))
    assert model.score([*frames[:6], wrong, *frames[7:]]) < 2 < model.score([*frames[:6], wrong, wrong, *frames[8:]])


def test_another_object_that_moves_is_named(model: MotionModel) -> None:
    logs, frames = None, action(np.random.default_rng(7))
    for number, frame in enumerate(frames):
        seen = replace(frame, others_m=np.array([0.001, 0.08])) if number > 6 else frame
        logs, judged = model.judge(logs, seen)
        assert (judged.score > model.threshold and judged.other == 1) == (number > 6)


def test_an_object_that_is_not_seen_is_not_missed_unless_its_place_is_empty(model: MotionModel) -> None:
    frames = action(np.random.default_rng(8))
    hidden = [replace(frame, beyond_m=np.full(3, np.nan)) for frame in frames]
    gone = [replace(frame, empty=np.ones(3)) for frame in hidden]
    assert model.score(hidden) <= model.threshold < model.score(gone)


def test_a_model_is_the_same_when_it_is_read_again(model: MotionModel, tmp_path: Path) -> None:
    model.save(tmp_path)
    frames = action(np.random.default_rng(9), lost_at=7)
    assert MotionModel.load(tmp_path).score(frames) == model.score(frames)
    (tmp_path / FILE).write_text("{}")
    with pytest.raises(InvalidCheckpoint, match=r"train\.motions"):
        MotionModel.load(tmp_path)


def test_too_few_actions_are_refused(model: MotionModel) -> None:
    rng = np.random.default_rng(10)
    with pytest.raises(InvalidRecording, match="at least 99"):
        model.calibrated([action(rng)] * 98, 0.01)
    with pytest.raises(InvalidRecording, match="at least 7"):
        fit_motions([action(rng)])
