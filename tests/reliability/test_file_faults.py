"""Files that are cut off, damaged, of another kind or too large; disks that take nothing; two writers; signals."""

import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import h5py
import numpy as np
import pytest

from eval.checks.fuzz.targets import read_any_archive, small
from nsrecover import RecoveryAgent, geometric
from nsrecover.errors import CannotWrite, InvalidCheckpoint, InvalidRecording
from nsrecover.models.bundle import Bundle
from nsrecover.models.checkpoint import CHECKPOINTS
from nsrecover.models.household import HouseholdModels
from nsrecover.records import episode_log, recording
from nsrecover.records.archive import Archive, write_archive
from nsrecover.util.atomic_write import atomic_write, atomic_write_bytes
from tests.commands import ROOT, run
from tests.nsrecover.test_agent_without_cameras import PLAN, Blocks, as_boxes, fall

Read = Callable[[Path], object]


def _npz(folder: Path) -> Path:
    recording.save(small(), folder / "run.npz", check_sensors=False)
    return folder / "run.npz"


def _with_colours(path: Path, shape: tuple[int, ...], body: Iterable[bytes] = ()) -> None:
    """Give a recording another header of its colours, and what follows it."""
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist() if name != "rgb.npy"}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name, data in members.items():
            new.writestr(name, data)
        with new.open("rgb.npy", "w", force_zip64=True) as file:
            np.lib.format.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": shape})
            for part in body:
                file.write(part)


def _archive(folder: Path) -> Path:
    write_archive(folder / "runs.h5", [small()])
    return folder / "runs.h5"


def _log(folder: Path) -> Path:
    episode_log.save(RecoveryAgent(geometric(), Blocks(as_boxes, {1: fall})).run(PLAN), folder / "episode.json")
    return folder / "episode.json"


def _checkpoint(name: str, file: str, folder: Path) -> Path:
    shutil.copytree(CHECKPOINTS / name, folder / name)
    return folder / name / file


@pytest.mark.parametrize(
    ("name", "file", "load"),
    [
        ("tabletop", "model.safetensors", Bundle.load),
        ("household", "sounds/model.safetensors", HouseholdModels.load),
        ("household", "states/model.safetensors", HouseholdModels.load),
    ],
)
def test_one_wrong_bit_in_the_weights_is_noticed(name: str, file: str, load: Read, tmp_path: Path) -> None:
    path = _checkpoint(name, file, tmp_path)
    load(tmp_path / name)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(InvalidCheckpoint, match="by their hash"):
        load(tmp_path / name)


def test_an_archive_that_points_to_another_file_is_not_followed(tmp_path: Path) -> None:
    secret, path = _archive(tmp_path), tmp_path / "linked.h5"
    (tmp_path / "secret.raw").write_bytes(bytes(10_000_000))
    with h5py.File(secret) as other:
        shape, kind = other["episodes/000000/rgb"].shape, other["episodes/000000/rgb"].dtype
    for link in ("external link", "external data", "whole episode"):
        shutil.copy(secret, path)
        with h5py.File(path, "a") as file:
            if link == "whole episode":
                del file["episodes/000000"]
                file["episodes/000000"] = h5py.ExternalLink(secret, "/episodes/000000")
            else:
                del file["episodes/000000/rgb"]
                if link == "external link":
                    file["episodes/000000/rgb"] = h5py.ExternalLink(secret, "/episodes/000000/rgb")
                else:
                    place = [(str(tmp_path / "secret.raw"), 0, h5py.h5f.UNLIMITED)]
                    file["episodes/000000"].create_dataset("rgb", shape, kind, external=place)
        with pytest.raises(InvalidRecording, match="inside the file"):
            read_any_archive(path)


def test_arrays_that_unpack_to_more_than_a_machine_has_are_not_unpacked(tmp_path: Path) -> None:
    path = _archive(tmp_path)
    with h5py.File(path, "a") as file:
        del file["episodes/000000/rgb"]
        file["episodes/000000"].create_dataset("rgb", (2, 1, 70_000, 70_000, 3), "u1", chunks=(1, 1, 100, 100, 3))
    with pytest.raises(InvalidRecording, match="bytes of arrays"), Archive(path) as archive:
        archive[0]
    path = _npz(tmp_path)
    _with_colours(path, (2, 1, 70_000, 70_000, 3))
    with pytest.raises(InvalidRecording, match="of shape"):
        recording.load(path)


def test_an_episode_beyond_the_limit_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _npz(tmp_path)
    monkeypatch.setattr(recording, "MAX_BYTES", 1000)
    monkeypatch.setattr("nsrecover.records.arrays.MAX_BYTES", 1000)
    with pytest.raises(InvalidRecording, match="bytes of arrays"):
        recording.load(path)


@pytest.mark.parametrize("size", [70_000_000, 5_000_000_000])
def test_a_log_that_is_too_large_is_not_read(size: int, tmp_path: Path) -> None:
    path = tmp_path / "episode.json"
    with path.open("wb") as file:
        file.truncate(size)  # takes no space
    with pytest.raises(InvalidRecording, match="more than 64000000 bytes"):
        episode_log.load(path)


# -- writing


def test_a_disk_that_is_full_leaves_the_old_file_and_one_error(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    path.write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, before[1]))  # what a full disk does, for this process only
    try:
        with pytest.raises(CannotWrite, match=r"old\.json, found: File too large; make room"):
            atomic_write_bytes(path, bytes(1_000_000))
        with pytest.raises(CannotWrite, match="make room"):
            recording.save(small(), path, check_sensors=False)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("place", ["/proc/nsrecover.json", "/dev/null", "FILE/x.json", "FOLDER"])
def test_a_place_that_cannot_be_written_is_one_line_of_the_command(place: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    place = place.replace("FILE", str(tmp_path / "file")).replace("FOLDER", str(tmp_path))
    log = _log(tmp_path)
    done = run("nsrecover.cli.app", "report", str(log), "--out", place)
    assert done.code == 2
    assert done.err.startswith("error: expected ")
    assert done.err.count("\n") == 1
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_link_stays_a_link_and_its_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "disk" / "real.json")
    atomic_write_bytes(tmp_path / "link.json", b"new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "disk" / "real.json").read_bytes() == b"new"


def test_of_two_writers_one_wins_and_no_reader_sees_a_mixture(tmp_path: Path) -> None:
    path = tmp_path / "shared.json"
    texts = [json.dumps({"writer": n, "data": str(n) * 200_000}).encode() for n in (1, 2)]
    atomic_write_bytes(path, texts[0])
    over = threading.Event()

    def write(text: bytes) -> None:
        for _ in range(20):
            with atomic_write(path) as file:
                for start in range(0, len(text), 50_000):
                    file.write(text[start : start + 50_000])

    writers = [threading.Thread(target=write, args=(text,)) for text in texts]
    for writer in writers:
        writer.start()
    seen = set()
    while not over.is_set():
        seen.add(path.read_bytes())
        if not any(writer.is_alive() for writer in writers):
            over.set()
    assert seen <= set(texts)
    assert list(tmp_path.iterdir()) == [path]


WRITING = """
import sys, time
from pathlib import Path
from nsrecover.util.atomic_write import atomic_write, atomic_write_bytes
from nsrecover.errors import cli_errors

folder = Path(sys.argv[1])
with cli_errors(resumable=True):
    for number in range(1000):
        if not (folder / f"{number}.json").exists():
            with atomic_write(folder / f"{number}.json") as file:
                file.write(b"whole ")
                time.sleep(0.02)
                file.write(b"file")
"""
"""A long command: it writes files one by one, and goes on where it was interrupted."""


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGTERM, 143, "terminated; start the same command"),
        (signal.SIGINT, 130, "interrupted; start the same command"),
        (signal.SIGKILL, -9, ""),
    ],
)
def test_a_command_that_is_ended_keeps_what_it_has_finished(
    number: signal.Signals, code: int, said: str, tmp_path: Path
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITING, str(tmp_path)], cwd=ROOT, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # jobs in the background ignore it
    )  # fmt: skip
    while not (tmp_path / "2.json").exists():
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == code
    assert err.startswith(said)
    assert err.count("\n") <= 1
    finished = sorted(tmp_path.glob("[0-9]*.json"))
    assert len(finished) >= 3
    assert {path.read_bytes() for path in finished} == {b"whole file"}
    unfinished = [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    assert len(unfinished) <= (1 if number is signal.SIGKILL else 0)
