"""Trains the outcome model on good episodes, by negative log-likelihood, and calibrates it on others."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import lightning
import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset

from nsrecover.core.scene import FloatArray
from nsrecover.errors import InvalidRecording
from nsrecover.models.outcomes.calibration import ClassCalibration
from nsrecover.models.outcomes.episode import GOOD, ContactEpisode
from nsrecover.models.outcomes.features import NodeFeatures, node_features, parity
from nsrecover.models.outcomes.model import OutcomeModel, edges_within, node_classes
from nsrecover.models.outcomes.network import UNIT_M, OutcomeNetwork
from nsrecover.models.outcomes.scene import Array, ContactAction
from nsrecover.training.schedule import Batch, CosineModule

JITTER = 0.03
"""Noise on standardised features in training."""
VALIDATION = 0.1
"""Share of the training episodes whose likelihood is reported."""


@dataclass(frozen=True, eq=False)
class OutcomeExample:
    """One good episode.

    Attributes:
        nodes: the objects before the action.
        action: what was done.
        moved: (N, 3) seen displacements in the axes of the action, metres.
    """

    nodes: NodeFeatures
    action: ContactAction
    moved: Array


@dataclass(frozen=True)
class OutcomeBudget:
    """How long the networks train.

    Attributes:
        epochs: passes.
        batch_size: episodes in a batch.
        learning_rate: at the start.
        seed: of everything random.
    """

    epochs: int = 60
    batch_size: int = 64
    learning_rate: float = 2e-3
    seed: int = 0


class OutcomeBatches(IterableDataset[Batch]):
    """Batches of whole scenes in random order; in training half of them are mirrored at the line of the push."""

    def __init__(self, examples: Sequence[OutcomeExample], size: int, seed: int, training: bool) -> None:
        self._examples, self._size, self._training = examples, size, training
        self._rng, self._parity = np.random.default_rng(seed), parity()

    def __len__(self) -> int:
        return -(-len(self._examples) // self._size)

    def __iter__(self) -> Iterator[Batch]:
        order = self._rng.permutation(len(self._examples)) if self._training else np.arange(len(self._examples))
        for first in range(0, len(order), self._size):
            yield self._batch([self._examples[i] for i in order[first : first + self._size]])

    def _batch(self, chosen: list[OutcomeExample]) -> Batch:
        counts = [len(each.moved) for each in chosen]
        flips = self._training * self._rng.integers(0, 2, len(chosen))
        flip = np.repeat(1 - 2 * flips, counts)[:, None].astype(np.float32)
        across = np.array([0.0, 1.0, 0.0], np.float32)

        def mirrored(name: str, odd: FloatArray) -> Tensor:
            values = np.concatenate([getattr(each.nodes, name) for each in chosen])
            return torch.as_tensor(np.where((odd > 0) & (flip < 0), -values, values))

        moved = np.concatenate([each.moved for each in chosen]).astype(np.float32)
        return {
            "values": mirrored("values", (self._parity < 0).astype(np.float32)),
            "prior": mirrored("prior", across),
            "boxes": mirrored("boxes", np.concatenate([across, np.zeros(3, np.float32)])),
            "moved": torch.as_tensor(np.where((across > 0) & (flip < 0), -moved, moved)),
            "counts": ~torch.as_tensor(np.concatenate([each.nodes.fixed for each in chosen])),
            "edges": edges_within(counts),
        }


class OutcomeModule(CosineModule):
    """Trains one network of an outcome model: negative log-likelihood of the seen displacements.

    Args:
        network: of an outcome model.
        variance: (3,) of the model's sensor.
        learning_rate: at the start.
    """

    stage = "outcomes"

    def __init__(self, network: OutcomeNetwork, variance: Tensor, learning_rate: float) -> None:
        super().__init__(learning_rate)
        self.network, self._variance = network, variance

    def measure(self, batch: Batch, training: bool) -> dict[str, Tensor]:
        """Mean negative log-likelihood of an object that can move, nats."""
        values = batch["values"]
        if training:
            values = values + JITTER * self.network.scale * torch.randn_like(values)
        mixture = self.network(values, batch["prior"], batch["boxes"], batch["edges"])
        density = mixture.log_density(batch["moved"] / UNIT_M, self._variance)
        return {"loss": -density[batch["counts"]].mean()}


class KeepBest(lightning.Callback):
    """Keeps the weights with the lowest held-out loss of a network, and gives them back in the end."""

    def __init__(self, network: torch.nn.Module) -> None:
        self.best, self._network = float("inf"), network
        self._weights: dict[str, Tensor] = {}

    def on_validation_end(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        """Keep the weights if they are the best ones."""
        loss = float(trainer.callback_metrics["outcomes/val_loss"])
        if loss < self.best:
            self.best = loss
            self._weights = {name: value.clone() for name, value in self._network.state_dict().items()}

    def on_fit_end(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        """Give them back."""
        self._network.load_state_dict(self._weights)


def train_outcomes(model: OutcomeModel, examples: Sequence[OutcomeExample], budget: OutcomeBudget) -> dict[str, float]:
    """Train all networks of a model in place.

    Returns:
        The lowest held-out negative log-likelihood of each network, whose weights are kept.
    """
    held_out = max(1, int(VALIDATION * len(examples)))
    training = examples[held_out:]
    values = torch.as_tensor(np.concatenate([each.nodes.values for each in training]))
    found = {}
    for number, network in enumerate(model.networks):
        assert isinstance(network, OutcomeNetwork)
        seed = budget.seed + 1000 * number
        lightning.seed_everything(seed, workers=True, verbose=False)
        network.middle.copy_(values.mean(dim=0))
        network.scale.copy_(values.std(dim=0).clamp(min=0.05))
        loaders = [
            DataLoader(OutcomeBatches(part, budget.batch_size, seed, chosen), batch_size=None)
            for part, chosen in ((training, True), (examples[:held_out], False))
        ]
        module = OutcomeModule(network, model.variance, budget.learning_rate)
        best = KeepBest(network)
        trainer = lightning.Trainer(
            max_epochs=budget.epochs,
            callbacks=[best],
            num_sanity_val_steps=0,
            accelerator="cpu",
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            gradient_clip_val=1.0,
            check_val_every_n_epoch=max(1, budget.epochs // 25),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module.train()
            trainer.fit(module, loaders[0], loaders[1])
        found[f"network_{number}"] = round(best.best, 4)
    model.eval()
    return found


def calibrate_outcomes(
    model: OutcomeModel, classes: Sequence[OutcomeExample], episodes: Sequence[OutcomeExample]
) -> None:
    """Calibrate a trained model: the classes on some good episodes, the thresholds on others."""
    surprise, affected = surprises(model, classes)
    movable = np.concatenate([~each.nodes.fixed for each in classes])
    names = node_classes([each.nodes for each in classes], [each.action for each in classes], affected)
    model.calibrate(ClassCalibration.of(surprise[movable], names[movable]), {})
    scores: dict[str, list[float]] = {}
    for example, score in zip(episodes, episode_scores(model, episodes), strict=True):
        scores.setdefault(example.action.operator, []).append(score)
    model.calibrate(model.config.classes, scores)


def surprises(model: OutcomeModel, examples: Sequence[OutcomeExample]) -> tuple[Array, Array]:
    """-log density and P(affected) of all objects of some episodes."""
    moved = np.concatenate([each.moved for each in examples])
    return model.surprise(model.mixtures([each.nodes for each in examples]), moved)


def episode_scores(model: OutcomeModel, examples: Sequence[OutcomeExample]) -> list[float]:
    """exp(-rarity) of the most surprising object of every episode."""
    moved = np.concatenate([each.moved for each in examples])
    rarity = model.rarity([each.nodes for each in examples], [each.action for each in examples], moved)
    ends = np.cumsum([len(each.moved) for each in examples])[:-1]
    return [float(np.exp(-part.max())) for part in np.split(rarity, ends)]


def examples_in(folder: str | Path, boxes_only: bool = False, each: int | None = None) -> list[OutcomeExample]:
    """The good episodes of a file or folder of recorded actions.

    Args:
        folder: `episodes.jsonl`, or a folder with it.
        boxes_only: whether shapes and yaws are hidden, see `ContactScene.boxes_only`.
        each: only so many of every operator, the first ones.

    Raises:
        InvalidRecording: there are none.
    """
    path = Path(folder) / "episodes.jsonl" if Path(folder).is_dir() else Path(folder)
    if not path.is_file():
        raise InvalidRecording(
            f"expected recorded actions at {path}, found no file; run `python -m sim.datasets dataset=XI_demos out=DIR`"
        )
    with path.open(encoding="utf-8") as file:
        episodes = [ContactEpisode.from_json(line) for line in file]
    found, counts = list[OutcomeExample](), Counter[str]()
    for episode in episodes:
        operator = episode.action.operator
        if episode.kind == GOOD and (each is None or counts[operator] < each):
            counts[operator] += 1
            found.append(example_of(episode, boxes_only))
    if not found:
        raise InvalidRecording(f"expected good episodes in {path}, found none")
    return found


def example_of(episode: ContactEpisode, boxes_only: bool = False) -> OutcomeExample:
    """An episode as it is learned from.

    Args:
        episode: what was recorded.
        boxes_only: whether only boxes are seen: a roll is then a push like any other.
    """
    scene, action = episode.scene, episode.action
    if boxes_only:
        pushed = action.operator in ("push", "roll")
        scene, action = scene.boxes_only(), replace(action, operator="push_boxes" if pushed else action.operator)
    return OutcomeExample(node_features(scene, action), action, episode.moved)
