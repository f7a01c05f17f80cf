"""Limits of what is seen during actions, from frames made up here: an object is taken, carried and let go."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nsrecover.core.glances import PHASES, Glance
from nsrecover.errors import InvalidCheckpoint, InvalidRecording
from nsrecover.monitoring.motion import FILE, MotionModel, fit_motions


def action(rng: np.random.Generator, lost_at: int | None = None) -> list[Glance]:
    """The frames of an action; from frame `lost_at` on the object lies elsewhere, and the hand is empty."""
    frames = []
    for number, phase in enumerate(np.repeat(PHASES, 5)):
        lost = lost_at is not None and number >= lost_at
        slack, away = np.abs(rng.normal(0, 0.002, 2))
        slack = 0.0 if phase != PHASES[1] else -0.04 if lost else slack / 4
        others = np.abs(rng.normal(0, 0.002, 2))
        frames.append(Glance(0.1 * number, str(phase), slack, 0.15 if lost else away, 0.1, others, np.zeros(2)))
    return frames


@pytest.fixture(scope="module")
def model() -> MotionModel:
    rng = np.random.default_rng(3)
    return fit_motions([action(rng) for _ in range(40)]).calibrated([action(rng) for _ in range(40)], 0.05)


def test_good_actions_pass_and_a_drop_is_known_two_frames_later(model: MotionModel) -> None:
    rng = np.random.default_rng(4)
    assert sum(model.score(action(rng)) > model.threshold for _ in range(100)) <= 15
    frames = action(np.random.default_rng(5), lost_at=6)
    assert model.score(frames[:7]) <= model.threshold < model.score(frames[:8])


def test_one_wrong_frame_is_not_enough(model: MotionModel) -> None:
    frames = action(np.random.default_rng(6))
    wrong = replace(frames[6], beyond_m=0.3)
    assert model.score([*frames[:6], wrong, *frames[7:]]) < 2 < model.score([*frames[:6], wrong, wrong, *frames[8:]])


def test_fingers_that_close_on_nothing_deviate_while_the_object_is_hidden(model: MotionModel) -> None:
    frames = action(np.random.default_rng(7))
    empty = [replace(frame, beyond_m=np.nan, slack_m=-0.01) for frame in frames[6:8]]
    assert model.score(empty) > model.threshold


def test_another_object_that_moves_is_named(model: MotionModel) -> None:
    frame = action(np.random.default_rng(8))[7]
    judged = model.judge(replace(frame, others_m=np.array([0.001, 0.08])))
    assert judged.score > model.threshold
    assert judged.other == 1
    assert model.judge(replace(frame, beyond_m=0.08)).other == -1


def test_an_object_that_is_not_seen_is_not_missed_unless_its_place_is_empty(model: MotionModel) -> None:
    hidden = [replace(frame, beyond_m=np.nan) for frame in action(np.random.default_rng(9))]
    assert model.score(hidden) <= model.threshold < model.score([replace(frame, empty=1.0) for frame in hidden])


def test_a_model_is_the_same_when_it_is_read_again(model: MotionModel, tmp_path: Path) -> None:
    model.save(tmp_path)
    assert MotionModel.load(tmp_path) == model
    for damaged in ("{}", "[1]", (tmp_path / FILE).read_text().replace("hand_m", "hand")):
        (tmp_path / FILE).write_text(damaged)
        with pytest.raises(InvalidCheckpoint, match=r"train\.motions"):
            MotionModel.load(tmp_path)


def test_too_few_actions_are_refused(model: MotionModel) -> None:
    rng = np.random.default_rng(10)
    with pytest.raises(InvalidRecording, match="at least 99"):
        model.calibrated([action(rng)] * 98, 0.01)
    with pytest.raises(InvalidRecording, match="let go"):
        fit_motions([action(rng)[:10]])
