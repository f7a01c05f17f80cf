"""One page about many sweeps: a summary, a table of planners and datasets, filters, figures, episodes and reports."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from eval.common.statistics import Share, share
from eval.sweep.failures import failure_of, succeeded
from eval.sweep.metrics import recovered
from eval.sweep.records import EpisodeRecord
from eval.tables.gallery import final_deviations
from eval.tables.load import Sweep
from nsrecover.core.actions import Plan
from nsrecover.explanation.phrases import instruction
from nsrecover.reports.page import environment
from nsrecover.util.english import capital, listed

MEASURES = {
    "reached": "goal reached",
    "recovered": "errors recovered",
    "promised": "promised relations hold",
    "success": "goal reached, or help asked where there is no way",
}
"""Measure -> its words; each is a share of episodes, or of noticed errors."""
NOTHING = "nothing injected"
Links = Mapping[tuple[str, str, str, int], str]
"""Planner, dataset, sensor and episode -> address of its report."""


@dataclass(frozen=True)
class Cell:
    """A cell of the table for readers without scripts: a share and its interval."""

    text: str
    interval: str


def measured(records: Sequence[EpisodeRecord]) -> dict[str, Share]:
    """Every measure of some episodes."""
    recoverable = [record for record in records if record.recoverable]
    right = recovered(records)
    return {
        "reached": share(sum(record.completed for record in recoverable), len(recoverable)),
        "recovered": share(sum(right), len(right)),
        "promised": share(sum(record.promised for record in recoverable), len(recoverable)),
        "success": share(sum(map(succeeded, records)), len(records)),
    }


def html(title: str, sweeps: Sequence[Sweep], links: Links, details: int) -> str:
    """The page; it needs no other file but the reports that it links.

    Args:
        title: of the page.
        sweeps: finished ones.
        links: to reports of episodes.
        details: failed episodes of each sweep of which the page says what was done, besides those with a report.
    """
    template = environment("eval.common").get_template("sweep.html.jinja")
    planners, datasets = (
        list(dict.fromkeys(getattr(each, name) for each in sweeps)) for name in ("planner", "dataset")
    )
    together: dict[tuple[str, str], list[EpisodeRecord]] = {}
    for each in sweeps:  # of all sensors
        together.setdefault((each.planner, each.dataset), []).extend(each.records)
    cells = {where: _cell(records) for where, records in together.items()}
    # `<` could end the element that holds the data
    data = json.dumps(data_of(sweeps, links, details), separators=(",", ":")).replace("<", "\\u003c")
    return template.render(
        title=title,
        summary=sentences(sweeps),
        table=[(planner, [cells.get((planner, dataset)) for dataset in datasets]) for planner in planners],
        datasets=datasets,
        measures=MEASURES,
        data=data,
    )


def sentences(sweeps: Sequence[Sweep]) -> list[str]:
    """What the sweeps say, in a few sentences."""
    episodes = sum(len(each.records) for each in sweeps)
    names = {
        name: list(dict.fromkeys(getattr(each, name) for each in sweeps)) for name in ("planner", "dataset", "sensor")
    }
    sizes = [record.objects for each in sweeps for record in each.records]
    lines = [
        f"{episodes:,} episodes with {min(sizes)} to {max(sizes)} objects: {_counted(names['planner'], 'planner')}, "
        f"{_counted(names['dataset'], 'dataset')}, {_counted(names['sensor'], 'sensor')}."
    ]
    for planner in names["planner"][:1]:
        of = [record for each in sweeps if each.planner == planner for record in each.records]
        found = measured(of)["reached"]
        lines.append(f"{planner} reaches the goal in {_percent(found)} of its {found['of']} recoverable episodes.")
        reasons = Counter(_words(str(reason)) for reason in map(failure_of, of) if reason is not None)
        if reasons:
            most = listed([f"{name} ({count})" for name, count in reasons.most_common(3)])
            lines.append(f"Its {sum(reasons.values())} failed episodes have these reasons most often: {most}.")
    return lines


def data_of(sweeps: Sequence[Sweep], links: Links, details: int) -> dict[str, Any]:
    """What the scripts of the page work on: names, a row of numbers for each episode, and what was done in some."""
    faults = sorted({kind for each in sweeps for record in each.records for kind in kinds_of(record)})
    reasons = sorted({str(reason) for each in sweeps for reason in map(failure_of, each.records) if reason is not None})
    rows: list[list[Any]] = []
    details_of_rows: dict[str, Any] = {}
    for number, sweep in enumerate(sweeps):
        left = details
        for record in sweep.records:
            reason, right = failure_of(record), recovered([record])
            why = -1 if reason is None else reasons.index(str(reason))
            link = links.get((sweep.planner, sweep.dataset, sweep.sensor, record.episode), "")
            if link or (reason is not None and left > 0):
                left -= not link
                details_of_rows[str(len(rows))] = _detail(record, link)
            rows.append(
                [
                    number, record.episode, record.objects, record.length, [faults.index(k) for k in kinds_of(record)],
                    why, int(record.recoverable), int(record.completed), sum(right), len(right), int(record.promised),
                ]
            )  # fmt: skip
    return {
        "sweeps": [[each.planner, each.dataset, each.sensor] for each in sweeps],
        "faults": [_words(kind) for kind in faults],
        "reasons": [_words(reason) for reason in reasons],
        "measures": MEASURES,
        "episodes": rows,
        "details": details_of_rows,
    }


def kinds_of(record: EpisodeRecord) -> list[str]:
    """The kinds of faults that struck in an episode."""
    kinds = {kind for action in record.actions for kind in action.faults}
    kinds |= {kind for recovery in record.recoveries for kind in recovery.faults}
    return sorted(kinds) or [NOTHING]


def _detail(record: EpisodeRecord, link: str) -> dict[str, Any]:
    """What was done in an episode, for readers."""
    actions = [
        [
            _instruction(action.action),
            ", ".join(map(_words, action.faults)),
            int(bool(action.wrong)),
            int(action.noticed),
            int(action.step is None),
        ]
        for action in record.actions
    ]
    return {"actions": actions, "says": record.reason, "wrong": final_deviations(record), "report": link}


def _cell(records: Sequence[EpisodeRecord]) -> Cell:
    found = measured(records)["reached"]
    if found["value"] is None:
        return Cell("-", "")
    return Cell(_percent(found), f"{100 * found['low']:.1f} to {100 * found['high']:.1f} %, of {found['of']}")


def _percent(found: Share) -> str:
    return "-" if found["value"] is None else f"{100 * found['value']:.1f} %"


def _counted(names: Sequence[str], noun: str) -> str:
    return f"one {noun} ({names[0]})" if len(names) == 1 else f"{len(names)} {noun}s"


@cache
def _instruction(action: str) -> str:
    """An action in words."""
    return capital(instruction(Plan.parse(action).actions[0]))


def _words(name: str) -> str:
    return name.replace("_", " ")
