"""The arguments of a verb: its objects, people and places with their prepositions, states and other words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.sentences.discourse import SWITCHED, Discourse
from nsrecover.instructions.sentences.elements import Element
from nsrecover.instructions.sentences.reading import PEOPLE, Phrase, Sort, Verb
from nsrecover.instructions.sentences.words import GRAMMAR, listed

STATES: dict[str, Verb] = {
    **dict.fromkeys(listed(GRAMMAR["states"]["open"]), Verb.OPEN),
    **dict.fromkeys(listed(GRAMMAR["states"]["closed"]), Verb.CLOSE),
    **dict.fromkeys(listed(GRAMMAR["states"]["on"]), Verb.TURN_ON),
    **dict.fromkeys(listed(GRAMMAR["states"]["off"]), Verb.TURN_OFF),
}
"""How a state is said -> the verb that leads to it."""

_ALARMS = ("not", "exclusion", "number", "time")
CARRIED = (Verb.BRING, Verb.TAKE, Verb.PLACE)
"""Verbs about things that are moved."""
_SEVERAL = ("them", "these", "those", "they", "both")


def state_of(item: Element) -> Verb | None:
    """The verb that leads to the state that a word names; None if it names none."""
    if item.kind in ("particle", "from", "at", "to", "filler", "verb", "unknown", "word"):
        said = item.lexeme.said if item.lexeme is not None else item.text
        if item.verb("past") and item.value in SWITCHED:
            return Verb(item.value)
        return STATES.get(said) or (STATES.get(item.text) if item.kind != "verb" else None)
    return None


@dataclass
class Arguments:
    """What stands with a verb.

    Attributes:
        things: objects, with their preposition.
        people: people, with their preposition.
        places: places with their preposition, and what stood before each: a thing, a person, or nothing.
        states: verbs that lead to the states that are named.
        words: general nouns.
        particles: prepositions without a noun phrase.
        wh: question words.
        used: the elements of the phrases, to say which of them are in no clause.
        at: phrase -> where what it names is said to be.
    """

    things: list[tuple[str, Phrase]] = field(default_factory=list)
    people: list[tuple[str, Phrase]] = field(default_factory=list)
    places: list[tuple[str, Phrase, str]] = field(default_factory=list)
    states: list[Verb] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    particles: list[str] = field(default_factory=list)
    wh: list[str] = field(default_factory=list)
    used: list[tuple[Element, Phrase]] = field(default_factory=list)
    at: dict[Phrase, Phrase] = field(default_factory=dict)

    def place(self, *preps: str, after: str | None = None) -> Phrase | None:
        """The first place with one of some prepositions."""
        return next((p for prep, p, what in self.places if prep in preps and (after is None or what == after)), None)

    @property
    def others(self) -> list[Phrase]:
        """The people besides the operator."""
        return [phrase for _, phrase in self.people if phrase.name != OPERATOR]


def arguments(d: Discourse, verb: Verb, items: Sequence[Element]) -> Arguments:
    """The arguments among some elements; what cannot be one is noted as not understood."""
    found, last, i = Arguments(), "", 0
    several = sum(item.is_thing for item in items) > 1 and sum(item.prep == "from" for item in items) > 1
    while i < len(items):
        item = items[i]
        if item.kind == "np" and item.phrase is not None:
            phrase = d.resolved(item, verb, item.prep)
            near = (*found.at.values(), *(place for _, place, _ in found.places))
            if item.phrase.name == "there" and verb in CARRIED and phrase in near:
                phrase = next((place for place in reversed(d.places) if place not in near), phrase)
            if item.count and not item.is_thing and item.count != "all":
                d.unexplained.append(item.count)
            found.used.append((item, phrase))
            if item.at is not None:
                found.at[phrase] = item.at
            if phrase.sort is Sort.PLACE or phrase.name == "there":
                own = item.prep == "from" and last == "thing" and several and found.used[-2][1] == found.things[-1][1]
                if own:
                    found.at[found.things[-1][1]] = phrase
                elif not _narrower(d, found, phrase, item.prep):
                    found.places.append((item.prep, phrase, last))
            elif phrase.sort in PEOPLE:
                found.people.append((item.prep, phrase))
                d.note(phrase)
                last = "person" if phrase.name != OPERATOR else "me"
            elif item.is_pronoun and item.text in _SEVERAL and verb in CARRIED and len(group := d.group()) > 1:
                found.things += [(item.prep, each) for each in group]
                last = "thing"
            else:
                if found.things and phrase.name.endswith(found.things[-1][1].name) and item.prep == found.things[-1][0]:
                    d.settled.add(found.used[-2][0].start)
                    found.things.pop()
                    found.used.pop(-2)
                found.things.append((item.prep, phrase))
                last = "thing"
        elif item.kind == "not":
            i = _contrasted(d, items, i)
        elif item.kind == "exclusion":
            i = _contrasted(d, items, i) if item.text in ("instead of", "rather than", "but not", "than") else i
            if item.text not in ("instead of", "rather than", "but not", "instead", "only", "than"):
                d.unclear(item)
        elif (state := state_of(item)) is not None:
            found.states.append(state)
        elif item.kind == "particle":
            found.particles.append(item.text)
        elif item.kind == "word":
            found.words.append(item.text)
        elif item.kind == "wh":
            found.wh.append(item.text)
        elif item.kind in _ALARMS or item.kind == "unknown":
            if not item.text.endswith("ly") or item.kind != "unknown":
                d.unknown.append((item.text, _stands_for_noun(items, i))) if item.kind == "unknown" else d.unclear(item)
            else:
                d.unknown.append((item.text, False))
        elif item.kind == "verb" and not item.verb("past", "ing"):
            d.unclear(item)
        i += 1
    share_place([item for item, _ in found.used if item.is_thing], found.at)
    return found


def share_place(things: Sequence[Element], at: dict[Phrase, Phrase]) -> None:
    """Note that all of some things are where the last one is said to be: "the cup and the fork on the desk"."""
    if len(things) > 1 and things[-1].at is not None and not any(each.at for each in things[:-1]):
        at |= {each.phrase: things[-1].at for each in things if each.phrase is not None}


def _stands_for_noun(items: Sequence[Element], i: int) -> bool:
    before = items[i - 1] if i else None
    return before is None or before.kind not in ("filler", "np") or not before


def _contrasted(d: Discourse, items: Sequence[Element], i: int) -> int:
    """Read "not the blue one" behind what is meant; returns the index of the last element that belongs to it."""
    if i + 1 < len(items) and items[i + 1].kind == "np" and i > 0:
        item = items[i + 1]
        d.settled.add(item.start)
        if item.is_place and d.thing is not None and item.phrase is not None and item.prep:
            d.locate(d.thing, item.phrase)
        return i + 1
    d.unclear(items[i])
    return i


def _narrower(d: Discourse, found: Arguments, room: Phrase, prep: str) -> bool:
    """Whether a room only says where the furniture before it is: "the table in the kitchen"; then that is noted."""
    if not found.places or prep not in ("at", "of"):
        return False
    before_prep, before, what = found.places[-1]
    if found.used[-2][1] != before or before.name in d.home.rooms:
        return False
    if room.name in before.name.split() and (room.name in d.home.rooms or before_prep == ""):
        d.settled.add(found.used.pop()[0].start)
        return True
    if room.name not in d.home.rooms:
        return False
    named = [name for name, place in d.home.places.items() if name == before.name or name.endswith(before.name)]
    inside = [name for name in named if d.home.inside(name, room.name)]
    if len(inside) != 1:
        return False
    found.places[-1] = (before_prep, replace(before, name=inside[0], words=()), what)
    d.settled |= {item.start for item, _ in found.used[-2:]}
    found.used[-2:] = []
    return True
