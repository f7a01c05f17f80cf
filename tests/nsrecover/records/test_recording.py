"""Recordings and archives are read as they were written, or refused with a clear error."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nsrecover.core import Action, Plan
from nsrecover.errors import InvalidRecording
from nsrecover.records import recording
from nsrecover.records.archive import Archive, write_archive
from nsrecover.records.recording import Recording, load
from tests.nsrecover.records.noise import PLAN, assert_same, changed, heard, observation, recorded

save = partial(recording.save, check_sensors=False)  # the images are noise


def load_first(path: Path) -> Recording:
    with Archive(path) as archive:
        return archive[0]


FORMATS: dict[str, tuple[Callable[[Recording, Path], None], Callable[[Path], Recording]]] = {
    "npz": (save, load),
    "h5": (lambda each, path: write_archive(path, [each]), load_first),
}
KEPT = {
    "as it is": recorded(),
    "audio of different lengths": heard(),
    "audio of 16 bits": heard(1, (7, 65_536, 1)),
    "large numbers": changed(recorded(), at_0={"instances": np.full((2, 12, 16), 70_000, np.int32)}),
    "numbers of one view": changed(recorded(), at_1={"shared_ids": False}),
}


@pytest.mark.parametrize("what", KEPT)
@pytest.mark.parametrize("kind", FORMATS)
def test_what_is_saved_is_read_back_and_the_same_gives_the_same_bytes(kind: str, what: str, tmp_path: Path) -> None:
    write, read = FORMATS[kind]
    for name in ("new/a", "new/b"):
        write(KEPT[what], tmp_path / f"{name}.{kind}")
    assert_same(read(tmp_path / f"new/a.{kind}"), KEPT[what])
    if kind == "npz":
        assert (tmp_path / "new/a.npz").read_bytes() == (tmp_path / "new/b.npz").read_bytes()
        with np.load(tmp_path / "new/a.npz") as arrays:
            assert ("audio" in arrays) == what.startswith("audio")
            assert ("shared_ids" in arrays) == (what == "numbers of one view")


def test_depth_beyond_the_range_is_no_reading(tmp_path: Path) -> None:
    save(changed(recorded(), at_0={"depth_m": np.full((2, 12, 16), 7.0, np.float32)}), tmp_path / "far.npz")
    assert not load(tmp_path / "far.npz").observations[0].depth_m.any()


@pytest.mark.parametrize("kind", FORMATS)
def test_a_failed_write_leaves_nothing_new_and_the_old_file_whole(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, path = FORMATS[kind][0], tmp_path / f"episode.{kind}"
    write(recorded(), path)
    before = path.read_bytes()
    with pytest.raises(InvalidRecording, match="notes that JSON can hold"):
        write(replace(recorded(), notes={"rng": object()}), path)
    with pytest.raises(InvalidRecording, match="without commas"):
        write(replace(recorded(), plan=Plan((Action("top", ("red, small cube", "blåe die")), PLAN[1]))), path)
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write(recorded(), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (recorded().observations[:2], "expected 3 observations for 2 actions, found 2"),
        ((observation(0, height=10), *recorded().observations[1:]), "same views and image size"),
    ],
)
def test_observations_that_do_not_fit_are_refused(seen: tuple[Any, ...], said: str) -> None:
    with pytest.raises(InvalidRecording, match=said):
        replace(recorded(), observations=seen)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": np.array(99)}, "expected schema version 1 .* found 99"),
        ({"schema": None}, "another kind of numpy file"),
        ({"depth": None}, "expected the arrays depth"),
        ({"depth": np.zeros((3, 2, 12, 15), np.uint16)}, r"expected depth .* \(3, 2, 12, 16\) .* \(3, 2, 12, 15\)"),
        ({"time_s": np.zeros(2)}, "expected time_s"),
        ({"plan": np.array(["top(a, b)"])}, "expected targets .* for 1 actions"),
        ({"notes": np.array("{")}, "record it again"),
        ({"notes": np.array({"a": 1}, dtype=object)}, "of kind O"),
        ({"audio_rate_hz": None}, "all or none of the arrays audio, audio_samples, audio_rate_hz"),
        ({"audio": np.zeros((2, 1000), np.int16)}, r"audio .* of shape \(3, 1000\)"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    save(heard(), tmp_path / "whole.npz")
    with np.load(tmp_path / "whole.npz") as archive:
        arrays = {name: array for name, array in (dict(archive) | change).items() if array is not None}
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(InvalidRecording, match=message):
        load(tmp_path / "bad.npz")


def test_places_and_examples_that_are_not_there_are_named(tmp_path: Path) -> None:
    for place, said in ((tmp_path / "nowhere.npz", r"nowhere\.npz, found no file"), (tmp_path, "found a folder")):
        with pytest.raises(InvalidRecording, match=said):
            load(place)
    with pytest.raises(InvalidRecording, match=r"found 'colapse'.*'collapse'"):
        recording.example("colapse")
