"""How sure looks make a verdict on an object."""

import pytest

from nsrecover.belief.objects import MISREAD, OVERLOOKED, after_looks, changed, evidence
from nsrecover.core.certainty import CERTAINTY

GOOD, BAD = evidence(1.0), evidence(0.0)


def test_one_look_settles_an_ordinary_verdict_and_two_settle_that_a_plan_is_done() -> None:
    moved = changed(moved=True)
    assert CERTAINTY.done < after_looks(moved, [GOOD]) < CERTAINTY.alarm
    assert after_looks(moved, [GOOD, GOOD]) < CERTAINTY.done
    assert after_looks(changed(), [GOOD]) < CERTAINTY.done, "what no action has moved"


@pytest.mark.parametrize("moved", [True, False])
def test_an_alarm_takes_two_looks_and_one_that_is_contradicted_more(moved: bool) -> None:
    before, sure = changed(moved=moved), 1.0 - CERTAINTY.alarm
    assert CERTAINTY.alarm < after_looks(before, [BAD]) < sure < after_looks(before, [BAD, BAD])
    assert CERTAINTY.alarm < after_looks(before, [BAD, GOOD])
    assert after_looks(before, [BAD, GOOD, GOOD]) < CERTAINTY.alarm


def test_looks_at_one_scene_tell_less_than_independent_ones() -> None:
    assert after_looks(0.1, [GOOD, GOOD]) > after_looks(after_looks(0.1, [GOOD]), [GOOD])
    assert after_looks(0.1, []) == pytest.approx(0.1)


def test_an_object_that_was_overlooked_is_weaker_evidence_than_one_that_is_seen_elsewhere() -> None:
    assert BAD < evidence(0.0, misread=OVERLOOKED) < 0 < GOOD == pytest.approx(-BAD)
    assert OVERLOOKED > MISREAD


@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.9])
def test_a_look_says_nothing_at_the_threshold(threshold: float) -> None:
    assert evidence(threshold, threshold) == pytest.approx(0.0, abs=1e-9)
    assert evidence(threshold + 0.05, threshold) > 0 > evidence(threshold - 0.05, threshold)
