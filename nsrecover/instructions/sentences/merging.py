"""Clauses that say the same, or parts of the same, become one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nsrecover.instructions.sentences.discourse import OPERATOR_PHRASE, RESULT, SWITCHED
from nsrecover.instructions.sentences.reading import PEOPLE, Clause, Phrase, Verb


def idle_report(before: Sequence[Clause], clause: Clause) -> bool:
    """Whether a clause tells the operator a result although nothing was to be found out."""
    finding = (Verb.COUNT, Verb.POSE, Verb.FIND, Verb.ASK, Verb.ASK_WHERE, Verb.CHECK, Verb.TELL, Verb.GO)
    reports = clause.verb is Verb.TELL and clause.content == RESULT and clause.person == OPERATOR_PHRASE
    return reports and not any(each.verb in finding for each in before)


def repeats(clause: Clause, other: Clause) -> bool:
    """Whether two clauses want the same, however it is said: "her glasses", "the glasses"."""
    names = ("thing", "source", "target", "person", "person_at")
    same = all(
        getattr(getattr(clause, name), "name", "") == getattr(getattr(other, name), "name", "") for name in names
    )
    owners = {
        each.thing.owner for each in (clause, other) if each.thing is not None and each.thing.owner not in ("", "whom")
    }
    said = {each.thing.words for each in (clause, other) if each.thing is not None and each.thing.words}
    alike = clause.verb is other.verb and clause.content == other.content and clause.negated == other.negated
    return same and alike and len(owners) < 2 and len(said) < 2


def closed_later(clauses: list[Clause]) -> list[Clause]:
    """The clauses with what is taken put down before something is closed: the robot has one hand."""
    for k in range(len(clauses) - 2):
        taken, closed, put = clauses[k : k + 3]
        moved = taken.verb in (Verb.TAKE, Verb.BRING) and put.thing is not None and put.thing == taken.thing
        if moved and closed.verb is Verb.CLOSE:
            clauses[k + 1 : k + 3] = [put, closed]
    return clauses


def come_back(clauses: list[Clause]) -> list[Clause]:
    """The clauses without coming back to the operator where something is brought or told there anyway."""
    for k in range(len(clauses) - 1, -1, -1):
        clause = clauses[k]
        if clause.verb is not Verb.FIND or clause.person != OPERATOR_PHRASE or clause.negated:
            continue
        before, after = clauses[:k], clauses[k + 1 :]
        taken = before[-1] if before else None
        if taken is not None and taken.verb in (Verb.COUNT, Verb.POSE) and not after:
            clauses[k] = Clause(Verb.TELL, person=OPERATOR_PHRASE, content=RESULT)
        elif taken is not None and taken.verb is Verb.TAKE:
            clauses[k - 1 : k + 1] = [replace(taken, verb=Verb.BRING, person=OPERATOR_PHRASE)]
        elif any(
            each.person == OPERATOR_PHRASE and each.verb in (Verb.BRING, Verb.TELL)
            for each in (*before[-1:], *after[:1])
        ):
            del clauses[k]
    return clauses


def elaborated(one: Clause, other: Clause) -> Clause | None:
    """One clause for two of the same verb that say no different things: "show robin out, guide him to the entrance"."""
    if (
        one.verb is not other.verb
        or one.verb not in (Verb.GUIDE, Verb.FOLLOW, Verb.PLACE, Verb.BRING)
        or one.negated
        or other.negated
    ):
        return None
    joined = other
    for name in ("thing", "source", "target", "person", "person_at"):
        a, b = getattr(one, name), getattr(other, name)
        if a is not None and b is not None and (a.name != b.name or (a.owner and b.owner and a.owner != b.owner)):
            return None
        joined = replace(joined, **{name: b or a})
    return joined


def same_thing(one: Phrase, other: Phrase) -> bool:
    """Whether two phrases name the same thing or person."""
    if one.sort in PEOPLE and other.sort in PEOPLE:
        return one.name == other.name or "person" in (one.name, other.name)
    return (
        one.name == other.name
        and one.sort == other.sort
        and (one.words == other.words or not (one.words and other.words))
    )


def alike(indirect: Clause, direct: Clause) -> bool:
    """Whether a command may be about what was said indirectly."""
    if indirect.verb in SWITCHED or direct.verb in SWITCHED:
        return indirect.verb in SWITCHED and direct.verb in SWITCHED and indirect.target == direct.target
    if indirect.thing is not None:
        return direct.thing is not None and same_thing(indirect.thing, direct.thing)
    if indirect.person is not None and direct.person is not None:
        return same_thing(indirect.person, direct.person)
    return indirect.verb is direct.verb


def filled(direct: Clause, indirect: Clause) -> Clause | None:
    """A command with what it leaves out and was said indirectly; None if the two are different things to do."""
    d, i = direct, indirect
    if d.verb in SWITCHED:
        return d
    if d.verb is Verb.COUNT and i.verb is Verb.FIND:
        return replace(d, source=d.source or i.source)
    if d.verb is i.verb or (i.verb is Verb.PLACE and d.verb in (Verb.TAKE, Verb.BRING) and d.person is None):
        return replace(
            d,
            verb=i.verb if i.verb is Verb.PLACE else d.verb,
            source=d.source or i.source,
            target=d.target or i.target,
            person=d.person or i.person,
            person_at=d.person_at or i.person_at,
            content=d.content or i.content,
        )
    if i.verb is Verb.BRING and d.verb is Verb.TAKE and d.person is None:
        return replace(d, verb=Verb.BRING, person=i.person, source=d.source or i.source)
    if d.verb in (Verb.BRING, Verb.PLACE, Verb.DISCARD) and i.thing is not None:
        return replace(d, source=d.source or i.source)
    if (
        d.verb in (Verb.TELL, Verb.ASK, Verb.ANSWER, Verb.GUIDE, Verb.FOLLOW)
        and i.person is not None
        and i.thing is None
    ):
        return replace(d, person_at=d.person_at or i.person_at)
    return None
