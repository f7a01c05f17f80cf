"""Episodes as NumPy arrays, the common content of all recording formats (`.npz`, HDF5, journals of collections).

The arrays of T actions and T + 1 observations of V views with H x W pixels:

    plan                (T,)             text    actions like `top(red cube, blue cube)`
    targets             (T, 6)           float   box of an action's target, metres; NaN for actions that have none
    rgb                 (T+1, V, H, W, 3) uint8
    depth               (T+1, V, H, W)   uint16  tenths of a millimetre along the optical axis; 0 is no reading
    instances           (T+1, V, H, W)   integer instance masks, 0 is background
    intrinsics          (T+1, V, 3, 3)   float   K, pixels
    world_from_camera   (T+1, V, 4, 4)   float   camera pose in the robot's base frame, OpenCV convention
    camera_names        (T+1, V)         text
    labels              (T+1,)           text    JSON: instance number -> object name
    gripper_opening_m   (T+1,)           float   metres
    holding             (T+1,)           bool
    time_s              (T+1,)           float   seconds
    audio               (T+1, S)         int16   samples of a microphone times 32768, zeros after the last one
    audio_samples       (T+1,)           integer number of samples; -1 without a recording
    audio_rate_hz       (T+1,)           integer samples a second; 0 without a recording
    shared_ids          (T+1,)           bool    whether instance numbers mean the same object in every view
    notes               ()               text    JSON

The arrays of the microphone are missing if no observation has audio, `shared_ids` if it is true for all.
"""

import hashlib
import json
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nsrecover.core import Camera, Observation, Plan
from nsrecover.errors import InvalidRecording
from nsrecover.records.reading import check_readable, plan_with_targets, readable
from nsrecover.util.untrusted_json import JsonMapping, Parsed, parse_json

Array = npt.NDArray[np.generic]
Arrays = dict[str, Array]

DEPTH_STEPS_PER_M = 10_000
"""Depth is stored in tenths of a millimetre; values beyond 6.5535 m are stored as 0, no reading."""

AUDIO_STEPS = 32_768
"""Audio is stored with 16 bits: in steps of 1 / AUDIO_STEPS."""

_LAYOUT = {
    "plan": ("U", "T"),
    "targets": ("f", "T6"),
    "rgb": ("u", "OVHW3"),
    "depth": ("u", "OVHW"),
    "instances": ("iu", "OVHW"),
    "intrinsics": ("f", "OV33"),
    "world_from_camera": ("f", "OV44"),
    "camera_names": ("U", "OV"),
    "labels": ("U", "O"),
    "gripper_opening_m": ("f", "O"),
    "holding": ("b", "O"),
    "time_s": ("f", "O"),
    "notes": ("U", ""),
    "audio": ("i", "OS"),
    "audio_samples": ("i", "O"),
    "audio_rate_hz": ("i", "O"),
    "shared_ids": ("b", "O"),
}
"""Array of an episode -> allowed kinds of its dtype, and its axes: T actions, O observations, V views, H x W pixels, S
samples."""

DTYPES = {name: kinds for name, (kinds, _) in _LAYOUT.items()}
"""Array of an episode -> allowed kinds of its dtype."""

AUDIO = ("audio", "audio_samples", "audio_rate_hz")
"""The arrays that are missing if no observation has audio."""

OPTIONAL = (*AUDIO, "shared_ids")
"""The arrays that are missing if all observations have the default: no audio, shared numbers."""

PER_OBSERVATION = tuple(name for name, (_, axes) in _LAYOUT.items() if axes.startswith("O"))
"""The arrays whose first axis is the observation."""


MAX_BYTES = 4_000_000_000
"""Largest accepted size of the arrays of one episode in memory: a small file may unpack to more than a machine has."""


BOMB_BYTES, BOMB_TIMES = 100_000_000, 200
"""Arrays above this size that unpack to more than so many times their size on disk are no images; blank ones do."""


def too_large(source: object, size: int) -> str:
    """Return the message about an episode that is larger than `MAX_BYTES`, or that unpacks to too much."""
    if size <= MAX_BYTES:
        return (
            f"expected arrays that unpack to at most {BOMB_TIMES} times their size on disk in {source}, found more: "
            f"{size} bytes in memory; record it again if its images are not blank, or save it uncompressed"
        )
    return f"expected at most {MAX_BYTES} bytes of arrays in {source}, found {size}; record shorter episodes"


def stored_names(available: Container[str], names: Iterable[str] = tuple(DTYPES)) -> tuple[str, ...]:
    """Return the names of arrays to read: all but the optional ones that are not available."""
    return tuple(name for name in names if name not in OPTIONAL or name in available)


def episode_to_arrays(plan: Plan, observations: Sequence[Observation], notes: JsonMapping) -> Arrays:
    """Return name -> array of an episode.

    Args:
        plan: T actions.
        observations: T + 1 observations of the same shape.
        notes: anything that JSON can represent.

    Raises:
        InvalidRecording: the notes are not JSON, or an action cannot be written as text and read again.
    """
    check_readable(plan)
    try:
        text = json.dumps(dict(notes), sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise InvalidRecording(
            f"expected notes that JSON can hold, found: {problem}; use strings, numbers, lists and mappings"
        ) from problem
    targets = [(np.nan,) * 6 if action.target is None else action.target for action in plan]
    return {
        "plan": np.array([str(action) for action in plan], dtype=np.str_),
        "targets": np.array(targets, dtype=np.float64).reshape(-1, 6),
        **observations_to_arrays(observations),
        "notes": np.array(text, dtype=np.str_),
    }


def observations_to_arrays(observations: Sequence[Observation]) -> Arrays:
    """Return the arrays `PER_OBSERVATION` of observations of the same shape; the optional ones only if needed."""
    instances = np.stack([observation.instances for observation in observations])
    smallest = np.uint8 if instances.min(initial=0) >= 0 and instances.max(initial=0) < 256 else np.int32
    cameras = [observation.cameras for observation in observations]
    labels = [json.dumps({str(key): name for key, name in sorted(o.labels.items())}) for o in observations]
    shared = np.array([observation.shared_ids for observation in observations], np.bool_)
    return {
        "rgb": np.stack([observation.rgb for observation in observations]),
        "depth": _quantise(np.stack([observation.depth_m for observation in observations])),
        "instances": instances.astype(smallest),
        "intrinsics": np.array([[camera.intrinsics for camera in row] for row in cameras], np.float64),
        "world_from_camera": np.array([[camera.world_from_camera for camera in row] for row in cameras], np.float64),
        "camera_names": np.array([[camera.name for camera in row] for row in cameras], np.str_),
        "labels": np.array(labels, np.str_),
        "gripper_opening_m": np.array([observation.gripper_opening_m for observation in observations], np.float64),
        "holding": np.array([observation.holding for observation in observations], np.bool_),
        "time_s": np.array([observation.time_s for observation in observations], np.float64),
        **_audio_to_arrays(observations),
        **({} if shared.all() else {"shared_ids": shared}),
    }


def _audio_to_arrays(observations: Sequence[Observation]) -> Arrays:
    counts = [-1 if observation.audio is None else len(observation.audio) for observation in observations]
    if max(counts, default=-1) < 0:
        return {}
    audio = np.zeros((len(counts), max(counts)), np.int16)
    for row, count, observation in zip(audio, counts, observations, strict=True):
        if observation.audio is not None:
            steps = np.rint(np.asarray(observation.audio, np.float64) * AUDIO_STEPS)
            row[:count] = np.clip(steps, -AUDIO_STEPS, AUDIO_STEPS - 1)
    rates = [observation.audio_rate_hz for observation in observations]
    return {
        "audio": audio,
        "audio_samples": np.array(counts, np.int64),
        "audio_rate_hz": np.array(rates, np.int64),
    }


def arrays_to_episode(arrays: Mapping[str, Array], source: str) -> tuple[Plan, tuple[Observation, ...], Parsed]:
    """Convert arrays to an episode: the inverse of `episode_to_arrays`; depth is exact to 0.05 mm.

    Args:
        arrays: all arrays of an episode.
        source: origin of the arrays, for errors.

    Returns:
        Plan, observations, notes; audio is exact to 1 / `AUDIO_STEPS`.

    Raises:
        InvalidRecording: the arrays do not fit together.
    """
    _check(arrays, source)
    with readable(f"arrays in {source} that make up a plan and its observations"):
        targets = [None if np.isnan(box).any() else box.tolist() for box in arrays["targets"]]
        plan = plan_with_targets(arrays["plan"].tolist(), targets)
        return plan, arrays_to_observations(arrays), parse_json(str(arrays["notes"]))


def arrays_to_observations(arrays: Mapping[str, Array]) -> tuple[Observation, ...]:
    """Convert arrays to observations: the inverse of `observations_to_arrays`."""
    depth_m = arrays["depth"].astype(np.float32) / np.float32(DEPTH_STEPS_PER_M)
    return tuple(
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
            labels={int(key): value for key, value in parse_json(str(arrays["labels"][t])).items()},
            gripper_opening_m=float(arrays["gripper_opening_m"][t]),
            holding=bool(arrays["holding"][t]),
            time_s=float(arrays["time_s"][t]),
            audio=_audio(arrays, t),
            audio_rate_hz=int(arrays["audio_rate_hz"][t]) if "audio" in arrays else 0,
            shared_ids=bool(arrays["shared_ids"][t]) if "shared_ids" in arrays else True,
        )
        for t in range(len(depth_m))
    )


def _audio(arrays: Mapping[str, Array], t: int) -> npt.NDArray[np.float32] | None:
    if "audio" not in arrays or arrays["audio_samples"][t] < 0:
        return None
    samples: npt.NDArray[np.float32] = arrays["audio"][t, : arrays["audio_samples"][t]].astype(np.float32)
    return samples / np.float32(AUDIO_STEPS)


def digest(arrays: Mapping[str, Array]) -> str:
    """Return a hash of the content of an episode, independent of the file format: 64 hexadecimal digits."""
    found = hashlib.sha256()
    for name in stored_names(arrays):
        array = arrays[name]
        values = json.dumps(array.tolist()).encode() if array.dtype.kind == "U" else array.tobytes()
        kind = "text" if array.dtype.kind == "U" else array.dtype.str
        found.update(f"{name} {array.shape} {kind}".encode() + values)
    return found.hexdigest()


def _quantise(depth_m: npt.NDArray[np.float32]) -> npt.NDArray[np.uint16]:
    """Convert depth to tenths of a millimetre; negative or too large values become 0."""
    steps = np.rint(depth_m * np.float32(DEPTH_STEPS_PER_M))
    return np.where((steps < 0) | (steps > np.iinfo(np.uint16).max), 0, steps).astype(np.uint16)


class Header(NamedTuple):
    """What is known of an array before it is read.

    Attributes:
        shape: of the array.
        kind: of its dtype.
        nbytes: size in memory.
    """

    shape: tuple[int, ...]
    kind: str
    nbytes: int


def check_headers(headers: Mapping[str, Header], source: str, stored: int | None = None) -> int:
    """Check that shapes and dtypes of an episode are consistent, before anything of its arrays is read.

    Args:
        headers: of all arrays.
        source: origin of the arrays, for errors.
        stored: their size on disk, bytes.

    Returns:
        The largest number of samples of audio.

    Raises:
        InvalidRecording: they do not fit together, or are larger than an episode.
    """
    frames = headers["plan"].shape[0] + 1 if len(headers["plan"].shape) == 1 else 0
    views, height, width = headers["rgb"].shape[1:4] if len(headers["rgb"].shape) == 5 else (0, 0, 0)
    most = headers["audio"].shape[1] if "audio" in headers and len(headers["audio"].shape) == 2 else 0
    sizes = {"T": frames - 1, "O": frames, "V": views, "H": height, "W": width, "S": most}
    if 0 < sum(name in headers for name in AUDIO) < len(AUDIO):
        raise InvalidRecording(f"expected all or none of the arrays {', '.join(AUDIO)} in {source}; record it again")
    for name in stored_names(headers):
        kinds, axes = _LAYOUT[name]
        header, shape = headers[name], tuple(sizes[axis] if axis in sizes else int(axis) for axis in axes)
        if header.shape != shape or header.kind not in kinds:
            raise InvalidRecording(
                f"expected {name} in {source} of shape {shape} for {frames - 1} actions, found {header.shape} of kind "
                f"{header.kind}; record it again"
            )
    size = sum(header.nbytes for header in headers.values())
    if size > MAX_BYTES or (stored is not None and size > BOMB_BYTES and size > BOMB_TIMES * stored):
        raise InvalidRecording(too_large(source, size))
    return most


def _check(arrays: Mapping[str, Array], source: str) -> None:
    """Check that shapes and dtypes are consistent."""
    headers = {name: Header(array.shape, array.dtype.kind, array.nbytes) for name, array in arrays.items()}
    most = check_headers(headers, source)
    counts = arrays.get("audio_samples", np.zeros(0, np.int64))
    if counts.min(initial=-1) < -1 or counts.max(initial=-1) > most:
        raise InvalidRecording(
            f"expected audio_samples in {source} from -1 to {most}, found {counts.tolist()}; record it again"
        )
