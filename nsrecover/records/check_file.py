"""Sensor checks of recorded observations, for `nsrecover check-observation`."""

from dataclasses import dataclass

import numpy as np

from nsrecover.core import ADVICE, Observation, SensorFinding
from nsrecover.errors import InvalidRecording
from nsrecover.perception.cameras.checks import RULES as VIEWS
from nsrecover.perception.cameras.checks import check_observation, table_plane
from nsrecover.records.runs import read_runs
from nsrecover.util.json_data import Json, to_json


@dataclass(frozen=True)
class ViewSummary:
    """What one camera sees.

    Attributes:
        camera: its name.
        readings: share of the pixels with a depth reading.
        masks: number of instance masks.
        table_height_m: height of the table as it sees it.
        table_tilt_deg: its tilt.
    """

    camera: str
    readings: float
    masks: int
    table_height_m: float
    table_tilt_deg: float

    def __str__(self) -> str:
        return (
            f"{self.camera}: {self.readings:.0%} of the pixels with depth, {self.masks} masks, table at "
            f"{1000 * self.table_height_m:.0f} mm, tilted by {self.table_tilt_deg:.1f}°"
        )


@dataclass(frozen=True)
class CheckedObservation:
    """The checks of one observation.

    Attributes:
        where: what observation it is.
        views: what every camera sees.
        findings: what is implausible about it.
    """

    where: str
    views: tuple[ViewSummary, ...]
    findings: tuple[SensorFinding, ...]

    def to_json(self) -> Json:
        """As JSON data."""
        findings = [vars(each) | {"advice": ADVICE[each.problem]} for each in self.findings]
        document = {"observation": self.where, "plausible": not findings, "findings": findings, "views": self.views}
        return to_json(document, digits=4)


def check_file(file: str, every: bool = False) -> list[CheckedObservation]:
    """Check the observations of a file.

    Args:
        file: a recorded episode or bag, `example` for the shipped one, or a file of many episodes (.h5).
        every: whether all observations are checked, or only the first one of each episode.

    Raises:
        InvalidRecording: there is no such file, or it cannot be read.
        InvalidConfiguration: h5py is needed for this file, and is not installed.
    """
    found = list[CheckedObservation]()
    for run in read_runs([file]):
        episode = run.name.partition(" episode ")[2]
        where = f"episode {episode}, observation" if episode else "observation"
        for number, observation in enumerate(run.observations[: None if every else 1]):
            if not isinstance(observation, Observation):
                raise InvalidRecording(f"expected camera images in {file}, found {run.seen}")
            found.append(checked(observation, f"{where} {number}"))
    return found


def checked(observation: Observation, where: str, agree_m: float = VIEWS.agree_m) -> CheckedObservation:
    """Check one observation; `where` is what to call it, and `agree_m` see `check_observation`."""
    views = tuple(_summary(observation, view) for view in range(len(observation.cameras)))
    return CheckedObservation(where, views, check_observation(observation, agree_m))


def _summary(observation: Observation, view: int) -> ViewSummary:
    height, tilt, _ = table_plane(observation, view)
    masks = len(np.unique(observation.instances[view][observation.instances[view] > 0]))
    readings = float((observation.depth_m[view] > 0).mean())
    return ViewSummary(observation.cameras[view].name, readings, masks, height, tilt)
