"""Training of the free-space transformer, from boxes alone and without any labels."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from lightning.pytorch.utilities.types import OptimizerLRScheduler
from torch import Tensor
from torch.utils.data import IterableDataset

from nsrecover.models.free_space import FreeSpaceTransformer, penetration, placement_energy, workspace_overrun
from nsrecover.training.schedule import CosineModule

WORKSPACE = (0.30, -0.35, 0.75, 0.35)
"""x_min, y_min, x_max, y_max of the table that synthetic scenes fill, metres; varied by a few centimetres."""

MOVED_IN_A_SCENE = 4
"""Number of uses of a scene, each with another moved object: drawing scenes takes as long as learning."""

PROMISING = 0.02
"""Hypotheses learn if their energy is not much farther than this from the best one's."""


class FreeSpaceBatch(NamedTuple):
    """Scenes with the object to be moved: boxes (B, N, 6), moved (B,), workspace (B, 4), present (B, N)."""

    boxes: Tensor
    moved: Tensor
    workspace: Tensor
    present: Tensor


def random_scene(rng: np.random.Generator, objects: int, workspace: np.ndarray) -> np.ndarray:
    """Boxes (N, 6) of objects that stand on the table or on each other, none running into another.

    An object is put on an earlier one with probability 0.4 (so towers form), else on the table; after 30 attempts at an
    empty spot it goes on top of something too.
    """
    sizes = rng.uniform(0.03, 0.07, size=(objects, 3))
    boxes = np.zeros((objects, 6))
    boxes[:, 3:] = sizes
    clear: list[int] = []  # tops that nothing stands on
    for i in range(objects):
        on_table = not clear or rng.random() > 0.4
        if on_table:
            low, high = workspace[:2] + sizes[i, :2] / 2, workspace[2:] - sizes[i, :2] / 2
            spots = rng.uniform(low, high, size=(30, 2))
            reach = (sizes[i, :2] + boxes[:i, 3:5]) / 2 + 0.005
            hit = (np.abs(spots[:, None] - boxes[None, :i, :2]) < reach).all(-1).any(-1)
            if hit.all():
                on_table = False
            else:
                boxes[i, :2] = spots[int(np.argmin(hit))]
                boxes[i, 2] = sizes[i, 2] / 2
        if not on_table:
            below = clear.pop(int(rng.integers(len(clear))))
            boxes[i, :2] = boxes[below, :2] + rng.normal(0.0, 0.004, 2)
            boxes[i, 2] = boxes[below, 2] + boxes[below, 5] / 2 + sizes[i, 2] / 2
        clear.append(i)
    return boxes.astype(np.float32)


class FreeSpaceScenes(IterableDataset[FreeSpaceBatch]):
    """Endless fresh scenes in ready-made batches; use it with `DataLoader(..., batch_size=None)`.

    Most of the scenes get places that must stay empty, as boxes like any other: one is the place of the object to be
    moved, or near it, because an object is moved to free space when its place is needed.

    Args:
        scenes: boxes (N, 6) of recorded scenes to mix in, each with its own number of objects.
        workspace: x_min, y_min, x_max, y_max of the reachable table.
        objects: fewest and most objects of a synthetic scene.
        recorded_share: share of recorded scenes among all, if there are any.
        batch_size: scenes in a batch.
        batches: batches in an epoch.
        seed: the same seed and epoch give the same scenes.
        fresh: whether every epoch has other scenes; False for validation.
    """

    def __init__(
        self,
        scenes: Sequence[np.ndarray] = (),
        workspace: Sequence[float] = WORKSPACE,
        objects: tuple[int, int] = (3, 20),
        recorded_share: float = 0.3,
        batch_size: int = 256,
        batches: int = 100,
        seed: int = 0,
        fresh: bool = True,
    ) -> None:
        self.scenes = [np.asarray(scene, dtype=np.float32) for scene in scenes if len(scene) > 1]
        self.workspace = np.asarray(workspace, dtype=np.float32)
        self.objects = objects
        self.recorded_share = recorded_share if self.scenes else 0.0
        self.batch_size = batch_size
        self.batches = batches
        self.seed = seed
        self.fresh = fresh
        self.epoch = 0

    def __len__(self) -> int:
        return self.batches

    def __iter__(self) -> Iterator[FreeSpaceBatch]:
        rng = np.random.default_rng((self.seed, self.epoch))
        if self.fresh:
            self.epoch += 1
        for _ in range(self.batches):
            yield self._batch(rng)

    def _batch(self, rng: np.random.Generator) -> FreeSpaceBatch:
        """One batch, padded to its largest scene."""
        scenes = range(math.ceil(self.batch_size / MOVED_IN_A_SCENE))
        examples = [example for _ in scenes for example in self._examples(rng)][: self.batch_size]
        width = max(len(boxes) for boxes, _, _ in examples)
        boxes = np.zeros((len(examples), width, 6), dtype=np.float32)
        present = np.zeros((len(examples), width), dtype=bool)
        for row, (scene, _, _) in enumerate(examples):
            boxes[row, : len(scene)] = scene
            present[row, : len(scene)] = True
        return FreeSpaceBatch(
            torch.from_numpy(boxes),
            torch.tensor([moved for _, moved, _ in examples]),
            torch.from_numpy(np.stack([workspace for _, _, workspace in examples])),
            torch.from_numpy(present),
        )

    def _examples(self, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, int, np.ndarray]]:
        """One scene with several objects to be moved in turn: boxes (N, 6), the object, the workspace (4,)."""
        workspace = (self.workspace + rng.uniform(-0.03, 0.03, 4)).astype(np.float32)
        if rng.random() < self.recorded_share:
            scene = self.scenes[int(rng.integers(len(self.scenes)))].copy()
            if rng.random() < 0.5:  # the table is symmetric about the robot's x axis
                scene[:, 1] *= -1
                workspace = (self.workspace * np.array([1, -1, 1, -1]))[[0, 3, 2, 1]].astype(np.float32)
        else:
            low, high = self.objects
            scene = random_scene(rng, int(rng.integers(low, high + 1)), workspace)
        for moved in rng.integers(len(scene), size=MOVED_IN_A_SCENE):
            boxes = scene
            if rng.random() < 0.75:
                reserved = scene[rng.integers(len(scene), size=int(rng.integers(1, 6)))].copy()
                reserved[1:, :2] = rng.uniform(workspace[:2], workspace[2:], size=(len(reserved) - 1, 2))
                reserved[0] = scene[moved]
                if rng.random() < 0.5:  # the place of another object, near it
                    reserved[0, :2] += rng.normal(0.0, 0.01, 2)
                    reserved[0, 3:] = scene[rng.integers(len(scene)), 3:]
                boxes = np.concatenate([scene, reserved])
            yield boxes.astype(np.float32), int(moved), workspace


class FreeSpaceModule(CosineModule):
    """Trains a `FreeSpaceTransformer` so that each scene's best proposal moves little and touches nothing.

    Held-out metrics: `collision_free` (share of raw proposals that keep at least 10 mm to everything and stay in the
    workspace) and `displacement_mm` (mean distance moved).

    Args:
        model: the network.
        learning_rate: peak of a one-cycle schedule.
        steps: optimiser steps the schedule is laid out for.
    """

    stage = "free_space"

    def __init__(
        self, model: FreeSpaceTransformer | None = None, learning_rate: float = 2e-3, steps: int = 2000
    ) -> None:
        super().__init__(learning_rate)
        self.model = FreeSpaceTransformer() if model is None else model
        self.steps = steps

    def loss(self, batch: FreeSpaceBatch) -> Tensor:
        """Energy of the best hypothesis of each scene and, by how good they are, of those that may become the best.

        A little of all the others' keeps any of them from being left behind; hopeless ones have little weight.
        """
        energy = placement_energy(self.model.propose(*batch), *batch).total
        promising = torch.softmax(-energy.detach() / PROMISING, dim=1)
        of_scene = energy.min(1).values + (promising * energy).sum(1) + 0.02 * energy.clamp(max=5.0).mean(1)
        return of_scene.mean()

    def measure(self, batch: FreeSpaceBatch, training: bool) -> dict[str, Tensor]:  # type: ignore[override]
        """The loss; on held-out scenes the raw proposals, before any check."""
        if training:
            return {"loss": self.loss(batch)}
        free, moved_m = check_proposals(self.model, batch)
        return {"collision_free": free.float().mean(), "displacement_mm": 1000 * moved_m.mean()}

    def configure_gradient_clipping(self, optimizer: torch.optim.Optimizer, *_: object, **__: object) -> None:
        """Limit the gradient norm to 1: in a crowded scene the gradients of the overlaps add up."""
        self.clip_gradients(optimizer, gradient_clip_val=1.0, gradient_clip_algorithm="norm")

    def configure_optimizers(self) -> OptimizerLRScheduler:
        """The optimizer without weight decay, and a one-cycle learning rate, stepped every batch."""
        optimizer = self.make_optimizer(self.parameters(), lr=self.learning_rate, weight_decay=0.0)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, self.learning_rate, total_steps=self.steps + 1)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


@torch.no_grad()
def check_proposals(model: FreeSpaceTransformer, batch: FreeSpaceBatch, gap_m: float = 0.01) -> tuple[Tensor, Tensor]:
    """Check the raw proposals of a model geometrically.

    Args:
        model: the network.
        batch: scenes.
        gap_m: least gap to every other box.

    Returns:
        Whether each proposal keeps the gap and lies in the workspace (B,), and how far it is from the object (B,), m.
    """
    box = model(*batch)
    row = torch.arange(len(box))
    obstacle = batch.present.clone()
    obstacle[row, batch.moved] = False
    depth = penetration(box, batch.boxes, gap_m) * obstacle
    inside = workspace_overrun(box, batch.workspace) < 1e-3
    away = (box[:, :2] - batch.boxes[row, batch.moved][:, :2]).norm(dim=-1)
    return (depth.max(1).values < 1e-6) & inside, away
