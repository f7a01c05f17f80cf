"""Screenshots of the live page for the docs, from Chromium."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import nsrecover
import nsrecover.live
from eval.checks.live.measuring import in_background, opened
from eval.checks.live.tabletop import table
from eval.common.browser import browser, write_jpeg, write_looks
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
        with nsrecover.live.page(agent, title=title, approve=True, injector=world) as page:
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
