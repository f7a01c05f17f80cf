"""What observations say: readings of properties, and how often each kind of reading is wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from nsrecover.belief.rates import FailureRates, Rate
from nsrecover.core.facts import PLACE, Property
from nsrecover.domains.base import State
from nsrecover.domains.domain import Domain

MISREAD = 0.02
"""Probability that a reading is wrong, of a sensor of which nothing is known."""
READINGS = 30.0
"""Number of readings that this is worth."""
CERTAIN = 0.99
"""From this certainty on a reading says how often its channel errs."""
_LEAST, _MOST = 1e-4, 0.45
_PLACES = 3
"""Other places at which an object may be read to be."""

Reads = dict[Property, tuple[State, float]]
"""Property -> the value that an observation shows, and how certain it is of that."""


@dataclass
class MisreadRates:
    """How often readings are wrong, by channel: a state variable, or the place of objects.

    Errors of different readings are taken to be independent. A sensor that is wrong in the same way every time defeats
    any limit that is set on errors. What an observation does not show says nothing.

    Attributes:
        variables: what was counted, by name of the variable.
        prior: rate of a channel of which nothing is known, if no others err more often.
        trials: number of readings that this is worth.
    """

    variables: dict[str, Rate] = field(default_factory=dict)
    prior: float = MISREAD
    trials: float = READINGS
    _all: Rate = field(default_factory=Rate)

    def count(self, variable: str, wrong: float, right: float) -> None:
        """Add what readings were; parts of a count are possible."""
        self.variables.setdefault(variable, Rate()).count(wrong, right)
        self._all.count(wrong, right)

    def of(self, variable: str) -> Rate:
        """The rate of a channel: what was counted of it, on top of a prior with the mean of all if that is higher."""
        mean = (self._all.bad + self.prior * self.trials) / (self._all.bad + self._all.good + self.trials)
        own, prior = self.variables.get(variable, Rate()), max(self.prior, mean)
        return Rate(own.bad + prior * self.trials, own.good + (1.0 - prior) * self.trials)

    def means(self) -> dict[str, float]:
        """The expected rate of every channel that was counted."""
        return {variable: self.of(variable).mean for variable in sorted(self.variables)}

    def odds(self, prop: Property, sure: float, errors: int = 0) -> float:
        """How much less likely a reading is if it is wrong than if it is right, all wrong values together.

        Args:
            prop: what is read.
            sure: how certain the reading is of itself.
            errors: wrong readings of the channel that were not counted yet: where some are wrong, more may be.
        """
        known = self.of(prop[0])
        rate = (known.bad + errors) / (known.bad + known.good + errors)
        error = max(min(_MOST, rate), 1.0 - sure, _LEAST)
        return error / (1.0 - error) if error < 1.0 else math.inf


def other_values(prop: Property, domain: Domain) -> float:
    """How many other values a property may have."""
    variable = domain.variables.get(prop[0])
    if variable is not None:
        return max(1.0, len(variable.values) - 1.0)
    return float(_PLACES) if prop[0] == PLACE else 1.0


@dataclass
class LearnedRates:
    """How often a robot's actions fail, and its readings are wrong.

    Attributes:
        failures: of its actions.
        misread: of its readings.
    """

    failures: FailureRates = field(default_factory=FailureRates)
    misread: MisreadRates = field(default_factory=MisreadRates)

    def add(self, later: LearnedRates, earlier: LearnedRates) -> None:
        """Count what was learned between two moments of an episode."""
        for name, rate in later.failures.operators.items():
            known = earlier.failures.operators.get(name, Rate())
            self.failures.count(name, rate.bad - known.bad, rate.good - known.good)
        for name, rate in later.misread.variables.items():
            known = earlier.misread.variables.get(name, Rate())
            self.misread.count(name, rate.bad - known.bad, rate.good - known.good)
