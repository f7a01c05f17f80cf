"""The end of a sentence: what was said indirectly, where things are, and to whom they go is put into the clauses."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.sentences.discourse import OPERATOR_PHRASE, RESULT, Discourse, Entry
from nsrecover.instructions.sentences.merging import (
    alike,
    closed_later,
    come_back,
    elaborated,
    filled,
    idle_report,
    repeats,
    same_thing,
)
from nsrecover.instructions.sentences.reading import Clause, Phrase, Verb

_ASKED = (Verb.COUNT, Verb.POSE, Verb.FIND, Verb.TELL, Verb.ASK)


def concluded(d: Discourse) -> tuple[Clause, ...]:
    """The clauses of a sentence, in order."""
    entries = _with_denials(_with_indirect(d, _with_answers(_without_reports(d.entries))))
    _put_where_said(entries)
    for before, entry in pairwise(entries):
        entry.clause = _taken_out(d, before.clause, entry)
    clauses = closed_later(come_back([_completed(d, entry.clause) for entry in entries]))
    for k in range(len(clauses) - 1, 0, -1):
        joined = elaborated(clauses[k - 1], clauses[k])
        if joined is not None:
            clauses[k - 1 : k + 1] = [joined]
    if clauses and clauses[-1].verb is Verb.TAKE and d.taking and not d.doubt("holding", True):
        clauses[-1] = replace(clauses[-1], verb=Verb.BRING, person=OPERATOR_PHRASE)
    return _without_repeats(clauses)


def _without_reports(entries: list[Entry]) -> list[Entry]:
    """The entries without telling a result that is told later, or that is only a means; without a double greeting."""
    left = list(entries)
    for k, entry in reversed(list(enumerate(left))):
        clause, later = entry.clause, [other.clause for other in left[k + 1 :]]
        told = any(each.verb is Verb.TELL and each.content == RESULT for each in later)
        greeted = clause.content == "hello" and any(
            each.verb is Verb.TELL and each.person == clause.person for each in later
        )
        looked = left[k - 1].clause if k and left[k - 1].clause.verb is Verb.FIND else None
        fetched = looked is not None and any(each.thing == looked.thing and each.thing for each in later)
        believed = entry.belief and clause.verb is Verb.TELL and (told or fetched)
        other_asked = entry.indirect and clause.content == RESULT and clause.person != OPERATOR_PHRASE
        if believed or greeted or (other_asked and told):
            del left[k]
    return left


def _with_answers(entries: list[Entry]) -> list[Entry]:
    """The entries without a question where something is that is moved later: "is there any cola? I want it"."""
    for k in range(len(entries) - 2, -1, -1):
        sought, told = entries[k : k + 2]
        found = sought.clause.verb is Verb.FIND and sought.clause.thing is not None and told.clause.content == RESULT
        moved = [each for each in entries[k + 2 :] if each.clause.thing == sought.clause.thing]
        if found and sought.indirect and told.indirect and moved and moved[0].clause.verb is not Verb.FIND:
            moved[0].clause = replace(moved[0].clause, source=moved[0].clause.source or sought.clause.source)
            del entries[k : k + 2]
    return entries


def _with_indirect(d: Discourse, entries: list[Entry]) -> list[Entry]:
    """The entries with what was said indirectly in the commands that it is about."""
    for entry in [each for each in entries if each.indirect]:
        if entry not in entries:
            continue
        others = [other for other in entries if other is not entry and alike(entry.clause, other.clause)]
        direct = [other for other in others if not other.indirect]
        named = any(other.belief and other.clause.verb is Verb.BRING for other in others)
        should_be = entry.belief and entry.clause.verb is Verb.PLACE and named and d.doubt("should be", True)
        mentioned = entry.belief and not direct and any(not other.belief for other in others)
        if should_be or mentioned:
            entries.remove(entry)
        elif direct:
            _fill(entries, entry, direct[-1])
        elif any(other.indirect and other.clause == entry.clause for other in others):
            entries.remove(entry)
    return entries


def _fill(entries: list[Entry], entry: Entry, other: Entry) -> None:
    """Put what was said indirectly into a command, or behind the search that it needs."""
    clause, k = other.clause, entries.index(entry)
    if entry.belief and clause.verb in (Verb.FIND, Verb.BRING, Verb.TAKE) and clause.target is None:
        entries.remove(entry)
        return
    found = filled(clause, entry.clause)
    if found is not None:
        other.clause = found
        reported = k + 1 < len(entries) and entries[k + 1].indirect and entries[k + 1].clause.content == RESULT
        del entries[k : k + 1 + reported]
    elif clause.verb in (Verb.FIND, Verb.TAKE, Verb.GO) and entries.index(other) > k:
        entries.remove(entry)
        entries.insert(entries.index(other) + 1, entry)


def _with_denials(entries: list[Entry]) -> list[Entry]:
    """The entries without "do not leave it on the sofa", which says where a thing is that is moved."""
    for entry in [entry for entry in entries if entry.clause.verb is Verb.PLACE and entry.clause.negated]:
        others = [each for each in entries if each.clause.thing == entry.clause.thing and not each.clause.negated]
        if others:
            where = entry.clause.source or entry.clause.target
            if others[0].clause.source is None and where != others[0].clause.target:
                others[0].clause = replace(others[0].clause, source=where)
            entries.remove(entry)
    return entries


def _put_where_said(entries: list[Entry]) -> None:
    """Complete entries that share their target: "take the bread and a knife to the table"."""
    for k, (entry, after) in enumerate(pairwise(entries)):
        held, put = entry.clause, after.clause
        later = any(each.clause.thing == held.thing for each in entries[k + 1 :])
        unsaid = held.verb is Verb.TAKE or (held.verb is Verb.BRING and held.person is None and after.carried)
        if unsaid and put.verb is Verb.PLACE and not later and not held.negated:  # the robot has one hand
            entry.clause = replace(held, verb=Verb.PLACE, target=put.target)
    for before, entry in (*pairwise(entries), *pairwise(reversed(entries))):
        unsaid = entry.clause.verb is Verb.PLACE and entry.clause.target is None
        if unsaid and before.clause.verb is Verb.PLACE:
            entry.clause = replace(entry.clause, target=before.clause.target)


def _taken_out(d: Discourse, before: Clause, entry: Entry) -> Clause:
    """A clause with what was opened just before as the place of what is taken: "open it and bring me a cola"."""
    clause = entry.clause
    door = d.home.places.get(before.target.name) if before.verb is Verb.OPEN and before.target is not None else None
    moved = clause.verb in (Verb.BRING, Verb.TAKE, Verb.PLACE) and clause.target != before.target
    taken = moved and clause.source is None and clause.thing is not None
    if door is None or door.leads_to or not taken:
        return clause
    return replace(clause, source=before.target) if d.doubt("opened", entry.close) else clause


def _completed(d: Discourse, clause: Clause) -> Clause:
    """A clause with the place where its object or person was said to be."""
    person = clause.person
    if clause.thing is not None and clause.source is None:
        clause = replace(clause, source=_said_place(d, clause.thing, clause.target))
    if person is not None and person.name != OPERATOR and clause.person_at is None:
        clause = replace(clause, person_at=_said_place(d, person, clause.target))
    if clause.verb is Verb.FOLLOW and person is not None:
        for who, start, end in d.moving:
            if same_thing(who, person):
                clause = replace(clause, target=clause.target or end, person_at=clause.person_at or start)
    if clause.verb is Verb.GUIDE and clause.target is None:
        others = [place for place in d.places if place != clause.person_at]
        clause = replace(clause, target=others[-1] if others else None)
    if clause.verb is Verb.BRING and person is None:
        clause = replace(clause, person=OPERATOR_PHRASE)
    return clause


def _said_place(d: Discourse, phrase: Phrase, target: Phrase | None) -> Phrase | None:
    """Where something was said to be last, other than where it is to go."""
    return next((p for what, p in reversed(d.located) if same_thing(what, phrase) and p != target), None)


def _without_repeats(clauses: list[Clause]) -> tuple[Clause, ...]:
    """The clauses without what was said twice, and without telling a result of nothing."""
    said = [each for i, each in enumerate(clauses) if len(clauses) == 1 or not idle_report(clauses[:i], each)]
    left = []
    for i, clause in enumerate(said):
        before = said[:i] if clause.verb in _ASKED else said[max(0, i - 1) : i]
        if not any(repeats(clause, other) for other in before):
            left.append(clause)
    return tuple(left)
