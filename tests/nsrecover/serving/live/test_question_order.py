"""The order of questions: exact, independent of names, and with a reason that is true."""

import math
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsrecover.serving.live.order import PATIENCE_S, Stake, costs, order, reason

STAKES = st.builds(
    Stake,
    st.one_of(st.integers(0, 20).map(float), st.floats(0.0, 50.0)),
    st.one_of(st.none(), st.integers(-2, 20).map(lambda k: 5.0 * k), st.floats(-10.0, 500.0)),
)
ANSWER_S = st.floats(1.0, 60.0)


def total(stakes: list[Stake], answer_s: float) -> float:
    """Cost of answering questions in an order."""
    return float(costs(stakes, answer_s).trace())


@given(st.lists(STAKES, max_size=6), ANSWER_S)
def test_no_permutation_costs_less(stakes: list[Stake], answer_s: float) -> None:
    names = {str(place): each for place, each in enumerate(stakes)}
    found = total([names[name] for name in order(names, answer_s)], answer_s)
    least = min(total(list(each), answer_s) for each in permutations(stakes))
    assert found == pytest.approx(least, rel=1e-8, abs=1e-9)


@given(st.lists(STAKES, min_size=1, max_size=8), ANSWER_S, st.randoms())
def test_names_and_the_sequence_in_which_questions_come_change_nothing(
    stakes: list[Stake], answer_s: float, random: object
) -> None:
    names = {f"robot {place}": each for place, each in enumerate(stakes)}
    shuffled = list(stakes)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    others = {f"{place} of others": each for place, each in enumerate(shuffled)}
    one, other = ([by[name] for name in order(by, answer_s)] for by in (names, others))
    assert one == other


@given(st.lists(STAKES, min_size=1, max_size=6), ANSWER_S, st.floats(0.1, 300.0))
def test_more_time_never_costs_more(stakes: list[Stake], answer_s: float, more_s: float) -> None:
    later = [Stake(each.actions, None if each.left_s is None else each.left_s + more_s) for each in stakes]
    least = [min(total(list(each), answer_s) for each in permutations(every)) for every in (stakes, later)]
    assert least[1] <= least[0] + 1e-9


@given(st.floats(0.1, 50.0), st.floats(0.0, 100.0), st.floats(0.1, 100.0), ANSWER_S)
def test_of_two_questions_with_the_same_stake_more_time_never_makes_one_more_urgent(
    actions: float, left_s: float, more_s: float, answer_s: float
) -> None:
    urgent, patient = Stake(actions, left_s), Stake(actions, left_s + more_s)
    first = order({"patient": patient, "urgent": urgent}, answer_s)[0]
    # one that cannot be in time any more does not hold up the other one
    assert first == "urgent" or left_s < answer_s


def test_what_would_come_too_late_goes_before_what_can_wait_and_what_comes_too_late_anyway_goes_last() -> None:
    questions = {"large": Stake(12.0), "soon": Stake(3.0, 15.0), "too late": Stake(9.0, 5.0), "later": Stake(3.0, 25.0)}
    assert order(questions, 10.0) == ["soon", "later", "large", "too late"]
    assert order({}, 10.0) == []


def test_a_lost_action_counts_like_one_that_waits_for_two_minutes() -> None:
    assert PATIENCE_S == 120.0
    found = costs([Stake(4.0), Stake(4.0, 15.0)], 10.0)
    assert found.tolist() == [[4 * 10 / PATIENCE_S, 4 * 20 / PATIENCE_S], [4 * 10 / PATIENCE_S, 4.0]]
    assert math.isinf(Stake(1.0).deadline_s)


SOON, DOZEN, ONE = Stake(3.0, 25.0), Stake(12.0), Stake(1.0)


@pytest.mark.parametrize(
    ("first", "others", "said"),
    [
        (DOZEN, [], "the only question; twelve actions"),
        (ONE, [ONE], "One action depends on it, as many as"),
        (DOZEN, [SOON], "Twelve actions depend on it, more than"),
        (
            Stake(2.0, 15.0),
            [Stake(3.0)],
            "this one comes too late, and two actions",
        ),
        (SOON, [SOON, DOZEN], "Its robot will not wait long, and three"),
        (
            Stake(2.0),
            [Stake(9.0, 5.0)],
            "Two actions depend on it, and questions with",
        ),
    ],
)
def test_the_reason_says_what_the_order_weighs(first: Stake, others: list[Stake], said: str) -> None:
    questions = {"first": first} | {f"other {place}": each for place, each in enumerate(others)}
    found = order(questions, 10.0)
    assert found[0] == "first"
    assert said in reason(questions, found, 10.0)
