"""Findings about sensors."""

from nsrecover.core.sensing import ADVICE, SensorFinding, SensorProblem


def test_every_problem_has_advice() -> None:
    assert set(ADVICE) == set(SensorProblem)


def test_a_finding_names_the_camera_and_says_what_to_do() -> None:
    text = str(SensorFinding(SensorProblem.NO_DEPTH, "left", "12 depth readings"))
    assert text == f"left: 12 depth readings; {ADVICE[SensorProblem.NO_DEPTH]}"
    assert not str(SensorFinding(SensorProblem.DEPTH_UNIT, "", "depth in millimetres")).startswith(":")
