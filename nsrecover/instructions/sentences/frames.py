"""A verb and its arguments → clauses: which phrase is the object, the source, the target and the person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.service.kinds import OPERATOR, ServiceTrait
from nsrecover.instructions.sentences.arguments import CARRIED, Arguments
from nsrecover.instructions.sentences.discourse import OPERATOR_PHRASE, Discourse
from nsrecover.instructions.sentences.elements import Element
from nsrecover.instructions.sentences.reading import Clause, Phrase, Sort, Verb
from nsrecover.instructions.sentences.words import GRAMMAR, listed

_MAY_LEAD_TO_STATES = (Verb.BRING, Verb.PLACE, Verb.TAKE, Verb.OPEN, Verb.CLOSE, Verb.TURN_ON, Verb.TURN_OFF)


def clauses_of(d: Discourse, verb: Verb, text: str, found: Arguments) -> list[Clause]:
    """The clauses that a verb and its arguments say; empty if they do not fit."""
    others, places = found.others, found.places
    things = [phrase for _, phrase in found.things]
    whom = found.people[0][1] if found.people else None
    if found.states and places and verb in _MAY_LEAD_TO_STATES and not things:
        return [Clause(found.states[-1], target=places[0][1])]
    if found.states and verb in CARRIED and not places and not things and d.place is not None:
        return [Clause(found.states[-1], target=d.place)]
    to_me = any(prep == "to" and phrase.name == OPERATOR for prep, phrase in found.people)
    if verb in (Verb.BRING, Verb.TAKE, Verb.GUIDE) and others and to_me and not things and found.people[0][0] == "":
        at = next((place for prep, place, what in places if what == "me" and prep == "at"), None)
        start = found.place("from") or next((place for _, place, what in places if what == "person"), None)
        here = at or d.operator_at or Phrase(Sort.PLACE, d.home.operator_at)
        return [Clause(Verb.GUIDE, person=others[0], person_at=_at(found, others[0]) or start, target=here)]
    elsewhere = {place.name for place in d.places} - {place.name for _, place in d.located}
    if verb is Verb.BRING and text.startswith("bring") and others and not things and not places and not elsewhere:
        here = d.operator_at or Phrase(Sort.PLACE, d.home.operator_at)
        return [Clause(Verb.GUIDE, person=others[0], person_at=_at(found, others[0]), target=here)]
    if (
        verb in (Verb.BRING, Verb.TAKE)
        and text in _FETCHING
        and others
        and not things
        and not any(prep == "to" for prep, *_ in places)
    ):
        return [Clause(Verb.FIND, person=others[0], person_at=_at(found, others[0]) or found.place("from", "at"))]
    if (
        verb in (Verb.BRING, Verb.TAKE)
        and whom is not None
        and not others
        and not things
        and found.place("to") is not None
    ):
        return [Clause(Verb.GUIDE, person=whom, target=found.place("to"))]
    if (
        verb in (Verb.BRING, Verb.TAKE, Verb.PLACE, Verb.GO)
        and others
        and not things
        and _moves_person(verb, text, found)
    ):
        if text in _FETCHING and found.place("to") is None:
            at = _at(found, others[0]) or found.place("at", "from")
            return [Clause(Verb.FIND, person=others[0], person_at=at)]
        return [_guided(found, others[0])]
    if verb is Verb.BRING and not things and places and places[0][0] == "" and _traits(d, places[0][1]) & _DOORS:
        return [Clause(Verb.OPEN, target=places[0][1])]
    if verb is Verb.GO and things and (others or whom or text in _COMING):
        verb = Verb.BRING
    if verb is Verb.GO and things and any(prep == "" for prep, _ in found.things):
        verb = Verb.BRING
    match verb:
        case Verb.BRING | Verb.TAKE:
            return _brought(d, verb, found, things)
        case Verb.PLACE:
            return _put(d, text, found, things)
        case Verb.DISCARD:
            bin_ = _bin(d)
            target = found.place("to") or bin_
            return [
                Clause(Verb.PLACE, each, _at(found, each) or found.place("from", "at"), target)
                for each in things or _one(d.thing)
                if target is not None
            ]
        case Verb.FIND:
            if others and not things:
                return [
                    Clause(verb, person=others[0], person_at=_at(found, others[0]) or found.place("at", "to", "from"))
                ]
            if places and places[0][0] == "" and (prep := [p for w, p in found.things if w == "for"]):
                return [Clause(verb, prep[0], places[0][1])]
            place = found.place("at", "from", "to", "")
            if whom is not None and not things and place is not None:
                return [Clause(Verb.GO, target=place)]
            return [Clause(verb, each, _at(found, each) or place) for each in things or _one(d.thing)]
        case Verb.COUNT:
            thing = things[0] if things else None
            if (
                thing is None
                and not others
                and set(found.words) & {"object", "objects", "thing", "things", "item", "items", "everything"}
            ):
                thing = Phrase(Sort.CATEGORY, "object")
            person = others[0] if others and thing is None else None
            subject = thing or person
            if subject is None and "what" in found.wh:
                thing = Phrase(Sort.CATEGORY, "object")
            elif subject is None and not {"heads", "headcount"} & set(found.words):
                return []
            place = (subject and _at(found, subject)) or found.place("at", "from", "to", "", "of") or None
            return [Clause(verb, thing, place or d.place, person=person)]
        case Verb.GUIDE if text == "walk" and not found.people and found.place("to", "at") is not None:
            return [Clause(Verb.GO, target=found.place("to", "at"))]
        case Verb.FOLLOW | Verb.GUIDE:
            return [_led(d, verb, found, others[0] if others else whom or d.person)]
        case Verb.GO:
            if others:
                return [Clause(Verb.FIND, person=others[0], person_at=_at(found, others[0]) or found.place("at", "to"))]
            target = found.place("to", "at", "", "for", "with")
            if target is not None:
                return [Clause(verb, target=target)]
            if whom is not None or text in _COMING:
                return [Clause(Verb.FIND, person=OPERATOR_PHRASE)]
            if d.place is None or not {"in", "inside"} & set(found.particles):
                return []
            behind = d.home.places[d.place.name].leads_to if d.place.name in d.home.places else ""
            return [Clause(verb, target=replace(d.place, name=behind, words=()) if behind else d.place)]
        case Verb.ANSWER:
            person = (others[0] if others else whom) or d.person or OPERATOR_PHRASE
            return [Clause(verb, person=person, person_at=_at(found, person) or found.place("at", "from", "of"))]
        case Verb.OPEN | Verb.CLOSE | Verb.TURN_ON | Verb.TURN_OFF:
            place = places[-1][1] if places else None
            if len(places) == 2 and places[0][0] == "":
                place = places[0][1]
            if place is None and things:
                return [Clause(verb, thing=things[0])]
            bare = place is None and {"door", "doors"} & set(found.words)
            if bare and (d.place is None or not _traits(d, d.place) & _DOORS):
                return [Clause(verb, target=Phrase(Sort.PLACE, "door"))]
            place = place or d.place
            return [Clause(verb, target=place)] if place is not None else []
        case _:
            return []


CLEARING = frozenset(("clear", "clear away", "put away", "tidy away", "tidy up", "tidy", "stow"))
_FETCHING = frozenset(("pick up", "pick", "collect", "fetch", "get", "meet"))
_TOSSED = frozenset(("toss", "chuck", "dump", "throw"))
_COMING = frozenset(("come", "come back", "return", "get back", "go back", "head back", "get over", "come over"))
_ALSO_MOTION = frozenset(("move", "move over", "return", "position", "slide", "turn", "pop"))
_DOORS = {Trait.DOOR, ServiceTrait.ROOM_DOOR}


def _traits(d: Discourse, place: Phrase) -> frozenset[str]:
    known = d.home.places.get(place.name)
    return known.traits if known is not None else frozenset()


def _at(found: Arguments, phrase: Phrase) -> Phrase | None:
    return found.at.get(phrase)


def _one(phrase: Phrase | None) -> list[Phrase]:
    return [phrase] if phrase is not None else []


def _bin(d: Discourse) -> Phrase | None:
    """Where things are thrown away."""
    words = listed(GRAMMAR["places"]["trash bin"])
    name = next((n for n, place in d.home.places.items() if n == "trash bin" or {n, *place.also} & set(words)), None)
    return Phrase(Sort.PLACE, name) if name is not None else None


def _moves_person(verb: Verb, text: str, found: Arguments) -> bool:
    """Whether a person is moved: "take ashley to the sofa", "walk ashley to the sofa"."""
    if text in ("go", "come", "drive", "head"):
        return False
    direct = any(prep == "" and phrase.name != OPERATOR for prep, phrase in found.people)
    target = found.place("to") is not None or any(what == "person" and prep == "at" for prep, _, what in found.places)
    return direct and (target if verb is not Verb.GO else found.place("to") is not None)


def _guided(found: Arguments, person: Phrase) -> Clause:
    led = found.place("to")
    target = led or found.places[-1][1]
    spare = [p for prep, p, _ in found.places if prep == "from" or (prep == "at" and (led is not None or p != target))]
    start = _at(found, person) or (spare[0] if spare else None)
    return Clause(Verb.GUIDE, person=person, person_at=start, target=target)


def _led(d: Discourse, verb: Verb, found: Arguments, person: Phrase | None) -> Clause:
    target = led = found.place("to", "for", "")
    start = (_at(found, person) if person is not None else None) or found.place("from")
    spare = [p for prep, p, _ in found.places if prep in ("at", "of") and (led is None or prep == "at" or p != target)]
    if target is None and verb is Verb.GUIDE and spare:
        target, spare = spare[-1], spare[:-1]
    if start is None and spare:
        start = spare[0]
    return Clause(verb, person=person, person_at=start, target=target)


def _brought(d: Discourse, verb: Verb, found: Arguments, things: list[Phrase]) -> list[Clause]:
    to_whom = [phrase for prep, phrase in found.people if prep != "from"]
    others, objects = [each for each in to_whom if each.name != OPERATOR], things or _one(d.thing)
    person = others[0] if others else OPERATOR_PHRASE if to_whom else None
    person_at = _at(found, person) if person is not None else None
    source = found.place("from") or found.place("", after="")
    target = found.place("to")
    for prep, place, what in found.places:
        if prep not in ("at", "of", "for"):
            continue
        if (what in ("person", "me") and source is not None and person_at is None and person is not None) or (
            what == "person" and person_at is None and not any(p == "" for p, q in found.people if q == person)
        ):
            person_at = place
        elif source is None and place != target:
            source = place
    if target is not None and not others:
        return [Clause(Verb.PLACE, each, _at(found, each) or source, target) for each in objects]
    if target is not None and person_at is None:
        person_at = target
    if verb is Verb.TAKE and person is None:
        return [Clause(verb, each, _at(found, each) or source) for each in objects]
    return [Clause(Verb.BRING, each, _at(found, each) or source, None, person, person_at) for each in objects]


def _put(d: Discourse, text: str, found: Arguments, things: list[Phrase]) -> list[Clause]:
    objects = things or _one(d.thing)
    target = found.place("to")
    if target is not None and not things and not found.people and text in _ALSO_MOTION:
        return [Clause(Verb.GO, target=target)]
    if text in _ALSO_MOTION and not things and found.people and not found.others:
        return [Clause(Verb.FIND, person=OPERATOR_PHRASE)]
    if (
        target is None
        and not found.places
        and {"in", "inside", "on", "there"} & set(found.particles)
        and d.place is not None
    ):
        target = d.place
    spots = [place for prep, place, _ in found.places if prep in ("at", "")]
    source = found.place("from")
    if target is None and spots and text in CLEARING:
        source = source or spots.pop(0)
    if target is None and spots:
        target = spots.pop()
    if source is None and spots:
        source = spots[0]
    if target is None and not found.people and text in _TOSSED:
        target = _bin(d)
    if target is None and found.people:
        person = found.others[0] if found.others else OPERATOR_PHRASE
        return [Clause(Verb.BRING, each, _at(found, each) or source, None, person) for each in objects]
    return [Clause(Verb.PLACE, each, _at(found, each) or source, target) for each in objects]


def unused(found: Arguments, clauses: Sequence[Clause]) -> list[Element]:
    """The elements whose phrases are in no clause."""
    in_clauses = {phrase for clause in clauses for phrase in clause.phrases}
    left = []
    for item, phrase in found.used:
        known = phrase in in_clauses or phrase.name in {each.name for each in in_clauses}
        at = found.at.get(phrase)
        if known and (at is None or at in in_clauses):
            continue
        if phrase.name != OPERATOR:
            left.append(item)
    return left
