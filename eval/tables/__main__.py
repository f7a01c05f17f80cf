"""`python -m eval.tables folders=[DIR]`: tables from the results of `python -m eval`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from conf.command import run
from eval.common.command import METRICS, TABLE
from eval.sweep import summary_table
from eval.tables import kitchen, tables
from eval.tables.keep import keep
from eval.tables.load import load
from nsrecover.errors import InvalidConfiguration
from nsrecover.util.atomic_write import atomic_write_bytes
from sim.common.folder import write_json
from sim.common.origin import RUN


@dataclass
class TablesConfig:
    """Tables III to V of Kalithasan et al. with their numbers next to ours, and the reasons of failures.

      python -m eval.tables 'folders=[outputs/eval]' out=DIR      tables.md and metrics.json of all sweeps in a folder

    Of folders with household episodes (dataset=H1 to H5) one table is made, with the papers' numbers.

    Attributes:
        folders: that `python -m eval` left, or folders of them.
        out: where the tables go.
        kept: folder for metrics.json and every episode, compressed, of which tables can be made; none if null.
    """

    folders: list[str] = field(default_factory=lambda: ["outputs/eval"])
    out: str = "outputs/tables"
    kept: str | None = None


def write(config: TablesConfig) -> None:
    """Write the tables and print the first one."""
    folders, out = [Path(folder) for folder in config.folders], Path(config.out)
    if in_kitchen := kitchen.sweeps_in(folders):
        kitchen.write(in_kitchen, out)
        return
    sweeps = load(folders)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InvalidConfiguration(f"expected a folder to write to as out=, found: {problem}") from None
    sections = tables.sections(sweeps)
    atomic_write_bytes(out / "tables.md", tables.markdown(sections).encode())
    kept = out if config.kept is None else Path(config.kept)
    found = [sweep.metrics for sweep in sweeps]
    if config.kept is not None:
        keep(sweeps, kept)
        atomic_write_bytes(kept / TABLE, summary_table.markdown(found).encode())
        write_json(kept / RUN, {"commands": tables.commands(sweeps), "revision": ", ".join(tables.revisions(sweeps))})
    write_json(kept / METRICS, {"sweeps": found})
    print(tables.markdown(sections[:1]), end="")
    print(f"\n{out / 'tables.md'}")


if __name__ == "__main__":
    run("tables", TablesConfig, write)
