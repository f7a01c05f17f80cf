"""Free-space transformer: proposes where to put an object down so that it blocks nothing.

Source: Kalithasan et al., section V, item 2: the boxes of all objects and which one to move go in, a collision-free box
near the object comes out; trained without labels on "move little" plus "overlap with nothing".
"""

from collections.abc import Iterable
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

SCALE_M = 0.1
"""Lengths are given to the network in units of this, so that they are of order one."""

MARGIN_M = 0.03
"""Gap asked for between the proposed box and every other one: room for the fingers of a gripper."""

TOKEN_SIZE = 4 + 4 + 1
"""Numbers in a token: four sides of its box, four borders of the workspace, whether it is the moved object's."""


def workspace_overrun(box: Tensor, workspace: Tensor) -> Tensor:
    """Distance by which the footprint of a box exceeds the workspace.

    Args:
        box: (..., 6) centre and size, metres.
        workspace: (..., 4) x_min, y_min, x_max, y_max, metres.

    Returns:
        (...,) sum of the overruns at the four borders, metres; 0 if it lies inside.
    """
    half = box[..., 3:5] / 2
    low = functional.relu(workspace[..., :2] - (box[..., :2] - half))
    high = functional.relu((box[..., :2] + half) - workspace[..., 2:])
    return (low + high).sum(-1)


def penetration(box: Tensor, others: Tensor, margin_m: float) -> Tensor:
    """How deep the footprint of a box, widened by a margin, runs into others, seen from above.

    Seen from above because the object is put down on the table and the gripper comes from above: whatever its height,
    nothing else may be in that column.

    Args:
        box: (..., 6).
        others: (..., N, 6).
        margin_m: gap to keep.

    Returns:
        (..., N) the smaller of the overlaps along x and y, metres; 0 if the gap is kept.
    """
    reach = (box[..., None, 3:5] + others[..., 3:5]) / 2 + margin_m
    overlap = reach - (box[..., None, :2] - others[..., :2]).abs()
    return functional.relu(overlap.min(-1).values)


class FreeSpaceTransformer(nn.Module):
    """Proposes a box on the table for one object of a scene.

    Several hypotheses are decoded from the token of every box, since there is free space to more than one side. The
    nearest of those that keep the gap is the proposal; if none does, the one that comes closest to it. The number of
    objects is free, their order does not matter.

    Args:
        width: size of the tokens.
        layers: encoder layers.
        heads: attention heads.
        hypotheses: proposals decoded from every box.
    """

    def __init__(self, width: int = 64, layers: int = 2, heads: int = 4, hypotheses: int = 4) -> None:
        super().__init__()
        self.hypotheses = hypotheses
        self.embed = nn.Sequential(nn.Linear(TOKEN_SIZE, width), nn.GELU(), nn.Linear(width, width))
        layer = nn.TransformerEncoderLayer(
            width, heads, dim_feedforward=2 * width, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, layers, norm=nn.LayerNorm(width), enable_nested_tensor=False)
        self.decode = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, 2 * hypotheses))
        # a near free place has coordinates of borders; past the normalisations of the encoder they arrive undistorted
        self.skip = nn.Linear(TOKEN_SIZE, 2 * hypotheses)

    def propose(self, boxes: Tensor, moved: Tensor, workspace: Tensor, present: Tensor | None = None) -> Tensor:
        """All hypotheses.

        Args:
            boxes: (B, N, 6) centre and size of every object, metres.
            moved: (B,) which object is to be moved.
            workspace: (B, 4) or (4,) x_min, y_min, x_max, y_max of the reachable table, metres.
            present: (B, N) False for padding, which repeats the moved object's hypotheses; all present if not given.

        Returns:
            (B, N * hypotheses, 6) boxes of the moved object's size that rest on the table (z = half the height).
        """
        batch = torch.arange(len(boxes), device=boxes.device)
        own = boxes[batch, moved]  # (B, 6)
        tokens = self._tokens(boxes, own, moved, workspace.expand(len(boxes), 4))
        encoded = self._encode(self.embed(tokens), present)
        offset = SCALE_M * (self.decode(encoded) + self.skip(tokens))  # (B, N, 2 * hypotheses)
        if present is not None:
            offset = torch.where(present[..., None], offset, offset[batch, moved][:, None])
        centre = own[:, None, :2] + offset.reshape(len(boxes), -1, 2)
        size = own[:, None, 3:].expand(-1, centre.shape[1], 3)
        return torch.cat([centre, size[..., 2:] / 2, size], dim=-1)

    def _encode(self, tokens: Tensor, present: Tensor | None) -> Tensor:
        """Tokens (B, N, width) after all layers.

        In evaluation the layers are applied here: for a single scene, the checks of `self.encoder` in every call take a
        third of its time.
        """
        if self.training:
            learning: Tensor = self.encoder(tokens, src_key_padding_mask=None if present is None else ~present)
            return learning
        mask = None if present is None else present[:, None, None]  # no token looks at padding
        for layer in cast(Iterable[nn.TransformerEncoderLayer], self.encoder.layers):
            attention = layer.self_attn
            joined = functional.linear(layer.norm1(tokens), attention.in_proj_weight, attention.in_proj_bias)
            query, key, value = joined.view(*tokens.shape[:2], 3, attention.num_heads, -1).permute(2, 0, 3, 1, 4)
            seen = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
            tokens = tokens + attention.out_proj(seen.transpose(1, 2).flatten(2))
            tokens = tokens + layer.linear2(functional.gelu(layer.linear1(layer.norm2(tokens))))
        encoded: Tensor = cast(nn.LayerNorm, self.encoder.norm)(tokens)
        return encoded

    def _tokens(self, boxes: Tensor, own: Tensor, moved: Tensor, workspace: Tensor) -> Tensor:
        """Inputs of the tokens, (B, N, TOKEN_SIZE): lengths from the moved object's centre, in units of `SCALE_M`.

        Where that centre would touch the gap around each box, on its four sides; where it would touch the borders of
        the workspace; and whether the box is its own.
        """
        here, half = own[:, None, :2], own[:, None, 3:5] / 2
        away = boxes[..., :2] - here
        reach = half + boxes[..., 3:5] / 2 + MARGIN_M
        borders = torch.cat([workspace[:, None, :2] + half - here, workspace[:, None, 2:] - half - here], dim=-1)
        lengths = torch.cat([away - reach, away + reach, borders.expand(-1, boxes.shape[1], 4)], dim=-1) / SCALE_M
        is_moved = moved[:, None] == torch.arange(boxes.shape[1], device=boxes.device)
        return torch.cat([lengths, is_moved[..., None].to(boxes.dtype)], dim=-1)

    def forward(self, boxes: Tensor, moved: Tensor, workspace: Tensor, present: Tensor | None = None) -> Tensor:
        """The best hypothesis for each scene; arguments as in `propose`.

        Returns:
            (B, 6) box of the moved object's size, resting on the table.
        """
        proposals = self.propose(boxes, moved, workspace, present)
        badness = placement_energy(proposals, boxes, moved, workspace, present).badness
        return proposals[torch.arange(len(boxes), device=boxes.device), badness.argmin(1)]


class PlacementEnergy(NamedTuple):
    """The parts of the training objective for proposals (B, H, 6), each (B, H).

    Attributes:
        displacement: squared distance to where the object stands, in units of `SCALE_M` squared.
        overlap: penetration of the other boxes with the margin, in units of `SCALE_M`.
        outside: overrun of the workspace, in units of `SCALE_M`.
    """

    displacement: Tensor
    overlap: Tensor
    outside: Tensor

    @property
    def total(self) -> Tensor:
        """Training loss, (B, H): collisions weigh far more than distance."""
        return 0.1 * self.displacement + 5.0 * self.overlap + 5.0 * self.outside

    @property
    def badness(self) -> Tensor:
        """Ranking of hypotheses, (B, H): collision-free ones first, the nearest first among them."""
        return self.displacement + 1e4 * (self.overlap + self.outside)


def placement_energy(
    proposals: Tensor,
    boxes: Tensor,
    moved: Tensor,
    workspace: Tensor,
    present: Tensor | None = None,
    margin_m: float = MARGIN_M,
) -> PlacementEnergy:
    """The energy of proposed places; differentiable.

    Args:
        proposals: (B, H, 6).
        boxes: (B, N, 6).
        moved: (B,) index of the object the proposals are for: its own box is no obstacle.
        workspace: (B, 4) or (4,).
        present: (B, N) False for padding.
        margin_m: gap to keep to the other boxes.
    """
    batch = torch.arange(len(boxes), device=boxes.device)
    borders = workspace.expand(len(boxes), 4)[:, None]
    obstacle = moved[:, None] != torch.arange(boxes.shape[1], device=boxes.device)
    if present is not None:
        obstacle = obstacle & present
    depth = penetration(proposals, boxes[:, None], margin_m) * obstacle[:, None]
    away = proposals[..., :2] - boxes[batch, moved][:, None, :2]
    return PlacementEnergy(
        displacement=(away / SCALE_M).square().sum(-1),
        overlap=depth.sum(-1) / SCALE_M,
        outside=workspace_overrun(proposals, borders) / SCALE_M,
    )
