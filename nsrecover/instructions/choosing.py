"""Readings of a sentence → one task, or a question between those that a calibrated set leaves.

Where a sentence may mean two things ("I want the apple on the desk"), the grammar notes a doubt and reads both. The
probability of each side was counted on sentences with a known meaning; the threshold is split-conformal, calibrated on
sentences with doubts: at most the given share of them is acted on in a sense that was not meant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import combinations
from math import prod

import yaml

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.reading import SWITCHED, Clause, Phrase, Reading, Sort, Verb
from nsrecover.instructions.task import Question, Refusal, Task

MEANING = Phrase(Sort.PRONOUN, "the whole sentence")
"""What a question between readings is about."""

_MOST_DOUBTS = 3


@dataclass(frozen=True)
class Trust:
    """How far the grammar is trusted where a sentence may mean two things.

    Attributes:
        usual: kind of doubt -> probability that its usual side is meant; 0.5 for others.
        threshold: the least probability of a reading that is considered.
    """

    usual: Mapping[str, float]
    threshold: float

    @classmethod
    def shipped(cls) -> Trust:
        """As calibrated by `python -m eval.instructions calibrate=true`."""
        found = yaml.safe_load(resources.files(__package__).joinpath("trust.yaml").read_text("utf-8"))
        return cls(found["usual"], found["threshold"])

    def score(self, reading: Reading, flips: frozenset[str]) -> float:
        """The probability of a reading: the product of those of the sides that it takes."""
        chances = {doubt: self.usual.get(kind_of(doubt), 0.5) for doubt in reading.doubts}
        return prod(1 - p if doubt in flips else p for doubt, p in chances.items())


def kind_of(doubt: str) -> str:
    """The kind of a doubt: without its number."""
    return doubt.rsplit(" ", 1)[0]


@dataclass(frozen=True)
class Candidate:
    """A reading, the task that it is, its probability, and the doubts of which it takes the less usual side."""

    reading: Reading
    task: Task
    score: float
    flips: frozenset[str]


def candidates(
    read: Callable[[frozenset[str]], Reading | Question | Refusal],
    ground: Callable[[Reading], Task | Question | Refusal],
    trust: Trust,
) -> tuple[list[Candidate], Task | Question | Refusal]:
    """The tasks that a sentence may mean, the most probable first, and what its usual reading leads to.

    Args:
        read: the sentence, with the doubts to flip.
        ground: what a reading means.
        trust: probabilities of doubts.
    """
    usual = read(frozenset())
    if not isinstance(usual, Reading):
        return [], usual
    first = ground(usual)
    found: dict[tuple[object, ...], Candidate] = {}
    doubts = usual.doubts[:_MOST_DOUBTS]
    for size in range(len(doubts) + 1):
        for flipped in combinations(doubts, size):
            flips = frozenset(flipped)
            reading = read(flips) if flips else usual
            task = ground(reading) if flips and isinstance(reading, Reading) else first
            if isinstance(task, Task) and isinstance(reading, Reading):
                key = meaning_of(task)
                candidate = Candidate(reading, task, trust.score(usual, flips), flips)
                if key not in found or found[key].score < candidate.score:
                    found[key] = candidate
    total = sum(each.score for each in found.values()) or 1.0
    ordered = sorted(found.values(), key=lambda each: -each.score)
    return [Candidate(each.reading, each.task, each.score / total, each.flips) for each in ordered], first


def chosen_of(found: Sequence[Candidate], trust: Trust, choice: str | tuple[str, ...] | None) -> Task | Question:
    """The task of the only reading that is probable enough, or one short question between several.

    Args:
        found: at least one reading.
        trust: the threshold.
        choice: what a person has said is meant; None before the question.
    """
    named = next((each for each in found if choice == text_of(each.reading.clauses)), None)
    if named is not None:
        return named.task
    kept = [each for each in found if each.score >= trust.threshold] or list(found)
    if len(kept) == 1:
        return kept[0].task
    options = tuple(dict.fromkeys(text_of(each.reading.clauses) for each in kept))
    if len(options) == 1:
        return kept[0].task
    return Question(f"Should I {' or '.join(options)}?", MEANING, options)


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


def agreed(first: Task | Refusal, second: Task, choice: str | tuple[str, ...] | None) -> Task | Question:
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
    return Question(f"Should I {' or '.join(options)}?", MEANING, options)


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
