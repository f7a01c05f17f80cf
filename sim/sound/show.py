"""`python -m sim.sound.show`: example recordings, their spectrograms, and what a spectral baseline recognises."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from conf.command import run
from nsrecover.errors import InvalidConfiguration
from nsrecover.records.wav import wav_bytes
from nsrecover.util.atomic_write import atomic_write_bytes
from sim.common.folder import write_json
from sim.common.statistics import wilson_interval
from sim.common.tables import markdown_table
from sim.sound.baseline import SpectralBaseline, features, log_spectrogram
from sim.sound.bodies import Body, Material, Shape
from sim.sound.events import SoundEvent, SoundKind
from sim.sound.examples import BODIES, CLASSES, CLIP_S, SUPPORTS, example
from sim.sound.microphone import Microphone, record
from sim.sound.room import Room

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SCENE_S = 14.0
KITCHEN = Room((-0.6, -2.2, 0.0), (3.4, 2.2, 2.5), 0.5)
ENOUGH = 0.6
"""Share from which on a class counts as recognised."""
GROUPS: tuple[frozenset[str], ...] = tuple(
    frozenset(f"{SoundKind.IMPACT} {material}" for material in materials)
    for materials in (
        (Material.METAL, Material.CERAMIC, Material.GLASS),
        (Material.WOOD, Material.PLASTIC),
        (Material.FOOD, Material.SHELL),
    )
)
"""Impacts that sound alike: people tell steel and glass from wood and plastic almost always, but confuse the members of
each pair (Giordano and McAdams 2006, "Material identification of real impact sounds")."""
_BANDS = 64
_COLUMNS = 5


@dataclass
class SoundConfig:
    """Write example sounds of every class and of a kitchen, with spectrograms, and fit a spectral baseline.

      python -m sim.sound.show                    examples and baseline; a minute
      python -m sim.sound.show clips=0 out=DIR    only the examples
      python -m sim.sound.show snr_db=0           as loud as the noise

    Writes CLASS.wav with its event (CLASS.json), scene.wav, the pictures classes.jpg and scene.jpg, metrics.json and
    table.md to out=DIR. Recordings are made louder for listening.

    Attributes:
        seed: another seed gives other examples.
        clips: number of examples of each class that a spectral baseline is fitted to, and measured on; 0 leaves it
            out.
        snr_db: loudness of the examples over noise and background, decibels; as it comes if null.
        out: output folder.
    """

    seed: int = 0
    clips: int = 40
    snr_db: float | None = 20.0
    out: str = "outputs/sound"


def scene() -> list[SoundEvent]:
    """A short stay in a kitchen: water is fetched and boiled, a mug and a glass fall, an egg is fried."""
    pot, glass, mug = BODIES[Material.METAL][0], BODIES[Material.GLASS][0], BODIES[Material.CERAMIC][0]
    floor = Body("floor", Material.CERAMIC, Shape.PLATE, (3.0, 3.0, 0.02), thickness_m=0.02)
    top, sink, stove, shelf = SUPPORTS[0], (1.2, 1.4, 0.9), (1.4, -0.3, 0.9), (1.5, -1.4, 1.2)
    kind = SoundKind
    return [
        SoundEvent(kind.FRIDGE_HUM, 0.0, math.inf, 1.0, (), (2.8, -1.8, 0.4)),
        SoundEvent(kind.BASE_MOTOR, 0.3, 1.2, 0.8, (), (0.3, 0.0, 0.2)),
        SoundEvent(kind.CLICK, 1.7, position_m=sink),
        SoundEvent(kind.RUNNING_WATER, 1.8, 2.0, 1.0, (), sink),
        SoundEvent(kind.ARM_MOTOR, 4.0, 1.2, 0.6, (), (0.4, 0.0, 0.6)),
        SoundEvent(kind.IMPACT, 5.2, 0.0, pot.mass_kg * 0.3, (pot, top), stove),
        SoundEvent(kind.BOILING, 5.8, 4.0, 1.0, (pot,), stove),
        SoundEvent(kind.MICROWAVE_DING, 6.6, position_m=shelf),
        SoundEvent(kind.IMPACT, 7.6, 0.0, mug.mass_kg * 1.2, (mug, top), (1.2, 0.5, 0.9)),
        SoundEvent(kind.EGG_CRACK, 8.6, position_m=stove),
        SoundEvent(kind.SIZZLING, 9.0, 4.5, 1.0, (), stove),
        SoundEvent(kind.SLIDE, 10.0, 0.8, 0.5, (mug, top), (1.2, 0.5, 0.9)),
        SoundEvent(kind.SHATTER, 11.6, 0.0, glass.mass_kg * 4.0, (glass, floor), (0.9, 0.3, 0.0)),
        SoundEvent(kind.FRIDGE_DOOR, 13.0, position_m=(2.6, -1.6, 1.0)),
    ]


def show(config: SoundConfig) -> dict[str, Any]:
    """Write examples, pictures and the table of the baseline.

    Args:
        config: the settings.

    Returns:
        The contents of metrics.json.

    Raises:
        InvalidConfiguration: a setting is out of its range.
    """
    if config.clips < 0 or config.clips == 1 or config.seed < 0:
        raise InvalidConfiguration(
            f"expected clips of 0 or at least 2, and a seed of at least 0, found clips={config.clips}, "
            f"seed={config.seed}"
        )
    out = Path(config.out)
    out.mkdir(parents=True, exist_ok=True)
    clips, durations = {}, []
    for number, label in enumerate(CLASSES):
        begin = time.process_time()
        samples, rate_hz, event = example(label, np.random.default_rng([config.seed, number]), config.snr_db)
        durations.append((time.process_time() - begin) / CLIP_S)
        clips[label] = (samples, rate_hz)
        name = label.replace(" ", "_")
        atomic_write_bytes(out / f"{name}.wav", wav_bytes(_audible(samples), rate_hz))
        write_json(out / f"{name}.json", event.to_dict())
    draw_classes(clips, out / "classes.jpg")
    events = scene()
    samples, rate_hz = record(events, 0.0, SCENE_S, Microphone((0.5, 0.0, 1.1), KITCHEN, seed=config.seed))
    atomic_write_bytes(out / "scene.wav", wav_bytes(_audible(samples), rate_hz))
    write_json(out / "scene.json", [event.to_dict() for event in events])
    draw_scene(events, samples, rate_hz, out / "scene.jpg")
    metrics: dict[str, Any] = {
        "seed": config.seed,
        "snr_db": config.snr_db,
        "classes": len(CLASSES),
        "ms_per_second": round(1000 * float(np.median(durations)), 2),
        "slowest_ms_per_second": round(1000 * max(durations), 2),
    }
    if config.clips:
        found = recognised(config.clips, config.seed, config.snr_db)
        shares = [each["share"] for each in found.values()]
        grouped = [each["group"] for each in found.values() if "group" in each]
        metrics |= {
            "clips": config.clips,
            "recognised": found,
            "mean": round(float(np.mean(shares)), 4),
            "enough": sum(share >= ENOUGH for share in shares),
            "all": sum(share == 1.0 for share in shares),
            "groups": round(float(np.mean(grouped)), 4),
        }
    table = table_of(metrics)
    print(table)
    atomic_write_bytes(out / "table.md", (table + "\n").encode())
    write_json(out / "metrics.json", metrics)
    write_json(out / "config.json", asdict(config))
    return metrics


def table_of(metrics: Mapping[str, Any]) -> str:
    """The contents of metrics.json as Markdown."""
    ratio = "as loud as it comes" if metrics["snr_db"] is None else f"{metrics['snr_db']:g} dB over the noise"
    text = f"{metrics['classes']} classes, {ratio}; a second of sound takes {metrics['ms_per_second']:g} ms (median)."
    if "recognised" not in metrics:
        return text
    clips, rows = metrics["clips"], []
    for label, each in metrics["recognised"].items():
        low, high = wilson_interval(round(each["share"] * clips), clips)
        interval = f"{100 * low:.0f} to {100 * high:.0f} %"
        rows.append([label, f"{100 * each['share']:.0f} %", interval, each["mostly"]])
    return (
        f"{text} A spectral baseline recognises {100 * metrics['mean']:.1f} % of {clips} new examples of each class, "
        f"on average; {metrics['enough']} classes in at least {100 * ENOUGH:.0f} %, {metrics['all']} in 100 %. Of the "
        f"impacts, {100 * metrics['groups']:.0f} % are put into the right group of materials: metal, ceramic and "
        "glass; wood and plastic; food and shell.\n\n"
        f"{markdown_table(['class', 'recognised', '95 % interval', 'others mostly taken for'], rows)}"
    )


def recognised(clips: int, seed: int, snr_db: float | None) -> dict[str, dict[str, Any]]:
    """How much of each class a spectral baseline recognises.

    Args:
        clips: examples of each class to fit it to, and as many others to measure it on.
        seed: of the examples.
        snr_db: ratio of events to noise; None: as it comes.

    Returns:
        For every class the `share` recognised, and the class for which the others are `mostly` taken; for impacts the
        share that is put into the right `group`, too.
    """
    found: dict[str, tuple[list[npt.NDArray[np.float64]], list[str]]] = {"fit": ([], []), "measure": ([], [])}
    for number in tqdm(range(clips), desc="baseline", unit="round"):
        for index, label in enumerate(CLASSES):
            for part, (rows, labels) in enumerate(found.values()):
                rng = np.random.default_rng([seed, 1 + part, number, index])
                samples, rate_hz, _ = example(label, rng, snr_db)
                rows.append(features(samples, rate_hz))
                labels.append(label)
    baseline = SpectralBaseline.fit(*found["fit"])
    rows, labels = found["measure"]
    guesses, truth = np.array(baseline.predict(rows)), np.array(labels)
    result: dict[str, dict[str, Any]] = {}
    for label in CLASSES:
        own = guesses[truth == label]
        others, counts = np.unique(own[own != label], return_counts=True)
        mostly = str(others[counts.argmax()]) if len(others) else ""
        result[label] = {"share": round(float((own == label).mean()), 4), "mostly": mostly}
        for group in GROUPS:
            if label in group:
                result[label]["group"] = round(float(np.isin(own, list(group)).mean()), 4)
    return result


def draw_classes(clips: Mapping[str, tuple[npt.NDArray[np.float32], int]], path: Path) -> None:
    """Draw the spectrograms of all classes into one picture."""
    rows = math.ceil(len(clips) / _COLUMNS)
    figure, axes = plt.subplots(rows, _COLUMNS, figsize=(2.6 * _COLUMNS, 1.6 * rows), squeeze=False)
    for axis in axes.flat:
        axis.set_axis_off()
    for axis, (label, (samples, rate_hz)) in zip(axes.flat, clips.items(), strict=False):
        axis.imshow(_picture(samples, rate_hz), origin="lower", aspect="auto", cmap="magma", vmin=-60, vmax=0)
        axis.set_title(label, fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=90, pil_kwargs={"quality": 80})
    plt.close(figure)


def draw_scene(events: Sequence[SoundEvent], samples: npt.NDArray[np.float32], rate_hz: int, path: Path) -> None:
    """Draw the spectrogram of a recording over a line for each event."""
    seconds = len(samples) / rate_hz
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(11, 6), sharex=True, height_ratios=[2, 1.4])
    picture = _picture(samples, rate_hz)
    upper.imshow(picture, origin="lower", aspect="auto", cmap="magma", vmin=-70, vmax=0, extent=(0, seconds, 0, _BANDS))
    upper.set(ylabel="mel band, 60 Hz to 8 kHz", yticks=[])
    for row, event in enumerate(sorted(events, key=lambda event: -event.start_s)):
        end = min(seconds, max(event.end_s, event.start_s + 0.08))
        lower.barh(row, end - event.start_s, left=event.start_s, color="tab:orange")
        lower.text(end + 0.05, row, event.label, fontsize=7, va="center")
    lower.set(xlabel="seconds", yticks=[], xlim=(0, seconds))
    figure.tight_layout()
    figure.savefig(path, dpi=90, pil_kwargs={"quality": 80})
    plt.close(figure)


def _picture(samples: npt.NDArray[np.float32], rate_hz: int) -> npt.NDArray[np.float64]:
    levels = log_spectrogram(samples, rate_hz, _BANDS)
    return np.asarray(levels.T - levels.max())


def _audible(samples: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """With a peak of 0.5, for listening: recordings have the headroom of a microphone."""
    return np.asarray(samples * (0.5 / max(float(np.abs(samples).max()), 1e-6)), np.float32)


if __name__ == "__main__":
    run("sound", SoundConfig, lambda config: print(f"written to {show(config) and config.out}"))
