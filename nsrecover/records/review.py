"""Review of a recorded episode: the discrepancy and the recovery after each step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nsrecover.core import (
    Action,
    Discrepancy,
    Episode,
    EpisodeStatus,
    Explanation,
    Observation,
    Recovery,
    SceneGraph,
    StepRecord,
)
from nsrecover.errors import InvalidConfiguration, InvalidRecording
from nsrecover.loading import geometric, load
from nsrecover.monitoring.monitor import Monitor
from nsrecover.perception.objects.boxes import scene_of_boxes
from nsrecover.records.recording import Recording
from nsrecover.records.runs import Run
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


def system_for(runs: Sequence[Run], checkpoint: Path | None, tolerance_m: float | None = None) -> System:
    """The system for what was seen in some runs: learned parts for images, geometry for boxes.

    Raises:
        InvalidConfiguration: the runs are of both kinds, or images need torch.
        InvalidCheckpoint: the checkpoint cannot be used.
    """
    kinds = {run.has_images for run in runs}
    if len(kinds) > 1:
        with_images = next(run.name for run in runs if run.has_images)
        raise InvalidConfiguration(
            f"expected runs with images or runs with boxes, found both ({with_images} has images); give one kind"
        )
    if kinds == {True} or checkpoint is not None:
        return load(checkpoint, tolerance_m=tolerance_m)
    return geometric() if tolerance_m is None else geometric(tolerance_m)


def review(
    system: System, recording: Recording | Run, budget_s: float = 1.0, check_sensors: bool = True
) -> Iterator[Review]:
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
    monitor: Monitor[Any] = system.monitor(recording.plan, recording.observations[0], check_sensors=check_sensors)
    for step, (action, observation) in enumerate(zip(recording.plan, recording.observations[1:], strict=True)):
        before = monitor.graph
        discrepancy = monitor.step(action, observation)
        if discrepancy.deviates:
            recovery = system.planner.recover(discrepancy.observed, monitor.trace, discrepancy, budget_s=budget_s)
            yield Review(step, action, before, discrepancy, recovery, system.explainer(discrepancy, recovery))
        elif not discrepancy.as_expected:
            yield Review(step, action, before, discrepancy, explanation=system.explainer(discrepancy, None))
        else:
            yield Review(step, action, before, discrepancy)


def episode_of(reviews: Sequence[Review], recording: Recording | Run) -> Episode:
    """Convert reviews to an episode, for logs and explanations.

    Args:
        reviews: the reviews of all steps, from `review`.
        recording: the reviewed recording.

    Raises:
        InvalidRecording: the plan is empty, and the scene is known by images only.
    """
    first = recording.observations[0]
    if reviews:
        start = reviews[0].before
    elif isinstance(first, Observation):
        raise InvalidRecording("expected at least one action to review, found an empty plan; record a run with actions")
    else:
        start = scene_of_boxes(dict(first))
    # boxes come without times: the number of the observation stands for them
    clock = [float(getattr(seen, "time_s", number)) for number, seen in enumerate(recording.observations)]
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
    return Episode(recording.plan, EpisodeStatus.REVIEWED, "", start, records, clock[0])
