"""Time from events to screens, and how much a live page slows a robot down."""

from __future__ import annotations

import math
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import nsrecover
import nsrecover.serving.live
from eval.checks.live.tabletop import table
from eval.common.browser import browser, write_jpeg, write_looks
from eval.common.statistics import p95, spread
from eval.common.tables import document, markdown_table
from eval.run import write_results
from nsrecover.core.actions import Plan
from nsrecover.system import System
from sim.sensors.sensor import Sensor
from sim.tabletop.scenarios import Scenario

WIDE = (1440, 900)
WAIT_MS = 120_000


def photograph(system: System, item: Scenario, sensor: Sensor, out: Path) -> None:
    """Photograph a page on which a recovery waits for a person, in all windows and looks; and its end.

    Args:
        system: the learned parts.
        item: an episode with a fault.
        sensor: through which the robot sees.
        out: folder of the pictures.

    Raises:
        InvalidConfiguration: playwright or Chromium is missing.
    """
    with browser() as chromium, table(item, sensor) as world:
        agent = nsrecover.RecoveryAgent(system, world)
        title = f"Simulated tabletop: {item.name}"
        with nsrecover.serving.live.page(agent, title=title, approve=True, injector=world) as page:
            first = opened(chromium, page.url, viewport={"width": WIDE[0], "height": WIDE[1]})
            with in_background(partial(agent.run, item.plan)):
                first.wait_for_selector("#choice-do", timeout=WAIT_MS)
                first.click("text=What went wrong?")
                first.wait_for_selector("#talk li")
                write_jpeg(first.screenshot(), out / "decision.jpg")
                write_looks(chromium, page.url, out / "looks.jpg", lambda tab: tab.wait_for_selector("#choice-do"))
                while agent.supervisor is page and not first.locator("#state .mark:text('done')").count():
                    if first.locator("#choice-do").count():
                        first.click("#choice-do")
                    first.wait_for_timeout(200)
            write_jpeg(first.screenshot(), out / "end.jpg")


# -- the table of the measurements of live pages


def write(config: Any, metrics: dict[str, Any]) -> None:
    """Write metrics and table.

    Args:
        config: with the folder `out`.
        metrics: of delays and of the slowdown.
    """
    delays, slow = metrics["delays"], metrics["slowdown"]
    rows = [(name, *_row(each)) for name, each in (*delays["panels"].items(), ("all", delays))]
    text = (
        f"{delays['episodes']} episodes, {delays['viewers']} browsers on the robot's machine; {delays['late']} of "
        f"{delays['events']} changes took longer than {LIMIT_MS:g} ms."
    )
    head = ("", "longer by", "95 % interval", "median")
    shares = [("by the clock", *_share(slow["clock"])), ("processor time of the robot's process", *_share(slow["cpu"]))]
    more = (
        f"{slow['pairs']} pairs of the same episode without a page and with one that {slow['viewers']} viewers receive;"
        f" medians {slow['without_s']['median']} s and {slow['with_s']['median']} s."
    )
    table = document(
        markdown_table(("panel", "changes", "median", "95th percentile", "longest"), rows), text,
        markdown_table(head, shares), more,
    )  # fmt: skip
    write_results(config.out, metrics, table, config)


def _row(each: dict[str, Any]) -> tuple[str, ...]:
    return (str(each["events"]), *(f"{each[name]:.0f} ms" for name in ("median_ms", "p95_ms", "longest_ms")))


def _share(each: dict[str, float]) -> tuple[str, ...]:
    low, high = (f"{100 * each[name]:.1f}" for name in ("low", "high"))
    return f"{100 * each['value']:.1f} %", f"{low} to {high} %", f"{100 * each['median']:.1f} %"


VIEWERS = 2
"""Browsers that watch while times are measured."""
QUIET_S = 0.6
"""After this time without a change everything is on the screen, seconds."""
LIMIT_MS = 200.0
"""An event is to be on the screen within this time."""
WATCHER = """
window.delays = [];
new MutationObserver((changes) => {
  for (const { target } of changes) {
    const [panel, at] = [target.id, Number(target.dataset.at)];
    requestAnimationFrame(() => setTimeout(() => {
      window.delays.push([panel, performance.timeOrigin + performance.now() - 1000 * at]);
    }));
  }
}).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-at"] });
"""
"""Notes in a page when every change of a panel has been painted: milliseconds after what it shows had happened."""


READER = """
import sys, http.cookiejar, urllib.request as web
opener = web.build_opener(web.HTTPCookieProcessor(http.cookiejar.CookieJar()))
page = opener.open(sys.argv[1])
page.read()
stream = opener.open(page.geturl() + "events")
stream.readline()
print("reading", flush=True)
while stream.readline():
    pass
"""
"""Program of a viewer that draws nothing."""


@contextmanager
def in_background(work: Callable[[], Any]) -> Iterator[threading.Thread]:
    """Do some work in another thread, as browsers need this one; errors of the work are raised at the end."""
    errors: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=guarded)
    thread.start()
    yield thread
    thread.join()
    if errors:
        raise errors[0]


def measure_delays(system: System, items: Sequence[Scenario], sensor: Sensor) -> dict[str, Any]:
    """Watch episodes in two browsers, and note when every event is on their screens.

    Args:
        system: the learned parts.
        items: the episodes.
        sensor: through which the robot sees.
    """
    delays: dict[str, list[float]] = {}
    with browser() as chromium:
        for item in items:
            with table(item, sensor) as world:
                agent = nsrecover.RecoveryAgent(system, world)
                with nsrecover.serving.live.page(agent, injector=world) as page:
                    tabs = [opened(chromium, page.url, WATCHER) for _ in range(VIEWERS)]
                    with in_background(partial(agent.run, item.plan)):
                        pass
                    time.sleep(QUIET_S)
                    for tab in tabs:
                        for panel, delay in tab.evaluate("window.delays"):
                            delays.setdefault(panel, []).append(delay)
                        tab.context.close()
    every = [delay for each in delays.values() for delay in each]
    return {
        "episodes": len(items),
        "viewers": VIEWERS,
        **_summary(every),
        "late": sum(delay > LIMIT_MS for delay in every),
        "panels": {panel: _summary(each) for panel, each in sorted(delays.items())},
    }


def measure_slowdown(system: System, items: Sequence[Scenario], sensor: Sensor, pairs: int) -> dict[str, Any]:
    """Time the same episodes without a page, and with one that two viewers watch, in turn.

    Viewers on other machines draw the page there, so here they only receive it, in processes of their own.

    Args:
        system: the learned parts.
        items: the episodes.
        sensor: through which the robot sees.
        pairs: how many times an episode is timed.

    Returns:
        The mean of the relative differences with its 95 % interval, by the clock and in processor time of the
        robot's process, and the times.
    """
    seconds: dict[bool, list[float]] = {False: [], True: []}
    cpu: dict[bool, list[float]] = {False: [], True: []}
    _timed(system, items[0], sensor, watched=True)  # what is loaded on first use
    for number, item in zip(range(pairs), cycle(items), strict=False):
        for watched in (False, True) if number % 2 else (True, False):
            spent = _timed(system, item, sensor, watched)
            seconds[watched].append(spent[0])
            cpu[watched].append(spent[1])
    return {
        "pairs": pairs,
        "viewers": VIEWERS,
        "clock": _ratio(seconds[True], seconds[False]),
        "cpu": _ratio(cpu[True], cpu[False]),
        "without_s": spread(seconds[False], 3, median=np.median),
        "with_s": spread(seconds[True], 3, median=np.median),
    }


def _timed(system: System, item: Scenario, sensor: Sensor, watched: bool) -> tuple[float, float]:
    """Seconds and processor seconds of one episode."""
    with table(item, sensor) as world, ExitStack() as viewers:
        agent = nsrecover.RecoveryAgent(system, world)
        if watched:
            page = viewers.enter_context(nsrecover.serving.live.page(agent, injector=world))
            for _ in range(VIEWERS):
                viewers.enter_context(reader(page.url))
        return _run(agent, item.plan)


@contextmanager
def reader(url: str) -> Iterator[None]:
    """A viewer in a process of its own that receives a page and draws nothing."""
    process = subprocess.Popen([sys.executable, "-c", READER, url], stdout=subprocess.PIPE, text=True)
    try:
        if process.stdout is None or process.stdout.readline().strip() != "reading":
            raise RuntimeError("the viewer could not read the page")
        yield
    finally:
        process.terminate()
        process.wait()


def _run(agent: nsrecover.RecoveryAgent, plan: Plan) -> tuple[float, float]:
    began, began_cpu = time.perf_counter(), time.process_time()
    agent.run(plan)
    return time.perf_counter() - began, time.process_time() - began_cpu


def opened(chromium: Any, url: str, script: str = "", **context: Any) -> Any:
    """A browser window of its own on a live page, connected.

    Args:
        chromium: the browser.
        url: of the page.
        script: runs before those of the page.
        context: of the window, for playwright.
    """
    tab = chromium.new_context(**context).new_page()
    tab.add_init_script(script)
    tab.goto(url)
    tab.wait_for_selector("#connection.ok")
    return tab


def _summary(delays: Sequence[float]) -> dict[str, Any]:
    return {"events": len(delays), **spread(delays, 1, median_ms=np.median, p95_ms=p95, longest_ms=max)}


def _ratio(with_page: Sequence[float], without: Sequence[float]) -> dict[str, float]:
    """By how much the first times are longer, as a share: geometric mean of the ratios and its 95 % interval."""
    logs = np.log(np.divide(with_page, without))
    half = float(stats.t.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / math.sqrt(len(logs)))
    middle = float(logs.mean())
    names = ("value", "low", "high", "median")
    values = (middle, middle - half, middle + half, float(np.median(logs)))
    return {name: round(math.expm1(value), 4) for name, value in zip(names, values, strict=True)}
