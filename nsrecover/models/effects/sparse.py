"""Sparse linear regression by forward selection, judged by its leave-one-out error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

MOST_TERMS = 6
NOISE_M = 0.0015
"""Errors below this are noise of the sensor; no term is added for them."""


@dataclass(frozen=True)
class Sparse:
    """y = constant + sum of coefficients times columns.

    Attributes:
        columns: numbers of the columns.
        coefficients: of the constant and of each column.
        press: (N,) leave-one-out errors.
        score: lower is better: the description length of the errors and the terms.
    """

    columns: tuple[int, ...]
    coefficients: Array
    press: Array
    score: float


def select(features: Array, target: Array, most: int = MOST_TERMS) -> Sparse:
    """The best of the models that forward selection leads through.

    Args:
        features: (N, P).
        target: (N,).
        most: largest number of columns.
    """
    count = len(target)
    left, residual, chosen = features - features.mean(axis=0), target - target.mean(), list[int]()
    scale = np.linalg.norm(left, axis=0)
    left /= np.maximum(scale, 1e-9)
    usable, leverage = scale > 1e-6, np.full(count, 1.0 / count)
    best_count, press, score = 0, *_judged(residual, leverage, 1)
    for _ in range(min(most, count // 4)):
        norms = np.linalg.norm(left, axis=0)
        gain = np.where(usable & (norms > 0.05), np.abs(left.T @ residual) / np.maximum(norms, 1e-9), 0.0)
        column = int(gain.argmax())
        if gain[column] <= 1e-9:
            break
        chosen.append(column)
        unit = left[:, column] / norms[column]
        residual = residual - unit * (unit @ residual)
        left = left - np.outer(unit, unit @ left)
        leverage = leverage + unit**2
        usable[column] = False
        found = _judged(residual, leverage, len(chosen) + 1)
        if found[1] < score:
            best_count, press, score = len(chosen), *found
        elif len(chosen) > best_count + 2:
            break
    columns = tuple(chosen[:best_count])
    design = np.column_stack([np.ones(count), features[:, list(columns)]])
    coefficients: Array = np.linalg.lstsq(design, target, rcond=1e-8)[0].astype(np.float64)
    return Sparse(columns, coefficients, press, score)


def _judged(residual: Array, leverage: Array, terms: int) -> tuple[Array, float]:
    """(N,) leave-one-out errors of a least-squares fit, and its score."""
    press = residual / (1.0 - np.minimum(leverage, 0.95))
    count = len(residual)
    return press, float(count * np.log((press @ press) / count + NOISE_M**2) + terms * np.log(count) * 2.0)
