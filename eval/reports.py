"""`python -m eval.reports`: time and size of a long report, and pictures of reports for the docs."""

from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count, islice, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import nsrecover
from eval.common import video
from eval.common.browser import DESKTOP, browser, write_jpeg, write_looks
from eval.common.tables import document, markdown_table
from eval.run import Measurement, Run, Settings, run
from nsrecover.core.actions import Action, Plan
from nsrecover.core.episode import Episode, StepRecord
from nsrecover.core.scene import Box, FloatArray, SceneGraph
from nsrecover.errors import InvalidConfiguration
from nsrecover.serving.reports.build import report_of
from nsrecover.serving.reports.many_runs import write_runs
from nsrecover.serving.reports.media import Clip, Media, Photo
from nsrecover.serving.reports.page import write_page
from sim.tabletop.faults import Displaced
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.placing import true_graph
from sim.tabletop.sampling import sample_scene
from sim.tabletop.world import TabletopWorld

TOWER = 4
"""Most objects in a tower."""
PHOTO_SIZE = (400, 300)
"""Pixels, as in the demo."""
RATE_HZ = 16_000
OFFSET_M = (0.05, 0.05)
"""How far the person moves the block."""


class _Table:
    """The simulator as a world of scene graphs, with a photograph after every action."""

    def __init__(self, world: TabletopWorld) -> None:
        self._world = world
        self.before = self.after = self.photo()

    def photo(self) -> Photo:
        """A photograph of the objects."""
        return Photo(self._world.render(*PHOTO_SIZE, video.PHOTO_VIEW), video.PHOTO_VIEW.camera(*PHOTO_SIZE))

    def observe(self) -> SceneGraph:
        """The exact boxes."""
        return true_graph(self._world.estimates())

    def execute(self, action: Action) -> None:
        """Carry out an action."""
        self.before = self.after
        self._world.execute(action)
        self.after = self.photo()


def long_episode(objects: int, steps: int, sound_s: float, seed: int) -> tuple[Episode, list[Media]]:
    """Carry out a long plan without an arm; halfway a person moves a block.

    Args:
        objects: how many are on the table.
        steps: actions of the plan; the recovery adds some.
        sound_s: length of the sound of every turn, seconds. It is noise: a WAV file of it is as large as of any other
            sound. 0: none.
        seed: of the scene and the noise.

    Raises:
        InvalidConfiguration: the table has no room.
    """
    rng = np.random.default_rng(seed)
    scene = sample_scene(rng, objects, seed=seed)
    media = []
    with TabletopWorld(scene, fidelity=Fidelity.KINEMATIC, seed=seed) as empty:
        plan = Plan(tuple(islice(_actions(true_graph(empty.estimates())), steps)))
    # the last object is on the table or on top of its tower
    fault = Displaced(steps // 2, scene.names[-1], OFFSET_M)
    with TabletopWorld(scene, (fault,), plan=plan, fidelity=Fidelity.KINEMATIC, seed=seed) as world:
        table = _Table(world)

        def keep(record: StepRecord) -> None:
            noise = (0.1 * rng.standard_normal(round(sound_s * RATE_HZ))).clip(-1, 1).astype(np.float32)
            media.append(Media(table.before, table.after, Clip(noise, RATE_HZ) if sound_s else None))

        episode = nsrecover.RecoveryAgent(nsrecover.geometric(), table).run(plan, keep)
    return episode, media


def _actions(start: SceneGraph) -> Iterator[Action]:
    """Build towers and take them down again, over and over, each time in another order."""
    places: dict[str, Box] = {name: _box(box) for name, box in zip(start.names, start.boxes, strict=True)}
    for shift in count():
        names = deque(start.names)
        names.rotate(shift)
        towers = [list(names)[i : i + TOWER] for i in range(0, len(names), TOWER)]
        build = [Action("top", (upper, lower)) for tower in towers for lower, upper in pairwise(tower)]
        yield from build
        yield from (Action("free", each.arguments[:1], places[each.arguments[0]]) for each in reversed(build))


def _box(values: FloatArray) -> Box:
    x, y, z, length, width, height = map(float, values)
    return (x, y, z, length, width, height)


# -- screenshots and sentences of the reports of a demo, from Chromium


PAGE = "report.html"
PICTURED = ("collapse", "kitchen", "apple")
"""Scenarios of which there are pictures."""
WAIT_MS = 180_000
"""Time for a page with a film and sound to load on a busy machine, milliseconds."""
MOMENTS = ("before", "failure", "after")

Sentences = dict[str, dict[str, str]]
"""Scenario -> question, or `summary` -> sentences."""


def pages_of(demo: Path) -> dict[str, Path]:
    """Scenario -> its report, in a folder that `python -m eval.demo` has filled.

    Raises:
        InvalidConfiguration: one of the reports of which there are to be pictures is missing.
    """
    pages = {path.parent.name: path for path in sorted(demo.glob(f"*/{PAGE}"))}
    missing = [name for name in PICTURED if name not in pages]
    if missing:
        raise InvalidConfiguration(
            f"expected {PAGE} of {', '.join(missing)} in {demo}, found none; run `python -m eval.demo` first"
        )
    return pages


def sentences_of(pages: Mapping[str, Path]) -> Sentences:
    """What reports say at their top.

    Raises:
        InvalidConfiguration: playwright or Chromium is missing.
    """
    with browser() as chromium:
        return {name: _sentences(chromium, page) for name, page in pages.items()}


def photograph(pages: Mapping[str, Path], out: Path) -> None:
    """Photograph reports as JPEG: before, at and after the failure, and in all windows and looks; and one of many runs.

    A scenario whose failure is noticed at the first step has no picture before it.

    Raises:
        InvalidConfiguration: playwright or Chromium is missing.
    """
    with browser() as chromium:
        for name in (each for each in PICTURED if each in pages):
            _pictures(chromium, pages[name], out / name)
            write_looks(chromium, pages[name].resolve().as_uri(), out / f"{name}_looks.jpg")
        logs = [str(log) for page in pages.values() if (log := page.with_name("episode.json")).exists()]
        if logs:
            with TemporaryDirectory() as folder:
                write_runs(logs, Path(folder) / "runs.html")
                write_looks(chromium, (Path(folder) / "runs.html").as_uri(), out / "runs_looks.jpg")


def _pictures(browser: Any, page: Path, stem: Path) -> None:
    """All pictures of one report."""
    for what in MOMENTS:
        opened = browser.new_page(viewport={"width": DESKTOP[0], "height": DESKTOP[1]})
        opened.set_default_timeout(WAIT_MS)
        opened.goto(page.resolve().as_uri())
        if _at(opened, what):
            write_jpeg(opened.screenshot(), stem.with_name(f"{stem.name}_{what}.jpg"))
        opened.close()


def _sentences(browser: Any, page: Path) -> dict[str, str]:
    opened = browser.new_page()
    opened.goto(page.resolve().as_uri())
    told = {"summary": opened.inner_text("#summary")}
    for answer in opened.locator("[data-question]").all():
        told[answer.locator("dt").inner_text()] = " ".join(answer.locator("dd .line > p").all_inner_texts())
    opened.close()
    return told


def _at(page: Any, moment: str) -> bool:
    """Move the slider from the failure to a moment; whether there is one."""
    failure, last = int(page.input_value("#slider")), page.locator(".step").count() - 1
    chosen = {"before": failure - 1, "after": last}.get(moment, failure)
    if not 0 <= chosen <= last:
        return False
    page.focus("#slider")
    for _ in range(abs(chosen - failure)):
        page.keyboard.press("ArrowRight" if chosen > failure else "ArrowLeft")
    page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
    return True


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
    """Refuse a demo without reports."""
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


LEAST = {"repeats": 1, "objects": 2, "steps": 1, "sound_s": 0}
MEASUREMENT = Measurement(ReportsConfig, measure, table, check=check, least=LEAST, checkpoint=None)

if __name__ == "__main__":
    run(MEASUREMENT)
