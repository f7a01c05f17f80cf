"""Stage 1: the object encoder, by instance discrimination across frames, views and lighting."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import Dataset

from nsrecover.models.encoder import ObjectEncoder
from nsrecover.training.demonstrations import Demonstration
from nsrecover.training.schedule import Batch, CosineModule

TEMPERATURE = 0.07

MOST_OBJECTS = 6
"""Most objects of an episode in one example."""


class InstancePairs(Dataset[Batch]):
    """Two random crops of every object of an episode, from any of its frames and views.

    Args:
        demonstrations: where the crops come from; episodes with a single object are skipped.
        objects: most objects taken from an episode; one with fewer is filled up with black crops, so that all stack.
        seed: of the choice of crops.
    """

    def __init__(self, demonstrations: Sequence[Demonstration], objects: int = MOST_OBJECTS, seed: int = 0) -> None:
        self._demonstrations = [demo for demo in demonstrations if len(demo.names) > 1]
        self._objects = objects
        self._rng = np.random.default_rng(seed)

    def __len__(self) -> int:
        return len(self._demonstrations)

    def __getitem__(self, index: int) -> Batch:
        """Two crops (objects, 3, S, S) of each object, floats in [0, 1], and which of them there are (objects,)."""
        demo = self._demonstrations[index]
        chosen = self._rng.permutation(len(demo.names))[: self._objects]
        picks = [self._rng.choice(np.flatnonzero(demo.owners[:, 1] == number), 2) for number in chosen]
        crops = torch.zeros(2, self._objects, 3, *demo.crops.shape[1:3])
        crops[:, : len(chosen)] = torch.from_numpy(demo.crops[np.stack(picks, axis=1)]).permute(0, 1, 4, 2, 3) / 255.0
        return {"first": crops[0], "second": crops[1], "present": torch.arange(self._objects) < len(chosen)}


def vary_lighting(crops: Tensor, strength: float = 0.25) -> Tensor:
    """Random brightness, contrast and colour cast for each crop (B, 3, S, S), leaving the black background black."""
    shape = (len(crops), 1, 1, 1)
    gain = 1 + strength * (2 * torch.rand(shape, device=crops.device) - 1)
    cast = 1 + 0.3 * strength * (2 * torch.rand((len(crops), 3, 1, 1), device=crops.device) - 1)
    gamma = 1 + strength * (2 * torch.rand(shape, device=crops.device) - 1)
    return (crops.clamp(min=1e-6) ** gamma * gain * cast).clamp(0, 1) * (crops > 0)


def occlude_randomly(crops: Tensor, share: float = 0.3) -> Tensor:
    """Black out a random side of some of the crops (B, 3, S, S), as if another object stood in front of it."""
    count, side = len(crops), crops.shape[-1]
    line = torch.linspace(0, 1, side, device=crops.device)
    rows, columns = torch.meshgrid(line, line, indexing="ij")
    angle = 2 * torch.pi * torch.rand(count, 1, 1, device=crops.device)
    along = (rows - 0.5) * torch.sin(angle) + (columns - 0.5) * torch.cos(angle)  # (B, S, S)
    edge = 0.5 * torch.rand(count, 1, 1, device=crops.device)
    chosen = torch.rand(count, 1, 1, device=crops.device) < share
    return crops * ~(chosen & (along > edge))[:, None]


def instance_loss(first: Tensor, second: Tensor, present: Tensor) -> tuple[Tensor, Tensor]:
    """InfoNCE over the objects of one episode: each crop should be nearest to the other crop of the same object.

    Objects of other episodes are no negatives: two of them may look exactly alike.

    Args:
        first: (E, N, D) unit features, up to N objects of E episodes.
        second: (E, N, D) features of other crops of the same objects.
        present: (E, N) which of them there are.

    Returns:
        The loss, and the share of objects that were matched correctly.
    """
    logits = first @ second.transpose(1, 2) / TEMPERATURE
    logits = logits.masked_fill(~present[:, None] | ~present[:, :, None], -1e4)
    labels = torch.arange(logits.shape[1], device=logits.device).expand(logits.shape[0], -1)
    forth = nn.functional.cross_entropy(logits, labels, reduction="none")
    back = nn.functional.cross_entropy(logits.mT, labels, reduction="none")
    loss = ((forth + back) / 2)[present].mean()
    return loss, (logits.argmax(dim=1) == labels)[present].float().mean()


class EncoderModule(CosineModule):
    """Trains an object encoder.

    Args:
        encoder: the network.
        learning_rate: peak of the cosine schedule.
    """

    stage = "encoder"

    def __init__(self, encoder: ObjectEncoder, learning_rate: float = 1e-3) -> None:
        super().__init__(learning_rate)
        self.encoder = encoder

    def measure(self, batch: Batch, training: bool) -> dict[str, Tensor]:
        """InfoNCE of pairs of crops (E, N, 3, S, S), and the share of objects that are matched; varied in training."""
        present, features = batch["present"], []
        for crops in (batch["first"], batch["second"]):
            shown = crops[present]
            encoded = self.encoder(occlude_randomly(vary_lighting(shown)) if training else shown)
            features.append(
                encoded.new_zeros(*present.shape, encoded.shape[-1]).masked_scatter(present[..., None], encoded)
            )
        loss, matched = instance_loss(features[0], features[1], present)
        return {"loss": loss, "matched": matched}
