"""LeRobot datasets as other people's recorders leave them: the right frames, or what is wrong with them."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from nsrecover.bridges.lerobot import LeRobotView, read_episode
from nsrecover.core import Camera, Plan
from nsrecover.errors import InvalidRecording
from nsrecover.records.recording import Recording

pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
ffmpeg = pytest.importorskip("imageio_ffmpeg")

COLOUR, DEPTH, FPS, FRAMES, FIRST = "observation.images.top", "observation.images.top_depth", 10, 45, 20
SIZE = (64, 48)
CAMERA = Camera(np.array([[60, 0, 32], [0, 60, 24], [0, 0, 1]], np.float32), np.eye(4, dtype=np.float32))
V21 = {
    "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
    "video_path": "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4",
}
V30 = {
    "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
    "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
}
PLACE = {"episode_chunk": 0, "episode_index": 0, "chunk_index": 0, "file_index": 0, "video_key": COLOUR}


def image(pixels: np.ndarray, form: str) -> bytes:
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, form)
    return data.getvalue()


def depth_png(frame: int) -> bytes:
    return image(np.full(SIZE[::-1], 500 + frame, np.uint16), "PNG")


def dataset(
    folder: Path,
    version: str = "v2.1",
    hz: float = 9.5,
    frames: int = FRAMES,
    depth: Callable[[Path, int], Any] = lambda folder, frame: {"bytes": depth_png(frame), "path": None},
    **info: Any,
) -> Path:
    """45 frames whose brightness is 5 times their number, at 9.5 Hz, although `fps` is 10."""
    paths = V30 if version == "v3.0" else V21
    first = FIRST if version == "v3.0" else 0
    features = {COLOUR: {"dtype": "video"}, DEPTH: {"dtype": "image"}}
    own = {"codebase_version": version, "fps": FPS, "chunks_size": 1000, "features": features, **paths, **info}
    (folder / "meta").mkdir(parents=True)
    (folder / "meta" / "info.json").write_text(json.dumps(own))
    rows = [{"episode_index": 0, "frame_index": n, "timestamp": n / hz, DEPTH: depth(folder, n)} for n in range(FRAMES)]
    table, video = (folder / paths[name].format(**PLACE) for name in ("data_path", "video_path"))
    for path in (table, video):
        path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), table)
    writer = ffmpeg.write_frames(str(video), SIZE, fps=FPS, quality=10, macro_block_size=1)
    writer.send(None)
    for brightness in [250] * first + [5 * n for n in range(frames)]:
        writer.send(np.full((*SIZE[::-1], 3), brightness, np.uint8).tobytes())
    writer.close()
    if version == "v3.0":
        meta = folder / "meta" / "episodes" / "chunk-000" / "file-000.parquet"
        meta.parent.mkdir(parents=True)
        row = {"episode_index": 0, "data/chunk_index": 0, "data/file_index": 0}
        row |= {f"videos/{COLOUR}/{name}": 0 for name in ("chunk_index", "file_index")}
        row |= {f"videos/{COLOUR}/from_timestamp": first / FPS, f"videos/{COLOUR}/to_timestamp": (first + frames) / FPS}
        pq.write_table(pa.Table.from_pylist([row]), meta)
    return folder


def read(folder: Path) -> Recording:
    view = LeRobotView(COLOUR, DEPTH, CAMERA)
    return read_episode(
        folder, 0, Plan.parse("top(a, b)"), [5, 35], [view], lambda rgb: (np.zeros(rgb.shape[:3], np.int32), {})
    )


def with_path(folder: Path, frame: int) -> Any:
    place = folder / "images" / f"{frame}.png"
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(depth_png(frame))
    return {"bytes": None, "path": f"images/{frame}.png"}


READ: dict[str, dict[str, Any]] = {
    "slower than fps": {},
    "slower than fps, several episodes in a file": {"version": "v3.0"},
    "as fast as fps": {"hz": 10},
    "faster than fps": {"hz": 11},
    "a path and no bytes": {"depth": with_path},
    "no size of chunks": {"chunks_size": None},
    "2.0": {"version": "v2.0"},
}


@pytest.mark.parametrize("given", READ.values(), ids=READ)
def test_colour_and_depth_are_of_the_same_frame(given: dict[str, Any], tmp_path: Path) -> None:
    found = read(dataset(tmp_path / "set", **given))
    for seen, frame in zip(found.observations, (5, 35), strict=True):
        assert abs(float(seen.rgb.mean()) - 5 * frame) < 2.4
        np.testing.assert_allclose(seen.depth_m, 0.5 + frame / 1000, atol=1e-6)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "fewer frames in the video": ({"frames": 40}, "45 frames .* found 40"),
    "fewer frames in a part of a video": ({"frames": 40, "version": "v3.0"}, "45 frames .* found 40"),
    "no path of data": ({"data_path": None}, "data_path"),
    "no path of videos": ({"video_path": None}, "video_path"),
    "no features": ({"features": None}, "features"),
    "no fps": ({"fps": None}, "fps"),
    "a path of another version": ({"data_path": V30["data_path"]}, "data_path"),
    "a path that leads out": ({"data_path": "../../etc/{episode_index}.parquet"}, "inside"),
    "an image that leads out": ({"depth": lambda folder, n: {"bytes": None, "path": "../../x.png"}}, "inside"),
    "an image that was not fetched": ({"depth": lambda folder, n: {"bytes": None, "path": "x.png"}}, "fetch"),
    "a damaged image": ({"depth": lambda folder, n: {"bytes": depth_png(n)[:60], "path": None}}, "frame 5"),
    "a pointer instead of an image": (
        {"depth": lambda folder, n: {"bytes": b"version https://git-lfs", "path": None}}, "frame 5",
    ),
    "neither bytes nor a path": ({"depth": lambda folder, n: {"bytes": None, "path": None, "x": n}}, "nor a path"),
    "metres in decimals": (
        {"depth": lambda folder, n: {"bytes": image(np.full(SIZE[::-1], 0.6, np.float32), "TIFF"), "path": None}},
        r"depth_unit_m=1\.0",
    ),
    "whole metres": (
        {"depth": lambda folder, n: {"bytes": image(np.full(SIZE[::-1], 1, np.uint16), "PNG"), "path": None}},
        "at most 0.001 m",
    ),
    "another version": ({"version": "v1.6"}, r"v1\.6"),
}  # fmt: skip


@pytest.mark.parametrize(("given", "named"), REFUSED.values(), ids=REFUSED)
def test_what_is_wrong_is_named(given: dict[str, Any], named: str, tmp_path: Path) -> None:
    folder = dataset(tmp_path / "set", **given)
    with pytest.raises(InvalidRecording, match=named):
        read(folder)


@pytest.mark.parametrize("what", ["data_path", "video_path"])
def test_files_that_are_pointers_are_named(what: str, tmp_path: Path) -> None:
    folder = dataset(tmp_path / "set")
    (folder / V21[what].format(**PLACE)).write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    with pytest.raises(InvalidRecording, match="git lfs pull"):
        read(folder)
