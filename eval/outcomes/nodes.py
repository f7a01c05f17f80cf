"""Episodes of dataset XI as flat arrays over all their objects, which every arm is given alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from nsrecover.models.outcomes.calibration import classes_of
from nsrecover.training.outcomes import OutcomeExample

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
SENSOR_M = (0.003, 0.003, 0.0015)
"""Standard deviation of one measurement of a centre, metres."""
MOVED_M = 0.01
"""An object counts as affected from this displacement on."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """M objects of E episodes.

    Attributes:
        examples: the episodes.
    """

    examples: Sequence[OutcomeExample]

    @cached_property
    def counts(self) -> list[int]:
        """Objects of every episode."""
        return [len(each.moved) for each in self.examples]

    @cached_property
    def values(self) -> Array:
        """(M, F) hand features, with rigid propagation among them."""
        return np.concatenate([each.nodes.values for each in self.examples]).astype(np.float64)

    @cached_property
    def prior(self) -> Array:
        """(M, 3) rigid propagation, metres."""
        return np.concatenate([each.nodes.prior for each in self.examples]).astype(np.float64)

    @cached_property
    def moved(self) -> Array:
        """(M, 3) seen displacements in the axes of the actions, metres."""
        return np.concatenate([each.moved for each in self.examples])

    @cached_property
    def target(self) -> Flags:
        """(M,) the pushed or dropped object."""
        return np.concatenate([np.arange(len(each.moved)) == each.action.target for each in self.examples])

    @cached_property
    def rolls(self) -> Flags:
        """(M,) known to roll."""
        return np.concatenate([each.nodes.rolls for each in self.examples])

    @cached_property
    def fixed(self) -> Flags:
        """(M,) cannot move."""
        return np.concatenate([each.nodes.fixed for each in self.examples])

    @cached_property
    def operators(self) -> npt.NDArray[np.str_]:
        """(E,) operator of every episode."""
        return np.array([each.action.operator for each in self.examples])

    @cached_property
    def distances(self) -> Array:
        """(M,) of the action of every object."""
        return np.repeat([each.action.distance for each in self.examples], self.counts)

    def classes(self, affected: Array) -> npt.NDArray[np.str_]:
        """(M,) calibration class of every object, with an arm's own P(affected)."""
        names, first = list[str](), 0
        for operator, count in zip(self.operators, self.counts, strict=True):
            rows = slice(first, first + count)
            names += classes_of(affected[rows], self.target[rows], self.rolls[rows], str(operator))
            first = rows.stop
        return np.array(names)

    def worst(self, values: Array) -> Array:
        """(E,) highest value of the objects of every episode."""
        values = np.where(self.fixed, -np.inf, values)
        return np.maximum.reduceat(values, np.cumsum([0, *self.counts[:-1]]))
