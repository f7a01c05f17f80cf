"""The household domain: doors, switches, liquids, heat, food that is sliced, and what a robot does with them."""

from __future__ import annotations

from dataclasses import replace

from nsrecover.domains.base import (
    And,
    Derived,
    Effect,
    Exists,
    ForAll,
    Formula,
    Has,
    Law,
    Not,
    Operator,
    Parameter,
    Role,
    Same,
    StateVariable,
    Words,
    absent,
    both,
    either,
    fact,
)
from nsrecover.domains.domain import Domain
from nsrecover.domains.household.kinds import KINDS, LIQUIDS, Trait


def _if(trait: Trait, condition: Formula) -> Formula:
    """A condition on ?thing that matters only if it has a trait."""
    return either(Not(Has("?thing", trait)), condition)


def _sets(predicate: str) -> Effect:
    return Effect(adds=((predicate, "?thing"),))


def _ends(predicate: str) -> Effect:
    return Effect(deletes=((predicate, "?thing"),))


_THING = Parameter("?thing")
_CARRIED = Parameter("?thing", Trait.PORTABLE)
_SLICES = Parameter("?slices", Trait.SLICE)
_LIQUID = Parameter("?liquid", Trait.LIQUID)
_PLACE = Parameter("?place")

VARIABLES = (
    StateVariable("open", ("closed", "open")),
    StateVariable("running", ("off", "running"), dangers=("running",), passes=Trait.TIMED),
    StateVariable("filled", ("empty", *LIQUIDS), Trait.VESSEL, from_above=True),
    StateVariable("dirty", ("clean", "dirty")),
    StateVariable("sliced", ("whole", "sliced"), Trait.SLICE),
    StateVariable("cracked", ("whole", "cracked")),
    StateVariable("hot", ("cold", "hot"), visible=False, drifts=True, dangers=("hot",)),
    StateVariable("cooked", ("raw", "cooked"), Trait.COOKS, drifts=True),
    StateVariable("burnt", ("unburnt", "burnt"), Trait.COOKS, drifts=True),
    StateVariable("broken", ("intact", "broken"), dangers=("broken",)),
    StateVariable("toppled", ("upright", "toppled"), Trait.DISH),
)
"""State variables of objects."""

RELATIONS = {
    **{"at": Role.LOCATION, "atop": Role.LOCATION, "covers": Role.COVERS, "holding": Role.HELD},
    **{"slices_of": Role.STATIC, "one_handed": Role.STATIC},
}
"""`at`: in or on a place; `atop`: merely on top of something that things are put into; `covers`: keeps something else
from being taken; `holding`: the gripper holds it; static ones: see `nsrecover.domains.household.scene`."""

OPERATORS = (
    Operator(
        "pick_up",
        (_CARRIED,),
        (
            fact("exists", "?thing"),
            fact("intact", "?thing"),
            fact("reachable", "?thing"),
            fact("uncovered", "?thing"),
            fact("hand_free"),
        ),
        (
            # Of slices there are many: one is taken, the others stay.
            Effect(
                deletes=(("at", "?thing", "*"), ("atop", "?thing", "*"), ("covers", "?thing", "*")),
                when=Not(Has("?thing", Trait.SLICE)),
            ),
            _sets("holding"),
            _ends("toppled"),
        ),
        words=Words("pick up {thing}", "picked up {thing}"),
    ),
    Operator(
        "put_in",
        (_CARRIED, Parameter("?place", Trait.HOLLOW, usual=Trait.SURFACE)),
        (fact("room", "?place", "?thing"), fact("accessible", "?place"), fact("holding", "?thing")),
        (Effect(adds=(("at", "?thing", "?place"),), deletes=(("holding", "?thing"),)),),
        words=Words("put {thing} in {place}", "put {thing} in {place}", relation="in|inside|into"),
    ),
    Operator(
        "put_on",
        (_CARRIED, Parameter("?place", Trait.FLAT, usual=Trait.SURFACE)),
        (fact("room", "?place", "?thing"), fact("reachable", "?place"), fact("holding", "?thing")),
        (
            Effect(deletes=(("holding", "?thing"),)),
            Effect(adds=(("at", "?thing", "?place"),), when=Not(Has("?place", Trait.SLOT))),
            Effect(adds=(("atop", "?thing", "?place"),), when=Has("?place", Trait.SLOT)),
        ),
        words=Words("put {thing} on {place}", "put {thing} on {place}", relation="on|onto|on top of"),
    ),
    Operator(
        "open_obj",
        (_THING,),
        (_if(Trait.SHUT_TO_RUN, fact("off", "?thing")), fact("operable", "?thing")),
        (_sets("open"),),
        words=Words("open {thing}", "opened {thing}"),
    ),
    Operator(
        "close_obj",
        (_THING,),
        (fact("operable", "?thing"),),
        (_ends("open"),),
        words=Words("close {thing}", "closed {thing}"),
    ),
    Operator(
        "toggle_on",
        (_THING,),
        (
            _if(Trait.SHUT_TO_RUN, fact("closed", "?thing")),
            _if(Trait.SCREEN, fact("remote")),
            fact("operable", "?thing"),
        ),
        (_sets("running"),),
        words=Words("turn on {thing}", "turned on {thing}", logged=("toggle_on", "toggle on {thing}")),
    ),
    Operator(
        "toggle_off",
        (_THING,),
        (_if(Trait.SCREEN, fact("remote")), fact("operable", "?thing")),
        (_ends("running"),),
        words=Words("turn off {thing}", "turned off {thing}", logged=("toggle_off", "toggle off {thing}")),
    ),
    Operator(
        "slice_obj",
        (Parameter("?thing", Trait.SLICEABLE),),
        (fact("set_down", "?thing"), fact("tool")),
        (
            Effect(adds=(("sliced", "?slices"),), when=fact("slices_of", "?slices", "?thing"), for_each=(_SLICES,)),
            Effect(
                adds=(("at", "?slices", "?place"),),
                when=both(fact("slices_of", "?slices", "?thing"), fact("on", "?thing", "?place")),
                for_each=(_SLICES, _PLACE),
            ),
            Effect(deletes=tuple((one.name, "?thing") for one in VARIABLES if one.name != "filled")),
            Effect(deletes=tuple((relation, "?thing", "*") for relation in ("at", "atop", "covers", "filled"))),
            Effect(deletes=tuple((relation, "*", "?thing") for relation in ("at", "atop", "covers"))),
            _ends("holding"),
        ),
        words=Words("slice {thing}", "sliced {thing}"),
        reversible=False,
    ),
    Operator(
        "crack_obj",
        (Parameter("?thing", Trait.CRACKABLE),),
        (fact("holding", "?thing"),),
        (_sets("cracked"),),
        words=Words("crack {thing}", "cracked {thing}"),
        reversible=False,
    ),
    Operator(
        "pour",
        (_CARRIED, Parameter("?place", usual=Trait.BASIN)),
        (fact("full", "?thing"), fact("holding", "?thing"), fact("upright", "?place")),
        (
            Effect(
                deletes=(("filled", "?thing", "?liquid"),),
                when=fact("filled", "?thing", "?liquid"),
                for_each=(_LIQUID,),
            ),
            Effect(
                adds=(("filled", "?place", "?liquid"),),
                deletes=(("filled", "?place", "*"),),
                when=both(Has("?place", Trait.VESSEL), fact("filled", "?thing", "?liquid")),
                for_each=(_LIQUID,),
            ),
        ),
        words=Words(
            "pour {thing} out into {place}",
            "poured {thing} out into {place}",
            logged=("pour", "pour {thing} into {place}"),
            relation="into|in|onto|on",
        ),
    ),
)
"""Operators of the robot."""

DERIVED = (
    Derived("on", ("?x", "?y"), either(fact("at", "?x", "?y"), fact("atop", "?x", "?y"))),
    Derived(
        "inside",
        ("?x", "?y"),
        either(fact("at", "?x", "?y"), Exists("?z", both(fact("at", "?x", "?z"), fact("inside", "?z", "?y")))),
    ),
    Derived("shut", ("?x",), both(Has("?x", Trait.DOOR), absent("open", "?x"))),
    # Of slices in several places it is enough that some are not behind a closed door.
    Derived(
        "shut_in",
        ("?x",),
        both(
            Exists("?p", fact("on", "?x", "?p")),
            ForAll(
                "?p",
                either(
                    absent("on", "?x", "?p"),
                    both(fact("shut", "?p"), fact("at", "?x", "?p")),
                    fact("shut_in", "?p"),
                ),
            ),
        ),
    ),
    Derived("reachable", ("?x",), absent("shut_in", "?x")),
    Derived("accessible", ("?x",), both(absent("shut", "?x"), absent("shut_in", "?x"), fact("upright", "?x"))),
    # What a dish carries does not cover it; of many slices there is always one on top.
    Derived(
        "covering",
        ("?o", "?x"),
        either(
            fact("covers", "?o", "?x"),
            both(
                Has("?x", Trait.PORTABLE),
                Not(Has("?x", Trait.DISH)),
                Not(Has("?x", Trait.SLICE)),
                fact("on", "?o", "?x"),
                Not(Same("?o", "?x")),
                absent("slices_of", "?o", "?x"),
            ),
        ),
    ),
    Derived("uncovered", ("?x",), Not(Exists("?o", fact("covering", "?o", "?x")))),
    Derived(
        "taking_room",
        ("?o", "?p", "?x"),
        both(
            Has("?p", Trait.ONE_PLACE),
            fact("on", "?o", "?p"),
            Has("?o", Trait.PORTABLE),
            Not(Same("?o", "?x")),
            absent("slices_of", "?o", "?x"),
            absent("inside", "?o", "?x"),
            Not(Exists("?c", both(fact("on", "?o", "?c"), fact("on", "?c", "?p")))),
        ),
    ),
    Derived("room", ("?p", "?x"), Not(Exists("?o", fact("taking_room", "?o", "?p", "?x")))),
    Derived("hand_free", (), Not(Exists("?o", fact("holding", "?o")))),
    # Doors and switches need a hand, unless the robot has a second one or the remote control does it.
    Derived(
        "operable", ("?x",), either(absent("one_handed"), fact("hand_free"), Has("?x", Trait.SCREEN))
    ),
    # Food is cut on something flat, not in the gripper, a bowl or a toaster.
    Derived(
        "set_down",
        ("?x",),
        both(
            absent("holding", "?x"),
            ForAll(
                "?p", either(absent("on", "?x", "?p"), Has("?p", Trait.SURFACE), Has("?p", Trait.BASIN))
            ),
        ),
    ),
    Derived("exists", ("?x",), either(Not(Has("?x", Trait.SLICE)), fact("sliced", "?x"))),
    Derived("tool", (), Exists("?t", fact("holding", "?t"), Trait.CUTS)),
    Derived(
        "remote",
        (),
        either(Not(Exists("?r", And(()), Trait.REMOTE)), Exists("?r", fact("holding", "?r"), Trait.REMOTE)),
    ),
    Derived("full", ("?x",), Exists("?l", fact("filled", "?x", "?l"), Trait.LIQUID)),
    Derived("empty", ("?x",), absent("full", "?x")),
    Derived("closed", ("?x",), absent("open", "?x")),
    Derived("off", ("?x",), absent("running", "?x")),
    Derived("clean", ("?x",), absent("dirty", "?x")),
    Derived("raw", ("?x",), absent("cooked", "?x")),
    Derived("unburnt", ("?x",), absent("burnt", "?x")),
    Derived("intact", ("?x",), absent("broken", "?x")),
    Derived("upright", ("?x",), absent("toppled", "?x")),
    Derived("away_from", ("?x", "?p"), absent("on", "?x", "?p")),
)  # fmt: skip
"""Derived predicates."""

_UNDER_THE_TAP = both(fact("running", "?faucet"), fact("on", "?thing", "?basin"))
_TAP = (Parameter("?faucet", Trait.POURS_WATER), Parameter("?basin", Trait.BASIN))

_RECEPTIVE, _DISH = both(fact("empty", "?thing"), fact("upright", "?thing")), Parameter("?thing", Trait.DISH)
_HEATER = Parameter("?heater", Trait.HEATS)
_IN_A_HEATER = both(
    fact("running", "?heater"),
    either(Not(Has("?heater", Trait.DOOR)), absent("open", "?heater")),
    fact("inside", "?thing", "?heater"),
)

LAWS = (
    # What holds another liquid already is not filled.
    Law(
        "faucets fill",
        Effect(
            adds=(("filled", "?thing", "water"),),
            deletes=(("hot", "?thing"),),
            when=both(_UNDER_THE_TAP, _RECEPTIVE),
            for_each=(*_TAP, Parameter("?thing", Trait.VESSEL)),
        ),
    ),
    Law(
        "faucets clean",
        Effect(deletes=(("dirty", "?thing"),), when=_UNDER_THE_TAP, for_each=(*_TAP, _THING)),
    ),
    Law(
        "coffee machines fill",
        Effect(
            adds=(("filled", "?thing", "coffee"), ("hot", "?thing")),
            when=both(fact("running", "?machine"), fact("on", "?thing", "?machine"), _RECEPTIVE),
            for_each=(Parameter("?machine", Trait.POURS_COFFEE), Parameter("?thing", Trait.VESSEL)),
        ),
    ),
    Law("toppled dishes spill", Effect((), (("filled", "?thing", "*"),), fact("toppled", "?thing"), (_DISH,))),
    Law("heaters heat", Effect((("hot", "?thing"),), when=_IN_A_HEATER, for_each=(_HEATER, _THING))),
    Law(
        "heaters cook",
        Effect((("cooked", "?thing"),), when=_IN_A_HEATER, for_each=(_HEATER, Parameter("?thing", Trait.COOKS))),
    ),
)
"""Changes of a state without an action."""

WORDS: dict[str, Words | str] = {
    "at": Words("{0} in or on {1}", if_last={Trait.FLAT: "{0} on {1}", Trait.HOLLOW: "{0} in {1}"}),
    "atop": "{0} on top of {1}",
    "filled": "{0} filled with {1!s}",
    "running": "{0} turned on",
    "off": "{0} turned off",
    "away_from": Words("{0} not in or on {1}", if_last={Trait.FLAT: "{0} not on {1}", Trait.HOLLOW: "{0} not in {1}"}),
    "hot": "{0} heated",
    "set_down": "{0} set down",
    "shut": "the door of {0} is closed",
    "shut_in": "{0} is behind a closed door",
    "covering": "{0} is in the way of {1}",
    "room": "there is room for {1} in or on {0}",
    "taking_room": "{0} takes the room of {2} in or on {1}",
    "hand_free": "the gripper is empty",
    "operable": "{0} can be operated",
    "tool": "a cutting tool is in the gripper",
    "remote": "the remote control is in the gripper",
    "liftable": "{0} can be picked up",
    "receptive": "{0} can be filled",
    "slices_of": "{0} can be cut from {1}",
    "one_handed": "the robot has only one hand",
    Trait.HOLLOW: "objects can be put into {0}",
    Trait.FLAT: "objects can be put on {0}",
    **{trait: f"{{0}} is a {trait}" for trait in (Trait.SURFACE, Trait.VESSEL, Trait.LIQUID, Trait.SLICE, Trait.BASIN)},
}
"""Words for conditions; others are said by their name or role."""

HOUSEHOLD = Domain.of(
    "household",
    *KINDS.values(),
    *VARIABLES,
    *OPERATORS,
    *DERIVED,
    *LAWS,
    relations=RELATIONS,
    words=WORDS,
    traits=Trait,
    enclosed="shut_in",
)
"""The household domain."""

_WHOLE = Not(Exists("?s", both(fact("slices_of", "?s", "?x"), fact("sliced", "?s"))))
_LASTS = {
    "pick_up": Derived("liftable", ("?x",), both(absent("cracked", "?x"), fact("upright", "?x"), _WHOLE)),
    "pour": Derived("receptive", ("?x",), either(Not(Has("?x", Trait.SOAKS)), fact("empty", "?x"))),
}

LASTING = replace(
    HOUSEHOLD,
    operators={
        name: replace(
            operator,
            preconditions=(fact(_LASTS[name].predicate, operator.parameters[-1].variable), *operator.preconditions),
        )
        if name in _LASTS
        else operator
        for name, operator in HOUSEHOLD.operators.items()
    },
    derived={**HOUSEHOLD.derived, **{rule.predicate: rule for rule in _LASTS.values()}},
)
"""The household domain for robots that act: cracked eggs and toppled dishes stay where they are, of sliced food only
slices are left, plants keep what is poured on them. Logs of other robots are explained without that: they may say that
a robot picked up a cracked egg."""
