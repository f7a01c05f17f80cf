"""Writes LeRobot datasets of version 2.1 or 3.0 from recorded episodes, as `nsrecover inspect` reads them."""

import io
import json
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from nsrecover.core.observation import Camera, Observation
from nsrecover.inspection.labels import write_names
from nsrecover.util.atomic_write import atomic_path, atomic_write_bytes
from nsrecover.util.extras import needs_extra
from nsrecover.util.untrusted_json import JsonMapping, JsonObject

with needs_extra("lerobot", "pyarrow"):
    import pyarrow as pa
    import pyarrow.parquet as pq

VERSIONS = ("v2.1", "v3.0")
STATE = ["gripper_opening_m", "tool_x_m", "tool_y_m", "tool_z_m"]
DATA = {
    "v2.1": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
    "v3.0": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
}
IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
UNNAMED = 1000
"""Masks without a name have numbers from here on."""
Frame = JsonObject
"""A row of a table: images, and `observation.state`, numbers as in `STATE`."""

NUMBERS = pa.list_(pa.float32(), len(STATE))


@dataclass(frozen=True)
class RecordedFrames:
    """An episode of a dataset.

    Attributes:
        frames: each from `images`, with `observation.state`.
        task: in words.
    """

    frames: Sequence[Frame]
    task: str


@dataclass(frozen=True)
class DatasetLayout:
    """What all episodes of a dataset have in common.

    Attributes:
        version: of the format.
        fps: frames a second.
        cameras: that took the images.
        size: height and width of the images.
        names: of the objects that masks are numbered after.
    """

    version: str
    fps: float
    cameras: tuple[Camera, ...]
    size: tuple[int, int]
    names: tuple[str, ...]

    def features(self) -> JsonObject:
        """The features of info.json."""
        found: JsonObject = {}
        axes = ["height", "width", "channels"]
        for camera in self.cameras:
            for kind, channels in (("images", 3), ("depth", 1), ("masks", 1)):
                found[f"observation.{kind}.{camera.name}"] = {
                    "dtype": "image", "shape": [*self.size, channels], "names": axes,
                }  # fmt: skip
        for name in ("observation.state", "action"):
            found[name] = {"dtype": "float32", "shape": [len(STATE)], "names": STATE}
        one = {"shape": [1], "names": None}
        found["timestamp"] = {"dtype": "float32", **one}
        return found | {
            name: {"dtype": "int64", **one} for name in ("frame_index", "episode_index", "index", "task_index")
        }

    def schema(self) -> pa.Schema:
        """The columns of the tables with frames."""
        kinds = {"image": IMAGE, "int64": pa.int64()}
        features = self.features()
        return pa.schema(
            (name, NUMBERS if given["shape"] == [len(STATE)] else kinds.get(given["dtype"], pa.float32()))
            for name, given in features.items()
        )


def images(seen: Observation, names: tuple[str, ...]) -> Frame:
    """The images of an observation as LeRobot keeps them: colour, depth in millimetres, and masks.

    Args:
        seen: the observation.
        names: of all objects of the dataset; masks are numbered after them, from 1.
    """
    number = {own: 1 + names.index(name) for own, name in seen.labels.items()}
    numbers = {int(own): number.get(int(own), UNNAMED + int(own)) for own in np.unique(seen.instances) if own}
    table = np.zeros(int(seen.instances.max()) + 1, np.uint16)
    table[list(numbers)] = list(numbers.values())
    found: Frame = {}
    for view, camera in enumerate(seen.cameras):
        millimetres = np.rint(seen.depth_m[view] * 1000).astype(np.uint16)
        found[f"observation.images.{camera.name}"] = png(seen.rgb[view])
        found[f"observation.depth.{camera.name}"] = png(millimetres)
        found[f"observation.masks.{camera.name}"] = png(table[seen.instances[view]])
    return found


def png(pixels: npt.NDArray[np.generic]) -> JsonMapping:
    """An image as a cell of a table."""
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, "PNG", compress_level=3)
    return {"bytes": data.getvalue(), "path": None}


def write_dataset(folder: Path, episodes: Iterable[RecordedFrames], layout: DatasetLayout) -> None:
    """Write a dataset; meta/cameras.json, which LeRobot ignores, has the calibration and the names of the masks.

    Args:
        folder: new or empty.
        episodes: are written one after another, so that they need not fit into memory.
        layout: what they have in common.
    """
    tasks, described, start = list[str](), list[JsonObject](), 0
    with ExitStack() as files:
        table = None
        if layout.version == "v3.0":
            part = files.enter_context(atomic_path(folder / DATA["v3.0"].format(chunk_index=0, file_index=0)))
            table = files.enter_context(pq.ParquetWriter(part, layout.schema()))
        for number, each in enumerate(episodes):
            tasks += [each.task] if each.task not in tasks else []
            rows = pa.Table.from_pylist(_rows(each, number, start, tasks.index(each.task), layout.fps), layout.schema())
            if table is None:
                with atomic_path(folder / DATA["v2.1"].format(episode_chunk=0, episode_index=number)) as part:
                    pq.write_table(rows, part)
            else:
                table.write_table(rows)  # a row group of its own, so that it can be read alone
            described.append({"episode_index": number, "tasks": [each.task], "length": len(each.frames)})
            start += len(each.frames)
    _write_meta(folder, described, tasks, layout)


def _write_meta(folder: Path, described: Sequence[JsonObject], tasks: Sequence[str], layout: DatasetLayout) -> None:
    if layout.version == "v2.1":
        _lines(folder / "meta" / "episodes.jsonl", described)
        _lines(folder / "meta" / "tasks.jsonl", [{"task_index": n, "task": task} for n, task in enumerate(tasks)])
    else:
        with atomic_path(folder / "meta/episodes/chunk-000/file-000.parquet") as part:
            pq.write_table(pa.Table.from_pylist(_placed(described)), part)
        write_names(folder / "meta/tasks.parquet", "task", tasks)
    _json(folder / "meta" / "cameras.json", _cameras(layout))
    video = {"video_path": None} if layout.version == "v3.0" else {"video_path": "", "total_videos": 0}
    info = {
        "codebase_version": layout.version, "robot_type": "panda", "fps": layout.fps, "chunks_size": 1000,
        "total_episodes": len(described), "total_frames": sum(each["length"] for each in described),
        "total_tasks": len(tasks), "total_chunks": 1, "data_files_size_in_mb": 100, "video_files_size_in_mb": 200,
        "splits": {"train": f"0:{len(described)}"}, "data_path": DATA[layout.version], **video,
        "features": layout.features(),
    }  # fmt: skip
    _json(folder / "meta" / "info.json", info)


def _rows(each: RecordedFrames, number: int, start: int, task: int, fps: float) -> list[JsonObject]:
    states = [frame["observation.state"] for frame in each.frames]
    return [
        {
            **frame, "action": states[min(n + 1, len(states) - 1)], "timestamp": n / fps, "frame_index": n,
            "episode_index": number, "index": start + n, "task_index": task,
        }
        for n, frame in enumerate(each.frames)
    ]  # fmt: skip


def _placed(described: Sequence[JsonObject]) -> list[JsonObject]:
    """Rows of the episodes in version 3.0, which say where each is."""
    placed, start = [], 0
    for each in described:
        end = start + each["length"]
        files = {f"{table}/{part}_index": 0 for table in ("data", "meta/episodes") for part in ("chunk", "file")}
        placed.append({**each, **files, "dataset_from_index": start, "dataset_to_index": end})
        start = end
    return placed


def _cameras(layout: DatasetLayout) -> JsonObject:
    cameras = [
        {
            "colour": f"observation.images.{each.name}", "depth": f"observation.depth.{each.name}",
            "masks": f"observation.masks.{each.name}", "depth_unit_m": 0.001,
            "intrinsics": each.intrinsics.tolist(), "world_from_camera": each.world_from_camera.tolist(),
        }
        for each in layout.cameras
    ]  # fmt: skip
    return {"cameras": cameras, "objects": list(layout.names)}


def _lines(path: Path, rows: Sequence[JsonObject]) -> None:
    atomic_write_bytes(path, "".join(json.dumps(row) + "\n" for row in rows).encode())


def _json(path: Path, data: object) -> None:
    atomic_write_bytes(path, json.dumps(data, indent=2).encode())
