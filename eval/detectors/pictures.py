"""Detectors that compare an image with the same moment of a successful run (Yu et al., appendix E)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from urllib.error import URLError

import numpy as np
import numpy.typing as npt
import torch
import torchvision
from torch import Tensor, nn

from eval.common.systems import system_of
from eval.detectors.base import Moment, ReferenceRun, References
from nsrecover.core.observation import Observation
from nsrecover.errors import InvalidConfiguration, require_known
from nsrecover.perception.lifting import RULES as LIFTING

_MEAN, _DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Colour normalisation of torchvision's weights and of our encoder."""


class Trunk(StrEnum):
    """Source of image features."""

    encoder = "encoder"
    """The ResNet of the checkpoint's object encoder."""
    imagenet = "imagenet"
    """torchvision's ResNet-18; its weights are downloaded once."""


@dataclass(frozen=True)
class ImageSimilarity:
    """Cosine of image features, the mean over the cameras.

    Attributes:
        pooled: whether the features are averaged over the image, as in an embedding; otherwise they keep their places.
        run: the successful run to compare with.
        trunk: source of the features.
        checkpoint: of the encoder; the shipped one if None.
        thresholds: the paper's.
    """

    pooled: bool = True
    run: ReferenceRun = ReferenceRun.ANOTHER_DAY
    trunk: Trunk = Trunk.encoder
    checkpoint: str | None = None
    thresholds: tuple[float, ...] = (0.9, 0.85, 0.8)

    def __post_init__(self) -> None:
        require_known(self.run, list(ReferenceRun), "a known run of a detector")
        require_known(self.trunk, list(Trunk), "a known trunk of a detector")

    def score(self, moment: Moment, references: References) -> float:
        """Cosine between 0 and 1, because features are not negative."""
        pair = []
        for observation in (moment.observation, references[ReferenceRun(self.run)]):
            features = _features(observation, Trunk(self.trunk), self.checkpoint)
            features = features.mean(axis=(2, 3)) if self.pooled else features.reshape(len(features), -1)
            pair.append(features / np.linalg.norm(features, axis=1, keepdims=True))
        return float((pair[0] * pair[1]).sum(axis=1).mean())


@dataclass(frozen=True)
class ObjectCount:
    """Smaller number of visible objects over the larger number.

    Attributes:
        run: the successful run to compare with.
        thresholds: the paper's.
    """

    run: ReferenceRun = ReferenceRun.TWIN
    thresholds: tuple[float, ...] = (0.9, 0.85, 0.8)

    def __post_init__(self) -> None:
        require_known(self.run, list(ReferenceRun), "a known run of a detector")

    def score(self, moment: Moment, references: References) -> float:
        """Ratio between 0 and 1."""
        fewer, more = sorted([visible(moment.observation), visible(references[ReferenceRun(self.run)])])
        return fewer / more if more else 1.0


def visible(observation: Observation) -> int:
    """Return the number of objects with enough visible pixels.

    Without numbers that the views share, it is the largest number of masks in one view.
    """
    groups = [observation.instances] if observation.shared_ids else list(observation.instances)
    return max(int((np.bincount(masks[masks > 0].ravel()) >= LIFTING.min_pixels).sum()) for masks in groups)


@lru_cache(maxsize=6)
def _features(observation: Observation, trunk: Trunk, checkpoint: str | None) -> npt.NDArray[np.float32]:
    """Return features (V, C, h, w), cached for several detectors."""
    picture = torch.as_tensor(observation.rgb).permute(0, 3, 1, 2) / 255.0
    mean, deviation = (torch.tensor(values).view(1, 3, 1, 1) for values in (_MEAN, _DEVIATION))
    with torch.inference_mode():
        features: Tensor = _trunk(trunk, checkpoint)((picture - mean) / deviation)
    return np.asarray(features.numpy(), dtype=np.float32)


@lru_cache(maxsize=4)
def _trunk(trunk: Trunk, checkpoint: str | None) -> nn.Module:
    if trunk is Trunk.encoder:
        resnet = system_of(checkpoint).model.bundle.encoder.resnet
    else:
        try:
            resnet = torchvision.models.resnet18(weights=torchvision.models.ResNet18_Weights.IMAGENET1K_V1)
        except (URLError, OSError) as problem:
            raise InvalidConfiguration(
                f"expected to download torchvision's weights for trunk=imagenet, found {problem}; use trunk=encoder"
            ) from None
    layers = [layer for name, layer in resnet.named_children() if name not in ("avgpool", "fc")]
    return nn.Sequential(*layers).eval()
