"""Statements → what they say: wishes, where something is, what should be, what is missing, who wants to know what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.discourse import OPERATOR_PHRASE, RESULT, Discourse
from nsrecover.instructions.elements import Element
from nsrecover.instructions.frames import arguments, clauses_of, state_of, unused
from nsrecover.instructions.questions import REPORT, question_of
from nsrecover.instructions.reading import Clause, Phrase, Sort, Verb
from nsrecover.instructions.words import GRAMMAR, listed

_LOST = frozenset(listed(GRAMMAR["lost"]))
_GOAL_AUX = frozenset(("should", "shall", "must", "ought", "would", "could", "can", "may"))
_ASKED = ("question", "questions", "riddle", "quiz")
_KNOWING = frozenset(("idea", "clue"))


@dataclass
class Parsed:
    """A statement taken apart.

    Attributes:
        front: places before the subject.
        subject: elements of the subject; empty without one.
        who: i, you, it, there, thing, place, person, other, or empty.
        at: where the subject is said to be.
        aux: auxiliary verbs.
        must: whether something has to be.
        negated: whether it is denied.
        rest: the predicate.
    """

    front: list[Element] = field(default_factory=list)
    subject: list[Element] = field(default_factory=list)
    who: str = ""
    at: Phrase | None = None
    aux: list[str] = field(default_factory=list)
    must: bool = False
    negated: bool = False
    rest: list[Element] = field(default_factory=list)


def parsed(d: Discourse, items: Sequence[Element]) -> Parsed:
    """A statement's subject, auxiliary verbs and predicate."""
    found, k = Parsed(), 0
    items = [item for item in items if item.kind not in ("mark", "conj")]
    while k < len(items) and (items[k].kind == "filler" or (items[k].is_place and items[k].prep in ("at", "from"))):
        if items[k].is_place:
            found.front.append(items[k])
        elif items[k].text == "there" and k + 1 < len(items) and items[k + 1].kind in ("aux", "must"):
            break
        k += 1
    if k < len(items) and items[k].text == "there":
        found.who, k = "there", k + 1
    while k < len(items) and items[k].kind not in ("aux", "must", "verb", "not", "pose"):
        item = items[k]
        if item.kind == "i":
            found.who, found.subject = "i", []
        elif item.kind == "you" and not found.subject:
            found.who = "you"
        elif found.who == "there":
            break
        elif (
            item.kind == "np"
            and item.prep in ("", "of", "for")
            and found.who in ("", "other", "thing", "person", "place")
        ):
            if item.prep == "" or not found.subject:
                found.subject.append(item)
            if item.phrase is not None and (not found.who or (found.who == "other" and item.prep == "")):
                found.who = _who(d, item)
        elif item.is_place and item.prep and found.subject:
            found.at = item.phrase
        elif item.kind in ("word", "unknown", "that", "wh") and not found.who:
            found.who = "other"
            found.subject.append(item)
        elif state_of(item) is not None:
            break
        k += 1
    while k < len(items) and items[k].kind in ("aux", "must", "not", "filler", "to"):
        item = items[k]
        if item.kind == "aux":
            found.aux.append(item.text)
        elif item.kind == "must":
            found.must = True
        elif item.kind == "not":
            found.negated = True
        elif item.kind == "filler" and state_of(item) is not None and k == len(items) - 1:
            break
        k += 1
    found.must = found.must or bool({"should", "shall", "must", "ought"} & set(found.aux))
    found.rest = list(items[k:])
    for item in found.subject:
        if item.at is not None and found.at is None:
            found.at = item.at
    return found


def _who(d: Discourse, item: Element) -> str:
    phrase = d.resolved(item, None)
    if phrase.sort is Sort.PRONOUN:
        return "it"
    if phrase.sort is Sort.PLACE:
        return "place"
    if phrase.sort in (Sort.PERSON, Sort.POSED):
        return "person"
    return "thing"


def statement_of(d: Discourse, items: Sequence[Element], goal: bool = False) -> bool:
    """Note what a statement says; returns whether it says something about what to do.

    Args:
        d: what was said before.
        items: its elements.
        goal: whether the robot is to make it true ("make sure that").
    """
    front = [item for item in items if item.kind not in ("filler", "mark", "conj")]
    first = next((item for item in front if not (item.is_place and item.prep)), None)
    if first is None:
        return False
    if first.kind == "aux" and front[0] is not first and first.text in ("is", "are", "was", "were", "lies", "stands"):
        return _there(d, Parsed(front=[front[0]], rest=[item for item in front[1:] if item is not first]), goal)
    begged = first.text in ("can", "could", "may", "might") and any(item.kind == "i" for item in front[:3])
    begged = begged and any(item.may("have") for item in front)
    if first.text == "be" and len(front) > 1 and front[1].is_place and front[1].phrase is not None:
        d.add(Clause(Verb.GO, target=front[1].phrase))
        return True
    wanting = next((item for item in front if item.may("want")), None)
    if first.text == "what" and wanting is not None and any(item.kind == "i" for item in front[:2]):
        return _wish(d, OPERATOR_PHRASE, front[front.index(wanting) :], wanting, Parsed())
    made = next((item for item in front if item.verb("past") and item.lexeme is not None and item.lexeme.value), None)
    if (
        first.verb("base")
        and first.text == "have"
        and made is not None
        and not any(i.kind == "you" for i in front)
        and _things(d, front)
    ):
        return _passive(d, _things(d, front), made, [item for item in front if item not in (first, made)], Parsed())
    if first.kind in ("wh", "aux") and not begged and _asked(d, items):
        return True
    p = parsed(d, items)
    p.must = p.must or goal
    if first.kind == "aux" and not p.subject and p.who == "":
        p = _inverted(d, items, goal) or p
    handlers = {
        "i": _operator,
        "you": _robot,
        "there": _there,
        "thing": _thing,
        "place": _place,
        "person": _person,
        "it": _it,
    }
    handler = handlers.get(p.who)
    if handler is not None and handler(d, p, goal):
        return True
    return _general(d, items, p)


def _inverted(d: Discourse, items: Sequence[Element], goal: bool) -> Parsed | None:
    """A question as a statement: "could the mug be brought to me"."""
    k = next(i for i, item in enumerate(items) if item.kind == "aux")
    after = list(items[k + 1 :])
    end = next((i for i, item in enumerate(after) if item.kind in ("verb", "aux", "must", "pose")), len(after))
    again = parsed(d, [*after[:end], items[k], *after[end:]])
    again.must = again.must or goal or items[k].text in ("could", "can", "would", "may", "might")
    return again


def _asked(d: Discourse, items: Sequence[Element]) -> bool:
    """A question that the robot can answer, or a question to another person."""
    aux = next((item for item in items if item.kind == "aux"), None)
    if aux is not None and any(item.kind == "you" for item in items) and not any(item.kind == "wh" for item in items):
        if (
            _robot(d, parsed(d, [item for item in items if item is not aux]), True)
            and d.entries
            and d.entries[-1].clause.verb is Verb.GO
        ):
            return True
    asker = next((item for item in items if item.is_person), None)
    have = next((item for item in items if item.verb("base") and item.may("have")), None)
    if (
        aux is not None
        and aux.text in ("can", "could", "may")
        and asker is not None
        and have is not None
        and asker.phrase
    ):
        things = _things(d, items)
        if things and not any(item.kind in ("i", "you") for item in items):
            d.note(asker.phrase)
            return _wish_thing(d, asker.phrase, things, [item for item in items if item is not asker], Parsed())
    clauses = question_of(d, items)
    if clauses:
        for clause in clauses:
            d.add(clause, indirect=clauses[0].verb is Verb.FIND)
        return True
    people = [item for item in items if item.is_person and item.phrase is not None and item.phrase.name != OPERATOR]
    wants = any(item.verb() for item in items)
    if people and wants and people[0].phrase is not None and not people[0].vague and people[0].prep == "":
        robot = any(item.kind in ("i", "you") for item in items)
        if not robot:
            d.add(
                Clause(Verb.ASK, person=people[0].phrase, person_at=people[0].at, content=d.said(items)), indirect=True
            )
            return True
    return False


def _things(d: Discourse, items: Sequence[Element], verb: Verb | None = None) -> list[tuple[Element, Phrase]]:
    found = [(item, d.resolved(item, verb, item.prep)) for item in items if item.kind == "np"]
    return [(item, phrase) for item, phrase in found if phrase.sort in (Sort.THING, Sort.CATEGORY)]


def _first_place(d: Discourse, items: Sequence[Element], *preps: str) -> Phrase | None:
    for item in items:
        if item.kind == "np" and (not preps or item.prep in preps):
            phrase = d.resolved(item, None, item.prep)
            if phrase.sort is Sort.PLACE:
                return phrase
    return None


_ASPECTS = frozenset(("keep", "start", "stop", "go", "come", "try"))


def _predicate(p: Parsed) -> Element | None:
    verbs = [item for item in p.rest if item.kind == "verb"]
    if len(verbs) > 1 and verbs[0].text in _ASPECTS and verbs[1].verb("ing"):
        return verbs[1]
    if len(verbs) > 1 and verbs[0].text == "go" and verbs[0].verb("ing") and verbs[1].may("want"):
        return verbs[1]
    return verbs[0] if verbs else None


# --- subjects


def _operator(d: Discourse, p: Parsed, goal: bool) -> bool:
    verb, rest = _predicate(p), p.rest
    texts = {item.text for item in rest} | {item.text for item in p.subject}
    things = _things(d, rest)
    source = next((item for item in rest if item.is_person and item.prep == "from"), None)
    if source is not None and verb is not None and any(item.may("know") for item in rest):
        d.settled |= {item.start for item in rest if item is not source}
        at = source.at or _first_place(d, rest[rest.index(source) + 1 : rest.index(source) + 2], "at")
        d.add(Clause(Verb.ASK, person=source.phrase, person_at=at, content=d.said(rest[rest.index(source) + 1 :])))
        return True
    if verb is not None and verb.may("promise") and things:
        whom = next(
            (item for item in rest if item.is_person and item.phrase is not None and item.phrase.name != OPERATOR), None
        )
        if whom is not None and whom.phrase is not None:
            return _wish_thing(d, whom.phrase, things, [item for item in rest if item not in (whom, verb)], p)
    if _KNOWING & texts or (
        verb is not None and verb.may("know") and (p.negated or "wonder" in verb.text or "would" in p.aux or p.must)
    ):
        return _asked(d, [item for item in rest if item is not verb]) if things or rest else False
    if things and p.negated and "without" in texts:
        d.add(Clause(Verb.BRING, things[0][1], things[0][0].at, None, OPERATOR_PHRASE), indirect=True)
        return True
    if verb is not None and verb.text == "forget" and verb in rest:
        inner = rest[rest.index(verb) + 1 :]
        task = next((k for k, item in enumerate(inner) if item.verb("base")), None)
        if task and inner[task - 1].kind == "to" and inner[task].lexeme is not None and inner[task].lexeme.value:  # type: ignore[union-attr]
            value = Verb(inner[task].lexeme.value)  # type: ignore[union-attr]
            for clause in clauses_of(d, value, inner[task].text, arguments(d, value, inner[task + 1 :])):
                d.add(clause, indirect=True)
            return True
    if (
        question_word(rest)
        and verb is not None
        and (verb.may("have") or (verb.lexeme is not None and verb.lexeme.value == Verb.ASK))
    ):
        d.add(Clause(Verb.ANSWER, person=OPERATOR_PHRASE), indirect=True)
        return True
    if things and verb is not None and verb.text == "forget" and not p.negated:
        place = things[0][0].at or _first_place(d, rest)
        d.add(Clause(Verb.BRING, things[0][1], place, None, OPERATOR_PHRASE), indirect=True)
        return True
    if verb is not None and verb.may("lose") and things and not p.negated:
        return _wanted_found(d, things, _first_place(d, rest))
    if p.negated and verb is not None and verb.lexeme is not None and things:
        if verb.lexeme.value in (Verb.FIND, Verb.CHECK) or verb.may("see"):
            return _wanted_found(d, things, _first_place(d, rest) or things[0][0].at)
        return False
    if verb is not None and verb.lexeme is not None and verb.lexeme.value is not None and things and not p.negated:
        if verb.lexeme.value == Verb.FIND and verb.verb("ing"):
            return _wanted_found(d, things, _first_place(d, rest) or things[0][0].at)
    if verb is not None and verb.may("think"):
        return statement_of(d, rest[rest.index(verb) + 1 :], goal)
    rather = verb is not None and verb.text == "have" and "would" in p.aux
    if rather and not p.negated:
        return _wish(d, OPERATOR_PHRASE, rest, verb, p)
    if p.must and verb is not None and not p.negated and (verb.may("have") or verb.may("consume")):
        return _wish_thing(d, OPERATOR_PHRASE, things, rest, p)
    if (
        (verb is not None
        and verb.may("want"))
        or ({"could", "can", "may", "might"} & set(p.aux)
        and verb is not None
        and verb.may("have"))
    ):
        return _wish(d, OPERATOR_PHRASE, rest, verb, p)
    seen = [item for item in rest if item.is_person and item.phrase is not None and item.phrase.name != OPERATOR]
    if (
        verb is not None
        and verb.may("see")
        and verb.verb("past")
        and seen
        and not things
        and seen[0].phrase is not None
    ):
        where = seen[0].at or _first_place(d, rest)
        d.note(seen[0].phrase)
        if where is not None:
            d.locate(seen[0].phrase, where)
        return where is not None
    if verb is not None and (verb.may("put") or verb.may("see")) and verb.verb("past") and things:
        item, thing = things[0]
        place = item.at or _first_place(d, rest) or (p.front[0].phrase if p.front else None)
        d.note(thing)
        if place is not None:
            d.locate(thing, place)
            d.place = place
            return True
        return False
    moves = verb is not None and (verb.may("move") or (verb.lexeme is not None and verb.lexeme.value == Verb.GO))
    place = _first_place(d, rest, "at", "to") if moves else _first_place(d, rest, "at")
    own = [item for item, _ in things if item.prep not in ("from", "of")]
    if moves and place is not None and not p.negated:
        d.moving.append((OPERATOR_PHRASE, None, place))
    if verb is not None and verb.lexeme is not None and verb.lexeme.value == Verb.GUIDE and not p.negated:
        target = _first_place(d, rest)
        if target is not None:
            d.moving.append((OPERATOR_PHRASE, None, target))
            return True
    if not own and place is not None and {"am", "be", "will", "are"} & set(p.aux) and not p.negated:
        d.operator_at = place
        return True
    if verb is None and place is None and "there" in texts and "will" in p.aux and d.place is not None:
        d.operator_at = d.place
        return True
    return False


def question_word(items: Sequence[Element]) -> bool:
    """Whether a question is spoken of: "I have a question", "may I ask you something"."""
    texts = {item.text for item in items}
    return bool(texts & set(_ASKED)) or (
        "something" in texts and any(item.text in ("ask", "request") for item in items)
    )


def _wanted_found(d: Discourse, things: Sequence[tuple[Element, Phrase]], place: Phrase | None) -> bool:
    for item, thing in things[:1]:
        d.add(Clause(Verb.FIND, thing, item.at or place), indirect=True)
    return True


def _wish(d: Discourse, who: Phrase, rest: Sequence[Element], verb: Element | None, p: Parsed) -> bool:
    """What somebody wants: a thing, to know something, to go somewhere, or a state."""
    if p.negated:
        return False
    k = rest.index(verb) + 1 if verb is not None else 0
    after = [item for item in rest[k:] if item.kind not in ("filler", "mark", "conj")]
    verbs = [item for item in after if item.kind == "verb"]
    things = _things(d, after)
    question = next((item for item in after if item.kind == "word" and item.text in _ASKED), None)
    if things and any(item.kind == "aux" and item.text == "be" for item in after):
        return statement_of(d, after, goal=True)
    states = [item for item in after if state_of(item) is not None and item.kind != "np"]
    place = _first_place(d, after, "")
    if states and place is not None and not things and not any(item.kind == "you" for item in after):
        d.add(Clause(state_of(states[-1]) or Verb.OPEN, target=place), indirect=True)
        return True
    if verbs and verbs[0].lexeme is not None:
        value = verbs[0].lexeme.value
        inner = after[after.index(verbs[0]) + 1 :]
        if (
            verbs[0].may("know")
            or (verbs[0].text in ("know", "find out", "see", "check")
            and any(i.kind == "wh" for i in inner))
        ):
            if who.name == OPERATOR:
                return _asked(d, inner)
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
        if who.name != OPERATOR and not things and (value in (Verb.GO, Verb.PLACE) or verbs[0].may("move")):
            target = _first_place(d, inner)
            if target is not None:
                d.add(Clause(Verb.GUIDE, person=who, person_at=p.at, target=target), indirect=True)
                return True
        if verbs[0].verb("past") and things and value:
            return _passive(d, things, verbs[0], [*after[: after.index(verbs[0])], *inner], p)
        if (
            things
            and after.index(verbs[0]) > after.index(things[0][0])
            and (verbs[0].verb("base") or verbs[0].verb("third"))
        ):
            return statement_of(d, after, goal=True)
        if (verbs[0].may("consume") and things and not value) or verbs[0].may("have"):
            given = [item for item in after[: after.index(verbs[0])] if item.is_person and item.phrase is not None]
            if verbs[0].may("consume"):
                inner = [item for item in inner if not (item.is_place and item.prep == "at")]
            return _wish_thing(d, given[0].phrase or who if given else who, _things(d, inner), inner, p)
        return False
    if question is not None and who.name != OPERATOR:
        d.add(Clause(Verb.ANSWER, person=who, person_at=p.at), indirect=True)
        return True
    people = [
        item
        for item in after
        if item.is_person and item.phrase is not None and item.phrase.name != OPERATOR and item.prep == ""
    ]
    target = _first_place(d, after, "at", "to")
    if people and target is not None and not things:
        d.add(Clause(Verb.GUIDE, person=people[0].phrase, person_at=people[0].at, target=target))
        return True
    if any(item.kind == "you" for item in after) and target is None and any(item.text == "here" for item in rest):
        d.add(Clause(Verb.FIND, person=OPERATOR_PHRASE))
        return True
    if any(item.kind == "you" for item in after) and target is not None and not things:
        d.add(Clause(Verb.GO, target=target))
        return True
    return _wish_thing(
        d, who, things, after, p, verb is None or verb.text in ("want", "need", "like", "prefer", "have")
    )


def _wish_thing(
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
    source = _first_place(d, after, "from") or (p.front[0].phrase if p.front else None)
    found = arguments(d, Verb.BRING, [item for item in after if item.kind not in ("verb", "aux", "must", "to", "i")])
    people = found.others
    for item, thing in things:
        owner = people[0] if people and who.name == OPERATOR else who
        place = source
        if target is not None and item.at is not None and states and who.name == OPERATOR and target.phrase != item.at:
            d.add(Clause(Verb.PLACE, thing, item.at, target.phrase), indirect=True)
            continue
        if target is not None and item.at is None and target.phrase is not None:
            direct = after.index(target) == after.index(item) + 1
            certain = target.prep == "to" or not direct or who.name != OPERATOR or source is not None or not states
            definite = item.phrase is not None and item.phrase.definite
            wished = definite if certain else d.doubt("wish " + ("definite" if definite else "any"), definite)
            if source is not None and target.phrase != source and states and who.name == OPERATOR:
                d.add(Clause(Verb.PLACE, thing, source, target.phrase), indirect=True)
                continue
            if target.prep == "to" or (wished and direct and states and who.name == OPERATOR):
                d.add(Clause(Verb.PLACE, thing, source or item.at, target.phrase))
                continue
            place = source or target.phrase
        clause = Clause(Verb.BRING, thing, item.at or place, None, owner, p.at if who.name != OPERATOR else None)
        d.add(clause, indirect=True)
    return True


def _passive(
    d: Discourse, things: Sequence[tuple[Element, Phrase]], verb: Element, rest: Sequence[Element], p: Parsed
) -> bool:
    """ "could the mug be brought to me", "the plate needs to be moved to the sink"."""
    assert verb.lexeme is not None
    value = Verb(verb.lexeme.value)
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


def _robot(d: Discourse, p: Parsed, goal: bool) -> bool:
    """ "you will find robin in the study", "could you be in the study", "you are needed in the study"."""
    verb = _predicate(p)
    there = _first_place(d, p.rest, "at", "to")
    needed = verb is not None and verb.may("want") and verb.verb("past")
    if there is not None and (needed or verb is None) and (p.must or needed or "be" in p.aux) and not p.negated:
        d.add(Clause(Verb.GO, target=there))
        return True
    things = _things(d, p.rest)
    place = _first_place(d, p.rest) or (p.front[0].phrase if p.front else None)
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


def _there(d: Discourse, p: Parsed, goal: bool) -> bool:
    things = _things(d, p.rest)
    place = _first_place(d, p.rest) or (p.front[0].phrase if p.front else None)
    people = [item for item in p.rest if item.is_person and item.phrase is not None and item.phrase.name != OPERATOR]
    if people and any(item.text in _ASKED for item in p.rest):
        d.add(Clause(Verb.ANSWER, person=people[0].phrase, person_at=people[0].at), indirect=True)
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
    verb = _predicate(p)
    if (
        things
        and verb is not None
        and (verb.may("want") or verb.text == "belong" or any(i.kind == "must" for i in p.rest))
    ):
        k = p.rest.index(things[0][0])
        return statement_of(d, [things[0][0], *[i for i in p.rest[k + 1 :] if i.kind != "that"]], goal) or True
    that = next((i for i, item in enumerate(p.rest) if item.kind == "that"), None)
    if things and that is not None:
        relative = p.rest[that + 1 :]
        thing = replace(things[0][0], prep="")
        if relative and relative[0].kind == "i":
            return statement_of(d, [*relative, thing]) or True
        return statement_of(d, [thing, *relative], goal) or True
    return bool(things or people)


def _it(d: Discourse, p: Parsed, goal: bool) -> bool:
    """ "it is in the fridge", "it belongs on the desk", "he is in the kitchen"."""
    item = next(each for each in p.subject if each.is_pronoun)
    pronoun = item.text
    meant = (d.person if pronoun in ("he", "she", "they") and d.person is not None else d.thing) or d.person
    if meant is None:
        return False
    p.subject = [replace(item, phrase=meant)]
    return (_person if meant.sort in (Sort.PERSON, Sort.POSED) else _thing)(d, p, goal)


def _thing(d: Discourse, p: Parsed, goal: bool) -> bool:
    subjects = [(item, d.resolved(item, None)) for item in p.subject if item.kind == "np"]
    subjects = [(item, phrase) for item, phrase in subjects if phrase.sort in (Sort.THING, Sort.CATEGORY)]
    if not subjects:
        return False
    d.note(*(phrase for _, phrase in subjects))
    verb, rest = _predicate(p), p.rest
    if any(item.kind == "i" for item in rest) and verb is not None and verb.may("want"):
        for item, thing in subjects:
            d.add(Clause(Verb.BRING, thing, p.at or item.at, None, OPERATOR_PHRASE), indirect=True)
        return True
    start = p.at or (p.front[0].phrase if p.front and not (p.must or (verb is not None and verb.may("belong"))) else None)
    said = {item.text for item in rest} | {word for item in rest for word in [d.items[item.start].said]}
    can = bool({"can", "could", "would", "may", "shall"} & set(p.aux))
    if (_LOST & said) and not p.negated:
        for _, thing in subjects:
            d.add(Clause(Verb.FIND, thing, start), indirect=True)
        return True
    verbs = [item for item in rest if item.kind == "verb" and item.lexeme is not None]
    bearing = [item for item in verbs if not item.may("want") and item.text not in ("need", "have")]
    main = bearing[0] if bearing else verb
    if main is not None and main.lexeme is not None and main.lexeme.value == Verb.OTHER:
        return _locate(d, subjects, start or _first_place(d, rest, "at"))
    owes = p.must or goal or can or (verb is not None and (verb.may("want")))
    if (
        main is not None
        and main.verb("past")
        and main.lexeme is not None
        and main.lexeme.value
        and not (main.may("belong"))
    ):
        if owes:
            after = [item for item in rest if item is not main and item is not verb]
            p.at = start
            return _passive(d, subjects, main, after, p)
        place = _first_place(d, rest)
        return _locate(d, subjects, place)
    target = _first_place(d, rest, "at", "to", "from")
    people = [item for item in rest if item.is_person and item.prep in ("to", "for", "with", "")]
    belongs = main is not None and (
        main.may("belong") or main.may("move") or (main.lexeme is not None and main.lexeme.value == Verb.GO)
    )
    if (
        belongs
        and main is not None
        and not owes
        and (main.verb("past") or main.text in ("stay", "wait", "rest", "park"))
    ):
        return _locate(d, subjects, target)
    if p.negated and target is not None:
        if not p.must:
            d.settled |= {item.start for item in rest}
            return False
        return _locate(d, subjects, target)
    if people and (belongs or owes or main is None) and people[0].phrase is not None:
        if people[0].prep or belongs:
            for item, thing in subjects:
                d.add(Clause(Verb.BRING, thing, start or item.at, None, people[0].phrase), indirect=True)
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
        for item, thing in subjects:
            source = start or item.at or (sources[0] if sources else None)
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


def _place(d: Discourse, p: Parsed, goal: bool) -> bool:
    item = next(each for each in p.subject if each.kind == "np")
    phrase = d.resolved(item, None)
    last = [each for each in p.subject if each.is_place]
    if last and last[-1].prep == "" and last[-1].phrase is not None:
        phrase = last[-1].phrase
    d.note(phrase)
    verb = _predicate(p)
    things = _things(d, p.rest)
    if verb is None and "has" not in p.aux and "have" not in p.aux:
        things = []
    if things and ({"has", "have"} & set(p.aux) or (verb is not None and verb.may("have"))):
        for each, thing in things:
            d.note(thing)
            d.locate(thing, phrase)
        return True
    state = next(
        (state_of(each) for each in reversed(p.rest) if each.kind != "np" and state_of(each) is not None), None
    )
    if (
        verb is not None
        and verb.lexeme is not None
        and verb.lexeme.value in (Verb.OPEN, Verb.CLOSE, Verb.TURN_ON, Verb.TURN_OFF)
    ):
        state = Verb(verb.lexeme.value)
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


def _person(d: Discourse, p: Parsed, goal: bool) -> bool:
    item = next(each for each in p.subject if each.is_person or each.is_pronoun)
    who = d.resolved(item, Verb.TELL)
    if who.sort not in (Sort.PERSON, Sort.POSED) or who.name == OPERATOR:
        return False
    vague = item.vague
    verb, rest = _predicate(p), p.rest
    pose = next((each for each in rest if each.kind == "pose"), None)
    place = _first_place(d, rest, "at", "from") or (p.front[0].phrase if p.front else None) or p.at
    if pose is not None and pose.lexeme is not None and verb is None and not p.must and who.name == "person":
        who = Phrase(Sort.POSED, pose.lexeme.value, who.definite)
    d.note(who)
    texts = {each.text for each in rest}
    if texts & set(_ASKED) and (verb is None or verb.may("have") or verb.may("want")):
        d.add(Clause(Verb.ANSWER, person=who, person_at=p.at or place), indirect=True)
        return True
    if verb is not None and verb.may("know"):
        after = rest[rest.index(verb) + 1 :]
        places = [each for each in after if each.is_place]
        if p.negated and places and ("way" in texts or "where" in texts):
            d.add(Clause(Verb.GUIDE, person=who, person_at=p.at, target=places[0].phrase), indirect=True)
            return True
        if p.negated or p.must:
            if after and after[0].is_place and after[0].prep == "at":
                p.at, after = p.at or after[0].phrase, after[1:]
            d.settled |= {each.start for each in after}
            d.add(
                Clause(Verb.TELL, person=who, person_at=p.at, content=d.said(after).removeprefix("that ")),
                indirect=True,
            )
            return True
    if verb is not None and verb.lexeme is not None and verb.lexeme.value == Verb.ASK and verb.verb("third"):
        clauses = question_of(d, rest[rest.index(verb) + 1 :])
        if clauses:
            for clause in clauses[:-1]:
                d.add(clause)
            d.add(Clause(Verb.TELL, person=who, content=RESULT), indirect=True)
            return True
    asked_for = [(item, phrase) for item, phrase in _things(d, rest) if item.prep == "for"]
    if verb is not None and verb.lexeme is not None and verb.lexeme.value == Verb.ASK and asked_for and not vague:
        return _wish_thing(d, who, asked_for, [item for item in rest if not item.is_person], p)
    if verb is not None and verb.text == "forget" and vague:
        return _operator(d, replace(p, who="i"), goal)
    if verb is not None and verb.lexeme is not None and verb.verb("past") and p.must and not p.negated and not vague:
        target = _first_place(d, rest, "to")
        if verb.lexeme.value in (Verb.BRING, Verb.TAKE, Verb.GUIDE) and target is not None:
            start = p.at or _first_place(d, rest, "from")
            d.add(Clause(Verb.GUIDE, person=who, person_at=start, target=target), indirect=True)
            return True
    if verb is not None and verb.text == "get" and verb.verb("third") and _things(d, rest) and not vague:
        return _wish_thing(d, who, _things(d, rest), rest[rest.index(verb) + 1 :], p)
    if verb is not None and verb.lexeme is not None and not vague:
        target = _first_place(d, rest, "to", "for") or (_first_place(d, rest, "at") if goal or p.must else None)
        if verb.lexeme.value == Verb.GUIDE and "where" in texts:
            target = target or _first_place(d, rest)
        start = _first_place(d, rest, "from")
        moves = verb.may("move") or verb.lexeme.value in (Verb.GO, Verb.GUIDE)
        if moves and (p.must or goal) and target is not None:
            d.add(Clause(Verb.GUIDE, person=who, person_at=p.at or start, target=target), indirect=True)
            return True
        if moves and target is not None and not verb.may("want") and not p.negated:
            d.moving.append((who, start or p.at, target))
            return True
    if verb is not None and (verb.may("want") or (verb.may("have") and (goal or p.must))) and not vague:
        if p.at is None and place is not None and False:
            p.at = place
        return _wish(d, who, rest, verb, p)
    things = _things(d, rest)
    if things and "without" in texts and not vague:
        d.add(Clause(Verb.BRING, things[0][1], things[0][0].at, None, who), indirect=True)
        return True
    needs = (verb is not None and (verb.may("lose") or verb.text == "forget")) or (
        p.negated and (verb is None or verb.may("have"))
    )
    if "has" in p.aux and things and p.must is False and verb is None and not p.negated and not goal:
        return False
    if things and goal and ({"has", "have"} & set(p.aux)):
        return _wish_thing(d, who, things, rest, p)
    if things and verb is not None and verb.verb("past") and (verb.may("put") or verb.may("see")) and place is not None:
        d.note(things[0][1])
        d.locate(things[0][1], things[0][0].at or place)
        return True
    if things and needs and not vague:
        each, thing = things[0]
        if each.at is not None:
            d.locate(thing, each.at)
        if "without" in texts or p.negated or verb is not None:
            d.add(Clause(Verb.BRING, thing, each.at, None, who), indirect=True)
        return True
    resting = (
        verb is None
        or verb.verb("ing")
        or (verb.lexeme is not None and verb.lexeme.value in ("", Verb.GO) and not verb.may("move"))
    )
    if place is not None and not p.negated and resting:
        d.locate(who, place)
        d.place = place
        return True
    return bool(pose is not None and who.sort is Sort.POSED)


def _general(d: Discourse, items: Sequence[Element], p: Parsed) -> bool:
    """What no subject decides: a wish without verb, or "any idea where my watch is"."""
    texts = {item.text for item in items}
    content = [item for item in items if item.kind not in ("filler", "mark", "conj")]
    if (_KNOWING & texts or any(item.may("see") or item.may("know") for item in items)) and _things(d, content):
        if any(item.kind in ("wh", "you") for item in items):
            return _asked(d, [item for item in content if not (item.may("see") or item.may("know"))])
    have = next((item for item in content if item.kind == "verb" and item.may("have") and item.verb("base")), None)
    if have is not None and content.index(have) and content[content.index(have) - 1].kind == "to" and "it" in texts:
        return _wish(d, OPERATOR_PHRASE, content[content.index(have) :], have, Parsed())
    if p.who in ("you", "other", "") and any(item.kind == "wh" or item.text == "number" for item in content):
        return _asked(d, content)
    return False


__all__ = ["REPORT", "parsed", "statement_of"]
