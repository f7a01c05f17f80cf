"""Node encoder: appearance and 3-D box of an object to one embedding, in coordinates relative to an anchor."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

BOX_FEATURES = 9

COARSE_M = 0.1
"""Length unit of the coarse coordinates; distances across a table are a few of these."""

FINE_M = 0.025
"""Length unit of the saturating coordinates, which resolve deviations of a few millimetres."""


def mlp(inputs: int, hidden: int, outputs: int, layers: int = 2) -> nn.Sequential:
    """A perceptron with `layers` hidden layers and SiLU activations."""
    sizes = [inputs, *[hidden] * layers]
    parts: list[nn.Module] = []
    for size, following in pairwise(sizes):
        parts += [nn.Linear(size, following), nn.SiLU()]
    return nn.Sequential(*parts, nn.Linear(sizes[-1], outputs))


def box_features(boxes: Tensor, anchor: Tensor) -> Tensor:
    """Boxes (..., 6) seen from an anchor point (..., 3): (..., 9), coarse and fine offsets and the size.

    Only offsets enter, so nothing depends on where on the table a scene is.
    """
    offset = boxes[..., :3] - anchor
    return torch.cat([offset / COARSE_M, torch.tanh(offset / FINE_M), boxes[..., 3:] / COARSE_M], dim=-1)


class NodeEncoder(nn.Module):
    """E_N, the node encoder (Kalithasan et al., section IV-A): concatenated feature and box through a perceptron.

    Args:
        feature_size: D, length of the appearance feature.
        width: length of the embedding.
    """

    def __init__(self, feature_size: int, width: int) -> None:
        super().__init__()
        self.layers = mlp(feature_size + BOX_FEATURES, width, width)

    def forward(self, visual: Tensor, boxes: Tensor, anchor: Tensor) -> Tensor:
        """Embeddings (..., width) of features (..., D) and boxes (..., 6), seen from an anchor (..., 3)."""
        embedding: Tensor = self.layers(torch.cat([visual, box_features(boxes, anchor)], dim=-1))
        return embedding
