"""Archives: many recorded episodes in one HDF5 file, as `python -m sim.collect` writes and `python -m train` reads.

    from nsrecover.records.archive import Archive, write_archive

    write_archive("mine.h5", recordings, {"robot": "my arm"})   # any iterable of nsrecover.records.recording.Recording
    with Archive("mine.h5") as archive:
        print(len(archive), archive.episodes, archive.attributes)
        recording = archive[archive.episodes[0]]                # read on access

The file, version 1 (docs/recordings.md describes it for other languages):

    /                    attributes: format = "nsrecover episodes", schema = 1, library = version of nsrecover, and
                         those of the writer (`python -m sim.collect`: command, seed, mix)
    /episodes/000123     a group for every episode, named by its number, six digits or more
        plan, targets, rgb, depth, instances, intrinsics, world_from_camera, camera_names, labels,
        gripper_opening_m, holding, time_s, notes; with a microphone also audio, audio_samples, audio_rate_hz
                         the arrays of `nsrecover.records.arrays`; texts are UTF-8, `notes` and `labels` are JSON

Images and audio are chunked by observation and compressed (shuffle, then gzip level 1), so that every HDF5 library can
read them, and one observation can be read without the others. Files are written atomically.

Needs h5py: `pip install 'nsrecover[hdf5]'`.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import nsrecover
from nsrecover.core import Action, Observation, Plan
from nsrecover.errors import InvalidRecording
from nsrecover.records.arrays import (
    DTYPES,
    MAX_BYTES,
    PER_OBSERVATION,
    Arrays,
    Header,
    arrays_to_episode,
    arrays_to_observations,
    check_headers,
    digest,
    episode_to_arrays,
    stored_names,
    too_large,
)
from nsrecover.records.hdf5_probe import probe
from nsrecover.records.reading import readable
from nsrecover.records.recording import Recording
from nsrecover.util.atomic_write import atomic_path
from nsrecover.util.closing import ClosedByWith
from nsrecover.util.extras import needs_extra
from nsrecover.util.untrusted_json import JsonMapping, parse_json

H5 = Any
"""A file, group or dataset of h5py, which has no types."""

FORMAT = "nsrecover episodes"
SCHEMA = 1
"""Version of the file format; readers refuse any other."""

COMPRESSION = 1
"""Level of gzip; higher levels save 2 % of a rendered observation and take more time."""

_GZIP = {"compression": "gzip", "compression_opts": COMPRESSION, "shuffle": True}
_LARGE = ("rgb", "depth", "instances", "audio")
_GROUP = "episodes"


class Archive(ClosedByWith):
    """A file of episodes, open for reading; episodes are read on access.

    `len` is the number of episodes, `number in archive` tests for one, `archive[number]` reads one, and iteration reads
    all in the order of their numbers. Use the archive as a context manager, or call `close`. Reading raises
    `InvalidRecording` if an episode does not exist or is damaged.

    Attributes:
        path: the file.
        episodes: numbers of the episodes, ascending.
        attributes: attributes of the file.
    """

    def __init__(self, path: str | Path, trusted: bool = False) -> None:
        """Open a file.

        Args:
            path: a file written by `write_archive` or `pack_archives`.
            trusted: whether it was written on this machine, such as a dataset for training. In other files every
                episode is looked at by another process first, as one wrong byte can make the reader hang for good.

        Raises:
            InvalidRecording: the file does not exist, is damaged, or of another kind or version.
            InvalidConfiguration: h5py is not installed.
        """
        self.path = Path(path)
        h5py = _h5py()
        if not self.path.is_file():
            found = "a folder" if self.path.is_dir() else "no file"
            raise InvalidRecording(f"expected a file of episodes at {path}, found {found}; check the path")
        self._probed: set[str] | None = None if trusted else set()
        self._probe(_GROUP)
        with readable(f"an HDF5 file of episodes at {path}"):
            self._file = h5py.File(self.path, "r")
        try:
            with readable(str(self.path)):
                self._group = _checked(self._file, self.path)
                self._names = {_number(name, self.path): name for name in self._group}
                self.episodes = tuple(sorted(self._names))
                self.attributes: JsonMapping = {key: _plain(value) for key, value in self._file.attrs.items()}
        except BaseException:
            self._file.close()
            raise

    def __len__(self) -> int:
        return len(self.episodes)

    def __contains__(self, episode: object) -> bool:
        return episode in self._names

    def __iter__(self) -> Iterator[Recording]:
        return (self[episode] for episode in self.episodes)

    def __getitem__(self, episode: int) -> Recording:
        """Read an episode.

        Raises:
            InvalidRecording: the episode does not exist or is damaged.
        """
        with readable(self._where(episode)):
            group = self._group_of(episode)
            found = {name: self._dataset(group, name, episode) for name in stored_names(group)}
            headers = {name: Header(data.shape, _kind(data), data.nbytes) for name, data in found.items()}
            check_headers(headers, self._where(episode), sum(data.id.get_storage_size() for data in found.values()))
        return Recording(*arrays_to_episode(self._arrays(episode, DTYPES), self._where(episode)))

    def plan(self, episode: int) -> Plan:
        """Read only the plan of an episode, without its targets."""
        return Plan(tuple(Action.parse(str(line)) for line in self._arrays(episode, ("plan",))["plan"]))

    def notes(self, episode: int) -> H5:
        """Read only the notes of an episode."""
        with readable(f"notes as JSON in {self._where(episode)}"):
            return parse_json(str(self._arrays(episode, ("notes",))["notes"]))

    def observation(self, episode: int, index: int) -> Observation:
        """Read only one observation of an episode.

        Args:
            episode: number of the episode.
            index: number of actions before the observation, from 0 to the length of the plan.

        Raises:
            InvalidRecording: the episode does not exist or is damaged.
        """
        count = self._arrays(episode, ("time_s",))["time_s"].size
        if not 0 <= index < count:
            raise InvalidRecording(
                f"expected an observation from 0 to {count - 1} of {self._where(episode)}, found {index}"
            )
        arrays = self._arrays(episode, PER_OBSERVATION, slice(index, index + 1))
        return arrays_to_observations(arrays)[0]

    def digest(self, episode: int) -> str:
        """Return a hash of the content of an episode, independent of its storage; reads the whole episode."""
        return digest(self._arrays(episode, DTYPES))

    def fingerprint(self, episode: int) -> str:
        """Return a hash of an episode as it is stored; fast, because nothing is decompressed."""
        found = hashlib.sha256()
        with readable(self._where(episode)):
            group = self._group_of(episode)
            for name in stored_names(group):
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
        """Close the file; further calls have no effect."""
        self._file.close()

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

    def _probe(self, group: str) -> None:
        if self._probed is not None and group not in self._probed:
            probe(self.path, group)
            self._probed.add(group)

    def _group_of(self, episode: int) -> H5:
        name = self._names[self._known(episode)]
        self._probe(f"{_GROUP}/{name}")
        return _inside(self._group, name, self._where(episode))

    def _dataset(self, group: H5, name: str, episode: int) -> H5:
        if name not in group:
            raise InvalidRecording(f"expected the array {name} in {self._where(episode)}, found none; record it again")
        data = _inside(group, name, self._where(episode))
        if data.nbytes > MAX_BYTES:
            raise InvalidRecording(too_large(self._where(episode), data.nbytes))
        return data

    def _arrays(self, episode: int, names: Iterable[str], part: slice | None = None) -> Arrays:
        """Read arrays of an episode, or a part of each along its first axis."""
        arrays = {}
        with readable(self._where(episode)):
            group = self._group_of(episode)
            for name in stored_names(group, names):
                data = self._dataset(group, name, episode)
                text = DTYPES[name] == "U"
                with readable(f"the array {name} of {self._where(episode)}"):
                    source = data.asstr() if text else data
                    values = source[()] if part is None else source[part]
                    arrays[name] = np.asarray(values, dtype=np.str_ if text else None)
        return arrays


def write_archive(
    path: str | Path,
    recordings: Mapping[int, Recording] | Iterable[Recording],
    attributes: JsonMapping | None = None,
) -> None:
    """Write a file of episodes atomically.

    Args:
        path: the file, usually `.h5`; an existing file is replaced.
        recordings: number -> episode, or an iterable of episodes (numbered from 0), which is consumed one by one.
        attributes: attributes of the file; values that HDF5 cannot store are written as JSON.

    Raises:
        InvalidRecording: a recording cannot be written; see `nsrecover.records.recording.save`.
        InvalidConfiguration: h5py is not installed.
    """
    numbered = recordings.items() if isinstance(recordings, Mapping) else enumerate(recordings)
    with _new_file(path, attributes) as file:
        for number, recording in numbered:
            if number < 0:
                raise InvalidRecording(f"expected episodes numbered from 0, found {number}")
            group = file.create_group(f"{_GROUP}/{number:06d}")
            arrays = episode_to_arrays(recording.plan, recording.observations, recording.notes)
            for name, array in arrays.items():
                _write_array(group, name, array)


def pack_archives(
    path: str | Path, sources: Sequence[str | Path], attributes: JsonMapping | None = None
) -> tuple[int, ...]:
    """Merge several files of episodes atomically, without decompressing them.

    Args:
        path: the file; an existing file is replaced, and may be one of the sources.
        sources: files of episodes; of episodes with the same number, the first one is used.
        attributes: attributes of the file.

    Returns:
        The numbers of the episodes.

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
    with _new_file(path, attributes) as file:
        for source, episodes in groupby(numbers, owners.__getitem__):
            with Archive(source) as archive:
                for number in episodes:
                    # Copied as stored: compressed chunks stay compressed.
                    file.copy(archive._group_of(number), f"{_GROUP}/{number:06d}")
    return numbers


@contextmanager
def _new_file(path: str | Path, attributes: JsonMapping | None) -> Iterator[H5]:
    """Open a new HDF5 file that replaces `path` when it is complete."""
    h5py = _h5py()
    with atomic_path(path) as part, h5py.File(part, "w") as file:
        for name, value in (attributes or {}).items():
            plain = isinstance(value, (str, bool, int, float))
            file.attrs[name] = value if plain else json.dumps(value, sort_keys=True)
        file.attrs.update({"format": FORMAT, "schema": SCHEMA, "library": f"nsrecover {nsrecover.__version__}"})
        file.create_group(_GROUP)
        yield file


def _write_array(group: H5, name: str, array: npt.NDArray[np.generic]) -> None:
    if array.dtype.kind == "U":
        encoded = np.char.encode(array.astype(np.str_), "utf-8")
        kind = _h5py().string_dtype("utf-8", max(encoded.dtype.itemsize, 1))
        group.create_dataset(name, data=encoded.astype(kind), dtype=kind)
    elif name in _LARGE and array.size:
        group.create_dataset(name, data=array, chunks=(1, *array.shape[1:]), **_GZIP)
    else:
        group.create_dataset(name, data=array)


def _inside(group: H5, name: str, where: str) -> H5:
    """Return a member of a group, if its data lie in this file and not in another one that it names."""
    h5py = _h5py()
    found = group[name] if isinstance(group.get(name, getlink=True), h5py.HardLink) else None
    if found is None or (isinstance(found, h5py.Dataset) and (found.external or found.is_virtual)):
        raise InvalidRecording(
            f"expected {name} of {where} inside the file, found a reference to another place; files with references "
            "are not followed: copy the data into the file"
        )
    return found


def _checked(file: H5, path: Path) -> H5:
    """Return the group of the episodes, after checking format and version."""
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
    return _inside(file, _GROUP, str(path))


def _number(name: str, path: Path) -> int:
    if not name.isdecimal():
        raise InvalidRecording(f"expected groups named by numbers in /{_GROUP} of {path}, found {name!r}")
    return int(name)


def _plain(value: H5) -> H5:
    """Return the value of an attribute as a Python object."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value.item() if isinstance(value, np.generic) else value


def _kind(data: H5) -> str:
    return "U" if _h5py().check_string_dtype(data.dtype) is not None else str(data.dtype.kind)


def _h5py() -> H5:
    with needs_extra("hdf5", "h5py"):
        import h5py
    return h5py
