"""Episodes of LeRobot datasets of images come back as they were recorded; videos are in `tests/foreign`."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from nsrecover.bridges.lerobot import LeRobotView, read_episode
from nsrecover.core.actions import Plan
from nsrecover.errors import InvalidRecording
from nsrecover.records.recording import Recording, example
from tests.observations import one_view

COLOUR, DEPTH, FPS, EPISODE = "observation.images.left", "observation.images.left_depth", 10, 7
PATHS = {
    "v2.1": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
    "v3.0": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
}
"""Paths as the versions of the library write them."""


@pytest.fixture(scope="module")
def episode() -> Recording:
    """Two actions, one camera."""
    whole = example()
    return Recording(Plan(whole.plan.actions[:2]), tuple(map(one_view, whole.observations[:3])))


def png(pixels: np.ndarray) -> dict[str, Any]:
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, "PNG")
    return {"bytes": data.getvalue(), "path": None}


def write_dataset(episode: Recording, folder: Path, version: str) -> None:
    """Write an episode with a frame for every moment and one after each; in v3.0 behind another one."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    frames = [each for each in episode.observations for _ in range(2)]
    first = 5 if version == "v3.0" else 0  # frames of another episode in the same file
    rows = [
        {
            "episode_index": EPISODE, "frame_index": number, "timestamp": number / FPS,
            DEPTH: png(np.rint(seen.depth_m[0] * 1000).astype(np.uint16)), COLOUR: png(seen.rgb[0]),
        }
        for number, seen in enumerate(frames)
    ]  # fmt: skip
    rows = [{**rows[0], "episode_index": EPISODE - 1, "frame_index": n} for n in range(first)] + rows
    place = {"episode_chunk": 0, "episode_index": EPISODE, "chunk_index": 0, "file_index": 0}
    features = {key: {"dtype": "image"} for key in (COLOUR, DEPTH)}
    info = {"codebase_version": version, "fps": FPS, "chunks_size": 1000, "features": features}
    (folder / "meta").mkdir(parents=True)
    (folder / "meta" / "info.json").write_text(json.dumps({**info, "data_path": PATHS[version]}))
    data = folder / PATHS[version].format(**place)
    data.parent.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows), data)
    if version == "v3.0":
        meta = folder / "meta" / "episodes" / "chunk-000" / "file-000.parquet"
        meta.parent.mkdir(parents=True)
        row = {"episode_index": EPISODE, "data/chunk_index": 0, "data/file_index": 0}
        pq.write_table(pa.Table.from_pylist([row]), meta)


@pytest.mark.parametrize("version", ["v2.1", "v3.0"])
def test_an_episode_comes_back(episode: Recording, tmp_path: Path, version: str) -> None:
    write_dataset(episode, tmp_path, version)
    masks = iter(episode.observations)

    def detect(rgb: np.ndarray) -> tuple[np.ndarray, dict[int, str]]:
        seen = next(masks)
        return seen.instances, dict(seen.labels)

    view = LeRobotView(COLOUR, DEPTH, episode.observations[0].cameras[0])
    found = read_episode(tmp_path, EPISODE, episode.plan, [0, 2, 4], [view], detect)
    assert found.plan == episode.plan
    assert [seen.time_s for seen in found.observations] == pytest.approx([0.0, 0.2, 0.4])
    for seen, recorded in zip(found.observations, episode.observations, strict=True):
        np.testing.assert_array_equal(seen.rgb, recorded.rgb)
        np.testing.assert_allclose(seen.depth_m, recorded.depth_m, atol=0.00051)
        assert seen.labels == recorded.labels


def test_what_is_missing_is_named(episode: Recording, tmp_path: Path) -> None:
    view = LeRobotView(COLOUR, DEPTH, episode.observations[0].cameras[0])
    with pytest.raises(InvalidRecording, match=r"meta/info\.json"):
        read_episode(tmp_path / "none", EPISODE, episode.plan, [0, 2, 4], [view], lambda rgb: (rgb[..., 0], {}))
    write_dataset(episode, tmp_path, "v2.1")
    for moments, changed, named in (
        ([0, 2, 40], view, "index 40 among 6"),
        ([0, 2, 4], replace(view, depth=DEPTH[:-1]), f"Did you mean '{DEPTH}'"),
        ([0, 2, 4], replace(view, depth=COLOUR), "expected depth"),
    ):
        with pytest.raises(InvalidRecording, match=named):
            read_episode(tmp_path, EPISODE, episode.plan, moments, [changed], lambda rgb: (rgb[..., 0], {}))
    with pytest.raises(InvalidRecording, match="episode_000009"):
        read_episode(tmp_path, 9, episode.plan, [0, 2, 4], [view], lambda rgb: (rgb[..., 0], {}))
