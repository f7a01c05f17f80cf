"""Report of a demo run: what it collected, for `nsrecover.reports`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from eval.common.command import METRICS
from eval.common.demo_result import DemoResult
from nsrecover.core.episode import Episode, EpisodeStatus, StopCode
from nsrecover.core.scene import SceneGraph
from nsrecover.records import episode_log
from nsrecover.reports.build import report_of
from nsrecover.reports.media import Extra, Judgement
from nsrecover.reports.model import Report
from nsrecover.reports.page import write_page

PAGE, LOG = "report.html", "episode.json"


def write(result: DemoResult, folder: Path, video: Path | None = None) -> Sequence[Path]:
    """Write `report.html`, `metrics.json` and the log of the episode, if there is one.

    Args:
        result: the run.
        folder: made if necessary.
        video: an mp4 to put into the page, if it is small enough.

    Returns:
        The files.
    """
    page, metrics = folder / PAGE, folder / METRICS
    write_page(report_of_demo(result, video), page)
    metrics.write_bytes(_metrics(result))
    if result.episode is None:
        return page, metrics
    episode_log.save(result.episode, folder / LOG, result.domain)
    return page, metrics, folder / LOG


def report_of_demo(result: DemoResult, video: Path | None = None) -> Report:
    """The content of the report of a run; see `write`."""
    extras = [Extra(METRICS, "What was measured, with the ground truth", _metrics(result))]
    if video is not None:
        ends_s = tuple(turn.film_s for turn in result.turns if turn.film_s is not None)
        extras.append(Extra(video.name, "Film", video.read_bytes(), "video/mp4", ends_s))
    sees = "" if result.domain is not None else f" The robot sees {_sensor(result.sensor)}."
    return report_of(
        result.episode or _broken_off(result),
        f"{result.scenario.capitalize()}, seed {result.seed}",
        f"{result.description}{sees}",
        media=[turn.media for turn in result.turns],
        judgement=_judgement(result),
        extras=extras,
        domain=result.domain,
    )


def _sensor(name: str) -> str:
    return "exact images" if name == "clean" else f"through the sensor {name}"


def _broken_off(result: DemoResult) -> Episode:
    """The episode of a run that could not go on."""
    nothing = np.zeros((0, 6), np.float32)
    empty = SceneGraph((), nothing, nothing, np.zeros(0, np.bool_))
    records = tuple(turn.record for turn in result.turns)
    why = StopCode.NO_OBSERVATION
    return Episode(result.plan, EpisodeStatus.ASKED_FOR_HELP, result.reason, empty, records, why=why)


def _judgement(result: DemoResult) -> Judgement:
    """The outcome by ground truth, in sentences."""
    if result.goal_reached:
        text = (
            "Everything is where a run without faults puts it, judged by the simulator."
            if result.domain is None
            else "The goal holds, judged by the simulator."
        )
    else:
        wrong = (why if result.domain is not None else f"the {name}: {why}" for name, why in result.deviations.items())
        text = f"The simulator says: {'; '.join(wrong)}."
    if result.undetected:
        text += f" Not noticed when it happened: {', '.join(result.undetected)}."
    return Judgement(result.goal_reached, text)


def _metrics(result: DemoResult) -> bytes:
    return (json.dumps(result.metrics(), indent=2) + "\n").encode()
