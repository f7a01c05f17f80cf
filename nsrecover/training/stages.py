"""The stages of a training run, in order; each one starts from what the ones before it left in the bundle."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import lightning
import numpy as np
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.loggers import Logger
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler, SequentialSampler

from nsrecover.core.scene import FloatArray
from nsrecover.models.bundle import Bundle
from nsrecover.training.demonstrations import Demonstration
from nsrecover.training.discriminator import DiscriminatorModule, PairBatches, node_pairs
from nsrecover.training.encoder import EncoderModule, InstancePairs
from nsrecover.training.free_space import FreeSpaceModule, FreeSpaceScenes
from nsrecover.training.processes import Processes, SharedBatches, single_process
from nsrecover.training.schedule import CosineModule, OptimizerFactory, adamw
from nsrecover.training.settings import PairSources, StageBudget
from nsrecover.training.transition import SameCountBatches, Transition, TransitionModule, collate, transitions_of
from nsrecover.util.untrusted_json import JsonObject

Loader = DataLoader[Any]

TRAINED_SIDES, USUAL_SIDES = (0.002, 0.998), (0.1, 0.7)
"""Quantiles of the sides of boxes in the training data: of nearly all, and of those that occur in any combination."""


@dataclass
class TrainingRun:
    """Data and settings of all stages.

    Attributes:
        bundle: trained in place.
        training: demonstrations to learn from.
        held_out: demonstrations to validate on.
        folder: where a stage keeps its progress.
        seed: of everything random.
        logger: makes the logger of a stage.
        trainer: further settings of `lightning.Trainer`.
        pairs: what the discriminator learns from.
        make_optimizer: makes the optimiser of a stage.
        processes: that train together.
        tell: called in the first process with a stage, its finished epochs and all of them.
    """

    bundle: Bundle
    training: Sequence[Demonstration]
    held_out: Sequence[Demonstration]
    folder: Path
    seed: int
    logger: Callable[[str], Logger | bool]
    trainer: JsonObject = field(default_factory=dict)
    pairs: PairSources = field(default_factory=PairSources)
    make_optimizer: OptimizerFactory = adamw
    processes: Processes = field(default_factory=single_process)
    tell: Callable[[str, int, int], None] | None = None
    _features: dict[int, list[FloatArray]] = field(default_factory=dict)

    @contextlib.contextmanager
    def on_device(self) -> Iterator[None]:
        """The bundle is on this process's device inside, and on the CPU again afterwards."""
        self.bundle.to(self.processes.device)
        try:
            yield
        finally:
            self.bundle.to("cpu")

    def appearance(self, demonstrations: Sequence[Demonstration]) -> list[FloatArray]:
        """Features of every frame by the trained encoder, computed once."""
        key = id(demonstrations)
        if key not in self._features:
            with self.on_device():
                self._features[key] = [demo.appearance(self.bundle) for demo in demonstrations]
        return self._features[key]


class Epochs(lightning.Callback):
    """Tells after every epoch how many of a stage are finished.

    Args:
        stage: its name.
        epochs: all of them.
        tell: called with the stage, the finished epochs and all of them.
    """

    def __init__(self, stage: str, epochs: int, tell: Callable[[str, int, int], None]) -> None:
        self._stage, self._epochs, self._tell = stage, epochs, tell

    def on_train_start(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        """Tell where a stage begins, or goes on."""
        self._tell(self._stage, trainer.current_epoch, self._epochs)

    def on_train_epoch_end(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        """Tell of the finished epoch."""
        self._tell(self._stage, trainer.current_epoch + 1, self._epochs)


def fit(
    run: TrainingRun,
    stage: str,
    module: CosineModule,
    train: Loader,
    held_out: Loader,
    epochs: int,
) -> dict[str, float]:
    """Train one module, resuming from its last checkpoint if there is one.

    Returns:
        The last logged metrics.
    """
    lightning.seed_everything(run.processes.seed(run.seed), workers=True, verbose=False)  # other noise in each process
    folder = run.folder / stage
    last = folder / "last.ckpt"
    keep = ModelCheckpoint(
        dirpath=folder, filename=last.stem, enable_version_counter=False, save_on_train_epoch_end=True
    )
    trainer = lightning.Trainer(
        max_epochs=epochs,
        logger=run.logger(stage),
        callbacks=[keep, *([Epochs(stage, epochs, run.tell)] if run.tell is not None and run.processes.first else [])],
        enable_model_summary=False,
        log_every_n_steps=1,
        use_distributed_sampler=False,  # the stages split their batches themselves
        **run.trainer,
    )
    resume = run.processes.broadcast(str(last) if last.is_file() else None)
    module.make_optimizer = run.make_optimizer
    module.train()  # a bundle is in evaluation mode, and Lightning leaves modes as they are
    try:
        trainer.fit(module, train, held_out, ckpt_path=resume, weights_only=False if resume else None)
    except SystemExit:  # how Lightning ends after Ctrl-C
        if not trainer.interrupted:
            raise
        kept = f" and {trainer.current_epoch} of {epochs} epochs of {stage}" if last.is_file() else ""
        raise KeyboardInterrupt(f"{run.folder} keeps the finished stages{kept}") from None
    return {name: float(value) for name, value in trainer.callback_metrics.items()}


def train_encoder(run: TrainingRun, budget: StageBudget) -> dict[str, float]:
    """Object encoder, by instance discrimination."""
    loaders = []
    for demonstrations in (run.training, run.held_out):
        items = InstancePairs(demonstrations, seed=run.processes.seed(run.seed))
        shuffled = RandomSampler(items, generator=torch.Generator().manual_seed(run.seed))
        order = shuffled if demonstrations is run.training else SequentialSampler(items)
        batches = BatchSampler(order, budget.batch_size, drop_last=False)
        loaders.append(DataLoader(items, batch_sampler=SharedBatches(batches, run.processes)))
    module = EncoderModule(run.bundle.encoder, budget.learning_rate)
    return fit(run, "encoder", module, loaders[0], loaders[1], budget.epochs)


def train_transition(run: TrainingRun, budget: StageBudget) -> dict[str, float]:
    """Transition model and node encoder, on consecutive frames."""
    loaders: list[Loader] = []
    for demonstrations, shuffle in ((run.training, True), (run.held_out, False)):
        items = transitions_of(demonstrations, run.appearance(demonstrations), run.bundle.config.operators)
        batches = SameCountBatches(items, budget.batch_size, seed=run.seed, shuffle=shuffle)
        shared = SharedBatches(batches, run.processes)
        loaders.append(DataLoader(cast("Dataset[Transition]", items), batch_sampler=shared, collate_fn=collate))
    sides = np.concatenate([demo.boxes[..., 3:].ravel() for demo in run.training])
    low, high, usual_low, usual_high = np.quantile(sides[sides > 0], (*TRAINED_SIDES, *USUAL_SIDES)).round(3).tolist()
    run.bundle.config = replace(run.bundle.config, trained_sides_m=(low, high), usual_sides_m=(usual_low, usual_high))
    module = TransitionModule(run.bundle.transition, budget.learning_rate)
    return fit(run, "transition", module, loaders[0], loaders[1], budget.epochs)


def train_discriminator(run: TrainingRun, budget: StageBudget) -> dict[str, float]:
    """Discriminator, on pairs labelled by the demonstrations; its node encoder starts from the transition model's."""
    run.bundle.discriminator.nodes.load_state_dict(run.bundle.transition.nodes.state_dict())
    tolerance = run.pairs.tolerance_m
    run.bundle.config = replace(run.bundle.config, trained_tolerance_m=tolerance, tolerance_m=tolerance)
    size, seed = run.processes.share_of(budget.batch_size), run.processes.seed(run.seed)
    loaders = []
    for demonstrations in (run.training, run.held_out):
        pairs = node_pairs(demonstrations, run.appearance(demonstrations), run.bundle, run.pairs)
        batches = budget.batches if demonstrations is run.training else max(1, budget.batches // 10)
        loaders.append(DataLoader(PairBatches(pairs, run.pairs, size, batches, seed), batch_size=None))
    module = DiscriminatorModule(run.bundle.discriminator, budget.learning_rate)
    return fit(run, "discriminator", module, loaders[0], loaders[1], budget.epochs)


def train_free_space(run: TrainingRun, budget: StageBudget) -> dict[str, float]:
    """Free-space transformer, on recorded and synthetic scenes."""
    workspace = run.bundle.workspace
    seed = run.processes.seed(run.seed)
    loaders = []
    for demonstrations, fresh in ((run.training, True), (run.held_out, False)):
        scenes = [boxes for demo in demonstrations for boxes in demo.boxes]
        loaders.append(
            DataLoader(
                FreeSpaceScenes(
                    scenes,
                    workspace,
                    batch_size=run.processes.share_of(budget.batch_size),
                    batches=budget.batches if fresh else max(1, budget.batches // 10),
                    seed=seed if fresh else seed + 1,
                    fresh=fresh,
                ),
                batch_size=None,
            )
        )
    steps = budget.epochs * budget.batches
    module = FreeSpaceModule(run.bundle.free_space, budget.learning_rate, steps=steps)
    return fit(run, "free_space", module, loaders[0], loaders[1], budget.epochs)


STAGES: dict[str, tuple[Callable[[TrainingRun, StageBudget], dict[str, float]], Callable[[Bundle], nn.Module]]] = {
    "encoder": (train_encoder, lambda bundle: bundle.encoder),
    "transition": (train_transition, lambda bundle: bundle.transition),
    "discriminator": (train_discriminator, lambda bundle: bundle.discriminator),
    "free_space": (train_free_space, lambda bundle: bundle.free_space),
}
"""Stages by name, in training order, with the part of the bundle each one trains."""


def set_seed(seed: int) -> None:
    """Seed Python, NumPy and PyTorch, and choose deterministic algorithms where they exist."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it, matrix products on a GPU may vary
    lightning.seed_everything(seed, workers=True, verbose=False)
    torch.use_deterministic_algorithms(True, warn_only=True)
