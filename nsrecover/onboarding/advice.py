"""What to improve first, from the residuals of good steps."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nsrecover.core.discrepancy import Verdict
from nsrecover.onboarding.scoring import ScoredStep

LARGE = 0.25
"""An error counts as large from this share of the tolerance on: a normal error then rarely reaches the tolerance."""

UNSEEN = 0.03
"""Share of steps that could not be judged from which on the view is the first thing to improve."""


@dataclass(frozen=True)
class Advice:
    """One thing to improve.

    Attributes:
        weight: how much it matters; at 1 it alone uses up the tolerance.
        text: what was found and what to do.
    """

    weight: float
    text: str


def advice_from(
    steps: Sequence[ScoredStep], threshold: float, neutral: float, tolerance_m: float, needed_steps: int
) -> tuple[Advice, ...]:
    """What to improve, the most important first.

    Args:
        steps: good steps.
        threshold: the calibrated threshold.
        neutral: the one of the tolerance.
        tolerance_m: displacement that it stands for, metres.
        needed_steps: good steps needed to promise the requested rate.
    """
    tolerance_mm = 1000 * tolerance_m
    found = [*_placing(steps, tolerance_mm), *_measuring(steps, tolerance_mm), *_unseen(steps)]
    found += [*_outstanding(steps)]
    if len(steps) < needed_steps:
        found.append(
            Advice(
                0.2,
                f"the rate is estimated, not promised: {len(steps)} good steps were recorded, {needed_steps} are "
                "needed; record more runs",
            )
        )
    if not found and threshold >= neutral:
        found.append(Advice(0.0, "nothing: errors are small against the tolerance; a smaller tolerance may work"))
    return tuple(sorted(found, key=lambda each: -each.weight))


def _placing(steps: Sequence[ScoredStep], tolerance_mm: float) -> list[Advice]:
    """Where moved objects end, relative to where they are expected."""
    found = []
    for operator in sorted({step.operator for step in steps}):
        offsets = np.array([s.placed_mm for s in steps if s.operator == operator and s.placed_mm is not None])
        if len(offsets) < 3:
            continue
        middle = np.median(offsets, axis=0)
        far = float(np.linalg.norm(middle))
        if far > LARGE * tolerance_mm:
            x, y, z = middle
            found.append(
                Advice(
                    far / tolerance_mm,
                    f"{operator}: objects are put {far:.0f} mm beside where they are expected, always the same way "
                    f"(x {x:+.0f}, y {y:+.0f}, z {z:+.0f} mm); correct the placing, or give each action its target",
                )
            )
        scattered = float(np.quantile(np.linalg.norm(offsets - middle, axis=1), 0.9))
        if scattered > LARGE * tolerance_mm:
            found.append(
                Advice(
                    scattered / tolerance_mm,
                    f"{operator}: objects end up to {scattered:.0f} mm (9 of 10) beside their usual place; grasp and "
                    "place more exactly, or use a larger tolerance",
                )
            )
    return found


def _measuring(steps: Sequence[ScoredStep], tolerance_mm: float) -> list[Advice]:
    rested = [step.rested_mm for step in steps if step.rested_mm is not None]
    if len(rested) < 3:
        return []
    error = float(np.quantile(rested, 0.9))
    if error <= LARGE * tolerance_mm:
        return []
    return [
        Advice(
            error / tolerance_mm,
            f"objects that nobody touched are measured up to {error:.0f} mm (9 of 10 steps) from where they were; "
            "check depth noise, masks and the calibration of the cameras with `nsrecover check-setup`",
        )
    ]


def _unseen(steps: Sequence[ScoredStep]) -> list[Advice]:
    share = sum(step.verdict is Verdict.CANNOT_TELL for step in steps) / max(len(steps), 1)
    if share <= UNSEEN:
        return []
    return [
        Advice(
            5 * share,
            f"in {share:.0%} of the steps the moved object was not seen; move the arm out of the way before observing, "
            "or add a camera from another side",
        )
    ]


def _outstanding(steps: Sequence[ScoredStep]) -> list[Advice]:
    """An object that most of the low scores belong to."""
    low = [step.worst for step in sorted(steps, key=lambda s: s.score)[: max(len(steps) // 10, 3)]]
    (name, times), *_ = Counter(low).most_common(1)
    objects = len({step.worst for step in steps})
    if objects < 3 or times < 0.6 * len(low) or min(step.score for step in steps) > 0.9:
        return []
    return [
        Advice(
            0.3,
            f"{times} of the {len(low)} lowest scores belong to {name}; look at its mask and its depth readings "
            "(shiny, dark and transparent surfaces have few)",
        )
    ]
