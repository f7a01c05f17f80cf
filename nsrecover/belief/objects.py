"""What several looks say together of one object: the probability that it is not as expected.

Looks are combined as likelihood ratios. The errors of looks at one unchanged scene are alike in part: they come from
the same cameras and the same light. Together, n looks count as n / (1 + (n - 1) r) independent ones at a correlation
r of their errors (the design effect of Kish, 1965).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from nsrecover.belief.rates import PRIOR

MISREAD = 0.005
"""Rate of looks that show an object as what it is not: in another place, or in its place although it is elsewhere."""
OVERLOOKED = 0.02
"""Rate of looks that do not show an object although its place is in view."""
ALIKE = 0.2
"""Correlation of the errors of looks at one unchanged scene."""
DISTURBED = 0.03
"""Probability that an object changes that the action does not move, by the action or by an external agent."""
HELPED = 0.3
"""Probability that an object is as the goal has it after an action that does not move it, if it was not before.

People help rarely. What says so here is that two looks have shown it: with less, they would not be believed."""
STEEP = 8.0
"""Factor of the log-odds of a look: its probability says on which side of the threshold the object is, and how often
that is wrong `MISREAD` says. Only near the threshold it is open."""

_NARROWEST = 1e-6


def log_odds(probability: float) -> float:
    """The logarithm of the odds of a probability, which is kept away from 0 and 1."""
    kept = min(max(probability, _NARROWEST), 1.0 - _NARROWEST)
    return math.log(kept / (1.0 - kept))


def evidence(probability: float, threshold: float = 0.5, misread: float = MISREAD) -> float:
    """Log-likelihood ratio of one look, for an object that is as expected against one that is not.

    Args:
        probability: P(as expected) according to the look.
        threshold: the probability at which the look says nothing.
        misread: rate of looks that err, whatever they say.
    """
    chance = 1.0 / (1.0 + math.exp(STEEP * (log_odds(threshold) - log_odds(probability))))
    return math.log(
        (chance * (1.0 - misread) + (1.0 - chance) * misread) / (chance * misread + (1.0 - chance) * (1.0 - misread))
    )


def changed(wrong: float = 0.0, moved: bool = False) -> float:
    """Probability that an object is wrong after an action, before any look.

    Args:
        wrong: the same before the action.
        moved: whether the action moves the object.
    """
    return PRIOR if moved else wrong * (1.0 - HELPED) + (1.0 - wrong) * DISTURBED


def after_looks(wrong: float, looks: Sequence[float]) -> float:
    """Probability that an object is wrong after some looks at one unchanged scene.

    Args:
        wrong: the same before them.
        looks: the evidence of each look that tells.
    """
    worth = 1.0 / (1.0 + ALIKE * (len(looks) - 1)) if looks else 0.0
    return 1.0 / (1.0 + math.exp(min(worth * sum(looks) - log_odds(wrong), 500.0)))
