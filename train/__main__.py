"""`python -m train`: train all learned parts from demonstrations, calibrate, and write the checkpoint."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from lightning.pytorch.loggers import Logger
from rich.console import Console
from rich.table import Table

from conf.command import run as run_command
from conf.targets import instantiate
from nsrecover.training.processes import is_first_process
from nsrecover.training.schedule import adamw
from nsrecover.training.trainer import Command, quiet
from nsrecover.training.trainer import train as train_parts
from train import household
from train.config import TrainConfig
from train.recording import record
from train.revision import revision

ADAMW = {"_target_": "torch.optim.AdamW", "_partial_": True, "weight_decay": 1e-4}
"""The default optimizer, conf/optimizer/adamw.yaml."""


def train(config: TrainConfig) -> dict[str, Any]:
    """Record demonstrations if the settings say so, and train; see `nsrecover.training.trainer.train`."""
    if config.record.commands and is_first_process():
        record(config.record.commands, Path(config.out), [Path(config.data.train), Path(config.data.held_out)])
    multirun = HydraConfig.initialized() and HydraConfig.get().mode == RunMode.MULTIRUN
    # runs from before there was a choice have no optimizer in their identity
    chosen = {} if config.optimizer in (None, ADAMW) else {"optimizer": config.optimizer}
    command = Command(
        text="python -m train " + " ".join(sys.argv[1:]),
        revision=revision(),
        make_logger=partial(logger_of, config),
        make_optimizer=adamw if config.optimizer is None else instantiate("optimizer", config.optimizer),
        identity=chosen,
        multirun=multirun,
    )
    return train_parts(config, command)


def logger_of(config: TrainConfig, stage: str) -> Logger | bool:
    """The logger of a stage, which has the whole resolved config as hyperparameters."""
    logger: Logger | bool = instantiate("logger", config.logger, name=stage)
    if isinstance(logger, Logger):
        logger.log_hyperparams(json.loads(json.dumps(asdict(config))))
    return logger


def print_table(metrics: dict[str, Any]) -> None:
    """Print a short table of results, device and times."""
    provenance = metrics["provenance"]
    seconds = provenance["seconds"]
    table = Table(title=f"trained on {provenance['device']}", show_header=False)
    for stage, values in metrics["stages"].items():
        shown = ", ".join(
            f"{key.split('/')[-1]} {value:.4g}" for key, value in values.items() if "val_" in key or "val/" in key
        )
        table.add_row(stage, shown, f"{seconds.get(stage, 0):.0f} s")
    for key in ("threshold", "false_alarm_rate", "false_alarms", "box_error_mm", "displacement_recall_by_mm"):
        table.add_row(key, str(metrics[key]), "")
    table.add_row("in all", "with loading and calibration", f"{seconds['total']:.0f} s")
    Console().print(table)


def main(config: TrainConfig) -> None:
    """Train, and print the table of the first process."""
    quiet()
    metrics = train(config)
    if is_first_process():
        print_table(metrics)


if __name__ == "__main__":
    if "domain=household" in sys.argv[1:]:
        household.main()
    else:
        run_command("train", TrainConfig, main, resumable=True)
