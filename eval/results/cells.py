"""Results that one command measures, and where each comes from: `list.yaml`, and provenance.json beside each."""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from eval.identity import ROOT, code_of, modules_in, targets, weights_of
from eval.run import METRICS, ROWS
from nsrecover.errors import InvalidConfiguration, require_known
from nsrecover.models.checkpoint import DEFAULT
from sim.common.folder import MANIFEST, read_ledger

LIST = Path(__file__).parent / "list.yaml"
PROVENANCE = "provenance.json"
"""Where the numbers of a folder come from: command, revision, hashes of weights, episodes and code."""
LEVELS = ("quick", "normal", "full")
WRITTEN = ("results", "docs", "README.md")
"""What this command itself changes: it does not make a checkout unclean."""


@dataclass(frozen=True)
class Command:
    """A command that measures a result.

    Attributes:
        module: without `python -m`.
        settings: of the command line, without folders and processes.
        takes_workers: whether it has a setting `workers`.
    """

    module: str
    settings: tuple[str, ...]
    takes_workers: bool = True

    @property
    def text(self) -> str:
        """As it is typed."""
        return shlex.join(["python", "-m", self.module, *self.settings])

    def given(self, **settings: str | int) -> list[str]:
        """Write further settings as this command takes its own: `--name value` or `name=value`."""
        if any(word.startswith("--") for word in self.settings):
            return [word for name, value in settings.items() for word in (f"--{name}", str(value))]
        return [f"{name}={value}" for name, value in settings.items()]


@dataclass(frozen=True)
class Result:
    """A folder in results/ and how it is measured.

    Attributes:
        name: of the folder.
        command: that measures it.
        weights: shipped checkpoint that it uses; None for none.
        needs: what not every machine has; "" for nothing.
    """

    name: str
    command: Command
    weights: str | None = DEFAULT
    needs: str = ""

    @property
    def identity(self) -> dict[str, str | None]:
        """Hashes of code, with the presets in conf/, and of weights, as they are now."""
        module = self.command.module
        weights = None if self.weights is None else weights_of(self.weights)
        return {"code": _code("eval.sweep" if module == "eval" else module), "weights": weights}


@cache
def _code(module: str) -> str:
    presets = sorted((ROOT / "conf").glob("*/*.yaml"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in presets))
    digest.update(code_of(*modules_in(module)).encode())
    return digest.hexdigest()[:16]


def results_of(level: str, only: Sequence[str] = ()) -> list[Result]:
    """Return what is measured.

    Args:
        level: one of `LEVELS`.
        only: names; empty for all that need nothing that other machines lack.

    Raises:
        InvalidConfiguration: there is no such level or result.
    """
    listed: dict[str, dict[str, Any]] = yaml.safe_load(LIST.read_text(encoding="utf-8"))
    for given, known, what in ((only, listed, "only"), ([level], LEVELS, "level")):
        for name in given:
            require_known(name, known, f"a known name in {what}")
    every = [_result(name, entry, level) for name, entry in listed.items()]
    return [each for each in every if (each.name in only if only else not each.needs)]


def _result(name: str, entry: Mapping[str, Any], level: str) -> Result:
    module, *settings = shlex.split(f"{entry['run']} {entry.get(level, entry.get('normal', ''))}")
    command = Command(module, tuple(settings), entry.get("workers", True))
    return Result(name, command, entry.get("weights", DEFAULT), entry.get("needs", ""))


@cache
def clean_revision() -> str:
    """Revision of the checkout, with `-dirty` if more is changed than what this command writes."""
    revision = _git("rev-parse", "--short", "HEAD")
    changed = _git("status", "--porcelain", "--", ".", *(f":!{path}" for path in WRITTEN))
    return f"{revision}-dirty" if changed else revision


def _git(*arguments: str) -> str:
    try:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as problem:
        raise InvalidConfiguration(f"expected a git checkout in {ROOT}, found: {problem}; clone the project") from None


def provenance(result: Result, folder: Path, seconds: float) -> dict[str, Any]:
    """Return where the numbers of a finished result come from.

    Args:
        result: as it was run.
        folder: of its outputs.
        seconds: that the commands took.
    """
    return {
        "commands": [result.command.text],
        "revision": clean_revision(),
        "seconds": round(seconds),
        "checkpoint": result.weights,
        **result.identity,
        "episodes": episodes_in(folder),
    }


def episodes_in(folder: Path) -> str | None:
    """Return a hash of the episodes of error datasets that outputs were measured on; None without any."""
    manifest = _read(folder / MANIFEST)
    if "content_of_episodes" in manifest:
        return str(manifest["content_of_episodes"])
    content = {line["content"] for line in read_ledger(folder / ROWS, json.loads, None)}
    return hashlib.sha256("".join(sorted(content)).encode()).hexdigest()[:16] if content else None


def finished(folder: Path) -> bool:
    """Whether a command has ended in this folder."""
    return (folder / METRICS).is_file()


def standing(folder: Path, name: str) -> tuple[str, ...]:
    """Return how the numbers of a folder differ from what is shipped; empty if they are of it.

    Compared are the code of everything that the measurement imports, and the weights. Episodes are not drawn again:
    physics differs in its last bits between processors, so that an answer would depend on the machine.

    Args:
        folder: with provenance.json, or else the manifest of its command.
        name: of the result.
    """
    said = []
    origin, manifest = (_read(folder / each) for each in (PROVENANCE, MANIFEST))
    if origin:
        known = results_of(LEVELS[0], [name])[0]
        code = known.identity["code"]
        weights = None if origin["checkpoint"] is None else weights_of(origin["checkpoint"])
    elif "measurement" in manifest and "code" in manifest:
        origin, module = manifest, manifest["measurement"]
        code = code_of(module, *targets(manifest)) if module in modules_in("eval") else None  # the module has moved
        weights = weights_of(DEFAULT) if "weights" in manifest else None
    else:
        said.append("code not recorded")
    if origin and origin["code"] != code:
        said.append("older code")
    if origin and origin.get("weights") != weights:
        said.append("other weights")
    return tuple(said)


def _read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}
