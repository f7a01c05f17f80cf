"""A box that is only remembered is no reason to end a plan as completed."""

import pytest

import nsrecover
from nsrecover import Act, Done, Plan, Stopped

SIDE = (0.04, 0.04, 0.04)
LOW, FREE, FAR = (0.45, 0.05, 0.02, *SIDE), (0.55, -0.1, 0.02, *SIDE), (0.35, 0.2, 0.02, *SIDE)
ON_LOW, ON_TOP = (0.45, 0.05, 0.06, *SIDE), (0.45, 0.05, 0.10, *SIDE)


def _ends(plan, start, seen, most=20):
    """The last request, and how many actions were done before it."""
    session, acted = nsrecover.geometric().session(Plan.parse(plan), start), 0
    while not session.request.final and most:
        acted, most = acted + isinstance(session.request, Act), most - 1
        session.observed(seen(acted))
    return session.request, acted


@pytest.mark.parametrize("off", [(0.47, 0.05), (0.45, 0.075), (0.43, 0.03)])
def test_an_object_that_was_misplaced_and_then_vanishes_is_not_accepted_where_it_was(off):
    misplaced = (*off, *ON_LOW[2:])
    start = {"white": LOW, "black": FREE}

    def seen(acted):
        return {"white": LOW, **({"black": misplaced} if acted < 2 else {})}

    last, _ = _ends("top(black, white)", start, seen)
    assert isinstance(last, Stopped)
    assert "black" in last.reason


@pytest.mark.parametrize("stranger", [True, False])
def test_a_support_in_whose_place_a_newcomer_is_seen_is_not_confirmed_by_what_it_bears(stranger):
    start = {"white": LOW, "black": FREE, "grey": FAR}

    def seen(acted):
        if acted < 2:
            return {"white": LOW, "black": ON_LOW, "grey": FAR}
        return {"white": LOW, "black": None, "grey": ON_TOP, **({"stranger": ON_LOW} if stranger else {})}

    last, acted = _ends("top(black, white); top(grey, black)", start, seen)
    assert acted >= 2
    assert isinstance(last, Done) is not stranger
    if stranger:
        assert "black" in last.reason
