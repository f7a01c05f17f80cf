"""Recordings are read as they were written, or refused with a clear error."""

import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from nsrecover.core import Action, Camera, Observation, Plan
from nsrecover.errors import InvalidRecording
from nsrecover.records import recording
from nsrecover.records.recording import Recording, load

save = partial(recording.save, check_sensors=False)  # the images are noise


def _observation(seed: int, height: int = 12) -> Observation:
    rng = np.random.default_rng(seed)
    cameras = tuple(Camera(np.eye(3, dtype=np.float32) * (seed + 1), np.eye(4, dtype=np.float32), n) for n in "lr")
    return Observation(
        rgb=rng.integers(0, 256, (2, height, 16, 3), dtype=np.uint8),
        depth_m=rng.uniform(0.0, 3.0, (2, height, 16)).astype(np.float32),
        instances=rng.integers(0, 4, (2, height, 16), dtype=np.int32),
        cameras=cameras,
        labels={1: "red cube", 2: "blue die", 3: "green lego"},
        gripper_opening_m=0.01 * seed,
        holding=seed % 2 == 1,
        time_s=1.5 * seed,
    )


@pytest.fixture
def episode() -> Recording:
    plan = Plan(
        (
            Action("top", ("red cube", "blue die")),
            Action("free", ("green lego",), (0.5, 0.1, 0.02, 0.04, 0.08, 0.04)),
        )
    )
    return Recording(plan, tuple(_observation(t) for t in range(3)), {"seed": 3, "scene": {"objects": [1, 2]}})


@pytest.fixture
def arrays(episode, tmp_path):
    save(episode, tmp_path / "whole.npz")
    with np.load(tmp_path / "whole.npz") as archive:
        return dict(archive)


def test_what_is_saved_is_read_back(episode, tmp_path):
    save(episode, tmp_path / "deep" / "episode.npz")
    again = load(tmp_path / "deep" / "episode.npz")
    assert again.plan == episode.plan
    assert again.plan[0].target is None
    assert again.plan[1].target == pytest.approx(episode.plan[1].target)
    assert again.notes == episode.notes
    for a, b in zip(again.observations, episode.observations, strict=True):
        np.testing.assert_array_equal(a.rgb, b.rgb)
        np.testing.assert_array_equal(a.instances, b.instances)
        np.testing.assert_allclose(a.depth_m, b.depth_m, atol=5.1e-5)
        assert a.depth_m.dtype == np.float32
        assert a.instances.dtype == np.int32
        assert a.labels == b.labels
        assert (a.gripper_opening_m, a.holding, a.time_s) == (b.gripper_opening_m, b.holding, b.time_s)
        assert [camera.name for camera in a.cameras] == ["l", "r"]
        np.testing.assert_array_equal(a.cameras[1].intrinsics, b.cameras[1].intrinsics)


def _heard(seed: int, samples: int | None, rate_hz: int = 16_000) -> Observation:
    if samples is None:
        return _observation(seed)
    audio = np.random.default_rng(seed).uniform(-1, 1, samples).astype(np.float32)
    return replace(_observation(seed), audio=audio, audio_rate_hz=rate_hz)


def test_audio_of_different_lengths_is_read_back(episode, tmp_path):
    observations = (_heard(0, None), _heard(1, 1000), _heard(2, 0, 48_000))
    save(replace(episode, observations=observations), tmp_path / "heard.npz")
    again = load(tmp_path / "heard.npz").observations
    assert again[0].audio is None
    assert [seen.audio_rate_hz for seen in again] == [0, 16_000, 48_000]
    assert again[1].audio.dtype == np.float32
    np.testing.assert_allclose(again[1].audio, observations[1].audio, atol=1.01 / 32_768)
    assert again[2].audio.shape == (0,)


def test_audio_of_16_bits_is_exact(episode, tmp_path):
    audio = np.arange(-32_768, 32_768, 7, dtype=np.float32) / 32_768
    heard = tuple(replace(seen, audio=audio, audio_rate_hz=16_000) for seen in episode.observations)
    save(replace(episode, observations=heard), tmp_path / "heard.npz")
    for seen in load(tmp_path / "heard.npz").observations:
        np.testing.assert_array_equal(seen.audio, audio)


def test_a_recording_without_audio_has_no_arrays_of_it(arrays):
    assert not [name for name in arrays if name.startswith("audio")]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda arrays: arrays.pop("audio_rate_hz"), "all or none of the arrays audio, audio_samples, audio_rate_hz"),
        (lambda arrays: arrays["audio_samples"].__setitem__(1, 1001), "audio_samples .* from -1 to 1000"),
        (lambda arrays: arrays.update(audio=arrays["audio"][:2]), r"audio .* of shape \(3, 1000\)"),
        (lambda arrays: arrays["audio_rate_hz"].__setitem__(1, 0), "audio_rate_hz as a whole number"),
    ],
)
def test_inconsistent_audio_is_refused(episode, tmp_path, change, message):
    path = tmp_path / "heard.npz"
    save(replace(episode, observations=(_heard(0, None), _heard(1, 1000), _heard(2, 10))), path)
    with np.load(path) as archive:
        arrays = dict(archive)
    change(arrays)
    np.savez(path, **arrays)
    with pytest.raises(InvalidRecording, match=message):
        load(path)


def test_the_same_recording_gives_the_same_bytes(episode, tmp_path):
    save(episode, tmp_path / "a.npz")
    save(episode, tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_depth_beyond_the_range_is_no_reading(episode, tmp_path):
    far = replace(episode.observations[0], depth_m=np.full((2, 12, 16), 7.0, np.float32))
    save(replace(episode, observations=(far, *episode.observations[1:])), tmp_path / "far.npz")
    assert not load(tmp_path / "far.npz").observations[0].depth_m.any()


def test_large_instance_numbers_survive(episode, tmp_path):
    many = replace(episode.observations[0], instances=np.full((2, 12, 16), 70_000, np.int32))
    save(replace(episode, observations=(many, *episode.observations[1:])), tmp_path / "many.npz")
    assert (load(tmp_path / "many.npz").observations[0].instances == 70_000).all()


def test_a_failed_write_leaves_nothing_new_and_the_old_file_whole(episode, tmp_path, monkeypatch):
    path = tmp_path / "episode.npz"
    save(episode, path)
    before = path.read_bytes()
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        save(episode, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_too_few_observations_are_refused(episode):
    with pytest.raises(InvalidRecording, match="expected 3 observations for 2 actions, found 2"):
        replace(episode, observations=episode.observations[:2])


def test_observations_of_different_sizes_are_refused(episode):
    with pytest.raises(InvalidRecording, match="same views and image size"):
        replace(episode, observations=(_observation(0, height=10), *episode.observations[1:]))


def test_notes_that_json_cannot_hold_are_refused(episode, tmp_path):
    with pytest.raises(InvalidRecording, match="notes that JSON can hold"):
        save(replace(episode, notes={"rng": object()}), tmp_path / "a.npz")
    assert not list(tmp_path.iterdir())


def test_names_that_cannot_be_read_again_are_refused(episode, tmp_path):
    plan = Plan((Action("top", ("red, small cube", "blue die")), episode.plan[1]))
    with pytest.raises(InvalidRecording, match="without commas"):
        save(replace(episode, plan=plan), tmp_path / "a.npz")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InvalidRecording, match=r"nowhere\.npz, found no file"):
        load(tmp_path / "nowhere.npz")
    with pytest.raises(InvalidRecording, match="found a folder"):
        load(tmp_path)


@pytest.mark.parametrize("keep", [0, 1, 300, -40])
def test_a_truncated_file_is_refused(episode, tmp_path, keep):
    path = tmp_path / "episode.npz"
    save(episode, path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(InvalidRecording, match="cannot be read"):
        load(path)


def test_a_damaged_array_is_refused(episode, tmp_path):
    path = tmp_path / "episode.npz"
    save(episode, path)
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 64] = bytes(64)
    path.write_bytes(bytes(data))
    with pytest.raises(InvalidRecording, match="cannot be read"):
        load(path)


def test_a_plain_array_file_is_refused(tmp_path):
    with open(tmp_path / "array.npz", "wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(InvalidRecording, match="cannot be read"):
        load(tmp_path / "array.npz")


def test_pickled_arrays_are_never_loaded(arrays, tmp_path):
    arrays["notes"] = np.array({"a": 1}, dtype=object)
    np.savez(tmp_path / "pickled.npz", **arrays)
    with pytest.raises(InvalidRecording, match="cannot be read"):
        load(tmp_path / "pickled.npz")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": np.array(99)}, "expected schema version 1 .* found 99"),
        ({"schema": None}, "another kind of numpy file"),
        ({"depth": None}, "expected the arrays depth"),
        ({"depth": np.zeros((3, 2, 12, 15), np.uint16)}, r"expected depth .* \(3, 2, 12, 16\) .* \(3, 2, 12, 15\)"),
        ({"rgb": np.zeros((3, 2, 12, 16, 3), np.float32)}, "expected rgb"),
        ({"time_s": np.zeros(2)}, "expected time_s"),
        ({"plan": np.array(["top(a, b)"])}, "expected targets .* for 1 actions"),
        ({"plan": np.array(["nonsense", "free(a)"])}, "nonsense"),
        ({"labels": np.array(["not json"] * 3)}, "record it again"),
        ({"notes": np.array("{")}, "record it again"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arrays, tmp_path, change, message):
    arrays |= change
    np.savez(tmp_path / "bad.npz", **{name: array for name, array in arrays.items() if array is not None})
    with pytest.raises(InvalidRecording, match=message):
        load(tmp_path / "bad.npz")


def test_an_unknown_example_names_the_known_ones():
    with pytest.raises(InvalidRecording, match="found 'colapse'"):
        recording.example("colapse")


def test_every_example_that_ships_can_be_read():
    folder = os.path.join(os.path.dirname(recording.__file__), "episodes")
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if name.endswith(".npz"):
            assert len(recording.example(name.removesuffix(".npz")).plan) > 0


def test_reading_needs_only_numpy(episode, tmp_path):
    save(episode, tmp_path / "episode.npz")
    code = (
        "import sys; from nsrecover.records.recording import load; load(sys.argv[1]); "
        "print(sorted({'torch', 'scipy', 'pybullet'} & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "episode.npz")], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "[]"


def test_members_are_ordinary_numpy_files(episode, tmp_path):
    save(episode, tmp_path / "episode.npz")
    with zipfile.ZipFile(tmp_path / "episode.npz") as archive:
        assert {"rgb.npy", "depth.npy", "plan.npy"} <= set(archive.namelist())
