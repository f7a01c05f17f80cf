"""Labelled recordings for training: one folder for each class, and nothing is made twice."""

import json
from pathlib import Path

import numpy as np

from nsrecover.records.wav import read_wav
from sim.sound.clips import BACKGROUND, GROUPS, clips
from sim.sound.examples import CLASSES, CLIP_S


def test_there_is_a_folder_for_each_class_and_the_background(tmp_path: Path) -> None:
    clips(count=1, background=1, out=tmp_path)
    files = sorted(tmp_path.rglob("*.wav"))
    assert {path.parent.name for path in files} == {*CLASSES, BACKGROUND}
    samples, rate_hz = read_wav(files[0].read_bytes())
    assert len(samples) == CLIP_S * rate_hz
    assert 0.49 < np.abs(samples).max() <= 0.5
    groups = json.loads((tmp_path / "clips.json").read_text())["groups"]
    assert set(groups) == {label for labels in GROUPS.values() for label in labels} <= set(CLASSES)
    before = {path: path.stat().st_mtime_ns for path in files}
    clips(count=1, background=2, out=tmp_path)
    assert {path: path.stat().st_mtime_ns for path in files} == before
    assert len(list(tmp_path.rglob("*.wav"))) == len(files) + 1
