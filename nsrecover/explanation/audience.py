"""Audiences of a text, and the phrasing of steps and actions for each."""

from __future__ import annotations

from dataclasses import dataclass

from nsrecover.core.actions import Action
from nsrecover.domains.domain import Domain
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.explanation.phrases import instruction
from nsrecover.util.english import doing, ordinal
from nsrecover.util.python310 import StrEnum


class Audience(StrEnum):
    """Readers of a text."""

    LAY = "lay"
    ENGINEER = "engineer"


@dataclass(frozen=True)
class Phrasing:
    """The phrasing of one text.

    Attributes:
        audience: readers of the text.
        domain: provides the words for actions.
    """

    audience: Audience = Audience.ENGINEER
    domain: Domain = TABLETOP

    @property
    def lay(self) -> bool:
        """Whether the readers do not know the plan."""
        return self.audience is Audience.LAY

    def step(self, number: int | str) -> str:
        """Return the name of a step: `step 4`, `the fourth step`."""
        return f"the {ordinal(int(number))} step" if self.lay else f"step {number}"

    def steps(self, first: int, last: int) -> str:
        """Return the name of a range of steps: `steps 5 and 6`, `steps 5 to 8`, `the fifth to the eighth step`."""
        if first >= last:
            return self.step(last)
        between = "and" if last == first + 1 else "to"
        if self.lay:
            return f"the {ordinal(first)} {between} the {ordinal(last)} step"
        return f"steps {first} {between} {last}"

    def step_with_action(self, number: str, action: str) -> str:
        """Return a step with its action: `step 4, top(a, b),`, `the fourth step, putting the a on the b,`."""
        return f"{self.step(number)}, {participle(Action.parse(action), self.domain) if self.lay else action},"

    def offset(self, words: str) -> str:
        """Return a distance, with `about` for lay readers."""
        return f"about {words}" if self.lay and words[:1].isdigit() else words


def participle(action: Action, domain: Domain = TABLETOP) -> str:
    """Return an action as a participle phrase: `putting the red cube on the blue cube`."""
    return doing(instruction(action, domain=domain))
