"""Training on own runs, and whether its result is better than what there was."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nsrecover.errors import InvalidConfiguration
from nsrecover.onboarding.calibration import Share
from nsrecover.onboarding.scoring import ScoredStep
from nsrecover.records.archive import write_archive
from nsrecover.records.recording import Recording
from nsrecover.records.runs import Run

RUNS = 10
"""Fewest runs to train on."""

PARTS = 5
"""Of so many runs one is for comparing the models, one for validation during training, the others for learning."""

SURELY_OUT = 1.5
"""Displaced copies count from this multiple of the tolerance on."""

FINE_TUNING = (
    "encoder.epochs=4", "encoder.learning_rate=3.0e-4", "transition.epochs=20", "transition.learning_rate=5.0e-4",
    "discriminator.epochs=5", "discriminator.batches=60", "discriminator.learning_rate=5.0e-4", "free_space.epochs=1",
    "free_space.batches=30", "free_space.learning_rate=2.0e-4",
)  # fmt: skip
"""Budget of `python -m train` from a checkpoint: minutes on a CPU for 50 runs."""


@dataclass(frozen=True)
class Quality:
    """How a model judges runs that it was not trained on.

    Attributes:
        good: good steps without an alarm.
        displaced: displaced copies that are detected.
    """

    good: Share
    displaced: Share

    @property
    def balanced(self) -> float:
        """Mean of both shares."""
        return (self.good.value + self.displaced.value) / 2

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        return {
            "good_steps_without_alarm": round(self.good.value, 4), "good_steps": self.good.steps,
            "displaced_detected": round(self.displaced.value, 4), "displaced": self.displaced.steps,
            "balanced": round(self.balanced, 4),
        }  # fmt: skip


def quality_of(steps: Sequence[ScoredStep], threshold: float, tolerance_m: float) -> Quality:
    """The quality of a model from steps of good runs that it scored."""
    copies = [p for step in steps for mm, p in step.displaced.items() if mm >= SURELY_OUT * 1000 * tolerance_m]
    return Quality(
        Share(sum(step.score >= threshold for step in steps), len(steps)),
        Share(sum(p < threshold for p in copies), len(copies)),
    )


def divided(runs: Sequence[Run]) -> tuple[list[Run], list[Run], list[Run]]:
    """Runs to learn from, to validate on, and to compare the models on.

    Raises:
        InvalidConfiguration: there are too few, or they have no images.
    """
    if len(runs) < RUNS:
        raise InvalidConfiguration(
            f"expected at least {RUNS} successful runs to train on, found {len(runs)}; record more"
        )
    if not all(run.has_images for run in runs):
        raise InvalidConfiguration(
            "expected runs with camera images, found boxes; boxes need no training: `nsrecover calibrate` is enough"
        )
    learning = [run for number, run in enumerate(runs) if number % PARTS > 1]
    return learning, list(runs[1::PARTS]), list(runs[::PARTS])


def train_on(
    learning: Sequence[Run],
    validation: Sequence[Run],
    start: Path | None,
    out: Path,
    seed: int,
    settings: Sequence[str],
) -> Path:
    """Train with `python -m train` in a process of its own; the same folder continues where it was stopped.

    Args:
        learning: runs to learn from.
        validation: runs to validate on.
        start: folder of the checkpoint to start from; an untrained one if None.
        out: folder.
        seed: of everything random.
        settings: further settings of the command.

    Returns:
        The folder of the trained checkpoint.

    Raises:
        InvalidConfiguration: the trainer is not there, or it failed.
    """
    if not _trainer_is_there():
        raise InvalidConfiguration(
            "expected the trainer of nsrecover, found none; run this in a checkout after `make install` "
            "(.venv/bin/nsrecover train ...): the package alone has no trainer"
        )
    parts = {"learning": learning, "validation": validation}
    for name, runs in parts.items():
        if not (out / f"{name}.h5").exists():
            write_archive(out / f"{name}.h5", (Recording(r.plan, r.observations, r.notes) for r in runs))  # type: ignore[arg-type]
    command = [
        sys.executable, "-m", "train", f"data.train={out / 'learning.h5'}", f"data.held_out={out / 'validation.h5'}",
        f"out={out / 'training'}", f"seed={seed}", *(FINE_TUNING if start is not None else ()),
        *(() if start is None else (f"start={start}", f"model.crop_size={_crop_size(start)}")), *settings,
    ]  # fmt: skip
    done = subprocess.run(command, check=False, stdout=2)  # what it prints is progress, not the result
    if done.returncode:
        raise InvalidConfiguration(
            f"expected the training to succeed, found exit code {done.returncode}; its message is above, and the same "
            "command goes on where it stopped"
        )
    return out / "training" / "bundle"


def _trainer_is_there() -> bool:
    try:
        return all(importlib.util.find_spec(name) is not None for name in ("train.stages", "lightning", "hydra"))
    except ModuleNotFoundError:
        return False


def _crop_size(folder: Path) -> int:
    from nsrecover.models.bundle import Bundle

    return Bundle.load(folder).config.crop_size
