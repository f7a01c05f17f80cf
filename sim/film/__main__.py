"""`python -m sim.film`."""

from __future__ import annotations

from conf.command import run
from sim.film.command import FilmConfig, film


def _task(config: FilmConfig) -> None:
    film(config)


if __name__ == "__main__":
    run("film", FilmConfig, _task)
