"""Two domains that no part of the library knows, for the logs of own_domains.json."""

from nsrecover.domains import (
    Derived,
    Domain,
    Effect,
    Exists,
    Has,
    Kind,
    Not,
    Operator,
    Parameter,
    Role,
    StateVariable,
    absent,
    either,
    fact,
)

RELATIONS = {"in": Role.LOCATION, "held": Role.HELD}


def take(name: str) -> Operator:
    """Operator that takes an item out of or from an accessible place."""
    return Operator(
        name,
        (Parameter("?item", "item"), Parameter("?from", "place")),
        (fact("in", "?item", "?from"), fact("accessible", "?from"), fact("hand_free")),
        (Effect(adds=(("held", "?item"),), deletes=(("in", "?item", "?from"),)),),
    )


def put(name: str) -> Operator:
    """Operator that puts a held item into or onto an accessible place."""
    return Operator(
        name,
        (Parameter("?item", "item"), Parameter("?to", "place")),
        (fact("held", "?item"), fact("accessible", "?to")),
        (Effect(adds=(("in", "?item", "?to"),), deletes=(("held", "?item"),)),),
    )


def change(name: str, kind: str, before: str | None, after: str | None) -> Operator:
    """Operator on one object that ends the fact ``before`` and adds the fact ``after``."""
    argument = f"?{kind}"
    condition = fact(before, argument) if before else absent(str(after), argument)
    effect = Effect(adds=((after, argument),)) if after else Effect(deletes=((str(before), argument),))
    return Operator(name, (Parameter(argument, kind),), (condition,), (effect,))


HAND_FREE = Derived("hand_free", (), Not(Exists("?item", fact("held", "?item"))))
OPEN_BOX = Derived("accessible", ("?place",), either(Not(Has("?place", "lidded")), fact("open", "?place")))

PACKING = Domain.of(
    "packing",
    *(Kind("screw", frozenset({"item"})), Kind("label", frozenset({"item"})), Kind("manual", frozenset({"item"}))),
    Kind("housing", frozenset({"item", "place"})),
    *(Kind("carton", frozenset({"place", "lidded"})), Kind("bench", frozenset({"place"}))),
    StateVariable("open", ("closed", "open"), "carton"),
    StateVariable("taped", ("untaped", "taped"), "carton"),
    StateVariable("tight", ("loose", "tight"), "screw"),
    *(take("grasp"), put("insert"), change("unfold", "carton", None, "open"), change("fold", "carton", "open", None)),
    Operator(
        "tape",
        (Parameter("?carton", "carton"),),
        (absent("open", "?carton"),),
        (Effect(adds=(("taped", "?carton"),)),),
    ),
    Operator(
        "tighten",
        (Parameter("?screw", "screw"), Parameter("?housing", "housing")),
        (fact("in", "?screw", "?housing"),),
        (Effect(adds=(("tight", "?screw"),)),),
    ),
    *(HAND_FREE, OPEN_BOX),
    relations=RELATIONS,
)

GARDEN = Domain.of(
    "garden",
    *(Kind("can", frozenset({"item"})), Kind("seedling", frozenset({"item"})), Kind("trowel", frozenset({"item"}))),
    *(Kind("pot", frozenset({"place"})), Kind("bench", frozenset({"place"})), Kind("tap")),
    StateVariable("soil", ("dry", "moist", "soaked"), "pot"),
    StateVariable("filled", ("empty", "filled"), "can"),
    StateVariable("running", ("off", "running"), "tap"),
    *(take("lift"), put("set"), change("start", "tap", None, "running"), change("stop", "tap", "running", None)),
    Operator(
        "fill",
        (Parameter("?can", "can"), Parameter("?tap", "tap")),
        (fact("held", "?can"), fact("running", "?tap")),
        (Effect(adds=(("filled", "?can"),)),),
    ),
    Operator(
        "water",
        (Parameter("?pot", "pot"), Parameter("?can", "can")),
        (fact("held", "?can"), fact("filled", "?can")),
        (Effect(adds=(("soil", "?pot", "moist"),), deletes=(("filled", "?can"),)),),
    ),
    *(HAND_FREE, Derived("accessible", ("?place",), Has("?place", "place"))),
    relations=RELATIONS,
)

DOMAINS = {domain.name: domain for domain in (PACKING, GARDEN)}
