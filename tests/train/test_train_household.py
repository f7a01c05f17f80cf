"""The checkpoint of a household from demonstrations: signs of sounds, durations, and a whole training in small."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nsrecover
from nsrecover.domains.household import HOUSEHOLD
from nsrecover.errors import InvalidConfiguration
from nsrecover.perception.sounds import Hearing, SoundHeard
from nsrecover.records.archive import write_archive
from tests.train.test_train_states import demonstration
from train.household import Lesson, TrainHouseholdConfig, file_of, signs, train

OFF, ON = frozenset[tuple[str, ...]](), frozenset({("running", "faucet")})


def heard(*labels: str) -> Hearing:
    return Hearing(tuple(SoundHeard(label, 0.9, 1.0, 5.0) for label in labels), True, 0.0, 5.0)


def lesson(held_out: bool = False) -> Lesson:
    actions = (("toggle_on", "faucet"), ("toggle_off", "faucet"))
    hearings = (heard("running_water", "arm_motor"), heard("arm_motor"))
    return Lesson(held_out, actions, (4.0, 2.0), (OFF, ON, OFF), hearings, ("faucet",))


def test_a_sign_is_heard_if_something_runs_and_not_otherwise() -> None:
    (found,) = signs([lesson() for _ in range(12)])
    assert (found.label, found.variable, found.kind) == ("running_water", "running", "faucet")
    assert found.if_so > 0.9 > 0.1 > found.if_not


def test_a_file_that_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration, match="file of household demonstrations"):
        file_of(tmp_path)
    with pytest.raises(InvalidConfiguration, match="demos as a file or folder"):
        train(TrainHouseholdConfig(demos=3))
    with pytest.raises(InvalidConfiguration, match="domain=household"):
        train(TrainHouseholdConfig(domain="tabletop"))


def test_a_whole_training_gives_a_checkpoint_that_loads(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    recordings = []
    for number in range(15):
        made = demonstration(number)
        noise = [0.001 * rng.normal(size=16_000).astype(np.float32) for _ in made.observations]
        seen = tuple(
            replace(each, audio=audio, audio_rate_hz=16_000, time_s=float(i))
            for i, (each, audio) in enumerate(zip(made.observations, noise, strict=True))
        )
        notes = {**made.notes, "goal": [["filled", "mug", "water"]]}
        recordings.append(replace(made, observations=seen, notes=notes))
    write_archive(tmp_path / "demonstrations.h5", recordings)
    found = train(TrainHouseholdConfig(demos=str(tmp_path), out=str(tmp_path / "out"), steps=10, batch=16))
    assert found["held_out"]["episodes"] == 3
    models = nsrecover.load(tmp_path / "out", domain=HOUSEHOLD).models
    assert models.config.durations["pour"] == 1.0
    assert set(models.states.config.variables) == {"running", "filled"}
