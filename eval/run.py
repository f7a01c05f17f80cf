"""Runs measurements: `python -m eval.NAME key=value`.

A measurement states its settings (a dataclass), how it measures, and its table. The runner gives all of them the
command line and --help, resuming, worker processes or Ray, progress with the time left, provenance, figures and the
output folder:

- `metrics.json`, `table.md`, `config.yaml`, `run.json` (command, revision, hashes) and figures;
- `rows.jsonl`: the result of every item, written as soon as it is there. The same command continues;
- `manifest.json`: settings, revision, hashes of weights and episodes. A folder with another manifest is refused.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import platform
import sys
import time
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import psutil
from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf
from pydantic import TypeAdapter
from tqdm import tqdm

from conf.command import run as run_command
from eval.identity import Specified, content_of, identity
from nsrecover.errors import InvalidConfiguration, require_known
from nsrecover.models.checkpoint import DEFAULT
from nsrecover.util.atomic_write import atomic_write_bytes
from sim.common.folder import REVISION, claim_folder, read_ledger, write_json
from sim.common.origin import RUN, machine
from sim.common.parallel import Backend, run_parallel

ROWS = "rows.jsonl"
"""Results of all items, one line each."""
FORMAT = 2
"""Version of a line of it."""
DECIDES_NOTHING = {"workers", "parallel", "out", "footage", "states", "errors", "timed"}
"""Settings that never decide a result; episodes are compared by their content, not by their folder."""

METRICS, TABLE, CONFIG = "metrics.json", "table.md", "config.yaml"
"""Numbers, the table that it prints at the end, its resolved config."""

Item = TypeVar("Item")
Row = TypeVar("Row")


@dataclass
class Settings:
    """Settings of every measurement.

    Attributes:
        seed: another one gives a fresh, never-seen set, the same one the same.
        workers: number of processes; the result does not depend on it.
        parallel: loky for processes of this machine; ray for tasks of the Ray cluster at RAY_ADDRESS, or of one here.
        out: output folder, by default that of the command in `paths.outputs`; a run that was stopped continues there.
    """

    seed: int = 0
    workers: int = 2
    parallel: str = Backend.loky.value
    out: str = ""


Config = TypeVar("Config", bound=Settings)


@dataclass
class Run:
    """One run of a measurement, handed to its `measure`.

    Attributes:
        folder: of the outputs.
        episodes: that the measurement has asked for.
        workers: number of processes, or of Ray tasks.
        backend: where they run.
        done: number of items with a result.
    """

    folder: Path
    episodes: Sequence[Any] = ()
    workers: int = 1
    backend: Backend = Backend.loky
    done: int = field(default=0, init=False)

    def each(
        self, task: Callable[[Item], Row], items: Sequence[Item], unit: str, key: Callable[[Item], str] = str
    ) -> list[Row]:
        """Return the result of a task on every item, in order; those of an interrupted run are read from disk.

        Args:
            task: may run in another process. Its return annotation says what a row of the ledger is: plain data,
                dataclasses, lists and tuples of them.
            items: what is measured, in an order that does not depend on their number.
            unit: name of an item, for progress; another name for every call.
            key: name of an item in the ledger, different for each.
        """
        rows = _row_type(task)
        ledger = self.folder / ROWS
        contents = {key(item): _content(item) for item in items}
        found = {
            line["key"]: rows.validate_python(line["row"])
            for line in read_ledger(ledger, json.loads, None)
            if line["unit"] == unit and contents.get(line["key"]) == line["content"]
        }
        left = [item for item in items if key(item) not in found]
        named = partial(_keyed, task=task, key=key)
        with (
            ledger.open("a", encoding="utf-8") as file,
            tqdm(total=len(items), initial=len(items) - len(left), unit=unit) as bar,
            closing(run_parallel(named, left, self.workers, self.backend, ordered=False)) as every,
        ):
            for name, row in every:
                line = json.dumps(
                    {"unit": unit, "key": name, "content": contents[name], "row": rows.dump_python(row, mode="json")}
                )
                found[name] = rows.validate_python(json.loads(line)["row"])  # the same as after an interruption
                file.write(line + "\n")
                file.flush()
                os.fsync(file.fileno())
                bar.update()
        self.done += len(items)
        return [found[key(item)] for item in items]


def rows_in(folder: Path, kind: type[Row]) -> list[Row]:
    """Return the finished rows of a measurement, all of which are of one kind, in the order of their lines."""
    lines = read_ledger(folder / ROWS, json.loads, None)
    return [TypeAdapter(kind).validate_python(line["row"]) for line in lines]


def _content(item: Any) -> str:
    """Hash of the episodes in an item, so that another episode of the same name is measured again."""
    return content_of(each for each in (item if isinstance(item, tuple) else (item,)) if isinstance(each, Specified))


def _keyed(item: Item, task: Callable[[Item], Row], key: Callable[[Item], str]) -> tuple[str, Row]:
    return key(item), task(item)


def _row_type(task: Callable[..., Any]) -> TypeAdapter[Any]:
    function = task.func if isinstance(task, partial) else task
    return _adapter(function)


@cache
def _adapter(function: Callable[..., Any]) -> TypeAdapter[Any]:
    return TypeAdapter(typing.get_type_hints(function)["return"])


def _accept(_: Any) -> None:
    """No settings are refused."""


def _none(_: Any) -> tuple[()]:
    """Neither episodes of error datasets nor other checkpoints."""
    return ()


@dataclass(frozen=True)
class Measurement(Generic[Config]):
    """What `python -m eval.NAME` measures.

    Attributes:
        settings: a subclass of `Settings`, with defaults; its docstring is the text of --help.
        measure: settings, run -> contents of metrics.json: plain data.
        table: those -> Markdown, which the command prints.
        least: setting -> smallest number that can be used, also of each item of a list, which has one at least.
        check: raises `InvalidConfiguration` for other settings that cannot be used, before anything is written.
        episodes: settings -> the episodes of error datasets that are measured.
        checkpoint: what `checkpoint=null` stands for; None if no weights are used.
        checkpoints: settings -> other checkpoints that are used, None for the shipped one.
        draw: metrics, folder: writes figures.
        adds: settings that only add items, or decide about the summary: another value continues the same folder.
    """

    settings: type[Config]
    measure: Callable[[Config, Run], Mapping[str, Any]]
    table: Callable[[Any], str]
    check: Callable[[Config], object] = _accept
    least: Mapping[str, float] = field(default_factory=dict)
    episodes: Callable[[Config], Sequence[Specified]] = _none
    checkpoint: str | None = DEFAULT
    checkpoints: Callable[[Config], Iterable[str | None]] = _none
    draw: Callable[[Any, Path], None] | None = None
    adds: Sequence[str] = ()

    @property
    def module(self) -> str:
        """Module of the measurement."""
        return self.measure.__module__

    def manifest(self, config: Config, episodes: Sequence[Specified]) -> dict[str, Any]:
        """Return what decides the results."""
        decisive = {key: value for key, value in asdict(config).items() if key not in DECIDES_NOTHING | set(self.adds)}
        learned = [] if self.checkpoint is None else [getattr(config, "checkpoint", None) or self.checkpoint]
        learned += self.checkpoints(config)
        fixed = () if "episodes" in self.adds else episodes
        return identity({"format": FORMAT, "measurement": self.module, **decisive}, learned, fixed)

    def run(self, config: Config) -> dict[str, Any]:
        """Measure, or continue, and write all files to `config.out`.

        Returns:
            The contents of metrics.json.

        Raises:
            NsrecoverError: a setting or a checkpoint cannot be used, or the folder holds other results.
        """
        backend = _checked(config, {"seed": 0, "workers": 1, **self.least})
        self.check(config)
        episodes, folder = self.episodes(config), Path(config.out)
        manifest = json.loads(json.dumps(self.manifest(config, episodes)))
        with claim_folder(folder, manifest, "a measurement"):
            run = Run(folder, episodes, config.workers, backend)
            metrics = dict(self.measure(config, run))
            write_results(folder, metrics, self.table(metrics), config)
            if self.draw is not None:
                self.draw(metrics, folder)
        if run.done:
            print(f"{run.done} of {run.done} done at revision {manifest[REVISION]}", file=sys.stderr)
        return metrics


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
    task: Callable[[Item], Row], items: Sequence[Item], workers: int, unit: str, label: str
) -> Iterator[Row]:
    """Yield the results of a task on every item, in order, computed in worker processes under a progress bar."""
    with closing(run_parallel(task, items, workers)) as every:
        yield from tqdm(every, total=len(items), unit=unit, desc=label)


def _checked(config: Settings, least: Mapping[str, float]) -> Backend:
    """Refuse numbers that are too small; return where items are measured."""
    for name, bound in least.items():
        value = getattr(config, name)
        if value is not None and min(value if isinstance(value, Sequence) else [value], default=-math.inf) < bound:
            raise InvalidConfiguration(f"expected {name} of at least {bound:g}, found {name}={value}")
    require_known(config.parallel, [each.value for each in Backend], "a known way to work in parallel")
    return Backend(config.parallel)


def run(measurement: Measurement[Any], files: Sequence[str] = ()) -> None:
    """Run the command of a measurement, `MEASUREMENT` of its module: settings from the command line, then its table.

    Args:
        measurement: what is measured.
        files: endings of files that can be given by their paths alone; they are its setting `files`.
    """
    if given := [each for each in sys.argv[1:] if "=" not in each and Path(each).suffix in files]:
        sys.argv[1:] = [f"files={json.dumps(given)}", *(each for each in sys.argv[1:] if each not in given)]
    if measurement.module == "__main__":  # workers and the ledger need the module by its name
        measurement = importlib.import_module(sys.modules["__main__"].__spec__.name).MEASUREMENT  # type: ignore[union-attr]
    chosen = measurement

    def measured(config: Any) -> None:
        chosen.run(config)
        print((Path(config.out) / TABLE).read_text(encoding="utf-8"), end="")

    run_command(
        chosen.module.removeprefix("eval.").removeprefix("checks.").split(".")[0],
        chosen.settings,
        measured,
        resumable=True,
    )
