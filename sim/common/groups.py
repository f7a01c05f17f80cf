"""Objects that configuration groups describe."""

from __future__ import annotations

from typing import Any

from hydra.errors import InstantiationException
from hydra.utils import instantiate

from nsrecover.errors import InvalidConfiguration, NsrecoverError


def instantiate_group(group: Any) -> Any:
    """The object that a configuration group with a `_target_` describes.

    Raises:
        NsrecoverError: a value is out of range; the error comes from the object.
    """
    try:
        return instantiate(group)
    except InstantiationException as problem:
        cause = problem.__cause__
        raise cause if isinstance(cause, NsrecoverError) else InvalidConfiguration(str(problem)) from problem
