"""Archives give each episode and each part of it by itself, and name what is damaged."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from nsrecover.errors import InvalidRecording
from nsrecover.records.archive import Archive, pack_archives, write_archive
from tests.nsrecover.records.noise import assert_same, changed, heard, recorded


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_archive(
        tmp_path / "three.h5", {4: recorded(4), 7: heard(7), 1_000_000: recorded(1)}, {"mix": {"a": 1}, "seed": 3}
    )
    return tmp_path / "three.h5"


def test_episodes_and_their_parts_are_read_by_number(path: Path) -> None:
    with Archive(path) as archive:
        assert (len(archive), archive.episodes) == (3, (4, 7, 1_000_000))
        assert 7 in archive
        assert 5 not in archive
        assert [recording.notes["seed"] for recording in archive] == [4, 7, 1]
        assert (archive.attributes["seed"], archive.attributes["mix"]) == (3, '{"a": 1}')
        assert archive.attributes["library"].startswith("nsrecover ")
        assert (archive.plan(4), archive.notes(4)) == (recorded(4).plan, recorded(4).notes)
        for number, seen in enumerate(heard(7).observations):
            alone = archive.observation(7, number)
            np.testing.assert_array_equal(alone.rgb, seen.rgb)
            np.testing.assert_array_equal(alone.audio, seen.audio)
        with pytest.raises(InvalidRecording, match="from 0 to 2"):
            archive.observation(4, 3)
        with pytest.raises(InvalidRecording, match="found 5; `episodes` lists them"):
            archive[5]


def test_packing_keeps_contents_and_needs_no_unpacking(path: Path, tmp_path: Path) -> None:
    write_archive(tmp_path / "other.h5", {5: recorded(5), 7: recorded(8)})
    with Archive(path) as archive:
        hashes = {n: (archive.digest(n), archive.fingerprint(n)) for n in archive.episodes}
    for target in (tmp_path / "all.h5", path):  # a file may be packed into itself
        assert pack_archives(target, [path, tmp_path / "other.h5"]) == (4, 5, 7, 1_000_000)
        with Archive(target) as packed:
            assert {n: (packed.digest(n), packed.fingerprint(n)) for n in hashes} == hashes
            assert_same(packed[5], recorded(5))
            assert_same(packed[7], heard(7))
    assert {entry.name for entry in tmp_path.iterdir()} == {"three.h5", "other.h5", "all.h5"}


def test_hashes_cover_images_audio_and_numbering(tmp_path: Path) -> None:
    rgb = recorded().observations[1].rgb.copy()
    rgb[1, 3, 3, 0] ^= 1
    others = [
        recorded(),
        changed(recorded(), at_1={"rgb": rgb}),
        changed(recorded(), at_1={"shared_ids": False}),
        heard(),
    ]
    others.append(changed(heard(), at_1={"audio": -heard().observations[1].audio.clip(-0.99, 0.99)}))
    write_archive(tmp_path / "a.h5", (*others, recorded()))
    with Archive(tmp_path / "a.h5") as archive:
        assert archive.episodes == tuple(range(6))
        for hashed in (archive.digest, archive.fingerprint):
            assert len(set(map(hashed, range(6)))) == 5
            assert hashed(0) == hashed(5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda file: file.attrs.update({"schema": 99}), "schema version 1.*found 99"),
        (lambda file: file.attrs.__delitem__("format"), "found another HDF5 file"),
        (lambda file: file["episodes"].move("000007", "seven"), "named by numbers.*'seven'"),
        (lambda file: file.__delitem__("episodes/000007/depth"), "the array depth in episode 7"),
        (lambda file: file.__delitem__("episodes"), "a group /episodes"),
    ],
)
def test_what_is_missing_is_named(path: Path, change: Callable[[Any], object], message: str) -> None:
    with h5py.File(path, "r+") as file:
        change(file)
    with pytest.raises(InvalidRecording, match=message), Archive(path) as archive:
        archive[7]
    with pytest.raises(InvalidRecording, match="found no file"):
        Archive(path.with_name("nowhere.h5"))


def test_a_damaged_chunk_is_one_clear_error(path: Path) -> None:
    with h5py.File(path) as file:
        chunk = file["episodes/000007/rgb"].id.get_chunk_info(1)
    data = bytearray(path.read_bytes())
    data[chunk.byte_offset + 20 : chunk.byte_offset + 60] = bytes(40)
    path.write_bytes(data)
    with Archive(path) as archive:
        with pytest.raises(InvalidRecording, match="array rgb of episode 7"):
            archive[7]
        assert_same(archive[4], recorded(4))
