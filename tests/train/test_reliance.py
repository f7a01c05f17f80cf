"""How far readings of states are relied on, and how alike their errors are."""

import numpy as np
import pytest

from nsrecover.models.states import relied_on
from nsrecover.perception.states import Alike
from train.reliance import SeenState, alike, correlations, fitted


def readings(right: float, claimed: float, objects: int = 40, alike_by_object: bool = False) -> list[SeenState]:
    """Readings of doors by a reader that is right and claims to be right in some share; twice for each door."""
    rng = np.random.default_rng(1)
    found = []
    for number in range(objects):
        true = ("closed", "open")[number % 2]
        wrongs = rng.uniform(size=2) > right
        for place, wrong in enumerate([wrongs[0]] * 2 if alike_by_object else wrongs):
            read = {"closed": "open", "open": "closed"}[true] if wrong else true
            other = {"closed": "open", "open": "closed"}[read]
            chances = {value: claimed if value == read else 1 - claimed for value in sorted((read, other))}
            found.append(SeenState(str(number), "fridge", "open", true, chances, 1000.0, (0.1 * place, 0.0, 0.0)))
    return found


@pytest.mark.parametrize("right", [0.55, 0.75, 0.9])
def test_readings_are_relied_on_as_often_as_they_are_right(right: float) -> None:
    found = readings(right, 0.95, objects=400)
    true = np.mean([each.right for each in found])
    factor, shift = fitted(found)[found[0].size]
    assert relied_on(np.array([0.05, 0.95]), factor, shift)[1] == pytest.approx(true, abs=0.04)


def test_a_class_of_which_nothing_was_seen_is_as_all_are() -> None:
    every = fitted(readings(0.75, 0.95))
    assert every[0] == every[1] == every[3]


def test_errors_that_come_together_are_alike() -> None:
    together = correlations(readings(0.75, 0.9, 400, alike_by_object=True))
    apart = correlations(readings(0.75, 0.9, 400))
    assert together[1]["pairs"] == apart[1]["pairs"] == 400
    assert together[1]["correlation"] > 0.9 > 0.2 > apart[1]["correlation"]


def test_the_curve_goes_through_what_was_measured_and_few_objects_hardly_count() -> None:
    limits = (0.0, 0.15, 0.3, 0.6, 1.0, 1.6, 10.0)
    found = [
        {"to_m": limit, "pairs": 999, "expected": 999.0, "correlation": 0.9 if limit < 0.2 else 0.0} for limit in limits
    ]
    many, few = alike(found, 1000), alike(found, 1)
    assert many.here > 0.8 > 0.1 > many.elsewhere
    assert abs(few.here - Alike().here) < abs(many.here - Alike().here)
    assert abs(few.elsewhere - Alike().elsewhere) < 0.1
