"""How sure looks make a verdict on an object."""

import pytest

from nsrecover.belief.objects import MISREAD, OVERLOOKED, after_looks, evidence

GOOD, BAD = evidence(1.0), evidence(0.0)


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
