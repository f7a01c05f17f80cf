"""Objects that settings describe by a `_target_`: of each group those that its protocol takes, and no others."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
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
        *_of("eval.sweep.controllers", "Blind", "Recovering", "recovering"),
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

START = (
    "hydra._internal.core_plugins.basic_launcher.BasicLauncher",
    "hydra._internal.core_plugins.basic_sweeper.BasicSweeper",
    *_of("logging", "FileHandler", "Formatter", "NullHandler", "StreamHandler"),
    "ext://sys.stdout",
    "ext://sys.stderr",
)
"""What Hydra itself may make before a command starts, as Hydra's own settings do."""

_PLAIN = ("help", "hydra_help", "job", "mode", "output_subdir", "overrides", "run", "sweep", "verbose")
"""Settings of Hydra that are texts by their schema, so that no interpolation can put a target there."""


_OWN_FOLDERS = ("${out}", "${demo_folder:${out},${scenario},${paths.outputs}}")
"""Folders of runs that the project's own settings name: the output folder of a command."""


def check_composed(config: DictConfig) -> None:
    """Check a whole configuration, Hydra's own settings included, before anything of it runs.

    Hydra makes callbacks, launchers, sweepers and loggers before it calls a command. There a target, the `()` or
    `class` of a logger and an `ext://` are those of `START`, written out; no environment variable is set.

    Raises:
        InvalidConfiguration: something else would run.
    """
    own = (*START, *_own())
    known = {*own, *(name for names in TARGETS.values() for name in names)}
    plain: Any = OmegaConf.to_container(config, resolve=False)
    start = plain.pop("hydra")
    foreign = [each for each in targets_in(plain) if each not in known and "${" not in each]
    foreign += [f"env_set {name}" for name in start["job"].get("env_set") or ()]
    foreign += [each for name, part in start.items() if name not in _PLAIN for each in _runs(part) if each not in own]
    foreign += [f"filename {name}" for name in _files(start) if not _inside(name, start["job"])]
    asked = {each.partition("=")[0].lstrip("+") for each in (start.get("overrides") or {}).get("hydra") or ()}
    foreign += [
        f"hydra.{each}.dir={start[each]['dir']}"
        for each in ("run", "sweep")
        if f"hydra.{each}.dir" not in asked and _elsewhere(config.hydra[each])
    ]
    if foreign:
        raise InvalidConfiguration(
            f"expected a _target_ of this project, and of Hydra in hydra.*, found {foreign[0][:80]!r}."
            f"{did_you_mean(foreign[0][:80], known)} For one of your own, set {VARIABLE} to its full name"
        )


def _runs(settings: Any, key: str = "") -> Iterator[str]:
    """What Hydra's settings run or import, and interpolations that could become anything."""
    if isinstance(settings, dict):
        for name, value in settings.items():
            yield from _runs(value, name)
    elif isinstance(settings, list):
        for value in settings:
            yield from _runs(value, key)
    elif isinstance(settings, str) and (
        key in ("_target_", "()", "class", "factory")
        or settings.startswith(("ext://", "cfg://"))
        or re.search(r"\$\{(?!hydra[.:]|now:|oc\.env:)", settings)
    ):
        yield settings


def _files(settings: Any) -> Iterator[str]:
    """The files that loggers write."""
    for name, value in settings.items() if isinstance(settings, dict) else ():
        if name == "filename":
            yield str(value)
        yield from _files(value)


def _inside(name: str, job: dict[str, Any]) -> bool:
    """Whether a file lies in the folder of a run: a log elsewhere could become a program."""
    path = name.removeprefix("${hydra.runtime.output_dir}/")
    for key in ("name", "config_name"):
        path = path.replace(f"${{hydra.job.{key}}}", str(job.get(key)))
    return not _leads_out(path) and "${" not in path


def _elsewhere(part: DictConfig) -> bool:
    """Whether a folder is another one than the working folder, one in it, or the output folder of the command."""
    if OmegaConf.to_container(part, resolve=False)["dir"] in _OWN_FOLDERS:  # type: ignore[call-overload, index]
        return False
    return _leads_out(str(part.dir))


def _leads_out(path: str) -> bool:
    """Whether a path can lead out of the folder that it is relative to."""
    return Path(path).is_absolute() or ".." in Path(path).parts


def _own() -> tuple[str, ...]:
    return tuple(filter(None, os.environ.get(VARIABLE, "").split(",")))


def instantiate(group: str, settings: Any, **arguments: Any) -> Any:
    """The object that the settings of a group describe; see `hydra.utils.instantiate`.

    Raises:
        InvalidConfiguration: a target is not one of the group.
    """
    allowed = (*TARGETS[group], *_own())
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
