"""`python -m eval.tables.readme`: write the numbers of the published tables into the README, between two markers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from conf.command import run_function
from eval.common.command import METRICS
from eval.common.tables import markdown_table, percent, percent_of
from eval.tables import paper
from eval.tables.tables import revisions
from nsrecover.errors import InvalidConfiguration
from nsrecover.util.atomic_write import atomic_write_bytes

BEGIN = "<!-- begin: written by `python -m eval.tables.readme` -->"
END = "<!-- end -->"
PUBLISHED = Path("results/evaluation")
"""Folder of `python -m eval.tables … --keep results/evaluation --out docs/results/evaluation`."""
FRESH = Path("results/fresh")
"""The same of ours on the held-out seed."""
FRESH_SENSED = Path("results/fresh_d435")
"""The same, seen through a realistic sensor."""
SENSING = Path("results/sensing")
"""Folder of `python -m eval.sensing` on a held-out seed."""

DATASETS = {
    "I": "5 objects, 1 to 5 faults at one step",
    "II": "5 objects, a fault at every step",
    "III": "6 to 10 objects, 5 faults at one step",
    "IV": "10 to 14 objects, no injected fault",
    "V": "half of the errors have no way back",
}
"""Dataset -> what goes wrong in it."""
SHARE = {name: "decided_right" if name == "V" else "completion" for name in DATASETS}
"""Dataset -> the share that counts: goals reached, or right decisions to ask for help."""


@dataclass(frozen=True)
class Published:
    """The metrics.json of what the README shows.

    Attributes:
        metrics: of the tables.
        fresh: the same of ours on a held-out seed; no sweeps if `metrics` are of one.
        sensed: the same, seen through a realistic sensor.
        sensing: of the monitor behind sensors.
    """

    metrics: Mapping[str, Any]
    fresh: Mapping[str, Any]
    sensed: Mapping[str, Any]
    sensing: Mapping[str, Any]


def block(found: Published) -> str:
    """Text between the markers: the monitor by sensor, then whole episodes by dataset."""
    return f"{_behind_sensors(found.sensing)}\n\n{_whole_episodes(found)}"


def _behind_sensors(sensing: Mapping[str, Any]) -> str:
    head = [
        "sensor",
        "false alarms per good step",
        "errors noticed",
        "objects named exactly",
        "cannot tell, good steps",
    ]
    columns = ("false_alarms", "recall", "culprits_exact", "cannot_tell")
    rows = [
        [name, *(f"{percent_of(found[key], 1)} ({found[key]['of']})" for key in columns)]
        for name, found in sensing["conditions"].items()
    ]
    return (
        f"The monitor behind models of real sensors, on steps of datasets {', '.join(sensing['episodes'])} of seed "
        f"{sensing['seed']}, which is held out. Cameras do not share mask numbers; the monitor looks "
        "up to three times before an alarm. Shares with 95 % intervals and the number of steps; [sensors and their "
        f"parameters](docs/sensors.md).\n\n{markdown_table(head, rows)}"
    )


CONTROLS = {"oracle": "oracle", "nofree": "without transformer", "distance": "2 cm rule", "replan": "replanning",
            "none": "open loop"}  # fmt: skip
"""Planner -> its column beside ours."""


def _whole_episodes(found: Published) -> str:
    cells = {(each["planner"], each["dataset"]): each for each in found.metrics["sweeps"]}
    fresh, sensed = ({each["dataset"]: each for each in part["sweeps"]} for part in (found.fresh, found.sensed))
    controls = {name: head for name, head in CONTROLS.items() if any(planner == name for planner, _ in cells)}
    sensor, clean = _sensor(found.sensed), _sensor(found.metrics)
    seeds = {"sensed": _seeds(found.sensed), "fresh": _seeds(found.fresh), "all": _seeds(found.metrics)}
    head = ["dataset", "errors", f"{sensor}: errors noticed", "false alarms per good step", "goals reached"]
    head += [f"{clean}, seed {seeds['fresh']}: ours"] if fresh else []
    head += [f"{clean}, seed {seeds['all']}: ours", *controls.values()]
    rows = []
    for name, errors in DATASETS.items():
        share = SHARE[name]
        measured = (("detection", "recall"), ("false_alarm_rate",), (share,))
        rows.append(
            [
                name,
                errors,
                *(_cell(sensed.get(name), *path) for path in measured),
                *([_cell(fresh.get(name), share)] if fresh else []),
                *(_cell(cells.get((planner, name)), share) for planner in ("ours", *controls)),
            ]
        )
    perfect = "a perfect sensor (noise-free depth, perfect masks with shared numbers)" if clean == "clean" else clean
    seen = {
        f"`{sensor}`": found.sensed,
        **({f"{clean}, seed {seeds['fresh']}": found.fresh} if fresh else {}),
        f"{clean}, seed {seeds['all']}": found.metrics,
    }
    measured_at = "; ".join(f"{what}: {_revisions(part)}" for what, part in seen.items())
    return (
        f"Whole episodes in the simulator with two cameras (number of cases in brackets), behind `{sensor}` (seeds "
        f"{seeds['sensed']}) and behind {perfect}; beside ours, controls on the same episodes, or the first of them. "
        "Seed 0 is that of development. For V the share counts right decisions: ask for help if and only if there is "
        f"no way back. Kalithasan et al. report {paper.TABLE_IV['ours'].completion:g} % of goals for II with exact "
        "images.\n\n"
        f"{markdown_table(head, rows)}\n\nRevisions of these numbers: {measured_at}."
    )


def _revisions(metrics: Mapping[str, Any]) -> str:
    return ", ".join(sorted({revision for each in metrics["sweeps"] for revision in revisions(each)}))


def _sensor(metrics: Mapping[str, Any]) -> str:
    return ", ".join(sorted({str(each.get("sensor", "clean")) for each in metrics["sweeps"]}))


def _seeds(*parts: Mapping[str, Any]) -> str:
    return ", ".join(sorted({str(each["seed"]) for part in parts for each in part["sweeps"]}))


def rewritten(text: str, found: Published) -> str:
    """README with a new block.

    Raises:
        InvalidConfiguration: the markers are not there.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise InvalidConfiguration(f"expected the lines {BEGIN} and {END} in the README, found one missing; add them")
    return f"{before}{BEGIN}\n\n{block(found)}\n\n{END}{after}"


def write(
    readme: Annotated[Path, typer.Option(help="The file to rewrite.")] = Path("README.md"),
    published: Annotated[Path, typer.Option(help="Folder with the tables' metrics.json.")] = PUBLISHED,
    fresh: Annotated[Path, typer.Option(help="The same of ours on the held-out seed.")] = FRESH,
    sensed: Annotated[Path, typer.Option(help="The same, seen through a realistic sensor.")] = FRESH_SENSED,
    sensing: Annotated[Path, typer.Option(help="Folder of the monitor behind sensors.")] = SENSING,
) -> None:
    """Write the numbers of the published tables into the README, between two markers."""
    found = read((published, fresh, sensed, sensing))
    try:
        text = readme.read_text(encoding="utf-8")
    except (OSError, ValueError) as problem:
        raise InvalidConfiguration(f"expected a README to rewrite, found: {problem}") from None
    atomic_write_bytes(readme, rewritten(text, found).encode())


def read(folders: Sequence[Path]) -> Published:
    """Read what the README shows: published sweeps, those of a held-out seed if there are any, behind a sensor."""
    published, fresh, sensed, sensing = folders
    other = _metrics(fresh) if fresh.is_dir() else {"sweeps": []}
    return Published(_metrics(published), other, _metrics(sensed), _metrics(sensing))


def _metrics(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / METRICS).read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise InvalidConfiguration(
            f"expected published metrics in {folder}, found: {problem}; docs/reproduce.md has the commands"
        ) from None
    assert isinstance(found, dict)
    return found


def _cell(found: Mapping[str, Any] | None, *path: str) -> str:
    if found is None:
        return ""
    value: Any = found
    for key in path:
        value = value[key]
    return f"{percent(value)} ({found['counts'][path[-1]]})"


if __name__ == "__main__":
    run_function(write)
