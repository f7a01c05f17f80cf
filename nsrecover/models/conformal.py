"""Thresholds with a guaranteed false-alarm rate, by split-conformal calibration on successful steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nsrecover.errors import InvalidConfiguration

KEPT = 0.2
"""Share of the lowest calibration scores that a checkpoint keeps, which is the highest rate it can guarantee."""


def lowest(scores: Sequence[float]) -> tuple[float, ...]:
    """The lowest scores (a share `KEPT`), ascending, rounded to 6 digits; thresholds are among them."""
    ascending = np.sort(np.asarray(scores, dtype=np.float64))
    return tuple(round(float(score), 6) for score in ascending[: int(np.ceil(KEPT * (len(ascending) + 1)))])


def conformal_threshold(scores: Sequence[float], count: int, alpha: float) -> float:
    """Threshold below which at most a share `alpha` of new successful steps falls.

    With n exchangeable calibration scores, the k-th smallest with k = floor(alpha (n + 1)) has that guarantee (Vovk et
    al., Algorithmic Learning in a Random World, 2005; split conformal prediction).

    Args:
        scores: the lowest of the calibration scores, ascending (see `lowest`).
        count: n, how many calibration scores there were in all.
        alpha: guaranteed false-alarm rate per step, above 0 and at most `KEPT`.

    Returns:
        The threshold; 0 (no alarm ever) if there are too few scores for so low a rate.

    Raises:
        InvalidConfiguration: the rate is out of its range.
    """
    if not 0 < alpha <= KEPT:
        raise InvalidConfiguration(f"expected a false-alarm rate alpha above 0 and at most {KEPT}, found {alpha}")
    rank = int(np.floor(alpha * (count + 1)))
    return 0.0 if rank < 1 else float(scores[rank - 1])
