"""Sweep over the episodes of a dataset under one planner, in worker processes, resumable."""

from __future__ import annotations

import json
import lzma
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf
from tqdm import tqdm

from eval.common.episodes import episodes_of
from eval.common.identity import content_of, identity
from eval.common.output import overrides, write_results
from eval.sweep import metrics
from eval.sweep.evaluation_world import Controller
from eval.sweep.failures import succeeded
from eval.sweep.judged_episode import Job, run_job
from eval.sweep.records import FORMAT, EpisodeRecord
from eval.sweep.summary_table import markdown
from nsrecover.errors import InvalidConfiguration, did_you_mean
from sim.common.cameras import DEFAULT_RIG
from sim.common.folder import claim_folder, read_ledger
from sim.common.groups import instantiate_group
from sim.common.origin import machine
from sim.common.parallel import Backend, run_parallel
from sim.datasets.kinds import DATASETS
from sim.datasets.spec import ErrorEpisode
from sim.sensors.presets import sensor_of
from sim.sensors.sensor import Sensor

RECORDS = "episodes.jsonl"
"""Every finished episode, one line each, in the order of finishing."""
PACKED = f"{RECORDS}.xz"
"""The same, as `python -m eval.tables kept=DIR` writes it."""
RUNS = "runs.jsonl"
"""Every start of the sweep, one line each: number of finished episodes, revision and machine."""


@dataclass
class EvalConfig:
    """Top level of conf/eval.yaml."""

    dataset: str = "I"
    episodes: int | None = None
    seed: int = 0
    errors: str | None = None
    planner: Any = field(default_factory=dict)
    sensor: Any = None
    during_recovery: float = 0.0
    parallel: Any = 2
    workers: int = 2
    out: str | None = None


def sweep(config: EvalConfig, folder: Path, quiet: bool = False) -> dict[str, Any]:
    """Run all unfinished episodes, and write metrics and table.

    Args:
        config: see conf/eval.yaml.
        folder: of the sweep.
        quiet: no progress bar.

    Returns:
        The contents of metrics.json.

    Raises:
        NsrecoverError: a setting cannot be used, or the folder holds something else.
    """
    workers, backend = _workers(config)
    if config.dataset not in DATASETS:
        raise InvalidConfiguration(
            f"expected dataset as one of {', '.join(DATASETS)}, found {config.dataset!r}."
            f"{did_you_mean(config.dataset, DATASETS)}"
        )
    if not 0.0 <= config.during_recovery <= 1.0:
        raise InvalidConfiguration(f"expected during_recovery between 0 and 1, found {config.during_recovery}")
    if (config.episodes is not None and config.episodes < 1) or config.seed < 0:
        raise InvalidConfiguration(
            f"expected episodes of at least 1 and a seed of at least 0, found episodes={config.episodes}, "
            f"seed={config.seed}"
        )
    every = DATASETS[config.dataset].episodes
    wanted = every if config.episodes is None else min(config.episodes, every)
    controller: Controller = instantiate_group("planner", config.planner)
    sensor = sensor_of(config.sensor)
    sensor.stream(len(DEFAULT_RIG.views), config.seed)  # rejects events of other cameras before the work begins
    controller.prepare()  # a missing part is an error of the command, not of an episode
    folder.mkdir(parents=True, exist_ok=True)
    episodes = episodes_of({config.dataset: wanted}, config.seed, config.errors, max(workers, 1))
    with claim_folder(folder, _manifest(config, episodes, sensor), "the episodes of a sweep"):
        if not (folder / RECORDS).exists() and (folder / PACKED).exists():
            raise InvalidConfiguration(
                f"expected {RECORDS} in {folder}, found it compressed only; run `unxz {folder / PACKED}` to go on with "
                "it, or choose another out=DIR"
            )
        finished, took = _run_all(config, episodes, controller, sensor, folder, (workers, backend), quiet)
        records = [finished[number] for number in range(len(episodes))]
        found = {
            "dataset": config.dataset,
            "planner": controller.name,
            "episodes": len(records),
            "seed": config.seed,
            "sensor": sensor.name,
            **metrics.summary(records),
            "during_recovery": config.during_recovery,
            "asked": overrides() if HydraConfig.initialized() else None,
            "runs": runs(folder, list(finished), len(episodes)),
            "last_run": took | machine(),
        }
        write_results(folder, found, markdown([found]), config)
    return found


def runs(folder: Path, finished: Sequence[int], episodes: int) -> list[dict[str, Any]]:
    """Return revision and machine of each run of a sweep.

    Args:
        folder: of the sweep.
        finished: numbers of the episodes in the order of their lines.
        episodes: number of episodes; runs of only later ones are left out.

    Returns:
        `machine()`, with the first line that the run wrote and the one after its last.
    """
    begun = _starts(folder)
    ends = [run["first"] for run in begun[1:]] + [len(finished)]
    return [
        run | {"end": end}
        for run, end in zip(begun, ends, strict=True)
        if any(number < episodes for number in finished[run["first"] : end])
    ]


def records_in(folder: Path) -> Path | None:
    """Return the file with the finished episodes of a sweep, compressed or not; None if there is none."""
    return next((path for path in (folder / RECORDS, folder / PACKED) if path.is_file()), None)


def read_records(folder: Path) -> list[EpisodeRecord]:
    """Read the finished episodes of a sweep, without changing its folder.

    Raises:
        InvalidConfiguration: there are none, or the file cannot be read.
    """
    path = records_in(folder)
    if path is None:
        raise InvalidConfiguration(f"expected the results of `python -m eval` in {folder}, found no {RECORDS}")
    try:
        text = (lzma.decompress(path.read_bytes()) if path.name == PACKED else path.read_bytes()).decode()
    except (OSError, ValueError, lzma.LZMAError) as problem:
        raise InvalidConfiguration(f"expected episodes in {path}, found that it cannot be read: {problem}") from None
    records = []
    for line in text.splitlines(keepends=True):
        if not line.endswith("\n"):
            break  # a running sweep is writing this line
        try:
            records.append(EpisodeRecord.from_json(line))
        except (ValueError, KeyError, TypeError):
            raise InvalidConfiguration(
                f"expected records of format {FORMAT} in {path}, found another line {len(records) + 1}; "
                "run the sweep again"
            ) from None
    return records


def _workers(config: EvalConfig) -> tuple[int, Backend]:
    if isinstance(config.parallel, int) and not isinstance(config.parallel, bool) and config.parallel >= 1:
        return config.parallel, Backend.loky
    if config.parallel == Backend.ray.value:
        return config.workers, Backend.ray
    raise InvalidConfiguration(
        f"expected parallel as a number of processes, or ray for a cluster, found {config.parallel!r}"
    )


def _manifest(config: EvalConfig, episodes: Sequence[ErrorEpisode], sensor: Sensor) -> dict[str, Any]:
    """Settings that determine the contents of a sweep's folder; episodes may be added later."""
    seen = {} if sensor.exact else {"sensor": sensor.to_dict()}
    planner = _plain(config.planner)
    settings = seen | {
        "format": FORMAT,
        "dataset": config.dataset,
        "seed": config.seed,
        "first_episode": content_of(episodes[:1]),
        "planner": planner,
        "during_recovery": config.during_recovery,
    }
    learned = [planner["checkpoint"]] if "checkpoint" in planner else [None]
    return identity("eval.sweep.run", settings, learned)


def _check_content(finished: Iterable[EpisodeRecord], episodes: Sequence[ErrorEpisode], folder: Path) -> None:
    """Refuse a folder with results of other episodes of the same names."""
    other = [
        record.label()
        for record in finished
        if record.index < len(episodes) and record.content != content_of([episodes[record.index]])
    ]
    if other:
        raise InvalidConfiguration(
            f"expected {folder} to hold results of the episodes as they are now, found {other[0]} and "
            f"{len(other) - 1} others of another content; choose another out=DIR, or delete the folder"
        )


def _plain(settings: Any) -> Any:
    return OmegaConf.to_container(settings, resolve=True) if OmegaConf.is_config(settings) else settings


def _starts(folder: Path) -> list[dict[str, Any]]:
    return read_ledger(folder / RUNS, json.loads, lambda run: run["number"])


class _Bar(tqdm):  # type: ignore[misc]
    """Progress bar in episodes per minute."""

    @property
    def format_dict(self) -> dict[str, Any]:
        """Fields of the bar's format."""
        found = super().format_dict
        done = found["n"] - found["initial"]
        rate = found["rate"] or (done / found["elapsed"] if found["elapsed"] else 0.0)
        return {**found, "per_minute": f"{60 * rate:.1f} episodes/min"}


def _run_all(
    config: EvalConfig,
    episodes: Sequence[ErrorEpisode],
    controller: Controller,
    sensor: Sensor,
    folder: Path,
    where: tuple[int, Backend],
    quiet: bool,
) -> tuple[dict[int, EpisodeRecord], dict[str, Any]]:
    """Run all unfinished episodes; return all finished ones by number, and the duration."""
    workers, backend = where
    finished = {record.index: record for record in read_ledger(folder / RECORDS, EpisodeRecord.from_json, None)}
    _check_content(finished.values(), episodes, folder)
    before, began = len(finished), time.perf_counter()
    jobs = [
        Job(number, episode, controller, config.during_recovery, sensor, config.seed)
        for number, episode in enumerate(episodes)
        if number not in finished
    ]
    good = sum(succeeded(record) for record in finished.values() if record.index < len(episodes))
    start = {"number": len(_starts(folder)), "first": before} | machine()
    with (folder / RUNS).open("a", encoding="utf-8") as file:
        file.write(json.dumps(start) + "\n")
    with (
        _Bar(
            total=len(episodes),
            initial=len(episodes) - len(jobs),
            desc=f"{controller.name} on {config.dataset}",
            bar_format="{desc}: {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}, {per_minute}"
            "{postfix}]",
            disable=quiet,
        ) as bar,
        (folder / RECORDS).open("a", encoding="utf-8") as file,
        closing(run_parallel(run_job, jobs, workers, backend, ordered=False)) as every,
    ):
        for record in every:
            file.write(record.to_json() + "\n")
            file.flush()
            os.fsync(file.fileno())
            finished[record.index] = record
            good += succeeded(record)
            bar.set_postfix_str(f"as it should {good}/{bar.n + 1}", refresh=False)
            bar.update()
    seconds = round(time.perf_counter() - began, 1)
    return finished, {"ran": len(jobs), "seconds": seconds, "workers": workers}
