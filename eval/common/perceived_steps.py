"""Scenes that the library perceives in recorded episodes, step by step, beside what it expects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from eval.common.recordings import RecordedEpisode
from nsrecover.core import Observation, SceneGraph, Trace
from nsrecover.monitoring.imagination import Imagination
from nsrecover.perception.perceiver import ScenePerceiver
from nsrecover.system import System


@dataclass(frozen=True, eq=False)
class PerceivedStep:
    """Perceived scene after a step.

    Attributes:
        step: number of the action, from 0; -1 before the first one.
        failed: whether this is the outcome with faults.
        graph: the perceived scene.
        trace: the expected trace, over the same objects.
    """

    step: int
    failed: bool
    graph: SceneGraph
    trace: Trace


def perceived_steps(recorded: RecordedEpisode, system: System) -> Iterator[PerceivedStep]:
    """Perceive an episode step by step, and imagine the rest of the plan again after every step.

    A step with an error is perceived twice: with its faults, and without them. The next step starts from the state
    without faults, so that every step starts from a correct scene. Only the first observation names objects.

    Args:
        recorded: the recording.
        system: the learned parts.

    Yields:
        First the start, then the steps in the order of the steps, an error before the good outcome.

    Raises:
        UnknownObject: the first observation does not show an object of the plan; see `RecordedEpisode.unseen`.
    """
    episode = recorded.episode
    rng = np.random.default_rng(episode.seed)
    perceive = ScenePerceiver(system.model.bundle)

    def perceived(perceiver: ScenePerceiver, step: int, trace: Trace, seen: Observation, failed: bool) -> PerceivedStep:
        graph = perceiver(anonymous(seen, rng, named=False)[0], expected=trace.graphs[step + 1])
        return PerceivedStep(step, failed, graph, trace.with_objects_of(graph))

    graph = perceive(anonymous(recorded.successes[0], rng, named=True)[0])
    imagination = system.imagination
    assert isinstance(imagination, Imagination)
    trace = imagination.trace(graph, episode.plan)
    yield PerceivedStep(-1, False, graph, trace)
    for step in range(len(episode.plan)):
        if step in recorded.failures:
            yield perceived(perceive.fork(), step, trace, recorded.failures[step], failed=True)
        if step + 1 >= len(recorded.successes):
            return
        good = perceived(perceive, step, trace, recorded.successes[step + 1], failed=False)
        yield good
        trace = imagination.rebase(good.trace, step + 1, good.graph)


def anonymous(observation: Observation, rng: np.random.Generator, named: bool) -> tuple[Observation, Mapping[int, str]]:
    """Return an observation with random instance numbers; numbers of single views are random already and stay.

    Args:
        observation: with numbers and names of the simulator.
        rng: draws the new numbers.
        named: whether the labels keep the names of the objects.

    Returns:
        The observation, and the true names of the new numbers, only for judging.
    """
    if not observation.shared_ids:
        return replace(observation, labels=observation.labels if named else {}), observation.labels
    old = sorted(observation.labels)
    new = rng.choice(np.arange(1, 1000), len(old), replace=False)
    table = np.zeros(max([*old, int(observation.instances.max())]) + 1, dtype=np.int32)
    table[old] = new
    truth = {int(number): observation.labels[was] for was, number in zip(old, new, strict=True)}
    labels = truth if named else {number: f"detection {number}" for number in truth}
    instances = table[np.maximum(observation.instances, 0)]
    return replace(observation, instances=instances, labels=labels), truth
