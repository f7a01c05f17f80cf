"""Verdicts of the monitor on the steps of recorded episodes, with the ground truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from eval.common.recordings import RecordedEpisode, names_of_masks
from nsrecover.core.observation import Observation
from nsrecover.core.scene import SceneGraph
from nsrecover.core.traces import Trace
from nsrecover.monitoring.comparison import Circumstances, Comparison
from nsrecover.monitoring.imagination import Imagination
from nsrecover.perception.perceiver import Association, ScenePerceiver
from nsrecover.system import System


@dataclass
class MonitorSetting:
    """Setting of the monitor.

    Attributes:
        association: how objects are matched between observations.
        remember: whether occluded objects are filled in from memory.
        reimagine: whether the rest of the plan is imagined again after every step; otherwise the whole plan is imagined
            from the first scene.
    """

    association: Association = Association.TRACKED
    remember: bool = True
    reimagine: bool = True


@dataclass(frozen=True)
class StepVerdict:
    """Verdict of the monitor on a step.

    Attributes:
        dataset: of the episode.
        episode: its number.
        step: number of the action, from 0.
        objects: number of objects.
        wrong: truly deviating object -> fault; empty if the step went well.
        probabilities: object -> P(as expected).
        blamed: objects that deviate according to the monitor.
        visible: number of visible objects.
        matched: number of visible objects that are matched with themselves.
    """

    dataset: str
    episode: int
    step: int
    objects: int
    wrong: Mapping[str, str]
    probabilities: Mapping[str, float]
    blamed: tuple[str, ...]
    visible: int
    matched: int


@dataclass(frozen=True)
class ImaginationAccuracy:
    """Distance of imagined places from the true ones.

    Attributes:
        steps: number of steps imagined ahead.
        errors_mm: of every object moved so far.
        cosines: of imagined and observed appearance of the last moved object.
    """

    steps: int
    errors_mm: tuple[float, ...]
    cosines: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class PerceivedStep:
    """Perceived scene after a step.

    Attributes:
        step: number of the action, from 0; -1 before the first one.
        failed: whether this is the outcome with faults.
        graph: the perceived scene.
        trace: the expected trace, over the same objects.
        taken: visible object -> true name of the object it is matched with.
    """

    step: int
    failed: bool
    graph: SceneGraph
    trace: Trace
    taken: Mapping[str, str]


def perceived_steps(recorded: RecordedEpisode, system: System, setting: MonitorSetting) -> Iterator[PerceivedStep]:
    """Perceive an episode step by step, and imagine the rest of the plan.

    A step with an error is perceived twice: with its faults, and without them. The next step starts from the state
    without faults, so that every step starts from a correct scene.

    Args:
        recorded: the recording.
        system: the learned parts.
        setting: of the monitor.

    Yields:
        First the start, then the steps in the order of the steps, an error before the good outcome.

    Raises:
        UnknownObject: the first observation does not show an object of the plan; see `RecordedEpisode.unseen`.
    """
    episode = recorded.episode
    rng = np.random.default_rng(episode.seed)
    perceive = ScenePerceiver(system.model.bundle, setting.association, setting.remember)
    known = setting.association is Association.KNOWN

    def perceived(perceiver: ScenePerceiver, step: int, trace: Trace, failed: bool) -> PerceivedStep:
        shown, labels = anonymous(_of(recorded, step, failed), rng, named=known)
        if recorded.exact is not None:
            labels = names_of_masks(_of(recorded.exact, step, failed), shown)
        graph = perceiver(shown, expected=trace.graphs[step + 1])
        taken = {name: labels[number] for name, number in perceiver.instances.items()}
        return PerceivedStep(step, failed, graph, trace.with_objects_of(graph), taken)

    graph = perceive(anonymous(recorded.successes[0], rng, named=True)[0])
    imagination = system.imagination
    assert isinstance(imagination, Imagination)
    trace = imagination.trace(graph, episode.plan)
    yield PerceivedStep(-1, False, graph, trace, {})
    for step in range(len(episode.plan)):
        if step in recorded.failures:
            yield perceived(perceive.fork(), step, trace, failed=True)
        if step + 1 >= len(recorded.successes):
            return
        good = perceived(perceive, step, trace, failed=False)
        yield good
        trace = imagination.rebase(good.trace, step + 1, good.graph) if setting.reimagine else good.trace


def _of(recorded: RecordedEpisode, step: int, failed: bool) -> Observation:
    """The observation after a step, with its error or without."""
    return recorded.failures[step] if failed else recorded.successes[step + 1]


def judge_steps(
    recorded: RecordedEpisode, system: System, setting: MonitorSetting
) -> tuple[list[StepVerdict], list[ImaginationAccuracy]]:
    """Return the verdicts of the monitor on every step of `perceived_steps`.

    Args:
        recorded: the recording.
        system: the learned parts.
        setting: of the monitor.

    Returns:
        The verdicts, and the accuracy of the imagination of the whole plan from the first scene.
    """
    episode = recorded.episode
    wrong = {error.step: error.causes for error in episode.errors}
    comparison = system.comparison
    assert isinstance(comparison, Comparison)
    steps = perceived_steps(recorded, system, setting)
    start = next(steps)
    verdicts, seen = list[StepVerdict](), [start.graph]
    for seen_step in steps:
        known = Circumstances(newcomers=seen_step.graph.names[len(start.graph) :])
        found = comparison.after(seen_step.graph, seen_step.trace, seen_step.step, known)
        verdicts.append(
            StepVerdict(
                episode.dataset,
                episode.number,
                seen_step.step,
                len(episode.scene.objects),
                dict(wrong[seen_step.step]) if seen_step.failed else {},
                {name: float(found.probabilities[row]) for row, name in enumerate(start.graph.names)},
                found.deviating,
                len(seen_step.taken),
                sum(name == label for name, label in seen_step.taken.items()),
            )
        )
        if not seen_step.failed:
            seen.append(seen_step.graph)
    return verdicts, list(_imagination(recorded, start.trace.graphs, seen))


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


def _imagination(
    recorded: RecordedEpisode, imagined: tuple[SceneGraph, ...], seen: list[SceneGraph]
) -> Iterator[ImaginationAccuracy]:
    episode = recorded.episode
    rows = {scene_object.name: row for row, scene_object in enumerate(episode.scene.objects)}
    moved = list[str]()
    for step, action in enumerate(episode.plan.actions[: len(seen) - 1]):
        moved = [*dict.fromkeys([*moved, action.arguments[0]])]
        graph, places, now = imagined[step + 1], recorded.places[step + 1], seen[step + 1]
        errors = [
            1000 * float(np.linalg.norm(graph.boxes[graph.index(name), :3] - places[rows[name]])) for name in moved
        ]
        last = action.arguments[0]
        cosine = float(graph.visual[graph.index(last)] @ now.visual[now.index(last)])
        yield ImaginationAccuracy(step + 1, tuple(errors), (cosine,))
