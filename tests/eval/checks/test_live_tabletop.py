"""The simulated tabletop behind its live page: faults on demand, and what is measured and shown in docs/."""

from typing import Any

import numpy as np
import pytest

import nsrecover
import nsrecover.serving.live
from eval.checks.live.__main__ import LiveConfig, measure
from eval.checks.live.measuring import _ratio, opened, reader
from eval.checks.live.tabletop import table
from eval.common.browser import MOST_BYTES
from nsrecover.errors import InvalidConfiguration
from sim.sensors.sensor import EXACT
from sim.tabletop.faults import FAULTS
from sim.tabletop.scenarios import scenario
from tests.commands import ROOT
from tests.nsrecover.serving.live.live_worlds import Client, Running

SCENE = scenario("helper", 0)


def test_a_viewer_that_draws_nothing_receives_the_page() -> None:
    with nsrecover.serving.live.page() as page, reader(page.url):
        pass
    with pytest.raises(RuntimeError, match="could not read the page"), reader(page.url):
        pass


def test_a_fault_from_the_page_is_reported_within_one_step() -> None:
    with table(SCENE, EXACT, faults=False) as world:
        agent = nsrecover.RecoveryAgent(nsrecover.load("tabletop"), world)
        with nsrecover.serving.live.page(agent, paused=True, injector=world) as page:
            viewer = Client(page.url)
            running = Running(agent, SCENE.plan)
            viewer.wait_for("paused", "state")
            assert "displaced" in viewer.wait_for("Let it happen", "faults")
            moved = SCENE.plan[1].arguments[0]  # waits on the table during the first action
            assert viewer.do("inject", fault="displaced", name=moved).status_code == 200
            viewer.do("stop")  # the run ends before its first action, the fault waits
            assert running.episode().records == ()
            episode = agent.run(SCENE.plan)
            cameras = viewer.wait_for("data:image/jpeg", "cameras")
            assert cameras.count("data:image/jpeg") == 2
            assert "<audio" in viewer.wait_for("<audio", "sound")
    assert [fault.kind for fault in world.struck] == ["displaced"]
    assert moved in episode.records[0].discrepancy.deviating
    assert all(record.discrepancy.as_expected for record in episode.records[1:])


def test_a_fault_chosen_by_a_click_is_reported_within_one_step(browser: Any) -> None:
    moved = SCENE.plan[1].arguments[0]  # waits on the table during the first action
    with table(SCENE, EXACT, faults=False, sound=False) as world:
        agent = nsrecover.RecoveryAgent(nsrecover.load("tabletop"), world)
        with nsrecover.serving.live.page(agent, paused=True, approve=True, injector=world) as page:
            tab = opened(browser, page.url)
            running = Running(agent, SCENE.plan)
            tab.locator("#state", has_text="paused").wait_for()
            tab.select_option("#fault", "displaced")
            tab.select_option("#on", moved)
            tab.click("#inject")
            tab.locator("#talk", has_text="strikes").wait_for()
            tab.click("text=Continue")
            tab.locator("#decision", has_text="Take this way back?").wait_for()  # holds the run after the first step
            assert moved in tab.locator("#text").inner_text()
            done = [entry.get_attribute("class") for entry in tab.locator("#way li").all()]
            assert done[0] == "failed"
            assert done[1] == "proposed"
            tab.click("#stop")
            running.episode()
    assert [fault.kind for fault in world.struck] == ["displaced"]


def test_every_fault_can_be_asked_for() -> None:
    with table(SCENE, EXACT, faults=False, sound=False) as world:
        assert set(world.faults) == set(FAULTS)
        for kind in FAULTS:
            assert "strikes" in world.inject(kind, "")
        world.execute(SCENE.plan[0])
        struck = {fault.kind for fault in world.struck}
        waiting = {each.kind for each in world._wanted}
        assert struck | waiting == set(FAULTS)
        assert not struck & waiting
        assert len(struck) >= 5
        with pytest.raises(InvalidConfiguration, match="expected a fault"):
            world.inject("earthquake", "")
        with pytest.raises(InvalidConfiguration, match="expected an object"):
            world.inject("push", "moon")


def test_a_slowdown_is_a_ratio_with_its_interval() -> None:
    plain = np.array([1.0, 2.0, 3.0, 4.0])
    assert _ratio(plain * 1.1, plain) == pytest.approx({"value": 0.1, "low": 0.1, "high": 0.1, "median": 0.1})
    apart = _ratio(plain * [1.0, 1.2, 1.0, 1.2], plain)
    assert apart["low"] < 0 < apart["value"] < apart["high"]


@pytest.mark.parametrize("wrong", [{"repeats": 1}, {"episodes": 0}])
def test_settings_of_the_live_page_that_make_no_sense_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InvalidConfiguration, match="expected at least"):
        measure(LiveConfig(**wrong), EXACT)


def test_the_live_page_in_docs_shows_what_was_measured() -> None:
    table_text = (ROOT / "results" / "live" / "table.md").read_text()
    shown = (ROOT / "docs" / "live.md").read_text().splitlines()
    assert [line for line in table_text.splitlines() if line not in shown] == []
    pictures = list((ROOT / "docs" / "live").glob("*.jpg"))
    assert {each.stem for each in pictures} == {"decision", "looks", "end"}
    assert all(each.stat().st_size <= MOST_BYTES for each in pictures)
