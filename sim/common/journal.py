"""What a collector has recorded so far, on disk after every action: a kill costs at most the action in hand.

The parts of a collection, in its folder `parts`:

    000123/000.npz ...   observations of an episode at work, one file each, uncompressed; the arrays of
                         `nsrecover.records.arrays` and `state`, a hash of the true state of the world
    000123/events.log    a line `begun T` before the T-th observation is worked at, `recorded T` when it is on disk
    000123/lock          held while a process works at the episode
    000123.h5            a finished episode, as `nsrecover.records.archive` writes it
    000123.json          how a finished episode ended

Every file appears whole or not at all, and is on disk before the next step is taken.
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

from nsrecover.core.atomic_write import atomic_write_bytes
from nsrecover.core.observation import Observation
from nsrecover.errors import InvalidObservation
from nsrecover.records.arrays import PER_OBSERVATION, arrays_to_observations, observations_to_arrays


class Journal:
    """The observations of one episode at work; use it as a context manager, which waits until nobody else has it.

    Attributes:
        folder: where they are.
        recalled: observations that were taken over from an interrupted run.
    """

    def __init__(self, folder: Path) -> None:
        """The journal in a folder, which need not exist."""
        self.folder = folder
        self.recalled = 0

    def __enter__(self) -> Journal:
        while True:
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                self._lock = (self.folder / "lock").open("a")
            except FileNotFoundError:
                # whoever had it has just finished and cleared it away
                continue
            # a worker of a killed collector may be alive for another moment
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            if self._is_current():
                return self
            self._lock.close()

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    def begin(self, index: int) -> None:
        """Note that an observation is being worked at: the action before it, and then the picture."""
        self._note(f"begun {index}")

    def keep(self, index: int, state: str, observation: Observation) -> None:
        """Put an observation on disk.

        Args:
            index: its number.
            state: hash of the true state of the world it shows.
            observation: what was seen.
        """
        buffer = io.BytesIO()
        arrays: dict[str, Any] = observations_to_arrays([observation])
        np.savez(buffer, state=np.array(state), **arrays)
        atomic_write_bytes(self._file(index), buffer.getvalue())
        self._note(f"recorded {index}")

    def recall(self, index: int, state: str) -> Observation | None:
        """An observation of an interrupted run, if it was recorded and shows the same world.

        If it shows another one, because the simulator has changed since, it and all later ones are forgotten.
        """
        try:
            with np.load(self._file(index), allow_pickle=False) as stored:
                if str(stored["state"]) == state:
                    observation = arrays_to_observations({name: stored[name] for name in PER_OBSERVATION})[0]
                    self.recalled += 1
                    return observation
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, InvalidObservation):
            # the disk has lost it; it can be recorded again
            pass
        for path in self.folder.glob("*.npz"):
            if int(path.stem) >= index:
                path.unlink()
        return None

    def clear(self) -> None:
        """Delete it."""
        shutil.rmtree(self.folder)

    def _file(self, index: int) -> Path:
        return self.folder / f"{index:03d}.npz"

    def _is_current(self) -> bool:
        """Whether the lock that is held is still the one in the folder."""
        try:
            return os.path.samestat(os.fstat(self._lock.fileno()), (self.folder / "lock").stat())
        except FileNotFoundError:
            return False

    def _note(self, text: str) -> None:
        with (self.folder / "events.log").open("a", encoding="utf-8") as file:
            file.write(text + "\n")
