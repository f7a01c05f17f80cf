"""What the cameras of a LeRobot episode show of the objects, from its first to its last frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nsrecover.core import Camera, FloatArray, Observation, SceneGraph
from nsrecover.errors import InvalidObservation, InvalidRecording
from nsrecover.integrations.lerobot import EpisodeFiles, LeRobotView, Listed, images_at
from nsrecover.perception.masks.table import TableMasks
from nsrecover.perception.perceiver import ScenePerceiver
from nsrecover.util.untrusted_json import JsonMapping, read_json

CAMERAS = "meta/cameras.json"
"""Calibration of the cameras, in the folder of a dataset; LeRobot has no place for it."""
STILL_M = 0.01
"""An object rests that is in the same place in two frames in a row."""
FIRST_FRAMES = 3
"""The one of the first frames that shows most objects names them."""
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Setup:
    """What the cameras of a dataset are.

    Attributes:
        views: at least one.
        objects: names of the masks 1, 2, ...; larger numbers have none.
    """

    views: tuple[LeRobotView, ...]
    objects: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Watched:
    """An episode of T frames with N objects.

    Attributes:
        index: number of the episode.
        task: in words.
        names: of the objects.
        looks: (N, D) what they look like at first.
        times_s: (T,) of the frames.
        boxes: (T, N, 6) where the objects are, centre and size, metres.
        seen: (T, N) whether they are visible.
        missing: (T, N) whether they are not visible and their places are visibly empty.
        state: (T, S) of the robot; S is 0 if there is none.
    """

    index: int
    task: str
    names: tuple[str, ...]
    looks: FloatArray
    times_s: FloatArray
    boxes: FloatArray
    seen: Flags
    missing: Flags
    state: FloatArray

    def settled(self) -> tuple[SceneGraph, ...]:
        """The scene at every frame, with each object where it rested last; what is never seen again is missing."""
        near = np.linalg.norm(self.boxes[1:, :, :3] - self.boxes[:-1, :, :3], axis=-1) < STILL_M
        rests = np.concatenate([near & self.seen[1:] & self.seen[:-1], np.zeros((1, len(self.names)), np.bool_)])
        last = np.where(self.seen, np.arange(len(self.seen))[:, None], -1).max(axis=0)
        places, scenes = self.boxes[0].copy(), []
        for frame, resting in enumerate(rests):
            here = self.boxes[frame : frame + 2].mean(axis=0)
            places = np.where(resting[:, None], here, places).astype(np.float32)
            gone = self.missing[frame] & (frame > last)
            scenes.append(SceneGraph(self.names, np.zeros((len(gone), 0), np.float32), places, ~gone))
        return tuple(scenes)


def setup_of(folder: Path) -> Setup | None:
    """The cameras of a dataset, from `CAMERAS`; None if there is no such file.

    Raises:
        InvalidRecording: it is damaged.
    """
    path = folder / CAMERAS
    if not path.is_file():
        return None
    try:
        data: Any = read_json(path)
        views = tuple(_view(each) for each in data["cameras"])
        return Setup(views, tuple(map(str, data.get("objects", ()))))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, InvalidObservation) as problem:
        raise InvalidRecording(
            f"expected cameras with colour, depth, intrinsics and world_from_camera in {path}, found: {problem!r}"
        ) from problem


def _view(data: JsonMapping) -> LeRobotView:
    matrices = (np.array(data[name], np.float32) for name in ("intrinsics", "world_from_camera"))
    name = str(data["colour"]).rsplit(".", 1)[-1]
    unit_m = float(data.get("depth_unit_m", 0.001))
    return LeRobotView(
        str(data["colour"]), str(data["depth"]), Camera(*matrices, name), unit_m, str(data.get("masks", ""))
    )


def watch(
    folder: Path, listed: Listed, setup: Setup, perceiver: Callable[[], ScenePerceiver], rate_hz: float
) -> Watched:
    """Perceive the objects of an episode.

    Args:
        folder: of the dataset.
        listed: the episode.
        setup: its cameras.
        perceiver: makes a fresh perceiver.
        rate_hz: frames a second that are looked at.

    Raises:
        InvalidRecording: the episode cannot be read, or shows no objects.
    """
    files = EpisodeFiles(folder, listed.index)
    rows = files.rows()
    rows = rows[:: max(1, round(float(files.info.get("fps") or rate_hz) / rate_hz))]
    seen = list(_observations(files, rows, setup))
    begin = max(range(min(FIRST_FRAMES, len(seen))), key=lambda n: (len(set(seen[n].labels.values())), -n), default=0)
    if len(seen) < 2 + begin or not seen[begin].labels:
        raise InvalidRecording(f"expected frames with objects in episode {listed.index} of {folder}, found none")
    own = perceiver()
    graphs = [own.reset(seen[begin])]
    names, looks = graphs[0].names, graphs[0].visual
    for each in seen[begin + 1 :]:
        try:
            graphs.append(own.step(each).chosen(names))
        except InvalidObservation:  # a frame without any image
            graphs.append(graphs[-1].doubted(names))
    states = [np.ravel(row.get("observation.state", ())).astype(np.float32) for row in rows[begin:]]
    return Watched(
        listed.index, listed.task, names, looks,
        np.array([each.time_s for each in seen[begin:]], np.float32),
        np.stack([graph.boxes for graph in graphs]),
        np.stack([graph.seen for graph in graphs]),
        np.stack([graph.missing for graph in graphs]),
        np.stack(states),
    )  # fmt: skip


def _observations(files: EpisodeFiles, rows: Sequence[JsonMapping], setup: Setup) -> Iterator[Observation]:
    cameras = tuple(view.camera for view in setup.views)
    given = [files.images(view.masks, rows) for view in setup.views if view.masks]
    segmenter = TableMasks()
    for number, (rgb, depth, time_s) in enumerate(images_at(files, rows, setup.views)):
        if len(given) < len(setup.views):
            found = segmenter.look(rgb, depth, cameras, time_s)
            first = {n: f"object {n}" for n in np.unique(found.instances[0]).tolist() if n > 0}
            yield (
                found
                if found.labels
                else Observation(rgb, depth, found.instances, cameras, first, time_s=time_s, shared_ids=False)
            )
            continue
        instances = np.stack([np.asarray(images[number], np.int32) for images in given])
        numbers = [n for n in np.unique(instances).tolist() if 0 < n <= len(setup.objects)]
        labels = {n: setup.objects[n - 1] for n in numbers}
        own = [np.unique(view[view > 0]) for view in instances]
        shared = len(np.unique(np.concatenate(own))) < sum(map(len, own))  # of a detector that sees all views
        yield Observation(rgb, depth, instances, cameras, labels, time_s=time_s, shared_ids=shared)
