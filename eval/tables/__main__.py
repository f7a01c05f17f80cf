"""`python -m eval.tables DIR…`: tables, figures and a failure gallery from the results of `python -m eval`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conf.command import run_function
from eval.common.command import METRICS
from eval.tables import figures, gallery, kitchen, tables
from eval.tables.document import Section, html, markdown
from eval.tables.keep import keep
from eval.tables.load import load
from nsrecover.errors import InvalidConfiguration
from nsrecover.util.atomic_write import atomic_write_bytes
from sim.common.folder import write_json

TITLE = "Recovery in the simulator"


def write(
    folders: Annotated[list[Path], typer.Argument(help="Folders that `python -m eval` left, or folders of them.")],
    out: Annotated[Path, typer.Option(help="Where the tables go.")] = Path("outputs/tables"),
    reports: Annotated[
        int, typer.Option(min=0, help="Failed episodes of each sweep to run again with pictures, for the gallery.")
    ] = 0,
    models: Annotated[
        Path | None, typer.Option(help="Folder that `python -m eval.models` left: adds how reliable probabilities are.")
    ] = None,
    failures: Annotated[int, typer.Option(min=1, help="Failed episodes of each sweep that the gallery lists.")] = 20,
    kept: Annotated[
        Path | None,
        typer.Option("--keep", help="Folder for metrics.json and every episode, compressed; tables can be made of it."),
    ] = None,
) -> None:
    """Tables III to VI and Figures 3 and 4 of Kalithasan et al. with their numbers next to ours, and all failures.

    Of folders with household episodes (dataset=H1 to H4) one table is made, with the papers' numbers.

    Writes tables.md, index.html, figures and metrics.json. With --reports 20, failed episodes are carried out again
    and get a report each (gallery/), linked from the table of failures.
    """
    if in_kitchen := kitchen.sweeps_in(folders):
        kitchen.write(in_kitchen, out)
        return
    sweeps = load(folders)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InvalidConfiguration(f"expected a folder to write to as --out, found: {problem}") from None
    sections = tables.sections(sweeps) + figures.draw(sweeps, out)
    if models is not None:
        sections.append(figures.draw_reliability(models, out))
    sections += gallery.build(sweeps, out, reports, max(failures, reports))
    sections.append(Section("How it was measured", tables.commands(sweeps)))
    atomic_write_bytes(out / "tables.md", markdown(TITLE, sections).encode())
    atomic_write_bytes(out / "index.html", html(TITLE, sections).encode())
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        keep(sweeps, kept)
    write_json((kept or out) / METRICS, {"sweeps": [sweep.metrics for sweep in sweeps]})
    print(markdown(TITLE, sections[:1]), end="")
    print(f"\n{out / 'index.html'}, {out / 'tables.md'}")


if __name__ == "__main__":
    run_function(write)
