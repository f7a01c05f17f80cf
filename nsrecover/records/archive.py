"""Many recorded episodes in one HDF5 file: written by `python -m sim.collect` or by you, read by `python -m train`.

    from nsrecover.records.archive import Archive, write_archive

    write_archive("mine.h5", recordings, {"robot": "my arm"})   # any iterable of nsrecover.records.recording.Recording
    with Archive("mine.h5") as archive:
        print(len(archive), archive.episodes, archive.attributes)
        recording = archive[archive.episodes[0]]                # read when asked for, not before

The file, version 1 (docs/demonstrations.md describes it for other languages):

    /                    attributes: format = "nsrecover episodes", schema = 1, library = version of nsrecover;
                         whoever writes the file adds others (`python -m sim.collect`: command, seed, mix)
    /episodes/000123     a group for every episode, named by its number, six digits or more
        plan, targets, rgb, depth, instances, intrinsics, world_from_camera, camera_names, labels,
        gripper_opening_m, holding, time_s, notes
                         the arrays of `nsrecover.records.arrays`; texts are UTF-8, `notes` and `labels` are JSON

The images are chunked by observation and compressed (shuffle, then gzip level 1), so that every HDF5 library can read
them, and one observation can be read without the others. Files appear whole or not at all.

Needs h5py: `pip install 'nsrecover[hdf5]'`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

import nsrecover
from nsrecover.core.actions import Plan
from nsrecover.core.extras import needs_extra
from nsrecover.core.observation import Observation
from nsrecover.errors import InvalidRecording
from nsrecover.records.arrays import (
    DTYPES,
    PER_OBSERVATION,
    Arrays,
    arrays_to_episode,
    arrays_to_observations,
    digest,
    episode_to_arrays,
)
from nsrecover.records.recording import Recording

FORMAT = "nsrecover episodes"
SCHEMA = 1
"""Version of the file format; readers refuse any other."""

COMPRESSION = 1
"""gzip's fastest level: higher ones save 2 % of a rendered observation and cost more time."""

_IMAGES = ("rgb", "depth", "instances")
_GROUP = "episodes"


class Archive:
    """A file of episodes, open for reading; nothing is read before it is asked for.

    `len` counts the episodes, `in` asks for a number, `[number]` reads one, iteration reads one after another in the
    order of their numbers. Use it as a context manager, or call `close`.

    Attributes:
        path: the file.
        episodes: numbers of the episodes, ascending.
        attributes: what the file says about itself.
    """

    def __init__(self, path: str | Path) -> None:
        """Open a file.

        Args:
            path: a file that `write_archive` or `pack_archives` wrote.

        Raises:
            InvalidRecording: there is no such file, it is damaged, of another kind or of another version.
            InvalidConfiguration: h5py is not installed.
        """
        self.path = Path(path)
        h5py = _h5py()
        if not self.path.is_file():
            found = "a folder" if self.path.is_dir() else "no file"
            raise InvalidRecording(f"expected a file of episodes at {path}, found {found}; check the path")
        try:
            self._file = h5py.File(self.path, "r")
        except OSError as problem:
            raise InvalidRecording(
                f"expected an HDF5 file of episodes at {path}, found a file that cannot be read ({problem}); "
                "it is damaged or of another kind: collect it again or fetch it again"
            ) from problem
        try:
            self._group = _checked(self._file, self.path)
            self.episodes = tuple(sorted(_number(name, self.path) for name in self._group))
            self.attributes: Mapping[str, Any] = {key: _plain(value) for key, value in self._file.attrs.items()}
        except BaseException:
            self._file.close()
            raise
        self._names = {_number(name, self.path): name for name in self._group}

    def __len__(self) -> int:
        return len(self.episodes)

    def __contains__(self, episode: object) -> bool:
        return episode in self._names

    def __iter__(self) -> Iterator[Recording]:
        return (self[episode] for episode in self.episodes)

    def __getitem__(self, episode: int) -> Recording:
        """Read an episode.

        Raises:
            InvalidRecording: there is none of that number, or it is damaged.
        """
        return Recording(*arrays_to_episode(self._arrays(episode, DTYPES), self._where(episode)))

    def plan(self, episode: int) -> Plan:
        """Only the plan of an episode, without its targets.

        Raises:
            InvalidRecording: there is none of that number, or it is damaged.
        """
        return Plan.parse([str(line) for line in self._arrays(episode, ("plan",))["plan"]])

    def notes(self, episode: int) -> Any:
        """Only the notes of an episode.

        Raises:
            InvalidRecording: there is none of that number, or it is damaged.
        """
        text = str(self._arrays(episode, ("notes",))["notes"])
        try:
            return json.loads(text)
        except ValueError as problem:
            raise InvalidRecording(
                f"expected notes as JSON in {self._where(episode)}, found {text[:40]!r} ({problem})"
            ) from problem

    def observation(self, episode: int, index: int) -> Observation:
        """Only one observation of an episode.

        Args:
            episode: its number.
            index: actions done before it was taken, from 0 to the length of the plan.

        Raises:
            InvalidRecording: there is none of that number, or it is damaged.
        """
        count = self._arrays(episode, ("time_s",))["time_s"].size
        if not 0 <= index < count:
            raise InvalidRecording(
                f"expected an observation from 0 to {count - 1} of {self._where(episode)}, found {index}"
            )
        arrays = self._arrays(episode, PER_OBSERVATION, slice(index, index + 1))
        return arrays_to_observations(arrays)[0]

    def digest(self, episode: int) -> str:
        """Hash of the contents of an episode, however they are stored; reads all of it."""
        return digest(self._arrays(episode, DTYPES))

    def fingerprint(self, episode: int) -> str:
        """Hash of an episode as it is stored: changes with the contents; quick, as nothing is unpacked."""
        found = hashlib.sha256()
        group = self._group[self._names[self._known(episode)]]
        for name in DTYPES:
            data = self._dataset(group, name, episode)
            found.update(f"{name} {data.shape} {data.dtype.str};".encode())
            if data.chunks is None:
                found.update(np.asarray(data[()]).tobytes())
            else:
                for number in range(data.id.get_num_chunks()):
                    chunk = data.id.get_chunk_info(number)
                    found.update(str(chunk.chunk_offset).encode())
                    found.update(data.id.read_direct_chunk(chunk.chunk_offset)[1])
        return found.hexdigest()

    def close(self) -> None:
        """Close the file. Calling it again does nothing."""
        self._file.close()

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _where(self, episode: int) -> str:
        return f"episode {episode} of {self.path}"

    def _known(self, episode: int) -> int:
        if episode not in self._names:
            span = f"{self.episodes[0]} to {self.episodes[-1]}" if self.episodes else "none"
            raise InvalidRecording(
                f"expected the number of one of the {len(self)} episodes ({span}) of {self.path}, found {episode}; "
                "`episodes` lists them"
            )
        return episode

    def _dataset(self, group: Any, name: str, episode: int) -> Any:
        if name not in group:
            raise InvalidRecording(f"expected the array {name} in {self._where(episode)}, found none; record it again")
        return group[name]

    def _arrays(self, episode: int, names: Iterable[str], part: slice | None = None) -> Arrays:
        """Some arrays of an episode, or a part of each along its first axis."""
        group = self._group[self._names[self._known(episode)]]
        arrays = {}
        for name in names:
            data = self._dataset(group, name, episode)
            try:
                if DTYPES[name] == "U":
                    data = data.asstr()
                values = data[()] if part is None else data[part]
            except (OSError, TypeError, ValueError, UnicodeDecodeError) as problem:
                raise InvalidRecording(
                    f"expected a readable array {name} in {self._where(episode)}, found: {problem}; "
                    "it is damaged: collect it again or fetch it again"
                ) from problem
            arrays[name] = np.asarray(values, dtype=np.str_ if DTYPES[name] == "U" else None)
        return arrays


def write_archive(
    path: str | Path,
    recordings: Mapping[int, Recording] | Iterable[Recording],
    attributes: Mapping[str, Any] | None = None,
) -> None:
    """Write a file of episodes; it appears whole or not at all.

    Args:
        path: where to, usually ending in `.h5`; an existing file is replaced.
        recordings: episodes by number, or one after another (then they are numbered from 0). They are taken one at a
            time, so that a generator need not hold them all.
        attributes: what the file shall say about itself; values that HDF5 cannot hold as an attribute become JSON.

    Raises:
        InvalidRecording: a recording cannot be written, see `nsrecover.records.recording.save`.
        InvalidConfiguration: h5py is not installed.
    """
    numbered = recordings.items() if isinstance(recordings, Mapping) else enumerate(recordings)
    with _Replacement(Path(path), attributes) as file:
        for number, recording in numbered:
            if number < 0:
                raise InvalidRecording(f"expected episodes numbered from 0, found {number}")
            group = file.create_group(f"{_GROUP}/{number:06d}")
            arrays = episode_to_arrays(recording.plan, recording.observations, recording.notes)
            for name, array in arrays.items():
                _write_array(group, name, array)


def pack_archives(
    path: str | Path, sources: Sequence[str | Path], attributes: Mapping[str, Any] | None = None
) -> tuple[int, ...]:
    """Put the episodes of several files into one, without unpacking them; it appears whole or not at all.

    Args:
        path: where to; an existing file is replaced, and may itself be among the sources.
        sources: files of episodes; where two have an episode of the same number, the first one counts.
        attributes: what the file shall say about itself.

    Returns:
        The numbers of its episodes.

    Raises:
        InvalidRecording: a source is missing, damaged or of another version.
        InvalidConfiguration: h5py is not installed.
    """
    owners: dict[int, Path] = {}
    for source in map(Path, sources):
        with Archive(source) as archive:
            for episode in archive.episodes:
                owners.setdefault(episode, source)
    numbers = tuple(sorted(owners))
    with _Replacement(Path(path), attributes) as file:
        opened: Archive | None = None
        for number in numbers:
            if opened is None or opened.path != owners[number]:
                if opened is not None:
                    opened.close()
                opened = Archive(owners[number])
            # copied as they are stored: compressed chunks stay compressed
            file.copy(opened._group[opened._names[number]], f"{_GROUP}/{number:06d}")
        if opened is not None:
            opened.close()
    return numbers


class _Replacement:
    """A new file that takes its place when it is complete."""

    def __init__(self, path: Path, attributes: Mapping[str, Any] | None) -> None:
        self._path, self._attributes = path, dict(attributes or {})
        self._part = path.with_name(f".{path.name}.part")

    def __enter__(self) -> Any:
        h5py = _h5py()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = h5py.File(self._part, "w")
        for name, value in self._attributes.items():
            plain = isinstance(value, (str, bool, int, float))
            self._file.attrs[name] = value if plain else json.dumps(value, sort_keys=True)
        self._file.attrs.update({"format": FORMAT, "schema": SCHEMA, "library": f"nsrecover {nsrecover.__version__}"})
        self._file.create_group(_GROUP)
        return self._file

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        if kind is not None:
            self._part.unlink(missing_ok=True)
            return
        with self._part.open("rb") as file:
            os.fsync(file.fileno())
        self._part.replace(self._path)


def _write_array(group: Any, name: str, array: np.ndarray[Any, Any]) -> None:
    if array.dtype.kind == "U":
        encoded = np.char.encode(array, "utf-8")
        kind = _h5py().string_dtype("utf-8", max(encoded.dtype.itemsize, 1))
        group.create_dataset(name, data=encoded.astype(kind), dtype=kind)
    elif name in _IMAGES:
        chunk = (1, *array.shape[1:])
        group.create_dataset(
            name, data=array, chunks=chunk, compression="gzip", compression_opts=COMPRESSION, shuffle=True
        )
    else:
        group.create_dataset(name, data=array)


def _checked(file: Any, path: Path) -> Any:
    """The group of the episodes, once the file has said what it is."""
    if _plain(file.attrs.get("format")) != FORMAT:
        raise InvalidRecording(
            f"expected a file of episodes (attribute format = {FORMAT!r}) at {path}, found another HDF5 file; "
            "write one with nsrecover.records.archive.write_archive"
        )
    version = _plain(file.attrs.get("schema"))
    if version != SCHEMA:
        raise InvalidRecording(
            f"expected schema version {SCHEMA} in {path}, found {version}; "
            "collect it again, or read it with the version of nsrecover that wrote it"
        )
    if _GROUP not in file:
        raise InvalidRecording(f"expected a group /{_GROUP} in {path}, found none; collect it again")
    return file[_GROUP]


def _number(name: str, path: Path) -> int:
    if not name.isdecimal():
        raise InvalidRecording(f"expected groups named by numbers in /{_GROUP} of {path}, found {name!r}")
    return int(name)


def _plain(value: Any) -> Any:
    """An attribute's value as Python has it."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value.item() if isinstance(value, np.generic) else value


def _h5py() -> Any:
    with needs_extra("hdf5", "h5py"):
        import h5py
    return h5py
