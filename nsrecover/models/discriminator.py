"""Pairwise node discriminator: the probability that an object is as expected."""

import torch
from torch import Tensor, nn

from nsrecover.models.encoder import NodeEncoder, mlp

FARTHEST_M = 0.06
"""Places that are farther apart are shown as if they were this far apart, in the same direction.

Training has many displacements of a few centimetres and hardly any of decimetres. Without the limit the network
extrapolates: of two places 30 cm apart, 1 % counted as the same one.
"""


class Discriminator(nn.Module):
    """K_phi, the node discriminator (Kalithasan et al., section IV-C).

    Both nodes are embedded relative to the middle between them; the score depends on the sum and the absolute
    difference of the embeddings, so that it does not matter which of the two is the expected one.

    Args:
        feature_size: D.
        width: length of the embeddings.
    """

    def __init__(self, feature_size: int = 64, width: int = 96) -> None:
        super().__init__()
        self.nodes = NodeEncoder(feature_size, width)
        self.score = mlp(2 * width, width, 1)

    def forward(self, visual_a: Tensor, boxes_a: Tensor, visual_b: Tensor, boxes_b: Tensor) -> Tensor:
        """Log-odds (M,) that node a and node b are the same object in the same place.

        Args:
            visual_a: (M, D) appearance of the one.
            boxes_a: (M, 6) box of the one.
            visual_b: (M, D) appearance of the other.
            boxes_b: (M, 6) box of the other.
        """
        apart = boxes_b[:, :3] - boxes_a[:, :3]
        half = apart * (FARTHEST_M / apart.norm(dim=-1, keepdim=True).clamp(min=FARTHEST_M)) / 2
        middle = torch.zeros_like(half)
        a = self.nodes(visual_a, torch.cat([-half, boxes_a[:, 3:]], dim=-1), middle)
        b = self.nodes(visual_b, torch.cat([half, boxes_b[:, 3:]], dim=-1), middle)
        logits: Tensor = self.score(torch.cat([a + b, (a - b).abs()], dim=-1)).squeeze(-1)
        return logits
