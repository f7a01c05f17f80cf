"""Adapters for other people's planners. Each needs the planner's package, which is an extra of its own."""

from __future__ import annotations

from nsrecover.errors import InvalidConfiguration


def missing(package: str, extra: str) -> InvalidConfiguration:
    """The error for a package that an adapter needs and that is not installed.

    Args:
        package: its name.
        extra: the extra of nsrecover that brings it.
    """
    return InvalidConfiguration(
        f"expected {package}, found that it is not installed; run `pip install 'nsrecover[{extra}]'`"
    )
