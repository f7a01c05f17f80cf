"""Household episodes in the kitchen of a folder of results: baselines and ablations beside each other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.common.command import METRICS
from eval.common.statistics import share_of
from eval.kitchen.command import RECORDS
from eval.kitchen.records import KitchenRecord
from sim.common.folder import read_ledger
from sim.datasets.household import HOUSEHOLD_DATASETS

COLUMNS: Mapping[str, str] = {
    "noticed in time": "in_time",
    "false alarms per comparison": "false_alarm_rate",
    "goal reached, if it can be": "completion",
    "of those that the oracle reaches": "as_oracle",
}
"""Column on a page -> metric."""


def sweeps_in(folders: Sequence[Path]) -> list[dict[str, Any]]:
    """The metrics of the sweeps of the kitchen in some folders, or in folders of them."""
    found = []
    for path in (path for folder in folders for path in _candidates(folder)):
        metrics = json.loads(path.read_text(encoding="utf-8"))
        if metrics.get("dataset") in HOUSEHOLD_DATASETS and "planner" in metrics:
            records = read_ledger(path.parent / RECORDS, KitchenRecord.from_json, None)
            found.append(metrics | {"records": {record.index: record for record in records}})
    return [each | _as_oracle(each, found) for each in found]


def _as_oracle(sweep: Mapping[str, Any], sweeps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The share of the episodes in which the oracle reaches the goal that a planner reaches it in, too."""
    same = ("dataset", "seed", "held_out")
    oracle = next(
        (each for each in sweeps if each["planner"] == "oracle" and all(each[key] == sweep[key] for key in same)), None
    )
    good = {i for i, record in oracle["records"].items() if record.reached} if oracle is not None else set()
    found = share_of(record.reached for i, record in sorted(sweep["records"].items()) if i in good)
    return {
        "as_oracle": found["value"],
        "intervals": sweep["intervals"] | {"as_oracle": [found["low"], found["high"]]},
        "counts": sweep["counts"] | {"as_oracle": found["of"]},
    }


def _candidates(folder: Path) -> Iterator[Path]:
    yield from (path for path in (folder / METRICS, *sorted(folder.glob(f"*/{METRICS}"))) if path.is_file())
