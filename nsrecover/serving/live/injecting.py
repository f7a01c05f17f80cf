"""Interface of simulators in which viewers can inject faults."""

from collections.abc import Mapping, Sequence
from typing import Protocol


class Injector(Protocol):
    """Makes things go wrong in a simulator, when viewers ask for it."""

    @property
    def faults(self) -> Mapping[str, str]:
        """Name of each fault -> what it does, in words."""
        ...

    @property
    def objects(self) -> Sequence[str]:
        """The objects that a fault may act on."""
        ...

    def inject(self, fault: str, name: str) -> str:
        """Let a fault strike as soon as it can. Called from any thread.

        Args:
            fault: a key of `faults`.
            name: the object that it is to act on; empty for any.

        Returns:
            What will happen, for viewers.

        Raises:
            InvalidConfiguration: there is no such fault or object.
        """
        ...
