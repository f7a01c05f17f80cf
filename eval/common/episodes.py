"""Episodes of error datasets: read from disk, generated if necessary."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval.run import Settings
from nsrecover.errors import InvalidConfiguration, require_known
from sim.common.groups import instantiate_group
from sim.datasets.build import DatasetsConfig, build
from sim.datasets.kinds import DATASETS
from sim.datasets.spec import EPISODES, ErrorEpisode, read_episodes

STANDARD = "data/errors"
"""Output folder of `python -m sim.datasets` for seed 0."""


@dataclass
class EpisodesConfig(Settings):
    """Settings of measurements on error datasets."""

    episodes: dict[str, int] = field(default_factory=dict)
    errors: str | None = None
    footage: str = "data/footage"
    checkpoint: str | None = None


def episodes_of(
    counts: Mapping[str, int], seed: int = 0, errors: str | None = None, workers: int = 2, scene: Any = None
) -> list[ErrorEpisode]:
    """Return the first episodes of some error datasets; missing ones are generated.

    Args:
        counts: dataset -> number of episodes.
        seed: of the datasets.
        errors: folder of the datasets; one that depends on seed and scene if None.
        workers: processes that generate.
        scene: other scenes than the standard ones, as a configuration with a `_target_`.

    Raises:
        InvalidConfiguration: there is no such dataset, no episode is asked for, or the folder holds another dataset.
    """
    folder = Path(errors if errors is not None else _standard_folder(seed, scene))
    chosen = list[ErrorEpisode]()
    for name, count in counts.items():
        require_known(name, DATASETS, "known datasets")
        if count:
            chosen += _first(DatasetsConfig(name, count, seed, str(folder / name), workers, scene=scene), count)
    if not chosen:
        raise InvalidConfiguration("expected at least one episode, found none; set episodes={I: 100}")
    return chosen


def _standard_folder(seed: int, scene: Any) -> str:
    folder = STANDARD if seed == 0 else f"{STANDARD}_{seed}"
    if scene is not None:
        described_as = json.dumps(instantiate_group("scene", scene).to_dict(), sort_keys=True)
        folder += f"_{hashlib.sha256(described_as.encode()).hexdigest()[:8]}"
    return folder


def _first(config: DatasetsConfig, count: int) -> list[ErrorEpisode]:
    """The first episodes of a dataset; a larger dataset on disk is not changed."""
    folder = Path(config.out)
    try:
        found = list(read_episodes(folder)) if (folder / EPISODES).is_file() else []
    except InvalidConfiguration:  # the process that wrote it was interrupted
        found = []
    if len(found) < count:
        build(config)
        found = list(read_episodes(folder))
    return found[:count]
