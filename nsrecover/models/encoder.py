"""Encoders of object crops, and of nodes.

A torchvision ResNet turns a masked object crop into a unit-length appearance feature. A perceptron turns appearance and
box of an object into one embedding, in coordinates relative to an anchor.
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torchvision.models.resnet import BasicBlock, ResNet

from nsrecover.errors import InvalidConfiguration

BOX_FEATURES = 9

COARSE_M = 0.1
"""Length unit of the coarse coordinates; distances across a table are a few of these."""

FINE_M = 0.025
"""Length unit of the saturating coordinates, which resolve deviations of a few millimetres."""

STAGES = 4
"""Stages of a torchvision ResNet; fewer can be used, the rest is left out."""

STAGE_WIDTHS = (64, 128, 256, 512)


class ObjectEncoder(nn.Module):
    """ResNet features of an object crop (Kalithasan et al., section IV-A).

    Args:
        feature_size: D, length of the feature.
        blocks: residual blocks in each stage, one to four stages; (2, 2, 2, 2) is torchvision's ResNet-18.

    Raises:
        InvalidConfiguration: `blocks` is not one to four positive numbers.
    """

    def __init__(self, feature_size: int = 64, blocks: Sequence[int] = (1, 1, 1)) -> None:
        super().__init__()
        if not 1 <= len(blocks) <= STAGES or min(blocks) < 1:
            raise InvalidConfiguration(
                f"expected one to {STAGES} positive numbers of blocks, found {tuple(blocks)}; "
                "(1, 1, 1) is the small default, (2, 2, 2, 2) is ResNet-18"
            )
        self.feature_size = feature_size
        self.blocks = tuple(blocks)
        resnet = ResNet(BasicBlock, [*blocks, *[1] * (STAGES - len(blocks))])
        for stage in range(len(blocks), STAGES):
            setattr(resnet, f"layer{stage + 1}", nn.Identity())
        resnet.fc = nn.Linear(STAGE_WIDTHS[len(blocks) - 1], feature_size)
        self.resnet = resnet
        self.mean: Tensor
        self.deviation: Tensor
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1), persistent=False)
        self.register_buffer("deviation", torch.tensor([0.229, 0.224, 0.225]).view(1, 3, 1, 1), persistent=False)

    def load_backbone(self, weights: dict[str, Tensor]) -> None:
        """Take over the convolutional weights of a torchvision ResNet with the same blocks.

        Raises:
            InvalidConfiguration: the weights belong to another architecture.
        """
        own = {name: value for name, value in self.resnet.state_dict().items() if not name.startswith("fc.")}
        missing = [name for name, value in own.items() if name not in weights or weights[name].shape != value.shape]
        if missing:
            raise InvalidConfiguration(
                f"expected backbone weights for blocks {self.blocks}, found none that fit {missing[0]!r} "
                f"(and {len(missing) - 1} more); set the encoder's blocks to those of the weights"
            )
        self.resnet.load_state_dict({name: weights[name] for name in own}, strict=False)

    def forward(self, crops: Tensor) -> Tensor:
        """Features of object crops.

        Args:
            crops: (B, 3, S, S) float in [0, 1], everything but the object blacked out.

        Returns:
            (B, D), unit length.
        """
        features: Tensor = self.resnet((crops - self.mean) / self.deviation)
        return nn.functional.normalize(features, dim=-1)


def mlp(inputs: int, hidden: int, outputs: int, layers: int = 2) -> nn.Sequential:
    """A perceptron with `layers` hidden layers and SiLU activations."""
    sizes = [inputs, *[hidden] * layers]
    parts: list[nn.Module] = []
    for size, following in pairwise(sizes):
        parts += [nn.Linear(size, following), nn.SiLU()]
    return nn.Sequential(*parts, nn.Linear(sizes[-1], outputs))


def convolutions(channels: int, widths: Sequence[int]) -> nn.Sequential:
    """Convolutions with batch normalisation; each of the first three halves the resolution."""
    layers: list[nn.Module] = []
    for number, (before, width) in enumerate(pairwise([channels, *widths])):
        stride = 2 if number < 3 else 1
        layers += [nn.Conv2d(before, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
    return nn.Sequential(*layers)


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
