"""Failure rates of operators, and when an action is hopeless."""

import pytest

from nsrecover.belief.rates import FailureRates, Rate, dead
from nsrecover.core.certainty import Certainty
from nsrecover.errors import InvalidConfiguration


def tries(rate: Rate) -> int:
    """After how many failures in a row an action is given up."""
    return next(n for n in range(1, 100) if dead(rate, n) > Certainty().hopeless)


def test_an_operator_that_was_not_tried_is_like_all_others() -> None:
    rates = FailureRates()
    for _ in range(30):
        rates.count("pick", 0.5, 0.5)
    assert 0.35 < rates.of("place").mean < 0.5
    for _ in range(30):
        rates.count("place", 0.0, 1.0)
    assert rates.of("place").mean < 0.15 < rates.of("pick").mean


def test_a_robot_that_fails_often_may_try_more_often() -> None:
    rates = FailureRates()
    assert tries(rates.of("pick")) == 4
    for number in range(40):
        rates.count("pick", number % 10 < 3, number % 10 >= 3)
    assert tries(rates.of("pick")) in (5, 6)


@pytest.mark.parametrize("wrong", [{"done": 0.0}, {"alarm": 0.7}, {"looks": 0}, {"hopeless": 1.0}])
def test_a_certainty_out_of_range_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidConfiguration, match=f"expected {next(iter(wrong))}"):
        Certainty(**wrong)  # type: ignore[arg-type]
