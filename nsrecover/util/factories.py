"""Factories that a command line names: functions and classes of users."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nsrecover.errors import InvalidConfiguration, did_you_mean


def is_factory(place: str) -> bool:
    """Return whether a place on a command line names a factory, and no file or folder."""
    return ".py:" in place or (":" in place and not Path(place).exists())


def load_factory(place: str) -> Callable[..., Any]:
    """Return the factory that a command line names.

    Args:
        place: `package.module:factory`, or `path/to/file.py:factory`.

    Raises:
        InvalidConfiguration: the module, the file or the name in it does not exist.
    """
    module_name, colon, name = place.rpartition(":")
    if not colon or not module_name or not name:
        raise InvalidConfiguration(f"expected package.module:factory or file.py:factory, found {place!r}")
    try:
        if module_name.endswith(".py"):
            path = Path(module_name)
            spec = importlib.util.spec_from_file_location(path.stem, path)
            if spec is None or spec.loader is None or not path.is_file():
                raise InvalidConfiguration(f"expected a Python file, found none at {module_name!r}")
            module = importlib.util.module_from_spec(spec)
            sys.modules.setdefault(path.stem, module)  # dataclasses look up their module
            if str(path.parent.resolve()) not in sys.path:
                sys.path.append(str(path.parent.resolve()))  # for files beside it
            spec.loader.exec_module(module)
        else:
            module = importlib.import_module(module_name)
    except ImportError as error:
        raise InvalidConfiguration(
            f"expected a module that can be imported, found {error} for {module_name!r}; install it, or set PYTHONPATH"
        ) from error
    factory = getattr(module, name, None)
    if not callable(factory):
        named = [each for each, value in vars(module).items() if callable(value)]
        raise InvalidConfiguration(
            f"expected a function or class {name!r} in {module_name}, found {factory!r}.{did_you_mean(name, named)}"
        )
    found: Callable[..., Any] = factory
    return found
