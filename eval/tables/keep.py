"""Finished sweeps, compressed to a few hundred kilobytes, from which tables can be made again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from eval.common.command import CONFIG, METRICS
from eval.sweep.records import EpisodeRecord
from eval.sweep.run import PACKED, RECORDS, RUNS, read_records
from eval.tables.load import Sweep
from nsrecover.util.atomic_write import atomic_write_bytes
from sim.common.folder import MANIFEST, write_xz

FOLDER = "sweeps"


def keep(sweeps: Sequence[Sweep], out: Path) -> None:
    """Write every episode of some sweeps, compressed, with settings and metrics.

    `python -m eval.tables` reads the result. After `unxz`, `python -m eval` continues a sweep in its folder.

    Args:
        sweeps: finished ones.
        out: folder; the sweeps go to `sweeps/` in it.
    """
    for sweep in sweeps:
        place = out / FOLDER / f"{sweep.planner}-{sweep.dataset}"
        place.mkdir(parents=True, exist_ok=True)
        write_xz(place / PACKED, map(EpisodeRecord.to_json, read_records(sweep.folder)))
        (place / RECORDS).unlink(missing_ok=True)  # it would be read instead
        for name in (METRICS, CONFIG, MANIFEST, RUNS):
            if (sweep.folder / name).is_file():
                atomic_write_bytes(place / name, (sweep.folder / name).read_bytes())
