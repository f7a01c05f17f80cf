"""Whether what a language model says is so: a sentence is read, and every claim in it has to follow from the facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nsrecover.core.explanation import Fact
from nsrecover.domains.tabletop.relations import TABLE
from nsrecover.explanation.language_model.entailment import Entailment, entailed_by
from nsrecover.explanation.language_model.failure_rules import FAILURE_RULES
from nsrecover.explanation.language_model.parser import Claim, Parser, Vocabulary
from nsrecover.explanation.language_model.recovery_rules import RECOVERY_RULES

UNREADABLE = "it says something that cannot be checked; use plain statements about what is known, and nothing else"
_ORDERED = "do"


@dataclass(frozen=True)
class Judgement:
    """What is to be thought of a sentence.

    Attributes:
        reason: why it is refused; empty if every claim in it is so.
        points: what of that which has to be said it says.
    """

    reason: str
    points: frozenset[str] = frozenset()

    @property
    def accepted(self) -> bool:
        """Whether it may be shown."""
        return not self.reason


@dataclass(frozen=True)
class Judge:
    """Judges sentences about one failure.

    Attributes:
        reader: understands them.
        knowledge: what is so.
    """

    reader: Parser
    knowledge: Entailment

    @property
    def vocabulary(self) -> Vocabulary:
        """What is data in a sentence."""
        return self.reader.vocabulary

    def __call__(self, sentence: str) -> Judgement:
        """Whether a sentence is so; every way to understand it has to be.

        Args:
            sentence: one sentence, whoever wrote it.
        """
        readings = [reading for reading in self.reader.read(sentence) if reading]
        if not readings:
            return Judgement(UNREADABLE)
        for reading in readings:
            reason = self._wrong(reading)
            if reason:
                return Judgement(reason)
        return Judgement("", frozenset.intersection(*map(self._points, readings)))

    def _wrong(self, reading: Sequence[Claim]) -> str:
        for said in reading:
            if not said.options & self.knowledge.facts:
                return f"it says {said}, and that is not so"
        told = [said for said in reading if any(fact.predicate == _ORDERED for fact in said.options)]
        ordered = self.knowledge.ordered
        if told and (len(told) != len(ordered) or not all(s.options & o for s, o in zip(told, ordered, strict=True))):
            return f"it does not tell the {len(ordered)} actions completely and in their order"
        return ""

    def _points(self, reading: Sequence[Claim]) -> frozenset[str]:
        facts = (fact for said in reading for fact in said.options & self.knowledge.facts)
        return frozenset(self.knowledge.points[fact] for fact in facts if fact in self.knowledge.points)


def judge_of(facts: Sequence[Fact], names: Sequence[str]) -> Judge:
    """A judge of sentences about a discrepancy.

    Args:
        facts: what is known, from `nsrecover.explanation.facts.facts_of`.
        names: the objects of the scene.
    """
    quotes = tuple(fact.arguments[0].rstrip(". ") for fact in facts if fact.predicate in ("reason", "violated"))
    known = tuple(dict.fromkeys((*names, TABLE)))
    vocabulary = Vocabulary(known, quotes, aside=(TABLE,))
    return Judge(Parser(vocabulary, (*FAILURE_RULES, *RECOVERY_RULES)), entailed_by(facts))
