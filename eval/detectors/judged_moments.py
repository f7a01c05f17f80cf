"""Scores of all detectors for all moments of an episode, with ground truth; runs in worker processes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eval.common.perceived_steps import perceived_steps
from eval.common.recordings import RecordedEpisode, footage_of
from eval.common.systems import system_of
from eval.detectors.base import Detector, Moment, part, record_references
from sim.datasets.spec import ErrorEpisode
from sim.sensors.sensor import EXACT, Sensor


@dataclass(frozen=True)
class JudgedMoment:
    """Scores and ground truth of a moment.

    Attributes:
        step: number of the action before it, from 0.
        causes: faults behind the deviations, each once; empty if the step went well.
        scores: detector -> score.
    """

    step: int
    causes: tuple[str, ...]
    scores: Mapping[str, float]


@dataclass(frozen=True)
class JudgedEpisode:
    """All moments of an episode.

    Attributes:
        number: in this comparison, from 0.
        dataset: of the episode.
        episode: its number in the dataset.
        moments: in order; none if the first observations do not show every object of the plan.
    """

    number: int
    dataset: str
    episode: int
    moments: tuple[JudgedMoment, ...]


def judge_episode(
    item: tuple[int, ErrorEpisode],
    detectors: Mapping[str, Detector],
    checkpoint: str | None,
    folder: str,
    views: Sequence[str],
    sensor: Sensor = EXACT,
) -> JudgedEpisode:
    """Score every moment of an episode with every detector.

    All detectors get the same imagined and perceived scene graphs of our learned parts. An episode whose first
    observations do not show every object of the plan has no moments.

    Args:
        item: number in the comparison, and the episode.
        detectors: by name.
        checkpoint: of the learned parts; the shipped one if None.
        folder: of the recordings.
        views: names of the cameras.
        sensor: that the episode is seen through.
    """
    number, episode = item
    recorded = footage_of(episode, folder).through(views).sensed(sensor)
    if recorded.exact is not None and recorded.unseen:
        return JudgedEpisode(number, episode.dataset, episode.number, ())
    references = record_references(episode, Path(folder), views, sensor)
    judged = [
        JudgedMoment(
            moment.step,
            causes,
            {name: detector.score(moment, references[moment.step + 1]) for name, detector in detectors.items()},
        )
        for moment, causes in _moments(recorded, checkpoint)
    ]
    return JudgedEpisode(number, episode.dataset, episode.number, tuple(judged))


def _moments(recorded: RecordedEpisode, checkpoint: str | None) -> Iterator[tuple[Moment, tuple[str, ...]]]:
    """Yield every moment with the faults behind its deviations."""
    causes = {error.step: tuple(sorted(set(error.causes.values()))) for error in recorded.episode.errors}
    looks = perceived_steps(recorded, system_of(checkpoint))
    known = len(next(looks).graph)
    for look in looks:
        step = look.step
        observation = recorded.failures[step] if look.failed else recorded.successes[step + 1]
        # a new object has no imagined place, and may leave again
        expected = part(look.trace.graphs[step + 1], np.arange(known))
        yield Moment(step, expected, look.trace, look.graph, observation), causes[step] if look.failed else ()
