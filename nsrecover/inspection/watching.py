"""What the cameras of a LeRobot episode show of the objects, from its first to its last frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from nsrecover.bridges.lerobot import EpisodeFiles, LeRobotView, Listed, images_at
from nsrecover.core import Camera, FloatArray, Observation, SceneGraph
from nsrecover.errors import InvalidObservation, InvalidRecording
from nsrecover.perception.masks.table import TableMasks
from nsrecover.perception.objects.detections import AppearanceModel
from nsrecover.perception.perceiver import Association, ScenePerceiver
from nsrecover.util.untrusted_json import JsonMapping, read_json

CAMERAS = "meta/cameras.json"
"""Calibration of the cameras, in the folder of a dataset; LeRobot has no place for it."""
STILL_M = 0.01
"""An object rests that is in the same place in two frames in a row."""
GROWN_M, SHRUNK_M = 0.04, 0.015
"""A box with a side that is so much longer or shorter than usual shows several objects, or a part of one."""
UNSEEN_FRAMES = 2
"""An object that is not seen in so many last frames may be missing."""
Flags = npt.NDArray[np.bool_]


class Size(NamedTuple):
    """How large an object usually looks: its sides (3,) from the shortest on, and its height, metres."""

    sides: FloatArray
    height: float


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
class WatchedEpisode:
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
    """

    index: int
    task: str
    names: tuple[str, ...]
    looks: FloatArray
    times_s: FloatArray
    boxes: FloatArray
    seen: Flags
    missing: Flags

    def named_after(self, other: WatchedEpisode) -> WatchedEpisode:
        """The same episode, whose objects are called after those of another one that look most like them."""
        own, theirs = linear_sum_assignment(-self.looks @ other.looks.T)
        return replace(
            self, names=tuple(other.names[n] for n in theirs), looks=self.looks[own], boxes=self.boxes[:, own],
            seen=self.seen[:, own], missing=self.missing[:, own],
        )  # fmt: skip

    def settled(self, sizes: Mapping[str, Size]) -> tuple[SceneGraph, ...]:
        """The scene at every frame, with each object where it rested last; what is never seen again is missing.

        In the last frame every object that is seen rests.

        Args:
            sizes: of the objects by their names; others are left out.
        """
        names = [name for name in self.names if name in sizes]
        rows = [self.names.index(name) for name in names]
        usual = np.array([sizes[name].sides for name in names], np.float32).reshape(-1, 3)
        boxes, seen = self.boxes[:, rows], self.seen[:, rows]
        grown = np.sort(boxes[..., 3:], axis=-1) - usual
        whole = seen & (grown < GROWN_M).all(axis=-1) & (grown > -SHRUNK_M).all(axis=-1)
        near = np.linalg.norm(boxes[1:, :, :3] - boxes[:-1, :, :3], axis=-1) < STILL_M
        rests = np.concatenate([near & whole[1:] & whole[:-1], whole[-1:]])  # an episode may end with its last change
        last = np.where(seen, np.arange(len(seen))[:, None], -1).max(axis=0)
        unseen = (last >= 0) & (last < len(seen) - UNSEEN_FRAMES)
        places, scenes = boxes[0].copy(), []
        for frame, resting in enumerate(rests):
            here = boxes[frame : frame + 2].mean(axis=0)
            places = np.where(resting[:, None], here, places).astype(np.float32)
            places[:, 5] = [sizes[name].height for name in names]
            gone = self.missing[frame, rows] & (frame > last) & unseen
            scenes.append(SceneGraph(tuple(names), np.zeros((len(gone), 0), np.float32), places.copy(), ~gone))
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
    intrinsics, pose = (np.array(data[name], np.float32) for name in ("intrinsics", "world_from_camera"))
    name = str(data["colour"]).rsplit(".", 1)[-1]
    unit_m = float(data.get("depth_unit_m", 0.001))
    return LeRobotView(
        str(data["colour"]), str(data["depth"]), Camera(intrinsics, pose, name), unit_m, str(data.get("masks", ""))
    )


def watch(folder: Path, listed: Listed, setup: Setup, appearance: AppearanceModel, rate_hz: float) -> WatchedEpisode:
    """Perceive the objects of an episode.

    Args:
        folder: of the dataset.
        listed: the episode.
        setup: its cameras.
        appearance: describes looks.
        rate_hz: frames a second that are looked at.

    Raises:
        InvalidRecording: the episode cannot be read, or shows no objects.
    """
    files = EpisodeFiles(folder, listed.index)
    rows = files.rows()
    rows = [*rows[: -1 : max(1, round(float(files.info.get("fps") or rate_hz) / rate_hz))], *rows[-1:]]
    how = Association.KNOWN if setup.objects else Association.TRACKED
    perceiver = ScenePerceiver(appearance, how, watch_cameras=False)
    graphs, times = list[SceneGraph](), list[float]()
    for each in _observations(files, rows, setup):
        with suppress(InvalidObservation):  # a frame that shows nothing
            graphs.append(perceiver.step(each))
            times.append(each.time_s)
    names = tuple(n for n in graphs[-1].names if n not in perceiver.reported.unnamed) if graphs else ()
    if len(graphs) < 2 or not names:
        raise InvalidRecording(f"expected frames with objects in episode {listed.index} of {folder}, found none")
    for number in range(len(graphs) - 1, 0, -1):  # what is seen later has been there
        graphs[number - 1] = graphs[number - 1].with_objects_of(graphs[number])
    graphs = [graph.chosen(names) for graph in graphs]
    return WatchedEpisode(
        listed.index, listed.task, names, graphs[0].visual, np.array(times, np.float32),
        np.stack([graph.boxes for graph in graphs]),
        np.stack([graph.seen for graph in graphs]),
        np.stack([graph.missing for graph in graphs]),
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
