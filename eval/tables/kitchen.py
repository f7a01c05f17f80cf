"""One table of household episodes in the kitchen: baselines, ablations, and the papers' numbers beside them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.common.command import METRICS
from eval.common.statistics import share_of
from eval.common.tables import markdown_table, number, percent
from eval.kitchen.command import RECORDS
from eval.kitchen.records import KitchenRecord
from nsrecover.util.atomic_write import atomic_write_bytes
from sim.common.folder import read_ledger
from sim.datasets.household import HOUSEHOLD_DATASETS

TITLE = "Household episodes in the kitchen"
COLUMNS: Mapping[str, str] = {
    "noticed in time": "in_time",
    "noticed at once": "at_once",
    "false alarms per comparison": "false_alarm_rate",
    "goal reached, if it can be": "completion",
    "of those that the oracle reaches": "as_oracle",
    "lost goals named": "lost_named",
    "harmless not interrupted": "harmless_not_interrupted",
    "text: objects": "text_objects",
    "text: time": "text_time",
    "text: kind": "text_kind",
}
"""Column -> metric."""
PAPERS: Sequence[tuple[str, str, Mapping[str, str]]] = (
    (
        "REFLECT (Liu et al. 2023), simulation",
        "failures of execution / planning",
        {"completion": "79.1 % / 80.7 %", "text_objects": "88.4 % / 84.2 %", "text_time": "96.0 % / 80.7 %"},
    ),
    ("Yu et al., proactive replanning", "one failure (as H1)", {"in_time": "92.97 %", "completion": "73.67 %"}),
    ("Yu et al., proactive replanning", "irreversible (as H3)", {"completion": "7 of 10"}),
)
"""What the papers report: of whom, on what, metric -> value."""
CONDITIONS = (
    "The papers use AI2-THOR, whose actions succeed or fail as a whole and whose states come from its metadata or "
    "segmented images; here skills are motions in PyBullet that can fail by themselves, and states are read from "
    "images and heard. REFLECT corrects the plan after the task. Kitchens, objects and numbers of episodes differ, so "
    "the rows are not comparable one to one."
)


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


def table(sweeps: Sequence[Mapping[str, Any]]) -> str:
    """Markdown: one line for each sweep, then the papers'."""
    head = ["planner", "episodes", *COLUMNS, "actions", "looks", "monitor step", "failed"]
    rows = [
        [
            f"{found['planner']}: {found['meaning']}",
            f"{found['episodes']} of {found['dataset']}, {found.get('sensor', 'clean')}",
            *(percent(found[key], found["intervals"][key], 1) for key in COLUMNS.values()),
            number(found["actions"]["mean"], 1),
            number(found["looks"]["mean"], 1),
            f"{number(found['monitor_ms']['median'], 0)} ms",
            ", ".join(f"{reason} {count}" for reason, count in sorted(found["failures"].items())) or "none",
        ]
        for found in sorted(sweeps, key=lambda each: str(each["dataset"]))
    ]
    rows += [
        [whose, of, *(values.get(key, "-") for key in COLUMNS.values()), "-", "-", "-", "-"]
        for whose, of, values in PAPERS
    ]
    return markdown_table(head, rows) + "\n"


def write(sweeps: Sequence[Mapping[str, Any]], out: Path) -> None:
    """Write and print the table."""
    text = f"# {TITLE}\n\n{table(sweeps)}\n{CONDITIONS}\n"
    out.mkdir(parents=True, exist_ok=True)
    atomic_write_bytes(out / "tables.md", text.encode())
    print(text, end="")
