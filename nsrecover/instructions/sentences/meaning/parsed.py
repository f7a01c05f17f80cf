"""Statements taken apart: subject, auxiliary verbs and predicate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from nsrecover.instructions.sentences.arguments import share_place, state_of
from nsrecover.instructions.sentences.discourse import Discourse
from nsrecover.instructions.sentences.elements import Element
from nsrecover.instructions.sentences.reading import Phrase, Sort, Verb

ASKED = ("question", "questions", "riddle", "quiz")
"""Words for a question that somebody has."""
_ASPECTS = frozenset(("keep", "start", "stop", "go", "come", "try"))


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


@dataclass(frozen=True)
class Again:
    """What has to be read instead of a statement: what stands behind "I think that", or a question.

    Attributes:
        items: the elements.
        goal: whether the robot is to make it true.
        question: whether it is a question.
        anyway: whether the statement has said something even if they do not.
    """

    items: Sequence[Element]
    goal: bool = False
    question: bool = False
    anyway: bool = False


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
            if found.subject[-1].is_thing and found.subject[-1].at is None:
                found.subject[-1] = replace(found.subject[-1], at=item.phrase)
            else:
                found.at = item.phrase
        elif item.kind == "unknown" and found.subject and found.subject[-1].text in ("her", "his", "their"):
            found.who = "other"  # "her taxi"
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
    found.subject = _with_shared_place(found.subject)
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


def things_in(d: Discourse, items: Sequence[Element], verb: Verb | None = None) -> list[tuple[Element, Phrase]]:
    """The objects among some elements, pronouns resolved."""
    found = [(item, d.resolved(item, verb, item.prep)) for item in _with_shared_place(items) if item.kind == "np"]
    return [(item, phrase) for item, phrase in found if phrase.sort in (Sort.THING, Sort.CATEGORY)]


def _with_shared_place(items: Sequence[Element]) -> list[Element]:
    """The elements, all things among them where the last one is said to be, if no other place is named."""
    at = dict[Phrase, Phrase]()
    share_place([item for item in items if item.is_thing], at)
    return [replace(item, at=at[item.phrase]) if item.phrase in at else item for item in items]


def first_place(d: Discourse, items: Sequence[Element], *preps: str) -> Phrase | None:
    """The first place among some elements, with one of some prepositions if any are given."""
    for item in items:
        if item.kind == "np" and (not preps or item.prep in preps):
            phrase = d.resolved(item, None, item.prep)
            if phrase.sort is Sort.PLACE:
                return phrase
    return None


def predicate(p: Parsed) -> Element | None:
    """The verb of a statement, without those that only say that it begins or goes on."""
    verbs = [item for item in p.rest if item.kind == "verb"]
    if len(verbs) > 1 and verbs[0].text in _ASPECTS and (verbs[1].verb("ing") or verbs[0].text == "try"):
        return verbs[1]
    if len(verbs) > 1 and verbs[0].text == "go" and verbs[0].verb("ing") and verbs[1].may("want"):
        return verbs[1]
    return verbs[0] if verbs else None


def question_word(items: Sequence[Element]) -> bool:
    """Whether a question is spoken of: "I have a question", "may I ask you something"."""
    texts = {item.text for item in items}
    return bool(texts & set(ASKED)) or ("something" in texts and any(item.text in ("ask", "request") for item in items))
