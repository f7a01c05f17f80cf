"""Objects that settings describe by a `_target_`, from trusted packages only: settings run no other code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from hydra import utils
from omegaconf import DictConfig, ListConfig, OmegaConf

from nsrecover.errors import InvalidConfiguration

TRUSTED = ("nsrecover", "sim", "train", "eval", "torch.optim", "lightning.pytorch.loggers")
"""Packages whose classes and functions settings may name."""

VARIABLE = "NSRECOVER_TARGETS"
"""Environment variable with further packages, separated by commas."""


def instantiate(settings: Any, **arguments: Any) -> Any:
    """The object that settings with a `_target_` describe; see `hydra.utils.instantiate`.

    Raises:
        InvalidConfiguration: a target is not in a trusted package.
    """
    for target in targets_in(settings):
        _check(target)
    return utils.instantiate(settings, **arguments)


def targets_in(settings: Any) -> Iterator[str]:
    """Every `_target_` in settings."""
    if isinstance(settings, DictConfig | ListConfig):
        settings = OmegaConf.to_container(settings, resolve=True)
    if isinstance(settings, dict):
        if "_target_" in settings:
            yield str(settings["_target_"])
        settings = list(settings.values())
    for each in settings if isinstance(settings, list | tuple) else ():
        yield from targets_in(each)


def _check(target: str) -> None:
    trusted = (*TRUSTED, *filter(None, os.environ.get(VARIABLE, "").split(",")))
    # by its name first: what is not trusted is not imported either
    if not _within(target, trusted) or not _within(_home(target), trusted):
        raise InvalidConfiguration(
            f"expected a _target_ that is defined in {', '.join(trusted)}, found {target!r}; to use a package of your "
            f"own, name it in the environment variable {VARIABLE}"
        )


def _home(target: str) -> str:
    """The module that defines a target, not one that imports it; empty if there is none."""
    try:
        return str(getattr(utils.get_object(target), "__module__", ""))
    except Exception:  # of an import
        return ""


def _within(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)
