"""The optimiser every stage uses."""

from __future__ import annotations

import lightning
import torch
from lightning.pytorch.utilities.types import OptimizerLRScheduler


def adam_with_cosine(module: lightning.LightningModule, learning_rate: float) -> OptimizerLRScheduler:
    """Adam whose learning rate falls along a cosine to a hundredth over the whole run."""
    optimizer = torch.optim.AdamW(module.parameters(), lr=learning_rate, weight_decay=1e-4)
    steps = max(1, int(module.trainer.estimated_stepping_batches))
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps, eta_min=learning_rate / 100)
    return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}
