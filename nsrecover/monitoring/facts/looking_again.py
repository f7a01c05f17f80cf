"""A step or check of facts, and what further observations of it are for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Discrepancy, Phase
from nsrecover.core.facts import FactScene, Property
from nsrecover.domains.base import State


class Stage(Enum):
    """What further observations of a step or check are for."""

    VISIT = auto()
    """To look at where something will be done, or at what should have been reached, before it is relied on."""
    DOUBT = auto()
    """To settle the verdict."""
    SEARCH = auto()
    """To find what is needed and in none of the places in view: wherever things are known to be."""


@dataclass
class Judged:
    """A step or a check, and the observations of it."""

    phase: Phase
    action: Action | None
    before: State
    expected: FactScene
    looks: list[FactScene]
    found: Discrepancy[FactScene] | None = None
    doubtful: tuple[Property, ...] = ()
    """Properties that decide the verdict and are not certain enough."""
    stage: Stage = Stage.VISIT
    places: tuple[str, ...] = ()
    """Places to visit or to search."""
    made: int = 1
    """Observations that the verdict is based on, those that could not be used included."""

    def shows(self, prop: Property) -> bool:
        """Whether an observation shows a property."""
        return any(look.knows(prop) for look in self.looks)
