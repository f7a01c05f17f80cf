"""Finished sweeps in a few hundred kilobytes, so that tables can be made of them again, and looked into, anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from eval.common.command import CONFIG, METRICS
from eval.sweep.records import EpisodeRecord
from eval.sweep.run import PACKED, RECORDS, RUNS, read_records
from eval.tables.load import Sweep
from nsrecover.core.atomic_write import atomic_write_bytes
from sim.common.folder import MANIFEST, write_xz

FOLDER = "sweeps"


def keep(sweeps: Sequence[Sweep], out: Path) -> None:
    """Write every episode of sweeps, compressed, with their settings and metrics.

    `python -m eval.tables` reads what this leaves; `unxz` makes folders of it that `python -m eval` goes on with.

    Args:
        sweeps: finished ones.
        out: where the tables are; sweeps go into a folder in it.
    """
    for sweep in sweeps:
        place = out / FOLDER / f"{sweep.planner}-{sweep.dataset}"
        place.mkdir(parents=True, exist_ok=True)
        write_xz(place / PACKED, map(EpisodeRecord.to_json, read_records(sweep.folder)))
        (place / RECORDS).unlink(missing_ok=True)  # it would be read instead
        for name in (METRICS, CONFIG, MANIFEST, RUNS):
            if (sweep.folder / name).is_file():
                atomic_write_bytes(place / name, (sweep.folder / name).read_bytes())
