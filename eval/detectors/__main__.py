"""`python -m eval.detectors`: compare failure detectors on the same recorded episodes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest

from conf.command import option, options
from eval.common.episodes import EpisodesConfig, episodes_of
from eval.common.statistics import RESAMPLES, Share, roc_of, share
from eval.common.statistics import Scores as Values
from eval.common.systems import system_of
from eval.common.tables import document, markdown_table, number, percent, percent_of, seen_through
from eval.detectors.base import Detector
from eval.detectors.judged_moments import JudgedEpisode, JudgedMoment, judge_episode
from eval.run import Measurement, Run, run
from nsrecover.errors import InvalidConfiguration
from sim.common.groups import instantiate_group
from sim.datasets.spec import ErrorEpisode
from sim.sensors.presets import sensor_of
from sim.sensors.sensor import Sensor

RATES = (0.001, 0.01, 0.05)
"""False alarm rates at which detectors are compared."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Scores of a detector, sorted by ground truth.

    Attributes:
        good: (G,) scores after steps that went well.
        bad: (B,) scores after steps that went wrong, in the order of `errors`.
        good_episode: (G,) number of the episode of each good step.
        bad_episode: (B,) of each error.
    """

    good: Values
    bad: Values
    good_episode: npt.NDArray[np.intp]
    bad_episode: npt.NDArray[np.intp]


def errors(episodes: Iterable[JudgedEpisode]) -> list[tuple[str, JudgedMoment]]:
    """Moments with an error, each with its dataset."""
    return [(episode.dataset, moment) for episode in episodes for moment in episode.moments if moment.causes]


def evidence(episodes: Sequence[JudgedEpisode], detector: str) -> Evidence:
    """Scores of one detector."""
    every = [(number, moment) for number, episode in enumerate(episodes) for moment in episode.moments]

    def after(wrong: bool) -> tuple[Values, npt.NDArray[np.intp]]:
        found = [(moment.scores[detector], number) for number, moment in every if bool(moment.causes) is wrong]
        return np.array([score for score, _ in found], np.float64), np.array([number for _, number in found], np.intp)

    good, good_episode = after(wrong=False)
    bad, bad_episode = after(wrong=True)
    return Evidence(good, bad, good_episode, bad_episode)


def threshold_at(good: Values, rate: float) -> float:
    """Highest threshold below which at most a given share of the scores of good moments lie."""
    return float(np.sort(good)[int(rate * len(good))]) if len(good) else 0.0


def alarms(scores: Values, threshold: float) -> Share:
    """Share of the scores below a threshold, with its interval."""
    return share(int((scores < threshold).sum()), len(scores))


def area(good: Values, bad: Values) -> float | None:
    """Area under the receiver operating characteristic; None without good or bad moments."""
    if not len(good) or not len(bad):
        return None
    return round(roc_of(good, bad)[2], 5)


def resampled(found: Evidence, rate: float) -> Values:
    """(RESAMPLES,) Bootstrap of the share detected: episodes are resampled and the threshold is set again each time.

    The steps of an episode are correlated and the threshold depends on few of them, which a Wilson interval ignores.
    The draws are the same for every detector, so that detectors can be compared draw by draw.
    """
    count = int(max(found.good_episode.max(initial=-1), found.bad_episode.max(initial=-1))) + 1
    rng, shares = np.random.default_rng(0), np.full(RESAMPLES, np.nan)
    for draw in range(RESAMPLES):
        times = np.bincount(rng.integers(count, size=count), minlength=count)
        weights = times[found.bad_episode]
        if weights.sum():
            threshold = threshold_at(np.repeat(found.good, times[found.good_episode]), rate)
            shares[draw] = weights[found.bad < threshold].sum() / weights.sum()
    return shares


def ahead(first: Evidence, found: Evidence, rate: float) -> dict[str, float | None]:
    """Difference of the shares detected by the first and another detector, with a 95 % bootstrap interval."""
    if not len(found.good) or not len(found.bad):
        return {"value": None, "low": None, "high": None}
    shares = [float((each.bad < threshold_at(each.good, rate)).mean()) for each in (first, found)]
    low, high = np.nanpercentile(resampled(first, rate) - resampled(found, rate), [2.5, 97.5])
    return {"value": round(shares[0] - shares[1], 5), "low": round(float(low), 5), "high": round(float(high), 5)}


def at_own_thresholds(found: Evidence, thresholds: Sequence[float]) -> list[dict[str, Any]]:
    """Rates at the thresholds of a detector's authors."""
    return [
        {
            "threshold": threshold,
            "detection": alarms(found.bad, threshold),
            "false_alarms": alarms(found.good, threshold),
        }
        for threshold in thresholds
    ]


def at_equal_rates(found: Evidence, first: Evidence) -> dict[str, dict[str, Any]]:
    """Rates at thresholds that give every detector the same false alarm rate.

    Args:
        found: of a detector.
        first: evidence of the detector to compare with, error by error.

    Returns:
        Rate -> threshold, measured false alarm rate, share detected; number of errors that only one of the two detects,
        with McNemar's exact p, and the difference of their shares.
    """
    rows = {}
    for rate in RATES:
        threshold = threshold_at(found.good, rate)
        caught = found.bad < threshold
        caught_by_first = first.bad < threshold_at(first.good, rate)
        only_first, only_this = int((caught_by_first & ~caught).sum()), int((caught & ~caught_by_first).sum())
        rows[str(rate)] = {
            "threshold": threshold,
            "false_alarms": alarms(found.good, threshold),
            "detection": alarms(found.bad, threshold),
            "only_first": only_first,
            "only_this": only_this,
            "p": float(binomtest(only_first, only_first + only_this).pvalue) if only_first + only_this else 1.0,
            "first_ahead": ahead(first, found, rate),
        }
    return rows


# -- tables of `python -m eval.detectors`


PAPERS = {
    "graph similarity": "0.9297, without its subtask node 0.8433",
    "graph, no structure": "0.8267",
    "graph, no nodes": "0.7467",
    "graph, no edges": "0.7033",
    "image": "0.2665",
    "image of a twin": "0.2665",
    "object count": "0.2999",
}
"""Failure detection rates in Yu et al., tables A4, A6, A10 and A11: means over the thresholds, before actions."""

Rows = Mapping[str, Mapping[str, Any]]


def markdown(metrics: Mapping[str, Any]) -> str:
    """Tables at equal false alarm rates, and at the thresholds of the detectors' authors."""
    rows: Rows = metrics["detectors"]
    return document(
        seen_through([metrics.get("sensor", "clean")]),
        _equal_rates(rows, metrics["moments"]["good"]),
        _own_thresholds(rows),
    )


def _equal_rates(rows: Rows, good: int) -> str:
    """Detection at equal rates. Rates that allow no false alarm among the good steps are left out."""
    first = next(iter(rows))
    rates = [rate for rate in rows[first]["equal_rates"] if float(rate) * good >= 1] or ["0.05"]
    middle = "0.01" if "0.01" in rates else rates[0]
    found = []
    for name, row in rows.items():
        chosen = row["equal_rates"][middle]
        pair = ["", ""]
        if name != first:
            pair = [f"{chosen['only_first']} / {chosen['only_this']} (p {chosen['p']:.2g})", _ahead(chosen)]
        detected = [_detected(row["equal_rates"][rate]) for rate in rates]
        found.append([name, number(row["area"], 4, "none"), *detected, *pair])
    titles = [f"detected at {100 * float(rate):g} % false alarms" for rate in rates]
    return markdown_table(["detector", "area", *titles, f"only {first} / only it", f"{first} ahead by"], found)


def _detected(row: Mapping[str, Any]) -> str:
    """Detection rate with the measured false alarm rate."""
    alarms = row["false_alarms"]["value"]
    return percent_of(row["detection"]) + ("" if alarms is None else f" at {percent(alarms)}")


def _ahead(row: Mapping[str, Any]) -> str:
    lead = row["first_ahead"]
    if lead["value"] is None:
        return "none"
    value, low, high = (100 * lead[key] for key in ("value", "low", "high"))
    return f"{value:.1f} points [{low:.1f}, {high:.1f}]"


def _own_thresholds(rows: Rows) -> str:
    head = (
        "detector", "alarms below", "failures detected", "false alarms", "mean detected", "in the paper",
    )  # fmt: skip
    keys = ("detection", "false_alarms")
    found = []
    for name, row in rows.items():
        mean = number(row["mean_detection"], 4, "none")
        for index, own in enumerate(row["own_thresholds"]):
            cells = [f"{own['threshold']:g}", *(percent_of(own[key]) for key in keys)]
            once = index == 0
            found.append([name * once, *cells, mean * once, PAPERS.get(name, "") * once])
    return markdown_table(head, found)


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

    Every episode is rendered once and kept, and eval.sensing uses the same images. A run that was stopped continues.
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


MEASUREMENT = Measurement(DetectorsConfig, measure, markdown, check=_check, episodes=_episodes)


if __name__ == "__main__":
    run(MEASUREMENT)
