"""What somebody wants → clauses: a thing, to know something, to go somewhere, a state; and passive voice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.sentences.arguments import arguments, state_of
from nsrecover.instructions.sentences.discourse import OPERATOR_PHRASE, RESULT, Discourse
from nsrecover.instructions.sentences.elements import Element
from nsrecover.instructions.sentences.frames import clauses_of, unused
from nsrecover.instructions.sentences.meaning.parsed import ASKED, Again, Parsed, first_place, things_in
from nsrecover.instructions.sentences.meaning.questions import NUMBER, question_of
from nsrecover.instructions.sentences.reading import Clause, Phrase, Sort, Verb
from nsrecover.instructions.sentences.words import GRAMMAR, listed

_LOST = frozenset(listed(GRAMMAR["lost"]))


def looked_for(d: Discourse, things: Sequence[tuple[Element, Phrase]], place: Phrase | None) -> bool:
    """Note that somebody looks for a thing."""
    for item, thing in things[:1]:
        d.add(Clause(Verb.FIND, thing, item.at or place), indirect=True)
    return True


def _content(d: Discourse, items: Sequence[Element]) -> str:
    """What is to be told: the words of some elements, which need no clause."""
    d.settled |= {item.start for item in items}
    return d.said(items).removeprefix("that ")


def wish(d: Discourse, who: Phrase, rest: Sequence[Element], verb: Element | None, p: Parsed) -> bool | Again:
    """What somebody wants: a thing, to know something, to go somewhere, or a state."""
    if p.negated:
        return False
    k = rest.index(verb) + 1 if verb is not None else 0
    after = [item for item in rest[k:] if item.kind not in ("filler", "mark", "conj")]
    verbs = [item for item in after if item.kind == "verb"]
    things = things_in(d, after)
    question = next((item for item in after if item.kind == "word" and item.text in ASKED), None)
    if any(item.is_thing or item.is_person for item in after[:1]) and any(item.text == "be" for item in after):
        return Again(after, goal=True)
    if who.name == OPERATOR and any(item.kind == "word" and item.text in NUMBER for item in after):
        return Again(after, question=True)
    states = [item for item in after if state_of(item) is not None and item.kind != "np"]
    place = first_place(d, after, "")
    if states and place is not None and not things and not any(item.kind == "you" for item in after):
        d.add(Clause(state_of(states[-1]) or Verb.OPEN, target=place), indirect=True)
        return True
    if verbs and verbs[0].lexeme is not None:
        value = verbs[0].value
        inner = after[after.index(verbs[0]) + 1 :]
        if verbs[0].may("know") or (
            verbs[0].text in ("know", "find out", "see", "check") and any(i.kind == "wh" for i in inner)
        ):
            told = next((item for item in after[: after.index(verbs[0])] if item.is_person), None)
            if told is not None and told.phrase is not None and told.phrase.name != OPERATOR:
                near = next((item.phrase for item in after[: after.index(verbs[0])] if item.is_place), None)
                clause = Clause(Verb.TELL, person=told.phrase, person_at=told.at or near, content=_content(d, inner))
                d.add(clause, indirect=True)
                return True
            if who.name == OPERATOR:
                return Again(inner, question=True)
            clauses = question_of(d, inner)
            if clauses:
                for clause in clauses[:-1]:
                    d.add(clause)
                d.add(Clause(Verb.TELL, person=who, content=RESULT), indirect=True)
                return True
            d.add(Clause(Verb.TELL, person=who, content=d.said(inner)), indirect=True)
            return True
        if who.name != OPERATOR and value == Verb.ASK:
            d.add(Clause(Verb.ANSWER, person=who), indirect=True)
            return True
        called = next((item.phrase for item in after if item.is_place and item.prep in ("at", "to")), None)
        if who.name != OPERATOR and not things and any(item.kind == "you" for item in after) and called is not None:
            d.add(Clause(Verb.FIND, person=who, person_at=called), indirect=True)
            return True
        if who.name != OPERATOR and not things and (value in (Verb.GO, Verb.PLACE) or verbs[0].may("move")):
            target = first_place(d, inner)
            if target is not None:
                d.add(Clause(Verb.GUIDE, person=who, person_at=p.at, target=target), indirect=True)
                return True
        if verbs[0].verb("past") and things and value:
            return passive(d, things, verbs[0], [*after[: after.index(verbs[0])], *inner], p)
        if (
            things
            and after.index(verbs[0]) > after.index(things[0][0])
            and (verbs[0].verb("base") or verbs[0].verb("third"))
        ):
            return Again(after, goal=True)
        if (verbs[0].may("consume") and things and not value) or verbs[0].may("have"):
            given = [item for item in after[: after.index(verbs[0])] if item.is_person and item.phrase is not None]
            if verbs[0].may("consume"):
                inner = [item for item in inner if not (item.is_place and item.prep == "at")]
            return wish_thing(d, given[0].phrase or who if given else who, things_in(d, inner), inner, p)
        return False
    if question is not None and who.name != OPERATOR:
        d.add(Clause(Verb.ANSWER, person=who, person_at=p.at), indirect=True)
        return True
    people = [
        item
        for item in after
        if item.is_person and item.phrase is not None and item.phrase.name != OPERATOR and item.prep == ""
    ]
    pronoun = next((item for item in after if item.is_pronoun and item.text in ("him", "her") and not item.prep), None)
    if pronoun is not None and not people and d.person is not None:
        people = [replace(pronoun, phrase=d.person)]
    target = first_place(d, after, "at", "to")
    if people and target is not None and not things:
        d.add(Clause(Verb.GUIDE, person=people[0].phrase, person_at=people[0].at, target=target))
        return True
    if any(item.kind == "you" for item in after) and target is None and any(item.text == "here" for item in rest):
        d.add(Clause(Verb.FIND, person=OPERATOR_PHRASE))
        return True
    if any(item.kind == "you" for item in after) and target is not None and not things:
        d.add(Clause(Verb.GO, target=target))
        return True
    return wish_thing(d, who, things, after, p, verb is None or verb.text in ("want", "need", "like", "prefer", "have"))


def wish_thing(
    d: Discourse,
    who: Phrase,
    things: Sequence[tuple[Element, Phrase]],
    after: Sequence[Element],
    p: Parsed,
    states: bool = False,
) -> bool:
    """Note that somebody is to get a thing, or that it is to be somewhere if the verb may wish for a state."""
    if not things:
        return False
    if any(item.text in _LOST for item in after):
        return False
    target = next((item for item in after if item.is_place and item.prep in ("at", "to")), None)
    source = first_place(d, after, "from")
    if source is None and p.front:
        source = p.front[0].phrase
        fixed = p.front[0].prep != "at" or target is not None or who.name != OPERATOR or not states
        if not fixed and d.doubt("wish front", False):
            for _, thing in things:
                d.add(Clause(Verb.PLACE, thing, None, source), indirect=True)
            return True
    found = arguments(d, Verb.BRING, [item for item in after if item.kind not in ("verb", "aux", "must", "to", "i")])
    people = found.others
    there = next((item for item in after if item.is_pronoun and item.text == "there"), None)
    last, sense = after.index(things[-1][0]), None
    for item, thing in things:
        if there is not None and states and who.name == OPERATOR:
            spot = d.resolved(there, Verb.PLACE, "to")
            if spot.sort is Sort.PLACE:
                d.add(Clause(Verb.PLACE, thing, item.at or source, spot), indirect=True)
                continue
        owner = people[0] if people and who.name == OPERATOR else who
        place = source
        if target is not None and item.at is not None and states and who.name == OPERATOR and target.phrase != item.at:
            d.add(Clause(Verb.PLACE, thing, item.at, target.phrase), indirect=True)
            continue
        if target is not None and item.at is None and target.phrase is not None:
            listed = all(each.is_thing for each in after[after.index(item) : last + 1])
            direct = after.index(target) == (last if listed else after.index(item)) + 1
            certain = target.prep == "to" or not direct or who.name != OPERATOR or source is not None or not states
            definite = item.phrase is not None and item.phrase.definite
            if not certain and sense is None:
                sense = d.doubt("wish " + ("definite" if definite else "any"), definite)
            wished = definite if certain or sense is None else sense
            if source is not None and target.phrase != source and states and who.name == OPERATOR:
                d.add(Clause(Verb.PLACE, thing, source, target.phrase), indirect=True)
                continue
            if target.prep == "to" or (wished and direct and states and who.name == OPERATOR):
                d.add(Clause(Verb.PLACE, thing, source or item.at, target.phrase))
                continue
            place = source or target.phrase
        at = item.at or found.at.get(thing) or place
        clause = Clause(Verb.BRING, thing, at, None, owner, p.at if who.name != OPERATOR else None)
        d.add(clause, indirect=True)
    return True


def passive(
    d: Discourse, things: Sequence[tuple[Element, Phrase]], verb: Element, rest: Sequence[Element], p: Parsed
) -> bool:
    """As in "could the mug be brought to me", "the plate needs to be moved to the sink"."""
    assert verb.lexeme is not None
    value = Verb(verb.value)
    subjects = [item for item, _ in things]
    others = [item for item in rest if item not in subjects]
    front = [item for item in p.front if item not in others]
    found = arguments(d, value, [*subjects, *front, *others])
    clauses = clauses_of(d, value, verb.text, found)
    for clause in clauses:
        source = clause.source or (p.at if clause.thing is not None and p.at != clause.target else None)
        d.add(replace(clause, source=source), indirect=True)
    d.unclear(*unused(found, clauses))
    return bool(clauses)
