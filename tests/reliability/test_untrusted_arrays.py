"""Arrays of others: headers are read before bodies, and HDF5 files are looked at by another process first."""

import json
import resource
import sys
from dataclasses import replace
from pathlib import Path

import h5py
import pytest
from backports import zstd

from nsrecover.errors import InvalidRecording
from nsrecover.records import arrays, hdf5_probe, recording
from nsrecover.records.archive import Archive
from nsrecover.records.bags import opening
from nsrecover.records.bags.reading import read_bag
from tests.reliability.test_file_faults import _archive, _npz, _with_colours


def read_archive(path: Path) -> None:
    with Archive(path) as archive:
        for number in archive.episodes:
            archive[number], archive.notes(number), archive.observation(number, 0)


def test_arrays_of_a_wrong_shape_are_not_unpacked(tmp_path: Path) -> None:
    """300 megabytes in 300 kilobytes; the colour does not fit to depth and masks."""
    path = _npz(tmp_path)
    _with_colours(path, (2, 1, 7_000, 7_000, 3), (bytes(49_000_000) for _ in range(6)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(InvalidRecording, match="of shape"):
        recording.load(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150_000


def test_a_small_file_that_unpacks_to_much_is_refused_for_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = recording.example()
    blank = [replace(each, rgb=0 * each.rgb, depth_m=0 * each.depth_m) for each in seen.observations]
    blank = [replace(each, instances=0 * each.instances) for each in blank]
    recording.save(replace(seen, observations=tuple(blank)), tmp_path / "blank.npz", check_sensors=False)
    monkeypatch.setattr(arrays, "BOMB_BYTES", 1_000)
    monkeypatch.setattr(arrays, "BOMB_TIMES", 20)
    with pytest.raises(InvalidRecording, match="at most 20 times their size on disk"):
        recording.load(tmp_path / "blank.npz")


def test_an_archive_whose_reading_does_not_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library for HDF5 loops in one call, which no signal interrupts: here a process that never answers."""
    path = _archive(tmp_path)
    silent = "import time; print(flush=True); time.sleep(1000)"
    start = hdf5_probe.subprocess.Popen
    monkeypatch.setattr(hdf5_probe, "LIMIT_S", 0.3)
    monkeypatch.setattr(hdf5_probe, "_processes", {})
    monkeypatch.setattr(
        hdf5_probe.subprocess, "Popen", lambda command, **given: start([sys.executable, "-c", silent], **given)
    )
    with pytest.raises(InvalidRecording, match="does not end within"):
        Archive(path)
    monkeypatch.undo()
    read_archive(path)
    with Archive(path, trusted=True) as archive:
        assert len(archive) == 1


def test_a_compressed_bag_is_not_unpacked_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "BOMB_BYTES", 1_000_000)
    path = tmp_path / "run.mcap.zstd"
    path.write_bytes(zstd.compress(bytes(20_000_000)))
    with pytest.raises(InvalidRecording, match="unpacks to 200 times"):
        read_bag(path)


def test_notes_of_an_archive_are_read_up_to_a_length(tmp_path: Path) -> None:
    """HDF5 says how long a text is only by reading it."""
    path = _archive(tmp_path)
    longest, any_length = hdf5_probe.LONGEST_TEXT, h5py.string_dtype()
    for characters, fits, kind in (
        (longest - 20, True, any_length),
        (longest + 1, False, any_length),
        (120_000_000, False, any_length),
        (5 * longest, False, h5py.string_dtype(length=5 * longest + 20)),
    ):
        with h5py.File(path, "a") as file:
            del file["episodes/000000/notes"]
            notes = json.dumps({"text": "x" * characters})
            file.create_dataset("episodes/000000/notes", data=notes, dtype=kind)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if fits:
            with Archive(path) as archive:
                assert len(archive.notes(0)["text"]) == characters
        else:
            with pytest.raises(InvalidRecording, match="shorten the notes"), Archive(path) as archive:
                archive.notes(0)
        del notes
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 130_000
