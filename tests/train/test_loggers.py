"""Every logger leaves the metrics of a stage behind."""

from pathlib import Path

import pytest
import torch
from hydra import compose, initialize
from hydra.utils import instantiate
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch import Tensor
from torch.utils.data import DataLoader

from conf.command import register
from nsrecover.models.bundle import Bundle
from nsrecover.training.schedule import CosineModule
from nsrecover.training.stages import TrainingRun, fit
from train.config import TrainConfig


class Line(CosineModule):
    """The smallest thing that can be trained: a slope."""

    def __init__(self) -> None:
        super().__init__(learning_rate=0.1)
        self.slope = torch.nn.Parameter(torch.zeros(1))

    def training_step(self, batch: Tensor, _: int) -> Tensor:
        loss = (self.slope * batch - 2 * batch).square().mean()
        self.log_dict({"line/loss": loss}, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch: Tensor, _: int) -> None:
        self.log_dict({"line/val_error": (self.slope - 2).abs().mean()})


def fit_line(logger: str, out: Path) -> dict[str, float]:
    register("train", TrainConfig)
    with initialize(version_base=None, config_path="../../conf"):
        config = compose("train", [f"logger={logger}", f"out={out}"])
    run = TrainingRun(
        bundle=Bundle(),
        training=[],
        held_out=[],
        folder=out,
        seed=0,
        logger=lambda stage: instantiate(config.logger, name=stage),
        trainer={"accelerator": "cpu", "devices": 1, "enable_progress_bar": False},
    )
    data = DataLoader(torch.linspace(0.5, 1.5, 16), batch_size=4)
    return fit(run, "line", Line(), data, data, epochs=3)


def test_tensorboard_holds_the_metrics_of_a_stage(tmp_path: Path) -> None:
    metrics = fit_line("tensorboard", tmp_path)
    (log,) = (tmp_path / "logs" / "line").glob("version_*/events.out.tfevents.*")
    events = EventAccumulator(str(log)).Reload()
    assert {"line/loss", "line/val_error"} <= set(events.Tags()["scalars"])
    values = [event.value for event in events.Scalars("line/val_error")]
    assert len(values) == 3
    assert values[-1] == pytest.approx(metrics["line/val_error"], abs=1e-5)
