"""Review of a recorded episode: the discrepancy and the recovery after each step."""

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
    """The result of one step of a recording.

    Attributes:
        step: number of the action, from 0.
        action: the action.
        before: the scene before it.
        discrepancy: the difference from the expected scene; `as_expected` if there is none.
        recovery: the recovery, if there is a discrepancy.
        explanation: the explanation, if it is not as expected.
    """

    step: int
    action: Action
    before: SceneGraph
    discrepancy: Discrepancy
    recovery: Recovery | None = None
    explanation: Explanation | None = None


def review(system: System, recording: Recording, budget_s: float = 1.0, check_sensors: bool = True) -> Iterator[Review]:
    """Review a recording step by step.

    The expected scene of each step is predicted from the observed scene before it, so that an error is reported once.

    Args:
        system: the learned parts.
        recording: the recording.
        budget_s: planning time for one recovery, seconds.
        check_sensors: whether the first observation is refused if it is implausible.

    Yields:
        One review for each action.

    Raises:
        InvalidAction: the plan has an unknown operator or wrong arguments.
        UnknownObject: the plan names an object that was not observed.
        InvalidObservation: the first observation is implausible.
    """
    monitor = system.monitor(recording.plan, recording.observations[0], check_sensors=check_sensors)
    for step, (action, observation) in enumerate(zip(recording.plan, recording.observations[1:], strict=True)):
        before = monitor.graph
        discrepancy = monitor.step(action, observation)
        if discrepancy:
            recovery = system.planner.recover(discrepancy.observed, monitor.trace, discrepancy, budget_s=budget_s)
            yield Review(step, action, before, discrepancy, recovery, system.explainer(discrepancy, recovery))
        elif not discrepancy.as_expected:
            yield Review(step, action, before, discrepancy, explanation=system.explainer(discrepancy, None))
        else:
            yield Review(step, action, before, discrepancy)


def episode_of(reviews: Sequence[Review], recording: Recording) -> Episode:
    """Convert reviews to an episode, for logs and explanations.

    Args:
        reviews: the reviews of all steps, from `review`.
        recording: the reviewed recording.
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
