"""What a person says about a result → the task as it was meant.

An answer names other things, places or persons, and denies some: they change the slots of the clauses that fit them. Or
it is a command of its own. Nothing is changed where a word has no role; then the person is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from nsrecover.domains.service.home import Home
from nsrecover.instructions.goals import ground
from nsrecover.instructions.task import Choices, Task, TaskQuestion
from nsrecover.language.answers import read_reply
from nsrecover.language.commands import Change, alike, changes
from nsrecover.language.meaning import THINGS, Clause, Phrase, Reading, Sort, Verb

if TYPE_CHECKING:
    from nsrecover.instructions.understanding import Understanding


def corrected(understanding: Understanding, task: Task, answer: str, choices: Choices) -> Task | TaskQuestion | None:
    """The task as a person has corrected it.

    Args:
        understanding: of the home's sentences.
        task: what was understood before.
        answer: what the person said.
        choices: phrase -> what it means, by answers to earlier questions.

    Returns:
        The other task, or a question about it; None if the answer is not understood, or changes nothing.
    """
    clauses: Sequence[Clause] | None = task.clauses
    said = changes(answer, understanding.vocabulary)
    for change in said:
        clauses = _edited(understanding, clauses, change) if clauses is not None else None
    if clauses and tuple(clauses) != task.clauses:
        found = ground(Reading(task.sentence, tuple(clauses)), understanding.home, choices)
        return found if isinstance(found, Task | TaskQuestion) else None
    other = understanding.task(read_reply(answer).rest or answer, None, task.clauses) if not said else None
    return other if isinstance(other, Task | TaskQuestion) else None


def _edited(understanding: Understanding, clauses: Sequence[Clause], change: Change) -> Sequence[Clause] | None:
    """Clauses with the last slot changed that something said fits; None if it fits none."""
    home, phrase = understanding.home, change.phrase
    if change.kind == "dropped":
        return clauses
    if change.kind == "wrong":
        return _other_of(home, clauses, phrase.name.split()[-1])
    if phrase.name == "one" and phrase.sort is Sort.PRONOUN:
        named = alike(understanding.lexicon, clauses, phrase)
        if named is None or named.constraints:
            return None
        phrase = named
    if phrase.constraints or phrase.sort is Sort.PRONOUN:
        return None
    if change.kind == "more":
        last = next((each for each in reversed(clauses) if each.thing is not None), None)
        more = replace(last, thing=phrase, source=change.place) if last is not None and phrase.sort in THINGS else None
        return [*clauses, more] if more is not None else None
    found = _with(clauses, change.kind, phrase)
    if found is not None and change.place is not None:
        placed = change.kind == "np" and clauses[-1].target is not None
        found = _with(found, "np" if placed else "from", change.place)
    return found


def _with(clauses: Sequence[Clause], kind: str, phrase: Phrase) -> list[Clause] | None:
    changed = list(clauses)
    for k in range(len(changed) - 1, -1, -1):
        clause = _changed(changed[k], kind, phrase)
        if clause is not None:
            changed[k] = clause
            old = clauses[k].thing
            if kind == "np" and phrase.sort in THINGS and old is not None:
                changed = [replace(each, thing=phrase) if each.thing == old else each for each in changed]
            return changed
    return None


def _changed(clause: Clause, kind: str, phrase: Phrase) -> Clause | None:
    """A clause with another object, place or person; None if it has no slot for that."""
    moves = clause.verb in (Verb.PLACE, Verb.BRING, Verb.TAKE)
    if phrase.sort in THINGS:
        return replace(clause, thing=phrase) if clause.thing is not None and kind == "np" else None
    if phrase.sort in (Sort.PERSON, Sort.POSED):
        if moves and clause.thing is not None and kind != "from":
            return replace(clause, verb=Verb.BRING, person=phrase, person_at=None, target=None)
        return replace(clause, person=phrase) if clause.person is not None and kind != "from" else None
    if phrase.sort is not Sort.PLACE:
        return None
    if kind == "from":
        if clause.person is not None and clause.thing is None:
            return replace(clause, person_at=phrase)
        return replace(clause, source=phrase) if clause.thing is not None or clause.source is not None else None
    if clause.target is not None:
        return replace(clause, target=phrase)
    if kind == "to" and moves:
        return replace(clause, verb=Verb.PLACE, target=phrase, person=None, person_at=None)
    return replace(clause, source=phrase) if clause.thing is not None else None


def _other_of(home: Home, clauses: Sequence[Clause], noun: str) -> list[Clause] | None:
    """Clauses with the only other place or object that a noun may name; None if there is none, or there are several."""
    for k in range(len(clauses) - 1, -1, -1):
        clause = clauses[k]
        for slot in ("target", "source", "thing"):
            phrase = getattr(clause, slot)
            if phrase is None or not phrase.name.endswith(noun):
                continue
            known = [*home.items] if slot == "thing" else [*home.furniture]
            others = [name for name in known if name.split()[-1] == noun and name != phrase.name]
            if len(others) != 1:
                return None
            other = Phrase(phrase.sort, others[0])
            made = {
                "target": replace(clause, target=other),
                "source": replace(clause, source=other),
                "thing": replace(clause, thing=other),
            }
            return [*clauses[:k], made[slot], *clauses[k + 1 :]]
    return None
