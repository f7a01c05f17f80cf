"""How often the actions of a robot fail: beta distributions that are learned from what happened."""

from __future__ import annotations

from dataclasses import dataclass, field

PRIOR = 0.1
"""Failure rate of a robot of which nothing is known."""
TRIALS = 10.0
"""Number of actions that this is worth."""
DEAD = 0.03
"""Prior probability that an action cannot work at all: the gripper is broken, the object is fixed."""


@dataclass
class Rate:
    """A beta distribution of the probability that something goes wrong.

    Attributes:
        bad: how often it went wrong, prior included.
        good: how often it went well, prior included.
    """

    bad: float = 0.0
    good: float = 0.0

    @property
    def mean(self) -> float:
        """The expected rate."""
        return self.bad / (self.bad + self.good)

    def count(self, bad: float, good: float) -> None:
        """Add what happened; parts of a count are possible."""
        self.bad += bad
        self.good += good


@dataclass
class FailureRates:
    """The failure rate of every operator; one that was tried little is taken to be like all others.

    Attributes:
        operators: what was counted, by operator.
        prior: failure rate of a robot of which nothing is known.
        trials: number of actions that this is worth.
    """

    operators: dict[str, Rate] = field(default_factory=dict)
    prior: float = PRIOR
    trials: float = TRIALS

    def count(self, operator: str, bad: float, good: float) -> None:
        """Add what came of an action; parts of a count are possible."""
        self.operators.setdefault(operator, Rate()).count(bad, good)

    def overall(self) -> Rate:
        """The rate of all operators together, prior included."""
        bad = sum(each.bad for each in self.operators.values())
        good = sum(each.good for each in self.operators.values())
        return Rate(bad + self.prior * self.trials, good + (1.0 - self.prior) * self.trials)

    def of(self, operator: str) -> Rate:
        """The rate of an operator: what was counted of it, on top of a prior with the mean of all operators."""
        own, mean = self.operators.get(operator, Rate()), self.overall().mean
        return Rate(own.bad + mean * self.trials, own.good + (1.0 - mean) * self.trials)

    def means(self) -> dict[str, float]:
        """The expected rate of every operator that was counted."""
        return {operator: self.of(operator).mean for operator in sorted(self.operators)}


def dead(rate: Rate, failures: int, prior: float = DEAD) -> float:
    """The probability that an action cannot work at all, after it failed some times in a row.

    The other explanation is chance: n failures in a row of an action whose rate is known as well as `rate` says.

    Args:
        rate: its failure rate before the first of these failures.
        failures: how often it failed since.
        prior: probability that it cannot work before it was tried.
    """
    chance = 1.0
    for number in range(failures):
        chance *= (rate.bad + number) / (rate.bad + rate.good + number)
    return prior / (prior + (1.0 - prior) * chance)
