"""A failure as the language layer sees it: the sentences that say it, and what decides whether others do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from nsrecover.core.discrepancy import Discrepancy, Phase
from nsrecover.core.explanation import Fact, Sentence
from nsrecover.core.scene import SceneGraph
from nsrecover.domains.tabletop.relations import TABLE, support_name
from nsrecover.explanation.language_model.judge import Judgement, judge_of
from nsrecover.explanation.language_model.parser import Vocabulary


class SentenceJudge(Protocol):
    """Decides whether sentences about one failure are so."""

    @property
    def vocabulary(self) -> Vocabulary:
        """What is data in them."""
        ...

    def __call__(self, sentence: str) -> Judgement:
        """Whether a sentence is so, and what it says of that which has to be said."""
        ...


@dataclass(frozen=True)
class RobotExperience:
    """What a robot did and saw, for strategies that leave the reasoning to the model.

    Attributes:
        task: what it was to do.
        moment: when the failure was noticed.
        history: what it did and observed before, a line each.
        observation: what it observed then.
    """

    task: str
    moment: str
    history: tuple[str, ...]
    observation: str


@dataclass(frozen=True)
class RewordingTask:
    """A failure to be worded.

    Attributes:
        grounded: sentences made from the facts without a model; what is said if the model's do not pass.
        judge: decides about sentences of a model.
        objects: names of the objects of the scene.
        story: what the robot did and saw.
    """

    grounded: tuple[Sentence, ...]
    judge: SentenceJudge
    objects: tuple[str, ...]
    story: RobotExperience


def task_of(discrepancy: Discrepancy, facts: Sequence[Fact], grounded: Sequence[Sentence]) -> RewordingTask:
    """A discrepancy as a case.

    Args:
        discrepancy: what is not as expected.
        facts: what is known of it and of its recovery, from `nsrecover.explanation.facts.facts_of`.
        grounded: the wording of these facts, from `nsrecover.explanation.templates.realise`.
    """
    names = tuple(dict.fromkeys((*discrepancy.expected.names, *discrepancy.observed.names)))
    step = f"step {discrepancy.step + 1}"
    before = discrepancy.phase is Phase.BEFORE
    story = RobotExperience(
        task=str(discrepancy.action),
        moment=f"{'the start of ' if before else ''}{step}, {discrepancy.action}",
        history=(f"Expected {'before' if before else 'after'} {step}: {_scene(discrepancy.expected)}",),
        observation=_scene(discrepancy.observed),
    )
    return RewordingTask(tuple(grounded), judge_of(facts, names), names, story)


def _scene(graph: SceneGraph) -> str:
    """A scene as REFLECT writes it: objects, then relations."""
    there = [i for i in range(len(graph)) if not graph.missing[i]]
    supports = [f"{graph.names[i]} is on top of {support_name(graph, i) or TABLE}." for i in there]
    return f"{', '.join(graph.names[i] for i in there)}. {' '.join(supports)}"
