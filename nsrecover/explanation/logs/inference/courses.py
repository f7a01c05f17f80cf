"""What may have happened in a run, as data: hypotheses, and the courses of events that follow from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import State


@dataclass(frozen=True)
class Hypothesis:
    """What went wrong in execution.

    Attributes:
        mode: `as_planned`, `no_effect`, `dropped`, `instead` (another object or place), `forced` (a step worked
            although the domain says that it cannot).
        number: index of the step.
        event: index of the frame at which it shows.
        instead: the step that was carried out in its place.
        place: where a dropped object went; empty if it is lost.
        lost: whether a dropped object cannot be picked up again.
        lasting: whether the robot goes on with the other object as if it were the right one.
    """

    mode: str
    number: int = -1
    event: int = -1
    instead: Action | None = None
    place: str = ""
    lasting: bool = False
    lost: bool = False


@dataclass(frozen=True)
class Course:
    """A hypothesis, simulated.

    Attributes:
        hypothesis: what went wrong in execution.
        start: the initial state.
        states: the state at every event.
        before: the state before every step.
        after: the state after every step.
        refused: step -> the conditions that were not met.
        cost: of the hypothesis.
    """

    hypothesis: Hypothesis
    start: State
    states: tuple[State, ...]
    before: tuple[State, ...]
    after: tuple[State, ...]
    refused: dict[int, tuple[StateFact, ...]] = field(hash=False)
    cost: float

    @property
    def final(self) -> State:
        """The state at the end."""
        return self.states[-1] if self.states else self.start


def posterior(courses: Sequence[Course]) -> list[float]:
    """The probability of each course, if one of them is true."""
    least = min(one.cost for one in courses)
    weights = [math.exp(least - one.cost) for one in courses]
    return [weight / sum(weights) for weight in weights]
