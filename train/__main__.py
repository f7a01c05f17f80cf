"""`python -m train`: train all learned parts from demonstrations, calibrate, and write the checkpoint."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import shutil
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import lightning
import torch
from rich.console import Console
from rich.table import Table

from conf.command import run as run_command
from conf.targets import instantiate
from nsrecover.core.atomic_write import atomic_write_bytes
from nsrecover.errors import InvalidConfiguration
from nsrecover.models.bundle import Bundle, BundleConfig
from train import household
from train.calibrate import calibrate, calibration_warning
from train.card import model_card, revision
from train.config import Stage, TrainConfig
from train.demonstrations import Demonstration, EpisodeSource, fingerprint, load_demonstrations, recordings
from train.processes import Processes, check_trainer_settings, is_first_process, start_processes
from train.schedule import adamw
from train.stages import STAGES, TrainingRun, set_seed

EXPECTED_WARNINGS = (
    ".*does not have many workers.*",  # the data is in memory
    ".*`IterableDataset` has `__len__` defined.*",  # as said: no workers
    ".*isinstance\\(treespec, LeafSpec\\).*",  # Lightning's own
    ".*Grad strides do not match bucket view strides.*",  # costs next to nothing in networks this small
)
"""Warnings of Lightning and PyTorch that do not concern users of this command."""
ADAMW = {"_target_": "torch.optim.AdamW", "_partial_": True, "weight_decay": 1e-4}
"""The default optimizer, conf/optimizer/adamw.yaml."""


def identity(config: TrainConfig, data: Sequence[EpisodeSource], held_out: Sequence[EpisodeSource]) -> dict[str, Any]:
    """All settings and data that determine what a run learns; only a run with the same ones can be continued."""
    settings = asdict(config)
    chosen: tuple[str, ...] = ("seed", "alpha", "start", "model", "pairs", "weights", *STAGES)
    # runs from before there was a choice have no optimizer in their identity
    chosen += ("optimizer",) if config.optimizer not in (None, ADAMW) else ()
    return {
        "data": fingerprint(data),
        "held_out": fingerprint(held_out),
        **{key: json.loads(json.dumps(settings[key])) for key in chosen},
    }


def open_run(config: TrainConfig, out: Path, wanted: dict[str, Any]) -> dict[str, Any]:
    """The progress of a run: none yet, or that of the run that is continued. Writes nothing.

    Args:
        config: of the command.
        out: folder of the run.
        wanted: its identity.

    Raises:
        InvalidConfiguration: the folder holds a run with other data or settings.
    """
    progress = out / "progress.json"
    if progress.is_file() and not config.restart:
        found: dict[str, Any] = json.loads(progress.read_text())
        differing = [key for key, value in wanted.items() if found["identity"].get(key) != value]
        if differing:
            raise InvalidConfiguration(
                f"expected the run in {out} to have been started with the same settings, found other "
                f"{', '.join(differing)}; choose another out=DIR, or restart=true to begin anew"
            )
        return found
    return {"identity": wanted, "done": {}, "seconds": {}}


def clear(out: Path) -> None:
    """Remove the files of an earlier run, for `restart=true`; other folders are not touched."""
    if (out / "progress.json").is_file():
        for name in (*STAGES, "bundle", "progress.json"):
            path = out / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def save_progress(out: Path, progress: dict[str, Any]) -> None:
    """Write the progress file whole or not at all."""
    atomic_write_bytes(out / "progress.json", json.dumps(progress, indent=2).encode() + b"\n")


def start_bundle(config: TrainConfig) -> Bundle:
    """The bundle to start from: a given one, or an untrained one, with a pretrained backbone on request."""
    if config.start is not None:
        return Bundle.load(config.start)
    model = config.model
    bundle = Bundle(
        BundleConfig(
            feature_size=model.feature_size,
            crop_size=model.crop_size,
            encoder_blocks=tuple(model.encoder_blocks),
            width=model.width,
            rounds=model.rounds,
            workspace=tuple(model.workspace),  # type: ignore[arg-type]
            reach_m=tuple(model.reach_m),  # type: ignore[arg-type]
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


def load_data(
    config: TrainConfig, sources: Sequence[Sequence[EpisodeSource]], processes: Processes
) -> tuple[list[Demonstration], list[Demonstration]]:
    """Training and held-out demonstrations, in memory; each process perceives a part of them, all read the cache."""
    size = config.model.crop_size
    bars = contextlib.nullcontext() if processes.first else contextlib.redirect_stderr(io.StringIO())
    with bars:
        if processes.count > 1:
            distinct = {source.fingerprint: source for part in sources for source in part}
            load_demonstrations(list(distinct.values())[processes.rank :: processes.count], size, config.data.cache)
            processes.wait()
        training, held_out = (load_demonstrations(part, size, config.data.cache) for part in sources)
    return training, held_out


def train(config: TrainConfig) -> dict[str, Any]:
    """Run the stages that are not done yet, calibrate and write the checkpoint.

    With `trainer=ddp` every process runs this function; the first one alone writes.

    Returns:
        The metrics that are written to metrics.json, in every process.
    """
    # every process runs this part separately: it checks the settings and writes nothing
    out = Path(config.out)
    folder = out / "bundle"
    check_trainer_settings(config.trainer)
    data = config.data
    if data.episodes is not None and data.episodes < 1:
        raise InvalidConfiguration(f"expected data.episodes of at least 1, or null for all, found {data.episodes}")
    sources = [recordings(place, data.episodes) for place in (data.train, data.held_out)]
    if len(sources[1]) < 2:
        raise InvalidConfiguration(
            "expected at least two held-out episodes, some to set the threshold and others to measure on, found "
            f"{len(sources[1])} in {data.held_out}; hold out more, or set data.episodes=null"
        )
    progress = open_run(config, out, identity(config, *sources))
    set_seed(config.seed)
    going_on = (folder / "config.json").is_file() and not config.restart
    bundle = Bundle.load(folder) if going_on else start_bundle(config)

    # from here on the processes are synchronised
    processes = start_processes(config.trainer)
    began = time.perf_counter()
    if processes.first:
        out.mkdir(parents=True, exist_ok=True)
        if config.restart:
            clear(out)
        print(f"training on {processes.describe()}", flush=True)
    training, held_out = load_data(config, sources, processes)
    seconds = {"loading": round(time.perf_counter() - began, 1)}
    run = TrainingRun(
        bundle=bundle,
        training=training,
        held_out=held_out,
        folder=out,
        seed=config.seed,
        logger=lambda stage: instantiate(config.logger, name=stage),
        trainer=dict(config.trainer),
        pairs=config.pairs,
        make_optimizer=adamw if config.optimizer is None else instantiate(config.optimizer),
        processes=processes,
    )
    chosen = list(STAGES) if config.stage is Stage.all else [config.stage.value]
    for stage in chosen:
        if config.stage is Stage.all and stage in progress["done"]:
            continue
        started = time.perf_counter()
        metrics = STAGES[stage][0](run, getattr(config, stage))
        bundle.to("cpu").eval()
        # running statistics differ between processes: the first one's count, as they are what is saved
        bundle.load_state_dict(processes.broadcast(bundle.state_dict()))
        progress["done"][stage] = metrics
        progress["seconds"][stage] = round(time.perf_counter() - started, 1)
        if processes.first:
            bundle.save(folder)
            save_progress(out, progress)
            shutil.rmtree(out / stage, ignore_errors=True)
    result = finish(config, run, progress, seconds) if processes.first else {}
    return processes.broadcast(result)


def finish(
    config: TrainConfig, run: TrainingRun, progress: dict[str, Any], seconds: dict[str, float]
) -> dict[str, Any]:
    """Calibrate the trained bundle and write it with its provenance, the model card and metrics.json.

    Args:
        config: of the command.
        run: whose stages are done.
        progress: what they measured and how long they took.
        seconds: what else took how long.

    Returns:
        The metrics.
    """
    started = time.perf_counter()
    features = run.appearance(run.held_out)
    with run.on_device():
        calibrated = calibrate(run.held_out, features, run.bundle, config.alpha)
    if warning := calibration_warning(calibrated, config.alpha):
        print(warning, file=sys.stderr, flush=True)
    seconds = {**progress["seconds"], **seconds, "calibration": round(time.perf_counter() - started, 1)}
    settings = {key: value for key, value in progress["identity"].items() if key not in ("data", "held_out", "seed")}
    provenance = {
        "command": "python -m train " + " ".join(sys.argv[1:]),
        "seed": config.seed,
        "transitions": sum(len(demo.plan) for demo in run.training),
        "episodes": len(run.training),
        "data": progress["identity"]["data"],
        "held_out": progress["identity"]["held_out"],
        "settings": settings,
        "revision": revision(),
        "torch": torch.__version__,
        "lightning": lightning.__version__,
        "device": run.processes.describe(),
        "processes": run.processes.count,
        "seconds": {**seconds, "total": round(sum(seconds.values()), 1)},
    }
    bundle, measured = run.bundle, {"stages": progress["done"], **calibrated}
    bundle.config = replace(bundle.config, metrics=measured, provenance=provenance)
    bundle.save(run.folder / "bundle", model_card(bundle.config))
    if config.checkpoint:
        bundle.save(config.checkpoint, model_card(bundle.config))
    result = {**measured, "provenance": provenance, "parameters": sum(p.numel() for p in bundle.parameters())}
    (run.folder / "metrics.json").write_text(json.dumps(result, indent=2) + "\n")
    return result


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
    for name in ("lightning.pytorch", "lightning.fabric"):  # hides their banners; progress bars and warnings stay
        logging.getLogger(name).setLevel(logging.WARNING)
    for message in EXPECTED_WARNINGS:
        warnings.filterwarnings("ignore", message=message)
    metrics = train(config)
    if is_first_process():
        print_table(metrics)


if __name__ == "__main__":
    if "domain=household" in sys.argv[1:]:
        household.main()
    else:
        run_command("train", TrainConfig, main, resumable=True)
