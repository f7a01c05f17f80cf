"""The household domain with what people do not say: things have to fit, to stand heat, and machines have to be idle."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import chain

from nsrecover.domains.base import (
    Derived,
    Effect,
    Exists,
    Formula,
    Has,
    Law,
    Not,
    Parameter,
    absent,
    both,
    either,
    fact,
)  # fmt: skip
from nsrecover.domains.domain import Domain
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.domains.household.kinds import Trait

_DERIVED = (
    Derived("idle", ("?p",), either(Not(Has("?p", Trait.MACHINE)), fact("off", "?p"))),
    Derived(
        "fits",
        ("?x", "?p"),
        both(
            either(Not(Has("?x", Trait.WIDE)), Not(Has("?p", Trait.NARROW))),
            either(Not(Has("?x", Trait.BULKY)), Not(Has("?p", Trait.COMPACT))),
        ),
    ),
    Derived(
        "harmed", ("?o", "?p"),
        both(fact("inside", "?o", "?p"), either(
            both(Has("?p", Trait.MICROWAVES), Has("?o", Trait.METAL)),
            both(Has("?p", Trait.BURNS), Has("?o", Trait.MELTS), fact("on", "?o", "?p")),
        )),
    ),
    Derived(
        "unmixed", ("?p", "?x"),
        # What is poured onto a plant seeps away.
        either(
            Not(Has("?p", Trait.PORTABLE)),
            Not(Exists("?l", both(fact("filled", "?p", "?l"), absent("filled", "?x", "?l")), Trait.LIQUID)),
        ),
    ),
    Derived("safe", ("?p",), Not(Exists("?o", fact("harmed", "?o", "?p")))),
)  # fmt: skip
_SUITABLE: dict[str, tuple[Formula, ...]] = {
    "put_in": (fact("fits", "?thing", "?place"),),
    "put_on": (fact("fits", "?thing", "?place"),),
    "toggle_on": (fact("safe", "?thing"),),
}
_IN_TIME: dict[str, tuple[Formula, ...]] = {
    "put_in": (fact("idle", "?place"),),
    "put_on": (fact("idle", "?place"),),
    "open_obj": (either(Not(Has("?thing", Trait.MACHINE)), fact("off", "?thing")),),
    "toggle_on": (either(Not(Has("?thing", Trait.DOOR)), fact("closed", "?thing")),),
    "pour": (fact("unmixed", "?place", "?thing"),),
    "slice_obj": (fact("uncovered", "?thing"),),
}
_COOL = Law(
    "faucets cool",
    Effect(
        deletes=(("hot", "?thing"),),
        when=both(fact("running", "?faucet"), fact("on", "?thing", "?basin")),
        for_each=(
            Parameter("?faucet", Trait.POURS_WATER),
            Parameter("?basin", Trait.BASIN),
            Parameter("?thing", Trait.PORTABLE),
        ),
    ),
)


@lru_cache(maxsize=4)
def practical(suitable: bool = True, changing: bool = True) -> Domain:
    """The household domain with what people do not say.

    Args:
        suitable: things have to fit and to stand heat.
        changing: running machines accept nothing, liquids do not mix, and water cools.
    """
    needs = [each for each, used in ((_IN_TIME, changing), (_SUITABLE, suitable)) if used]
    return replace(
        HOUSEHOLD,
        operators={
            name: replace(operator, preconditions=(*operator.preconditions, *chain(*(n.get(name, ()) for n in needs))))
            for name, operator in HOUSEHOLD.operators.items()
        },
        derived={**HOUSEHOLD.derived, **{rule.predicate: rule for rule in _DERIVED}},
        laws=(*HOUSEHOLD.laws, *([_COOL] if changing else [])),
    )


PRACTICAL = practical()
"""The household domain as a careful person knows it; logs are explained and corrected with it."""
