"""Going through a recorded episode: what was wrong after each step, and what could have been done about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.episode import Episode, EpisodeStatus, StepRecord
from nsrecover.core.explanation import Explanation
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneGraph
from nsrecover.records.recording import Recording
from nsrecover.system import System


@dataclass(frozen=True, eq=False)
class Review:
    """The verdict on one step of a recording.

    Attributes:
        step: number of the action, from 0.
        action: what was carried out.
        before: the scene before it.
        discrepancy: the comparison with what should have been; false in a condition if all was well.
        recovery: the way back from there, if something was wrong.
        explanation: the words, if something was wrong.
    """

    step: int
    action: Action
    before: SceneGraph
    discrepancy: Discrepancy
    recovery: Recovery | None = None
    explanation: Explanation | None = None


def review(system: System, recording: Recording, budget_s: float = 1.0) -> Iterator[Review]:
    """Go through a recording step by step.

    Each step is judged from the scene that was seen before it, so an error is reported once and not again after every
    later step.

    Args:
        system: the learned parts.
        recording: a plan and what was seen.
        budget_s: planning time for one recovery.

    Yields:
        One review for each action.

    Raises:
        InvalidAction: the plan has an unknown operator or wrong arguments.
        UnknownObject: the plan names an object that was not seen.
    """
    monitor = system.monitor(recording.plan, recording.observations[0])
    for step, (action, observation) in enumerate(zip(recording.plan, recording.observations[1:], strict=True)):
        before = monitor.graph
        discrepancy = monitor.step(action, observation)
        if discrepancy:
            recovery = system.planner.recover(discrepancy.observed, monitor.trace, discrepancy, budget_s=budget_s)
            yield Review(step, action, before, discrepancy, recovery, system.explainer(discrepancy, recovery))
        else:
            yield Review(step, action, before, discrepancy)


def episode_of(reviews: Sequence[Review], recording: Recording) -> Episode:
    """Reviews as an episode, for logs and explanations: `nsrecover.records.episode_log.save` writes it.

    Args:
        reviews: of every step, from `review`.
        recording: that was reviewed.
    """
    clock = [observation.time_s for observation in recording.observations]
    records = tuple(
        StepRecord(
            item.action,
            False,
            item.discrepancy.observed,
            item.discrepancy,
            recording.plan,
            item.recovery,
            item.explanation,
            time_s,
        )
        for item, time_s in zip(reviews, clock[1:], strict=True)
    )
    return Episode(recording.plan, EpisodeStatus.REVIEWED, "", reviews[0].before, records, clock[0])
