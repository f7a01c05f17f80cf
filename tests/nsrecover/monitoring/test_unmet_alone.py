"""A precondition that does not hold is a deviation, though every object is in its place."""

from nsrecover import Plan, geometric
from nsrecover.core.discrepancy import Verdict

SIZE = (0.05, 0.05, 0.05)


def test_an_unmet_precondition_alone_is_a_deviation() -> None:
    boxes = {"a": (0.5, 0.0, 0.025, *SIZE), "on it": (0.5, 0.0, 0.075, *SIZE), "b": (0.5, 0.2, 0.025, *SIZE)}
    found = geometric().monitor(Plan.parse("top(a, b)"), boxes).check(boxes)
    assert found.deviations == ()
    assert found.unmet
    assert found.verdict is Verdict.DEVIATING
    assert found.deviates
    assert not found.as_expected
