"""Judge of the sentences of a language model: every claim in a sentence has to follow from the facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from nsrecover.core.explanation import Fact
from nsrecover.domains.base import Words
from nsrecover.domains.domain import Domain
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.domains.tabletop.relations import TABLE
from nsrecover.explanation.language_model.entailment import Entailment, entailed_by
from nsrecover.explanation.language_model.failure_rules import failure_rules
from nsrecover.explanation.language_model.parser import Parser
from nsrecover.explanation.language_model.recovery_rules import recovery_rules
from nsrecover.explanation.language_model.sentence_rules import Claim, SentenceRule
from nsrecover.explanation.language_model.vocabulary import RewordingVocabulary

UNREADABLE = "it says something that cannot be checked; use plain statements about what is known, and nothing else"
_INSTRUCTION = "do"


@dataclass(frozen=True)
class Judgement:
    """The result of judging one sentence.

    Attributes:
        reason: why the sentence is refused; empty if every claim in it is true.
        points: the points of the explanation that the sentence covers.
    """

    reason: str
    points: frozenset[str] = frozenset()

    @property
    def accepted(self) -> bool:
        """Whether the sentence may be shown."""
        return not self.reason


@dataclass(frozen=True)
class Judge:
    """Judges sentences about one failure.

    Attributes:
        parser: turns a sentence into claims.
        known: everything that follows from the facts.
    """

    parser: Parser
    known: Entailment

    @property
    def vocabulary(self) -> RewordingVocabulary:
        """The names and quotations in the sentences."""
        return self.parser.vocabulary

    def __call__(self, sentence: str) -> Judgement:
        """Accept a sentence if it is true in every way in which it can be understood; refuse it otherwise."""
        parses = [claims for claims in self.parser.parse(sentence) if claims]
        if not parses:
            return Judgement(UNREADABLE)
        reason = next(filter(None, map(self._error, parses)), "")
        return Judgement(reason) if reason else Judgement("", frozenset.intersection(*map(self._points, parses)))

    def _error(self, claims: Sequence[Claim]) -> str:
        """Return why the claims are not all true; empty if they are."""
        for claim in claims:
            if not claim.options & self.known.facts:
                return f"it says {claim}, and that is not so"
        given = [claim.options for claim in claims if any(fact.predicate == _INSTRUCTION for fact in claim.options)]
        ordered = self.known.ordered
        right = len(given) == len(ordered) and all(map(frozenset.intersection, given, ordered))
        if given and not right:
            return f"it does not tell the {len(ordered)} actions completely and in their order"
        return ""

    def _points(self, claims: Sequence[Claim]) -> frozenset[str]:
        facts = (fact for claim in claims for fact in claim.options & self.known.facts)
        return frozenset(self.known.points[fact] for fact in facts if fact in self.known.points)


@lru_cache(maxsize=8)
def _rules(operators: tuple[tuple[str, Words], ...]) -> tuple[SentenceRule, ...]:
    return (*failure_rules(dict(operators)), *recovery_rules(dict(operators)))


def judge_of(facts: Sequence[Fact], names: Sequence[str], domain: Domain = TABLETOP) -> Judge:
    """Return a judge of sentences about a discrepancy.

    Args:
        facts: the facts of the discrepancy, from `nsrecover.explanation.facts.facts_of`.
        names: the objects of the scene.
        domain: the words of the operators.
    """
    quotes = tuple(fact.arguments[0].rstrip(". ") for fact in facts if fact.predicate in ("reason", "violated"))
    vocabulary = RewordingVocabulary(tuple(dict.fromkeys((*names, TABLE))), quotes, never_pronoun=(TABLE,))
    rules = _rules(tuple((name, operator.words) for name, operator in domain.operators.items()))
    return Judge(Parser(vocabulary, rules), entailed_by(facts))
