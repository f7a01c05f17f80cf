"""A failure to be reworded: the sentences made from the facts, and the judge of other sentences about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from nsrecover.core.discrepancy import Discrepancy, Phase
from nsrecover.core.explanation import Fact, Sentence
from nsrecover.core.scene import SceneGraph
from nsrecover.domains.domain import Domain
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.domains.tabletop.relations import TABLE, support_name
from nsrecover.explanation.language_model.judge import Judgement, judge_of
from nsrecover.explanation.language_model.vocabulary import RewordingVocabulary


class SentenceJudge(Protocol):
    """Judges whether sentences about one failure are true."""

    @property
    def vocabulary(self) -> RewordingVocabulary:
        """The names and quotations in the sentences."""
        ...

    def __call__(self, sentence: str) -> Judgement:
        """Judge one sentence, and name the points of the explanation that it covers."""
        ...


@dataclass(frozen=True)
class RobotExperience:
    """The actions and observations of a robot, for prompts that leave the reasoning to the model.

    Attributes:
        task: the task of the robot.
        moment: when the failure was noticed.
        history: earlier actions and observations, a line each.
        observation: the observation at that moment.
    """

    task: str
    moment: str
    history: tuple[str, ...]
    observation: str


@dataclass(frozen=True)
class RewordingTask:
    """A failure to be reworded.

    Attributes:
        grounded: sentences made from the facts by templates; used where the sentences of the model are refused.
        judge: judges the sentences of the model.
        objects: names of the objects of the scene.
        experience: the actions and observations of the robot.
    """

    grounded: tuple[Sentence, ...]
    judge: SentenceJudge
    objects: tuple[str, ...]
    experience: RobotExperience


def task_of(
    discrepancy: Discrepancy, facts: Sequence[Fact], grounded: Sequence[Sentence], domain: Domain = TABLETOP
) -> RewordingTask:
    """Return the rewording task for a discrepancy.

    Args:
        discrepancy: the deviation from the expected scene.
        facts: its facts and those of its recovery, from `nsrecover.explanation.facts.facts_of`.
        grounded: the sentences for these facts, from `nsrecover.explanation.templates`.
        domain: the words of the operators.
    """
    names = tuple(dict.fromkeys((*discrepancy.expected.names, *discrepancy.observed.names)))
    step = f"step {discrepancy.step + 1}"
    before = discrepancy.phase is Phase.BEFORE
    experience = RobotExperience(
        task=str(discrepancy.action),
        moment=f"{'the start of ' if before else ''}{step}, {discrepancy.action}",
        history=(f"Expected {'before' if before else 'after'} {step}: {_scene(discrepancy.expected)}",),
        observation=_scene(discrepancy.observed),
    )
    return RewordingTask(tuple(grounded), judge_of(facts, names, domain), names, experience)


def _scene(graph: SceneGraph) -> str:
    """Return a scene in the text format of REFLECT: objects, then relations."""
    there = [i for i in range(len(graph)) if not graph.missing[i]]
    supports = [f"{graph.names[i]} is on top of {support_name(graph, i) or TABLE}." for i in there]
    return f"{', '.join(graph.names[i] for i in there)}. {' '.join(supports)}"
