"""Moments of a simulation to which one can return: copies of the process that wait at them.

A saved physics state of the kitchen is not exact, and repeating the actions costs as much as they did. A forked process
has everything as it was, to the last bit, and costs next to nothing. Where processes cannot be forked, the actions are
repeated.
"""

from __future__ import annotations

import os
import pickle
import struct
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, BinaryIO, Self, TypeVar

from nsrecover.errors import NsrecoverError
from sim.kitchen.world import KitchenWorld

Result = TypeVar("Result")
_SIZE = struct.Struct("<Q")


class Checkpoint:
    """The present moment of a world. Use it as a context manager, or call `close`.

    Args:
        world: its state is kept; it can be used on.
    """

    def __init__(self, world: KitchenWorld) -> None:
        self._pid = 0
        if not hasattr(os, "fork"):
            self._world, self._saved = world, world.save()
            return
        (down, self._down), (self._up, up) = os.pipe(), os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(self._down)
            os.close(self._up)
            _wait(world, down, up)
        os.close(down)
        os.close(up)
        self._to, self._from = os.fdopen(self._down, "wb"), os.fdopen(self._up, "rb")

    def run(self, act: Callable[[KitchenWorld], Result]) -> Result:
        """What a function returns that is called with the world as it was; it cannot change the checkpoint.

        Args:
            act: a function, its arguments and its result must be picklable.

        Raises:
            Exception: what the function raises.
        """
        if not self._pid:
            with KitchenWorld(self._world.spec, self._world.rig) as world:
                world.restore(self._saved)
                return act(world)
        _send(self._to, act)
        received = _receive(self._from)
        if received is None:
            raise NsrecoverError("expected a result of a copy of the simulation, found that its process has ended")
        result, error = received
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]

    def close(self) -> None:
        """End the process. A second call does nothing."""
        if self._pid:
            with suppress(OSError):
                # copies of the process hold the pipe, too: its end would not be seen
                _send(self._to, None)
                self._to.close()
            self._from.close()
            os.waitpid(self._pid, 0)
            self._pid = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _wait(world: KitchenWorld, down: int, up: int) -> None:
    """Serve requests in the copy of the process until its parent closes the pipe; never returns."""
    try:
        source, sink = os.fdopen(down, "rb"), os.fdopen(up, "wb")
        while True:
            act = _receive(source)
            if act is None:
                break
            pid = os.fork()
            if pid == 0:
                _send(sink, _outcome(act, world))
                break
            os.waitpid(pid, 0)
    finally:
        # neither exit handlers nor open files of the parent are this process's own
        os._exit(0)


def _outcome(act: Callable[[KitchenWorld], Any], world: KitchenWorld) -> tuple[Any, Exception | None]:
    try:
        return act(world), None
    except Exception as error:
        return None, error


def _send(file: BinaryIO, item: object) -> None:
    data = pickle.dumps(item)
    file.write(_SIZE.pack(len(data)))
    file.write(data)
    file.flush()


def _receive(file: BinaryIO) -> Any:
    """The next item; None at the end of the pipe, or if that was sent."""
    head = file.read(_SIZE.size)
    return pickle.loads(file.read(_SIZE.unpack(head)[0])) if len(head) == _SIZE.size else None
