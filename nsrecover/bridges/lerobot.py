"""Episodes of LeRobot datasets (versions 2.0, 2.1 and 3.0) as recorded runs, without the library.

    views = [LeRobotView("observation.images.left", "observation.images.left_depth", camera)]
    run = read_episode("datasets/me/stacking", 4, Plan.parse("top(red, blue)"), [0, 132], views, detect)

LeRobot has no masks, plans and moments: a detector of yours gives the masks of the chosen frames, and you say which
frames were taken before the first action and after each. Depth is an image of 16 bits or an array; the videos have 8
bits a channel, which is too coarse for depth. The frames of a video are those of the episode, in their order: the times
of a recording that was slower than its `fps` are not those of the video.

Needs pyarrow and, for videos, imageio-ffmpeg: `pip install 'nsrecover[lerobot]'`.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import UnionType
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from PIL import Image

from nsrecover.core import Camera, Observation, Plan
from nsrecover.errors import InvalidRecording, require_known
from nsrecover.records.reading import readable
from nsrecover.records.recording import Recording
from nsrecover.util.extras import needs_extra
from nsrecover.util.untrusted_json import JsonMapping, JsonObject, parse_json, read_json, read_text

VERSIONS = ("v2.0", "v2.1", "v3.0")
"""Values of `codebase_version` that can be read."""

Detect = Callable[[npt.NDArray[np.uint8]], tuple[npt.NDArray[np.int32], Mapping[int, str]]]
"""Colour images (V, H, W, 3) of one moment -> instance images (V, H, W) and the names of their numbers."""


@dataclass(frozen=True)
class LeRobotView:
    """One RGB-D camera of a dataset.

    Attributes:
        colour: feature with its colour images, `image` or `video`.
        depth: feature with its depth, aligned to colour: `image` of 16 bits, or an array (H, W) or (H, W, 1).
        camera: its calibration.
        depth_unit_m: metres of one step of depth.
        masks: feature with the masks of a detector, `image` of 16 bits; empty: there is none.
    """

    colour: str
    depth: str
    camera: Camera
    depth_unit_m: float = 0.001
    masks: str = ""


def read_episode(
    folder: str | Path, episode: int, plan: Plan, moments: Sequence[int], views: Sequence[LeRobotView], detect: Detect
) -> Recording:
    """Read an episode.

    Args:
        folder: of the dataset, which has `meta/info.json`.
        episode: its index.
        plan: T actions that were carried out.
        moments: T + 1 frame indices, rising: before the first action and after each.
        views: at least one.
        detect: gives masks and names; a number means the same object in every view.

    Raises:
        InvalidRecording: the dataset is of another version, or the episode, a frame or a feature is missing.
        InvalidConfiguration: the extra is not installed.
    """
    dataset = EpisodeFiles(Path(folder), episode)
    observations = []
    for rgb, depth, time_s in images_at(dataset, dataset.rows(moments), views):
        instances, labels = detect(rgb)
        cameras = tuple(view.camera for view in views)
        observations.append(Observation(rgb, depth, instances, cameras, labels, time_s=time_s))
    return Recording(plan, tuple(observations), {"lerobot": f"{dataset.folder.name} episode {episode}"})


def images_at(
    dataset: EpisodeFiles, rows: Sequence[JsonMapping], views: Sequence[LeRobotView]
) -> Iterator[tuple[npt.NDArray[np.uint8], npt.NDArray[np.float32], float]]:
    """Colour (V, H, W, 3), depth in metres (V, H, W) and time of some frames.

    Raises:
        InvalidRecording: a feature is missing, or of another kind.
    """
    colours = [dataset.images(view.colour, rows) for view in views]
    depths = [dataset.images(view.depth, rows) for view in views]
    for number, row in enumerate(rows):
        rgb = np.stack([_colour(images[number], view) for images, view in zip(colours, views, strict=True)])
        depth = np.stack(
            [_depth(images[number], view, rgb.shape[1:3]) for images, view in zip(depths, views, strict=True)]
        )
        yield rgb, depth, float(row["timestamp"])


@dataclass(frozen=True)
class Listed:
    """An episode of a dataset.

    Attributes:
        index: its number.
        task: in words.
        row: what a dataset of version 3.0 says about its files.
    """

    index: int
    task: str
    row: JsonMapping


def info_of(folder: Path) -> JsonObject:
    """The contents of meta/info.json.

    Raises:
        InvalidRecording: it is missing, damaged, or of another version.
    """
    try:
        info: JsonObject = read_json(folder / "meta" / "info.json")
    except (OSError, ValueError) as problem:
        raise InvalidRecording(
            f"expected a LeRobot dataset with meta/info.json in {folder}, found: {problem}; check the path"
        ) from problem
    if not isinstance(info, dict):
        raise InvalidRecording(f"expected an object in {folder / 'meta' / 'info.json'}, found something else")
    version = str(info.get("codebase_version"))
    if version not in VERSIONS:
        raise InvalidRecording(f"expected a LeRobot dataset of version {', '.join(VERSIONS)}, found {version}")
    return info


def episodes_of(folder: str | Path) -> list[Listed]:
    """The episodes of a dataset, by their numbers.

    Raises:
        InvalidRecording: the dataset is of another version, or says nothing about its episodes.
    """
    meta, rows = Path(folder) / "meta", list[JsonObject]()
    if info_of(Path(folder))["codebase_version"] == "v3.0":
        for file in sorted((meta / "episodes").glob("*/*.parquet")):
            rows += _read_table(file, ("episode_index", "data/chunk_index", "data/file_index"))
    elif (meta / "episodes.jsonl").is_file():
        with readable(f"a table in {meta / 'episodes.jsonl'}"):
            rows = [cast(JsonObject, parse_json(line)) for line in read_text(meta / "episodes.jsonl").splitlines()]
    if not rows or any(not isinstance(row, dict) or "episode_index" not in row for row in rows):
        raise InvalidRecording(f"expected the episodes in {meta}, found none; fetch the whole dataset")
    found = [Listed(int(row["episode_index"]), ", ".join(map(str, row.get("tasks") or ())), row) for row in rows]
    return sorted(found, key=lambda each: each.index)


class EpisodeFiles:
    """Files of one episode.

    Args:
        folder: of the dataset.
        episode: index of the episode.

    Attributes:
        info: the contents of meta/info.json.
    """

    def __init__(self, folder: Path, episode: int) -> None:
        self.folder, self._episode, self._length = folder, episode, 0
        self.info = info_of(folder)
        self._in_files = self.info["codebase_version"] == "v3.0"
        self._place = self._of_files() if self._in_files else self._of_episodes()

    def rows(self, moments: Sequence[int] | None = None) -> list[JsonObject]:
        """The frames of the moments; all of them in their order, if none are given."""
        needed = ("episode_index", "frame_index", "timestamp")
        table = _read_table(self.data_file, needed, [("episode_index", "==", self._episode)])
        of_episode = {int(row["frame_index"]): row for row in table if int(row["episode_index"]) == self._episode}
        self._length = len(of_episode)
        if moments is None:
            moments = sorted(of_episode)
        if any(one >= other for one, other in pairwise(moments)):
            raise InvalidRecording(f"expected rising frame indices as moments, found {list(moments)}; sort them")
        missing = [moment for moment in moments if moment not in of_episode]
        if missing:
            raise InvalidRecording(
                f"expected the frames {list(moments)} in episode {self._episode} of {self.folder}, found none with the "
                f"index {missing[0]} among {len(of_episode)}"
            )
        return [of_episode[moment] for moment in moments]

    @property
    def data_file(self) -> Path:
        """The table with its frames."""
        return self._file("data_path")

    def images(self, feature: str, rows: Sequence[JsonMapping]) -> list[npt.NDArray[np.generic]]:
        """The images of a feature at some frames."""
        features = self._required("features", dict)
        require_known(feature, features, f"a feature of {self.folder}", InvalidRecording)
        if isinstance(features[feature], dict) and features[feature].get("dtype") == "video":
            return self._of_video(feature, [int(row["frame_index"]) for row in rows])
        return [self._image_of(row.get(feature), feature, int(row["frame_index"])) for row in rows]

    def _of_episodes(self) -> JsonObject:
        chunk = self._episode // int(self.info.get("chunks_size") or 1000)
        return {"episode_chunk": chunk, "episode_index": self._episode}

    def _of_files(self) -> JsonObject:
        for each in episodes_of(self.folder):
            if each.index == self._episode:
                row = each.row
                return {"chunk_index": row["data/chunk_index"], "file_index": row["data/file_index"], "row": row}
        raise InvalidRecording(f"expected an episode of {self.folder}, found none with the index {self._episode}")

    def _of_video(self, feature: str, frames: Sequence[int]) -> list[npt.NDArray[np.generic]]:
        """The images of some frames of the episode."""
        with needs_extra("lerobot", "imageio-ffmpeg"):
            import imageio_ffmpeg
        place, first, fps = dict(self._place), 0, float(self._required("fps", int | float))
        length = None
        if self._in_files:
            row = self._place["row"]
            names = [f"videos/{feature}/{name}" for name in ("chunk_index", "file_index", "from_timestamp")]
            if lost := [name for name in names if row.get(name) is None]:
                raise InvalidRecording(f"expected {lost[0]} in meta/episodes of {self.folder}, found none")
            place = {"chunk_index": row[names[0]], "file_index": row[names[1]]}
            first = round(float(row[names[2]]) * fps)
            if (end := row.get(f"videos/{feature}/to_timestamp")) is not None:
                length = round(float(end) * fps) - first
        path = self._file("video_path", video_key=feature, **place)
        if not path.is_file():
            raise InvalidRecording(f"expected the video {path}, found none; fetch the dataset with its videos")
        with readable(f"a video in {path}", "it is damaged or was not fetched: `git lfs pull` gets files of a hub"):
            if not self._in_files:
                length = imageio_ffmpeg.count_frames_and_secs(path)[0]
            found = _video_frames(path, [first + frame for frame in frames])
        if length is not None and length != self._length:
            raise InvalidRecording(
                f"expected {self._length} frames of episode {self._episode} in {path}, as in its table, found {length};"
                " the video does not belong to it"
            )
        if lost_frames := [frame for frame in frames if first + frame not in found]:
            raise InvalidRecording(
                f"expected at least {first + lost_frames[0] + 1} frames in {path}, found fewer; it is cut off"
            )
        return [found[first + frame] for frame in frames]

    def _image_of(self, value: Any, feature: str, frame: int) -> npt.NDArray[np.generic]:
        """An encoded image, a path of one, or an array."""
        if not isinstance(value, Mapping):
            if value is None:
                raise InvalidRecording(f"expected an image of {feature} at frame {frame} of {self.folder}, found none")
            return np.asarray(value)
        data, path = value.get("bytes"), value.get("path")
        if data is None and path:
            place = self._inside(str(path))
            if not place.is_file():
                raise InvalidRecording(f"expected the image {place} of {feature}, found none; fetch the whole dataset")
            data = place.read_bytes()
        with readable(f"an image of {feature} at frame {frame} of {self.folder}"):
            if data is None:
                raise ValueError("neither bytes nor a path")
            image = Image.open(io.BytesIO(data))
            image.load()
            return np.asarray(image)

    def _required(self, name: str, kind: type | UnionType) -> Any:
        """A value of info.json.

        Raises:
            InvalidRecording: it is missing, null, or of another type.
        """
        found = self.info.get(name)
        if not isinstance(found, kind):
            raise InvalidRecording(f"expected {name} in meta/info.json of {self.folder}, found {found!r}")
        return found

    def _file(self, name: str, **place: object) -> Path:
        """The file of a path in info.json."""
        pattern = self._required(name, str)
        try:
            return self._inside(pattern.format(**(place or self._place)))
        except (KeyError, IndexError, ValueError, AttributeError) as problem:
            raise InvalidRecording(
                f"expected {name} in meta/info.json of {self.folder} as version {self.info['codebase_version']} has "
                f"it, found {pattern!r}"
            ) from problem

    def _inside(self, path: str) -> Path:
        """A path in the dataset.

        Raises:
            InvalidRecording: it leads out of it.
        """
        place = self.folder / path
        if not place.resolve().is_relative_to(self.folder.resolve()):
            raise InvalidRecording(f"expected paths inside of {self.folder}, found {path!r}")
        return place


def _video_frames(path: Path, wanted: Sequence[int]) -> dict[int, npt.NDArray[np.uint8]]:
    """Some frames of a video by their number, each as it was encoded, none doubled or left out for its time."""
    import imageio_ffmpeg

    frames = imageio_ffmpeg.read_frames(path, output_params=["-fps_mode", "passthrough"])
    width, height = next(frames)["source_size"]
    found = {}
    for number, data in enumerate(frames):
        if number in wanted:
            found[number] = np.frombuffer(data, np.uint8).reshape(height, width, 3)
        if number >= max(wanted):
            break
    frames.close()
    return found


def _read_table(path: Path, columns: Sequence[str], only: list[tuple[str, str, int]] | None = None) -> list[JsonObject]:
    with needs_extra("lerobot", "pyarrow"):
        import pyarrow.parquet as pq
    if not path.is_file():
        raise InvalidRecording(f"expected the file {path} of a LeRobot dataset, found none; fetch the whole dataset")
    with readable(f"a table in {path}", "it is damaged or was not fetched: `git lfs pull` gets files of a hub"):
        rows: list[JsonObject] = pq.read_table(path, filters=only).to_pylist()
    for row in rows:
        if lost := [name for name in columns if row.get(name) is None]:
            raise InvalidRecording(f"expected a value of {lost[0]} in every row of {path}, found none")
    return rows


NEAREST_M = 0.05
"""Depth that is nowhere farther is of another unit, metres."""


def _colour(image: npt.NDArray[np.generic], view: LeRobotView) -> npt.NDArray[np.uint8]:
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
        raise InvalidRecording(
            f"expected colour images (H, W, 3) of 8 bits as {view.colour}, found {image.shape} {image.dtype}"
        )
    return image.astype(np.uint8, copy=False)


def _depth(image: npt.NDArray[np.generic], view: LeRobotView, shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
    depth = image[..., 0] if image.ndim == 3 and image.shape[2] == 1 else image
    if depth.shape != shape or depth.dtype == np.uint8:
        raise InvalidRecording(
            f"expected depth {shape} of at least 16 bits as {view.depth}, aligned to colour, found {image.shape} "
            f"{image.dtype}"
        )
    metres: npt.NDArray[np.float32] = depth.astype(np.float32) * np.float32(view.depth_unit_m)
    if 0 < (most := float(np.max(metres, initial=0))) < NEAREST_M:
        raise InvalidRecording(
            f"expected depth in steps of {view.depth_unit_m:g} m as {view.depth}, found at most {most:.3g} m from "
            f"values up to {float(np.max(depth)):.3g}; give depth_unit_m=1.0 if they are metres"
        )
    return np.where(np.isfinite(metres), metres, np.float32(0.0))
