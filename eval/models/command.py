"""`python -m eval.models`: how well the learned parts see, imagine and notice, on error datasets."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from tqdm import tqdm

from eval.common.command import CONFIG, METRICS, TABLE
from eval.common.step_verdicts import ImaginationAccuracy, StepVerdict
from eval.common.variants import Variant, Watched, assess, system_of
from eval.models import figures as model_figures
from eval.models import tables as model_tables
from eval.timing.command import time_monitor
from nsrecover.core.atomic_write import atomic_write_bytes
from nsrecover.errors import InvalidConfiguration, did_you_mean
from sim.common.folder import write_json
from sim.common.groups import instantiate_group
from sim.common.parallel import run_parallel
from sim.datasets.build import DatasetsConfig, build
from sim.datasets.kinds import DATASETS
from sim.datasets.spec import EPISODES, ErrorEpisode, read_episodes

STANDARD = "data/errors"
"""Where `python -m sim.datasets` leaves the datasets of seed 0."""


@dataclass
class ModelsConfig:
    """Top level of conf/models.yaml."""

    seed: int = 0
    episodes: dict[str, int] = field(default_factory=dict)
    errors: str | None = None
    footage: str = "data/footage"
    checkpoint: str | None = None
    variants: dict[str, Variant] = field(default_factory=dict)
    scene: Any = None
    timed_objects: list[int] = field(default_factory=lambda: [5, 10])
    timed_steps: int = 40
    workers: int = 2
    out: str = "outputs/models"


def episodes_of(config: ModelsConfig) -> list[ErrorEpisode]:
    """The episodes to measure on; those that are not there yet are generated.

    Raises:
        InvalidConfiguration: there is no such dataset, or the folder holds another one.
    """
    chosen = list[ErrorEpisode]()
    for name, count in config.episodes.items():
        if name not in DATASETS:
            raise InvalidConfiguration(
                f"expected datasets among {', '.join(DATASETS)}, found {name!r}.{did_you_mean(name, DATASETS)}"
            )
        if count:
            chosen += _first(name, count, Path(_errors(config)) / name, config)
    if not chosen:
        raise InvalidConfiguration("expected at least one episode, found none; set episodes={I: 100}")
    return chosen


def _errors(config: ModelsConfig) -> str:
    if config.errors is not None:
        return config.errors
    folder = STANDARD if config.seed == 0 else f"{STANDARD}_{config.seed}"
    if config.scene is not None:
        described_as = json.dumps(instantiate_group(config.scene).to_dict(), sort_keys=True)
        folder += f"_{hashlib.sha256(described_as.encode()).hexdigest()[:8]}"
    return folder


def _first(name: str, count: int, folder: Path, config: ModelsConfig) -> list[ErrorEpisode]:
    """The first episodes of a dataset; a larger one that is already there is left alone."""
    try:
        found = list(read_episodes(folder)) if (folder / EPISODES).is_file() else []
    except InvalidConfiguration:  # whoever wrote it was interrupted
        found = []
    if len(found) < count:
        build(DatasetsConfig(name, count, config.seed, str(folder), config.workers, scene=config.scene))
        found = list(read_episodes(folder))
    return found[:count]


def watch_all(config: ModelsConfig, episodes: Sequence[ErrorEpisode]) -> Iterator[Watched]:
    """Every episode with every variant, in worker processes."""
    Path(config.footage).mkdir(parents=True, exist_ok=True)
    task = partial(assess, folder=config.footage, variants=config.variants)
    with closing(run_parallel(task, episodes, config.workers)) as every:
        yield from tqdm(every, total=len(episodes), unit="episode", desc="watching")


def measure(config: ModelsConfig) -> dict[str, Any]:
    """Watch the episodes with every variant, and write metrics, table and figures.

    Args:
        config: see conf/models.yaml.

    Returns:
        What is written to metrics.json.

    Raises:
        NsrecoverError: a setting or a checkpoint cannot be used.
    """
    if not config.variants:
        raise InvalidConfiguration("expected at least one variant, found none; choose a group: variants=main")
    for variant in config.variants.values():
        variant.checkpoint = variant.checkpoint or config.checkpoint
        system_of(variant.checkpoint)  # a checkpoint that cannot be used is refused before the work begins
    out = Path(config.out)
    out.mkdir(parents=True, exist_ok=True)
    verdicts: dict[str, list[StepVerdict]] = {name: [] for name in config.variants}
    imagined: dict[str, list[ImaginationAccuracy]] = {name: [] for name in config.variants}
    for watched in watch_all(config, episodes_of(config)):
        for name, (said, pictured) in watched.items():
            verdicts[name] += said
            imagined[name] += pictured
    details = {
        name: model_tables.summary(verdicts[name], imagined[name], system_of(variant.checkpoint).bundle)
        for name, variant in config.variants.items()
    }
    first = next(iter(config.variants.values()))
    # here and not in the workers, which share the cores
    timing = time_monitor(system_of(first.checkpoint), config.timed_objects, config.timed_steps, config.seed)
    metrics = model_tables.headline(next(iter(details.values())), timing) | {
        "seed": config.seed,
        "episodes": dict(config.episodes),
        "variants": details,
        "timing": timing,
    }
    write_json(out / METRICS, metrics)
    atomic_write_bytes(out / TABLE, (model_tables.markdown(details) + model_tables.timing(timing)).encode())
    atomic_write_bytes(out / CONFIG, OmegaConf.to_yaml(OmegaConf.structured(config)).encode())
    model_figures.draw(verdicts, imagined, out)
    return metrics
