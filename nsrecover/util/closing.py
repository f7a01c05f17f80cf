"""Base class of objects that a `with` block closes."""

from abc import ABC, abstractmethod

from nsrecover.util.python310 import Self


class ClosedByWith(ABC):
    """An object that is closed when its `with` block ends."""

    @abstractmethod
    def close(self) -> None:
        """Release the resources of the object."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
