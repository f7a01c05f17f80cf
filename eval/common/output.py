"""Output folder of a command, and work in worker processes with a progress bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from omegaconf import OmegaConf
from tqdm import tqdm

from eval.common.command import CONFIG, METRICS, TABLE
from nsrecover.core.atomic_write import atomic_write_bytes
from sim.common.folder import write_json
from sim.common.parallel import run_parallel

Item = TypeVar("Item")
Result = TypeVar("Result")


def write_results(folder: str | Path, metrics: Mapping[str, Any], table: str, config: Any) -> None:
    """Write `metrics.json`, `table.md` and the resolved `config.yaml` of a command.

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


def in_workers(
    task: Callable[[Item], Result], items: Sequence[Item], workers: int, unit: str, label: str
) -> Iterator[Result]:
    """Yield the results of a task on every item, in order, computed in worker processes under a progress bar."""
    with closing(run_parallel(task, items, workers)) as every:
        yield from tqdm(every, total=len(items), unit=unit, desc=label)
