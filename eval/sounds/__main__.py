"""`python -m eval.sounds`: how well sounds are recognised, and unknown ones called unknown."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from eval.common.statistics import share_of
from eval.common.tables import document, markdown_table, percent_of, with_interval
from eval.run import Measurement, Run, Settings, run
from eval.sounds.strangers import FRESH, STRANGERS, stranger
from nsrecover.models.sound import SHIPPED, SoundModel
from nsrecover.perception.sounds import UNKNOWN_SOUND
from nsrecover.perception.spectrogram import RATE_HZ
from sim.sound.baseline import SpectralBaseline, features
from sim.sound.examples import CLASSES, CLIP_S, example

RESAMPLES = 500
ENROLLED, RECORDINGS, ROUNDS = 4, 5, 6
"""Strange sounds that are enrolled at a time, recordings of each, and how often other ones are drawn."""
_KNOWN, _FIT, _STRANGE, _ENROL, _AGAIN = 61, 62, 63, 64, 65
"""What a seed is used for."""
Labels = npt.NDArray[np.str_]


@dataclass
class SoundsConfig(Settings):
    """Measure the sound model on recordings that it was not trained on, beside a spectral baseline.

    F1 score of every class with noise of three levels, and the share of unknown sounds that are called unknown.

      python -m eval.sounds                                40 recordings of each class; minutes
      python -m eval.sounds clips=10 'snr_db=[20]'         a quick look
      python -m eval.sounds checkpoint=outputs/train/sounds     your own model

    A class that cannot be told from others by physics belongs to a group; scores by class and by group are given.
    Writes metrics.json and table.md to out=DIR.

    Attributes:
        seed: another seed gives other recordings; the training uses seed 1 of `python -m sim.sound.clips`.
        clips: number of recordings of each class at each ratio.
        snr_db: ratios of the mean powers of a sound and of everything else, decibels.
        checkpoint: folder of a sound model; the shipped one if null.
        baseline: whether the spectral baseline is fitted and measured beside it.
    """

    seed: int = 2026
    clips: int = 40
    snr_db: list[float] = field(default_factory=lambda: [20.0, 10.0, 0.0])
    checkpoint: str | None = None
    baseline: bool = True


def measure(config: SoundsConfig, run: Run) -> dict[str, Any]:
    """Recognise recordings of every class and of strange sounds."""
    model = SoundModel.load(config.checkpoint)
    found = {f"{snr_db:g}": _at(config, model, snr_db) for snr_db in config.snr_db}
    return {
        "seed": config.seed,
        "clips": config.clips,
        "classes": list(model.config.classes),
        "groups": dict(model.config.groups),
        "snr_db": found,
    }


def _at(config: SoundsConfig, model: SoundModel, snr_db: float) -> dict[str, Any]:
    """All scores at one ratio of sound to noise."""
    truth, guesses, rows, seconds = list[str](), list[str](), [], 0.0
    for label, samples, rate_hz in _clips(config, _KNOWN, snr_db):
        truth.append(label)
        began = time.perf_counter()
        guesses.append(best(model, samples, rate_hz))
        seconds += time.perf_counter() - began
        if config.baseline:
            rows.append(features(samples, rate_hz))
    actual, guessed = np.array(truth), np.array(guesses)
    known = np.isin(actual, model.config.classes)
    result = scores(model, actual[known], guessed[known], config.seed)
    result["ms_per_second"] = round(1000 * seconds / (len(truth) * CLIP_S), 2)
    result["strange"] = _strange(config, model, snr_db)
    result["enrolled"] = _enrolled(config, model, snr_db)
    if config.baseline:
        others = [(features(samples, rate_hz), label) for label, samples, rate_hz in _clips(config, _FIT, snr_db)]
        baseline = SpectralBaseline.fit([row for row, _ in others], [label for _, label in others])
        result["baseline"] = scores(model, actual, np.array(baseline.predict(rows)), config.seed)
    return result


def _clips(config: SoundsConfig, purpose: int, snr_db: float) -> Iterator[tuple[str, npt.NDArray[np.float32], int]]:
    """Recordings of every class: its name, samples and their rate."""
    for number in tqdm(range(config.clips), desc=f"{snr_db:g} dB", unit="round"):
        for index, label in enumerate(CLASSES):
            rng = np.random.default_rng([config.seed, purpose, number, index])
            samples, rate_hz, _ = example(label, rng, snr_db)
            yield label, samples, rate_hz


def best(model: SoundModel, samples: npt.ArrayLike, rate_hz: int) -> str:
    """The most probable class of a recording, or that it is unknown."""
    return next(iter(model.classify(samples, rate_hz)), UNKNOWN_SOUND)


def scores(model: SoundModel, actual: Labels, guessed: Labels, seed: int) -> dict[str, Any]:
    """F1 scores by class and by group with bootstrap intervals, recalls, and the share called unknown."""
    group = np.vectorize(model.config.group)
    return {
        "macro_f1": macro_f1(actual, guessed, seed),
        "macro_f1_groups": macro_f1(group(actual), group(guessed), seed),
        "called_unknown": share_of(guessed == UNKNOWN_SOUND),
        "recall": {label: share_of(guessed[actual == label] == label) for label in dict.fromkeys(actual.tolist())},
    }


def macro_f1(actual: Labels, guessed: Labels, seed: int) -> dict[str, float]:
    """Mean F1 score of the classes that there are, with its 95 % interval (bootstrap over recordings, by class)."""
    names = np.unique(actual)

    def f1(rows: npt.NDArray[np.intp]) -> float:
        true, said = actual[rows], guessed[rows]
        each = []
        for name in names:
            hits = int(((true == name) & (said == name)).sum())
            each.append(2 * hits / max(1, int((true == name).sum()) + int((said == name).sum())))
        return float(np.mean(each))

    rng = np.random.default_rng(seed)
    members = [np.flatnonzero(actual == name) for name in names]
    draws = [f1(np.concatenate([rng.choice(own, len(own)) for own in members])) for _ in range(RESAMPLES)]
    low, high = np.quantile(draws, (0.025, 0.975))
    return {"value": round(f1(np.arange(len(actual))), 4), "low": round(float(low), 4), "high": round(float(high), 4)}


def _strange(config: SoundsConfig, model: SoundModel, snr_db: float) -> dict[str, Any]:
    """Share of strange sounds that are called unknown, by kind and in all."""
    unknown = {
        name: [
            best(model, stranger(name, np.random.default_rng([config.seed, _STRANGE, number, index]), snr_db), RATE_HZ)
            == UNKNOWN_SOUND
            for number in range(config.clips)
        ]
        for index, name in enumerate(STRANGERS)
    }
    return {
        "all": share_of(each for said in unknown.values() for each in said),
        "fresh": share_of(each for name in FRESH for each in unknown[name]),
        "kinds": {name: share_of(said) for name, said in unknown.items()},
    }


def _enrolled(config: SoundsConfig, model: SoundModel, snr_db: float) -> dict[str, Any]:
    """Strange sounds that were enrolled, by other recordings of them, and how often others are taken for one."""
    names, draw, shares = list(STRANGERS), np.random.default_rng([config.seed, _ENROL]), list[bool]()
    actual, guessed = list[str](), list[str]()
    for turn in range(ROUNDS):
        chosen, mine = [names[i] for i in draw.permutation(len(names))[:ENROLLED]], model
        for name in chosen:
            rngs = [np.random.default_rng([config.seed, _ENROL, turn, i, names.index(name)]) for i in range(RECORDINGS)]
            mine = mine.enrol(name, [stranger(name, rng, 20.0) for rng in rngs], RATE_HZ)
        for number in range(max(1, config.clips // ROUNDS)):
            seed = [config.seed, _AGAIN, turn, number]
            for index, name in enumerate(names):
                said = best(mine, stranger(name, np.random.default_rng([*seed, index]), snr_db), RATE_HZ)
                if name in chosen:
                    actual.append(name)
                    guessed.append(said)
                else:
                    shares.append(said in chosen)
            for index, label in enumerate(CLASSES):
                samples, rate_hz, _ = example(label, np.random.default_rng([*seed, 100 + index]), snr_db)
                shares.append(best(mine, samples, rate_hz) in chosen)
    f1 = macro_f1(np.array(actual), np.array(guessed), config.seed)
    return {"macro_f1": f1, "others_called_enrolled": share_of(shares)}


def table_of(metrics: dict[str, Any]) -> str:
    """The contents of metrics.json as Markdown."""
    head = ["noise", "macro-F1", "macro-F1, groups", "known called unknown", "strange called unknown", "fresh ones"]
    rows: list[Sequence[object]] = []
    for ratio, found in metrics["snr_db"].items():
        for name, each in (("sound model", found), ("spectral baseline", found.get("baseline"))):
            if each is not None:
                strange = [
                    percent_of(each["strange"][kind], 1) if "strange" in each else "-" for kind in ("all", "fresh")
                ]
                unknown = percent_of(each["called_unknown"], 1)
                f1 = [with_interval(each["macro_f1"]), with_interval(each["macro_f1_groups"])]
                rows.append([f"{ratio} dB", name, *f1, unknown, *strange])
    parts = [markdown_table([head[0], "recognised by", *head[1:]], rows)]
    head = ["noise", "macro-F1 of enrolled sounds", "others called enrolled"]
    own = {ratio: each["enrolled"] for ratio, each in metrics["snr_db"].items()}
    parts.append(markdown_table(head, [
        [f"{ratio} dB", with_interval(each["macro_f1"]), percent_of(each["others_called_enrolled"], 1)]
        for ratio, each in own.items()
    ]))  # fmt: skip
    return document(*parts)


MEASUREMENT = Measurement(
    SoundsConfig,
    measure,
    table_of,
    check=lambda config: SoundModel.load(config.checkpoint),
    least={"clips": 2, "snr_db": -200},
    checkpoint=str(SHIPPED),
)


if __name__ == "__main__":
    run(MEASUREMENT)
