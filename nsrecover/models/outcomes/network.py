"""The network of outcomes: for every object the probability to be affected, and a mixture of displacements."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from nsrecover.models.encoder import mlp
from nsrecover.models.outcomes.features import TARGET
from nsrecover.models.transition import RelativeMessages

UNIT_M = 0.01
"""Unit of displacements inside the network."""
_SURELY = 20.0
"""Added to the log-odds of the target, which every good action moves: still, it would fit the sharp density of what
stays better than the wide one of what is pushed."""
_LEAST = 0.02
"""Least scale of a component, in units; the sensor's variance comes on top."""


@dataclass(frozen=True, eq=False)
class OutcomeMixture:
    """The distribution of M displacements, in units of `UNIT_M` and in the axes of the action.

    p(y) = (1 - a) N(y; 0, R) + a sum_k w_k N(y; m_k, L_k L_k' + R), where R is the sensor's covariance.

    Attributes:
        affected: (M,) log-odds of a.
        weights: (M, K) logarithms of w.
        means: (M, K, 3).
        factors: (M, K, 6) the lower-triangular L: its diagonal, then L10, L20 and L21.
    """

    affected: Tensor
    weights: Tensor
    means: Tensor
    factors: Tensor

    def log_density(self, moved: Tensor, variance: Tensor) -> Tensor:
        """(M,) log p of displacements (M, 3), with the sensor's variance (3,) of a displacement, in squared units."""
        nothing = torch.zeros(len(moved), 6, dtype=moved.dtype, device=moved.device)
        still = _gaussian(moved, nothing, variance)
        parts = _gaussian(moved[:, None] - self.means, self.factors, variance)
        going = torch.logsumexp(self.weights + parts, dim=-1)
        log = nn.functional.logsigmoid
        return torch.logaddexp(log(-self.affected) + still, log(self.affected) + going)

    def mean(self) -> Tensor:
        """(M, 3) expected displacements."""
        inner = (self.weights.exp()[..., None] * self.means).sum(dim=1)
        return self.affected.sigmoid()[:, None] * inner


def _gaussian(away: Tensor, factor: Tensor, variance: Tensor) -> Tensor:
    """Log-density of centred normal distributions with covariance L L' + diag(variance), by its Cholesky factor C.

    Written out, because a batched factorisation of 3 x 3 matrices takes ten times as long.
    """
    a, b, c, d, e, f = factor.unbind(dim=-1)
    x, y, z = variance
    c00 = (a * a + x).sqrt()
    c10, c20 = d * a / c00, e * a / c00
    c11 = (d * d + b * b + y - c10 * c10).sqrt()
    c21 = (e * d + f * b - c20 * c10) / c11
    c22 = (e * e + f * f + c * c + z - c20 * c20 - c21 * c21).sqrt()
    first = away[..., 0] / c00
    second = (away[..., 1] - c10 * first) / c11
    third = (away[..., 2] - c20 * first - c21 * second) / c22
    squares = first * first + second * second + third * third
    found: Tensor = -0.5 * squares - (c00 * c11 * c22).log() - 1.5 * math.log(2 * math.pi)
    return found


class OutcomeNetwork(nn.Module):
    """Predicts an `OutcomeMixture` for every object; the means begin at rigid propagation.

    Args:
        features: F, numbers of an object (`node_features`).
        width: of the hidden layers.
        components: K.
        rounds: rounds of message passing between the objects of a scene; 0: each is judged by its own numbers, which
            describe its neighbours.
        dropout: share of hidden values that training leaves out.
    """

    def __init__(self, features: int, width: int, components: int, rounds: int = 0, dropout: float = 0.1) -> None:
        super().__init__()
        self.components = components
        self.register_buffer("middle", torch.zeros(features))
        self.register_buffer("scale", torch.ones(features))
        self.middle: Tensor
        self.scale: Tensor
        self.nodes = nn.Sequential(
            nn.Linear(features, width), nn.SiLU(), nn.Dropout(dropout),
            nn.Linear(width, width), nn.SiLU(), nn.Dropout(dropout),
        )  # fmt: skip
        self.rounds = nn.ModuleList(RelativeMessages(width) for _ in range(rounds))
        self.head = mlp(width, width, 1 + components * 10, layers=1)
        last = self.head[-1]
        assert isinstance(last, nn.Linear)
        nn.init.normal_(last.weight, std=0.01)
        nn.init.normal_(last.bias, std=0.3)

    def forward(self, values: Tensor, prior: Tensor, boxes: Tensor, edges: Tensor) -> OutcomeMixture:
        """The distribution of M displacements.

        Args:
            values: (M, F).
            prior: (M, 3) rigid propagation, metres.
            boxes: (M, 6) in the axes of the action.
            edges: (2, E) between objects of one scene; not used without message passing.
        """
        x = self.nodes(((values - self.middle) / self.scale).clamp(-8.0, 8.0))
        for layer in self.rounds:
            x = layer(x, boxes, edges)
        found = self.head(x)
        affected, rest = found[:, 0] + _SURELY * values[:, TARGET], found[:, 1:].view(len(found), self.components, 10)
        means = prior[:, None] / UNIT_M + rest[..., 1:4]
        scales = nn.functional.softplus(rest[..., 4:7]) + _LEAST
        factors = torch.cat([scales, rest[..., 7:10]], dim=-1)
        return OutcomeMixture(affected, rest[..., 0].log_softmax(dim=-1), means, factors)
