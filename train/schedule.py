"""What the modules of the stages have in common: the optimiser with its schedule, and metrics over all processes."""

from __future__ import annotations

from typing import Any

import lightning
import torch
from lightning.pytorch.utilities.types import OptimizerLRScheduler


class CosineModule(lightning.LightningModule):
    """A module trained with Adam, whose learning rate falls along a cosine to a hundredth over the whole run.

    Args:
        learning_rate: at the start.
    """

    def __init__(self, learning_rate: float) -> None:
        super().__init__()
        self.learning_rate = learning_rate

    def configure_optimizers(self) -> OptimizerLRScheduler:
        """Adam and its schedule, advanced every step."""
        optimizer = torch.optim.AdamW(self.parameters(), lr=self.learning_rate, weight_decay=1e-4)
        steps = max(1, int(self.trainer.estimated_stepping_batches))
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps, eta_min=self.learning_rate / 100)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def log(self, *arguments: Any, **settings: Any) -> None:
        """As in Lightning, but a metric is always the mean over all processes."""
        super().log(*arguments, **{**settings, "sync_dist": True})
