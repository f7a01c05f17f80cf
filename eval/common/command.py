"""Runs the commands that measure something and leave a folder with numbers and a table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

from conf.command import run as run_command

METRICS, TABLE, CONFIG = "metrics.json", "table.md", "config.yaml"
"""Files that a command leaves in its folder: numbers, the table that it prints at the end, its resolved config."""


class Settings(Protocol):
    """The top level of a command's config."""

    out: str


Config = TypeVar("Config", bound=Settings)


def run(name: str, schema: type[Config], measure: Callable[[Config], Any], resumable: bool = False) -> None:
    """Run a command: compose its settings from the command line, measure, and print the table that it left.

    Args:
        name: name of its primary config in conf/.
        schema: dataclass of its settings.
        measure: does the work and leaves a table in `out`.
        resumable: whether the same command continues an interrupted run; an interruption then says so.
    """

    def measured(settings: Config) -> None:
        measure(settings)
        print((Path(settings.out) / TABLE).read_text(encoding="utf-8"), end="")

    run_command(name, schema, measured, resumable)
