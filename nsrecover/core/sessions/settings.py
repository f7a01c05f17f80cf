"""Settings of a session."""

from __future__ import annotations

from dataclasses import dataclass

from nsrecover.core.certainty import CERTAINTY, Certainty
from nsrecover.errors import InvalidConfiguration


@dataclass(frozen=True)
class SessionSettings:
    """Settings of a session: every number of its policy.

    Attributes:
        budget_s: planning time for one recovery, seconds; None: no limit.
        max_recoveries: recoveries in one episode before it asks for help. None: twice as many as the plan has actions,
            and 10 at least; a robot of which 30 % of the actions fail needs about half as many as there are actions.
        check_sensors: whether the first camera images are refused if they are implausible, see `System.monitor`.
        approve: whether a person is asked before every recovery is taken.
        reviews: whether what was done already is only judged: each action by the one observation after it, and no
            recovery is taken.
        certainty: how sure a verdict has to be.
        max_unusable: observations in a row that cannot be used, or do not show what is looked for, before it asks for
            help.
        max_vetoes: vetoes of the recoveries from one error before it asks for help.
    """

    budget_s: float | None = 1.0
    max_recoveries: int | None = None
    check_sensors: bool = True
    approve: bool = False
    reviews: bool = False
    certainty: Certainty = CERTAINTY
    max_unusable: int = 3
    max_vetoes: int = 5

    def __post_init__(self) -> None:
        if not isinstance(self.budget_s, int | float | None) or (self.budget_s is not None and not self.budget_s >= 0):
            raise InvalidConfiguration(f"expected a budget_s of at least 0 seconds, or None, found {self.budget_s!r}")
        least = {"max_unusable": 1, "max_vetoes": 1} | ({} if self.max_recoveries is None else {"max_recoveries": 0})
        for name, number in least.items():
            found = getattr(self, name)
            if not isinstance(found, int) or found < number:
                raise InvalidConfiguration(f"expected {name} of at least {number}, found {found!r}")
        if not isinstance(self.certainty, Certainty):
            raise InvalidConfiguration(f"expected a Certainty, found {self.certainty!r}")
