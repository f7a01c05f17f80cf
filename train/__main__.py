"""`python -m train`: train all learned parts from demonstrations, calibrate, and write the checkpoint."""

from __future__ import annotations

import json
import logging
import shutil
import sys
import time
import warnings
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import hydra
import torch
from hydra.utils import instantiate
from omegaconf import OmegaConf
from rich.console import Console
from rich.table import Table

from nsrecover.errors import InvalidConfiguration, told_in_one_line
from nsrecover.models.bundle import Bundle, BundleConfig
from train.calibrate import box_errors_mm, conformal_threshold, displacement_recall, lowest_probabilities
from train.card import model_card, revision
from train.config import Stage, TrainConfig, register
from train.demonstrations import Demonstration, fingerprint, load_demonstrations, recordings
from train.stages import STAGES, Run, set_seed

NEUTRAL_THRESHOLD = 0.5
"""The discriminator's own decision point; calibration may lower it, to keep the promised false-alarm rate."""

FALSE_ALARM_RATES = (0.001, 0.01, 0.05)


def identity(config: TrainConfig) -> dict[str, Any]:
    """Everything that decides what a run learns; a run may only be continued with the same."""
    settings = asdict(config)
    chosen = ("seed", "alpha", "model", "pairs", "weights", *STAGES)
    return {
        "data": fingerprint(recordings(config.data)),
        "held_out": fingerprint(recordings(config.held_out)),
        **{key: json.loads(json.dumps(settings[key])) for key in chosen},
    }


def open_run(config: TrainConfig, out: Path) -> dict[str, Any]:
    """The progress file of a run: made anew, or that of the run that is continued.

    Raises:
        InvalidConfiguration: the folder holds a run with other data or settings.
    """
    progress = out / "progress.json"
    wanted = identity(config)
    if config.restart and progress.is_file():
        for name in (*STAGES, "bundle", "progress.json"):
            path = out / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    if progress.is_file():
        found: dict[str, Any] = json.loads(progress.read_text())
        differing = [key for key, value in wanted.items() if found["identity"].get(key) != value]
        if differing:
            raise InvalidConfiguration(
                f"expected the run in {out} to have been started with the same settings, found other "
                f"{', '.join(differing)}; choose another out=DIR, or restart=true to begin anew"
            )
        return found
    return {"identity": wanted, "done": {}, "seconds": {}}


def save_progress(out: Path, progress: dict[str, Any]) -> None:
    """Write the progress file whole or not at all."""
    part = out / ".progress.json.part"
    part.write_text(json.dumps(progress, indent=2) + "\n")
    part.replace(out / "progress.json")


def start_bundle(config: TrainConfig) -> Bundle:
    """An untrained bundle of the configured sizes, with a pretrained backbone if one is asked for."""
    model = config.model
    bundle = Bundle(
        BundleConfig(
            feature_size=model.feature_size,
            crop_size=model.crop_size,
            encoder_blocks=tuple(model.encoder_blocks),
            width=model.width,
            rounds=model.rounds,
            workspace=tuple(model.workspace),
            reach_m=tuple(model.reach_m),
        )
    )
    if config.weights == "imagenet":
        from torchvision.models import ResNet18_Weights

        bundle.encoder.load_backbone(ResNet18_Weights.DEFAULT.get_state_dict(progress=True))
    elif config.weights is not None:
        if not Path(config.weights).is_file():
            raise InvalidConfiguration(f"expected weights=imagenet or a file, found no file {config.weights}")
        bundle.encoder.load_backbone(torch.load(config.weights, weights_only=True, map_location="cpu"))
    return bundle


def calibrate(run: Run, alpha: float) -> Bundle:
    """Set the threshold on one half of the held-out episodes and measure on the other.

    Returns:
        The bundle with threshold and metrics in its configuration.
    """
    halves = [run.held_out[0::2], run.held_out[1::2]]
    scores = []
    for half in halves:
        features = [demo.appearance(run.bundle) for demo in half]
        scores.append(lowest_probabilities(half, features, run.bundle))
    threshold = min(NEUTRAL_THRESHOLD, conformal_threshold(scores[0], alpha))
    run.bundle.config = replace(run.bundle.config, threshold=threshold)
    test = halves[1]
    features = [demo.appearance(run.bundle) for demo in test]
    metrics = {
        "threshold": threshold,
        "calibration_steps": len(scores[0]),
        "test_steps": len(scores[1]),
        "false_alarm_rate": float((scores[1] < threshold).mean()),
        "false_alarms": {
            str(rate): float((scores[1] < conformal_threshold(scores[0], rate)).mean()) for rate in FALSE_ALARM_RATES
        },
        "box_error_mm": box_errors_mm(test, features, run.bundle, (1, 3, 5)),
        "displacement_recall_by_mm": displacement_recall(test, features, run.bundle),
    }
    run.bundle.config = replace(run.bundle.config, metrics=metrics)
    return run.bundle


def load_data(config: TrainConfig) -> tuple[list[Demonstration], list[Demonstration]]:
    """Training and held-out demonstrations, in memory."""
    size = config.model.crop_size
    training, held_out = (
        load_demonstrations(recordings(data), size, config.cache) for data in (config.data, config.held_out)
    )
    return training, held_out


def train(config: TrainConfig) -> dict[str, Any]:
    """Run the stages that are not done yet, calibrate and write the checkpoint.

    Returns:
        The metrics that are written to metrics.json.
    """
    out = Path(config.out)
    out.mkdir(parents=True, exist_ok=True)
    progress = open_run(config, out)
    set_seed(config.seed)
    folder = out / "bundle"
    bundle = Bundle.load(folder) if (folder / "config.json").is_file() else start_bundle(config)
    training, held_out = load_data(config)
    run = Run(
        bundle=bundle,
        training=training,
        held_out=held_out,
        folder=out,
        seed=config.seed,
        logger=lambda stage: instantiate(config.logger, name=stage),
        trainer=dict(config.trainer),
        pairs=config.pairs,
    )
    chosen = list(STAGES) if config.stage is Stage.all else [config.stage.value]
    for stage in chosen:
        if config.stage is Stage.all and stage in progress["done"]:
            continue
        started = time.perf_counter()
        metrics = STAGES[stage][0](run, getattr(config, stage))
        bundle.to("cpu").eval()
        bundle.save(folder)
        progress["done"][stage] = metrics
        progress["seconds"][stage] = round(time.perf_counter() - started, 1)
        save_progress(out, progress)
        shutil.rmtree(out / stage, ignore_errors=True)
    bundle = calibrate(run, config.alpha)
    provenance = {
        "command": "python -m train " + " ".join(sys.argv[1:]),
        "seed": config.seed,
        "transitions": sum(len(demo.plan) for demo in training),
        "episodes": len(training),
        "data": progress["identity"]["data"],
        "held_out": progress["identity"]["held_out"],
        "revision": revision(),
        "seconds": progress["seconds"],
        "torch": torch.__version__,
    }
    measured = {"stages": progress["done"], **bundle.config.metrics}
    bundle.config = replace(bundle.config, metrics=measured, provenance=provenance)
    for target in filter(None, (folder, config.checkpoint)):
        bundle.save(target, model_card(bundle.config))
    result = {**measured, "provenance": provenance, "parameters": sum(p.numel() for p in bundle.parameters())}
    (out / "metrics.json").write_text(json.dumps(result, indent=2) + "\n")
    return result


def print_table(metrics: dict[str, Any]) -> None:
    """A short table of what came out."""
    table = Table(title="trained", show_header=False)
    for stage, values in metrics["stages"].items():
        seconds = metrics["provenance"]["seconds"].get(stage, 0)
        shown = ", ".join(
            f"{key.split('/')[-1]} {value:.4g}" for key, value in values.items() if "val_" in key or "val/" in key
        )
        table.add_row(stage, shown, f"{seconds:.0f} s")
    for key in ("threshold", "false_alarm_rate", "false_alarms", "box_error_mm", "displacement_recall_by_mm"):
        table.add_row(key, str(metrics[key]), "")
    Console().print(table)


@hydra.main(version_base=None, config_path="../conf", config_name="train")
def main(config: TrainConfig) -> None:
    """Entry point."""
    for name in ("lightning.pytorch", "lightning.fabric"):  # its banners; progress bars and warnings stay
        logging.getLogger(name).setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", message=".*does not have many workers.*")  # the data is in memory
    with told_in_one_line(resumable=True):
        print_table(train(OmegaConf.to_object(config)))


if __name__ == "__main__":
    register()
    main()
