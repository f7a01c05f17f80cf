"""Statements about a person: where somebody is, what somebody wants, needs, knows, or is to be told."""

from __future__ import annotations

from dataclasses import replace

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.sentences.arguments import state_of
from nsrecover.instructions.sentences.discourse import RESULT, Discourse
from nsrecover.instructions.sentences.elements import Element
from nsrecover.instructions.sentences.meaning.parsed import ASKED, Again, Parsed, first_place, predicate, things_in
from nsrecover.instructions.sentences.meaning.questions import question_of
from nsrecover.instructions.sentences.meaning.subjects import by_operator
from nsrecover.instructions.sentences.meaning.wishes import looked_for, wish, wish_thing
from nsrecover.instructions.sentences.ordering import OPPOSITE
from nsrecover.instructions.sentences.reading import Clause, Phrase, Sort, Verb


def of_person(d: Discourse, p: Parsed, goal: bool) -> bool | Again:
    """Note what is said about a person; returns whether it says something about what to do."""
    people = [each for each in p.subject if each.is_person and not each.prep]
    if len(people) > 1:
        found = [of_person(d, replace(p, subject=[each]), goal) for each in people]
        return all(each is True for each in found)
    item = next(each for each in p.subject if each.is_person or each.is_pronoun)
    who = d.resolved(item, Verb.TELL)
    if who.name == "person" and item.vague and d.person is not None and d.person.sort is Sort.POSED:
        who = d.person  # "someone is waving and has a question"
    if who.sort not in (Sort.PERSON, Sort.POSED) or who.name == OPERATOR:
        return False
    vague = item.vague
    verb, rest = predicate(p), p.rest
    pose = next((each for each in rest if each.kind == "pose"), None)
    place = first_place(d, rest, "at", "from") or (p.front[0].phrase if p.front else None) or p.at
    if pose is not None and pose.lexeme is not None and verb is None and not p.must and who.name == "person":
        who = Phrase(Sort.POSED, pose.lexeme.value, who.definite)
    d.note(who)
    texts = {each.text for each in rest}
    if texts & set(ASKED) and (verb is None or verb.may("have") or verb.may("want")):
        d.add(Clause(Verb.ANSWER, person=who, person_at=p.at or place), indirect=True)
        return True
    spot = next((each for each in rest if each.is_place), None)
    lost = {"idea", "clue"} & texts and p.negated and "where" in texts
    seeks = verb is not None and verb.value == Verb.FIND and verb.verb("ing") and not things_in(d, rest)
    if spot is not None and (lost or seeks) and not vague:
        d.add(Clause(Verb.GUIDE, person=who, person_at=p.at, target=spot.phrase), indirect=True)
        return True
    if verb is not None and (verb.may("know") or (p.negated and verb.value == Verb.FIND)):
        after = rest[rest.index(verb) + 1 :]
        places = [each for each in after if each.is_place]
        if p.negated and places and ("way" in texts or "where" in texts or verb.value == Verb.FIND):
            target = first_place(d, places, "to") or places[-1].phrase
            start = p.at or first_place(d, places, "from")
            d.add(Clause(Verb.GUIDE, person=who, person_at=start, target=target), indirect=True)
            return True
        if (p.negated or p.must) and verb.value != Verb.FIND:
            if after and after[0].is_place and after[0].prep == "at":
                p.at, after = p.at or after[0].phrase, after[1:]
            d.settled |= {each.start for each in after}
            d.add(
                Clause(Verb.TELL, person=who, person_at=p.at, content=d.said(after).removeprefix("that ")),
                indirect=True,
            )
            return True
    wh = next((k for k, each in enumerate(rest) if each.kind == "wh"), None)
    curious = verb is not None and (verb.value == Verb.ASK or verb.may("want") or verb.may("know"))
    if vague and curious and wh is not None:
        return Again(rest[wh:], question=True)
    if verb is not None and verb.value == Verb.TELL and verb.verb("past"):
        said = [each for each in rest[rest.index(verb) + 1 :] if not _is_operator(each) and each.kind != "that"]
        return Again(said, goal) if len(said) > 1 and said[0].kind == "np" else False
    passed = [each.phrase for each in rest if each.is_place]
    if verb is not None and verb.text == "leave" and len(passed) == 2 and passed[1] is not None and not vague:
        d.moving.append((who, passed[0], passed[1]))
        return True
    shows = verb is not None and verb.value == Verb.GUIDE and any(each.kind == "you" for each in rest)
    if shows and not vague and (shown := first_place(d, rest)) is not None:
        d.moving.append((who, first_place(d, rest, "from") or p.at, shown))
        return True
    if verb is not None and verb.may("promise") and things_in(d, rest) and "was" in p.aux and not vague:
        return wish_thing(d, who, things_in(d, rest), rest, p)
    led = any(each.verb("past") and each.value in (Verb.TAKE, Verb.BRING, Verb.GUIDE) for each in rest)
    if (
        verb is not None
        and (verb.value == Verb.ASK or verb.may("want"))
        and led
        and not vague
        and not things_in(d, rest)
    ):
        d.add(Clause(Verb.GUIDE, person=who, person_at=p.at, target=first_place(d, rest, "to")), indirect=True)
        return True
    if verb is not None and verb.value == Verb.ASK and verb.verb("third"):
        clauses = question_of(d, rest[rest.index(verb) + 1 :])
        if clauses:
            for clause in clauses[:-1]:
                d.add(clause)
            d.add(Clause(Verb.TELL, person=who, content=RESULT), indirect=True)
            return True
    asked_for = [(item, phrase) for item, phrase in things_in(d, rest) if item.prep == "for"]
    if verb is not None and verb.value == Verb.ASK and asked_for and not vague:
        return wish_thing(d, who, asked_for, [item for item in rest if not item.is_person], p)
    if verb is not None and verb.text == "forget" and vague:
        return by_operator(d, replace(p, who="i"), goal)
    if verb is not None and verb.lexeme is not None and verb.verb("past") and p.must and not p.negated and not vague:
        target = first_place(d, rest, "to")
        if verb.value in (Verb.BRING, Verb.TAKE, Verb.GUIDE) and target is not None:
            start = p.at or first_place(d, rest, "from")
            d.add(Clause(Verb.GUIDE, person=who, person_at=start, target=target), indirect=True)
            return True
    if verb is not None and verb.text == "get" and verb.verb("third") and things_in(d, rest) and not vague:
        return wish_thing(d, who, things_in(d, rest), rest[rest.index(verb) + 1 :], p)
    if verb is not None and verb.lexeme is not None and not vague:
        target = first_place(d, rest, "to", "for") or (first_place(d, rest, "at") if goal or p.must else None)
        if verb.value == Verb.GUIDE and "where" in texts:
            target = target or first_place(d, rest)
        start = first_place(d, rest, "from")
        carries = verb.verb("ing") and verb.value in (Verb.BRING, Verb.TAKE, Verb.PLACE)
        moves = verb.may("move") or verb.value in (Verb.GO, Verb.GUIDE) or carries
        if moves and (p.must or goal) and target is not None:
            d.add(Clause(Verb.GUIDE, person=who, person_at=p.at or start, target=target), indirect=True)
            return True
        if moves and target is not None and not verb.may("want") and not p.negated:
            d.moving.append((who, start or p.at, target))
            return True
    has = verb is not None and verb.may("have") and (goal or p.must or "will" in p.aux)
    if verb is not None and (verb.may("want") or has) and not vague:
        wanted = wish(d, who, rest, verb, p)
        if wanted or verb.text != "wait for":
            return wanted
    things = things_in(d, rest)
    if things and "without" in texts and not vague:
        source = things[0][0].at or first_place(d, rest, "at", "from")
        d.add(Clause(Verb.BRING, things[0][1], source, None, who), indirect=True)
        return True
    if things and verb is not None and verb.may("lose") and who.name == "person" and not p.negated:
        return looked_for(d, things, things[0][0].at or first_place(d, rest))
    needs = (verb is not None and (verb.may("lose") or verb.text == "forget")) or (
        p.negated and (verb is None or verb.may("have"))
    )
    if "has" in p.aux and things and p.must is False and verb is None and not p.negated and not goal:
        return False
    if things and goal and ({"has", "have"} & set(p.aux)):
        return wish_thing(d, who, things, rest, p)
    if things and verb is not None and verb.verb("past") and (verb.may("put") or verb.may("see")) and place is not None:
        d.note(things[0][1])
        d.locate(things[0][1], things[0][0].at or place)
        d.settled.add(item.start)
        return True
    state = next((state_of(each) for each in rest if each is not verb and state_of(each)), None)
    left = first_place(d, rest, "")
    if vague and verb is not None and verb.text == "leave" and left is not None and state in OPPOSITE:
        d.add(Clause(OPPOSITE[state], target=left), indirect=True)
        return True
    if things and needs and not vague:
        each, thing = things[0]
        source = each.at or first_place(d, rest, "at", "from")
        if source is not None:
            d.locate(thing, source)
        if "without" in texts or p.negated or verb is not None:
            d.add(Clause(Verb.BRING, thing, source, None, who), indirect=True)
        return True
    resting = verb is None or verb.verb("ing") or (verb.value in ("", Verb.GO) and not verb.may("move"))
    if place is not None and not p.negated and resting:
        d.locate(who, place)
        d.place = place
        return True
    return bool(pose is not None and who.sort is Sort.POSED)


def _is_operator(item: Element) -> bool:
    return item.phrase is not None and item.phrase.name == OPERATOR
