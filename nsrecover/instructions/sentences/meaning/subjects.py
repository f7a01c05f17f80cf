"""Statements by their subject: the operator, the robot, a thing, a place, a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.sentences.arguments import arguments, state_of
from nsrecover.instructions.sentences.discourse import OPERATOR_PHRASE, SWITCHED, Discourse
from nsrecover.instructions.sentences.elements import Element
from nsrecover.instructions.sentences.frames import clauses_of
from nsrecover.instructions.sentences.meaning.parsed import (
    ASKED,
    Again,
    Parsed,
    first_place,
    predicate,
    question_word,
    things_in,
)
from nsrecover.instructions.sentences.meaning.wishes import looked_for, wish, wish_thing
from nsrecover.instructions.sentences.reading import Clause, Verb
from nsrecover.instructions.sentences.words import GRAMMAR, listed

_LOST = frozenset(listed(GRAMMAR["lost"]))
_KNOWING = frozenset(("idea", "clue"))
_HINDERED = (Verb.OPEN, Verb.CLOSE, Verb.TURN_ON, Verb.TURN_OFF)
"""What the operator wants done if he says that he cannot do it."""


def by_operator(d: Discourse, p: Parsed, goal: bool) -> bool | Again:
    """Note what the operator says about himself; returns whether it says something about what to do."""
    verb, rest = predicate(p), p.rest
    texts = {item.text for item in rest} | {item.text for item in p.subject}
    things = things_in(d, rest)
    source = next((item for item in rest if item.is_person and item.prep == "from"), None)
    if source is not None and verb is not None and any(item.may("know") for item in rest):
        d.settled |= {item.start for item in rest if item is not source}
        at = source.at or first_place(d, rest[rest.index(source) + 1 : rest.index(source) + 2], "at")
        d.add(Clause(Verb.ASK, person=source.phrase, person_at=at, content=d.said(rest[rest.index(source) + 1 :])))
        return True
    if verb is not None and verb.value == Verb.TELL and verb.verb("past") and {"was", "were", "been"} & set(p.aux):
        return Again(rest[rest.index(verb) + 1 :], goal)
    wh = next((k for k, item in enumerate(rest) if item.kind == "wh"), None)
    if verb is not None and verb.value == Verb.ASK and verb.verb("past") and "been" in p.aux and wh is not None:
        return Again(rest[wh:], question=True)
    hindered = p.negated and bool({"can", "could"} & set(p.aux)) and verb is not None and verb.value in _HINDERED
    if verb is not None and hindered:
        value = Verb(verb.value)
        clauses = clauses_of(d, value, verb.text, arguments(d, value, rest[rest.index(verb) + 1 :]))
        for clause in clauses:
            d.add(clause, indirect=True)
        return bool(clauses)
    if verb is not None and verb.may("promise") and things:
        whom = next(
            (item for item in rest if item.is_person and item.phrase is not None and item.phrase.name != OPERATOR), None
        )
        if whom is not None and whom.phrase is not None:
            return wish_thing(d, whom.phrase, things, [item for item in rest if item not in (whom, verb)], p)
    if _KNOWING & texts or (
        verb is not None and verb.may("know") and (p.negated or "wonder" in verb.text or "would" in p.aux or p.must)
    ):
        return Again([item for item in rest if item is not verb], question=True) if rest else False
    if things and p.negated and "without" in texts:
        near = things[0][0].at or first_place(d, rest, "at", "from")
        d.add(Clause(Verb.BRING, things[0][1], near, None, OPERATOR_PHRASE), indirect=True)
        return True
    if verb is not None and verb.text == "forget" and verb in rest:
        inner = rest[rest.index(verb) + 1 :]
        task = next((k for k, item in enumerate(inner) if item.verb("base")), None)
        if task and inner[task - 1].kind == "to" and inner[task].value:
            value = Verb(inner[task].value)
            for clause in clauses_of(d, value, inner[task].text, arguments(d, value, inner[task + 1 :])):
                if clause.verb is not Verb.PLACE or clause.target is not None:
                    d.add(clause, indirect=True)
                elif clause.thing is not None and clause.source is not None:
                    d.locate(clause.thing, clause.source)
                d.note(clause.thing)
            return True
    if question_word(rest) and verb is not None and (verb.may("have") or (verb.value == Verb.ASK)):
        d.add(Clause(Verb.ANSWER, person=OPERATOR_PHRASE), indirect=True)
        return True
    if things and verb is not None and verb.text == "forget" and not p.negated:
        place = things[0][0].at or first_place(d, rest)
        d.add(Clause(Verb.BRING, things[0][1], place, None, OPERATOR_PHRASE), indirect=True)
        return True
    if verb is not None and p.must and verb.value == Verb.FIND and things and not p.negated:
        return looked_for(d, things, first_place(d, rest))
    sought = [each for each in things if each[0].prep == "for"]
    if verb is not None and verb.value in (Verb.FIND, Verb.CHECK) and verb.verb("past") and sought and not p.negated:
        return looked_for(d, sought, first_place(d, rest))
    if verb is not None and verb.may("lose") and things and not p.negated:
        return looked_for(d, things, first_place(d, rest))
    if p.negated and verb is not None and verb.lexeme is not None and things:
        if verb.value in (Verb.FIND, Verb.CHECK) or verb.may("see"):
            return looked_for(d, things, first_place(d, rest) or things[0][0].at)
        return False
    seeks = verb is not None and verb.value == Verb.FIND and (verb.verb("ing") or "am" in p.aux)
    if seeks and things and not p.negated:
        return looked_for(d, things, first_place(d, rest) or things[0][0].at)
    knows = verb is not None and verb.may("know") and not p.negated and not any(item.kind == "wh" for item in rest)
    if verb is not None and (verb.may("think") or (knows and any(item.kind == "aux" for item in rest))):
        return Again(rest[rest.index(verb) + 1 :], goal)
    rather = verb is not None and (verb.text in ("have", "take") or verb.may("consume")) and "would" in p.aux
    if rather and not p.negated:
        return wish(d, OPERATOR_PHRASE, rest, verb, p)
    if p.must and verb is not None and not p.negated and (verb.may("have") or verb.may("consume")):
        return wish_thing(d, OPERATOR_PHRASE, things, rest, p)
    asks = {"could", "can", "may", "might"} & set(p.aux) or ("will" in p.aux and things)
    if verb is not None and (verb.may("want") or (asks and verb.may("have"))):
        return wish(d, OPERATOR_PHRASE, rest, verb, p)
    seen = [item for item in rest if item.is_person and item.phrase is not None and item.phrase.name != OPERATOR]
    if (
        verb is not None
        and verb.may("see")
        and verb.verb("past")
        and seen
        and not things
        and seen[0].phrase is not None
    ):
        where = seen[0].at or first_place(d, rest)
        d.note(seen[0].phrase)
        if where is not None:
            d.locate(seen[0].phrase, where)
        return where is not None
    if verb is not None and (verb.may("put") or verb.may("see")) and verb.verb("past") and things:
        item, thing = things[0]
        place = item.at or first_place(d, rest) or (p.front[0].phrase if p.front else None)
        d.note(thing)
        if place is not None:
            d.locate(thing, place)
            d.place = place
            return True
        return False
    moves = verb is not None and (verb.may("move") or (verb.value == Verb.GO))
    place = first_place(d, rest, "at", "to") if moves else first_place(d, rest, "at")
    own = [item for item, _ in things if item.prep not in ("from", "of")]
    if moves and place is not None and not p.negated:
        d.moving.append((OPERATOR_PHRASE, None, place))
    if verb is not None and verb.value == Verb.GUIDE and not p.negated:
        target = first_place(d, rest)
        if target is not None:
            d.moving.append((OPERATOR_PHRASE, None, target))
            return True
    if not own and place is not None and {"am", "be", "will", "are"} & set(p.aux) and not p.negated:
        d.operator_at = place
        d.note(place)
        return True
    if verb is None and place is None and "there" in texts and "will" in p.aux and d.place is not None:
        d.operator_at = d.place
        return True
    return False


def to_robot(d: Discourse, p: Parsed, goal: bool) -> bool:
    """As in "you will find robin in the study", "could you be in the study", "you are needed in the study"."""
    verb = predicate(p)
    there = first_place(d, p.rest, "at", "to")
    needed = verb is not None and verb.may("want") and verb.verb("past")
    if there is not None and (needed or verb is None) and (p.must or needed or "be" in p.aux) and not p.negated:
        d.add(Clause(Verb.GO, target=there))
        return True
    things = things_in(d, p.rest)
    place = first_place(d, p.rest) or (p.front[0].phrase if p.front else None)
    people = [item for item in p.rest if item.is_person and item.phrase is not None and item.phrase.name != OPERATOR]
    pronoun = next((item for item in p.rest if item.is_pronoun and item.text in ("him", "her", "them")), None)
    if pronoun is not None and d.person is not None:
        people = [replace(pronoun, phrase=d.person)]
    for item, phrase in [*things, *((item, item.phrase) for item in people if item.phrase is not None)]:
        d.note(phrase)
        where = item.at or place or d.place
        if where is not None:
            d.locate(phrase, where)
    return bool(things or people)


def existence(d: Discourse, p: Parsed, goal: bool) -> bool | Again:
    """Note what is said to be somewhere, as in "there is a cola in the fridge"."""
    things = things_in(d, p.rest)
    that = next((i for i, item in enumerate(p.rest) if item.kind == "that" or item.text in ("that", "which")), None)
    place = first_place(d, p.rest[:that]) or (p.front[0].phrase if p.front else None)
    people = [item for item in p.rest if item.is_person and item.phrase is not None and item.phrase.name != OPERATOR]
    if people and any(item.text in ASKED for item in p.rest):
        d.add(Clause(Verb.ANSWER, person=people[0].phrase, person_at=people[0].at or place), indirect=True)
        return True
    if p.negated:
        return False
    for item, phrase in [*things, *((item, item.phrase) for item in people if item.phrase is not None)]:
        if item.prep in ("", "at"):
            d.note(phrase)
            where = item.at or place
            if where is not None:
                d.locate(phrase, where)
                d.place = where
    spot = next((item for item in p.rest if item.is_place and item.prep == ""), None)
    inside = [phrase for item, phrase in things if item.prep == "with"]
    if spot is not None and inside and spot.phrase is not None:
        d.note(inside[0])
        d.locate(inside[0], spot.phrase)
        return True
    verb = predicate(p)
    if (
        things
        and verb is not None
        and (verb.may("want") or verb.text == "belong" or any(i.kind == "must" for i in p.rest))
    ):
        k = p.rest.index(things[0][0])
        return Again([things[0][0], *[i for i in p.rest[k + 1 :] if i.kind != "that"]], goal, anyway=True)
    if things and that is not None:
        return _relative(things[0][0], p.rest[that + 1 :], goal)
    for item in people:
        if things and place is not None and item.prep == "for" and item.phrase is not None:
            d.note(item.phrase)
            d.add(Clause(Verb.BRING, things[0][1], place, None, item.phrase), indirect=True)
    return bool(things or people)


def _relative(item: Element, relative: Sequence[Element], goal: bool) -> Again:
    """The relative clause of a thing as a statement: "that I would like to drink", "that belongs on the desk"."""
    thing = replace(item, prep="")
    if relative and relative[0].kind == "i":
        return Again([*relative, thing], anyway=True)
    return Again([thing, *relative], goal, anyway=True)


def _belongs(p: Parsed) -> bool:
    return any(each.may("belong") or each.kind == "must" or each.text == "should" for each in p.rest)


def of_place(d: Discourse, p: Parsed, goal: bool) -> bool | Again:
    """Note what is said about a place: what it holds, and whether it is or should be open, closed, on or off."""
    item = next(each for each in p.subject if each.kind == "np")
    phrase = d.resolved(item, None)
    last = [each for each in p.subject if each.is_place]
    if last and last[-1].prep == "" and last[-1].phrase is not None:
        phrase = last[-1].phrase
    d.note(phrase)
    verb = predicate(p)
    things = things_in(d, p.rest)
    if any(each.text == "where" for each in p.rest) and things and (p.must or _belongs(p)):
        d.add(Clause(Verb.PLACE, things[0][1], None, phrase), indirect=True)
        return True
    if verb is None and "has" not in p.aux and "have" not in p.aux:
        things = []
    has = "have" in p.aux or any(each.may("have") for each in p.rest)
    needs = verb is not None and verb.may("want") and not any(each.verb("past") for each in p.rest)
    if ((p.must and has) or needs) and things_in(d, p.rest) and not p.negated:
        for _, thing in things_in(d, p.rest):
            d.add(Clause(Verb.PLACE, thing, None, phrase), indirect=True)
        return True
    if things and ({"has", "have"} & set(p.aux) or (verb is not None and verb.may("have"))):
        for _each, thing in things:
            d.note(thing)
            d.locate(thing, phrase)
        that = next((k for k, each in enumerate(p.rest) if each.text in ("that", "which")), None)
        return _relative(things[0][0], p.rest[that + 1 :], goal) if that is not None else True
    state = next(
        (state_of(each) for each in reversed(p.rest) if each.kind != "np" and state_of(each) is not None), None
    )
    if verb is not None and verb.may("lose") and verb.verb("ing"):
        for _, thing in things_in(d, p.rest):
            d.add(Clause(Verb.PLACE, thing, None, phrase), indirect=True)
        return True
    switched = next((each for each in p.rest if each.verb() and each.value in SWITCHED), None)
    if switched is not None:
        state = Verb(switched.value)
    if state is None:
        return False
    opposite = {Verb.OPEN: Verb.CLOSE, Verb.CLOSE: Verb.OPEN, Verb.TURN_ON: Verb.TURN_OFF, Verb.TURN_OFF: Verb.TURN_ON}
    wants = p.must or goal or (verb is not None and verb.may("want")) or {"can", "could"} & set(p.aux)
    if not p.aux and not p.must and (verb is None or (verb.verb("base") and verb is p.rest[0])):
        wants = True  # "lamp off"
    if wants:
        d.add(Clause(opposite[state] if p.negated else state, target=phrase), indirect=True)
        return True
    return False
