"""Output folder of a command, and work in worker processes with a progress bar."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import psutil
from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf
from tqdm import tqdm

from nsrecover.util.atomic_write import atomic_write_bytes
from sim.common.folder import write_json
from sim.common.origin import RUN, machine
from sim.common.parallel import run_parallel

METRICS, TABLE, CONFIG = "metrics.json", "table.md", "config.yaml"
"""Numbers, the table that it prints at the end, its resolved config."""


Item = TypeVar("Item")
Result = TypeVar("Result")


def write_results(folder: str | Path, metrics: Mapping[str, Any], table: str, config: Any) -> None:
    """Write `metrics.json`, `table.md`, the resolved `config.yaml` and `run.json` of a command.

    Args:
        folder: made if necessary.
        metrics: plain data.
        table: Markdown, which the command prints at its end.
        config: the dataclass at the top level of the configuration.
    """
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / METRICS, metrics)
    atomic_write_bytes(out / TABLE, table.encode())
    atomic_write_bytes(out / CONFIG, OmegaConf.to_yaml(OmegaConf.structured(config)).encode())
    if HydraConfig.initialized():
        module = (sys.modules["__main__"].__spec__ or platform.__spec__).name.removesuffix(".__main__")
        command = " ".join([f"python -m {module}", overrides()]).strip()
        seconds = round(time.time() - psutil.Process().create_time(), 1)
        write_json(out / RUN, {"command": command, "seconds": seconds, **machine()})


def overrides() -> str:
    """Settings from the command line, without those of folders and worker processes."""
    where = ("out=", "parallel=", "workers=", "footage=", "states=", "errors=", "paths.", "hydra")
    chosen = [given for given in HydraConfig.get().overrides.task if not given.startswith(where)]
    return " ".join(f"'{given}'" if " " in given else given for given in chosen)


def in_workers(
    task: Callable[[Item], Result], items: Sequence[Item], workers: int, unit: str, label: str
) -> Iterator[Result]:
    """Yield the results of a task on every item, in order, computed in worker processes under a progress bar."""
    with closing(run_parallel(task, items, workers)) as every:
        yield from tqdm(every, total=len(items), unit=unit, desc=label)
