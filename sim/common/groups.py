"""Configuration groups and the objects that they describe."""

from __future__ import annotations

from typing import Any

from hydra.errors import InstantiationException
from hydra.utils import instantiate

from nsrecover.errors import InvalidConfiguration, NsrecoverError


def instantiate_group(group: Any) -> Any:
    """What a configuration group with a `_target_` describes.

    Raises:
        NsrecoverError: its values are out of range; the error of the object itself.
    """
    try:
        return instantiate(group)
    except InstantiationException as problem:
        cause = problem.__cause__
        raise cause if isinstance(cause, NsrecoverError) else InvalidConfiguration(str(problem)) from problem
