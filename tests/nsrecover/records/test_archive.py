"""Archives are read as they were written, or refused with a clear error."""

import subprocess
import sys
from dataclasses import replace

import h5py
import numpy as np
import pytest

from nsrecover.core import Action, Camera, Observation, Plan
from nsrecover.errors import InvalidRecording
from nsrecover.records.archive import Archive, pack_archives, write_archive
from nsrecover.records.recording import Recording, load, save


def _observation(rng: np.random.Generator, time_s: float) -> Observation:
    return Observation(
        rgb=rng.integers(0, 256, (2, 12, 16, 3), dtype=np.uint8),
        depth_m=rng.uniform(0.0, 3.0, (2, 12, 16)).astype(np.float32),
        instances=rng.integers(0, 4, (2, 12, 16), dtype=np.int32),
        cameras=tuple(Camera(np.eye(3, dtype=np.float32), np.eye(4, dtype=np.float32), name) for name in "lr"),
        labels={1: "red cube", 2: "blåe die"},
        holding=time_s > 1,
        time_s=time_s,
    )


def _recording(seed: int) -> Recording:
    rng = np.random.default_rng(seed)
    plan = Plan(
        (Action("top", ("red cube", "blåe die")), Action("free", ("red cube",), (0.5, 0.1, 0.02, 0.04, 0.08, 0.04)))
    )
    return Recording(plan, tuple(_observation(rng, float(t)) for t in range(3)), {"seed": seed, "grüße": ["é", 1]})


@pytest.fixture
def path(tmp_path):
    write_archive(
        tmp_path / "three.h5",
        {4: _recording(4), 7: _recording(7), 1_000_000: _recording(1)},
        {"mix": {"a": 1}, "seed": 3},
    )
    return tmp_path / "three.h5"


def _same(one: Recording, other: Recording) -> None:
    assert (one.plan, dict(one.notes)) == (other.plan, dict(other.notes))
    assert [action.target for action in one.plan] == [action.target for action in other.plan]
    for a, b in zip(one.observations, other.observations, strict=True):
        np.testing.assert_array_equal(a.rgb, b.rgb)
        np.testing.assert_array_equal(a.instances, b.instances)
        np.testing.assert_allclose(a.depth_m, b.depth_m, atol=0.000_051)
        assert (a.labels, a.holding, a.time_s) == (b.labels, b.holding, b.time_s)
        assert a.shared_ids == b.shared_ids
        assert [camera.name for camera in a.cameras] == [camera.name for camera in b.cameras]


def _heard(seed: int) -> Recording:
    rng, quiet = np.random.default_rng(seed), _recording(seed)
    lengths = (0, 500, 2000)
    audio = [(rng.integers(-32_768, 32_768, n) / 32_768).astype(np.float32) for n in lengths]
    seen = zip(quiet.observations, audio, strict=True)
    return replace(quiet, observations=tuple(replace(each, audio=a, audio_rate_hz=16_000) for each, a in seen))


def test_audio_is_read_whole_and_one_observation_at_a_time(tmp_path):
    write_archive(tmp_path / "mixed.h5", [_recording(1), _heard(2)])
    pack_archives(tmp_path / "packed.h5", [tmp_path / "mixed.h5"])
    with Archive(tmp_path / "packed.h5") as archive, Archive(tmp_path / "mixed.h5") as before:
        assert all(seen.audio is None for seen in archive[0].observations)
        for number, expected in enumerate(_heard(2).observations):
            for seen in (archive[1].observations[number], archive.observation(1, number)):
                np.testing.assert_array_equal(seen.audio, expected.audio)
                assert seen.audio_rate_hz == 16_000
        assert archive.fingerprint(1) == before.fingerprint(1)
        assert archive.digest(1) == before.digest(1)


def test_the_digest_covers_the_audio(tmp_path):
    loud, quiet = _heard(2), _recording(2)
    write_archive(
        tmp_path / "two.h5",
        [
            loud,
            quiet,
            replace(
                loud,
                observations=loud.observations[:1]
                + tuple(replace(seen, audio=-seen.audio.clip(-0.99, 0.99)) for seen in loud.observations[1:]),
            ),
        ],
    )
    with Archive(tmp_path / "two.h5") as archive:
        assert len({archive.digest(number) for number in archive.episodes}) == 3
        assert len({archive.fingerprint(number) for number in archive.episodes}) == 3


def test_empty_audio_can_be_stored(tmp_path):
    silent = replace(
        _heard(3), observations=tuple(replace(seen, audio=seen.audio[:0]) for seen in _heard(3).observations)
    )
    write_archive(tmp_path / "silent.h5", [silent])
    with Archive(tmp_path / "silent.h5") as archive:
        assert [seen.audio.shape for seen in archive[0].observations] == [(0,)] * 3


def test_numbers_of_one_view_stay_numbers_of_one_view(tmp_path):
    plain, views = _recording(3), _recording(3)
    own = replace(views.observations[1], instances=views.observations[1].instances, shared_ids=False)
    views = replace(views, observations=(views.observations[0], own, views.observations[2]))
    write_archive(tmp_path / "both.h5", [plain, views])
    pack_archives(tmp_path / "packed.h5", [tmp_path / "both.h5"])
    save(views, tmp_path / "views.npz", check_sensors=False)
    save(plain, tmp_path / "plain.npz", check_sensors=False)
    for name in ("both.h5", "packed.h5"):
        with Archive(tmp_path / name) as archive:
            _same(archive[0], plain)
            _same(archive[1], views)
            assert not archive.observation(1, 1).shared_ids
            assert len({archive.digest(0), archive.digest(1)}) == len({archive.fingerprint(n) for n in (0, 1)}) == 2
    _same(load(tmp_path / "views.npz"), views)
    with np.load(tmp_path / "plain.npz") as arrays:
        assert "shared_ids" not in arrays


def test_episodes_are_read_as_they_were_written(path):
    with Archive(path) as archive:
        assert (len(archive), archive.episodes) == (3, (4, 7, 1_000_000))
        assert 7 in archive
        assert 5 not in archive
        _same(archive[7], _recording(7))
        assert [recording.notes["seed"] for recording in archive] == [4, 7, 1]
        assert archive.attributes["seed"] == 3
        assert archive.attributes["mix"] == '{"a": 1}'
        assert archive.attributes["library"].startswith("nsrecover ")


def test_parts_of_an_episode_are_read_alone(path):
    with Archive(path) as archive:
        assert archive.plan(4) == _recording(4).plan
        assert archive.notes(4)["grüße"] == ["é", 1]
        np.testing.assert_array_equal(archive.observation(4, 2).rgb, _recording(4).observations[2].rgb)
        with pytest.raises(InvalidRecording, match="from 0 to 2"):
            archive.observation(4, 3)


def test_images_are_chunked_by_observation_and_compressed_for_every_reader(path):
    with h5py.File(path) as file:
        for name in ("rgb", "depth", "instances"):
            data = file["episodes/000004"][name]
            assert data.chunks == (1, *data.shape[1:])
            assert (data.compression, data.compression_opts, data.shuffle) == ("gzip", 1, True)


def test_recordings_without_numbers_are_counted(tmp_path):
    write_archive(tmp_path / "a.h5", (_recording(seed) for seed in range(2)))
    with Archive(tmp_path / "a.h5") as archive:
        assert archive.episodes == (0, 1)


def test_packing_keeps_contents_and_needs_no_unpacking(path, tmp_path):
    write_archive(tmp_path / "other.h5", {5: _recording(5), 7: _recording(8)})
    assert pack_archives(tmp_path / "all.h5", [path, tmp_path / "other.h5"]) == (4, 5, 7, 1_000_000)
    with Archive(tmp_path / "all.h5") as packed, Archive(path) as archive:
        for episode in archive.episodes:
            assert packed.digest(episode) == archive.digest(episode)
            assert packed.fingerprint(episode) == archive.fingerprint(episode)
        _same(packed[5], _recording(5))


def test_a_file_may_be_packed_into_itself(path, tmp_path):
    write_archive(tmp_path / "other.h5", {5: _recording(5)})
    assert pack_archives(path, [path, tmp_path / "other.h5"]) == (4, 5, 7, 1_000_000)
    assert {entry.name for entry in tmp_path.iterdir()} == {"three.h5", "other.h5"}


def test_hashes_cover_the_contents(tmp_path):
    recording = _recording(4)
    rgb = recording.observations[1].rgb.copy()
    rgb[1, 3, 3, 0] ^= 1
    frames = (recording.observations[0], replace(recording.observations[1], rgb=rgb), recording.observations[2])
    write_archive(tmp_path / "a.h5", [recording, replace(recording, observations=frames), recording])
    with Archive(tmp_path / "a.h5") as archive:
        assert archive.digest(0) == archive.digest(2) != archive.digest(1)
        assert archive.fingerprint(0) == archive.fingerprint(2) != archive.fingerprint(1)


def test_npz_and_hdf5_hold_the_same(path, tmp_path):
    with Archive(path) as archive:
        save(archive[4], tmp_path / "a.npz", check_sensors=False)
    _same(load(tmp_path / "a.npz"), _recording(4))


def test_a_writer_that_fails_leaves_the_old_file(path):
    before = path.read_bytes()
    with pytest.raises(InvalidRecording, match="notes that JSON can hold"):
        write_archive(path, [_recording(0), replace(_recording(1), notes={"rng": object()})])
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == ["three.h5"]


def test_an_unknown_episode_is_named(path):
    with Archive(path) as archive, pytest.raises(InvalidRecording, match="found 5; `episodes` lists them"):
        archive[5]


def test_other_and_damaged_files_are_refused(path, tmp_path):
    with pytest.raises(InvalidRecording, match="found no file"):
        Archive(tmp_path / "nowhere.h5")
    (tmp_path / "text.h5").write_text("hello")
    (tmp_path / "cut.h5").write_bytes(path.read_bytes()[:5000])
    for name in ("text.h5", "cut.h5"):
        with pytest.raises(InvalidRecording, match="it is damaged"):
            Archive(tmp_path / name)
    h5py.File(tmp_path / "other.h5", "w").close()
    with pytest.raises(InvalidRecording, match="found another HDF5 file"):
        Archive(tmp_path / "other.h5")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda file: file.attrs.update({"schema": 99}), "schema version 1.*found 99"),
        (lambda file: file["episodes"].move("000007", "seven"), "named by numbers.*'seven'"),
        (lambda file: file.__delitem__("episodes/000007/depth"), "the array depth in episode 7"),
        (lambda file: file.__delitem__("episodes"), "a group /episodes"),
    ],
)
def test_what_is_missing_is_named(path, change, message):
    with h5py.File(path, "r+") as file:
        change(file)
    with pytest.raises(InvalidRecording, match=message), Archive(path) as archive:
        archive[7]


def test_a_damaged_chunk_is_one_clear_error(path):
    with h5py.File(path) as file:
        chunk = file["episodes/000007/rgb"].id.get_chunk_info(1)
    data = bytearray(path.read_bytes())
    data[chunk.byte_offset + 20 : chunk.byte_offset + 60] = bytes(40)
    path.write_bytes(data)
    with Archive(path) as archive:
        with pytest.raises(InvalidRecording, match="array rgb of episode 7"):
            archive[7]
        _same(archive[4], _recording(4))


def test_without_h5py_the_extra_is_named(tmp_path):
    code = (
        "import sys; sys.modules['h5py'] = None\n"
        "from nsrecover.errors import cli_errors; from nsrecover.records.archive import Archive\n"
        "with cli_errors(): Archive('a.h5')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'nsrecover[hdf5]'" in done.stderr
