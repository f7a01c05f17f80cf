"""A simulated world whose images go through a sensor."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from nsrecover.core import Action, Observation
from sim.sensors.sensor import Pose, SensorStream

Saved = TypeVar("Saved")


class RenderedWorld(Protocol[Saved]):
    """A simulated world that renders exact images from cameras that may be elsewhere than their user believes."""

    def observe_from(self, offsets: Sequence[Pose | None], /) -> Observation:
        """Exact images from the true poses, with the believed poses as calibration."""
        ...

    def execute(self, action: Action, /) -> None:
        """Carry out one action."""
        ...

    def save(self) -> Saved:
        """Save the state."""
        ...

    def restore(self, saved: Saved, /) -> None:
        """Return to a saved state."""
        ...

    def release(self, saved: Saved, /) -> None:
        """Free the memory of a saved state."""
        ...


@dataclass(frozen=True, eq=False)
class SavedSensedWorld(Generic[Saved]):
    """A saved state of a world and its sensor.

    Attributes:
        world: the state of the world.
        stream: the state of the sensor.
    """

    world: Saved
    stream: SensorStream


class SensedWorld(Generic[Saved]):
    """A world as a sensor shows it; implements `nsrecover.core.protocols.World`.

    Everything else of the world, its ground truth for instance, is asked of the world itself.

    Attributes:
        world: the exact world.
        stream: the sensor during this episode; it counts the observations.
    """

    def __init__(self, world: RenderedWorld[Saved], stream: SensorStream) -> None:
        self.world, self.stream = world, stream

    def observe(self) -> Observation:
        """The next observation: rendered from where the cameras truly are, with their believed poses."""
        return self.stream.observe(self.world.observe_from)

    def execute(self, action: Action) -> None:
        """Carry out one action in the world."""
        self.world.execute(action)

    def save(self) -> SavedSensedWorld[Saved]:
        """Save the state of the world and of the sensor. `release` it when it is no longer needed."""
        return SavedSensedWorld(self.world.save(), copy.copy(self.stream))

    def restore(self, saved: SavedSensedWorld[Saved]) -> None:
        """Return to a saved state; the same actions then give the same images again."""
        self.world.restore(saved.world)
        self.stream = copy.copy(saved.stream)

    def release(self, saved: SavedSensedWorld[Saved]) -> None:
        """Free the memory of a saved state."""
        self.world.release(saved.world)
