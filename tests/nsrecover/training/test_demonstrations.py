"""Training reads an HDF5 file, a folder with one, or single recordings, and knows them by their contents."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nsrecover.errors import InvalidRecording
from nsrecover.records.archive import write_archive
from nsrecover.records.recording import Recording, example
from nsrecover.training.demonstrations import fingerprint, load_demonstrations, recordings


@pytest.fixture(scope="module")
def episode() -> Recording:
    return example()


@pytest.fixture
def folder(episode: Recording, tmp_path: Path) -> Path:
    write_archive(tmp_path / "mine.h5", {3: episode, 5: replace(episode, notes={"take": 2})})
    return tmp_path


def test_a_file_is_known_by_its_contents_and_not_by_its_size_or_place(folder: Path, episode: Recording) -> None:
    assert [source.name for source in recordings(folder)] == ["episode 3", "episode 5"]
    assert recordings(folder)[1].read().notes == {"take": 2}
    before = fingerprint(recordings(folder))
    assert fingerprint(recordings(folder / "mine.h5")) == before
    (folder / "mine.h5").rename(folder / "other.h5")
    assert fingerprint(recordings(folder)) == before
    write_archive(folder / "other.h5", {3: episode, 5: replace(episode, notes={"take": 3})})
    assert fingerprint(recordings(folder)) != before


def test_single_recordings_are_read_as_before(episode: Recording, tmp_path: Path) -> None:
    for name in ("b", "a"):
        episode.save(tmp_path / f"{name}.npz")
    assert [source.name for source in recordings(tmp_path)] == ["a.npz", "b.npz"]


def test_two_kinds_in_one_folder_are_refused(folder: Path, episode: Recording) -> None:
    episode.save(folder / "a.npz")
    with pytest.raises(InvalidRecording, match=r"mine\.h5, 1 \.npz files; name the file"):
        recordings(folder)
    assert len(recordings(folder / "mine.h5")) == 2


def test_what_is_perceived_is_cached_by_contents(folder: Path, episode: Recording) -> None:
    cache = folder / "cache"
    first = load_demonstrations(recordings(folder), 32, cache)
    assert len(list(cache.iterdir())) == 2
    episode.save(folder / "single" / "a.npz")
    again = load_demonstrations(recordings(folder), 32, cache)
    np.testing.assert_array_equal(first[0].boxes, again[0].boxes)
    single = load_demonstrations(recordings(folder / "single"), 32, cache)
    np.testing.assert_allclose(first[0].boxes, single[0].boxes, atol=1e-6)
    assert first[0].plan == single[0].plan


def test_an_episode_that_hides_an_object_of_its_plan_at_first_is_left_out(
    folder: Path, episode: Recording, tmp_path: Path
) -> None:
    moved = episode.plan[0].arguments[0]
    first = episode.observations[0]
    labels = {number: name for number, name in first.labels.items() if name != moved}
    hidden = replace(episode, observations=(replace(first, labels=labels), *episode.observations[1:]))
    write_archive(tmp_path / "mixed.h5", [episode, hidden])
    with pytest.warns(UserWarning, match="1 of 2 episodes are left out"):
        assert len(load_demonstrations(recordings(tmp_path / "mixed.h5"), 16, tmp_path / "cache")) == 1
    write_archive(tmp_path / "hidden.h5", [hidden])
    with pytest.raises(InvalidRecording, match="found none among 1"):
        load_demonstrations(recordings(tmp_path / "hidden.h5"), 16, tmp_path / "cache")
