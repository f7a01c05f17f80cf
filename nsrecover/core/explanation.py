"""Explanations: sentences and the facts they rest on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fact:
    """A checkable statement an explanation rests on: predicate and arguments, e.g. `toppled`, ("red cube", "table")."""

    predicate: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.predicate}({', '.join(self.arguments)})"


@dataclass(frozen=True)
class Sentence:
    """A sentence and the facts it rests on.

    Attributes:
        text: the sentence.
        facts: the facts that it rests on.
        source: `grounded`, or the name of the language model that worded it.
    """

    text: str
    facts: tuple[Fact, ...]
    source: str = "grounded"


@dataclass(frozen=True)
class Explanation:
    """Explanation of a failure and its recovery in plain language.

    Attributes:
        sentences: each with its facts.
        step: number of the failing step, from 1.
        source: `grounded`, or the name of the language model if a sentence is worded by it.
        verified: whether the text was checked against the facts.
        note: why the language model did not word all of it; empty if it did, or if there was none.
    """

    sentences: tuple[Sentence, ...]
    step: int
    source: str = "grounded"
    verified: bool = True
    note: str = ""

    @property
    def text(self) -> str:
        """The whole explanation."""
        return " ".join(sentence.text for sentence in self.sentences)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """All facts, each once, in order of use."""
        return tuple(dict.fromkeys(fact for sentence in self.sentences for fact in sentence.facts))
