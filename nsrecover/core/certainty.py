"""How sure a verdict has to be before a robot acts on it."""

from __future__ import annotations

from dataclasses import dataclass

from nsrecover.errors import InvalidConfiguration


@dataclass(frozen=True)
class Certainty:
    """Error rates that are accepted, by what is at stake.

    They hold if the errors of different looks are independent. A sensor that is wrong in the same way every time
    defeats any of them.

    Attributes:
        alarm: accepted probability that an ordinary verdict is wrong.
        irreversible: the same before an action that cannot be undone, and for "no way back".
        done: accepted probability that a condition of the goal does not hold when a plan counts as completed. A goal
            of n conditions is falsely completed with at most n times this probability: with two conditions, one in
            1,000 plans.
        looks: largest number of observations that one verdict is based on.
        hopeless: an action is given up if it cannot work with at least this probability. A robot of which 10 % of the
            actions fail is stopped after 4 failures of one action in a row, one with 30 % after 5 or 6.
    """

    alarm: float = 0.02
    irreversible: float = 0.002
    done: float = 0.0005
    looks: int = 6
    hopeless: float = 0.95

    def __post_init__(self) -> None:
        for name in ("alarm", "irreversible", "done"):
            if not 0.0 < getattr(self, name) < 0.5:
                raise InvalidConfiguration(f"expected {name} above 0 and below 0.5, found {getattr(self, name)!r}")
        if not 0.5 < self.hopeless < 1.0:
            raise InvalidConfiguration(f"expected hopeless above 0.5 and below 1, found {self.hopeless!r}")
        if not (isinstance(self.looks, int) and self.looks >= 1):
            raise InvalidConfiguration(f"expected looks of at least 1, found {self.looks!r}")


CERTAINTY = Certainty()
"""The default."""
