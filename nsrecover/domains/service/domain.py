"""The service domain: the paper's 21 skills as operators over the household's kinds, states, relations and laws.

The skills are those of Shirasaka et al., "Self-recovery prompting", table I. Where an object or a person is believed to
be is `likely`; a skill of finding makes it `at`, which is what has been seen. A search is thus a plan, and a place
where something was not found is a deviation from it.
"""

from __future__ import annotations

from dataclasses import replace

from nsrecover.core.facts import StateFact
from nsrecover.domains.base import (
    Derived,
    Effect,
    Exists,
    Formula,
    Has,
    Kind,
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
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.domains.household.kinds import KINDS, Trait
from nsrecover.domains.service.kinds import CATEGORIES, CLOSE, OPEN, ROBOT, ServiceTrait

_THING = Parameter("?thing", ServiceTrait.CONCRETE)
_ANY_OF = Parameter("?thing", ServiceTrait.CATEGORY)
_CARRIED = Parameter("?thing", Trait.PORTABLE)
_PLACE = Parameter("?place", ServiceTrait.LOCATION)
_PERSON = Parameter("?person", ServiceTrait.PERSON)
_NAMED = Parameter("?person", ServiceTrait.NAMED)
_POSED = Parameter("?person", ServiceTrait.POSED)
_HERE = fact("at", ROBOT, "?place")
_WITH = fact("beside", "?person")


def _boolean(name: str, trait: str) -> StateVariable:
    return StateVariable(name, (f"not {name}", name), trait)


VARIABLES = (
    _boolean("asked", Trait.PORTABLE),
    _boolean("hard_to_grasp", Trait.PORTABLE),
    _boolean("followed", ServiceTrait.PERSON),
    _boolean("guided", ServiceTrait.PERSON),
    _boolean("pose_known", ServiceTrait.PERSON),
    _boolean("answered_to", ServiceTrait.PERSON),
    _boolean("told", ServiceTrait.INFORMATION),
    _boolean("answered", ServiceTrait.QUESTION),
    _boolean("counted", ""),
)
"""State variables that the skills change: what was said, counted and noticed."""

STATIC = dict.fromkeys(("for_person", "leads_to", "counts_at", "has_pose"), Role.STATIC)
"""Static facts: whom something is told or asked, which places a door leads to, where something is counted, poses."""


def _found(change: StateFact) -> tuple[Effect, ...]:
    return (Effect(adds=(change,), deletes=((change[0], change[1], "*"), ("likely", change[1], "*"))),)


_SEEN_AT = ("at", "?thing", "?place")
_MET_AT = ("at", "?person", "?place")


def _searches(term: str) -> tuple[Formula, ...]:
    return (fact("likely", term, "?place"), absent("shut", "?place"), _HERE)


def _counts(name: str, trait: ServiceTrait, what: str) -> Operator:
    return Operator(
        name,
        (Parameter("?what", trait), _PLACE),
        (fact("counts_at", "?what", "?place"), absent("shut", "?place"), _HERE),
        (Effect(adds=(("counted", "?what"),)),),
        words=Words(f"count {what}: {{what!s}}, at {{place}}", f"counted {what}: {{what!s}}, at {{place}}"),
    )


_MOVES = Effect(adds=(("at", ROBOT, "?place"),), deletes=(("at", ROBOT, "*"),))

SKILLS = (
    Operator(
        "go_to_location",
        (_PLACE,),
        (fact("way_open", "?place"),),
        (_MOVES,),
        cost=3.0,
        words=Words("go to {place}", "went to {place}"),
    ),
    Operator(
        "ask_location",
        (_CARRIED, _PERSON),
        (_WITH,),
        (Effect(adds=(("asked", "?thing"),)),),
        words=Words("ask {person} where {thing} is", "asked {person} where {thing} is"),
    ),
    Operator(
        "find_concrete_name_objects",
        (_THING, _PLACE),
        _searches("?thing"),
        _found(_SEEN_AT),
        words=Words("find {thing} at {place}", "found {thing} at {place}"),
    ),
    Operator(
        "find_category_name_objects",
        (_ANY_OF, _PLACE),
        _searches("?thing"),
        _found(_SEEN_AT),
        words=Words("find {thing} at {place}", "found {thing} at {place}"),
    ),
    _counts("count_concrete_name_objects", ServiceTrait.COUNT_OBJECTS, "objects"),
    _counts("count_category_name_objects", ServiceTrait.COUNT_CATEGORY, "objects of a category"),
    Operator(
        "find_person",
        (_NAMED, _PLACE),
        _searches("?person"),
        _found(_MET_AT),
        words=Words("find {person} at {place}", "found {person} at {place}"),
    ),
    Operator(
        "detect_person_pose",
        (_PERSON,),
        (_WITH,),
        (Effect(adds=(("pose_known", "?person"),)),),
        words=Words("see which pose {person} has", "saw which pose {person} has"),
    ),
    Operator(
        "find_specific_pose_person",
        (_POSED, Parameter("?pose", ServiceTrait.POSE), _PLACE),
        (fact("has_pose", "?person", "?pose"), *_searches("?person")),
        _found(_MET_AT),
        words=Words("find {person} at {place}", "found {person} at {place}"),
    ),
    _counts("count_specific_pose_person", ServiceTrait.COUNT_POSED, "people in a pose"),
    _counts("count_person", ServiceTrait.COUNT_PEOPLE, "people"),
    Operator(
        "follow_person",
        (_PERSON, _PLACE),
        (_WITH,),
        (
            _MOVES,
            Effect(adds=(_MET_AT, ("followed", "?person")), deletes=(("at", "?person", "*"),)),
        ),
        cost=4.0,
        words=Words("follow {person} to {place}", "followed {person} to {place}"),
    ),
    Operator(
        "guide",
        (_PERSON, _PLACE),
        (_WITH, fact("way_open", "?place")),
        (
            _MOVES,
            Effect(adds=(_MET_AT, ("guided", "?person")), deletes=(("at", "?person", "*"),)),
        ),
        cost=4.0,
        words=Words("guide {person} to {place}", "guided {person} to {place}"),
    ),
    Operator(
        "pick",
        (_CARRIED, _PLACE),
        (
            fact("intact", "?thing"),
            absent("hard_to_grasp", "?thing"),
            fact("at", "?thing", "?place"),
            absent("shut", "?place"),
            _HERE,
            fact("hand_free"),
        ),
        (Effect(adds=(("holding", "?thing"),), deletes=(("at", "?thing", "*"),)),),
        words=Words("pick up {thing} at {place}", "picked up {thing} at {place}"),
    ),
    Operator(
        "hand_over",
        (_CARRIED, _PERSON),
        (fact("holding", "?thing"), _WITH),
        (Effect(adds=(("at", "?thing", "?person"),), deletes=(("holding", "?thing"),)),),
        words=Words("hand {thing} to {person}", "handed {thing} to {person}"),
    ),
    Operator(
        "ask_person_to_hand_over",
        (_CARRIED, _PERSON, Parameter("?query", ServiceTrait.REQUEST)),
        (
            either(fact("at", "?thing", "?person"), both(fact("hard_to_grasp", "?thing"), fact("located", "?thing"))),
            _WITH,
            fact("hand_free"),
        ),
        (Effect(adds=(("holding", "?thing"),), deletes=(("at", "?thing", "*"),)),),
        cost=6.0,
        words=Words("ask {person} to hand over {thing}", "was handed {thing} by {person}"),
    ),
    Operator(
        "place",
        (_CARRIED, _PLACE),
        (
            either(Has("?place", Trait.FLAT), Has("?place", Trait.HOLLOW)),
            Not(both(Has("?thing", Trait.METAL), Has("?place", Trait.MICROWAVES)), "metal_in_microwave"),
            absent("shut", "?place"),
            fact("holding", "?thing"),
            _HERE,
        ),
        (Effect(adds=(_SEEN_AT,), deletes=(("holding", "?thing"),)),),
        words=Words("place {thing} on {place}", "placed {thing} on {place}"),
    ),
    Operator(
        "ask_question",
        (_PERSON, Parameter("?question", ServiceTrait.QUESTION)),
        (fact("for_person", "?question", "?person"), _WITH),
        (Effect(adds=(("answered", "?question"),)),),
        words=Words("ask {person}: {question!s}", "asked {person}: {question!s}"),
    ),
    Operator(
        "answer_question",
        (_PERSON,),
        (_WITH,),
        (Effect(adds=(("answered_to", "?person"),)),),
        words=Words("answer the question of {person}", "answered the question of {person}"),
    ),
    Operator(
        "tell_information",
        (Parameter("?information", ServiceTrait.INFORMATION), _PERSON),
        (fact("for_person", "?information", "?person"), _WITH),
        (Effect(adds=(("told", "?information"),)),),
        words=Words("tell {person}: {information!s}", "told {person}: {information!s}"),
    ),
    Operator(
        "operate_door",
        (_PLACE, Parameter("?operation", ServiceTrait.OPERATION)),
        (
            either(Has("?place", Trait.DOOR), Has("?place", ServiceTrait.ROOM_DOOR)),
            either(Not(Has("?place", Trait.SHUT_TO_RUN)), fact("off", "?place")),
            fact("hand_free"),
            _HERE,
        ),
        (
            Effect(adds=(("open", "?place"),), when=Same("?operation", OPEN)),
            Effect(deletes=(("open", "?place"),), when=Same("?operation", CLOSE)),
        ),
        words=Words("{operation!s} {place}", "did {operation!s} {place}"),
    ),
)
"""The 21 skills of the paper's table I, in its order."""

_KEPT = ("toggle_on", "toggle_off", "pour", "slice_obj", "crack_obj")
_OPERATORS = (
    *SKILLS,
    *(
        replace(each, preconditions=(fact("in_reach", each.parameters[-1].variable), *each.preconditions))
        for name in _KEPT
        for each in (HOUSEHOLD.operators[name],)
    ),
)

DERIVED = (
    Derived(
        "beside",
        ("?x",),
        Exists("?p", both(fact("at", ROBOT, "?p"), fact("at", "?x", "?p")), ServiceTrait.LOCATION),
    ),
    Derived("in_reach", ("?x",), either(fact("at", ROBOT, "?x"), fact("holding", "?x"), fact("beside", "?x"))),
    Derived("located", ("?x",), Exists("?p", fact("at", "?x", "?p"), ServiceTrait.LOCATION)),
    Derived(
        "way_open", ("?p",),
        Not(Exists("?d", both(fact("leads_to", "?d", "?p"), absent("open", "?d")), ServiceTrait.ROOM_DOOR)),
    ),
    Derived("found", ("?x",), either(fact("located", "?x"), fact("holding", "?x"))),
)  # fmt: skip
"""Derived predicates about the robot's place, people and doors."""

WORDS: dict[str, str] = {
    "at": "{0} is at {1}",
    "found": "{0} found",
    "way_open": "the way to {0} is open",
    "likely": "{0} believed to be at {1}",
    "beside": "the robot is next to {0}",
    "in_reach": "{0} is in reach",
    "told": "{0!s} has been told",
    "answered": "the question '{0!s}' has been answered",
    "asked": "the robot has asked about {0}",
    "answered_to": "the robot has answered {0}",
    "pose_known": "the pose of {0} is known",
    "metal_in_microwave": "metal is in the microwave",
    "for_person": "{0!s} is meant for {1}",
    "has_pose": "{0} is {1!s}",
    "leads_to": "{0} leads to {1}",
    "counts_at": "{0!s} is to be counted at {1}",
    **{str(trait): f"{{0}} is a {trait}" for trait in (ServiceTrait.LOCATION, ServiceTrait.PERSON, ServiceTrait.POSE)},
    **{str(trait): f"{{0!s}} is a {trait}" for trait in (ServiceTrait.REQUEST, ServiceTrait.QUESTION)},
    Trait.DOOR: "{0} has a door",
    ServiceTrait.CATEGORY: "{0} is a category of objects",
    ServiceTrait.ROOM_DOOR: "{0} is a door between rooms",
}
"""Words for conditions; others are said by their name."""

_NOUNS = {noun: Kind(noun, frozenset({Trait.PORTABLE})) for nouns in CATEGORIES.values() for noun in nouns}

SERVICE = Domain.of(
    "service",
    *({**_NOUNS, **KINDS}.values()),
    *HOUSEHOLD.variables.values(),
    *VARIABLES,
    *_OPERATORS,
    *HOUSEHOLD.derived.values(),
    *DERIVED,
    *HOUSEHOLD.laws,
    relations={**HOUSEHOLD.relations, **STATIC, "likely": Role.BELIEVED},
    words={**HOUSEHOLD.words, **WORDS},
    traits=(*Trait, *ServiceTrait),
)
"""The service domain."""
