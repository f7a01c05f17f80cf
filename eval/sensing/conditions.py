"""Conditions: a sensor, what happens to its cameras, and the right answer to a step that went well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import numpy as np

from sim.sensors.events import CameraEvent
from sim.sensors.presets import sensor
from sim.sensors.sensor import Sensor


class Answer(StrEnum):
    """The right verdict on a step that went well."""

    as_expected = "as_expected"
    """As expected."""
    cannot_tell = "cannot_tell"
    """That the sensor does not allow a verdict; or the camera is named."""


@dataclass
class Condition:
    """One row of the table; an entry of conf/conditions.

    Attributes:
        sensor: arguments of `sim.sensors.presets.sensor`: the name of a preset, and groups of values that differ.
        events: what happens to a camera, from a moment on that is drawn for every episode.
        moments: number of observations that an event lasts; to the end if None.
        views: names of the cameras; those of the command if None.
        answer: to steps that go well while an event lasts.
        scene: other scenes than those of the error datasets, the name of a file in conf/scene.
        shared_ids: whether a mask has the same number in all views; if not, every camera numbers its own.
        name: for the table; the key of the condition if None.
    """

    sensor: dict[str, Any] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    moments: int | None = None
    views: list[str] | None = None
    answer: Answer = Answer.as_expected
    scene: str | None = None
    shared_ids: bool = False
    name: str | None = None

    def drawn(self, steps: int, rng: np.random.Generator) -> Sensor:
        """The sensor of one episode, with the moments of its events.

        Args:
            steps: number of actions.
            rng: draws the moments.

        Raises:
            InvalidConfiguration: there is no such preset, value or event.
        """
        events = list[CameraEvent]()
        for values in self.events:
            start = int(rng.integers(1, steps + 1))
            events.append(CameraEvent(**{"start": start, **values}))
            if self.moments is not None:
                events[-1] = replace(events[-1], end=events[-1].start + self.moments)
        chosen = sensor(**self.sensor, events=events)
        return chosen if self.shared_ids else replace(chosen, masks=replace(chosen.masks, ids_per_view=True))


def active(events: Sequence[CameraEvent], number: int) -> bool:
    """Whether an event affects an observation."""
    return any(event.active(number) for event in events)
