"""Answers to whether preconditions hold are judged by the true poses; both answers are among the questions."""

from pathlib import Path

from eval.preconditions import MEASUREMENT, RIGHT, Asked, PreconditionsConfig


def test_answers_are_judged_by_the_true_poses(tmp_path: Path) -> None:
    found = MEASUREMENT.run(
        PreconditionsConfig(
            episodes={"II": 4}, sensors=["clean"], workers=1, errors=str(tmp_path / "errors"), out=str(tmp_path / "out")
        )
    )["sensors"]["clean"]
    assert found["all"]["of"] == found["preconditions hold"]["of"] + found["preconditions do not hold"]["of"]
    assert found["preconditions do not hold"]["of"] > 0
    assert found["all"]["value"] > 0.9


def test_the_share_of_right_answers() -> None:
    asked = [Asked("clean", "I", number, "error", True, said) for number, said in ((0, True), (0, False), (1, True))]
    assert RIGHT.of(asked)["value"] == round(2 / 3, 5)
    assert RIGHT.of([])["value"] is None
