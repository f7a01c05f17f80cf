"""Settings of a session."""

from __future__ import annotations

from dataclasses import dataclass

from nsrecover.core.certainty import CERTAINTY, Certainty
from nsrecover.errors import InvalidConfiguration

MAX_RECOVERIES = 10
"""After this many recoveries in one episode a session asks for help instead of trying again."""


@dataclass(frozen=True)
class SessionSettings:
    """Settings of a session.

    Attributes:
        budget_s: planning time for one recovery, seconds; None: no limit.
        max_recoveries: recoveries in one episode before it asks for help.
        check_sensors: whether the first camera images are refused if they are implausible, see `System.monitor`.
        approve: whether a person is asked before every recovery is taken.
        reviews: whether what was done already is only judged: each action by the one observation after it, and no
            recovery is taken.
        certainty: how sure a verdict has to be.
    """

    budget_s: float | None = 1.0
    max_recoveries: int = MAX_RECOVERIES
    check_sensors: bool = True
    approve: bool = False
    reviews: bool = False
    certainty: Certainty = CERTAINTY

    def __post_init__(self) -> None:
        if not isinstance(self.budget_s, int | float | None) or (self.budget_s is not None and not self.budget_s >= 0):
            raise InvalidConfiguration(f"expected a budget_s of at least 0 seconds, or None, found {self.budget_s!r}")
        if not self.max_recoveries >= 0:
            raise InvalidConfiguration(f"expected max_recoveries of at least 0, found {self.max_recoveries}")
