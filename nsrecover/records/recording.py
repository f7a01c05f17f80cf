"""Recorded episodes: a plan and the observations before, between and after its actions, in one `.npz` file.

Files are not pickled, and only NumPy is needed to read them. Writing is atomic, and reproducible byte for byte.
"""

from __future__ import annotations

import io
import math
import zipfile
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from nsrecover.core import Observation, Plan
from nsrecover.errors import InvalidRecording, require_known
from nsrecover.records.arrays import (
    MAX_BYTES,
    Header,
    arrays_to_episode,
    check_headers,
    episode_to_arrays,
    stored_names,
    too_large,
)
from nsrecover.records.reading import readable
from nsrecover.util.atomic_write import atomic_write
from nsrecover.util.english import amount
from nsrecover.util.untrusted_json import JsonMapping

SCHEMA = 1
"""Version of the file format; readers refuse any other."""

COMPRESSION = 1
"""Level of zlib; higher levels take several times longer and save little."""


@dataclass(frozen=True, eq=False)
class Recording:
    """The observations of one episode.

    Attributes:
        plan: the T actions that were carried out.
        observations: T + 1 observations with the same views and image size; `observations[t]` follows t actions.
        notes: anything that JSON can represent, e.g. origin, seed and scene of the recording.
    """

    plan: Plan
    observations: tuple[Observation, ...]
    notes: JsonMapping = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.observations) != len(self.plan) + 1:
            raise InvalidRecording(
                f"expected {amount(len(self.plan) + 1, 'observation')} for {amount(len(self.plan), 'action')}, found "
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
        """Read a recording; see the function `load`."""
        return load(path)

    def save(self, path: str | Path, check_sensors: bool = True) -> None:
        """Write the recording; see the function `save`."""
        save(self, path, check_sensors)


def save(recording: Recording, path: str | Path, check_sensors: bool = True) -> None:
    """Write a recording atomically.

    Args:
        recording: the recording.
        path: the file, usually `.npz`; missing folders are created, an existing file is replaced.
        check_sensors: whether the first observation is refused if it is implausible.

    Raises:
        InvalidObservation: units, camera poses or masks of the first observation are implausible; see
            `nsrecover.perception.cameras.checks`.
        InvalidRecording: the notes are not JSON, or an action cannot be written as text and read again.
    """
    if check_sensors:
        # Imported here, because it loads scipy, which reading does not need.
        from nsrecover.perception.cameras.checks import require_plausible

        require_plausible(recording.observations[0])
    arrays = {"schema": np.array(SCHEMA), **episode_to_arrays(recording.plan, recording.observations, recording.notes)}
    with (
        atomic_write(path) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION) as archive,
    ):
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, array, allow_pickle=False)
            # ZipInfo has a fixed date, which makes the file reproducible.
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), buffer.getbuffer(), zipfile.ZIP_DEFLATED, COMPRESSION)


def load(path: str | Path) -> Recording:
    """Read a recording.

    Args:
        path: a file written by `save`.

    Returns:
        The recording; depth is exact to 0.05 mm, audio to 1 / 32768 of the full scale.

    Raises:
        InvalidRecording: the file does not exist, is damaged, of another version, or inconsistent.
    """
    path = Path(path)
    if not path.is_file():
        raise InvalidRecording(
            f"expected a recorded episode at {path}, found {'a folder' if path.is_dir() else 'no file'}; check the path"
        )
    with readable(f"a recorded episode in {path}"), np.load(path, allow_pickle=False) as archive:
        _check_members(path, archive)
        names = stored_names(archive.files)
        check_headers({name: _header(archive, name) for name in names}, str(path), path.stat().st_size)
        arrays = {name: archive[name] for name in names}
    return Recording(*arrays_to_episode(arrays, str(path)))


def example(name: str = "collapse") -> Recording:
    """Return a recorded episode that comes with the package.

    Args:
        name: name of the episode.

    Raises:
        InvalidRecording: there is no episode of that name.
    """
    folder = resources.files("nsrecover") / "episodes"
    entries = folder.iterdir() if folder.is_dir() else ()
    known = {entry.name.removesuffix(".npz"): entry for entry in entries if entry.name.endswith(".npz")}
    require_known(name, known, "the name of an episode that comes with nsrecover", InvalidRecording)
    with resources.as_file(known[name]) as path:
        return load(path)


def _header(archive: Any, name: str) -> Header:
    """The header of an array; its data are not read."""
    with archive.zip.open(f"{name}.npy") as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(file)
    return Header(shape, dtype.kind, math.prod(shape) * dtype.itemsize)


def _check_members(path: Path, archive: Any) -> None:
    """Check the size, the version, and the names of the arrays."""
    size = sum(member.file_size for member in archive.zip.infolist())
    if size > MAX_BYTES:
        raise InvalidRecording(too_large(path, size))
    if "schema" not in archive.files:
        raise InvalidRecording(
            f"expected a recorded episode with a schema version in {path}, found another kind of numpy file; "
            "write recordings with nsrecover.records.recording.save"
        )
    header = _header(archive, "schema")
    version = int(archive["schema"]) if header.shape == () and header.kind in "iu" else header.shape
    if version != SCHEMA:
        raise InvalidRecording(
            f"expected schema version {SCHEMA} in {path}, found {version}; "
            "record it again, or read it with the version of nsrecover that wrote it"
        )
    missing = sorted(set(stored_names(archive.files)) - set(archive.files))
    if missing:
        raise InvalidRecording(f"expected the arrays {', '.join(missing)} in {path}, found none; record it again")
