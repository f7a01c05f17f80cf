"""Stored error states: the moments at which a recovery is planned, as perceived and as they truly are.

They separate planning from perception and execution. An error state is the input of the monitor after an error, made
once from the recording of an episode, with two cameras, object tracking without names, and memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import joblib

from eval.common.episodes import EpisodesConfig, episodes_of
from eval.common.perceived_steps import perceived_steps
from eval.common.recordings import RecordedEpisode, footage_of
from eval.common.systems import system_of
from eval.identity import code_state, weights_of
from eval.run import in_workers
from nsrecover.core import Discrepancy, SceneGraph, Trace
from nsrecover.errors import InvalidConfiguration
from nsrecover.system import System
from nsrecover.util.atomic_write import atomic_write
from sim.datasets.replay import ideal_states, replay
from sim.datasets.spec import ErrorEpisode, StepError
from sim.tabletop.poses import PoseEstimates, poses_of
from sim.tabletop.truth import Truth

VIEWS = ("left", "right")
"""Cameras from which error states are perceived."""


@dataclass(frozen=True, eq=False)
class ErrorState:
    """Moment at which a recovery is planned.

    Attributes:
        episode: that it is part of.
        error: true deviations, and their step.
        graph: the perceived scene.
        trace: the imagined plan, over the same objects.
        truth: the true state.
        fault_free: (T + 1) true states before the first and after every action, without the error.
    """

    episode: ErrorEpisode
    error: StepError
    graph: SceneGraph
    trace: Trace
    truth: Truth
    fault_free: tuple[Truth, ...]

    @property
    def step(self) -> int:
        """Number of the action with the error, from 0."""
        return self.error.step

    @property
    def errors(self) -> int:
        """N_err: number of faults at this step; a natural failure counts as one."""
        return max(len(self.episode.faults_at(self.step)), 1)

    def label(self) -> str:
        """Name in lists, e.g. `I 12 step 3`."""
        return f"{self.episode.dataset} {self.episode.number} step {self.step}"

    def poses(self, truth: Truth) -> PoseEstimates:
        """Return a true state of this scene with the objects' sizes, without missing objects."""
        return poses_of(truth, self.episode.scene)

    def discrepancy(self, system: System) -> Discrepancy:
        """Return the verdict of the monitor; it is false in a condition if nothing deviates."""
        return system.comparison.after(self.graph, self.trace, self.step)


@dataclass
class ErrorStatesConfig(EpisodesConfig):
    """Settings that the commands on error states share."""

    states: str = "data/error_states"


def error_states(
    episode: ErrorEpisode, footage: str | Path, folder: str | Path, checkpoint: str | None = None
) -> tuple[ErrorState, ...]:
    """Return all error states of an episode, none without an error; missing recordings and states are made and stored.

    Args:
        episode: of an error dataset.
        footage: folder of the recordings.
        folder: of the states.
        checkpoint: folder of the learned parts; the shipped ones if None.
    """
    if not episode.errors:
        return ()
    path = Path(folder) / f"{_key(episode, checkpoint)}.joblib"
    if not path.is_file():
        recorded = footage_of(episode, footage)
        states = list(_make(episode, recorded, system_of(checkpoint)))
        with atomic_write(path) as file:
            joblib.dump(states, file, compress=3)
    return tuple(joblib.load(path))


def states_of(
    counts: Mapping[str, int],
    footage: str,
    folder: str,
    seed: int = 0,
    errors: str | None = None,
    checkpoint: str | None = None,
    workers: int = 2,
) -> list[ErrorState]:
    """Return the error states of the first episodes of some datasets; missing ones are made in worker processes.

    Args:
        counts: dataset -> number of episodes.
        footage: folder of the recordings.
        folder: of the states.
        seed: of the datasets.
        errors: folder of the datasets; the standard one if None.
        checkpoint: folder of the learned parts; the shipped ones if None.
        workers: number of processes.

    Raises:
        InvalidConfiguration: there is no such dataset, the folder holds another one, or no episode has an error.
    """
    episodes = [episode for episode in episodes_of(counts, seed, errors, workers) if episode.errors]
    if not episodes:
        raise InvalidConfiguration(
            f"expected an episode with an error, found none among {dict(counts)}; take more episodes or another dataset"
        )
    for place in (footage, folder):
        Path(place).mkdir(parents=True, exist_ok=True)
    make = partial(error_states, footage=footage, folder=folder, checkpoint=checkpoint)
    return [state for states in in_workers(make, episodes, workers, "episode", "error states") for state in states]


def _make(episode: ErrorEpisode, recorded: RecordedEpisode, system: System) -> Iterator[ErrorState]:
    truths, fault_free = _truths(episode)
    errors = {error.step: error for error in episode.errors}
    for step, graph, trace in perceived(recorded.through(VIEWS), system):
        yield ErrorState(episode, errors[step], graph, trace, truths[step], fault_free)


def perceived(recorded: RecordedEpisode, system: System) -> Iterator[tuple[int, SceneGraph, Trace]]:
    """Perceive the errors of a recorded episode.

    Yields:
        Number of the action, the scene after it with its errors, and the imagined trace over the same objects.
    """
    last = max(recorded.failures)
    for observed in perceived_steps(recorded, system):
        if observed.failed:
            yield observed.step, observed.graph, observed.trace
            if observed.step == last:
                return


def _truths(episode: ErrorEpisode) -> tuple[dict[int, Truth], tuple[Truth, ...]]:
    """True states at every error, and the fault-free states."""
    steps = list(replay(episode))
    truths = {step.step: step.truth for step in steps if step.error is not None}
    after = [step.fault_free for step in steps] if episode.faults else ideal_states(episode)
    return truths, (steps[0].before, *after)


# -- files


def _key(episode: ErrorEpisode, checkpoint: str | None) -> str:
    """Name of a file: of an episode, the weights, and the code that executes, renders, perceives and imagines."""
    content = f"{episode.to_json()} {weights_of(checkpoint)} {code_state()}"
    return hashlib.sha256(content.encode()).hexdigest()[:24]
