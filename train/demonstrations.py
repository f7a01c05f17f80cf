"""Demonstrations in memory: boxes and crops of every frame, made by the library's own perception, cached on disk."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from nsrecover.errors import InvalidRecording
from nsrecover.models.bundle import Bundle
from nsrecover.perceive import crop_objects, lift_boxes, object_names
from nsrecover.recording import Recording, load
from nsrecover.scene.memory import remember
from nsrecover.structs import FloatArray, Plan, SceneGraph


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
    """

    names: tuple[str, ...]
    plan: Plan
    boxes: FloatArray
    seen: npt.NDArray[np.bool_]
    crops: npt.NDArray[np.uint8]
    owners: npt.NDArray[np.intp]
    pixels: FloatArray

    def appearance(self, bundle: Bundle) -> FloatArray:
        """Features (T + 1, N, D): mean over the views, weighted by visible pixels, as in `nsrecover.perceive`."""
        visual = np.zeros((*self.seen.shape, bundle.config.feature_size), dtype=np.float32)
        np.add.at(visual, tuple(self.owners.T), bundle.encode(self.crops) * self.pixels[:, None])
        return np.asarray(visual / np.maximum(np.linalg.norm(visual, axis=-1, keepdims=True), 1e-9), np.float32)


def perceive_recording(recording: Recording, crop_size: int) -> Demonstration:
    """Boxes and crops of every frame of a recording."""
    names = object_names(recording.observations[0])
    graphs: list[SceneGraph] = []
    crops, owners, pixels = [], [], []
    for frame, observation in enumerate(recording.observations):
        frame_boxes, frame_seen = lift_boxes(observation, names)
        graph = SceneGraph(names, np.zeros((len(names), 0), np.float32), frame_boxes, frame_seen)
        graphs.append(remember(graphs[-1], graph) if graphs else graph)
        cut, index, count = crop_objects(observation, names, crop_size)
        crops.append(cut)
        owners.append(np.stack([np.full(len(index), frame), index], axis=1))
        pixels.append(count)
    return Demonstration(
        names=names,
        plan=recording.plan,
        boxes=np.stack([graph.boxes for graph in graphs]),
        seen=np.stack([graph.seen for graph in graphs]),
        crops=np.concatenate(crops),
        owners=np.concatenate(owners),
        pixels=np.concatenate(pixels),
    )


def recording_files(folder: str | Path) -> list[Path]:
    """Recorded episodes of a folder, in order.

    Raises:
        InvalidRecording: there are none.
    """
    files = sorted(Path(folder).glob("*.npz"))
    if not files:
        raise InvalidRecording(
            f"expected recorded demonstrations (*.npz) in {folder}, found none; "
            f"run `python -m sim.collect out={folder}` or give the folder of your own recordings"
        )
    return files


def fingerprint(files: Sequence[Path]) -> str:
    """Changes when a file is added, removed or rewritten with other contents of another size."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name}:{file.stat().st_size};".encode())
    return digest.hexdigest()[:16]


def load_demonstrations(folder: str | Path, crop_size: int, cache: str | Path) -> list[Demonstration]:
    """All demonstrations of a folder, perceived once and cached.

    Args:
        folder: of recorded episodes.
        crop_size: side of the object crops, pixels.
        cache: folder for the perceived episodes; safe to delete.

    Raises:
        InvalidRecording: the folder has none, or one is damaged.
    """
    return list(_perceived(recording_files(folder), crop_size, Path(cache)))


def _perceived(files: Sequence[Path], crop_size: int, cache: Path) -> Iterator[Demonstration]:
    cache.mkdir(parents=True, exist_ok=True)
    for file in tqdm(files, desc="perceiving demonstrations", unit="episode", leave=False):
        key = hashlib.sha256(f"{file.resolve()}:{file.stat().st_size}:{file.stat().st_mtime_ns}".encode()).hexdigest()
        stored = cache / f"{key[:24]}-{crop_size}.npz"
        if stored.is_file():
            yield _read(stored)
            continue
        demonstration = perceive_recording(load(file), crop_size)
        _write(demonstration, stored)
        yield demonstration


def _write(demonstration: Demonstration, path: Path) -> None:
    part = path.with_suffix(".part.npz")
    np.savez(
        part,
        names=np.array(demonstration.names),
        plan=np.array([str(action) for action in demonstration.plan]),
        **{name: getattr(demonstration, name) for name in ("boxes", "seen", "crops", "owners", "pixels")},
    )
    os.replace(part, path)


def _read(path: Path) -> Demonstration:
    with np.load(path, allow_pickle=False) as stored:
        return Demonstration(
            names=tuple(str(name) for name in stored["names"]),
            plan=Plan.parse([str(line) for line in stored["plan"]]),
            **{name: stored[name] for name in ("boxes", "seen", "crops", "owners", "pixels")},
        )
