"""The monitor at work on filmed episodes: a verdict on every step, beside the ground truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from eval.common.recordings import RecordedEpisode
from nsrecover.core.actions import Trace
from nsrecover.core.observation import Observation
from nsrecover.core.scene import SceneGraph
from nsrecover.perception.perceiver import Association, ScenePerceiver
from nsrecover.system import System


@dataclass
class MonitorSetting:
    """How the monitor is run.

    Attributes:
        association: how objects are matched between observations.
        remember: whether what is hidden is filled in from memory.
        reimagine: whether the rest of the plan is imagined again from what is seen after every step; without it, all is
            imagined from the first scene.
    """

    association: Association = Association.TRACKED
    remember: bool = True
    reimagine: bool = True


@dataclass(frozen=True)
class StepVerdict:
    """What the monitor said after a step.

    Attributes:
        dataset: of the episode.
        episode: its number.
        step: number of the action, from 0.
        objects: how many objects there are.
        wrong: object -> what did it, of the objects that truly deviate; empty if the step went well.
        probabilities: object -> P(as expected), as the monitor says.
        blamed: the objects that the monitor calls culprits.
        visible: how many objects are visible.
        matched: how many of them were taken for what they are.
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
    """How far imagined places are from the true ones.

    Attributes:
        steps: how many steps were imagined ahead.
        errors_mm: of every object that was moved so far.
        cosines: of imagined and observed appearance of the object that was moved last.
    """

    steps: int
    errors_mm: tuple[float, ...]
    cosines: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class PerceivedStep:
    """What was seen after a step.

    Attributes:
        step: number of the action, from 0; -1 before the first one.
        failed: whether this is how it went, and not how it would have gone well.
        graph: the scene as it was perceived.
        trace: what it should be, over the same objects.
        taken: object -> which one it truly is, of those that are visible.
    """

    step: int
    failed: bool
    graph: SceneGraph
    trace: Trace
    taken: Mapping[str, str]


def perceived_steps(recorded: RecordedEpisode, system: System, setting: MonitorSetting) -> Iterator[PerceivedStep]:
    """Perceive an episode step by step, and imagine what is to come.

    Every step is looked at twice if something goes wrong at it: as it went, and as it would have gone. After an error
    the scene is as it should be again, so every step begins with a good start.

    Args:
        recorded: what the cameras saw.
        system: the learned parts.
        setting: how they are used.

    Yields:
        First the start, then the steps in the order of the steps, an error before the good outcome.
    """
    episode = recorded.episode
    rng = np.random.default_rng(episode.seed)
    perceive = ScenePerceiver(system.bundle, setting.association, setting.remember)
    known = setting.association is Association.KNOWN

    def looked(
        perceiver: ScenePerceiver, observation: Observation, step: int, trace: Trace, failed: bool
    ) -> PerceivedStep:
        shown, labels = anonymous(observation, rng, named=known)
        graph = perceiver(shown, expected=trace.graphs[step + 1])
        taken = {name: labels[number] for name, number in perceiver.instances.items()}
        return PerceivedStep(step, failed, graph, trace.with_objects_of(graph), taken)

    graph = perceive(anonymous(recorded.successes[0], rng, named=True)[0])
    trace = system.imagination.trace(graph, episode.plan)
    yield PerceivedStep(-1, False, graph, trace, {})
    for step in range(len(episode.plan)):
        if step in recorded.failures:
            yield looked(perceive.fork(), recorded.failures[step], step, trace, failed=True)
        if step + 1 >= len(recorded.successes):
            return
        good = looked(perceive, recorded.successes[step + 1], step, trace, failed=False)
        yield good
        trace = system.imagination.rebase(good.trace, step + 1, good.graph) if setting.reimagine else good.trace


def judge_steps(
    recorded: RecordedEpisode, system: System, setting: MonitorSetting
) -> tuple[list[StepVerdict], list[ImaginationAccuracy]]:
    """Judge every step of an episode, as `perceived_steps` steps at it.

    Args:
        recorded: what the cameras saw.
        system: the learned parts.
        setting: how they are used.

    Returns:
        The verdicts, and how good the imagination of the whole plan from the first scene is.
    """
    episode = recorded.episode
    wrong = {error.step: error.causes for error in episode.errors}
    steps = perceived_steps(recorded, system, setting)
    start = next(steps)
    verdicts, seen = list[StepVerdict](), [start.graph]
    for look in steps:
        found = system.comparison.after(look.graph, look.trace, look.step)
        verdicts.append(
            StepVerdict(
                episode.dataset,
                episode.number,
                look.step,
                len(episode.scene.objects),
                dict(wrong[look.step]) if look.failed else {},
                {name: float(p) for name, p in zip(look.graph.names, found.probabilities, strict=True)},
                found.deviating,
                len(look.taken),
                sum(name == label for name, label in look.taken.items()),
            )
        )
        if not look.failed:
            seen.append(look.graph)
    return verdicts, list(_imagination(recorded, start.trace.graphs, seen))


def anonymous(observation: Observation, rng: np.random.Generator, named: bool) -> tuple[Observation, Mapping[int, str]]:
    """An observation whose detections come in random order under random numbers.

    Args:
        observation: with the simulator's numbers and names.
        rng: decides on the new numbers.
        named: whether the detector's labels stay right; otherwise they say nothing.

    Returns:
        The observation, and what the new numbers truly are, for judging.
    """
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
