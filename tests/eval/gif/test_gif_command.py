"""A short film of a video: what is there to be read stays, motions take the time that is left."""

from pathlib import Path

import imageio.v2 as imageio
import numpy as np
import pytest

from eval.common.video import CAPTION_HEIGHT, FRAME_SIZE, VideoWriter
from eval.gif.command import chosen_frames, gif, held
from nsrecover.errors import InvalidConfiguration
from tests.commands import ROOT


def test_what_is_held_is_found_although_compression_changes_it_a_little() -> None:
    rng = np.random.default_rng(0)
    still = rng.integers(0, 255, (8, 8, 3), dtype=np.uint8)
    noisy = still.copy()
    noisy[0, 0] ^= 3
    moving = [rng.integers(0, 255, (8, 8, 3), dtype=np.uint8) for _ in range(3)]
    frames = [*moving, still, noisy, still, noisy, moving[0], moving[0]]
    assert held(frames, 4).tolist() == [False] * 3 + [True] * 4 + [False] * 2


def test_captions_keep_their_time_and_motions_fill_the_rest() -> None:
    shown = np.zeros(300, np.bool_)
    shown[100:125] = True  # 2.5 s at 10 frames a second
    film = np.array(chosen_frames(shown, 10.0, 12.0, 8))
    assert len(film) == 96
    assert (np.diff(film) >= 0).all()
    assert int(shown[film].sum()) == pytest.approx(2.5 * 8, abs=1)
    assert film[0] == 0
    assert film[-1] >= 295
    much = np.ones(300, np.bool_)
    much[:10] = False
    assert int((~much)[chosen_frames(much, 10.0, 12.0, 8)].sum()) == 32  # a third of the film for motions


@pytest.mark.parametrize("kind", ["gif", "mp4"])
def test_a_video_becomes_a_short_film(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(0)
    with VideoWriter(tmp_path / "video.mp4") as writer:
        writer.caption("Step 1 of 1: put the red cube on the blue cube")
        for _ in range(30):
            writer.add(rng.integers(0, 255, (FRAME_SIZE[1], FRAME_SIZE[0], 3), dtype=np.uint8))
        writer.caption("The gripper lost the red cube", "It lies on the table.")
        writer.add(np.full((FRAME_SIZE[1], FRAME_SIZE[0], 3), 90, np.uint8), 2.0)
    path = tmp_path / f"film.{kind}"
    gif(tmp_path / "video.mp4", path, seconds=4.0)
    film = [np.asarray(frame) for frame in imageio.get_reader(path)]
    assert np.asarray(film[0]).shape[:2] == (FRAME_SIZE[1] + CAPTION_HEIGHT, FRAME_SIZE[0])
    if kind == "mp4":  # a GIF leaves out frames that do not differ
        assert len(film) == 32
    still = [frame for frame in film if np.asarray(frame)[50:200, 50:200, :3].std() < 8]
    assert len(still) >= (12 if kind == "mp4" else 1)


def test_a_missing_video_and_another_kind_of_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration, match="run `make demo` first"):
        gif(tmp_path / "none.mp4", tmp_path / "film.gif")
    (tmp_path / "video.mp4").touch()
    with pytest.raises(InvalidConfiguration, match=r"expected a file ending in .gif or .mp4"):
        gif(tmp_path / "video.mp4", tmp_path / "film.webm")


def test_the_film_in_the_docs_takes_twelve_seconds() -> None:
    reader = imageio.get_reader(ROOT / "docs" / "demo.gif")
    durations = [reader.get_meta_data(i)["duration"] for i in range(len(reader))]
    assert sum(durations) == pytest.approx(12_000, abs=500)
