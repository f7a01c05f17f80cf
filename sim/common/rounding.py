"""Numbers that are the same on every processor."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

DIGITS = 7
"""Decimals of what goes into physics: 0.1 µm. The noise of a product of small matrices is a billion times smaller."""
JOINT_DIGITS = 6
"""Decimals of joint angles, radians: 1 µm at the hand. Inverse kinematics has noise up to 5e-12, and mostly 5e-16."""


def rounded(values: npt.ArrayLike, digits: int = DIGITS) -> npt.NDArray[np.float64]:
    """Round numbers well above the noise of floating-point arithmetic.

    Kernels of BLAS for different processors, and numpy with and without AVX, give other last bits for the same product,
    inverse or exponential. Physics amplifies them to millimetres, and a comparison of equal numbers depends on them.
    Therefore everything computed that goes into physics, and numbers that decide between equal options, are rounded;
    the engine itself gives the same bits.

    Args:
        values: of any shape.
        digits: decimals that are kept.

    Returns:
        The rounded numbers, without negative zeros.
    """
    result: Any = np.round(np.asarray(values, dtype=np.float64), digits) + 0.0
    return np.asarray(result)
