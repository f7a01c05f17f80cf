"""Runs a command: its settings from conf/ and the command line, errors in one line, and --help."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, field, fields, make_dataclass
from typing import Any, TypeVar

import hydra
import typer
import yaml
from hydra._internal import hydra as composition
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.config_store import ConfigStore
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException, ValidationError

from conf.help import CONF, GROUP, groups_of, help_text, primary, type_in_words
from conf.targets import check_composed
from nsrecover.errors import InvalidConfiguration, NsrecoverError, cli_errors, did_you_mean

Settings = TypeVar("Settings")

_USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]  # UsageError, which Typer does not export
FULL_ERROR = "HYDRA_FULL_ERROR"
"""Environment variable: with 1, Hydra raises its errors instead of printing them."""


class CheckedLoader(ConfigLoaderImpl):
    """Composes configurations, also those of the jobs of a sweep, and refuses one that runs code of others."""

    def load_configuration(self, *given: Any, **named: Any) -> DictConfig:
        """As Hydra does; see `check_composed`."""
        config = super().load_configuration(*given, **named)
        check_composed(config)
        return config


def run(name: str, schema: type[Settings], task: Callable[[Settings], None], resumable: bool = False) -> None:
    """Run a command: compose its settings from their defaults and the command line, and call its task with them.

    A wrong setting prints one line and exits with 2. `--help` prints the docstring of the dataclass.

    Args:
        name: of the command. If there is a file conf/NAME.yaml, that is its primary config, which refers to the schema
            as `NAME_schema`.
        schema: dataclass of the top-level settings, each with its default.
        task: does the work of the command.
        resumable: whether the same command continues an interrupted run; an interruption then says so.
    """
    tracebacks = os.environ.get(FULL_ERROR) == "1"

    @hydra.main(version_base="1.3", config_path=str(CONF), config_name=name)
    def main(config: DictConfig) -> None:
        with _hydra_raises(tracebacks), cli_errors(resumable), config_errors(name, schema, tracebacks):
            task(settings_of(config, schema, name))

    register(name, schema)
    vars(composition)["ConfigLoaderImpl"] = CheckedLoader
    with _hydra_raises(True), cli_errors(), config_errors(name, schema, tracebacks):
        _check_dashes(sys.argv[1:], schema)
        if {"--help", "-h"} & set(sys.argv[1:]):
            print(help_text(name, schema, [word for word in sys.argv[1:] if not word.startswith("-")]))
        else:
            main()


def run_function(function: Callable[..., None]) -> None:
    """Run a command whose settings are the parameters of a function, as options.

    A wrong option prints one line and exits with 2.
    """
    app = typer.Typer(add_completion=False)
    app.command()(function)
    with cli_errors():
        try:
            code = app(standalone_mode=False)
        except _USAGE_ERROR as problem:
            raise InvalidConfiguration(f"expected options as in --help, found: {problem.format_message()}") from None  # type: ignore[attr-defined]
    sys.exit(code or 0)


def option(default: str | None) -> Any:
    """A setting that is an option of the group of conf/ with its name, by default the one given; None for none."""
    return field(default=None, metadata={GROUP: default})


def options(default: str | Sequence[str]) -> Any:
    """A setting with named entries, which one or several options of the group of conf/ with its name have."""
    return field(default_factory=dict, metadata={GROUP: default})


def register(name: str, schema: type) -> None:
    """Make the settings of a command known to Hydra, extended by the group `paths`, and the resolver of conf/."""
    OmegaConf.register_new_resolver("errors_folder", errors_folder, replace=True)
    paths: Any = ("paths", dict[str, str], field(default_factory=dict))
    store = ConfigStore.instance()
    store.store(name=f"{name}_schema", node=make_dataclass(schema.__name__, [paths], bases=(schema,)))
    if primary(name) is None:
        groups: list[Any] = [{group: chosen} for group, chosen in groups_of(name, schema).items()]
        defaults = [f"{name}_schema", *groups, {"hydra": "command"}, "_self_"]
        store.store(name=name, node={"defaults": defaults, **_movable(name, schema)})


def _movable(name: str, schema: type) -> dict[str, str]:
    """Settings that are folders of the group `paths` by default, which move with them; an empty `out` becomes one."""
    known: Any = OmegaConf.to_container(
        OmegaConf.create({"paths": OmegaConf.load(CONF / "paths" / "default.yaml")}).paths, resolve=True
    )
    names = _names(schema)
    moved = {
        each.name: f"${{paths.outputs}}/{name}" for each in fields(schema) if (each.name, each.default) == ("out", "")
    }
    folder_of_datasets = any(each.name == "errors" and each.default is None for each in fields(schema))
    if folder_of_datasets and "seed" in names:
        other = ",${scene}" if "scene" in names else ""
        moved["errors"] = f"${{errors_folder:${{paths.errors}},${{seed}}{other}}}"
    for each in fields(schema):
        if each.default is MISSING or not isinstance(each.default, str) or not each.default:
            continue
        inside = [key for key, folder in known.items() if f"{each.default}/".startswith(f"{folder}/")]
        if inside:
            key = max(inside, key=lambda key: len(known[key]))
            moved[each.name] = f"${{paths.{key}}}{each.default.removeprefix(known[key])}"
    return moved


def errors_folder(errors: str, seed: int, scene: Any = None) -> str | None:
    """Return the folder of the error datasets of a seed and a scene; None leaves it to the command.

    Args:
        errors: folder of the datasets of seed 0.
        seed: of the datasets.
        scene: settings of the scenes, which are named by their hash; None for the standard ones.
    """
    if errors == "data/errors":
        return None
    folder = errors if seed == 0 else f"{errors}_{seed}"
    if scene is not None:
        settings = json.dumps(OmegaConf.to_container(scene, resolve=True), sort_keys=True)
        folder += f"_{hashlib.sha256(settings.encode()).hexdigest()[:8]}"
    return folder


def settings_of(config: DictConfig, schema: type[Settings], name: str) -> Settings:
    """Return the settings of a command as its dataclass; the group `paths` only serves the composition.

    Raises:
        InvalidConfiguration: there is an unknown setting, or several options of a group that takes one.
    """
    hydra = HydraConfig.get() if HydraConfig.initialized() else None
    if hydra is not None and hydra.job.config_name == name:  # not that of an earlier command in this process
        choices = hydra.runtime.choices
        for group, default in groups_of(name, schema).items():
            if not isinstance(default, list) and group not in choices:
                raise InvalidConfiguration(
                    f"expected one option of {group}, found several; `-m {group}=A,B` runs one after the other"
                )
    known = _names(schema)
    for key in config:
        if key not in known and key != "paths":
            raise InvalidConfiguration(_unknown(str(key), known))
    found = OmegaConf.to_object(config)
    return schema(**{key: getattr(found, key) for key in known})


@contextlib.contextmanager
def config_errors(name: str, schema: type, tracebacks: bool = False) -> Iterator[None]:
    """Raise the errors of Hydra and OmegaConf as `InvalidConfiguration`, with what was expected and found.

    Args:
        name: name of the primary config.
        schema: dataclass of the top-level settings.
        tracebacks: raise them as they are.
    """
    try:
        yield
    except (HydraException, OmegaConfBaseException) as problem:
        if tracebacks:
            raise
        raise _translated(problem, name, schema) from problem
    except yaml.YAMLError as problem:
        if tracebacks:
            raise
        raise InvalidConfiguration(f"expected YAML with plain values, found: {problem}") from problem
    except ValueError as problem:
        if tracebacks or "Config group override must be" not in str(problem):
            raise
        raise InvalidConfiguration("expected an option of a group, found null; --help lists the options") from problem


def _translated(problem: Exception, name: str, schema: type) -> NsrecoverError:
    cause = problem.__cause__ if problem.__cause__ is not None else problem
    if isinstance(cause, NsrecoverError):
        return cause
    if isinstance(problem, MissingConfigException) and problem.missing_cfg_file is not None:
        group, _, option = problem.missing_cfg_file.rpartition("/")
        known = problem.options or [path.stem for path in (CONF / group).glob("*.yaml")]
        return InvalidConfiguration(
            f"expected an option of {group or 'conf'}, found {option!r}.{did_you_mean(option, known)}"
        )
    if match := re.match(r"Could not override '([^']*)'\. No match in the defaults list", str(problem)):
        return InvalidConfiguration(_unknown(match[1], {*_names(schema), *groups_of(name, schema)}))
    if match := re.match(r"Ambiguous value for argument '(.*)'\n", str(problem)):
        return InvalidConfiguration(
            f"expected one value, found {match[1]!r}; key=[A,B] is a list, and `-m` runs one value after the other"
        )
    if isinstance(problem, OverrideParseException):
        return InvalidConfiguration(
            f"expected key=value, found {problem.override!r} ({problem.message.splitlines()[0]}); put lists, mappings "
            "and values with spaces in quotes, as in 'key=[1,2]'"
        )
    if isinstance(cause, ConfigAttributeError | ConfigKeyError) and OmegaConf.is_config(cause.parent_node):
        inside = str(cause.full_key).rpartition(".")[0]
        others = set() if inside else set(groups_of(name, schema))
        siblings = {str(key) for key in cause.parent_node} - {"hydra"} | others
        return InvalidConfiguration(_unknown(str(cause.key), siblings, inside))
    if isinstance(cause, ValidationError) and cause.full_key in _names(schema):
        found = f"{problem}".rpartition(" override ")[2] if cause is not problem else str(cause.msg)
        wanted = type_in_words(schema, cause.full_key)
        return InvalidConfiguration(f"expected {cause.full_key} as {wanted}, found {found}")
    said = str(problem) if cause is problem else f"{problem}: {cause}"
    return InvalidConfiguration(f"expected settings that can be used, found: {said}")


def _names(schema: type) -> list[str]:
    return [item.name for item in fields(schema)]


def _unknown(key: str, known: Iterable[str], inside: str = "") -> str:
    return f"expected a known setting{f' of {inside}' if inside else ''}, found {key!r}.{did_you_mean(key, known)}"


def _check_dashes(arguments: Sequence[str], schema: type) -> None:
    for argument in arguments:
        if argument.startswith("--e"):  # --experimental-rerun, also shortened
            raise InvalidConfiguration(f"expected settings, found {argument!r}, which unpickles a file; give settings")
        word = argument.lstrip("-")
        if word != argument and re.split(r"[.=]", word)[0] in _names(schema):
            raise InvalidConfiguration(f"expected settings without dashes, found {argument!r}; write {word!r}")


@contextlib.contextmanager
def _hydra_raises(on: bool) -> Iterator[None]:
    """Let Hydra raise its errors, or print them, inside."""
    before = os.environ.pop(FULL_ERROR, None)
    if on:
        os.environ[FULL_ERROR] = "1"
    try:
        yield
    finally:
        os.environ.pop(FULL_ERROR, None)
        if before is not None:
            os.environ[FULL_ERROR] = before
