"""Statements about things: where something is, where it belongs, what is to be done with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nsrecover.instructions.sentences.arguments import arguments, state_of
from nsrecover.instructions.sentences.discourse import OPERATOR_PHRASE, Discourse
from nsrecover.instructions.sentences.elements import Element
from nsrecover.instructions.sentences.meaning.parsed import Again, Parsed, first_place, predicate, things_in
from nsrecover.instructions.sentences.meaning.people import of_person
from nsrecover.instructions.sentences.meaning.subjects import of_place
from nsrecover.instructions.sentences.meaning.wishes import passive
from nsrecover.instructions.sentences.reading import Clause, Phrase, Sort, Verb
from nsrecover.instructions.sentences.words import GRAMMAR, listed

_LOST = frozenset(listed(GRAMMAR["lost"]))
_LASTING = frozenset(("get", "run", "wait", "sit", "stand", "rest"))
"""Verbs that say of a thing that is doing so where it is: "the milk is getting warm on the table"."""


def of_pronoun(d: Discourse, p: Parsed, goal: bool) -> bool | Again:
    """As in "it is in the fridge", "it belongs on the desk", "he is in the kitchen"."""
    item = next(each for each in p.subject if each.is_pronoun)
    pronoun = item.text
    meant = (d.person if pronoun in ("he", "she", "they") and d.person is not None else d.thing) or d.person
    switched = any(state_of(each) is not None for each in p.rest) and d.place is not None and pronoun in ("it", "that")
    if switched and (meant is None or p.must):
        p.subject = [replace(item, phrase=d.place)]
        return of_place(d, p, goal)
    if meant is None:
        return False
    group = d.group() if pronoun in ("they", "these", "those", "both") and meant == d.thing else []
    p.subject = [replace(item, phrase=each) for each in (group or [meant])]
    return (of_person if meant.sort in (Sort.PERSON, Sort.POSED) else of_thing)(d, p, goal)


def of_thing(d: Discourse, p: Parsed, goal: bool) -> bool | Again:
    """Note what is said about things; returns whether it says something about what to do."""
    subjects = [(item, d.resolved(item, None)) for item in p.subject if item.kind == "np"]
    subjects = [(item, phrase) for item, phrase in subjects if phrase.sort in (Sort.THING, Sort.CATEGORY)]
    if not subjects:
        return False
    d.note(*(phrase for _, phrase in subjects))
    verb, rest = predicate(p), p.rest
    if any(item.kind == "i" for item in rest) and verb is not None and verb.may("want"):
        for item, thing in subjects:
            d.add(Clause(Verb.BRING, thing, p.at or item.at, None, OPERATOR_PHRASE), indirect=True)
        return True
    start = p.at or (
        p.front[0].phrase if p.front and not (p.must or (verb is not None and verb.may("belong"))) else None
    )
    said = {item.text for item in rest} | {word for item in rest for word in [d.items[item.start].said]}
    can = bool({"can", "could", "would", "may", "shall"} & set(p.aux))
    if (_LOST & said) and not p.negated:
        for _, thing in subjects:
            d.add(Clause(Verb.FIND, thing, start or first_place(d, rest)), indirect=True)
        return True
    verbs = [item for item in rest if item.kind == "verb" and item.lexeme is not None]
    bearing = [item for item in verbs if not item.may("want") and item.text not in ("need", "have")]
    main = bearing[0] if bearing else verb
    if main is not None and main.value == Verb.OTHER:
        return _locate(d, subjects, start or first_place(d, rest, "at"))
    owes = p.must or goal or can or (verb is not None and (verb.may("want")))
    if main is not None and main.verb("past") and main.lexeme is not None and main.value and not (main.may("belong")):
        if owes:
            after = [item for item in rest if item is not main and item is not verb]
            p.at = start
            return passive(d, subjects, main, after, p)
        place = first_place(d, rest)
        return _locate(d, subjects, place)
    target = first_place(d, rest, "at", "to", "from")
    people = [item for item in rest if item.is_person and item.prep in ("to", "for", "with", "")]
    belongs = main is not None and (main.may("belong") or main.may("move") or (main.value == Verb.GO))
    going_on = main is not None and main.verb("ing") and bool({"is", "are"} & set(p.aux)) and main.text in _LASTING
    if main is not None and main.text == "leave" and owes:
        return _locate(d, subjects, first_place(d, rest))
    if going_on:
        return _locate(d, subjects, target)
    if (
        belongs
        and main is not None
        and not owes
        and (main.verb("past") or main.text in ("stay", "wait", "rest", "park"))
    ):
        return _locate(d, subjects, target)
    if p.negated and target is not None:
        if not p.must and not (main is not None and main.may("belong")):
            d.settled |= {item.start for item in rest}
            return False
        return _locate(d, subjects, target)
    given = bool(people) and (belongs or ((owes or main is None) and bool(people[0].prep)))
    if given:
        for item, thing in subjects:
            d.add(Clause(Verb.BRING, thing, item.at or start, None, people[0].phrase), indirect=True)
        return True
    if target is not None and (belongs or owes):
        start_of = next((k for k, item in enumerate(rest) if item.kind != "unknown"), 0)
        found = arguments(
            d, Verb.PLACE, [item for item in rest[start_of:] if item.kind not in ("verb", "aux", "must", "to")]
        )
        goals = [place for prep, place, _ in found.places if prep in ("to", "at")]
        sources = [place for prep, place, _ in found.places if prep == "from"]
        if main is not None and main.text == "come" and sources and not goals:
            return _locate(d, subjects, sources[0])
        if not goals:
            return False
        more = [(item, phrase) for item, phrase in things_in(d, rest) if item.prep == ""]
        for item, thing in [*subjects, *more]:
            source = item.at or start or (sources[0] if sources else None)
            d.add(Clause(Verb.PLACE, thing, source, goals[0]), indirect=True)
            if not belongs and not goal and main is None:
                d.entries[-1].belief = True
                d.locate(thing, goals[0])
        return True
    if target is not None and (main is None or main.may("put") or main.may("see") or main.verb("ing")):
        return _locate(d, subjects, target)
    return start is not None and _locate(d, subjects, start) and False


def _locate(d: Discourse, subjects: Sequence[tuple[Element, Phrase]], place: Phrase | None) -> bool:
    if place is None:
        return False
    for _, phrase in subjects:
        d.locate(phrase, place)
    d.place = place
    return True
