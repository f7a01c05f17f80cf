"""Going through a recorded episode: what was wrong after each step, and what could have been done about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nsrecover.recording import Recording
from nsrecover.structs import Action, Discrepancy, Explanation, Recovery
from nsrecover.system import System


@dataclass(frozen=True, eq=False)
class Review:
    """The verdict on one step of a recording.

    Attributes:
        step: number of the action, from 0.
        action: what was carried out.
        discrepancy: the comparison with what should have been; false in a condition if all was well.
        recovery: the way back from there, if something was wrong.
        explanation: the words, if something was wrong.
    """

    step: int
    action: Action
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
        discrepancy = monitor.step(action, observation)
        if discrepancy:
            recovery = system.planner.recover(discrepancy.observed, monitor.trace, discrepancy, budget_s=budget_s)
            yield Review(step, action, discrepancy, recovery, system.explainer(discrepancy, recovery))
        else:
            yield Review(step, action, discrepancy)
