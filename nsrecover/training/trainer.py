"""A training from recorded demonstrations to a calibrated checkpoint; the same folder continues an interrupted one."""

import contextlib
import io
import json
import logging
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import lightning
import torch
from lightning.pytorch.loggers import Logger

import nsrecover
from nsrecover.errors import InvalidConfiguration
from nsrecover.models.bundle import Bundle, BundleConfig
from nsrecover.training.calibrate import calibrate, calibration_warning
from nsrecover.training.card import model_card
from nsrecover.training.demonstrations import (
    Demonstration,
    EpisodeSource,
    fingerprint,
    load_demonstrations,
    recordings,
)
from nsrecover.training.loggers import no_logger
from nsrecover.training.processes import Processes, check_trainer_settings, start_processes
from nsrecover.training.schedule import OptimizerFactory, adamw
from nsrecover.training.settings import TrainingStage, TrainSettings
from nsrecover.training.stages import STAGES, TrainingRun, set_seed
from nsrecover.util.atomic_write import atomic_write_bytes
from nsrecover.util.untrusted_json import JsonMapping, JsonObject, parse_json, read_json

EXPECTED_WARNINGS = (
    ".*does not have many workers.*",  # the data is in memory
    ".*`IterableDataset` has `__len__` defined.*",  # as said: no workers
    ".*isinstance\\(treespec, LeafSpec\\).*",  # Lightning's own
    ".*Grad strides do not match bucket view strides.*",  # costs next to nothing in networks this small
)
"""Warnings of Lightning and PyTorch that do not concern users of a training."""


@dataclass(frozen=True)
class Command:
    """The command that trains: what its settings do not hold.

    Attributes:
        text: as it was called, for the provenance.
        revision: of the code, for the provenance.
        make_logger: makes the logger of a stage from its name.
        make_optimizer: makes the optimiser of a stage.
        identity: what determines what is learned, besides the settings.
        multirun: whether this process runs one training after the other.
        tell: called with a stage, its finished epochs and all of them.
    """

    text: str
    revision: str = f"nsrecover {nsrecover.__version__}"
    make_logger: Callable[[str], Logger | bool] = no_logger
    make_optimizer: OptimizerFactory = adamw
    identity: JsonMapping = field(default_factory=dict)
    multirun: bool = False
    tell: Callable[[str, int, int], None] | None = None


def train(config: TrainSettings, command: Command) -> JsonObject:
    """Run the stages that are not done yet, calibrate and write the checkpoint.

    With several processes every one runs this function; the first one alone writes.

    Returns:
        The metrics that are written to metrics.json, in every process.

    Raises:
        InvalidConfiguration: a setting cannot be used, or the folder holds a run with other data or settings.
        InvalidRecording: a demonstration is damaged, or none can be used.
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
    progress = open_run(config, out, {**identity(config, *sources), **command.identity})
    set_seed(config.seed)
    going_on = (folder / "config.json").is_file() and not config.restart
    bundle = Bundle.load(folder) if going_on else start_bundle(config)

    # from here on the processes are synchronised
    processes = start_processes(config.trainer, command.multirun)
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
        logger=command.make_logger,
        trainer=dict(config.trainer),
        pairs=config.pairs,
        make_optimizer=command.make_optimizer,
        processes=processes,
        tell=command.tell,
    )
    chosen = list(STAGES) if config.stage is TrainingStage.all else [config.stage.value]
    for stage in chosen:
        if getattr(config, stage).epochs == 0:
            continue
        if config.stage is TrainingStage.all and stage in progress["done"]:
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
    result = finish(config, command, run, progress, seconds) if processes.first else {}
    return processes.broadcast(result)


def quiet() -> None:
    """Hide the banners of Lightning, and warnings that do not concern users; progress bars and other warnings stay."""
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.WARNING)
    for message in EXPECTED_WARNINGS:
        warnings.filterwarnings("ignore", message=message)


def identity(config: TrainSettings, data: Sequence[EpisodeSource], held_out: Sequence[EpisodeSource]) -> JsonObject:
    """All settings and data that determine what a run learns; only a run with the same ones can be continued."""
    settings = asdict(config)
    chosen = ("seed", "alpha", "start", "model", "pairs", "weights", *STAGES)
    return {
        "data": fingerprint(data),
        "held_out": fingerprint(held_out),
        **{key: parse_json(json.dumps(settings[key])) for key in chosen},
    }


def open_run(config: TrainSettings, out: Path, wanted: JsonObject) -> JsonObject:
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
        found: JsonObject = read_json(progress)
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


def save_progress(out: Path, progress: JsonObject) -> None:
    """Write the progress file whole or not at all."""
    atomic_write_bytes(out / "progress.json", json.dumps(progress, indent=2).encode() + b"\n")


def start_bundle(config: TrainSettings) -> Bundle:
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
    config: TrainSettings, sources: Sequence[Sequence[EpisodeSource]], processes: Processes
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


def finish(
    config: TrainSettings, command: Command, run: TrainingRun, progress: JsonObject, seconds: dict[str, float]
) -> JsonObject:
    """Calibrate the trained bundle and write it with its provenance, the model card and metrics.json.

    Args:
        config: of the run.
        command: that trains.
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
        "command": command.text,
        "seed": config.seed,
        "transitions": sum(len(demo.plan) for demo in run.training),
        "episodes": len(run.training),
        "data": progress["identity"]["data"],
        "held_out": progress["identity"]["held_out"],
        "settings": settings,
        "revision": command.revision,
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
