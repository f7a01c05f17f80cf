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


def solve(features: Array, target: Array, columns: tuple[int, ...]) -> Sparse:
    """Least squares on some columns."""
    design = np.column_stack([np.ones(len(target)), features[:, list(columns)]])
    q, r = np.linalg.qr(design)
    coefficients = np.linalg.lstsq(r, q.T @ target, rcond=1e-8)[0]
    leverage = np.minimum((q**2).sum(axis=1), 0.95)
    press = (target - design @ coefficients) / (1.0 - leverage)
    count, terms = len(target), len(columns) + 1
    loss = count * np.log((press**2).mean() + NOISE_M**2) + terms * np.log(count) * 2.0
    return Sparse(columns, coefficients, press, float(loss))


def select(features: Array, target: Array, most: int = MOST_TERMS) -> Sparse:
    """The best of the models that forward selection leads through.

    Args:
        features: (N, P).
        target: (N,).
        most: largest number of columns.
    """
    best = solve(features, target, ())
    centred = features - features.mean(axis=0)
    scale = np.linalg.norm(centred, axis=0)
    left, residual, chosen = centred / np.maximum(scale, 1e-9), target - target.mean(), list[int]()
    usable = scale > 1e-6
    for _ in range(min(most, len(target) // 4)):
        norms = np.linalg.norm(left, axis=0)
        gain = np.where(usable & (norms > 0.05), np.abs(left.T @ residual) / np.maximum(norms, 1e-9), 0.0)
        column = int(gain.argmax())
        if gain[column] <= 1e-9:
            break
        chosen.append(column)
        unit = left[:, column] / norms[column]
        residual = residual - unit * (unit @ residual)
        left = left - np.outer(unit, unit @ left)
        usable[column] = False
        found = solve(features, target, tuple(chosen))
        if found.score < best.score:
            best = found
        elif len(chosen) > len(best.columns) + 2:
            break
    return best
