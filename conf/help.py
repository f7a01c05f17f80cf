"""Text of --help: what a command does, and each of its settings with default, allowed values and explanation."""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
import types
import typing
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import yaml
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf

CONF = Path(__file__).parent
WIDTH = 110
GROUP = "group"
"""Key of the metadata of a field that is an option of a group, see `conf.command.option`."""
_ATTRIBUTE = re.compile(r"^ {4}(?P<name>\w+): (?P<text>.*(?:\n {5,}.*)*)", re.MULTILINE)
_KEY = re.compile(r"^(?P<indent> *)(?P<key>[\w.]+):(?: |$)")
_WORDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
_WORDS |= {list: "a list", dict: "a mapping", Any: "anything"}


def help_text(name: str, schema: type, overrides: Sequence[str] = ()) -> str:
    """Return the help of a command: the docstring of its settings, and every setting with its explanation.

    Args:
        name: of its primary config.
        schema: dataclass of its top-level settings.
        overrides: settings and options given on the command line, which are shown as defaults.
    """
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose(name, list(overrides), return_hydra_config=True)
    choices = config.hydra.runtime.choices
    values: dict[str, Any] = OmegaConf.to_container(  # type: ignore[assignment]
        OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"]), resolve=False
    )
    explained, groups = explanations(name, schema), groups_of(name, schema)
    header, usage, footer = _about(config, schema)
    hints = typing.get_type_hints(schema)
    lines = [header, f"usage: {usage} [key=value ...]", "", footer, ""]
    lines += ["Settings, their defaults, and what they take:"]
    for key in [*values, *(group for group in groups if group not in values)]:
        if key in groups:
            hint = hints.get(key)
            explained_inside = explanations("", hint) if isinstance(hint, type) and is_dataclass(hint) else {}
            lines += _group(key, choices.get(key, groups[key]), values.get(key), config, explained_inside)
        else:
            lines.append(f"  {key}={_shown(config, key)}  ({type_in_words(schema, key)})")
            lines += _wrapped(explained.get(key, ""), 6)
    lines += [
        "",
        "--cfg job prints the settings and runs nothing; -m runs several values (key=A,B) one after the other.",
    ]
    return "\n".join(lines)


def explanations(name: str, schema: type) -> dict[str, str]:
    """Return what is said about each setting: in docstrings of the dataclass and its bases, or in its YAML file."""
    found: dict[str, str] = {}
    for each in reversed(schema.__mro__):
        attributes = inspect.cleandoc(each.__doc__ or "").partition("\nAttributes:\n")[2]
        found |= {match["name"]: " ".join(match["text"].split()) for match in _ATTRIBUTE.finditer(attributes)}
    return found | (comments(path) if (path := primary(name)) else {})


def _about(config: DictConfig, schema: type) -> tuple[str, str, str]:
    """What a command does, how it is called, and examples and notes."""
    if "app_name" in (said := config.hydra.help) and said.app_name.startswith("python"):
        return said.header.strip(), said.app_name, said.footer.rstrip()
    module = getattr(sys.modules["__main__"].__spec__, "name", "").removesuffix(".__main__")
    header, _, footer = inspect.cleandoc(schema.__doc__ or "").partition("\nAttributes:\n")[0].partition("\n\n")
    return " ".join(header.split()), f"python -m {module}", footer.rstrip()


def primary(name: str) -> Path | None:
    """The YAML file of a command; None if its dataclass says everything."""
    return path if (path := CONF / f"{name}.yaml").is_file() else None


def _group(group: str, chosen: Any, values: Any, config: DictConfig, explained: dict[str, str]) -> Iterator[str]:
    """Lines about a group: its options, and the settings of the chosen one, which its dataclass or files explain."""
    files = {path.stem: path for path in sorted((CONF / group).glob("*.yaml"))}
    options = {stem: comments(path).get("", "") for stem, path in files.items() if _fits(path, config)}
    shown = "[" + ",".join(chosen) + "]" if isinstance(chosen, list) else "null" if chosen is None else chosen
    yield f"  {group}={shown}  ({'a list of options' if isinstance(chosen, list) else 'one option'})"
    for stem, text in options.items():
        yield from _wrapped(f"{stem}: {text}", 6)
    if isinstance(chosen, list) or not isinstance(values, dict):
        return
    for path in [files[chosen], *sorted((CONF / group).rglob("*.yaml"))]:
        explained = comments(path) | explained
    for key in (key for key in values if not key.startswith("_")):
        yield f"    {group}.{key}={_shown(config, f'{group}.{key}')}"
        yield from _wrapped(explained.get(key, ""), 8)


def _fits(path: Path, config: DictConfig) -> bool:
    """Whether an option that sets top-level settings sets only those of this command."""
    settings = yaml.safe_load(text := path.read_text(encoding="utf-8")) or {}
    return "# @package _global_" not in text or settings.keys() <= {"defaults", *config}


def groups_of(name: str, schema: type) -> dict[str, Any]:
    """Return the groups that a command takes: name -> default option, list of default options, or None."""
    if (path := primary(name)) is None:
        options = {each.name: each.metadata[GROUP] for each in fields(schema) if GROUP in each.metadata}
        return {**options, "paths": "default"}
    defaults = yaml.safe_load(path.read_text(encoding="utf-8"))["defaults"]
    found = {key: option for entry in defaults if isinstance(entry, dict) for key, option in entry.items()}
    return {key.split("@")[0]: option for key, option in found.items() if not key.startswith(("override ", "hydra"))}


def comments(path: Path) -> dict[str, str]:
    """Return the explanations in a YAML file: dotted key -> the comment above it; "" -> the first comment."""
    found, above, parents = dict[str, str](), list[str](), list[tuple[int, str]]()
    top = True
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.lstrip().startswith("#"):
            above.append(line.lstrip()[1:].strip())
            continue
        if match := _KEY.match(line):
            indent = len(match["indent"])
            parents = [parent for parent in parents if parent[0] < indent] + [(indent, match["key"])]
        if above and (match or top):
            found["" if top else ".".join(key for _, key in parents)] = _first_paragraph(above)
        above, top = [], False
    return found


def _first_paragraph(lines: Sequence[str]) -> str:
    lines = [line for line in lines if not line.startswith("@package")]
    return " ".join(lines[: lines.index("")] if "" in lines else lines)


def type_in_words(schema: type, key: str) -> str:
    """Return what a top-level setting takes, as `a whole number or null`."""
    hint = typing.get_type_hints(schema).get(key, dict)
    return _in_words(hint)


def _in_words(hint: Any) -> str:
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return " or ".join("null" if part is type(None) else _in_words(part) for part in inside)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return "one of " + ", ".join(item.name for item in hint)
    return _WORDS.get(origin or hint, "a mapping")


def _shown(config: DictConfig, key: str) -> str:
    """A value as it is written on the command line."""
    if OmegaConf.is_missing(*_parent(config, key)):
        return "???"
    value = OmegaConf.select(config, key)
    plain = OmegaConf.to_container(value, resolve=True, enum_to_str=True) if OmegaConf.is_config(value) else value
    if isinstance(plain, Enum):
        plain = plain.name
    text: str = yaml.safe_dump(plain, default_flow_style=True, sort_keys=False, width=10_000, allow_unicode=True)
    return text.removesuffix("...\n").strip()


def _parent(config: DictConfig, key: str) -> tuple[DictConfig, str]:
    parent, _, last = key.rpartition(".")
    return (OmegaConf.select(config, parent) if parent else config), last


def _wrapped(text: str, indent: int) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=" " * indent, subsequent_indent=" " * (indent + 2))
