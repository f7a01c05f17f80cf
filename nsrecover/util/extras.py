"""Optional dependencies, which extras of the package install."""

from collections.abc import Iterator
from contextlib import contextmanager

from nsrecover.errors import InvalidConfiguration


@contextmanager
def needs_extra(extra: str, package: str) -> Iterator[None]:
    """Context for the import of an optional package: if it is missing, the error names the extra that installs it.

    Args:
        extra: the extra of nsrecover.
        package: name of the package in the error.

    Raises:
        InvalidConfiguration: the package is not installed.
    """
    try:
        yield
    except ImportError as problem:
        raise InvalidConfiguration(
            f"expected {package}, found that it is not installed; run `pip install 'nsrecover[{extra}]'`"
        ) from problem
