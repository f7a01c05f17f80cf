"""Error datasets in folders: resumable, and independent of the number of workers."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from tqdm import tqdm

from nsrecover.core.atomic_write import atomic_write_bytes
from nsrecover.errors import InvalidConfiguration, did_you_mean
from sim.common.folder import claim_folder, read_ledger, write_json
from sim.common.groups import instantiate_group
from sim.common.parallel import Backend, run_parallel
from sim.datasets.kinds import DATASETS, ErrorDataset, generate
from sim.datasets.shipped import SEED, manifest_of, shipped
from sim.datasets.spec import EPISODES, ErrorEpisode
from sim.datasets.summary import markdown, summarise

METRICS, CONFIG, TABLE = "metrics.json", "config.yaml", "table.md"
ALL = "all"


@dataclass
class DatasetsConfig:
    """Top level of conf/datasets.yaml."""

    dataset: str = ALL
    episodes: int | None = None
    seed: int = 0
    out: str = "data/errors"
    workers: int = 2
    parallel: Backend = Backend.loky
    shipped: bool = True
    scene: Any = None


def build(config: DatasetsConfig) -> dict[str, dict[str, Any]]:
    """Generate one dataset or all; continue where an earlier run stopped.

    Args:
        config: see conf/datasets.yaml.

    Returns:
        Dataset -> its metrics, as in metrics.json.

    Raises:
        InvalidConfiguration: a value is out of range, or a folder belongs to another dataset.
    """
    if config.dataset != ALL and config.dataset not in DATASETS:
        raise InvalidConfiguration(
            f"expected dataset as one of {', '.join(DATASETS)} or {ALL}, found {config.dataset!r}."
            f"{did_you_mean(config.dataset, [*DATASETS, ALL])}"
        )
    if config.workers < 1 or config.seed < 0 or (config.episodes is not None and config.episodes < 1):
        raise InvalidConfiguration(
            f"expected workers and episodes of at least 1 and a seed of at least 0, found workers={config.workers}, "
            f"episodes={config.episodes}, seed={config.seed}"
        )
    names = list(DATASETS) if config.dataset == ALL else [config.dataset]
    out = Path(config.out)
    summaries = {}
    for name in names:
        # a single dataset goes exactly into out=DIR
        folder = out / name if config.dataset == ALL or config.out == DatasetsConfig.out else out
        summaries[name] = _build_one(_chosen(name, config), folder, config)
    if config.dataset == ALL:
        atomic_write_bytes(out / TABLE, markdown(summaries).encode())
    return summaries


def _chosen(name: str, config: DatasetsConfig) -> ErrorDataset:
    """A dataset, with other scenes if the configuration has some."""
    dataset = DATASETS[name]
    return dataset if config.scene is None else replace(dataset, mix=instantiate_group(config.scene))  # type: ignore[type-var]


def _build_one(dataset: ErrorDataset, folder: Path, config: DatasetsConfig) -> dict[str, Any]:
    manifest = manifest_of(dataset.name, config.seed)
    if dataset.mix != DATASETS[dataset.name].mix:
        manifest["scene"] = dataset.mix.to_dict()
    with claim_folder(folder, manifest, "an error dataset"):
        return _generate_all(dataset, folder, config)


def _generate_all(dataset: ErrorDataset, folder: Path, config: DatasetsConfig) -> dict[str, Any]:
    name, wanted = dataset.name, config.episodes or dataset.episodes
    started = time.perf_counter()
    found = read_ledger(folder / EPISODES, ErrorEpisode.from_json, lambda episode: episode.number)
    before, redrawn, tried = len(found), 0, 0
    if config.shipped and config.seed == SEED and dataset == DATASETS[name]:
        found += shipped(name, before, wanted)
        with (folder / EPISODES).open("a", encoding="utf-8") as file:
            file.writelines(episode.to_json() + "\n" for episode in found[before:])
    drawn_from = len(found)
    with (
        tqdm(total=wanted, initial=min(drawn_from, wanted), unit="episode", desc=f"dataset {name}") as bar,
        (folder / EPISODES).open("a", encoding="utf-8") as file,
        closing(
            run_parallel(
                partial(generate, dataset, config.seed), range(drawn_from, wanted), config.workers, config.parallel
            )
        ) as every,
    ):
        for drawn in every:
            file.write(drawn.episode.to_json() + "\n")
            file.flush()
            found.append(drawn.episode)
            redrawn += drawn.redrawn
            tried += drawn.tried
            bar.update()
            bar.set_postfix(redrawn=redrawn, refresh=False)
    seconds = round(time.perf_counter() - started, 1)
    summary = summarise(found[:wanted]) | {"dataset": name, "seed": config.seed}
    run = {
        "shipped": drawn_from - before,
        "generated": len(found) - drawn_from,
        "scenes_redrawn": redrawn,
        "faults_tried": tried,
        "seconds": seconds,
    }
    write_json(folder / METRICS, summary | {"last_run": run})
    atomic_write_bytes(folder / CONFIG, OmegaConf.to_yaml(OmegaConf.structured(config)).encode())
    atomic_write_bytes(folder / TABLE, markdown({name: summary}).encode())
    return summary
