"""`python -m eval.detectors`: compare failure detectors on the same recorded episodes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from eval.common.episodes import EpisodesConfig, episodes_of
from eval.common.identity import identity
from eval.common.output import write_results
from eval.common.systems import system_of
from eval.detectors import figures, tables
from eval.detectors.base import Detector
from eval.detectors.equal_rate import area, at_equal_rates, at_own_thresholds, by_group, errors, evidence, only_cause
from eval.detectors.judged_moments import JudgedEpisode, judge_episode
from nsrecover.errors import InvalidConfiguration
from sim.common.folder import claim_folder, read_ledger
from sim.common.groups import instantiate_group
from sim.common.parallel import run_parallel
from sim.datasets.spec import ErrorEpisode
from sim.sensors.presets import sensor_of
from sim.sensors.sensor import Sensor

FORMAT = 2
SCORES = "scores.jsonl"


@dataclass
class DetectorsConfig(EpisodesConfig):
    """Top level of conf/detectors.yaml."""

    trunk: str = "encoder"
    views: list[str] = field(default_factory=lambda: ["left", "right"])
    detector: dict[str, Any] = field(default_factory=dict)
    sensor: Any = None
    out: str = "outputs/detectors"


def compare(config: DetectorsConfig) -> dict[str, Any]:
    """Let all detectors judge all episodes; continue an interrupted run.

    Args:
        config: see conf/detectors.yaml.

    Returns:
        The contents of metrics.json.

    Raises:
        NsrecoverError: a setting or a checkpoint cannot be used, or the folder holds another comparison.
    """
    if not config.detector:
        raise InvalidConfiguration("expected at least one detector, found none; choose some: detector=[ours,graph]")
    system_of(config.checkpoint)  # rejects an unusable checkpoint early
    entries = {entry.pop("name", key): entry for key, entry in deepcopy(config.detector).items()}
    detectors: dict[str, Detector] = {name: instantiate_group("detector", entry) for name, entry in entries.items()}
    for name, detector in detectors.items():
        if not detector.thresholds:
            raise InvalidConfiguration(f"expected at least one threshold of the detector {name!r}, found none")
    episodes = episodes_of(config.episodes, config.seed, config.errors, config.workers)
    out = Path(config.out)
    decisive = {name: value for name, value in asdict(config).items() if name not in ("footage", "workers", "out")}
    decisive["detector"] = entries
    sensor = sensor_of(decisive.pop("sensor"))
    if not sensor.exact:
        decisive["sensor"] = sensor.to_dict()
    manifest = identity("eval.detectors.compare", {"format": FORMAT, **decisive}, [config.checkpoint], episodes)
    with claim_folder(out, manifest, "a comparison of detectors"):
        judged = _judge_all(config, detectors, episodes, sensor)
        metrics = _metrics(config, detectors, judged, sensor)
        write_results(out, metrics, tables.markdown(metrics), config)
        figures.draw({name: evidence(judged, name) for name in detectors}, out)
    return metrics


def _judge_all(
    config: DetectorsConfig, detectors: Mapping[str, Detector], episodes: Sequence[ErrorEpisode], sensor: Sensor
) -> list[JudgedEpisode]:
    path = Path(config.out) / SCORES
    Path(config.footage).mkdir(parents=True, exist_ok=True)
    judged = read_ledger(path, JudgedEpisode.from_json, lambda episode: episode.number)
    rest = list(enumerate(episodes))[len(judged) :]
    task = partial(
        judge_episode,
        detectors=detectors,
        checkpoint=config.checkpoint,
        folder=config.footage,
        views=config.views,
        sensor=sensor,
    )
    with (
        path.open("a", encoding="utf-8") as file,
        tqdm(total=len(episodes), initial=len(judged), unit="episode", desc="judging") as bar,
        closing(run_parallel(task, rest, config.workers)) as every,
    ):
        for episode in every:
            file.write(episode.to_json() + "\n")
            file.flush()
            judged.append(episode)
            bar.update()
    return judged


def _metrics(
    config: DetectorsConfig, detectors: Mapping[str, Detector], judged: Sequence[JudgedEpisode], sensor: Sensor
) -> dict[str, Any]:
    every = errors(judged)
    found = {name: evidence(judged, name) for name in detectors}
    first = next(iter(found.values()))
    rows = {}
    for name, detector in detectors.items():
        own = at_own_thresholds(found[name], detector.thresholds)
        values = [row["detection"]["value"] for row in own]
        rows[name] = {
            "area": area(found[name].good, found[name].bad),
            "area_before": area(found[name].good_before, found[name].failing_before),
            "equal_rates": at_equal_rates(found[name], first),
            "own_thresholds": own,
            "mean_detection": sum(values) / len(values) if every else None,
            "by_dataset": by_group(every, found[name], lambda dataset, moment: dataset),
            "by_cause": by_group(every, found[name], only_cause),
        }
    later = [moment.fails_later - moment.step for _, moment in every if moment.fails_later is not None]
    return {
        "seed": config.seed,
        "sensor": sensor.name,
        "episodes": dict(config.episodes),
        "episodes_not_begun": sum(not episode.moments for episode in judged),
        "moments": {
            "good": len(first.good),
            "errors": len(first.bad),
            "good_before": len(first.good_before),
            "errors_that_fail_an_action_later": len(first.failing_before),
            "of_them_the_next_one": sum(ahead == 1 for ahead in later),
            "natural_failures": len(first.doomed_before),
        },
        "detectors": json.loads(json.dumps(rows)),
    }
