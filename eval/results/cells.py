"""Results that one command measures, and where each comes from: `list.yaml`, and provenance.json beside each."""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from eval.identity import ROOT, weights_of
from eval.run import METRICS, ROWS
from nsrecover.errors import InvalidConfiguration, require_known
from nsrecover.models.checkpoint import DEFAULT
from sim.common.folder import MANIFEST, read_ledger
from sim.common.origin import RUN

LIST = Path(__file__).parent / "list.yaml"
PROVENANCE = "provenance.json"
"""Where the numbers of a folder come from: command, revision, hashes of weights and episodes."""
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
        "weights": hash_of(result.weights),
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


def origin_of(folder: Path) -> dict[str, Any]:
    """Return where the numbers in a folder come from: commands, revision, seconds, and what `provenance` adds."""
    run = read(folder / RUN)
    return {"commands": [run["command"]], **run, **_read(folder / PROVENANCE)}


def standing(folder: Path) -> str:
    """Return " (other weights)" if the numbers of a folder are of other weights than the shipped ones, else nothing.

    Whether the code since their revision matters is measured: `level=check`.
    """
    origin = _read(folder / PROVENANCE)
    known = "checkpoint" in origin and origin.get("weights") != hash_of(origin["checkpoint"])
    return " (other weights)" if known else ""


def hash_of(weights: str | None) -> str | None:
    """Hash of a shipped checkpoint; None for none."""
    return None if weights is None else weights_of(weights)


def apart(kept: Any, now: Any, path: str = "") -> Iterator[tuple[str, bool]]:
    """Of each share that two contents of metrics.json have: its place, and whether their intervals do not overlap."""
    if not isinstance(kept, dict) or not isinstance(now, dict):
        return
    bounds = [each[bound] for each in (kept, now) for bound in ("low", "high") if each.get(bound) is not None]
    if len(bounds) == 4:
        yield path, bounds[0] > bounds[3] or bounds[2] > bounds[1]
    for key in sorted(kept.keys() & now.keys()):
        yield from apart(kept[key], now[key], f"{path}/{key}")


def read(path: Path) -> dict[str, Any]:
    """The contents of a file of results.

    Raises:
        InvalidConfiguration: there is none.
    """
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as problem:
        raise InvalidConfiguration(f"expected results in {path}, found: {problem}") from None


def _read(path: Path) -> dict[str, Any]:
    return read(path) if path.is_file() else {}
