"""Recorded episodes: a plan and what the cameras saw before, between and after its actions, in one `.npz` file.

Nothing is pickled and only numpy is needed to read one. Writing is atomic, and the same recording always gives the
same bytes.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nsrecover.errors import InvalidRecording, NsrecoverError, did_you_mean
from nsrecover.observation import Camera, Observation
from nsrecover.structs import Action, Plan

SCHEMA = 1
"""Version of the file format; readers refuse any other."""

DEPTH_STEPS_PER_M = 10_000
"""Depth is stored in tenths of a millimetre; what lies beyond 6.5535 m is stored as 0, no reading."""

COMPRESSION = 1
"""zlib's fastest level: renders and masks are smooth, higher levels cost several times the time for little."""

_DTYPES = {
    "schema": "i",
    "plan": "U",
    "targets": "f",
    "rgb": "u",
    "depth": "u",
    "instances": "iu",
    "intrinsics": "f",
    "world_from_camera": "f",
    "camera_names": "U",
    "labels": "U",
    "gripper_opening_m": "f",
    "holding": "b",
    "time_s": "f",
    "notes": "U",
}
"""Every array of a file and the kinds of dtype it may have."""


@dataclass(frozen=True, eq=False)
class Recording:
    """What one episode looked like.

    Attributes:
        plan: T actions, as they were carried out.
        observations: T + 1 observations with the same views and image size; `observations[t]` was taken after the
            first t actions.
        notes: anything that JSON can hold: where the recording comes from, the seed, the scene.
    """

    plan: Plan
    observations: tuple[Observation, ...]
    notes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.observations) != len(self.plan) + 1:
            raise InvalidRecording(
                f"expected {len(self.plan) + 1} observations for {len(self.plan)} actions, found "
                f"{len(self.observations)}; record one before the first action and one after each"
            )
        shapes = {observation.rgb.shape for observation in self.observations}
        if len(shapes) != 1:
            raise InvalidRecording(
                f"expected the same views and image size in every observation, found {sorted(shapes)}; "
                "resize the images or record them separately"
            )

    @classmethod
    def load(cls, path: str | Path) -> Recording:
        """The same as `load`."""
        return load(path)

    def save(self, path: str | Path) -> None:
        """The same as the function `save`."""
        save(self, path)


def save(recording: Recording, path: str | Path) -> None:
    """Write a recording; the file appears whole or not at all.

    Args:
        recording: what to write.
        path: where to, usually ending in `.npz`; the folder is made if need be, an existing file is replaced.

    Raises:
        InvalidRecording: the notes are not JSON, or an action cannot be written as text and read again.
    """
    path = Path(path)
    arrays = _to_arrays(recording)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION) as archive:
                for name, array in arrays.items():
                    buffer = io.BytesIO()
                    np.save(buffer, array, allow_pickle=False)
                    # ZipInfo's own fixed date: the same recording is the same file
                    archive.writestr(
                        zipfile.ZipInfo(f"{name}.npy"), buffer.getbuffer(), zipfile.ZIP_DEFLATED, COMPRESSION
                    )
            file.flush()
            os.fchmod(file.fileno(), 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def load(path: str | Path) -> Recording:
    """Read a recording.

    Args:
        path: a file that `save` wrote.

    Returns:
        The recording; depth is exact to 0.05 mm.

    Raises:
        InvalidRecording: there is no such file, it is damaged, of another version, or its arrays do not fit together.
    """
    path = Path(path)
    if not path.is_file():
        raise InvalidRecording(f"expected a recorded episode at {path}, found {_what_is_there(path)}; check the path")
    try:
        with np.load(path, allow_pickle=False) as archive:
            _check_members(path, archive)
            arrays = {name: archive[name] for name in _DTYPES}
    except (OSError, TypeError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as problem:
        raise InvalidRecording(
            f"expected a recorded episode in {path}, found a file that cannot be read ({problem}); "
            "it is damaged or of another kind: record it again or fetch it again"
        ) from problem
    _check_arrays(path, arrays)
    try:
        return _from_arrays(arrays)
    except (NsrecoverError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise InvalidRecording(
            f"expected arrays in {path} that make up a plan and its observations, found: {problem}; record it again"
        ) from problem


def example(name: str = "collapse") -> Recording:
    """A recorded episode that comes with the package.

    Args:
        name: which one.

    Raises:
        InvalidRecording: there is none of that name.
    """
    folder = resources.files("nsrecover") / "episodes"
    known = {entry.name.removesuffix(".npz"): entry for entry in folder.iterdir()} if folder.is_dir() else {}
    known = {key: entry for key, entry in known.items() if entry.name.endswith(".npz")}
    if name not in known:
        raise InvalidRecording(
            f"expected the name of an episode that comes with nsrecover, found {name!r}.{did_you_mean(name, known)}"
        )
    with resources.as_file(known[name]) as path:
        return load(path)


def _what_is_there(path: Path) -> str:
    return "a folder" if path.is_dir() else "no file"


def _to_arrays(recording: Recording) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a file, by name."""
    for action in recording.plan:
        if Action.parse(str(action)) != action:
            raise InvalidRecording(
                f"expected object names that can be written as {str(action)!r} and read again, found "
                f"{list(action.arguments)}; use names without commas, brackets and outer blanks"
            )
    try:
        notes = json.dumps(dict(recording.notes), sort_keys=True)
    except (TypeError, ValueError) as problem:
        raise InvalidRecording(
            f"expected notes that JSON can hold, found: {problem}; use strings, numbers, lists and mappings"
        ) from problem
    seen = recording.observations
    instances = np.stack([observation.instances for observation in seen])
    smallest = np.uint8 if instances.min(initial=0) >= 0 and instances.max(initial=0) < 256 else np.int32
    return {
        "schema": np.array(SCHEMA),
        "plan": np.array([str(action) for action in recording.plan], dtype=np.str_),
        "targets": np.array(
            [(np.nan,) * 6 if action.target is None else action.target for action in recording.plan], dtype=np.float64
        ).reshape(-1, 6),
        "rgb": np.stack([observation.rgb for observation in seen]),
        "depth": _quantise(np.stack([observation.depth_m for observation in seen])),
        "instances": instances.astype(smallest),
        "intrinsics": np.array([[c.intrinsics for c in observation.cameras] for observation in seen], np.float64),
        "world_from_camera": np.array(
            [[c.world_from_camera for c in observation.cameras] for observation in seen], np.float64
        ),
        "camera_names": np.array([[c.name for c in observation.cameras] for observation in seen], np.str_),
        "labels": np.array(
            [json.dumps({str(key): value for key, value in sorted(o.labels.items())}) for o in seen], np.str_
        ),
        "gripper_opening_m": np.array([observation.gripper_opening_m for observation in seen], np.float64),
        "holding": np.array([observation.holding for observation in seen], np.bool_),
        "time_s": np.array([observation.time_s for observation in seen], np.float64),
        "notes": np.array(notes, dtype=np.str_),
    }


def _quantise(depth_m: npt.NDArray[np.float32]) -> npt.NDArray[np.uint16]:
    """Depth in metres to tenths of a millimetre; negative or too far becomes 0."""
    steps = np.rint(depth_m * np.float32(DEPTH_STEPS_PER_M))
    return np.where((steps < 0) | (steps > np.iinfo(np.uint16).max), 0, steps).astype(np.uint16)


def _check_members(path: Path, archive: Any) -> None:
    """The version first: of another version, nothing else is to be expected."""
    if "schema" not in archive.files:
        raise InvalidRecording(
            f"expected a recorded episode with a schema version in {path}, found another kind of numpy file; "
            "write recordings with nsrecover.recording.save"
        )
    version = archive["schema"]
    if version.shape != () or version != SCHEMA:
        raise InvalidRecording(
            f"expected schema version {SCHEMA} in {path}, found {version.tolist()}; "
            "record it again, or read it with the version of nsrecover that wrote it"
        )
    missing = sorted(set(_DTYPES) - set(archive.files))
    if missing:
        raise InvalidRecording(f"expected the arrays {', '.join(missing)} in {path}, found none; record it again")


def _check_arrays(path: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Shapes and kinds must agree with one another."""
    frames = len(arrays["plan"]) + 1 if arrays["plan"].ndim == 1 else 0
    views, height, width = arrays["rgb"].shape[1:4] if arrays["rgb"].ndim == 5 else (0, 0, 0)
    expected: dict[str, tuple[int, ...]] = {
        "schema": (),
        "plan": (frames - 1,),
        "targets": (frames - 1, 6),
        "rgb": (frames, views, height, width, 3),
        "depth": (frames, views, height, width),
        "instances": (frames, views, height, width),
        "intrinsics": (frames, views, 3, 3),
        "world_from_camera": (frames, views, 4, 4),
        "camera_names": (frames, views),
        "labels": (frames,),
        "gripper_opening_m": (frames,),
        "holding": (frames,),
        "time_s": (frames,),
        "notes": (),
    }
    for name, shape in expected.items():
        array = arrays[name]
        if array.shape != shape or array.dtype.kind not in _DTYPES[name]:
            raise InvalidRecording(
                f"expected {name} in {path} of shape {shape} for {frames - 1} actions, found {array.shape} "
                f"{array.dtype}; record it again"
            )


def _from_arrays(arrays: Mapping[str, npt.NDArray[Any]]) -> Recording:
    """A recording from arrays whose shapes are right."""
    actions = []
    for text, target in zip(arrays["plan"].tolist(), arrays["targets"].tolist(), strict=True):
        action = Action.parse(text)
        given = not any(np.isnan(target))
        actions.append(Action(action.operator, action.arguments, tuple(target) if given else None))
    depth_m = arrays["depth"].astype(np.float32) / np.float32(DEPTH_STEPS_PER_M)
    observations = tuple(
        Observation(
            rgb=arrays["rgb"][t],
            depth_m=depth_m[t],
            instances=arrays["instances"][t].astype(np.int32),
            cameras=tuple(
                Camera(
                    arrays["intrinsics"][t, view].astype(np.float32),
                    arrays["world_from_camera"][t, view].astype(np.float32),
                    str(arrays["camera_names"][t, view]),
                )
                for view in range(arrays["rgb"].shape[1])
            ),
            labels={int(key): value for key, value in json.loads(str(arrays["labels"][t])).items()},
            gripper_opening_m=float(arrays["gripper_opening_m"][t]),
            holding=bool(arrays["holding"][t]),
            time_s=float(arrays["time_s"][t]),
        )
        for t in range(len(depth_m))
    )
    return Recording(Plan(tuple(actions)), observations, json.loads(str(arrays["notes"])))
