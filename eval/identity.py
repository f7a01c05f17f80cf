"""What decides a result: settings, episodes, weights, and the code that the measurement imports."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import grimp

from nsrecover.errors import InvalidConfiguration
from nsrecover.models.checkpoint import DEFAULT, folder_of
from sim.common.folder import REVISION
from sim.common.origin import machine

ROOT = Path(__file__).parents[1]
PACKAGES = ("conf", "eval", "nsrecover", "sim")
"""Packages whose modules are hashed; versions of installed packages are those of the lock file."""
DATA = (".json", ".toml", ".txt", ".yaml")
"""Endings of files that a module reads from its own folder."""
WEIGHTS = ("*.safetensors", "*.json")
"""Files of a checkpoint that decide what it computes."""


@runtime_checkable
class Specified(Protocol):
    """An episode that can be written down completely."""

    def to_json(self) -> str:
        """One line that determines it."""
        ...


def identity(
    module: str,
    settings: Mapping[str, Any],
    checkpoints: Iterable[str | None] = (),
    episodes: Sequence[Specified] = (),
) -> dict[str, Any]:
    """Return the manifest of a result: the same manifest promises the same numbers.

    Args:
        module: of the measurement. The modules of all `_target_` in the settings belong to its code, too.
        settings: plain data that decide the result, with the `format` of its lines.
        checkpoints: folders or names of shipped ones; None for the default.
        episodes: that are measured; none if their number may grow, see `content_of`.
    """
    manifest = {**settings, "code": code_of(module, *targets(settings))}
    if names := sorted({DEFAULT if each is None else str(each) for each in checkpoints}):
        manifest["weights"] = ",".join(map(weights_of, names))
    if episodes:
        manifest["content_of_episodes"] = content_of(episodes)
    return {**manifest, REVISION: machine()["revision"]}


def content_of(episodes: Iterable[Specified]) -> str:
    """Return a hash of episodes."""
    return _hash(episode.to_json() for episode in episodes)


def weights_of(checkpoint: str | None) -> str:
    """Return a hash of the weights and settings of a checkpoint, the shipped one if None."""
    folder = folder_of(DEFAULT if checkpoint is None else checkpoint)
    files = sorted(path for pattern in WEIGHTS for path in folder.rglob(pattern))
    return _hash(f"{path.relative_to(folder)} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files)


def code_of(*modules: str) -> str:
    """Return a hash of the code of modules and of all modules of this project that they import, also indirectly.

    Comments, docstrings and layout do not count; data files beside the modules do. Of a module of another project, such
    as a planner of one's own, only its own file counts.
    """
    others = [_file(name) for name in sorted({*modules} - _graph().modules)]
    return _hash([*(f"{name} {_source(name)}" for name in sorted(imported_by(*modules))), *others])


@cache
def imported_by(*modules: str) -> frozenset[str]:
    """Return the modules of this project that some modules import, also indirectly, and they themselves."""
    graph, reached = _graph(), set[str]()
    for module in modules:
        if module in graph.modules:
            reached |= {module} | graph.find_upstream_modules(module)
    parents = {".".join(name.split(".")[:depth]) for name in reached for depth in range(1, name.count(".") + 1)}
    return frozenset(reached | parents)


def modules_in(package: str) -> list[str]:
    """Return a module of this project and, if it is a package, all modules in it."""
    return [package, *(name for name in sorted(_graph().modules) if name.startswith(f"{package}."))]


def targets(settings: Any) -> Iterator[str]:
    """Modules of the classes and functions that settings name by `_target_`."""
    if isinstance(settings, Mapping):
        if isinstance(target := settings.get("_target_"), str):
            yield target.rpartition(".")[0]
        for value in settings.values():
            yield from targets(value)
    elif isinstance(settings, list | tuple):
        for value in settings:
            yield from targets(value)


@cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph(*PACKAGES, cache_dir=None)


@cache
def _source(module: str) -> str:
    path = ROOT.joinpath(*module.split("."))
    is_package = path.is_dir()
    tree = ast.parse((path / "__init__.py" if is_package else path.with_suffix(".py")).read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [each for each in node.body if not _is_text(each)] or [ast.Pass()]
    data = sorted(each for each in path.iterdir() if each.suffix in DATA) if is_package else []
    return _hash([ast.dump(tree), *(hashlib.sha256(each.read_bytes()).hexdigest() for each in data)])


def _file(module: str) -> str:
    """A hash of the file of a module of another project."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise InvalidConfiguration(f"expected a module with a file, found {module!r}; check the name in `_target_`")
    return hashlib.sha256(Path(spec.origin).read_bytes()).hexdigest()


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _hash(lines: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()[:16]
