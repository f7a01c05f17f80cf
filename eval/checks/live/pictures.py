"""Screenshots of the live page for the docs, from Chromium."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import nsrecover
import nsrecover.live
from eval.checks.live.measuring import in_background, opened
from eval.checks.live.tabletop import table
from eval.common.browser import PHONE, browser, write_jpeg
from nsrecover.system import System
from sim.sensors.sensor import Sensor
from sim.tabletop.scenarios import Scenario

WIDE = (1440, 900)
WAIT_MS = 120_000


def photograph(system: System, item: Scenario, sensor: Sensor, out: Path) -> None:
    """Photograph a page on which a recovery waits for a person: on a desktop, in dark mode, on a phone; and its end.

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
            looks = {"decision": (WIDE, "light"), "dark": (WIDE, "dark"), "phone": (PHONE, "light")}
            tabs = {
                name: opened(chromium, page.url, viewport={"width": width, "height": height}, color_scheme=scheme)
                for name, ((width, height), scheme) in looks.items()
            }
            with in_background(partial(agent.run, item.plan)):
                first = next(iter(tabs.values()))
                first.wait_for_selector("#choice-do", timeout=WAIT_MS)
                first.click("text=What went wrong?")
                for name, tab in tabs.items():
                    tab.wait_for_selector("#talk li")
                    write_jpeg(tab.screenshot(), out / f"{name}.jpg")
                while agent.supervisor is page and not first.locator("#state .mark:text('done')").count():
                    if first.locator("#choice-do").count():
                        first.click("#choice-do")
                    first.wait_for_timeout(200)
            write_jpeg(first.screenshot(), out / "end.jpg")
