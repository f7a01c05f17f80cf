"""Scene-graph transition predictor: box and appearance of the moved object after an action."""

import sys
import warnings
from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor, nn

from nsrecover.models.encoder import COARSE_M, NodeEncoder, box_features, mlp

with warnings.catch_warnings():
    # torch_geometric scripts a function when it is imported, which newer torch calls deprecated; users need not see it.
    warnings.filterwarnings("ignore", message=".*torch.jit.script.*")
    from torch_geometric.nn import MessagePassing


def every_pair(batch: int, nodes: int) -> Tensor:
    """Edges (2, batch * nodes * (nodes - 1)) of `batch` disjoint complete directed graphs without loops.

    Depends on the sizes alone and on no value, so that it can be exported with sizes that are not known yet.
    """
    source = torch.arange(nodes).view(nodes, 1).expand(nodes, nodes - 1)
    other = torch.arange(nodes - 1).expand(nodes, nodes - 1)
    target = other + (other >= source)  # skips the source itself
    offsets = torch.arange(batch).view(1, batch, 1) * nodes
    return (torch.stack([source, target]).reshape(2, 1, -1) + offsets).reshape(2, -1)


@lru_cache(maxsize=256)
def complete_edges(batch: int, nodes: int) -> Tensor:
    """The edges of `every_pair`, made once for each size."""
    # Kept for later calls, which may train: an edge list first made for inference must not be barred from autograd.
    with torch.inference_mode(False):
        return every_pair(batch, nodes)


class RelativeMessages(MessagePassing):  # type: ignore[misc]
    """One round of messages on directed edges, which carry the two embeddings and the box offset between them.

    x_i' = x_i + U(x_i, mean_j M(x_i, x_j, box_j - box_i))
    """

    def __init__(self, width: int) -> None:
        super().__init__(aggr="mean")
        made = sys.modules.get(f"{__name__}_RelativeMessages_propagate")
        if made is not None and made.__file__:  # it was imported, and would stay in the folder for temporary files
            for left in filter(None, (made.__file__, made.__cached__)):
                Path(left).unlink(missing_ok=True)
        self.message_layers = mlp(2 * width + 9, width, width, layers=1)
        self.update_layers = mlp(2 * width, width, width, layers=1)

    def forward(self, x: Tensor, boxes: Tensor, edges: Tensor) -> Tensor:
        """Embeddings (M, width) after the round, for boxes (M, 6) and edges (2, E)."""
        gathered = self.propagate(edges, x=x, boxes=boxes)
        updated: Tensor = x + self.update_layers(torch.cat([x, gathered], dim=-1))
        return updated

    def message(self, x_i: Tensor, x_j: Tensor, boxes_i: Tensor, boxes_j: Tensor) -> Tensor:
        """Message along each edge, (E, width)."""
        content: Tensor = self.message_layers(torch.cat([x_i, x_j, box_features(boxes_j, boxes_i[:, :3])], dim=-1))
        return content


class TransitionModel(nn.Module):
    """T_ideal, the transition predictor (Kalithasan et al., section IV-B).

    An action embedding and the embeddings of its two arguments, after message passing over the complete graph, give the
    new node of the moved object; two decoders turn it into a box and an appearance feature. Only that node changes.
    All coordinates are relative to the reference object, so the prediction moves with the scene.

    Args:
        operators: number of operators.
        feature_size: D.
        width: length of the embeddings.
        rounds: rounds of message passing.
    """

    def __init__(self, operators: int, feature_size: int = 64, width: int = 96, rounds: int = 2) -> None:
        super().__init__()
        self.action = nn.Embedding(operators, width)
        self.nodes = NodeEncoder(feature_size, width)
        self.rounds = nn.ModuleList(RelativeMessages(width) for _ in range(rounds))
        self.predictor = mlp(3 * width, width, width)
        self.box_decoder = mlp(width + 6, width, 6)
        self.visual_decoder = mlp(width, width, feature_size, layers=1)

    def forward(
        self,
        visual: Tensor,
        boxes: Tensor,
        operators: Tensor,
        moved: Tensor,
        reference: Tensor,
        edges: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """The moved object after an action, for B scenes with N objects each.

        Args:
            visual: (B, N, D) appearance features.
            boxes: (B, N, 6).
            operators: (B,) operator numbers.
            moved: (B,) index of the moved object.
            reference: (B,) index of the object it is moved relative to.
            edges: (2, E), those of `every_pair(B, N)`, if they are not to be the kept ones (`nsrecover.models.export`).

        Returns:
            Its box (B, 6) and its feature (B, D), unit length.
        """
        x = self.embedded(visual, boxes, reference, edges)
        return self.decoded(x, visual, boxes, operators, moved, reference)

    def embedded(self, visual: Tensor, boxes: Tensor, reference: Tensor, edges: Tensor | None = None) -> Tensor:
        """Embeddings (B, N, width) of all objects as seen from the reference, whatever is done and to whom."""
        batch, count = boxes.shape[:2]
        anchor = boxes[torch.arange(batch, device=boxes.device), reference]
        x = self.nodes(visual, boxes, anchor[:, None, :3]).reshape(batch * count, -1)
        edges = (complete_edges(batch, count) if edges is None else edges).to(boxes.device)
        for layer in self.rounds:
            x = layer(x, boxes.reshape(batch * count, 6), edges)
        embeddings: Tensor = x.view(batch, count, -1)
        return embeddings

    def decoded(
        self, x: Tensor, visual: Tensor, boxes: Tensor, operators: Tensor, moved: Tensor, reference: Tensor
    ) -> tuple[Tensor, Tensor]:
        """What `forward` returns, from the embeddings of `embedded`."""
        rows = torch.arange(len(boxes), device=boxes.device)
        before, anchor = boxes[rows, moved], boxes[rows, reference]
        node = self.predictor(torch.cat([x[rows, moved], x[rows, reference], self.action(operators)], dim=-1))
        sizes = torch.cat([before[:, 3:], anchor[:, 3:]], dim=-1) / COARSE_M
        change = self.box_decoder(torch.cat([node, sizes], dim=-1)) * COARSE_M
        box = torch.cat([anchor[:, :3], before[:, 3:]], dim=-1) + change
        feature = nn.functional.normalize(visual[rows, moved] + self.visual_decoder(node), dim=-1)
        return box, feature
