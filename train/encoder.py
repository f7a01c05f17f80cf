"""Stage 1: the object encoder, by instance discrimination across frames, views and lighting."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import Dataset

from nsrecover.models.encoder import ObjectEncoder
from train.demonstrations import Demonstration
from train.schedule import CosineModule

TEMPERATURE = 0.1


class InstancePairs(Dataset[tuple[Tensor, Tensor]]):
    """Two random crops of every object of an episode, from any of its frames and views.

    Args:
        demonstrations: where the crops come from.
        objects: objects taken from an episode (fewer episodes are skipped), so that batches stack.
        seed: of the choice of crops.
    """

    def __init__(self, demonstrations: Sequence[Demonstration], objects: int = 3, seed: int = 0) -> None:
        self._demonstrations = [demo for demo in demonstrations if len(demo.names) >= objects]
        self._objects = objects
        self._rng = np.random.default_rng(seed)

    def __len__(self) -> int:
        return len(self._demonstrations)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        """Two crops (objects, 3, S, S) of each of some objects, floats in [0, 1]."""
        demo = self._demonstrations[index]
        chosen = self._rng.choice(len(demo.names), self._objects, replace=False)
        picks = [self._rng.choice(np.flatnonzero(demo.owners[:, 1] == number), 2) for number in chosen]
        crops = torch.from_numpy(demo.crops[np.stack(picks)]).permute(1, 0, 4, 2, 3) / 255.0
        return crops[0], crops[1]


def change_lighting(crops: Tensor, strength: float = 0.25) -> Tensor:
    """Random brightness, contrast and colour cast for each crop (B, 3, S, S), leaving the black background black."""
    shape = (len(crops), 1, 1, 1)
    gain = 1 + strength * (2 * torch.rand(shape, device=crops.device) - 1)
    cast = 1 + 0.3 * strength * (2 * torch.rand((len(crops), 3, 1, 1), device=crops.device) - 1)
    gamma = 1 + strength * (2 * torch.rand(shape, device=crops.device) - 1)
    return (crops.clamp(min=1e-6) ** gamma * gain * cast).clamp(0, 1) * (crops > 0)


def instance_loss(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    """InfoNCE over the objects of one episode: each crop should be nearest to the other crop of the same object.

    Objects of other episodes are no negatives: two of them may look exactly alike.

    Args:
        first: (E, N, D) unit features, N objects of E episodes.
        second: (E, N, D) features of other crops of the same objects.

    Returns:
        The loss, and the share of objects that were matched correctly.
    """
    logits = first @ second.transpose(1, 2) / TEMPERATURE
    labels = torch.arange(logits.shape[1], device=logits.device).expand(logits.shape[0], -1)
    loss = (nn.functional.cross_entropy(logits, labels) + nn.functional.cross_entropy(logits.mT, labels)) / 2
    return loss, (logits.argmax(dim=1) == labels).float().mean()


class EncoderModule(CosineModule):
    """Trains an object encoder.

    Args:
        encoder: the network.
        learning_rate: peak of the cosine schedule.
    """

    def __init__(self, encoder: ObjectEncoder, learning_rate: float = 1e-3) -> None:
        super().__init__(learning_rate)
        self.encoder = encoder

    def training_step(self, batch: tuple[Tensor, Tensor], _: int) -> Tensor:
        """Loss of one batch of (E, N, 3, S, S) crop pairs."""
        loss, accuracy = self._compare(batch, augment=True)
        self.log_dict({"encoder/loss": loss, "encoder/matched": accuracy}, prog_bar=True, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch: tuple[Tensor, Tensor], _: int) -> None:
        """Loss and matching rate on held-out episodes."""
        loss, accuracy = self._compare(batch, augment=False)
        self.log_dict({"encoder/val_loss": loss, "encoder/val_matched": accuracy}, prog_bar=True)

    def _compare(self, batch: tuple[Tensor, Tensor], augment: bool) -> tuple[Tensor, Tensor]:
        features = []
        for crops in batch:
            flat = crops.flatten(0, 1)
            features.append(self.encoder(change_lighting(flat) if augment else flat).view(*crops.shape[:2], -1))
        return instance_loss(features[0], features[1])
