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
        facts: what it rests on.
        source: who worded it: `grounded`, or the name of the language model.
    """

    text: str
    facts: tuple[Fact, ...]
    source: str = "grounded"


@dataclass(frozen=True)
class Explanation:
    """Why something went wrong and what will be done, in plain language.

    Attributes:
        sentences: each with its facts.
        step: the failing step, counted from 1 as a reader would.
        source: `grounded`, or the name of the language model if a sentence is worded by it.
        verified: whether the text was checked against the facts.
        note: why not all of it is worded by the language model that was to do so; empty if it is, or if there was none.
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
        """All facts, each once, in the order in which they are used."""
        return tuple(dict.fromkeys(fact for sentence in self.sentences for fact in sentence.facts))
