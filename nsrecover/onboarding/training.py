"""Training on own runs, and whether its result is better than what there was."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nsrecover.errors import InvalidConfiguration, did_you_mean
from nsrecover.onboarding.calibration import Share
from nsrecover.onboarding.scoring import ScoredStep
from nsrecover.records.archive import write_archive
from nsrecover.records.recording import Recording
from nsrecover.records.runs import RecordedRun, SceneKind
from nsrecover.util.atomic_write import atomic_write_bytes
from nsrecover.util.extras import needs_extra
from nsrecover.util.progress import left_text
from nsrecover.util.untrusted_json import JsonObject, parse_json, read_json

if TYPE_CHECKING:
    from nsrecover.training.settings import TrainSettings

RUNS = 10
"""Fewest runs to train on."""

PARTS = 5
"""One of this many runs is held out for the comparison of the models."""

FALSE_ALARMS = 0.05
"""Both models are compared at this rate of false alarms."""

FROM_TOLERANCES = 0.5
"""Displaced copies count from this multiple of the tolerance on."""

FINE_TUNING = (
    "encoder.epochs=0", "transition.epochs=40", "transition.learning_rate=5e-4", "discriminator.epochs=0",
    "free_space.epochs=0",
)  # fmt: skip
"""Budget of a training from a checkpoint: where actions lead is learned from 50 runs, in minutes on a CPU.

The other parts stay as they are: they learned from many more runs.
"""


@dataclass(frozen=True)
class Quality:
    """How well a model tells displaced copies from good steps, on runs that it was not trained on.

    Attributes:
        alarms: good steps below the threshold that a rate of `FALSE_ALARMS` allows for.
        detected: displaced copies below this threshold, of all displacements.
        by_mm: the same for each displacement, mm.
        placed_mm: median and 90th percentile of the distance between where moved objects were expected and seen.
    """

    alarms: Share
    detected: Share
    by_mm: dict[float, Share]
    placed_mm: tuple[float, float]

    def to_json(self) -> JsonObject:
        """As JSON data."""
        return {
            "alarms": self.alarms.hits, "good_steps": self.alarms.steps,
            "detected": round(self.detected.value, 4), "displaced": self.detected.steps,
            "detected_by_mm": {f"{mm:g}": round(share.value, 4) for mm, share in self.by_mm.items()},
            "placing_error_mm": [round(error, 1) for error in self.placed_mm],
        }  # fmt: skip

    def __str__(self) -> str:
        worst = ", ".join(f"{mm:g} mm {share.value:.0%}" for mm, share in self.by_mm.items() if share.value < 1)
        return (
            f"displaced copies detected {self.detected}{f'; {worst}' if worst else ''}; placing error "
            f"{self.placed_mm[0]:.1f} mm (median), {self.placed_mm[1]:.1f} mm (90 %)"
        )


def quality_of(steps: Sequence[ScoredStep], tolerance_m: float) -> Quality:
    """The quality of a model from steps of good runs that it scored.

    The threshold is the score of a good step: at most a share `FALSE_ALARMS` of the steps scores less.

    Args:
        steps: at least one.
        tolerance_m: tolerance of the model, metres.
    """
    scores = np.sort([step.score for step in steps])
    threshold = scores[int(FALSE_ALARMS * len(scores))]
    distances = sorted({mm for step in steps for mm in step.displaced if mm >= FROM_TOLERANCES * 1000 * tolerance_m})
    copies = {mm: [step.displaced[mm] for step in steps if mm in step.displaced] for mm in distances}
    by_mm = {mm: Share(sum(p < threshold for p in found), len(found)) for mm, found in copies.items()}
    placed = [float(np.linalg.norm(step.placed_mm)) for step in steps if step.placed_mm is not None]
    return Quality(
        alarms=Share(int((scores < threshold).sum()), len(scores)),
        detected=Share(sum(share.hits for share in by_mm.values()), sum(share.steps for share in by_mm.values())),
        by_mm=by_mm,
        placed_mm=(float(np.median(placed)), float(np.quantile(placed, 0.9))) if placed else (0.0, 0.0),
    )


def divided(runs: Sequence[RecordedRun]) -> tuple[list[RecordedRun], list[RecordedRun]]:
    """Runs to learn from, and to compare the models on.

    Raises:
        InvalidConfiguration: there are too few, or they have no images.
    """
    if len(runs) < RUNS:
        raise InvalidConfiguration(
            f"expected at least {RUNS} successful runs to train on, found {len(runs)}; record more"
        )
    if not all(run.seen is SceneKind.IMAGES for run in runs):
        raise InvalidConfiguration(
            "expected runs with camera images, found boxes; boxes need no training: `nsrecover calibrate` is enough"
        )
    return [run for number, run in enumerate(runs) if number % PARTS], list(runs[::PARTS])


def train_on(
    learning: Sequence[RecordedRun],
    comparison: Sequence[RecordedRun],
    start: Path | None,
    out: Path,
    seed: int,
    settings: Sequence[str],
) -> Path:
    """Train; the same folder continues where it was stopped.

    Args:
        learning: runs to learn from.
        comparison: other runs, that are measured on; nothing is chosen by them.
        start: folder of the checkpoint to start from; an untrained one if None.
        out: folder.
        seed: of everything random.
        settings: further settings as `encoder.epochs=8`, see `nsrecover.training.settings`.

    Returns:
        The folder of the trained checkpoint.

    Raises:
        InvalidConfiguration: a setting cannot be used, the folder belongs to another training, or the extra is missing.
    """
    with needs_extra("train", "the trainer (lightning and torch)"):
        from nsrecover.training import trainer
        from nsrecover.training.settings import DataConfig, TrainSettings

    parts = {"learning": learning, "comparison": comparison}
    _open(out, parts)
    for name, runs in parts.items():
        if not (out / f"{name}.h5").exists():
            write_archive(out / f"{name}.h5", (Recording(r.plan, r.observations, r.notes) for r in runs))  # type: ignore[arg-type]
    config = TrainSettings(
        DataConfig(str(out / "learning.h5"), str(out / "comparison.h5"), str(out / "cache")),
        out=str(out / "training"),
        seed=seed,
        alpha=0.2,  # `nsrecover calibrate` sets the threshold, on more runs
        trainer={"accelerator": "auto", "devices": 1, "enable_progress_bar": False},
    )
    if start is not None:
        config.start, config.model.crop_size = str(start), _crop_size(start)
    for setting in (*(FINE_TUNING if start is not None else ()), *settings):
        apply_setting(config, setting)
    trainer.quiet()
    with contextlib.redirect_stdout(sys.stderr):  # what it prints is progress, not the result
        trainer.train(config, trainer.Command(text="nsrecover train", tell=StageLines()))
    return out / "training" / "bundle"


class StageLines:
    """Prints the progress of every stage on stderr, with the time that it has left."""

    def __init__(self) -> None:
        self._began: tuple[str, float, int] | None = None

    def __call__(self, stage: str, done: int, epochs: int) -> None:
        """Print a line for a finished epoch; the first call of a stage sets where it begins, or goes on."""
        now = time.monotonic()
        if self._began is None or self._began[0] != stage:
            self._began = stage, now, done
        _, began, before = self._began
        left = f", {left_text((now - began) / (done - before) * (epochs - done))}" if done > before else ""
        print(f"{stage}: epoch {done} of {epochs}{left}", file=sys.stderr, flush=True)


def apply_setting(config: TrainSettings, setting: str) -> None:
    """Change one setting, such as `encoder.epochs=8`; values are written as JSON, texts without quotes.

    Raises:
        InvalidConfiguration: there is no such setting, or the value is of another type.
    """
    name, given, text = setting.partition("=")
    *parents, last = name.split(".")
    place: Any = config
    for part in parents:
        _require_setting(place, part, setting)
        place = getattr(place, part)
    try:
        value: Any = parse_json(text)
    except ValueError:
        value = text
    if isinstance(place, dict):
        place[last] = value
        return
    _require_setting(place, last, setting)
    before = getattr(place, last)
    if isinstance(before, float) and type(value) is int:
        value = float(value)
    if not given or is_dataclass(before) or (before is not None and type(value) is not type(before)):
        raise InvalidConfiguration(f"expected a setting such as encoder.epochs=8, found {setting!r}")
    setattr(place, last, value)


def _require_setting(place: Any, name: str, setting: str) -> None:
    known = [item.name for item in fields(place)] if is_dataclass(place) else []
    if name not in known:
        raise InvalidConfiguration(
            f"expected a setting such as encoder.epochs=8, found {setting!r}.{did_you_mean(name, known)}"
        )


def _open(out: Path, parts: Mapping[str, Sequence[RecordedRun]]) -> None:
    """Remember which runs a folder is for, and refuse others."""
    wanted = {name: [run.fingerprint() for run in runs] for name, runs in parts.items()}
    note = out / "runs.json"
    if note.is_file() and read_json(note) != wanted:
        raise InvalidConfiguration(
            f"expected the runs that the training in {out} was started with, found others; choose another --out, or "
            "remove the folder"
        )
    atomic_write_bytes(note, json.dumps(wanted).encode())


def _crop_size(folder: Path) -> int:
    from nsrecover.models.bundle import Bundle

    return Bundle.load(folder).config.crop_size
