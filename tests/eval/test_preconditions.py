"""Answers to whether preconditions hold are judged by the true poses; both answers are among the questions."""

from pathlib import Path

from eval.preconditions import MEASUREMENT, PreconditionsConfig


def test_answers_are_judged_by_the_true_poses(tmp_path: Path) -> None:
    found = MEASUREMENT.run(
        PreconditionsConfig(
            episodes={"II": 5}, sensors=["clean"], workers=1, errors=str(tmp_path / "errors"), out=str(tmp_path / "out")
        )
    )["sensors"]["clean"]
    assert found["all"]["of"] == found["preconditions hold"]["of"] + found["preconditions do not hold"]["of"]
    assert found["preconditions do not hold"]["of"] > 0
    assert found["all"]["value"] > 0.9
