"""`python -m eval.models`: accuracy of perception, imagination and detection on error datasets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from conf.command import option, options
from eval.common.episodes import EpisodesConfig, episodes_of
from eval.common.recordings import footage_of
from eval.common.statistics import Share, decisions, grouped, share, share_of
from eval.common.step_verdicts import ImaginationAccuracy, MonitorSetting, StepVerdict, judge_steps
from eval.common.systems import system_of
from eval.common.tables import document, markdown_table, percent_of, seen_through
from eval.run import Measurement, Run, run
from nsrecover.errors import InvalidCheckpoint, InvalidConfiguration
from nsrecover.models.bundle import Bundle
from sim.datasets.spec import ErrorEpisode
from sim.sensors.presets import sensor_of
from sim.sensors.sensor import EXACT, Sensor


def exact(verdicts: Iterable[StepVerdict]) -> Share:
    """Share of the detected errors in which exactly the deviating objects are blamed."""
    noticed = [verdict for verdict in verdicts if verdict.wrong and verdict.blamed]
    return share_of(set(verdict.blamed) == set(verdict.wrong) for verdict in noticed)


def association(verdicts: Sequence[StepVerdict]) -> Share:
    """Share of the visible objects that are matched with themselves."""
    return share(sum(verdict.matched for verdict in verdicts), sum(verdict.visible for verdict in verdicts))


def false_alarms(verdicts: Iterable[StepVerdict], thresholds: Mapping[float, float]) -> dict[str, Share]:
    """Measured false alarm rate per good step at the threshold of each promised rate."""
    lowest = [min(verdict.probabilities.values()) for verdict in verdicts if not verdict.wrong]
    return {str(alpha): share_of(score < threshold for score in lowest) for alpha, threshold in thresholds.items()}


# -- variants of the monitor, judged on the same recorded episodes; runs in worker processes


@dataclass
class Variant(MonitorSetting):
    """One way to run the monitor; an entry of conf/variants.

    Attributes:
        checkpoint: folder; that of the command if None.
        views: names of the cameras.
        name: for the tables; the key of the variant if None.
    """

    checkpoint: str | None = None
    views: list[str] = field(default_factory=lambda: ["left", "right"])
    name: str | None = None


JudgedVariants = Mapping[str, tuple[Sequence[StepVerdict], Sequence[ImaginationAccuracy]]]
"""Name of a variant -> its verdicts on one episode, and how accurate its imagination is."""


def assess(
    episode: ErrorEpisode, folder: str, variants: Mapping[str, Variant], sensor: Sensor = EXACT
) -> JudgedVariants:
    """Judge the steps of an episode with every variant; the episode is recorded first if necessary.

    Args:
        episode: of an error dataset.
        folder: of the recordings.
        variants: by name.
        sensor: that the episode is seen through. A variant that does not see every object of the plan before the first
            action judges no step of it.
    """
    recorded = footage_of(episode, folder)
    judged = dict[str, tuple[Sequence[StepVerdict], Sequence[ImaginationAccuracy]]]()
    for name, variant in variants.items():
        seen = recorded.through(variant.views).sensed(sensor)
        begins = seen.exact is None or not seen.unseen
        judged[name] = judge_steps(seen, system_of(variant.checkpoint), variant) if begins else ((), ())
    return judged


# -- metrics and tables of `python -m eval.models`


ALPHAS = (0.001, 0.01, 0.05)
"""False alarm rates that are promised and measured."""

INJECTED = ("I", "II", "III")
"""Datasets with injected errors: those of the paper."""


def summary(
    verdicts: Sequence[StepVerdict], accuracies: Sequence[ImaginationAccuracy], bundle: Bundle
) -> dict[str, Any]:
    """Metrics of one variant.

    Args:
        verdicts: on every step.
        accuracies: of the imagination of every plan.
        bundle: of the variant; its calibration gives the thresholds of the promised rates.
    """
    datasets = grouped(verdicts, lambda verdict: verdict.dataset)
    injected = [verdict for verdict in verdicts if verdict.dataset in INJECTED] or list(verdicts)
    thresholds = _thresholds(bundle)
    return {
        "threshold": bundle.threshold,
        "injected": _metrics(injected, thresholds),
        "datasets": {name: _metrics(group, thresholds) for name, group in datasets.items()},
        "imagination": _imagination(accuracies),
    }


def _metrics(verdicts: Sequence[StepVerdict], thresholds: Mapping[float, float]) -> dict[str, Any]:
    return {
        "steps": decisions((bool(verdict.wrong), bool(verdict.blamed)) for verdict in verdicts),
        "culprits_exact": exact(verdicts),
        "association": association(verdicts),
        "association_after_errors": association([verdict for verdict in verdicts if verdict.wrong]),
        "false_alarms": false_alarms(verdicts, thresholds),
    }


def _thresholds(bundle: Bundle) -> dict[float, float]:
    """Thresholds of the rates that a checkpoint can promise."""
    found = {}
    for alpha in ALPHAS:
        try:
            found[alpha] = bundle.threshold_for(alpha)
        except InvalidCheckpoint:
            continue
    return found


def _imagination(accuracies: Sequence[ImaginationAccuracy]) -> dict[str, Any]:
    rows = {}
    for steps, group in grouped(accuracies, lambda item: item.steps).items():
        errors = [error for item in group for error in item.errors_mm]
        cosines = [cosine for item in group for cosine in item.cosines]
        rows[str(steps)] = {
            "median_mm": round(float(np.median(errors)), 2),
            "p95_mm": round(float(np.quantile(errors, 0.95)), 2),
            "objects": len(errors),
            "visual_cosine_median": round(float(np.median(cosines)), 4),
        }
    return rows


def markdown(variants: Mapping[str, Mapping[str, Any]], sensor: str = "clean") -> str:
    """Table of all variants, and promised rates and imagination of the first one.

    Args:
        variants: name -> summary.
        sensor: name of the sensor that the episodes were seen through.
    """
    every = []
    for name, details in variants.items():
        for dataset, found in details["datasets"].items():
            rates = found["steps"]
            shares = (*(rates[key] for key in ("accuracy", "precision", "recall")), found["culprits_exact"])
            cells = map(percent_of, (*shares, found["association_after_errors"]))
            every.append([name, dataset, rates["accuracy"]["of"], *cells])
    name, details = next(iter(variants.items()))
    return document(
        seen_through([sensor]),
        markdown_table(
            (
                "variant", "dataset", "steps", "accuracy", "precision", "recall", "culprits exact",
                "objects matched after errors",
            ),
            every,
        ),
        f"Of “{name}” on the datasets with injected errors (95 % intervals in brackets):",
        markdown_table(
            ("promised false alarms per step", "measured", "steps"),
            [
                [f"{100 * float(alpha):g} %", percent_of(rate), rate["of"]]
                for alpha, rate in details["injected"]["false_alarms"].items()
            ],
        ),
        markdown_table(
            ("steps imagined", "box error, median", "95th percentile", "objects", "visual cosine, median"),
            [
                [steps, f"{row['median_mm']} mm", f"{row['p95_mm']} mm", row["objects"], row["visual_cosine_median"]]
                for steps, row in details["imagination"].items()
            ],
        ),
    )  # fmt: skip


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
        name: summary(verdicts[name], accuracies[name], system_of(variant.checkpoint).model.bundle)
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
    lambda metrics: markdown(metrics["variants"], metrics["sensor"]),
    check=_check,
    episodes=_episodes,
    checkpoints=lambda config: [variant.checkpoint for variant in variants_of(config).values()],
)

if __name__ == "__main__":
    run(MEASUREMENT)
