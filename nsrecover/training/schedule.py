"""Base of the modules of the stages: optimiser, learning-rate schedule, and metrics over all processes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import lightning
import torch
from lightning.pytorch.utilities.types import OptimizerLRScheduler

OptimizerFactory = Callable[..., torch.optim.Optimizer]
"""Makes an optimiser from parameters, with `lr` and further settings as keywords."""
adamw: OptimizerFactory = partial(torch.optim.AdamW, weight_decay=1e-4)
"""The optimiser of a stage unless another one is configured."""


class CosineModule(lightning.LightningModule):
    """A module whose learning rate falls along a cosine to a hundredth over the whole run.

    Args:
        learning_rate: at the start.

    Attributes:
        make_optimizer: makes its optimiser.
    """

    make_optimizer: OptimizerFactory = staticmethod(adamw)

    def __init__(self, learning_rate: float) -> None:
        super().__init__()
        self.learning_rate = learning_rate

    def configure_optimizers(self) -> OptimizerLRScheduler:
        """Optimiser and schedule, advanced every step."""
        optimizer = self.make_optimizer(self.parameters(), lr=self.learning_rate)
        steps = max(1, int(self.trainer.estimated_stepping_batches))
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps, eta_min=self.learning_rate / 100)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def log(self, *arguments: Any, **settings: Any) -> None:
        """As in Lightning, but a metric is always the mean over all processes."""
        super().log(*arguments, **{**settings, "sync_dist": True})
