"""`python -m eval.models`: accuracy of perception, imagination and detection on error datasets."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from eval.common.episodes import EpisodesConfig, episodes_of
from eval.common.output import in_workers, write_results
from eval.common.step_verdicts import ImaginationAccuracy, StepVerdict
from eval.common.systems import system_of
from eval.common.timing import time_monitor
from eval.models import figures, tables
from eval.models.variants import Variant, assess
from nsrecover.errors import InvalidConfiguration
from sim.sensors.presets import sensor_of


@dataclass
class ModelsConfig(EpisodesConfig):
    """Top level of conf/models.yaml."""

    variants: dict[str, Variant] = field(default_factory=dict)
    scene: Any = None
    sensor: Any = None
    timed_objects: list[int] = field(default_factory=lambda: [5, 10])
    timed_steps: int = 40
    out: str = "outputs/models"


def measure(config: ModelsConfig) -> dict[str, Any]:
    """Judge the episodes with every variant, and write metrics, table and figures.

    Args:
        config: see conf/models.yaml.

    Returns:
        The contents of metrics.json.

    Raises:
        NsrecoverError: a setting or a checkpoint cannot be used.
    """
    if not config.variants:
        raise InvalidConfiguration("expected at least one variant, found none; choose a group: variants=main")
    config.variants = {variant.name or key: variant for key, variant in config.variants.items()}
    for variant in config.variants.values():
        variant.checkpoint = variant.checkpoint or config.checkpoint
        system_of(variant.checkpoint)  # reject an unusable checkpoint before the work begins
    sensor = sensor_of(config.sensor)
    for folder in (config.footage, config.out):
        Path(folder).mkdir(parents=True, exist_ok=True)
    verdicts: dict[str, list[StepVerdict]] = {name: [] for name in config.variants}
    accuracies: dict[str, list[ImaginationAccuracy]] = {name: [] for name in config.variants}
    not_begun = dict.fromkeys(config.variants, 0)
    episodes = episodes_of(config.episodes, config.seed, config.errors, config.workers, config.scene)
    task = partial(assess, folder=config.footage, variants=config.variants, sensor=sensor)
    for judged in in_workers(task, episodes, config.workers, "episode", "judging"):
        for name, (said, imagined) in judged.items():
            verdicts[name] += said
            not_begun[name] += not said
            accuracies[name] += imagined
    details = {
        name: tables.summary(verdicts[name], accuracies[name], system_of(variant.checkpoint).bundle)
        for name, variant in config.variants.items()
    }
    first = next(iter(config.variants.values()))
    # in this process, because workers share the cores
    timing = time_monitor(system_of(first.checkpoint), config.timed_objects, config.timed_steps, config.seed)
    metrics = tables.headline(next(iter(details.values())), timing) | {
        "seed": config.seed,
        "sensor": sensor.name,
        "episodes": dict(config.episodes),
        "episodes_not_begun": not_begun,
        "variants": details,
        "timing": timing,
    }
    write_results(config.out, metrics, tables.markdown(details, timing, sensor.name), config)
    figures.draw(details, Path(config.out))
    return metrics
