"""`python -m train.sounds`: train the sound model from labelled recordings, one folder of WAV files for each class."""

from __future__ import annotations

import json
import shlex
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
import typer
from torch.nn import functional
from tqdm import tqdm

from conf.command import run_function
from nsrecover.core.scene import FloatArray
from nsrecover.errors import InvalidConfiguration, require_known
from nsrecover.models.sound import SoundConfig, SoundModel
from nsrecover.perception.spectrogram import FRAMES, RATE_HZ, check_recording
from nsrecover.records.wav import read_wav
from nsrecover.util.atomic_write import atomic_write_bytes
from train.revision import revision
from train.sound_mixing import MixRates, SoundMixer, load_levels

BACKGROUND = "background"
"""Folder of recordings without a sound that is to be recognised."""
ABOUT = "clips.json"
"""Optional file in the folder: `groups`, class -> name of a group of classes that cannot be told apart reliably."""
_HELD_OUT = 7
"""Every seventh recording of a class is not learned from: it decides on the thresholds."""
REJECTED = 0.04
"""Share of the held-out mixtures of a known sound that may be called unknown."""
_REFERENCES = 800
"""Embeddings that stand for what is known: as many of single sounds as of two at once."""
_CALIBRATION_SNR_DB = (0.0, 25.0)


def train(
    data: Path = Path("data/sounds"),
    out: Path = Path("outputs/train/sounds"),
    steps: int = 2200,
    batch: int = 64,
    rate: float = 3e-3,
    seed: int = 0,
    without: Annotated[list[str] | None, typer.Option(help="class that is left out; may be repeated")] = None,
    start: Annotated[Path | None, typer.Option(help="model whose network is trained further; 0 steps: kept")] = None,
) -> None:
    """Train a sound model, and choose its thresholds on recordings that it did not learn from.

    Args:
        data: folder with a folder of WAV files (mono, 16 bits, 16 kHz, two seconds) for each class, and `background`.
        out: where the model is written.
        steps: number of batches.
        batch: mixtures in a batch.
        rate: highest learning rate.
        seed: of everything random.
        without: classes to leave out, to measure how unknown sounds are recognised.
        start: model to go on from; with 0 steps its network stays, and only the thresholds are chosen.
    """
    began = time.perf_counter()
    left_out = set(without or ())
    recordings = read_clips(data, left_out)
    about = json.loads((data / ABOUT).read_text()) if (data / ABOUT).is_file() else {}
    background = recordings.pop(BACKGROUND, [])
    rng = np.random.default_rng([seed, 1])
    learn, keep = ({}, {})
    for name, samples in tqdm(recordings.items(), desc="spectrograms", unit="class"):
        learn[name] = load_levels([s for i, s in enumerate(samples) if i % _HELD_OUT], rng)
        keep[name] = load_levels(samples[::_HELD_OUT], rng)
    noise = load_levels(background, rng, rooms=False)
    config = SoundConfig(
        classes=tuple(learn),
        groups={name: group for name, group in about.get("groups", {}).items() if name in learn},
        provenance={
            "command": shlex.join(["python", "-m", "train.sounds", *sys.argv[1:]]),
            "seed": seed,
            "steps": steps,
            "recordings": {name: len(samples) for name, samples in recordings.items()},
            "background": len(background),
            "clips": about,
            "without": sorted(left_out),
            "revision": revision(),
            "torch": torch.__version__,
        },
    )
    torch.manual_seed(seed)
    model = SoundModel(config) if start is None else continued(SoundModel.load(start), config)
    if steps:
        fit(model, SoundMixer(learn, noise, MixRates(), seed), steps, batch, rate)
    references = [
        model.look(SoundMixer(learn, noise, MixRates(second, 0.0, 0.0), seed + 1).batch(_REFERENCES)[0])[1]
        for second in (0.0, 1.0)
    ]
    single = SoundMixer(keep, noise, MixRates(0.0, 0.0, 0.0), seed + 2, _CALIBRATION_SNR_DB)
    model = calibrated(model, np.concatenate(references), *single.batch(60 * len(keep)))
    seconds = round(time.perf_counter() - began, 1)
    model.config = replace(model.config, provenance={**model.config.provenance, "seconds": seconds})
    model.save(out)
    atomic_write_bytes(out / "metrics.json", json.dumps(dict(model.config.metrics), indent=1).encode() + b"\n")
    print(json.dumps(dict(model.config.metrics)), f"{seconds:.0f} s, written to {out}")


def continued(before: SoundModel, config: SoundConfig) -> SoundModel:
    """A model with the network of another one, whose provenance it notes.

    Raises:
        InvalidConfiguration: it has other classes.
    """
    if before.config.classes != config.classes:
        raise InvalidConfiguration(
            f"expected a model to start from with the classes {', '.join(config.classes)}, found one with "
            f"{', '.join(before.config.classes)}"
        )
    model = SoundModel(replace(config, provenance={**config.provenance, "start": dict(before.config.provenance)}))
    model.net.load_state_dict(before.net.state_dict())
    return model


def read_clips(folder: Path, left_out: set[str]) -> dict[str, list[FloatArray]]:
    """Recordings by class.

    Raises:
        InvalidConfiguration: there are fewer than two classes, or a class has too few recordings.
        InvalidObservation: a file is not a WAV file with the expected rate.
    """
    names = sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    for name in left_out:
        require_known(name, names, f"a class in {folder}")
    clips: dict[str, list[FloatArray]] = {}
    for name in (name for name in names if name not in left_out):
        files = sorted((folder / name).glob("*.wav"))
        if len(files) < 2:
            raise InvalidConfiguration(f"expected at least two WAV files in {folder / name}, found {len(files)}")
        clips[name] = [
            check_recording(*read_wav(path.read_bytes(), str(path)))[: FRAMES * RATE_HZ // 50] for path in files
        ]
    if len(clips.keys() - {BACKGROUND}) < 2:
        raise InvalidConfiguration(
            f"expected a folder of WAV files for each of at least two classes in {folder}, found "
            f"{', '.join(clips) or 'none'}; `python -m sim.sound.clips` writes such a folder"
        )
    return clips


def fit(model: SoundModel, mixer: SoundMixer, steps: int, batch: int, rate: float) -> None:
    """Train the network: binary cross-entropy of every class, one cycle of the learning rate."""
    net = model.net.train()
    optimizer = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps)
    losses: list[float] = []
    with tqdm(range(steps), desc="training", unit="batch") as bar:
        for _ in bar:
            levels, labels = (torch.as_tensor(array) for array in mixer.batch(batch))
            logits, _ = net(levels)
            loss = functional.binary_cross_entropy_with_logits(logits, labels) * logits.shape[1]
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(float(loss.detach()))
            bar.set_postfix(loss=f"{np.mean(losses[-100:]):.3f}", refresh=False)
    model.eval()


def calibrated(model: SoundModel, references: FloatArray, levels: FloatArray, labels: FloatArray) -> SoundModel:
    """The model with thresholds such that few held-out mixtures of known sounds are called unknown.

    Args:
        model: trained.
        references: (R, D) embeddings of known sounds.
        levels: (M, FRAMES, BANDS) mixtures with one sound each.
        labels: (M, C) which.
    """
    parts = [model.look(part) for part in np.array_split(levels, max(1, len(levels) // 64))]
    found, units = (np.concatenate(each) for each in zip(*parts, strict=True))
    truth = labels.argmax(axis=1)
    own = [found[truth == number, number] for number in range(labels.shape[1])]
    thresholds = [float(np.clip(np.quantile(each, REJECTED), 0.05, 0.5)) for each in own]
    model = model.calibrated(thresholds, 0.0, references)
    scores = model.familiarity(found, units)
    known_from = float(np.quantile(scores, REJECTED))
    groups = np.array([model.config.group(name) for name in model.config.classes])
    guessed = found.argmax(axis=1)
    return model.calibrated(
        thresholds,
        known_from,
        references,
        held_out_mixtures=len(truth),
        held_out_accuracy=round(float((guessed == truth).mean()), 4),
        held_out_group_accuracy=round(float((groups[guessed] == groups[truth]).mean()), 4),
        held_out_unknown=round(float((scores < known_from).mean()), 4),
    )


if __name__ == "__main__":
    run_function(train)
