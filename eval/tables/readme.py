"""`python -m eval.tables.readme`: write the numbers of the published tables into the README, between two markers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from eval.common.command import METRICS
from eval.common.tables import markdown_table, percent
from eval.tables import paper
from eval.tables.tables import revisions
from nsrecover.core.atomic_write import atomic_write_bytes
from nsrecover.errors import InvalidConfiguration, cli_errors

BEGIN = "<!-- begin: written by `python -m eval.tables.readme` -->"
END = "<!-- end -->"
PUBLISHED = Path("results/evaluation")
"""Folder of `python -m eval.tables … --keep results/evaluation --out docs/results/evaluation`."""
FRESH = Path("results/fresh")
"""The same of ours on the held-out seed."""

DATASETS = ("I", "II", "III", "IV")


def block(metrics: Mapping[str, Any], fresh: Mapping[str, Any]) -> str:
    """Text between the markers.

    Args:
        metrics: metrics.json of the tables.
        fresh: the same of ours on another seed.
    """
    unseen = {found["dataset"]: found for found in fresh["sweeps"]}
    cells = {(found["planner"], found["dataset"]): found for found in metrics["sweeps"]}
    ran = Counter(planner for planner, _ in cells)
    # planners with a single dataset are in the table of that dataset
    planners = [planner for planner, datasets in ran.items() if datasets > 1 or planner == "ours"]
    planners.sort(key=lambda name: name != "ours")
    rows = []
    for planner in planners:
        reached = [_cell(cells.get((planner, dataset)), "completion") for dataset in DATASETS]
        rows.append([planner, *reached, _cell(cells.get((planner, "V")), "decided_right")])
        if planner == "ours":
            possible = [_cell(cells.get((planner, dataset)), "completion_where_possible") for dataset in DATASETS]
            rows.append(["ours, where nothing fell out of reach", *possible, ""])
            again = [_cell(unseen.get(dataset), "completion") for dataset in DATASETS]
            seed = ", ".join(sorted({str(found["seed"]) for found in unseen.values()}))
            label = f"ours, [held-out](docs/{FRESH}/tables.md) seed {seed}"
            rows.append([label, *again, _cell(unseen.get("V"), "decided_right")])
    rows.append([paper.CITATION, "", f"{paper.TABLE_IV['ours'].completion:g} %", "", "", ""])
    ran_at = sorted({revision for found in metrics["sweeps"] for revision in revisions(found)})
    seeds = sorted({str(found["seed"]) for found in metrics["sweeps"]})
    head = ["goals reached (of so many episodes)", *DATASETS, "V: asked for help if, and only if, there is no way back"]
    return (
        "Whole episodes in the simulator, `python -m eval -m dataset=I,II,III,IV,V planner=…`, at revision "
        f"{', '.join(ran_at)}, seed {', '.join(seeds)}; 95 % intervals, lengths, times, and why the others failed: "
        f"[docs/{PUBLISHED}/tables.md](docs/{PUBLISHED}/tables.md).\n\n{markdown_table(head, rows)}"
    )


def rewritten(text: str, metrics: Mapping[str, Any], fresh: Mapping[str, Any]) -> str:
    """README with a new block.

    Raises:
        InvalidConfiguration: the markers are not there.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise InvalidConfiguration(f"expected the lines {BEGIN} and {END} in the README, found one missing; add them")
    return f"{before}{BEGIN}\n\n{block(metrics, fresh)}\n\n{END}{after}"


def write(
    readme: Annotated[Path, typer.Option(help="The file to rewrite.")] = Path("README.md"),
    published: Annotated[Path, typer.Option(help="Folder with the tables' metrics.json.")] = PUBLISHED,
    fresh: Annotated[Path, typer.Option(help="The same of ours on the held-out seed.")] = FRESH,
) -> None:
    """Write the numbers of the published tables into the README, between two markers."""
    metrics, unseen = _metrics(published), _metrics(fresh)
    try:
        text = readme.read_text(encoding="utf-8")
    except (OSError, ValueError) as problem:
        raise InvalidConfiguration(f"expected a README to rewrite, found: {problem}") from None
    atomic_write_bytes(readme, rewritten(text, metrics, unseen).encode())


def _metrics(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / METRICS).read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise InvalidConfiguration(
            f"expected published tables in {folder}, found: {problem}; run `python -m eval.tables DIR --keep {folder}`"
        ) from None
    assert isinstance(found, dict)
    return found


def _cell(found: Mapping[str, Any] | None, name: str) -> str:
    return "" if found is None else f"{percent(found[name])} ({found['counts'][name]})"


if __name__ == "__main__":
    with cli_errors():
        typer.run(write)
