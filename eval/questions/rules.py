"""The orders in which the person answers: ours, and simple rules."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from eval.questions.shift import Rule
from nsrecover.serving.live.order import Stake, order


def first_come(questions: Mapping[str, Stake], answer_s: float) -> list[str]:
    """First come, first served."""
    return list(questions)


def earliest_deadline(questions: Mapping[str, Stake], answer_s: float) -> list[str]:
    """What has the least time left; what waits without a limit comes last, in the order in which it was asked."""
    return sorted(questions, key=lambda name: questions[name].deadline_s)


def largest_stake(questions: Mapping[str, Stake], answer_s: float) -> list[str]:
    """What has the most actions at stake."""
    return sorted(questions, key=lambda name: -questions[name].actions)


def random_order(seed: int) -> Rule:
    """Any order."""
    rng = np.random.default_rng([seed, 5])
    return lambda questions, answer_s: [list(questions)[int(place)] for place in rng.permutation(len(questions))]


def rules(seed: int) -> dict[str, Rule | None]:
    """Name -> rule; None for one person for each robot, as far as actions can get at all."""
    return {
        "one person for each robot": None,
        "ours": order,
        "first come first served": first_come,
        "earliest deadline first": earliest_deadline,
        "largest stake first": largest_stake,
        "random": random_order(seed),
    }
