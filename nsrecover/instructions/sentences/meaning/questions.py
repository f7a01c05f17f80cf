"""Questions, direct or after "tell me" and "find out" → clauses: how many, where, who, which pose, what is there."""

from __future__ import annotations

from collections.abc import Sequence

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.sentences.discourse import NAME, OPERATOR_PHRASE, RESULT, Discourse
from nsrecover.instructions.sentences.elements import Element
from nsrecover.instructions.sentences.reading import Clause, Phrase, Sort, Verb
from nsrecover.instructions.sentences.words import GRAMMAR, listed

NUMBER = frozenset(("number", "amount", "quantity", "headcount", "count", "total"))
"""Words for how many."""
_POSE = frozenset(("pose", "posture", "gesture", "position", "posed", "positioned"))
_THINGS = frozenset(
    ("object", "objects", "thing", "things", "item", "items", "stuff", "something", "anything", "everything")
)
_LOST = frozenset(listed(GRAMMAR["lost"]))
REPORT = Clause(Verb.TELL, person=OPERATOR_PHRASE, content=RESULT)
"""Telling the operator what was found out."""


def question_of(d: Discourse, items: Sequence[Element]) -> list[Clause] | None:
    """The clauses that answer a question; None if it is none that the robot can answer by itself.

    Args:
        d: what was said before.
        items: the elements of the question.
    """
    items = [item for item in items if item.kind != "mark"]
    texts = {text for item in items for text in (item.text, *_words(d, item))}
    nouns = [item for item in items if item.kind == "np" and item.phrase is not None]
    phrases = [(item, d.resolved(item, Verb.FIND, item.prep)) for item in nouns]
    things = [
        (item, p) for item, p in phrases if item.is_thing or (item.is_pronoun and p.sort in (Sort.THING, Sort.CATEGORY))
    ]
    people = [(item, p) for item, p in phrases if p.sort in (Sort.PERSON, Sort.POSED) and p.name != OPERATOR]
    places = [p for item, p in phrases if p.sort is Sort.PLACE]
    place = places[0] if places else next((item.at for item in nouns if item.at is not None), None)
    wh = [item.text for item in items if item.kind == "wh"]
    if (
        "how many" in texts
        or (things and any(item.count or item.kind == "number" for item in items))
        or "how much" in wh
        or NUMBER & texts
        or "what number of" in wh
    ):
        return _counted(d, items, things, people, place)
    if _POSE & texts and (people or d.person is not None):
        person, at = _who(d, people)
        return [Clause(Verb.POSE, person=person, person_at=at or place), REPORT]
    poses = [
        item
        for item in items
        if item.kind == "pose" or (item.kind == "np" and item.phrase and item.phrase.sort is Sort.POSED)
    ]
    if people and (
        len([i for i in items if i.kind == "pose"]) > 1
        or (poses and ({"how", "if", "whether"} & set(wh) or _asks(items)))
    ):
        item, person = people[0]
        if person.sort is Sort.POSED:
            person = Phrase(Sort.PERSON, "person", person.definite)
        return [Clause(Verb.POSE, person=person, person_at=item.at or place), REPORT]
    if people and (
        {"name", "names"} & texts or {"called", "what"} <= texts or ("who" in texts and people[0][1].name == "person")
    ):
        item, person = people[0]
        return [Clause(Verb.ASK, person=person, person_at=item.at or place, content=NAME), REPORT]
    after_who = [items[k + 1 : k + 2] for k, item in enumerate(items) if item.text == "who"]
    asks_who = any(not after or after[0].kind == "aux" or after[0].is_pronoun for after in after_who)
    unnamed = d.person is not None and d.person.name == "person"
    if asks_who and place is None and unnamed:
        place = next((spot for who, spot in reversed(d.located) if who == d.person), None)
    if asks_who and place is not None and not things:
        return [Clause(Verb.ASK, person=Phrase(Sort.PERSON, "person"), person_at=place, content=NAME), REPORT]
    if things and ("where" in texts or _LOST & texts or "whereabouts" in texts):
        item, thing = things[0]
        return [Clause(Verb.FIND, thing, item.at or place), REPORT]
    if wh == ["where"] and not nouns and d.thing is not None:
        return [Clause(Verb.FIND, d.thing), REPORT]
    if people and place is None and "there" in texts and ({"if", "whether"} & set(wh) or _asks(items)):
        place = d.place
    still = not any(item.kind in ("verb", "unknown", "word") for item in items)
    if people and place is not None and not things and still and ({"if", "whether"} & set(wh) or _asks(items)):
        return [Clause(Verb.FIND, person=people[0][1], person_at=place), REPORT]
    if people and (
        "where" in wh or ("room" in texts and {"which", "what"} & texts) or {"whereabouts", "location"} & texts
    ):
        return [Clause(Verb.FIND, person=people[0][1], person_at=people[0][0].at or place), REPORT]
    if things and (({"if", "whether"} & set(wh)) or _asks(items)) and not people and _located(items):
        item, thing = things[0]
        return [Clause(Verb.FIND, thing, item.at or place), REPORT]
    what = bool({"what", "which"} & texts) or (bool(_THINGS & texts) and (bool(wh) or _asks(items)))
    if place is not None and not people and what and _located(items):
        thing = things[0][1] if things else Phrase(Sort.CATEGORY, "object")
        return [Clause(Verb.COUNT, thing, place), REPORT]
    return None


def _words(d: Discourse, item: Element) -> list[str]:
    return [lexeme.said for lexeme in d.items[item.start : item.end]]


def _asks(items: Sequence[Element]) -> bool:
    """Whether a question begins with its verb: "is the key in the study"."""
    first = next((item for item in items if item.kind not in ("filler", "conj")), None)
    if first is None or first.kind != "aux":
        return False
    return first.text not in ("can", "could", "would", "will", "may", "shall") or not any(
        item.verb("past", "base") and item.value for item in items
    )


def _located(items: Sequence[Element]) -> bool:
    """Whether nothing is asked about an object but where it is."""
    verbs = [item for item in items if item.kind == "verb"]
    unknown = [item for item in items if item.kind == "unknown"]
    return not unknown and all(
        (item.verb("past") and item.value != Verb.OTHER)
        or item.may("see")
        or item.may("put")
        or item.may("have")
        or item.may("know")
        for item in verbs
    )


def _who(d: Discourse, people: Sequence[tuple[Element, Phrase]]) -> tuple[Phrase | None, Phrase | None]:
    if people:
        return people[0][1], people[0][0].at
    return d.person, None


def _counted(
    d: Discourse,
    items: Sequence[Element],
    things: Sequence[tuple[Element, Phrase]],
    people: Sequence[tuple[Element, Phrase]],
    place: Phrase | None,
) -> list[Clause] | None:
    pose = next((item for item in items if item.kind == "pose"), None)
    last = d.entries[-1].clause.verb if d.entries else None
    if not things and not people and place is None and last is Verb.COUNT:
        return [REPORT]
    if (
        not things
        and not people
        and place is None
        and d.thing is not None
        and d.entries
        and d.entries[-1].clause == REPORT
    ):
        return [Clause(Verb.COUNT, d.thing, d.place), REPORT]
    if things:
        item, thing = things[0]
        return [Clause(Verb.COUNT, thing, item.at or place or d.place), REPORT]
    said = {word for item in items for word in _words(d, item)}
    if not people and _THINGS & said and place is not None:
        return [Clause(Verb.COUNT, Phrase(Sort.CATEGORY, "object"), place), REPORT]
    if not people and "headcount" not in said and pose is None and place is None:
        return None
    if not people and not NUMBER & said and pose is None and d.thing is not None:
        return [Clause(Verb.COUNT, d.thing, place), REPORT]
    person = people[0][1] if people else Phrase(Sort.PERSON, "person", False, plural=True)
    at = (people[0][0].at if people else None) or place or d.place
    if pose is not None and pose.lexeme is not None:
        person = Phrase(Sort.POSED, pose.lexeme.value, False, plural=True)
    return [Clause(Verb.COUNT, None, at, person=person), REPORT]
