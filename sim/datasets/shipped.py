"""The datasets that come with the checkout: `python -m sim.datasets.shipped data/errors` puts them there.

Drawing them takes most of an hour, and floating-point numbers of another processor may lead to other episodes. Whoever
compares with published tables needs the very same ones.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from nsrecover.errors import InvalidConfiguration, cli_errors
from sim.common.folder import claim_folder, write_xz
from sim.datasets.kinds import DATASETS
from sim.datasets.spec import EPISODES, SCHEMA, ErrorEpisode, read_episodes

SEED = 0
"""Their seed; others are always drawn."""
FOLDER = Path(__file__).parent / "episodes"


def shipped(name: str, start: int, stop: int) -> Iterator[ErrorEpisode]:
    """Episodes of a dataset that come with the checkout, which may be fewer than are asked for.

    Args:
        name: of the dataset.
        start: number of the first one.
        stop: number after that of the last one.
    """
    path = FOLDER / f"{name}.jsonl.xz"
    if path.is_file():
        with lzma.open(path, "rt", encoding="utf-8") as file:
            yield from map(ErrorEpisode.from_json, islice(file, start, stop))


def ship(
    folder: Annotated[Path, typer.Argument(help="Folder with the datasets, as `python -m sim.datasets` leaves them.")],
    out: Annotated[Path, typer.Option(help="Where the compressed ones go.")] = FOLDER,
) -> None:
    """Compress datasets of seed 0 into the checkout, after they were drawn anew with shipped=false."""
    found = [name for name in DATASETS if (folder / name / EPISODES).is_file()]
    if not found:
        raise InvalidConfiguration(f"expected error datasets in {folder}, found none; run `python -m sim.datasets`")
    every = {name: _whole_dataset(folder / name, name) for name in found}
    out.mkdir(parents=True, exist_ok=True)
    for name, episodes in every.items():
        size = write_xz(out / f"{name}.jsonl.xz", map(ErrorEpisode.to_json, episodes))
        print(f"{name}: {len(episodes)} episodes, {size / 1000:.0f} kB")


def manifest_of(name: str, seed: int) -> dict[str, Any]:
    """What the folder of a dataset says of itself."""
    return {"format": SCHEMA, "dataset": name, "seed": seed}


def _whole_dataset(folder: Path, name: str) -> list[ErrorEpisode]:
    """Its episodes, unless it is another one or still being drawn."""
    with claim_folder(folder, manifest_of(name, SEED), "an error dataset to be shipped"):
        return list(read_episodes(folder))


if __name__ == "__main__":
    with cli_errors():
        typer.run(ship)
