"""Observations of an episode on disk after every action, so that a kill loses at most the current action.

Files of a collection in its folder `parts`:

    000123/000.npz ...   observations of an unfinished episode, one file each, uncompressed; the arrays of
                         `nsrecover.records.arrays` and `state`, a hash of the true state of the world
    000123/events.log    a line `begun T` before work on the T-th observation, `recorded T` when it is on disk
    000123/lock          locked while a process works on the episode
    000123.h5            a finished episode, as `nsrecover.records.archive` writes it
    000123.json          how a finished episode ended

Every file is written atomically and is on disk before the next step begins.
"""

from __future__ import annotations

import fcntl
import io
import os
import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from nsrecover.core.observation import Observation
from nsrecover.errors import InvalidObservation
from nsrecover.records.arrays import PER_OBSERVATION, arrays_to_observations, observations_to_arrays, stored_names
from nsrecover.util.atomic_write import atomic_write_bytes


class Journal:
    """The observations of one unfinished episode; a context manager that waits until no other process uses it.

    Attributes:
        folder: of the files.
        recalled: number of observations read back from an interrupted run.
    """

    def __init__(self, folder: Path) -> None:
        """A journal in a folder, which may not exist yet."""
        self.folder = folder
        self.recalled = 0

    def __enter__(self) -> Journal:
        while True:
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                self._lock = (self.folder / "lock").open("a")
            except FileNotFoundError:
                # the process that used it has just finished and deleted it
                continue
            # a worker of a killed collector may live a little longer
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            if self._is_current():
                return self
            self._lock.close()

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    def begin(self, index: int) -> None:
        """Note that work on an observation begins: its action, then its images."""
        self._note(f"begun {index}")

    def keep(self, index: int, state: str, observation: Observation) -> None:
        """Write an observation to disk.

        Args:
            index: its number.
            state: hash of the true state of the world in it.
            observation: the observation.
        """
        buffer = io.BytesIO()
        arrays: dict[str, Any] = observations_to_arrays([observation])
        np.savez(buffer, state=np.array(state), **arrays)
        atomic_write_bytes(self._file(index), buffer.getvalue())
        self._note(f"recorded {index}")

    def recall(self, index: int, state: str) -> Observation | None:
        """An observation of an interrupted run, if it was recorded in the same state of the world.

        If the state differs, because the simulator has changed, this observation and all later ones are deleted.
        """
        try:
            with np.load(self._file(index), allow_pickle=False) as stored:
                if str(stored["state"]) == state:
                    names = stored_names(stored.files, PER_OBSERVATION)
                    observation = arrays_to_observations({name: stored[name] for name in names})[0]
                    self.recalled += 1
                    return observation
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, InvalidObservation):
            # the file is damaged; the observation can be recorded again
            pass
        for path in self.folder.glob("*.npz"):
            if int(path.stem) >= index:
                path.unlink()
        return None

    def clear(self) -> None:
        """Delete the journal."""
        shutil.rmtree(self.folder)

    def _file(self, index: int) -> Path:
        return self.folder / f"{index:03d}.npz"

    def _is_current(self) -> bool:
        """Whether the locked file is still the one in the folder."""
        try:
            return os.path.samestat(os.fstat(self._lock.fileno()), (self.folder / "lock").stat())
        except FileNotFoundError:
            return False

    def _note(self, text: str) -> None:
        with (self.folder / "events.log").open("a", encoding="utf-8") as file:
            file.write(text + "\n")
