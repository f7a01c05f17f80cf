"""Recorded episodes: a plan and what the cameras saw before, between and after its actions, in one `.npz` file.

Nothing is pickled and only numpy is needed to read one. Writing is atomic, and the same recording always gives the
same bytes.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from nsrecover.core.actions import Plan
from nsrecover.core.atomic_write import atomic_write
from nsrecover.core.observation import Observation
from nsrecover.errors import InvalidRecording, did_you_mean
from nsrecover.records.arrays import DTYPES, arrays_to_episode, episode_to_arrays

SCHEMA = 1
"""Version of the file format; readers refuse any other."""

COMPRESSION = 1
"""zlib's fastest level: renders and masks are smooth, higher levels cost several times the time for little."""


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
    arrays = {"schema": np.array(SCHEMA), **episode_to_arrays(recording.plan, recording.observations, recording.notes)}
    with (
        atomic_write(path) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION) as archive,
    ):
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, array, allow_pickle=False)
            # ZipInfo's own fixed date: the same recording is the same file
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), buffer.getbuffer(), zipfile.ZIP_DEFLATED, COMPRESSION)


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
            arrays = {name: archive[name] for name in DTYPES}
    except (OSError, TypeError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as problem:
        raise InvalidRecording(
            f"expected a recorded episode in {path}, found a file that cannot be read ({problem}); "
            "it is damaged or of another kind: record it again or fetch it again"
        ) from problem
    return Recording(*arrays_to_episode(arrays, str(path)))


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


def _check_members(path: Path, archive: Any) -> None:
    """The version first: of another version, nothing else is to be expected."""
    if "schema" not in archive.files:
        raise InvalidRecording(
            f"expected a recorded episode with a schema version in {path}, found another kind of numpy file; "
            "write recordings with nsrecover.records.recording.save"
        )
    version = archive["schema"]
    if version.shape != () or version != SCHEMA:
        raise InvalidRecording(
            f"expected schema version {SCHEMA} in {path}, found {version.tolist()}; "
            "record it again, or read it with the version of nsrecover that wrote it"
        )
    missing = sorted(set(DTYPES) - set(archive.files))
    if missing:
        raise InvalidRecording(f"expected the arrays {', '.join(missing)} in {path}, found none; record it again")
