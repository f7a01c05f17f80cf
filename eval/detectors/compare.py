"""`python -m eval.detectors`: compare failure detectors on the same recorded episodes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from conf.command import option, options
from eval.common.episodes import EpisodesConfig, episodes_of
from eval.common.runner import Measurement, Run
from eval.common.systems import system_of
from eval.detectors import tables
from eval.detectors.base import Detector
from eval.detectors.equal_rate import area, at_equal_rates, at_own_thresholds, evidence
from eval.detectors.judged_moments import JudgedEpisode, judge_episode
from nsrecover.errors import InvalidConfiguration
from sim.common.groups import instantiate_group
from sim.datasets.spec import ErrorEpisode
from sim.sensors.presets import sensor_of
from sim.sensors.sensor import Sensor


@dataclass
class DetectorsConfig(EpisodesConfig):
    """Compare failure detectors on the same episodes: detection and false alarms.

      python -m eval.detectors                                700 episodes of I to V, seed 0; some hours on 2 cores
      python -m eval.detectors 'episodes={I: 40, II: 15, III: 12, IV: 12, V: 16}'          95 of them; 15 minutes
      python -m eval.detectors seed=7 'episodes={I: 50, II: 20, III: 20, IV: 20, V: 20}' out=DIR     fewer, fresh ones
      python -m eval.detectors 'detector=[ours,graph]'        only some detectors
      python -m eval.detectors sensor=d435 out=DIR            seen through a realistic sensor (docs/sensors.md)
      python -m eval.detectors trunk=imagenet                 torchvision's weights, downloaded once
      python -m eval.detectors checkpoint=outputs/train/bundle        your own checkpoint

    Every episode is rendered once and kept, and eval.models uses the same images. A run that was stopped continues.
    Writes metrics.json, table.md and rows.jsonl to out=DIR.

    Attributes:
        seed: another seed gives other episodes; 0 are those of `python -m sim.datasets`.
        episodes: number of episodes of each error dataset; episodes.I=0 leaves one out.
        errors: folder of the datasets; data/errors, or data/errors_SEED for another seed, if null.
        footage: folder for camera images of the episodes, and images of successful runs; can be deleted.
        checkpoint: folder of the checkpoint that perceives and imagines for all detectors; the shipped one if null.
        trunk: network for image features: encoder (the ResNet of our object encoder) or imagenet (torchvision's,
            downloaded once).
        views: names of the cameras.
        detector: an option of conf/detector.
        sensor: an option of conf/sensor.
    """

    trunk: str = "encoder"
    views: list[str] = field(default_factory=lambda: ["left", "right"])
    detector: dict[str, Any] = options(["ours", "distance", "graph", "relations", "images", "counts"])
    sensor: Any = option("clean")
    out: str = "outputs/detectors"
    episodes: dict[str, int] = field(default_factory=lambda: {"I": 250, "II": 150, "III": 100, "IV": 100, "V": 100})


def detectors_of(config: DetectorsConfig) -> dict[str, Detector]:
    """The detectors by name.

    Raises:
        InvalidConfiguration: there is none, or one has no threshold.
    """
    if not config.detector:
        raise InvalidConfiguration("expected at least one detector, found none; choose some: detector=[ours,graph]")
    entries = {entry.pop("name", key): entry for key, entry in deepcopy(config.detector).items()}
    found: dict[str, Detector] = {name: instantiate_group("detector", entry) for name, entry in entries.items()}
    for name, detector in found.items():
        if not detector.thresholds:
            raise InvalidConfiguration(f"expected at least one threshold of the detector {name!r}, found none")
    return found


def _check(config: DetectorsConfig) -> None:
    system_of(config.checkpoint)
    detectors_of(config)
    sensor_of(config.sensor)


def _episodes(config: DetectorsConfig) -> list[ErrorEpisode]:
    return episodes_of(config.episodes, config.seed, config.errors, config.workers)


def measure(config: DetectorsConfig, run: Run) -> dict[str, Any]:
    """Let all detectors judge all episodes."""
    Path(config.footage).mkdir(parents=True, exist_ok=True)
    detectors, sensor = detectors_of(config), sensor_of(config.sensor)
    task = partial(
        judge_episode,
        detectors=detectors,
        checkpoint=config.checkpoint,
        folder=config.footage,
        views=config.views,
        sensor=sensor,
    )
    judged = run.each(task, list(enumerate(run.episodes)), "episode", key=lambda each: str(each[0]))
    return _metrics(config, detectors, judged, sensor)


def _metrics(
    config: DetectorsConfig, detectors: Mapping[str, Detector], judged: Sequence[JudgedEpisode], sensor: Sensor
) -> dict[str, Any]:
    found = {name: evidence(judged, name) for name in detectors}
    first = next(iter(found.values()))
    rows = {}
    for name, detector in detectors.items():
        own = at_own_thresholds(found[name], detector.thresholds)
        values = [row["detection"]["value"] for row in own]
        rows[name] = {
            "area": area(found[name].good, found[name].bad),
            "equal_rates": at_equal_rates(found[name], first),
            "own_thresholds": own,
            "mean_detection": sum(values) / len(values) if len(found[name].bad) else None,
        }
    return {
        "seed": config.seed,
        "sensor": sensor.name,
        "episodes": dict(config.episodes),
        "episodes_not_begun": sum(not episode.moments for episode in judged),
        "moments": {"good": len(first.good), "errors": len(first.bad)},
        "detectors": json.loads(json.dumps(rows)),
    }


MEASUREMENT = Measurement(DetectorsConfig, measure, tables.markdown, check=_check, episodes=_episodes)
