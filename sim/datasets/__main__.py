"""`python -m sim.datasets`: generate error datasets; resumable, and independent of the number of workers."""

from __future__ import annotations

from conf.command import run
from sim.datasets.build import DatasetsConfig, build, tables

if __name__ == "__main__":
    run("datasets", DatasetsConfig, lambda settings: print(tables(build(settings)), end=""), resumable=True)
