"""Readings of a sentence → one task, or a question between the tasks that it may as well mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.task import Refusal, Task, TaskQuestion
from nsrecover.language.meaning import SWITCHED, Clause, Phrase, Reading, Sort, Verb

MEANING = Phrase(Sort.PRONOUN, "the whole sentence")
"""What a question between readings is about."""


@dataclass(frozen=True)
class Candidate:
    """A reading, and the task that it is."""

    reading: Reading
    task: Task


def chosen_of(found: Sequence[Candidate], choice: str | tuple[str, ...] | None) -> Task | TaskQuestion:
    """The task of the only reading, or one short question between several.

    Args:
        found: at least one reading, each with another task.
        choice: what a person has said is meant; None before the question.
    """
    texts = [text_of(each.reading.clauses) for each in found]
    if choice in texts:
        return found[texts.index(str(choice))].task
    options = tuple(dict.fromkeys(texts))
    return TaskQuestion(f"Should I {' or '.join(options)}?", MEANING, options) if len(options) > 1 else found[0].task


def meaning_of(task: Task) -> tuple[object, ...]:
    """What two tasks have in common that mean the same."""
    found, within = list[object](), dict[str, str]()
    for i, stage in enumerate(task.stages):
        for name, place in (*stage.things.items(), *stage.people.items()):
            within[name] = place or within.get(name, "")
        first, later = stage.goal[0], task.stages[i + 1 :]
        means = first[0] in ("holding", "found") or (first[0] == "at" and first[2:] == (OPERATOR,))
        if not (means and any(first[1] in each.things for each in later)):
            found.append((stage.goal, tuple((name, within[name]) for name in (*stage.things, *stage.people))))
    return tuple(found)


def agreed(first: Task | Refusal, second: Task, choice: str | tuple[str, ...] | None) -> Task | TaskQuestion:
    """What two readers make of a sentence: a task on which they agree, or a question.

    Args:
        first: of the grammar; a refusal if it does not understand the sentence.
        second: of the other reader.
        choice: what a person has said is meant; None before the question.
    """
    if isinstance(first, Task) and meaning_of(first) == meaning_of(second):
        return first
    tasks = [each for each in (first, second) if isinstance(each, Task)]
    options = tuple(dict.fromkeys(text_of(each.clauses) for each in tasks))
    if choice in options:
        return tasks[options.index(choice)]
    return TaskQuestion(f"Should I {' or '.join(options)}?", MEANING, options)


def text_of(clauses: Sequence[Clause]) -> str:
    """What clauses want done, as a person says it."""
    return " and ".join(_clause_text(clause) for clause in clauses)


def _clause_text(clause: Clause) -> str:
    verb = {Verb.PLACE: "put", Verb.TAKE: "hold"}.get(clause.verb, clause.verb.value)
    words = [verb]
    if clause.thing is not None:
        words.append(f"the {clause.thing.text}")
    if clause.source is not None:
        words.append(f"from the {clause.source.text}")
    if clause.person is not None:
        words.append("to you" if clause.person.name == OPERATOR else f"to {clause.person.text}")
    if clause.target is not None:
        words.append(f"the {clause.target.text}" if clause.verb in SWITCHED else f"on the {clause.target.text}")
    return " ".join(words)
