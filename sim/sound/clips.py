"""`python -m sim.sound.clips`: labelled recordings for training a sound model, a folder of WAV files for each class."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tqdm import tqdm

from conf.command import run_function
from nsrecover.errors import InvalidConfiguration
from nsrecover.records.wav import wav_bytes
from nsrecover.util.atomic_write import atomic_write_bytes
from sim.common.folder import write_json
from sim.sound.background import Background
from sim.sound.examples import CLASSES, CLIP_S, example
from sim.sound.microphone import Microphone, record

BACKGROUND = "background"
"""Folder of recordings without an event: noise, and sounds from elsewhere."""
QUIET_DB = 35.0
"""Ratio of events to noise; training adds noise of its own."""
_PEAK = 0.5
GROUPS = {
    "hard impact": ("impact metal", "impact ceramic", "impact glass"),
    "dull impact": ("impact wood", "impact plastic"),
}
"""Materials that ring alike, depending on size, thickness and support (see `sim.sound.bodies`). People tell the groups
apart almost always and confuse their members (Giordano and McAdams 2006, "Material identification of real impact
sounds")."""


def clips(
    count: int = 260,
    seed: int = 1,
    background: int = 600,
    out: Path = Path("data/sounds"),
) -> None:
    """Write random recordings of every class of the simulator, and of its background.

    Files that are there already are not made again, so that an interrupted run goes on.

    Args:
        count: recordings of each class.
        seed: decides everything.
        background: recordings without an event.
        out: folder; OUT/CLASS/00012.wav.
    """
    if min(count, seed, background) < 0:
        raise InvalidConfiguration(f"expected numbers of at least 0, found {count}, {seed} and {background}")
    for number in tqdm(range(count), desc="sounds", unit="round"):
        for index, label in enumerate(CLASSES):
            path = Path(out) / label / f"{number:05d}.wav"
            if not path.exists():
                rng = np.random.default_rng([seed, 41, index, number])
                samples, rate_hz, _ = example(label, rng, QUIET_DB)
                _write(path, samples, rate_hz)
    for number in tqdm(range(background), desc="background", unit="clip"):
        path = Path(out) / BACKGROUND / f"{number:05d}.wav"
        if not path.exists():
            rng = np.random.default_rng([seed, 42, number])
            busy = Background(float(rng.uniform(25.0, 35.0)), float(rng.choice([0.0, 20.0, 50.0])))
            microphone = Microphone(
                background=busy, tilt_db=float(rng.uniform(-2.0, 2.0)), seed=int(rng.integers(2**31))
            )
            start_s = float(rng.uniform(0.0, 60.0))
            _write(path, *record([], start_s, start_s + CLIP_S, microphone))
    groups = {label: group for group, labels in GROUPS.items() for label in labels}
    about = {"count": count, "background": background, "seed": seed, "groups": groups}
    write_json(Path(out) / "clips.json", about)


def _write(path: Path, samples: np.ndarray[tuple[int], np.dtype[np.float32]], rate_hz: int) -> None:
    """Write a recording; it is made louder, so that 16 bits do not add noise."""
    atomic_write_bytes(path, wav_bytes(samples * (_PEAK / max(float(np.abs(samples).max()), 1e-6)), rate_hz))


if __name__ == "__main__":
    run_function(clips)
