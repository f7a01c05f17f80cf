"""Every learned part learns something from a tiny set, and a killed training goes on where it was."""

import csv
import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hydra import compose, initialize
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from conf.command import register, settings_of
from nsrecover.errors import InvalidRecording
from nsrecover.models.bundle import Bundle
from nsrecover.training.stages import STAGES
from train.__main__ import train
from train.config import TrainConfig

ROOT = Path(__file__).parents[2]

ENDED = """
import os, runpy, signal, sys

def end(event, arguments):
    if event == "os.rename" and str(arguments[1]).endswith("transition/last.ckpt") and os.path.exists(arguments[1]):
        os.kill(os.getpid(), signal.SIGNAL)

signal.signal(signal.SIGINT, signal.default_int_handler)  # programs in the background ignore it
sys.addaudithook(end)
runpy.run_module("train", run_name="__main__", alter_sys=True)
"""
"""Runs the command, which gets SIGNAL when the second checkpoint of the stage would replace the first."""


def ended_by(signal_name: str, *overrides: str) -> list[str]:
    return [sys.executable, "-c", ENDED.replace("SIGNAL", signal_name), *overrides]


def settings(demonstrations: Path, out: Path, *more: str) -> list[str]:
    return [
        "experiment=smoke",
        f"data.train={demonstrations / 'train'}",
        f"data.held_out={demonstrations / 'held_out'}",
        f"out={out}",
        f"data.cache={demonstrations / 'cache'}",
        "trainer.accelerator=cpu",
        "trainer.enable_progress_bar=false",
        *more,
    ]


def run(*overrides: str) -> dict:
    register("train", TrainConfig)
    with initialize(version_base=None, config_path="../../conf"):
        return train(settings_of(compose("train", list(overrides)), TrainConfig, "train"))


@pytest.fixture(scope="module")
def trained(demonstrations: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, Path]:
    out = tmp_path_factory.mktemp("trained")
    return run(*settings(demonstrations, out, "logger=tensorboard")), out


def test_every_stage_reaches_its_target_on_a_tiny_set(trained: tuple[dict, Path]) -> None:
    stages = trained[0]["stages"]
    assert stages["encoder"]["encoder/val_matched"] > 0.85
    assert stages["transition"]["transition/loss"] < 0.05
    assert stages["transition"]["transition/val_box_error_mm"] < 12
    assert stages["discriminator"]["discriminator/val_loss"] < 0.25
    assert stages["discriminator"]["discriminator/val_accuracy"] > 0.9
    assert stages["free_space"]["free_space/val_collision_free"] > 0.7


def test_tensorboard_holds_the_metrics_of_a_stage(trained: tuple[dict, Path]) -> None:
    (log,) = (trained[1] / "logs" / "transition").glob("version_*/events.out.tfevents.*")
    events = EventAccumulator(str(log)).Reload()
    for name in ("transition/loss", "transition/val_box_error_mm"):
        assert events.Scalars(name)[-1].value == pytest.approx(trained[0]["stages"]["transition"][name], abs=1e-4)


def test_the_checkpoint_holds_what_was_trained_and_says_how(trained: tuple[dict, Path]) -> None:
    metrics, out = trained
    bundle = Bundle.load(out / "bundle")
    assert bundle.config.provenance["transitions"] >= 90
    assert bundle.config.metrics["stages"].keys() == STAGES.keys()
    assert json.loads((out / "metrics.json").read_text())["stages"] == metrics["stages"]
    statistics = bundle.state_dict()["encoder.resnet.bn1.running_mean"]
    assert (statistics != 0).any(), "the encoder was trained in evaluation mode: its normalisation never saw the data"
    assert "fingerprint" in (out / "bundle" / "README.md").read_text()
    assert 0 <= bundle.threshold <= 0.5


def test_a_finished_run_is_not_trained_again(trained: tuple[dict, Path], demonstrations: Path) -> None:
    before = Bundle.load(trained[1] / "bundle").state_dict()
    progress = (trained[1] / "progress.json").read_text()
    run(*settings(demonstrations, trained[1]))
    assert (trained[1] / "progress.json").read_text() == progress
    after = Bundle.load(trained[1] / "bundle").state_dict()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_missing_demonstrations_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidRecording, match=r"python -m sim\.collect"):
        run(*(f"{key}={tmp_path}" for key in ("data.train", "data.held_out", "out", "data.cache")))


def test_a_killed_training_goes_on_where_it_was(demonstrations: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    overrides = settings(demonstrations, out, "encoder.epochs=1", "transition.epochs=4", "discriminator.epochs=1")
    command = ended_by("SIGKILL", *overrides)
    assert subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, timeout=300).returncode == -signal.SIGKILL
    assert list(json.loads((out / "progress.json").read_text())["done"]) == ["encoder"]
    assert (out / "transition" / "last.ckpt").is_file()
    encoder = Bundle.load(out / "bundle").encoder.state_dict()

    metrics = run(*overrides)
    assert list(metrics["stages"]) == list(STAGES)
    kept = Bundle.load(out / "bundle").encoder.state_dict()
    assert all(np.array_equal(encoder[name], kept[name]) for name in encoder)
    logs = sorted((out / "logs" / "transition").glob("version_*/metrics.csv"))
    epochs = [int(row["epoch"]) for row in csv.DictReader(logs[-1].open()) if row["epoch"]]
    assert min(epochs) > 0, "the interrupted stage began anew"
    assert max(epochs) == 3
