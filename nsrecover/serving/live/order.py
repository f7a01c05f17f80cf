"""Order in which one person answers the questions of many robots: an assignment of questions to time slots.

The person answers one question after the other, each in the same time T. Question j in slot k = 1, 2, ... is answered
at the time kT. If its robot has gone on without an answer by then, the actions at stake are lost; until then they wait:

    cost(j, k) = stake_j                                if kT > deadline_j
                 stake_j * min(kT / PATIENCE_S, 1)      if kT <= deadline_j
                 stake_j * kT / PATIENCE_S              if its robot waits without a limit

The order with the smallest sum of costs is found exactly (Kuhn 1955, The Hungarian method for the assignment problem).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from nsrecover.util.english import counted

PATIENCE_S = 120.0
"""An action that waits this long counts as lost, seconds."""
_TIE = 1e-12
"""Fraction of the largest stake that breaks ties: questions with less time left come first."""


@dataclass(frozen=True)
class Stake:
    """Stake of a question.

    Attributes:
        actions: expected number of actions that are done thanks to an answer.
        left_s: time until the robot goes on without one, seconds; None if it waits.
    """

    actions: float
    left_s: float | None = None

    @property
    def deadline_s(self) -> float:
        """The same with infinity for a robot that waits."""
        return math.inf if self.left_s is None else self.left_s


def costs(stakes: Sequence[Stake], answer_s: float) -> npt.NDArray[np.float64]:
    """Cost (N, N) of every question in every slot, in actions.

    Args:
        stakes: of the N questions.
        answer_s: time of one answer, seconds.
    """
    actions = np.array([[each.actions] for each in stakes]).reshape(-1, 1)
    deadlines = np.array([[each.deadline_s] for each in stakes]).reshape(-1, 1)
    ends = answer_s * np.arange(1, len(stakes) + 1)
    waiting = ends / PATIENCE_S
    limited = np.where(ends > deadlines, 1.0, np.minimum(waiting, 1.0))
    return actions * np.where(np.isinf(deadlines), waiting, limited)


def order(questions: Mapping[str, Stake], answer_s: float) -> list[str]:
    """The questions in the order with the smallest sum of costs.

    Args:
        questions: name -> what depends on it. At equal costs what has less time left comes first, then what has more at
            stake, then what the mapping has first.
        answer_s: time of one answer, seconds.
    """
    names = sorted(questions, key=lambda name: (questions[name].deadline_s, -questions[name].actions))
    stakes = [questions[name] for name in names]
    count = len(names)
    most = max((each.actions for each in stakes), default=0.0)
    ties = _TIE * most * np.outer(np.arange(count, 0, -1), np.arange(count))
    _, slots = linear_sum_assignment(costs(stakes, answer_s) + ties)
    return [names[place] for place in np.argsort(slots)]


def reason(questions: Mapping[str, Stake], ordered: Sequence[str], answer_s: float) -> str:
    """Why the first question is first, as one sentence.

    Args:
        questions: name -> what depends on it.
        ordered: their names in order.
        answer_s: time of one answer, seconds.
    """
    first, others = questions[ordered[0]], [questions[name] for name in ordered[1:]]
    amount = max(math.floor(first.actions + 0.5), 1)
    at_stake = f"{counted(amount, 'action')} {'depends' if amount == 1 else 'depend'} on it"
    if not others:
        return f"It is the only question; {at_stake}."
    if answer_s <= first.deadline_s < 2 * answer_s:
        return f"If another one is answered first, this one comes too late, and {at_stake}."
    if first.actions >= max(each.actions for each in others):
        equally = any(each.actions == first.actions for each in others)
        return f"{at_stake.capitalize()}, {'as many as' if equally else 'more than'} on any other question."
    if first.left_s is not None:
        return f"Its robot will not wait long, and {at_stake}."
    return f"{at_stake.capitalize()}, and questions with more at stake can wait or come too late."
