"""Base of the modules of the stages: optimiser, learning-rate schedule, and metrics over all processes."""

from collections.abc import Callable
from functools import partial

import lightning
import torch
from lightning.pytorch.utilities.types import OptimizerLRScheduler
from torch import Tensor

Batch = dict[str, Tensor]
"""Name of each field -> examples, stacked."""
OptimizerFactory = Callable[..., torch.optim.Optimizer]
"""Makes an optimiser from parameters, with `lr` and further settings as keywords."""
adamw: OptimizerFactory = partial(torch.optim.AdamW, weight_decay=1e-4)
"""The optimiser of a stage unless another one is configured."""


class CosineModule(lightning.LightningModule):
    """A module whose learning rate falls along a cosine to a hundredth over the whole run.

    Its metrics are logged as `stage/name`, and on held-out episodes as `stage/val_name`; each is the mean over all
    processes.

    Args:
        learning_rate: at the start.

    Attributes:
        stage: its name, before its metrics.
        make_optimizer: makes its optimiser.
    """

    stage: str
    make_optimizer: OptimizerFactory = staticmethod(adamw)

    def __init__(self, learning_rate: float) -> None:
        super().__init__()
        self.learning_rate = learning_rate

    def measure(self, batch: Batch, training: bool) -> dict[str, Tensor]:
        """The `loss` of one batch, and other metrics."""
        raise NotImplementedError

    def training_step(self, batch: Batch, _: int) -> Tensor:
        """Loss of one batch."""
        found = self.measure(batch, True)
        metrics = {f"{self.stage}/{name}": value for name, value in found.items()}
        self.log_dict(metrics, prog_bar=True, on_step=False, on_epoch=True, sync_dist=True)
        return found["loss"]

    def validation_step(self, batch: Batch, _: int) -> None:
        """Metrics on held-out episodes."""
        found = self.measure(batch, False)
        self.log_dict({f"{self.stage}/val_{name}": each for name, each in found.items()}, prog_bar=True, sync_dist=True)

    def configure_optimizers(self) -> OptimizerLRScheduler:
        """Optimiser and schedule, advanced every step."""
        optimizer = self.make_optimizer(self.parameters(), lr=self.learning_rate)
        steps = max(1, int(self.trainer.estimated_stepping_batches))
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps, eta_min=self.learning_rate / 100)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}
