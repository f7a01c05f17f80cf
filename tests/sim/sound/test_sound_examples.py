"""Examples of every class, the spectral baseline, and the command that shows them."""

import io
import json
import math
import wave

import numpy as np
import pytest

from nsrecover.errors import InvalidConfiguration
from nsrecover.records.wav import read_wav
from sim.sound.baseline import SpectralBaseline, features, log_spectrogram
from sim.sound.bodies import RATE_HZ
from sim.sound.events import SoundEvent
from sim.sound.examples import CLASSES, CLIP_S, example, example_event
from sim.sound.show import SCENE_S, SoundConfig, scene, show, table_of
from tests.commands import ROOT, run


@pytest.mark.parametrize("label", CLASSES)
def test_an_example_has_its_class_and_is_heard(label):
    for seed in range(3):
        samples, rate_hz, event = example(label, np.random.default_rng(seed), 20.0)
        assert event.label == label
        assert len(samples) == CLIP_S * rate_hz
        before, after = samples[: int(event.start_s * rate_hz)], samples[int(event.start_s * rate_hz) :]
        assert np.abs(after).max() > 2 * np.abs(before).max()
        assert np.abs(samples).max() < 1.0
        assert np.array_equal(samples, example(label, np.random.default_rng(seed), 20.0)[0])


def test_an_unknown_class_is_refused():
    with pytest.raises(InvalidConfiguration, match=r"found 'impact glas'\. Did you mean 'impact glass'"):
        example_event("impact glas", np.random.default_rng(0))


def test_the_spectrogram_shows_a_tone_in_its_band():
    tone = np.sin(2 * math.pi * 1000 * np.arange(RATE_HZ) / RATE_HZ)
    levels = log_spectrogram(tone, RATE_HZ, 40)
    mel = 2595 * np.log10(1 + np.array([60.0, 1000.0, 8000.0]) / 700)
    band = 41 * (mel[1] - mel[0]) / (mel[2] - mel[0]) - 1
    assert abs(int(levels.mean(axis=0).argmax()) - band) <= 1
    with pytest.raises(InvalidConfiguration, match="at least 512 samples"):
        log_spectrogram(tone[:100], RATE_HZ)


def test_the_baseline_separates_what_differs_and_refuses_too_few():
    rng = np.random.default_rng(0)
    found = np.concatenate([rng.normal(0, 1, (50, 5)), rng.normal(1.5, 1, (50, 5))])
    labels = ["low"] * 50 + ["high"] * 50
    guesses = SpectralBaseline.fit(found[::2], labels[::2]).predict(found[1::2])
    assert np.mean(np.array(guesses) == np.array(labels[1::2])) > 0.85
    with pytest.raises(InvalidConfiguration, match="at least two examples of every class"):
        SpectralBaseline.fit(found[:2], ["low", "high"])


def test_appliances_are_recognised_from_their_spectra():
    kinds = ["running_water", "sizzling", "coffee_machine", "tv", "microwave_beep"]
    found = {
        part: [
            (features(*example(label, np.random.default_rng([part, seed]), 20.0)[:2]), label)
            for label in kinds
            for seed in range(8)
        ]
        for part in (1, 2)
    }
    baseline = SpectralBaseline.fit(*zip(*found[1], strict=True))
    guesses = baseline.predict([row for row, _ in found[2]])
    assert np.mean([guess == label for guess, (_, label) in zip(guesses, found[2], strict=True)]) > 0.85


def test_the_command_writes_sounds_pictures_and_numbers(tmp_path, capsys):
    metrics = show(SoundConfig(clips=2, out=str(tmp_path / "shown")))
    out = tmp_path / "shown"
    for label in CLASSES:
        name = label.replace(" ", "_")
        samples, rate_hz = read_wav((out / f"{name}.wav").read_bytes())
        assert (len(samples), rate_hz) == (CLIP_S * RATE_HZ, RATE_HZ)
        assert np.abs(samples).max() == pytest.approx(0.5, abs=0.01)
        assert SoundEvent.from_dict(json.loads((out / f"{name}.json").read_text())).label == label
    with wave.open(io.BytesIO((out / "scene.wav").read_bytes())) as file:
        assert file.getnframes() == SCENE_S * RATE_HZ
    assert [SoundEvent.from_dict(each) for each in json.loads((out / "scene.json").read_text())] == scene()
    for picture in ("classes.jpg", "scene.jpg"):
        assert (out / picture).read_bytes().startswith(b"\xff\xd8")
    assert json.loads((out / "metrics.json").read_text()) == metrics
    assert table_of(metrics) in capsys.readouterr().out
    assert 0.0 < metrics["mean"] <= 1.0


def test_a_wrong_setting_is_one_line():
    done = run("sim.sound.show", "clips=1")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "expected clips of 0 or at least 2" in done.err


@pytest.mark.parametrize("name", ["sound", "sound_0db"])
def test_the_page_shows_the_committed_results(name):
    metrics = json.loads((ROOT / "results" / name / "metrics.json").read_text())
    assert f"{100 * metrics['mean']:.1f} %" in (ROOT / "docs/results/household.md").read_text(encoding="utf-8")
    assert set(metrics["recognised"]) == set(CLASSES)
