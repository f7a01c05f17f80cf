"""Clauses in the order in which they are done, without those that are only means to the next."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from nsrecover.domains.service.home import Home
from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.language.meaning import THE_OPERATOR, Clause, Verb

OPPOSITE = {Verb.OPEN: Verb.CLOSE, Verb.CLOSE: Verb.OPEN, Verb.TURN_ON: Verb.TURN_OFF, Verb.TURN_OFF: Verb.TURN_ON}
"""Verb -> the verb that undoes it."""


def _within(home: Home, clause: Clause, after: Clause) -> bool:
    """Whether the room that is gone to holds the place of what is done next."""
    room = clause.target.name if clause.target is not None else ""
    places = [each.name for each in (after.source, after.target, after.person_at) if each is not None]
    return room in home.rooms and any(
        place in home.places and place != room and home.inside(place, room) for place in places
    )


def gone_first(clauses: tuple[Clause, ...], home: Home) -> tuple[Clause, ...]:
    """The clauses with the place of going as the place of what is done next: "go to the table and count the cups"."""
    ordered, i = list(clauses), 0
    while i + 1 < len(ordered):
        clause, after = ordered[i], ordered[i + 1]
        there = None
        if clause.verb is Verb.GO and not clause.negated and _within(home, clause, after):
            del ordered[i]
            continue
        if clause.verb is Verb.GO and not clause.negated:
            if after.verb in (Verb.TAKE, Verb.BRING, Verb.FIND, Verb.COUNT, Verb.PLACE) and (
                after.thing or not after.person or after.verb is Verb.COUNT
            ):
                there = replace(after, source=clause.target) if after.source in (None, clause.target) else None
                there = after if after.verb is Verb.PLACE and after.target == clause.target else there
            elif (
                after.person is not None and after.person.name != OPERATOR and after.person_at in (None, clause.target)
            ):
                there = replace(after, person_at=clause.target)
            elif after.target == clause.target and after.verb in (*OPPOSITE,):
                there = after
        elif clause.verb is Verb.OPEN and not clause.negated and clause.target is not None:
            taken = after.verb in (Verb.TAKE, Verb.BRING, Verb.FIND, Verb.COUNT, Verb.PLACE)
            there = after if taken and clause.target in (after.source, after.target) else None
        if there is not None:
            ordered[i : i + 2] = [there]
        else:
            i += 1
    return tuple(ordered)


def asked_first(clauses: tuple[Clause, ...]) -> tuple[Clause, ...]:
    """The clauses with a question where something is before the search for it."""
    ordered = list(clauses)
    for i in range(1, len(ordered)):
        before, clause = ordered[i - 1], ordered[i]
        if clause.verb is Verb.ASK_WHERE and before.thing == clause.thing and before.verb in (Verb.FIND, Verb.BRING):
            ordered[i - 1 : i + 1] = [clause, before]
    return tuple(ordered)


def taken_first(clauses: tuple[Clause, ...]) -> tuple[Clause, ...]:
    """The clauses without bringing the operator what goes elsewhere next: "fetch the cola and give it to Alex"."""
    ordered = list(clauses)
    for i, (clause, after) in enumerate(pairwise(clauses)):
        moved = (
            after.verb in (Verb.BRING, Verb.PLACE)
            and after.thing == clause.thing
            and not (after.source or after.negated)
        )
        if clause.verb is Verb.BRING and moved and clause.person is not None and clause.person.name == OPERATOR:
            ordered[i] = replace(clause, verb=Verb.TAKE, person=None)
    return _one_by_one(ordered)


def _one_by_one(clauses: list[Clause]) -> tuple[Clause, ...]:
    """The clauses with each thing moved at once, as the robot has one hand: "take A and B and put them there"."""
    left = list(clauses)
    for clause in clauses:
        k = left.index(clause) if clause in left else len(left)
        mine = clause.verb is Verb.TAKE or (clause.verb is Verb.BRING and clause.person in (None, THE_OPERATOR))
        after = next((j for j in range(k + 2, len(left)) if left[j].thing == clause.thing), None)
        if not mine or clause.negated or clause.thing is None or after is None:
            continue
        moved = left[after]
        if moved.verb in (Verb.BRING, Verb.PLACE) and moved.source is None and not moved.negated:
            left[after] = replace(moved, source=clause.source)
            del left[k]
    return tuple(left)
