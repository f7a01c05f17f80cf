"""Stage 2: the transition model, jointly with its node encoder, on consecutive demonstrated frames."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Sampler

from nsrecover.core.scene import FloatArray
from nsrecover.domains.tabletop.operators import has_own_effect, reference_name
from nsrecover.models.encoder import COARSE_M
from nsrecover.models.transition import TransitionModel
from nsrecover.training.demonstrations import Demonstration
from nsrecover.training.schedule import Batch, CosineModule

VISUAL_WEIGHT = 0.1
"""Weight of the appearance loss: a feature of unit length against boxes in units of `COARSE_M`."""

BOX_NOISE_M = 0.001
"""Noise on input boxes in training, about that of a camera box."""


@dataclass(frozen=True, eq=False)
class Transition:
    """One demonstrated step of an operator that says where it leads.

    Attributes:
        visual: (N, D) before.
        boxes: (N, 6) before.
        operator: operator number.
        moved: index of the moved object.
        reference: index of the object it is moved relative to; of operators with one argument, the moved one.
        next_box: (6,) of the moved object afterwards.
        next_visual: (D,) of the moved object afterwards.
    """

    visual: FloatArray
    boxes: FloatArray
    operator: int
    moved: int
    reference: int
    next_box: FloatArray
    next_visual: FloatArray


def transitions_of(
    demonstrations: Sequence[Demonstration], visual: Sequence[FloatArray], operators: Sequence[str]
) -> list[Transition]:
    """The steps of operators that say where they lead, in which the moved object is seen before and after."""
    found = []
    for demo, features in zip(demonstrations, visual, strict=True):
        for step, action in enumerate(demo.plan):
            if not has_own_effect(action):
                continue
            moved, reference = (demo.names.index(name) for name in (action.arguments[0], reference_name(action)))
            if demo.seen[step].all() and demo.seen[step + 1, moved]:
                found.append(
                    Transition(
                        visual=features[step],
                        boxes=demo.boxes[step],
                        operator=operators.index(action.operator),
                        moved=moved,
                        reference=reference,
                        next_box=demo.boxes[step + 1, moved],
                        next_visual=features[step + 1, moved],
                    )
                )
    return found


class SameCountBatches(Sampler[list[int]]):
    """Batches of transitions with equally many objects, so that they need no padding."""

    def __init__(self, transitions: Sequence[Transition], batch_size: int, seed: int = 0, shuffle: bool = True) -> None:
        counts = np.array([len(item.boxes) for item in transitions])
        self._groups = [np.flatnonzero(counts == count) for count in np.unique(counts)]
        self._batch_size = batch_size
        self._shuffle = shuffle
        self._rng = np.random.default_rng(seed)

    def __len__(self) -> int:
        return sum(-(-len(group) // self._batch_size) for group in self._groups)

    def __iter__(self) -> Iterator[list[int]]:
        batches = []
        for group in self._groups:
            order = self._rng.permutation(group) if self._shuffle else group
            batches += [order[i : i + self._batch_size].tolist() for i in range(0, len(order), self._batch_size)]
        order = self._rng.permutation(len(batches)) if self._shuffle else np.arange(len(batches))
        yield from (batches[i] for i in order)


def collate(items: Sequence[Transition]) -> Batch:
    """A batch: every field of the transitions stacked on a first axis."""
    return {
        name: torch.as_tensor(np.stack([getattr(item, name) for item in items]))
        for name in ("visual", "boxes", "operator", "moved", "reference", "next_box", "next_visual")
    }


class TransitionModule(CosineModule):
    """Trains a transition model: mean squared error to the demonstrated next node (section IV-B).

    Args:
        model: the network.
        learning_rate: peak of the cosine schedule.
    """

    stage = "transition"

    def __init__(self, model: TransitionModel, learning_rate: float = 2e-3) -> None:
        super().__init__(learning_rate)
        self.model = model

    def measure(self, batch: Batch, training: bool) -> dict[str, Tensor]:
        """Squared error, and the median error of the box in millimetres; boxes are noisy in training."""
        noise = BOX_NOISE_M * torch.randn_like(batch["boxes"]) if training else 0.0
        given = batch["visual"], batch["boxes"] + noise, batch["operator"], batch["moved"], batch["reference"]
        box, visual = self.model(*given)
        box_loss = ((box - batch["next_box"]) / COARSE_M).square().sum(dim=-1).mean()
        visual_loss = (visual - batch["next_visual"]).square().sum(dim=-1).mean()
        error_mm = 1000 * (box[:, :3] - batch["next_box"][:, :3]).norm(dim=-1).median()
        return {"loss": box_loss + VISUAL_WEIGHT * visual_loss, "box_error_mm": error_mm}
