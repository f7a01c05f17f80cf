"""Replay of an episode of an error dataset: always the same states, with their ground truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nsrecover.core import Action, Observation
from sim.common.cameras import DEFAULT_RIG, CameraRig
from sim.datasets.spec import CONSEQUENCE, NATURAL, ErrorEpisode, StepError
from sim.tabletop.faults import Fault
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.truth import Truth, deviations
from sim.tabletop.world import TabletopWorld


@dataclass(frozen=True, eq=False)
class ReplayedStep:
    """One action of an episode.

    Attributes:
        step: its number, from 0.
        action: the action.
        before: the expected scene before it.
        fault_free: the scene after it without faults.
        truth: the scene after it with the faults of the episode.
        error: the error in `truth`; None if there is none.
        seen_before: the observation before it; None without images.
        seen_after: the observation after it.
        seen_fault_free: the observation after it without faults.
    """

    step: int
    action: Action
    before: Truth
    fault_free: Truth
    truth: Truth
    error: StepError | None
    seen_before: Observation | None = None
    seen_after: Observation | None = None
    seen_fault_free: Observation | None = None


def replay(episode: ErrorEpisode, rig: CameraRig = DEFAULT_RIG, with_images: bool = False) -> Iterator[ReplayedStep]:
    """Carry out an episode's plan step by step.

    After a step with faults the scene is reset to its state without them, as after a perfect recovery, so every step
    starts from the expected scene. An episode without faults ends with its first natural error.

    Args:
        episode: the episode.
        rig: the cameras; the light is the episode's.
        with_images: whether to render observations.

    Yields:
        Its steps, exactly the same for the same episode.
    """
    fault_free_states = [] if episode.faults else ideal_states(episode)
    with TabletopWorld(
        episode.scene,
        plan=episode.plan,
        rig=replace(rig, light=episode.light),
        seed=episode.seed,
        fidelity=episode.fidelity,
    ) as world:
        seen = world.observe() if with_images else None
        for step, action in enumerate(episode.plan):
            before, faults, seen_before = world.truth(), episode.faults_at(step), seen
            if not faults:
                world.execute(action)
                truth = world.truth()
                seen = world.observe() if with_images else None
                fault_free = fault_free_states[step] if fault_free_states else truth
                error = step_error(step, action, (), truth, fault_free)
                yield ReplayedStep(step, action, before, fault_free, truth, error, seen_before, seen, seen)
                if error is not None:
                    return
                continue
            start = world.save()
            world.execute(action)
            fault_free, goal = world.truth(), world.save()
            world.restore(start)
            world.faults = faults
            world.execute(action)
            world.faults = ()
            truth = world.truth()
            error = step_error(step, action, faults, truth, fault_free)
            seen_after = world.observe() if with_images else None
            world.restore(goal)
            world.release(start)
            world.release(goal)
            seen = world.observe() if with_images else None
            yield ReplayedStep(step, action, before, fault_free, truth, error, seen_before, seen_after, seen)


def ideal_states(episode: ErrorEpisode) -> list[Truth]:
    """The scene after every action of an ideal executor: the reference for episodes without faults."""
    with TabletopWorld(episode.scene, seed=episode.seed, fidelity=Fidelity.KINEMATIC) as world:
        truths = []
        for action in episode.plan:
            world.execute(action)
            truths.append(world.truth())
        return truths


def step_error(step: int, action: Action, faults: Sequence[Fault], truth: Truth, fault_free: Truth) -> StepError | None:
    """The error after a step and its causes; None if there is no error."""
    wrong = deviations(truth, fault_free)
    if not wrong:
        return None
    causes: dict[str, str] = dict.fromkeys(wrong, CONSEQUENCE if faults else NATURAL)
    for fault in reversed(faults):
        causes.update(dict.fromkeys(fault.touched(action) & wrong.keys(), fault.kind))
    return StepError(step, wrong, causes)


def final_truth(steps: Sequence[ReplayedStep]) -> Mapping[str, tuple[float, ...]]:
    """Final positions and orientations of all objects, for the comparison of two replays."""
    last = steps[-1].truth
    return {name: (*last.positions[i].tolist(), *last.orientations[i].tolist()) for i, name in enumerate(last.names)}
