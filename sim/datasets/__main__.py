"""`python -m sim.datasets`: generate error datasets, resumable, the same whatever the number of workers."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import hydra
from hydra.core.config_store import ConfigStore
from omegaconf import OmegaConf
from tqdm import tqdm

from nsrecover.errors import InvalidConfiguration, NsrecoverError, did_you_mean, told_in_one_line
from sim.datasets.kinds import DATASETS, Drawn, generate
from sim.datasets.spec import EPISODES, SCHEMA, ErrorEpisode
from sim.datasets.summary import markdown, summarise
from sim.parallel import Backend, run_parallel

MANIFEST, METRICS, CONFIG, TABLE = "manifest.json", "metrics.json", "config.yaml", "table.md"
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


def build(config: DatasetsConfig) -> dict[str, dict[str, Any]]:
    """Generate one dataset or all; go on where an earlier run stopped.

    Args:
        config: see conf/datasets.yaml.

    Returns:
        Dataset -> what is in it, as written to metrics.json.

    Raises:
        InvalidConfiguration: a value is out of its range, or a folder belongs to another dataset.
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
        # one dataset goes exactly where it was asked for
        folder = out / name if config.dataset == ALL or config.out == DatasetsConfig.out else out
        summaries[name] = _build_one(name, folder, config)
    if config.dataset == ALL:
        _write(out / TABLE, markdown(summaries))
    return summaries


def _build_one(name: str, folder: Path, config: DatasetsConfig) -> dict[str, Any]:
    dataset = DATASETS[name]
    wanted = config.episodes or dataset.episodes
    _claim(folder, name, config.seed)
    started = time.perf_counter()
    found = _read(folder / EPISODES)
    before, redrawn, tried = len(found), 0, 0
    with (
        tqdm(total=wanted, initial=min(before, wanted), unit="episode", desc=f"dataset {name}") as bar,
        (folder / EPISODES).open("a", encoding="utf-8") as file,
    ):
        for drawn in run_parallel(
            partial(_generate, name, config.seed), range(before, wanted), config.workers, config.parallel
        ):
            file.write(drawn.episode.to_json() + "\n")
            file.flush()
            found.append(drawn.episode)
            redrawn += drawn.redrawn
            tried += drawn.tried
            bar.update()
            bar.set_postfix(redrawn=redrawn, refresh=False)
    seconds = time.perf_counter() - started
    summary = summarise(found[:wanted]) | {"dataset": name, "seed": config.seed}
    run = {"generated": len(found) - before, "scenes_redrawn": redrawn, "faults_tried": tried, "seconds": seconds}
    _write(folder / METRICS, json.dumps(summary | {"last_run": run}, indent=2) + "\n")
    _write(folder / CONFIG, OmegaConf.to_yaml(OmegaConf.structured(config)))
    _write(folder / TABLE, markdown({name: summary}))
    return summary


def _generate(name: str, seed: int, number: int) -> Drawn:
    return generate(DATASETS[name], seed, number)


def _claim(folder: Path, name: str, seed: int) -> None:
    """Make the folder ours, or check that it is."""
    manifest = {"schema": SCHEMA, "dataset": name, "seed": seed}
    path = folder / MANIFEST
    if path.is_file():
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            found = None
        if found != manifest:
            raise InvalidConfiguration(
                f"expected {folder} to hold {json.dumps(manifest)}, found {json.dumps(found)}; choose another out=DIR, "
                "the same settings, or delete the folder"
            )
        return
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InvalidConfiguration(
            f"expected an empty folder or an error dataset at {folder}, found something else; choose another out=DIR"
        )
    folder.mkdir(parents=True, exist_ok=True)
    _write(path, json.dumps(manifest, indent=2) + "\n")


def _read(path: Path) -> list[ErrorEpisode]:
    """Episodes of earlier runs, in order; a last line that was cut off is cut away."""
    if not path.is_file():
        return []
    episodes, whole = list[ErrorEpisode](), 0
    for line in path.read_bytes().splitlines(keepends=True):
        try:
            episode = ErrorEpisode.from_json(line.decode())
        except (NsrecoverError, UnicodeDecodeError):
            break
        if not line.endswith(b"\n") or episode.number != len(episodes):
            break
        episodes.append(episode)
        whole += len(line)
    os.truncate(path, whole)
    return episodes


def _write(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


@hydra.main(version_base="1.3", config_path="../../conf", config_name="datasets")
def main(config: DatasetsConfig) -> None:
    """Entry point."""
    with told_in_one_line(resumable=True):
        settings = OmegaConf.to_object(config)
        assert isinstance(settings, DatasetsConfig)
        print(markdown(build(settings)), end="")


if __name__ == "__main__":
    ConfigStore.instance().store(name="datasets_schema", node=DatasetsConfig)
    main()
