"""A failure to be reworded: the sentences made from the facts, and the judge of other sentences about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.explanation import Fact, Sentence
from nsrecover.domains.tabletop.relations import TABLE
from nsrecover.explanation.language_model.judge import Judge, judge_of


@dataclass(frozen=True)
class RewordingTask:
    """A failure to be reworded.

    Attributes:
        grounded: sentences made from the facts by templates; used where the sentences of the model are refused.
        judge: judges the sentences of the model.
        objects: names of the objects of the scene.
    """

    grounded: tuple[Sentence, ...]
    judge: Judge
    objects: tuple[str, ...]


def task_of(discrepancy: Discrepancy, facts: Sequence[Fact], grounded: Sequence[Sentence]) -> RewordingTask:
    """Return the rewording task for a discrepancy.

    Args:
        discrepancy: the deviation from the expected scene.
        facts: its facts and those of its recovery, from `nsrecover.explanation.facts.facts_of`.
        grounded: the sentences for these facts, from `nsrecover.explanation.templates`.
    """
    names = tuple(dict.fromkeys((*discrepancy.expected.names, *discrepancy.observed.names)))
    quotes = (fact.arguments[0].rstrip(". ") for fact in facts if fact.predicate in ("reason", "violated"))
    return RewordingTask(tuple(grounded), judge_of(grounded, (*names, TABLE), quotes), names)
