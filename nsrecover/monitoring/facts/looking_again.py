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
    alarmed: frozenset[Property] = frozenset()
    """Properties that deviated by the observations so far."""
    unseen_effects: frozenset[Property] = frozenset()
    """What earlier actions should have changed and that has not been seen since."""
    stage: Stage = Stage.VISIT
    places: tuple[str, ...] = ()
    """Places to visit or to search."""
    made: int = 1
    previous: tuple[str, ...] | None = None
    """What deviated before the last look."""

    @property
    def seen_twice(self) -> bool:
        """Whether two observations at least show each property that deviated."""
        return all(sum(look.knows(prop) for look in self.looks) > 1 for prop in self.alarmed)
