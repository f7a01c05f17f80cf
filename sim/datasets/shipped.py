"""The datasets in the checkout; `python -m sim.datasets.shipped data/errors` writes them.

Generating them takes most of an hour. A comparison with published tables needs exactly these episodes.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from conf.command import run_function
from nsrecover.errors import InvalidConfiguration
from sim.common.folder import claim_folder, write_xz
from sim.datasets.household import HOUSEHOLD_DATASETS, HouseholdEpisode
from sim.datasets.household import read_episodes as read_household
from sim.datasets.kinds import DATASETS
from sim.datasets.spec import EPISODES, SCHEMA, ErrorEpisode, read_episodes

SEED = 0
"""Their seed; episodes of other seeds are always generated."""
FOLDER = Path(__file__).parent / "episodes"


def shipped(name: str, start: int, stop: int) -> Iterator[ErrorEpisode]:
    """Episodes of a dataset of the tabletop in the checkout; there may be fewer than requested.

    Args:
        name: of the dataset.
        start: number of the first one.
        stop: number after that of the last one.
    """
    return map(ErrorEpisode.from_json, shipped_lines(name, start, stop))


def shipped_lines(name: str, start: int, stop: int) -> Iterator[str]:
    """Lines of a dataset in the checkout, one for each episode; there may be fewer than requested.

    Args:
        name: of the dataset.
        start: number of the first one.
        stop: number after that of the last one.
    """
    path = FOLDER / f"{name}.jsonl.xz"
    if path.is_file():
        with lzma.open(path, "rt", encoding="utf-8") as file:
            yield from (line.rstrip("\n") for line in islice(file, start, stop))


def ship(
    folder: Annotated[Path, typer.Argument(help="Folder with the datasets, as `python -m sim.datasets` leaves them.")],
    out: Annotated[Path, typer.Option(help="Where the compressed ones go.")] = FOLDER,
) -> None:
    """Compress datasets of seed 0 into the checkout; generate them with shipped=false before."""
    every_name = (*DATASETS, *HOUSEHOLD_DATASETS)
    found = [name for name in every_name if (folder / name / EPISODES).is_file()]
    if not found:
        raise InvalidConfiguration(f"expected error datasets in {folder}, found none; run `python -m sim.datasets`")
    counts = {name: len(_whole_dataset(folder / name, name)) for name in found}
    out.mkdir(parents=True, exist_ok=True)
    for name, count in counts.items():
        lines = (folder / name / EPISODES).read_text(encoding="utf-8").splitlines()
        size = write_xz(out / f"{name}.jsonl.xz", lines)
        print(f"{name}: {count} episodes, {size / 1000:.0f} kB")


def manifest_of(name: str, seed: int) -> dict[str, Any]:
    """Manifest of a dataset's folder."""
    return {"format": SCHEMA, "dataset": name, "seed": seed}


def _whole_dataset(folder: Path, name: str) -> Sequence[ErrorEpisode | HouseholdEpisode]:
    """Its episodes, unless the folder holds another dataset or a process still works in it."""
    with claim_folder(folder, manifest_of(name, SEED), "an error dataset to be shipped"):
        return list((read_household if name in HOUSEHOLD_DATASETS else read_episodes)(folder))


if __name__ == "__main__":
    run_function(ship)
