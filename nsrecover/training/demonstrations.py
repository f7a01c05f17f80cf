"""Demonstrations in memory: boxes and crops of every frame, made by the library's own perception, cached on disk."""

import hashlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nsrecover.core import FloatArray, Observation, Plan
from nsrecover.errors import InvalidRecording
from nsrecover.models.bundle import Bundle
from nsrecover.perception.cameras.visibility import seen_through
from nsrecover.perception.objects.detections import count_pixels, crop_objects, fuse_views, lift_boxes
from nsrecover.perception.objects.memory import Memory, blend
from nsrecover.perception.perceiver import object_names
from nsrecover.records.archive import Archive
from nsrecover.records.recording import Recording, load
from nsrecover.util.atomic_write import atomic_write
from nsrecover.util.progress import progress
from nsrecover.util.untrusted_json import JsonMapping

PERCEPTION = 3
"""Version of the perceived episodes; raise it when perception changes, so that cached episodes are made anew."""


@dataclass(frozen=True, eq=False)
class Demonstration:
    """One successful episode as the library perceives it.

    Attributes:
        names: N objects.
        plan: T actions.
        boxes: (T + 1, N, 6).
        seen: (T + 1, N).
        crops: (B, S, S, 3) uint8, every object in every view of every frame.
        owners: (B, 2) frame and object of each crop.
        pixels: (B,) visible pixels of each crop.
        sensor: name of the sensor that it was seen through; empty if the recording does not say.
    """

    names: tuple[str, ...]
    plan: Plan
    boxes: FloatArray
    seen: npt.NDArray[np.bool_]
    crops: npt.NDArray[np.uint8]
    owners: npt.NDArray[np.intp]
    pixels: FloatArray
    sensor: str = ""

    def appearance(self, bundle: Bundle) -> FloatArray:
        """Learned features (T + 1, N, D): over the views and from memory, by visible pixels, as in `perceiver`."""
        rows = self.owners[:, 0] * len(self.names) + self.owners[:, 1]
        features = bundle.encode_learned(self.crops)
        visual = fuse_views(features, rows, self.pixels, self.seen.size).reshape(*self.seen.shape, -1)
        pixels = count_pixels(rows, self.pixels, self.seen.size).reshape(self.seen.shape)
        for frame in range(1, len(visual)):
            for i in range(len(self.names)):
                visual[frame, i] = blend(visual[frame, i], pixels[frame, i], visual[frame - 1, i], pixels[frame - 1, i])
            pixels[frame] = np.maximum(pixels[frame], pixels[frame - 1])
        return visual


def perceive_recording(recording: Recording, crop_size: int) -> Demonstration:
    """Boxes and crops of every frame of a recording."""
    names = object_names(recording.observations[0])
    nothing, ones = np.zeros((len(names), 0), np.float32), np.ones(len(names), np.float32)
    memories: list[Memory] = []
    crops, owners, pixels = [], [], []
    for frame, observation in enumerate(recording.observations):
        numbers = _numbers(observation, names)
        boxes, seen = lift_boxes(observation, numbers)
        if memories:
            found = np.where(seen, np.arange(len(names)), -1)
            memory = memories[-1].look(boxes, nothing, ones, found, partial(seen_through, observation))
        else:
            memory = replace(Memory.empty(0).add(names, boxes, nothing, ones), seen=seen)
        memories.append(memory)
        cut, index, count, _ = crop_objects(observation, numbers, crop_size)
        crops.append(cut)
        owners.append(np.stack([np.full(len(index), frame), index], axis=1))
        pixels.append(count)
    return Demonstration(
        names=names,
        plan=recording.plan,
        boxes=np.stack([memory.boxes for memory in memories]),
        seen=np.stack([memory.seen for memory in memories]),
        crops=np.concatenate(crops),
        owners=np.concatenate(owners),
        pixels=np.concatenate(pixels),
        sensor=_sensor(recording.notes),
    )


def _sensor(notes: JsonMapping) -> str:
    """Name of the sensor in the notes of a recording, as `python -m sim.collect` writes them."""
    found = notes.get("sensor")
    return str(found.get("name", "")) if isinstance(found, Mapping) else str(found or "")


def _numbers(observation: Observation, names: tuple[str, ...]) -> list[int]:
    """Instance number of each named object; -1, which no instance has, for one without."""
    numbers = {name: number for number, name in observation.labels.items()}
    return [numbers.get(name, -1) for name in names]


@dataclass(frozen=True)
class EpisodeSource:
    """A recorded episode that can be read.

    Attributes:
        name: what to call it.
        fingerprint: hash of its contents.
        read: reads it.
    """

    name: str
    fingerprint: str
    read: Callable[[], Recording]


def recordings(data: str | Path, count: int | None = None) -> list[EpisodeSource]:
    """The recorded episodes of a file or folder, in order.

    Args:
        data: an HDF5 file of episodes (see `archive`), a folder with one, or a folder of `.npz` recordings.
        count: only so many of them, the first ones; all of them if None.

    Raises:
        InvalidRecording: there are none, there is more than one kind of them, or the file is damaged.
        InvalidConfiguration: h5py is needed and not installed.
    """
    path = Path(data)
    if path.is_file():
        return _of_archive(path, count)
    # hidden files are parts of what was not written to the end
    archives, files = (sorted(path.glob(f"[!.]*.{kind}")) for kind in ("h5", "npz"))
    found = [str(archive) for archive in archives] + [f"{len(files)} .npz files"] * bool(files)
    if len(found) > 1:
        raise InvalidRecording(
            f"expected one HDF5 file or .npz recordings in {path}, found {', '.join(found)}; "
            f"name the file (data={archives[0]}), or move the others away"
        )
    if archives:
        return _of_archive(archives[0], count)
    if not files:
        raise InvalidRecording(
            f"expected recorded demonstrations (one .h5 file, or .npz files) at {path}, found none; "
            f"run `python -m sim.collect out={path}` or give the file or folder of your own recordings"
        )
    chosen = files[:count]
    return [
        EpisodeSource(file.name, hashlib.sha256(file.read_bytes()).hexdigest(), partial(load, file)) for file in chosen
    ]


def _of_archive(path: Path, count: int | None) -> list[EpisodeSource]:
    with Archive(path, trusted=True) as archive:
        sources = [
            EpisodeSource(f"episode {number}", archive.fingerprint(number), partial(_read_episode, path, number))
            for number in islice(archive.episodes, count)
        ]
    if not sources:
        raise InvalidRecording(f"expected episodes in {path}, found none; collect or record some")
    return sources


def _read_episode(path: Path, number: int) -> Recording:
    with Archive(path, trusted=True) as archive:
        return archive[number]


def fingerprint(sources: Sequence[EpisodeSource]) -> str:
    """Hash of the names and contents of all episodes."""
    digest = hashlib.sha256("".join(f"{source.name}:{source.fingerprint};" for source in sources).encode())
    return digest.hexdigest()[:16]


def load_demonstrations(sources: Sequence[EpisodeSource], crop_size: int, cache: str | Path) -> list[Demonstration]:
    """All usable demonstrations, perceived once and cached by their contents.

    Episodes whose first observation does not show every object of the plan are left out, with a warning.

    Args:
        sources: see `recordings`.
        crop_size: side of the object crops, pixels.
        cache: folder for the perceived episodes; safe to delete.

    Raises:
        InvalidRecording: one is damaged, or none can be used.
    """
    every = list(_perceived(sources, crop_size, Path(cache)))
    usable = [demo for demo in every if all(name in demo.names for action in demo.plan for name in action.arguments)]
    if every and not usable:
        raise InvalidRecording(
            f"expected recordings whose first observation shows every object of the plan, found none among "
            f"{len(every)}; check the labels of the masks"
        )
    if len(usable) < len(every):
        warnings.warn(
            f"{len(every) - len(usable)} of {len(every)} episodes are left out: their first observation does not show "
            "every object of the plan",
            stacklevel=2,
        )
    return usable


def _perceived(sources: Sequence[EpisodeSource], crop_size: int, cache: Path) -> Iterator[Demonstration]:
    cache.mkdir(parents=True, exist_ok=True)
    for source in progress(sources, "perceiving demonstrations"):
        stored = cache / f"{source.fingerprint[:24]}-{crop_size}-{PERCEPTION}.npz"
        if stored.is_file():
            yield _read(stored)
            continue
        demonstration = perceive_recording(source.read(), crop_size)
        _write(demonstration, stored)
        yield demonstration


def _write(demonstration: Demonstration, path: Path) -> None:
    with atomic_write(path) as file:
        np.savez(
            file,
            names=np.array(demonstration.names),
            plan=np.array([str(action) for action in demonstration.plan]),
            sensor=demonstration.sensor,
            **{name: getattr(demonstration, name) for name in ("boxes", "seen", "crops", "owners", "pixels")},
        )


def _read(path: Path) -> Demonstration:
    with np.load(path, allow_pickle=False) as stored:
        return Demonstration(
            names=tuple(str(name) for name in stored["names"]),
            plan=Plan.parse([str(line) for line in stored["plan"]]),
            sensor=str(stored["sensor"]),
            **{name: stored[name] for name in ("boxes", "seen", "crops", "owners", "pixels")},
        )
