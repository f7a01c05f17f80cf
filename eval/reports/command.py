"""`python -m eval.reports`: time and size of a long report, and pictures of reports for the docs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.common.runner import Measurement, Run, Settings
from eval.common.tables import document, markdown_table
from eval.reports.long_episode import check_size, long_episode
from eval.reports.pictures import PAGE, Sentences, pages_of, photograph, sentences_of
from nsrecover.errors import InvalidConfiguration
from nsrecover.reports.build import report_of
from nsrecover.reports.page import write_page


@dataclass
class ReportsConfig(Settings):
    """Measure time and size of the report of a long episode, and take pictures of reports for the docs.

      python -m eval.reports                       10 objects and 20 steps; half a minute
      python -m eval.reports demo=outputs/demo     pictures of the reports of `make demo`, too; needs Chromium and
                                                     pip install 'nsrecover[browser]'

    The episode is carried out without an arm, with photographs of every turn. Writes report.html, metrics.json and
    table.md to out=DIR.

    Attributes:
        seed: another seed gives another scene.
        objects: number of objects on the table.
        steps: actions of the plan; a person moves a block halfway, and the recovery adds some.
        sound_s: length of the sound of every turn, seconds; 0 for none.
        repeats: how often the report is made.
        demo: folder of a finished demo, outputs/demo, of whose reports pictures are taken; none if null.
        pictures: folder of the pictures.
    """

    objects: int = 10
    steps: int = 20
    sound_s: float = 3.0
    repeats: int = 5
    demo: str | None = None
    pictures: str = "docs/reports"
    out: str = "outputs/reports"


def check(config: ReportsConfig) -> None:
    """Refuse to make no report, and a demo without reports."""
    if config.repeats < 1:
        raise InvalidConfiguration(f"expected at least 1 repeat, found repeats={config.repeats}")
    check_size(config.objects, config.steps, config.sound_s)
    if config.demo is not None:
        pages_of(Path(config.demo))


def measure(config: ReportsConfig, run: Run) -> dict[str, Any]:
    """Measure a long report, and photograph those of a demo if there is one."""
    pages = pages_of(Path(config.demo)) if config.demo is not None else {}
    told = sentences_of(pages) if pages else {}
    episode, media = long_episode(config.objects, config.steps, config.sound_s, config.seed)
    page, seconds = run.folder / PAGE, []
    for _ in range(config.repeats):
        began = time.perf_counter()
        report = report_of(episode, "A long episode", media=media)
        write_page(report, page)
        seconds.append(time.perf_counter() - began)
    if pages:
        photograph(pages, Path(config.pictures))
    return {
        "seed": config.seed,
        "objects": config.objects,
        "plan": len(episode.plan),
        "turns": len(report.steps),
        "photographs": len(report.images),
        "sound_s": round(sum(step.sound.seconds for step in report.steps if step.sound is not None), 1),
        "megabytes": round(page.stat().st_size / 1e6, 2),
        "median_s": round(statistics.median(seconds), 3),
        "longest_s": round(max(seconds), 3),
        "repeats": config.repeats,
        "sentences": told,
    }


def table(metrics: Mapping[str, Any]) -> str:
    """Size and time, and what the reports of a demo say."""
    return document(_size_and_time(metrics), *_told(metrics["sentences"]))


def _size_and_time(metrics: Mapping[str, Any]) -> str:
    head = ("objects", "steps of the plan", "turns", "photographs", "sound", "file", "time, median", "time, longest")
    row = (
        metrics["objects"], metrics["plan"], metrics["turns"], metrics["photographs"], f"{metrics['sound_s']} s",
        f"{metrics['megabytes']} MB", f"{metrics['median_s']} s", f"{metrics['longest_s']} s",
    )  # fmt: skip
    return f"{markdown_table(head, [row])}\n\n{metrics['repeats']} times from the episode to the file."


def _told(sentences: Sentences) -> list[str]:
    """What the reports of a demo say, one table for each."""
    return [
        f"**{name.capitalize()}.** {told['summary']}\n\n"
        + markdown_table(("question", "answer"), [(key, text) for key, text in told.items() if key != "summary"])
        for name, told in sentences.items()
    ]


MEASUREMENT = Measurement(ReportsConfig, measure, table, check=check, checkpoint=None)
