"""`python -m eval.panda_gym` on a few episodes of the real environment."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

pytest.importorskip("panda_gym")

from eval.metrics import summary
from eval.panda_gym import (
    MEASUREMENT,
    METRICS,
    Blamed,
    Disturbance,
    PandaGymConfig,
    StackingStep,
    can_begin,
    record,
    stacking,
)
from examples.panda_gym_stacking import boxes_of, turned_box


@pytest.fixture(scope="module")
def scout() -> Iterator[gymnasium.Env[Any, Any]]:
    env = stacking()
    yield env
    env.close()


def seeds(scout: gymnasium.Env[Any, Any], first: int) -> Iterator[int]:
    return (seed for seed in range(first, first + 50) if can_begin(scout, seed))


def test_the_scripted_hand_builds_the_tower(scout: gymnasium.Env[Any, Any]) -> None:
    recorded = record(next(seeds(scout, 0)), disturbed=False)
    assert recorded is not None
    assert [look.kind for look in recorded.looks] == [None, None]
    assert not any(look.wrong for look in recorded.looks)
    blue, green = (recorded.looks[-1].boxes[name] for name in ("blue cube", "green cube"))
    np.testing.assert_allclose(green[:3] - blue[:3], (0, 0, 0.04), atol=0.015)


def test_a_disturbance_counts_if_a_cube_is_out_of_place_and_the_same_seed_is_the_same_episode(
    scout: gymnasium.Env[Any, Any],
) -> None:
    seed, recorded = next(
        (seed, one) for seed in seeds(scout, 100) if (one := record(seed, disturbed=True)) is not None
    )
    assert recorded.looks[-1].kind is not None
    assert recorded.looks[-1].wrong
    again = record(seed, disturbed=True)
    assert again is not None
    assert again.looks[-1].kind is recorded.looks[-1].kind
    for name, box in recorded.looks[-1].boxes.items():
        np.testing.assert_array_equal(again.looks[-1].boxes[name], box)


def test_boxes_stand_around_turned_cubes(scout: gymnasium.Env[Any, Any]) -> None:
    straight = turned_box(np.array([0.1, 0.2, 0.02]), np.zeros(3))
    np.testing.assert_allclose(straight, (0.7, 0.2, 0.02, 0.04, 0.04, 0.04))
    yawed = turned_box(np.zeros(3), np.array([0.0, 0.0, np.pi / 4]))
    np.testing.assert_allclose(yawed[3:], (0.04 * np.sqrt(2), 0.04 * np.sqrt(2), 0.04))
    observation, info = scout.reset(seed=1)
    heights = {name: box[2] for name, box in boxes_of(observation, info).items()}
    assert heights == pytest.approx({"blue cube": 0.02, "green cube": 0.06}), "the task lets the green one fall"


def test_verdicts_are_counted_as_they_should_be() -> None:
    def look(kind: Disturbance | None, **off_m: float) -> StackingStep:
        return StackingStep({}, off_m, kind)

    none: frozenset[str] = frozenset()
    counts = summary(
        [
            Blamed(look(Disturbance.PUSHED, a=0.05, b=0.0), frozenset("a")),
            Blamed(look(Disturbance.DISPLACED, a=0.05, b=0.03), frozenset("a")),
            Blamed(look(Disturbance.DISPLACED, a=0.03, b=0.0), none),
            Blamed(look(None, a=0.01, b=0.0), none),
            Blamed(look(None, a=0.01, b=0.0), frozenset("b")),
            Blamed(look(None, a=0.04, b=0.0), frozenset("a")),
        ],
        METRICS,
    )
    shares = {key: (found["value"], found["of"]) for key, found in counts.items() if key != "by_kind"}
    assert shares == {
        "detection": (0.66667, 3), "culprits_exact": (0.33333, 3), "false_alarms": (0.5, 2), "own_failures": (1.0, 1),
    }  # fmt: skip
    assert (counts["by_kind"]["displaced"]["value"], counts["by_kind"]["displaced"]["of"]) == (0.5, 2)


def test_the_command_detects_disturbances(tmp_path: Path) -> None:
    config = PandaGymConfig(
        seed=9, disturbances=3, undisturbed=2, calibration=5, alpha=0.1, noise_mm=[1.0], out=str(tmp_path)
    )
    metrics = MEASUREMENT.run(config)
    assert metrics == json.loads((tmp_path / "metrics.json").read_text())
    assert list(metrics["settings"]) == ["2 cm, noise 1 mm", "calibrated, noise 1 mm"]
    for row in metrics["settings"].values():
        assert (row["detection"]["value"], row["detection"]["of"]) == (1.0, 3)
        assert row["false_alarms"]["of"] >= 4
    assert metrics["settings"]["2 cm, noise 1 mm"]["false_alarms"]["value"] == 0.0
    assert "of 3 |" in (tmp_path / "table.md").read_text()
