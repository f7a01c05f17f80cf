"""Statements and questions → what they say about what is to be done."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.sentences.discourse import OPERATOR_PHRASE, Discourse
from nsrecover.instructions.sentences.elements import Element
from nsrecover.instructions.sentences.meaning.parsed import Again, Parsed, parsed, things_in
from nsrecover.instructions.sentences.meaning.people import of_person
from nsrecover.instructions.sentences.meaning.questions import question_of
from nsrecover.instructions.sentences.meaning.subjects import by_operator, existence, of_place, to_robot
from nsrecover.instructions.sentences.meaning.things import of_pronoun, of_thing
from nsrecover.instructions.sentences.meaning.wishes import passive, wish, wish_thing
from nsrecover.instructions.sentences.reading import Clause, Verb

_KNOWING = frozenset(("idea", "clue"))


_Handler = Callable[[Discourse, Parsed, bool], bool | Again]
_HANDLERS: dict[str, _Handler] = {
    "i": by_operator,
    "you": to_robot,
    "there": existence,
    "thing": of_thing,
    "place": of_place,
    "person": of_person,
    "it": of_pronoun,
}


def statement_of(d: Discourse, items: Sequence[Element], goal: bool = False) -> bool:
    """Note what a statement says; returns whether it says something about what to do.

    Args:
        d: what was said before.
        items: its elements.
        goal: whether the robot is to make it true ("make sure that").
    """
    return _settled(d, _read(d, items, goal))


def _settled(d: Discourse, found: bool | Again) -> bool:
    """Read what has to be read instead of a statement."""
    if not isinstance(found, Again):
        return found
    said = _asked(d, found.items) if found.question else statement_of(d, found.items, found.goal)
    return said or found.anyway


def _read(d: Discourse, items: Sequence[Element], goal: bool) -> bool | Again:
    front = [item for item in items if item.kind not in ("filler", "mark", "conj")]
    first = next((item for item in front if not (item.is_place and item.prep)), None)
    if first is None:
        return False
    if first.kind == "aux" and front[0] is not first and first.text in ("is", "are", "was", "were", "lies", "stands"):
        return existence(d, Parsed(front=[front[0]], rest=[item for item in front[1:] if item is not first]), goal)
    begged = first.text in ("can", "could", "may", "might") and any(item.kind == "i" for item in front[:3])
    begged = begged and any(item.may("have") for item in front)
    if first.text == "be" and len(front) > 1 and front[1].is_place and front[1].phrase is not None:
        d.add(Clause(Verb.GO, target=front[1].phrase))
        return True
    wanting = next((item for item in front if item.may("want")), None)
    if first.text == "what" and wanting is not None and any(item.kind == "i" for item in front[:2]):
        return wish(d, OPERATOR_PHRASE, front[front.index(wanting) :], wanting, Parsed())
    made = next((item for item in front if item.verb("past") and item.value), None)
    if (
        first.verb("base")
        and first.text == "have"
        and made is not None
        and not any(i.kind == "you" for i in front)
        and things_in(d, front)
    ):
        return passive(d, things_in(d, front), made, [item for item in front if item not in (first, made)], Parsed())
    if first.kind in ("wh", "aux") and not begged and _asked(d, items):
        return True
    p = parsed(d, items)
    p.must = p.must or goal
    if first.kind == "aux" and not p.subject and p.who == "":
        p = _inverted(d, items, goal) or p
    handler = _HANDLERS.get(p.who)
    if handler is not None and _settled(d, handler(d, p, goal)):
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
    to_you = any(item.kind == "you" for item in items) and not any(item.kind == "wh" for item in items)
    if aux is not None and to_you:
        said = to_robot(d, parsed(d, [item for item in items if item is not aux]), True)
        if said and d.entries and d.entries[-1].clause.verb is Verb.GO:
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
        things = things_in(d, items)
        if things and not any(item.kind in ("i", "you") for item in items):
            d.note(asker.phrase)
            return wish_thing(d, asker.phrase, things, [item for item in items if item is not asker], Parsed())
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
            k = items.index(people[0])
            at = people[0].at or next((item.phrase for item in items[k + 1 : k + 2] if item.is_place), None)
            d.add(Clause(Verb.ASK, person=people[0].phrase, person_at=at, content=d.said(items)), indirect=True)
            d.settled |= {item.start for item in items if not item.is_place}
            return True
    return False


def _general(d: Discourse, items: Sequence[Element], p: Parsed) -> bool:
    """What no subject decides: a wish without verb, or "any idea where my watch is"."""
    texts = {item.text for item in items}
    content = [item for item in items if item.kind not in ("filler", "mark", "conj")]
    knowing = bool(_KNOWING & texts) or any(item.may("see") or item.may("know") for item in items)
    if knowing and things_in(d, content) and any(item.kind in ("wh", "you") for item in items):
        return _asked(d, [item for item in content if not (item.may("see") or item.may("know"))])
    have = next((item for item in content if item.kind == "verb" and item.may("have") and item.verb("base")), None)
    if have is not None and content.index(have) and content[content.index(have) - 1].kind == "to" and "it" in texts:
        return _settled(d, wish(d, OPERATOR_PHRASE, content[content.index(have) :], have, Parsed()))
    if p.who in ("you", "other", "") and any(item.kind == "wh" or item.text == "number" for item in content):
        return _asked(d, content)
    return False
