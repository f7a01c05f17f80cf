"""Logs of ten household tasks with one injected failure each, or none, in the text format, with what is true of them.

Of the kinds `failure`, `noisy` (things go unnoticed or are misread), `success`, `detour` (the way to fill a vessel is
left out), and two single logs: `jug` is dropped, `tomato`, too.
"""

import gzip
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("household_logs.jsonl.gz")


@dataclass(frozen=True)
class ToldLog:
    """A log, its root causes and times any of which is right, the objects to name, and which subgoals were done."""

    kind: str
    task: str
    name: str
    document: dict[str, Any]
    causes: list[str]
    objects: list[str]
    times: list[str]
    held: list[bool]
    noticed: int = -1


@cache
def told_logs(kind: str) -> list[ToldLog]:
    """The logs of a kind."""
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        return [each for each in (ToldLog(**json.loads(line)) for line in lines) if each.kind == kind]
