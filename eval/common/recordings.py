"""Camera images of the episodes of error datasets, rendered once and stored by content, and sensors before them."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from eval.identity import code_state
from nsrecover.core import Observation, Plan
from nsrecover.errors import InvalidConfiguration, require_known
from nsrecover.records.archive import Archive, write_archive
from nsrecover.records.recording import Recording
from sim.common.cameras import FRONT, LEFT, RIGHT, CameraRig
from sim.datasets.replay import replay
from sim.datasets.spec import ErrorEpisode, StepError
from sim.sensors.sensor import Sensor, recorded

RIG = CameraRig(views=(LEFT, RIGHT, FRONT))
"""All cameras that are recorded; every evaluation chooses some."""

LOOKS_AT_START = 3
"""Greatest number of observations before the first action; one that shows every object of the plan ends them."""

BACKGROUND = ""
"""Name of what a mask shows that shows no object."""


@dataclass(frozen=True, eq=False)
class RecordedEpisode:
    """Camera images of an episode.

    Attributes:
        episode: its specification and ground truth.
        successes: observations before the first action and after every action without its faults.
        failures: step -> observation after it with its errors, for the steps of `episode.errors`.
        places: (len(successes), N, 3) true centres of the objects in `successes`, metres; only for judging.
        exact: the recording without the errors of a sensor, only for judging; None if there are none.
    """

    episode: ErrorEpisode
    successes: tuple[Observation, ...]
    failures: dict[int, Observation]
    places: npt.NDArray[np.float64]
    exact: RecordedEpisode | None = None

    @property
    def unseen(self) -> tuple[str, ...]:
        """Objects of the plan without a mask in the first observation."""
        names = {name for action in self.episode.plan for name in action.arguments}
        return tuple(sorted(names - set(self.successes[0].labels.values())))

    def sensed(self, sensor: Sensor) -> RecordedEpisode:
        """Return the recording as a sensor shows it.

        The first scene is observed up to `LOOKS_AT_START` times, until every object of the plan has a mask. A step with
        an error is observed at the same moment as its outcome without the error. The errors of the sensor follow from
        the seed of the episode.

        Args:
            sensor: from `sim.sensors.presets`.
        """
        if sensor.exact:
            return self
        stream = sensor.stream(len(self.successes[0].cameras), self.episode.seed)
        start, *later = self.successes
        seen = replace(self, successes=(stream.observe(recorded(start)),), exact=self)
        for _ in range(LOOKS_AT_START - 1):
            if seen.unseen:
                seen = replace(seen, successes=(stream.observe(recorded(start)),))
        successes, failures = list(seen.successes), dict[int, Observation]()
        for step in range(max(len(later), 1 + max(self.failures, default=-1))):
            if step in self.failures:
                failures[step] = copy.copy(stream).observe(recorded(self.failures[step]))
            if step < len(later):
                successes.append(stream.observe(recorded(later[step])))
        return replace(seen, successes=tuple(successes), failures=failures)

    def through(self, views: Sequence[str]) -> RecordedEpisode:
        """Return the recording with some of the cameras.

        Args:
            views: their names.

        Raises:
            InvalidConfiguration: there is no camera with such a name.
        """
        return replace(
            self,
            successes=tuple(through(observation, views) for observation in self.successes),
            failures={step: through(observation, views) for step, observation in self.failures.items()},
        )


def footage_of(episode: ErrorEpisode, folder: str | Path) -> RecordedEpisode:
    """Return the images of an episode, with all cameras; it is executed and rendered unless its file exists."""
    path = Path(folder) / f"{_key(episode)}.h5"
    if not path.is_file():
        steps = list(replay(episode, rig=RIG, with_images=True))
        _check(episode, [step.error for step in steps if step.error is not None])
        good, bad = ([step for step in steps if kept(step)] for kept in (
            lambda step: step.error is None or episode.faults, lambda step: step.error is not None,
        ))  # fmt: skip
        start = steps[0].seen_before
        successes, failures = [start, *(step.seen_fault_free for step in good)], [start, *(s.seen_after for s in bad)]
        notes = {"places": np.round([steps[0].before.positions, *(s.fault_free.positions for s in good)], 5).tolist()}
        plans = Plan(episode.plan.actions[: len(good)]), Plan(tuple(step.action for step in bad))
        seen = [tuple(each for each in part if each is not None) for part in (successes, failures)]
        write_archive(path, [Recording(plans[0], seen[0], notes), Recording(plans[1], seen[1])])
    with Archive(path, trusted=True) as archive:
        well, badly = archive[0], archive[1]
    after = dict(zip([error.step for error in episode.errors], badly.observations[1:], strict=True))
    return RecordedEpisode(episode, well.observations, after, np.array(well.notes["places"]))


def names_of_masks(exact: Observation, seen: Observation) -> dict[int, str]:
    """Return the true name of what most pixels of each mask show; `BACKGROUND` for no object.

    Args:
        exact: with exact masks and names.
        seen: the same scene with the masks in question.
    """
    names = {}
    for view, instances in enumerate(seen.instances):
        for number in np.unique(instances[instances > 0]).tolist():
            ids, counts = np.unique(exact.instances[view][instances == number], return_counts=True)
            objects = ids > 0
            most = int(ids[objects][counts[objects].argmax()]) if objects.any() else 0
            names[number] = exact.labels.get(most, BACKGROUND)
    return names


def through(observation: Observation, views: Sequence[str]) -> Observation:
    """Return an observation with some of its cameras."""
    names = [camera.name for camera in observation.cameras]
    for view in views:
        require_known(view, names, "known views")
    rows = [names.index(view) for view in views]
    return replace(
        observation,
        rgb=observation.rgb[rows],
        depth_m=observation.depth_m[rows],
        instances=observation.instances[rows],
        cameras=tuple(observation.cameras[row] for row in rows),
    )


def _check(episode: ErrorEpisode, found: Sequence[StepError]) -> None:
    """Reject an episode that differs from its stored ground truth."""
    drawn, now = ([(error.step, *sorted(error.deviations)) for error in errors] for errors in (episode.errors, found))
    if drawn != now:
        raise InvalidConfiguration(
            f"expected episode {episode.number} of {episode.dataset} to have the errors {drawn}, "
            f"found {now}: this simulator or processor differs; generate the datasets again, "
            "`python -m sim.datasets shipped=false out=DIR`, and give errors=DIR"
        )


def _key(episode: ErrorEpisode) -> str:
    """Name of a recording: of an episode, the cameras, and the code that executes and renders it."""
    return hashlib.sha256(f"{episode.to_json()}{asdict(RIG)}{code_state()}".encode()).hexdigest()[:24]
