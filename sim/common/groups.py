"""Objects that configuration groups describe."""

from __future__ import annotations

from typing import Any

from hydra.errors import InstantiationException
from omegaconf import OmegaConf

from conf.help import CONF
from conf.targets import instantiate
from nsrecover.errors import InvalidConfiguration, NsrecoverError, require_known


def group_names(group: str) -> list[str]:
    """Names of the files of a configuration group."""
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


def group_settings(group: str, name: str) -> Any:
    """Contents of a file of a configuration group, on top of the one that it builds on.

    Raises:
        InvalidConfiguration: there is no such file.
    """
    known = group_names(group)
    require_known(name, known, f"a {group}")
    values: Any = OmegaConf.load(CONF / group / f"{name}.yaml")
    for base in values.pop("defaults", ()):
        if base != "_self_":
            values = OmegaConf.merge(group_settings(group, base), values)
    return values


def instantiate_group(group: str, settings: Any) -> Any:
    """The object that the settings of a configuration group describe by a `_target_`.

    Raises:
        NsrecoverError: a value is out of range; the error comes from the object.
    """
    try:
        return instantiate(group, settings)
    except InstantiationException as problem:
        cause = problem.__cause__
        raise cause if isinstance(cause, NsrecoverError) else InvalidConfiguration(str(problem)) from problem
