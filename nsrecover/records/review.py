"""Review of a recorded episode: what was not as expected after each step, and the recovery that was planned."""

from collections.abc import Sequence
from pathlib import Path

from nsrecover.core import Episode, SceneT
from nsrecover.core.sessions.settings import SessionSettings
from nsrecover.core.sessions.supervision import Listener
from nsrecover.errors import InvalidConfiguration
from nsrecover.loading import geometric, load, system_at
from nsrecover.records.recording import Recording
from nsrecover.records.runs import RecordedRun, SceneKind
from nsrecover.system import AnySystem, System


def system_for(runs: Sequence[RecordedRun], place: str | Path | None, tolerance_m: float | None = None) -> AnySystem:
    """The system for what was seen in some runs; other arguments and errors as for `system_for_kind`."""
    kinds = sorted({run.seen for run in runs})
    if len(kinds) > 1:
        raise InvalidConfiguration(f"expected runs of the same kind, found {' and '.join(kinds)}; give one kind")
    return system_for_kind(kinds[0], place, tolerance_m)


def system_for_kind(kind: SceneKind, place: str | Path | None, tolerance_m: float | None = None) -> AnySystem:
    """The system for what is seen: learned parts for images, geometry for boxes.

    Args:
        kind: what is seen.
        place: of the system, see `nsrecover.loading.system_at`; facts need one.
        tolerance_m: as for `nsrecover.load`, for images and boxes.

    Raises:
        InvalidConfiguration: images need torch, or facts have no system.
        InvalidCheckpoint: the checkpoint cannot be used.
    """
    if kind is SceneKind.FACTS and (place is None or tolerance_m is not None):
        raise InvalidConfiguration(
            "expected a system for facts, found none; give --system file.py:factory, a function that returns "
            "nsrecover.symbolic(...)"
        )
    if kind is SceneKind.BOXES and place is None:
        return geometric() if tolerance_m is None else geometric(tolerance_m)
    return system_at(place) if tolerance_m is None else load(place, tolerance_m=tolerance_m)


def review(
    system: System[SceneT],
    recording: Recording | RecordedRun,
    budget_s: float = 1.0,
    check_sensors: bool = True,
    listener: Listener | None = None,
) -> Episode[SceneT]:
    """The episode of a recording: each action is judged by the observation after it, and no recovery is taken.

    The expected scene of each step is predicted from the observed scene before it, so that an error is reported once.

    Args:
        system: what judges.
        recording: the recording.
        budget_s: planning time for one recovery, seconds.
        check_sensors: whether the first observation is refused if it is implausible.
        listener: follows the review.

    Raises:
        InvalidAction: the plan has an unknown operator or wrong arguments.
        UnknownObject: the plan names an object that was not observed.
        InvalidObservation: an observation cannot be used, or the first one is implausible.
    """
    settings = SessionSettings(budget_s, check_sensors=check_sensors, reviews=True)
    session = system.session(recording.plan, settings=settings, listener=listener)
    for observation in recording.observations:
        session.observed(observation)
    return session.episode
