"""Who says where objects end up: rules, trees and networks; each gives every object a surprise."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from eval.outcomes.nodes import MOVED_M, SENSOR_M, Array, Flags, Nodes
from nsrecover.models.outcomes.model import OutcomeConfig, OutcomeModel
from nsrecover.training.outcomes import OutcomeBudget, surprises, train_outcomes
from nsrecover.util.extras import needs_extra

SEEN_M = math.sqrt(2) * np.array(SENSOR_M)
"""Standard deviation of a seen displacement, metres."""


_SMALL = 0.05


class Arm(Protocol):
    """A way to judge displacements."""

    def fit(self, nodes: Nodes, seed: int) -> None:
        """Learn from good episodes."""

    def judge(self, nodes: Nodes) -> tuple[Array, Array]:
        """How surprising every object is (M,), and P(affected) (M,)."""


class FixedRule:
    """The rule of point outcomes: the target goes as far as it is pushed, all others stay."""

    def fit(self, nodes: Nodes, seed: int) -> None:
        """Nothing is learned."""

    def judge(self, nodes: Nodes) -> tuple[Array, Array]:
        """The distance to the expected place, metres."""
        expected = np.where(nodes.target[:, None], nodes.prior, 0.0)
        drops = np.repeat(nodes.operators == "drop_into", nodes.counts)
        pushed = nodes.target & ~drops & ~np.repeat(nodes.operators == "topple", nodes.counts)
        expected[pushed] = np.column_stack([nodes.distances[pushed], np.zeros((int(pushed.sum()), 2))])
        return np.linalg.norm(nodes.moved - expected, axis=1), nodes.target.astype(np.float64)


@dataclass
class RigidRule:
    """Rigid propagation with tolerances by class: target of an operator, pushed in turn, near, far; rolling or not."""

    _middles: dict[str, Array] = field(default_factory=dict)
    _scales: dict[str, Array] = field(default_factory=dict)

    def _affected(self, nodes: Nodes) -> Array:
        far = np.linalg.norm(nodes.prior, axis=1)
        return np.where(far > 0.004, np.clip(0.5 + 10 * far, 0.5, 0.99), np.where(_near(nodes), 0.05, 0.01))

    def fit(self, nodes: Nodes, seed: int) -> None:
        """The middle and the spread of the residual of every class."""
        classes, residual = nodes.classes(self._affected(nodes)), nodes.moved - nodes.prior
        for name in np.unique(classes):
            found = residual[(classes == name) & ~nodes.fixed]
            if len(found) > 5:
                self._middles[name] = np.median(found, axis=0)
                spread = np.quantile(np.abs(found - self._middles[name]), 0.9, axis=0) / 1.645
                self._scales[name] = np.maximum(spread, SEEN_M)

    def judge(self, nodes: Nodes) -> tuple[Array, Array]:
        """Logarithm of the residual in units of the spread: the tails of good residuals are those of a power."""
        affected = self._affected(nodes)
        classes = nodes.classes(affected)
        middles = np.array([self._middles.get(name, np.zeros(3)) for name in classes])
        scales = np.array([self._scales.get(name, np.full(3, 0.02)) for name in classes])
        return np.log(np.linalg.norm((nodes.moved - nodes.prior - middles) / scales, axis=1) + _SMALL), affected


def _near(nodes: Nodes) -> Flags:
    """Objects within 15 mm of another one that rigid propagation moves, by their hand features of the nearest two."""
    found = np.concatenate([_nearest_pushed(each.nodes.boxes, each.nodes.prior) for each in nodes.examples])
    return np.asarray(found < 0.015)


def _nearest_pushed(boxes: Any, prior: Any) -> Array:
    pushed = np.linalg.norm(prior, axis=1) > 0.004
    away = np.abs(boxes[:, None, :2] - boxes[None, :, :2]) - boxes[:, None, 3:5] - boxes[None, :, 3:5]
    gaps = np.where(pushed[None, :], away.max(axis=2), np.inf)
    return np.asarray(gaps.min(axis=1, initial=1.0))


@dataclass
class Trees:
    """Gradient-boosted trees on the hand features: P(affected), residual to rigid propagation, and its scale.

    The calibration by class makes conformal regions of the surprise.

    Attributes:
        density: whether the surprise is -log density of a mixture of being still and of the scaled residual; otherwise
            the logarithm of the smaller one of both distances, as far as each is possible.
    """

    density: bool = False

    def fit(self, nodes: Nodes, seed: int) -> None:
        """Seven ensembles; scales are learned from out-of-fold residuals."""
        with needs_extra("rivals", "scikit-learn"):
            from sklearn.ensemble import HistGradientBoostingClassifier as Classifier
            from sklearn.ensemble import HistGradientBoostingRegressor as Regressor
            from sklearn.model_selection import KFold, cross_val_predict
        few = len(nodes.examples) < 2000
        settings: dict[str, Any] = {
            "max_iter": 100 if few else 200, "learning_rate": 0.06, "max_leaf_nodes": 8 if few else 15,
            "min_samples_leaf": 8 if few else 15, "l2_regularization": 1.0, "random_state": seed,
        }  # fmt: skip
        movable = ~nodes.fixed
        values, residual = nodes.values[movable], (nodes.moved - nodes.prior)[movable]
        going = np.linalg.norm(nodes.moved[movable], axis=1) > MOVED_M
        self._affected = Classifier(**settings).fit(values, going)
        folds = KFold(4, shuffle=True, random_state=seed)
        self._means, self._scales = [], []
        for axis in range(3):
            chosen = values[going], residual[going, axis]
            away = np.abs(chosen[1] - cross_val_predict(Regressor(**settings), *chosen, cv=folds))
            self._means.append(Regressor(**settings).fit(*chosen))
            scale = Regressor(**{**settings, "max_iter": 80, "learning_rate": 0.04}).fit(
                chosen[0], np.log(away + 0.002)
            )
            self._scales.append((scale, float(np.quantile(away / np.exp(scale.predict(chosen[0])), 0.68))))

    def judge(self, nodes: Nodes) -> tuple[Array, Array]:
        """Scaled residuals."""
        values = nodes.values
        affected = np.where(nodes.target, 1.0, np.clip(self._affected.predict_proba(values)[:, 1], 1e-4, 1.0))
        means = np.column_stack([each.predict(values) for each in self._means]) + nodes.prior
        scales = np.column_stack([np.exp(each.predict(values)) * factor for each, factor in self._scales])
        away = np.linalg.norm((nodes.moved - means) / np.maximum(scales, SEEN_M), axis=1)
        still = np.linalg.norm(nodes.moved / SEEN_M, axis=1)
        if self.density:
            return -np.logaddexp(
                np.log(affected) - 0.5 * away**2 - np.log(np.maximum(scales, SEEN_M)).sum(axis=1),
                np.log(1.0 - affected + 1e-9) - 0.5 * still**2 - np.log(SEEN_M).sum(),
            ), affected
        either = np.where(affected > 0.5, away, np.where(affected < 0.02, still, np.minimum(away, still)))
        return np.log(either + _SMALL), affected


@dataclass
class Network:
    """Our network, trained on the same episodes.

    Attributes:
        rounds: of message passing; without, it is a perceptron on the hand features.
        epochs: passes over 2,000 episodes; more for fewer episodes.
    """

    rounds: int = 0
    epochs: int = 60
    model: OutcomeModel | None = None

    def fit(self, nodes: Nodes, seed: int) -> None:
        """Negative log-likelihood of the displacements."""
        self.model = OutcomeModel(OutcomeConfig(nodes.values.shape[1], networks=1, rounds=self.rounds))
        passes = int(np.clip(self.epochs * 2000 / len(nodes.examples), self.epochs, 4 * self.epochs))
        train_outcomes(self.model, nodes.examples, OutcomeBudget(passes, seed=seed))

    def judge(self, nodes: Nodes) -> tuple[Array, Array]:
        """Negative log-density."""
        assert self.model is not None
        return surprises(self.model, nodes.examples)


ARMS: dict[str, type[Any] | Any] = {
    "fixed": FixedRule,
    "rigid": RigidRule,
    "trees": Trees,
    "trees_density": lambda: Trees(density=True),
    "perceptron": Network,
    "graph": lambda: Network(rounds=2),
}
"""Arm -> what makes it."""
