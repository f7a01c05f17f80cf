from nsrecover.core.actions import Plan
from nsrecover.planning.order import recovery_order

NAMES = ("a", "b", "c", "d")


def ranked(text: str) -> list[str]:
    order = recovery_order(NAMES, Plan.parse(text))
    assert sorted(order.values()) == list(range(len(NAMES)))
    return sorted(order, key=lambda name: order[name])


def test_what_others_stand_on_comes_first() -> None:
    assert ranked("top(a, b); top(c, a)") == ["b", "a", "c", "d"]


def test_moving_again_takes_back_the_earlier_placement() -> None:
    assert ranked("top(a, b); free(a); top(b, a)") == ["a", "b", "c", "d"]
