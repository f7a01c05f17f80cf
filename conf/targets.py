"""Objects that settings describe by a `_target_`: of each group those that its protocol takes, and no others."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from hydra import utils
from omegaconf import DictConfig, ListConfig, OmegaConf

from nsrecover.errors import InvalidConfiguration, did_you_mean


def _of(module: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{module}.{name}" for name in names)


TARGETS: dict[str, tuple[str, ...]] = {
    "agent": _of("nsrecover.agent", "RecoveryAgent"),
    "cameras": _of("sim.common.cameras", "CameraRig", "View"),
    "detector": (
        *_of("eval.detectors.graph", "GraphSimilarity", "Relations"),
        *_of("eval.detectors.pictures", "ImageSimilarity", "ObjectCount"),
        "eval.detectors.graph.Distance",
        "eval.detectors.graph.Ours",
    ),
    "logger": (
        "nsrecover.training.loggers.no_logger",
        *_of("lightning.pytorch.loggers", "CSVLogger", "TensorBoardLogger", "WandbLogger"),
    ),
    "optimizer": _of(
        "torch.optim", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "ASGD",
        "NAdam", "RAdam", "RMSprop", "Rprop", "SGD",
    ),
    "planner": (
        *_of("eval.sweep.controllers", "Blind", "Recovering", "Repeating", "recovering"),
        "eval.sweep.oracle.Oracle",
    ),
    "scene": (*_of("sim.tabletop.scene_mix", "LightMix", "SceneMix"), "sim.tabletop.scenes.TableSpec"),
    "sensor": (
        *_of("sim.sensors.sensor", "Calibration", "Sensor"),
        "sim.sensors.colour.ColourErrors",
        "sim.sensors.depth.DepthErrors",
        "sim.sensors.masks.MaskErrors",
        "sim.sensors.presets.sensor",
    ),
}  # fmt: skip
"""Group -> the classes, and functions that make objects, which its settings may name."""

VARIABLE = "NSRECOVER_TARGETS"
"""Environment variable with further ones, such as `my_detectors.Mine`, separated by commas."""


def instantiate(group: str, settings: Any, **arguments: Any) -> Any:
    """The object that the settings of a group describe; see `hydra.utils.instantiate`.

    Raises:
        InvalidConfiguration: a target is not one of the group.
    """
    allowed = (*TARGETS[group], *filter(None, os.environ.get(VARIABLE, "").split(",")))
    for target in targets_in(settings):
        if target not in allowed:
            raise InvalidConfiguration(
                f"expected a _target_ of the group {group}: {', '.join(allowed)}; found {target[:80]!r}."
                f"{did_you_mean(target[:80], allowed)} For one of your own, set {VARIABLE} to its full name"
            )
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
