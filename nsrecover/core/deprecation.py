"""Old public names: for one more release they work with a DeprecationWarning, or raise an error; both name the new one.

A renamed module, member or keyword is one line of `old_names.toml`. `nsrecover` calls `install` when it is imported, so
modules and classes themselves contain nothing about their old names.
"""

from __future__ import annotations

import functools
import importlib
import sys
import tomllib
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any


class Gone(str):
    """What to use instead of a name that no longer exists: the text of an error."""


def _read(table: Mapping[str, str]) -> dict[str, str]:
    return {old: Gone(new[2:]) if new.startswith("! ") else new for old, new in table.items()}


_TABLES = tomllib.loads((Path(__file__).parent / "old_names.toml").read_text(encoding="utf-8"))
MODULES = _read(_TABLES.pop("modules"))
"""Old module -> new module."""
NAMES = {home: _read(table) for home, table in _TABLES.items()}
"""Module, class or function -> old name of a member, or of a keyword with "=" -> new name."""


def install() -> None:
    """Let every module answer to its old names: those imported so far, and those imported from now on."""
    sys.meta_path.insert(0, OldNames())
    for module in [module for name, module in sys.modules.items() if name in NAMES]:
        _serve(module)


class OldNames(MetaPathFinder, Loader):
    """Import hook that resolves old module names and adds their old names to the members of new modules."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module with old names, or of an old module; None for every other module."""
        if any(fullname in (home, home.rpartition(".")[0]) for home in NAMES):
            spec = PathFinder.find_spec(fullname, path, target)
            if spec is not None and isinstance(spec.loader, SourceFileLoader):
                spec.loader = _ServingLoader(fullname, spec.loader.path)
            return spec
        new = _new_module(fullname)
        if new is None:
            return None
        _report(fullname, new, ImportError)
        return ModuleSpec(fullname, self, loader_state=new, is_package=True)

    def exec_module(self, module: ModuleType) -> None:
        """Fill an old module: it forwards every attribute to the new one."""
        assert module.__spec__ is not None
        new = importlib.import_module(module.__spec__.loader_state)
        module.__doc__ = new.__doc__
        vars(module)["__getattr__"] = functools.partial(getattr, new)


class _ServingLoader(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        _serve(module)


def _new_module(old: str) -> str | None:
    if old in MODULES:
        return MODULES[old]
    package, _, name = old.rpartition(".")
    new = _new_module(package) if package else None
    return new and f"{new}.{name}"


def _report(old: str, new: str, error: type[Exception]) -> None:
    if isinstance(new, Gone):
        raise error(f"{old} no longer exists, use {new}")
    warnings.warn(f"{old} is deprecated, use {new}", DeprecationWarning, stacklevel=3)


def _serve(module: ModuleType) -> None:
    """Let a module, and the classes and functions in it, answer to their old names."""
    for home, names in NAMES.items():
        package, _, last = home.rpartition(".")
        if home == module.__name__:
            vars(module)["__getattr__"] = _module_getattr(module, names)
        elif package == module.__name__ and not isinstance(owner := vars(module).get(last), ModuleType | None):
            keywords = {old.removesuffix("="): new for old, new in names.items() if old.endswith("=")}
            if not isinstance(owner, type):
                setattr(module, last, _with_old_keywords(owner, keywords))
                continue
            for old in names.keys() - {f"{keyword}=" for keyword in keywords}:
                setattr(owner, old, property(functools.partial(_member, old=old, new=names[old], keywords=keywords)))
            if keywords:
                setattr(owner, "__init__", _with_old_keywords(vars(owner)["__init__"], keywords))  # noqa: B010


def _module_getattr(module: ModuleType, names: Mapping[str, str]) -> Callable[[str], Any]:
    otherwise = vars(module).get("__getattr__")

    def member(name: str) -> Any:
        if name in names:
            home, _, last = names[name].rpartition(".")
            new = names[name] if home or isinstance(names[name], Gone) else f"{module.__name__}.{last}"
            _report(f"{module.__name__}.{name}", new, ImportError)
            return getattr(importlib.import_module(home) if home else module, last)
        if otherwise is not None:
            return otherwise(name)
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

    return member


def _member(instance: Any, old: str, new: str, keywords: Mapping[str, str]) -> Any:
    kind = type(instance).__name__
    _report(f"{kind}.{old}", new if "." in new or isinstance(new, Gone) else f"{kind}.{new}", AttributeError)
    home, _, last = new.rpartition(".")
    value = getattr(importlib.import_module(home), last)(instance) if home else getattr(instance, new)
    return _with_old_keywords(value, keywords) if callable(value) else value


def _with_old_keywords(function: Callable[..., Any], names: Mapping[str, str]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        for old in names.keys() & keywords:
            _report(f"{old}=...", names[old] if isinstance(names[old], Gone) else f"{names[old]}=...", TypeError)
            keywords[names[old]] = keywords.pop(old)
        return function(*arguments, **keywords)

    return call
