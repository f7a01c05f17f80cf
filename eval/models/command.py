"""`python -m eval.models`: accuracy of perception, imagination and detection on error datasets."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from conf.command import option, options
from eval.common.episodes import EpisodesConfig, episodes_of
from eval.common.runner import Measurement, Run
from eval.common.step_verdicts import ImaginationAccuracy, StepVerdict
from eval.common.systems import system_of
from eval.models import tables
from eval.models.variants import Variant, assess
from nsrecover.errors import InvalidConfiguration
from sim.datasets.spec import ErrorEpisode
from sim.sensors.presets import sensor_of


@dataclass
class ModelsConfig(EpisodesConfig):
    """Measure the learned parts on error datasets.

    Detection, association, imagination, and the promised false-alarm rate.

      python -m eval.models                                   datasets I to IV of seed 0; half an hour on 2 cores
      python -m eval.models seed=7 'episodes={I: 50, II: 20, III: 20, IV: 20}' out=DIR    fewer, and fresh ones
      python -m eval.models variants=cameras                  the same with one, two and three cameras
      python -m eval.models variants=ablations                the contribution of each part (see the file)
      python -m eval.models sensor=d435 out=DIR               seen through a realistic sensor (docs/sensors.md)
      python -m eval.models scene=unseen 'episodes={I: 100, II: 0, III: 0, IV: 0}'      unseen colours and sizes
      python -m eval.models checkpoint=outputs/train/bundle   your own checkpoint

    Missing episodes are generated, and every episode is rendered once; both are kept, so that further runs take
    minutes. Writes metrics.json and table.md to out=DIR.

    Attributes:
        seed: another seed gives other episodes; 0 are those of `python -m sim.datasets`.
        episodes: number of episodes of each error dataset; episodes.I=0 leaves one out.
        errors: folder of the datasets; data/errors, or one named after another seed or scene, if null.
        footage: folder for camera images of the episodes; can be deleted.
        checkpoint: folder of a checkpoint; the shipped one if null.
        variants: an option of conf/variants.
        sensor: an option of conf/sensor.
        scene: an option of conf/scene.
    """

    variants: dict[str, Variant] = options("main")
    scene: Any = option(None)
    sensor: Any = option("clean")
    out: str = "outputs/models"
    episodes: dict[str, int] = field(default_factory=lambda: {"I": 250, "II": 150, "III": 100, "IV": 100})


def variants_of(config: ModelsConfig) -> dict[str, Variant]:
    """The variants by the names of their rows, each with a checkpoint that can be loaded.

    Raises:
        NsrecoverError: there is none, or a checkpoint cannot be used.
    """
    if not config.variants:
        raise InvalidConfiguration("expected at least one variant, found none; choose a group: variants=main")
    found = {
        variant.name or key: replace(variant, checkpoint=variant.checkpoint or config.checkpoint)
        for key, variant in config.variants.items()
    }
    for variant in found.values():
        system_of(variant.checkpoint)
    return found


def _episodes(config: ModelsConfig) -> list[ErrorEpisode]:
    return episodes_of(config.episodes, config.seed, config.errors, config.workers, config.scene)


def _check(config: ModelsConfig) -> None:
    variants_of(config)
    sensor_of(config.sensor)


def measure(config: ModelsConfig, run: Run) -> dict[str, Any]:
    """Judge the episodes with every variant."""
    variants, sensor = variants_of(config), sensor_of(config.sensor)
    Path(config.footage).mkdir(parents=True, exist_ok=True)
    verdicts: dict[str, list[StepVerdict]] = {name: [] for name in variants}
    accuracies: dict[str, list[ImaginationAccuracy]] = {name: [] for name in variants}
    not_begun = dict.fromkeys(variants, 0)
    task = partial(assess, folder=config.footage, variants=variants, sensor=sensor)
    for judged in run.each(task, run.episodes, "episode", key=lambda each: f"{each.dataset} {each.number}"):
        for name, (said, imagined) in judged.items():
            verdicts[name] += said
            not_begun[name] += not said
            accuracies[name] += imagined
    details = {
        name: tables.summary(verdicts[name], accuracies[name], system_of(variant.checkpoint).bundle)
        for name, variant in variants.items()
    }
    return {
        "seed": config.seed,
        "sensor": sensor.name,
        "episodes": dict(config.episodes),
        "episodes_not_begun": not_begun,
        "variants": details,
    }


MEASUREMENT = Measurement(
    ModelsConfig,
    measure,
    lambda metrics: tables.markdown(metrics["variants"], metrics["sensor"]),
    check=_check,
    episodes=_episodes,
    checkpoints=lambda config: [variant.checkpoint for variant in variants_of(config).values()],
)
