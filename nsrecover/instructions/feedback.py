"""What a person says about a result → the task as it was meant, or nothing if that is not understood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nsrecover.domains.service.home import Home
from nsrecover.instructions.sentences.lexing import lexed
from nsrecover.instructions.sentences.reading import Clause, Phrase
from nsrecover.instructions.sentences.words import Lexeme, tokens
from nsrecover.instructions.task import Task
from nsrecover.instructions.understanding import Understanding

YES = frozenset(("yes", "yeah", "yep", "right", "exactly", "correct", "sure", "ok", "okay"))
NO = frozenset(
    (
        "no",
        "nope",
        "nah",
        "not",
        "wrong",
        "sorry",
        "wait",
        "that",
        "is",
        "was",
        "it",
        ",",
        ".",
        "!",
        "i",
        "meant",
        "mean",
        "the",
    )
)
"""Words with which a correction begins."""


def agrees(answer: str) -> bool:
    """Whether an answer has no objection: it says yes and nothing else, or nothing."""
    words = tokens(answer)
    return not words or (words[0] in YES and not NO & set(words))


def corrected(understanding: Understanding, task: Task, answer: str, choices: dict[Phrase, str]) -> Task | None:
    """The task as the operator has corrected it; None if it was right, or the answer says nothing else."""
    words = tokens(answer)
    while words and words[0] in NO:
        words = words[1:]
    items = lexed(words, understanding.lexicon).items
    if any(item.sort == "verb" for item in items):
        again = understanding.task(" ".join(words))
        if isinstance(again, Task):
            return again
    clauses, changed = understanding.read(task.sentence).clauses, dict(choices)
    for item, before in zip(items, (None, None, *items), strict=False):
        value = _meant(understanding.home, item, clauses)
        slots = _slots(item, before.sort if before is not None else "")
        phrase = next(
            (
                phrase
                for clause in reversed(clauses)
                for phrase in (getattr(clause, slot) for slot in slots)
                if phrase is not None
            ),
            None,
        )
        if value and phrase is not None and value != changed.get(phrase, phrase.name):
            changed[phrase] = value
    found = understanding.task(task.sentence, changed)
    if not isinstance(found, Task) or replace(found, notes=()) == replace(task, notes=()):
        return None
    choices |= changed
    return found


def _meant(home: Home, item: Lexeme, clauses: Sequence[Clause]) -> str:
    """The object, place or person of the home that a word of a correction names; empty if it names none."""
    if item.sort in ("thing", "category"):
        return item.value if item.value in home.nouns or item.value in home.items else ""
    if item.sort == "place":
        return item.value if item.value in home.places else ""
    if item.sort == "person":
        return item.value if item.value in home.people else ""
    things = [clause.thing.name for clause in clauses if clause.thing is not None]
    kinds = {home.kind(name) if name in home.items else name for name in things}
    fitting = [each.name for each in home.items.values() if item.said in each.name.split()[:-1]]
    fitting = [name for name in fitting if home.kind(name) in kinds]
    return fitting[0] if len(fitting) == 1 else ""


def _slots(item: Lexeme, before: str) -> tuple[str, ...]:
    """The parts of a clause that a word of a correction may be about."""
    match item.sort:
        case "place":
            return ("source",) if before == "from" else ("target", "source")
        case "person":
            return ("person",)
        case _:
            return ("thing",)
