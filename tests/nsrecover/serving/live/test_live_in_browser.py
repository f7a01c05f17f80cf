"""The live page in Chromium: an episode, decisions, questions, several viewers, a lost connection, accessibility."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil
import pytest

import nsrecover
import nsrecover.serving.live
from nsrecover.core.episode import EpisodeStatus
from nsrecover.serving.live.serving import EXPIRES_S
from tests.nsrecover.serving.browsing import DESKTOP, PHONE, Window, violations
from tests.nsrecover.serving.live.live_worlds import PLAN, SIDE, Boxes, BoxTable, Running, at_once, pushed

LIMIT_MS = 20_000


class Viewer(Window):
    """A browser window on a live page."""

    def __init__(self, browser: Any, url: str, **context: Any) -> None:
        super().__init__(browser, url, **context)
        self.base = url.partition("/enter")[0]
        self.context.set_default_timeout(LIMIT_MS)
        self.page.wait_for_selector("#connection.ok")

    def wait_for(self, panel: str, text: str) -> None:
        self.page.locator(f"#{panel}", has_text=text).wait_for()

    def panels(self) -> dict[str, str]:
        names = ("state", "decision", "text", "scenes", "chances", "way", "search", "talk")
        return {name: self.page.locator(f"#{name}").inner_html() for name in names}

    def nothing_wrong(self) -> None:
        """No complaint in the console, and no request to anybody else."""
        assert self.complaints == []
        assert [url for url in self.asked if not url.startswith((self.base, "data:"))] == []


def agent() -> nsrecover.RecoveryAgent:
    return nsrecover.RecoveryAgent(nsrecover.geometric(), BoxTable(pushed))


def test_an_episode_is_watched_to_its_end_and_two_viewers_see_the_same(browser: Any) -> None:
    robot = agent()
    with nsrecover.serving.live.page(robot, paused=True) as page:
        one, other = Viewer(browser, page.url), Viewer(browser, page.url, viewport=PHONE)
        running = Running(robot, PLAN)
        one.wait_for("state", "paused")
        other.page.click("text=Ask me before a recovery")
        one.page.click("text=Continue")
        other.wait_for("decision", "Take this way back?")
        one.page.click("text=Why did you move the red cube?")
        other.wait_for("talk", "was not carried out")
        one.page.click("#choice-do")
        other.wait_for("state", "The robot completed the plan.")
        assert running.episode().status is EpisodeStatus.COMPLETED
        one.page.fill("#question", "what if you had not moved the red cube?")
        one.page.press("#question", "Enter")
        other.wait_for("talk", "what if you had not moved the red cube?")
        one.wait_for("talk", "what if you had not moved the red cube?")
        assert one.page.input_value("#question") == ""
        one.wait_for("way", "Put the green cube on the red cube")
        assert one.panels() == other.panels()
        assert one.page.locator("#way .failed, #way .recovery").count() == 2
        assert one.page.locator("#chances svg.spark .limit").count() == 3
        for viewer in (one, other):
            viewer.nothing_wrong()
            viewer.context.close()


@contextmanager
def frozen() -> Iterator[None]:
    """The process of the page does nothing."""
    (process,) = [each for each in psutil.Process().children() if "page_process" in " ".join(each.cmdline())]
    process.suspend()
    try:
        yield
    finally:
        process.resume()


def test_nobody_clicks_on_a_page_that_is_frozen_and_it_catches_up(browser: Any) -> None:
    robot = agent()
    with at_once(robot, approve=True) as page:
        viewer = Viewer(browser, page.url)
        running = Running(robot, PLAN)
        viewer.wait_for("decision", "Take this way back?")
        with frozen():
            viewer.page.evaluate("document.getElementById('choice-do').click()")  # it looks live still
            viewer.wait_for("connection", "last seen")
            assert viewer.page.locator("#choice-do").is_disabled()
            assert viewer.page.locator("#pause").is_enabled()
            time.sleep(EXPIRES_S)
        viewer.page.wait_for_selector("#connection.ok")
        viewer.wait_for("reply", "click again")
        assert running.goes_on  # and the robot has not moved
        assert len(robot.world.done) == 1
        viewer.page.click("#choice-do")
        viewer.wait_for("state", "The robot completed the plan.")
        assert running.episode().status is EpisodeStatus.COMPLETED
        viewer.context.close()


@pytest.mark.parametrize(("scheme", "size"), [("light", DESKTOP), ("dark", PHONE)])
def test_axe_finds_nothing_serious_and_nothing_is_too_wide(browser: Any, scheme: str, size: dict[str, int]) -> None:
    robot = agent()
    with at_once(robot, approve=True) as page:
        viewer = Viewer(browser, page.url, viewport=size, color_scheme=scheme, bypass_csp=True)
        running = Running(robot, PLAN)
        viewer.wait_for("decision", "Take this way back?")
        viewer.wait_for("search", "searched in")
        viewer.page.click("text=What went wrong?")
        viewer.wait_for("talk", "red cube")
        found = violations(viewer.page)
        assert viewer.page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        viewer.context.close()
        robot.stop()
        running.episode()
    assert found == []


def move(boxes: Boxes, name: str, onto: str) -> None:
    """A person puts a box onto another one by hand."""
    boxes[name] = (*boxes[onto][:2], boxes[onto][2] + SIDE, SIDE, SIDE, SIDE)


def answer_to(viewer: Viewer, question: str) -> str:
    """What the robot says when it is asked on its page."""
    before = viewer.page.locator("#talk li").count()
    viewer.page.fill("#question", question)
    viewer.page.press("#question", "Enter")
    viewer.page.locator("#talk li").nth(before + 1).wait_for()
    return str(viewer.page.locator("#talk li.robot").first.inner_text())


@contextmanager
def asking(browser: Any, undo_s: float = 0.0) -> Iterator[tuple[Viewer, Running, BoxTable, Any]]:
    """A viewer called Ann, a run whose recovery waits for a person, its world, and its page."""
    robot = agent()
    with at_once(robot, approve=True, undo_s=undo_s) as page:
        viewer = Viewer(browser, page.url)
        viewer.page.fill("#operator", "Ann")
        running = Running(robot, PLAN)
        viewer.wait_for("decision", "Take this way back?")
        try:
            yield viewer, running, robot.world, page
        finally:
            robot.stop()
            viewer.context.close()


def test_a_veto_and_a_repair_by_hand_with_right_answers_at_every_point(browser: Any) -> None:
    with asking(browser) as (ann, running, world, _):
        assert "waits for you" in ann.page.title()
        assert int(ann.page.evaluate("document.body.dataset.beeps")) >= 1
        card = ann.page.locator("#decision").inner_text()
        assert "1 action, touches 1 object" in card
        assert ann.page.locator("#decision svg .arrow").count() == 1
        assert "emergency stop" in ann.page.locator("#state").inner_text()
        assert "It was not carried out." in answer_to(ann, "What did you do about it?")
        assert "was not carried out" in answer_to(ann, "Why did you move the red cube?")
        ann.page.focus("#choice-do")
        ann.page.keyboard.press("Tab")
        ann.page.keyboard.press("Enter")
        ann.wait_for("decision", "no other one exists")
        assert "A person vetoed it" in answer_to(ann, "What did you do about it?")
        assert "emergency stop" in answer_to(ann, "Is it safe to reach in?")
        assert len(world.done) == 1
        move(world.boxes, "red cube", "blue cube")
        ann.page.click("#choice-look")
        ann.wait_for("state", "The robot completed the plan.")
        episode = running.episode()
        assert episode.status is EpisodeStatus.COMPLETED
        assert world.done == list(PLAN)
        decided = [(each.answer, each.by) for record in episode.records for each in record.decided]
        assert decided == [("no", "Ann"), ("look_again", "Ann")]
        ann.nothing_wrong()


def test_a_lost_network_moves_nothing_and_the_page_comes_back(browser: Any) -> None:
    with asking(browser) as (ann, running, world, _):
        ann.context.set_offline(True)
        ann.page.click("#choice-do")
        ann.wait_for("reply", "Not confirmed")
        ann.context.set_offline(False)
        ann.page.wait_for_selector("#connection.ok")
        assert running.goes_on
        assert len(world.done) == 1
        ann.page.click("#choice-do")
        ann.wait_for("reply", "Confirmed")
        assert running.episode().status is EpisodeStatus.COMPLETED


def test_of_two_operators_one_decides_and_the_other_can_take_it_back(browser: Any) -> None:
    with asking(browser, undo_s=20) as (ann, running, world, page):
        bob = Viewer(browser, page.url)
        bob.page.fill("#operator", "Bob")
        old = "const old = document.querySelector('#choice-do').form.cloneNode(true); old.lastChild.id = 'old';"
        for viewer in (ann, bob):
            viewer.page.evaluate(f"{old} document.querySelector('main').append(old)")
        ann.page.click("#choice-do")
        bob.wait_for("decision", "Ann has chosen Do it")
        bob.page.click("#old")
        bob.wait_for("reply", "Ann has decided")
        bob.page.click("#undo")
        ann.wait_for("decision", "Take this way back?")
        ann.page.locator("#choice-do").wait_for()
        bob.page.click("#choice-fix")
        bob.page.evaluate("document.querySelector('#decision').scrollIntoView()")
        ann.wait_for("decision", "Bob has chosen I will fix it")
        ann.page.reload()  # in the middle
        ann.wait_for("decision", "Bob has chosen I will fix it")
        assert ann.page.input_value("#operator") == "Ann"
        assert len(world.done) == 1
        page.desk.undo_s = 0.0
        bob.page.click("#undo")
        bob.page.click("#choice-fix")
        bob.wait_for("decision", "Put it right now")
        bob.page.click("#old")  # of a question that is over
        bob.wait_for("reply", "Not done")
        assert len(world.done) == 1
        move(world.boxes, "red cube", "blue cube")
        bob.page.click("#choice-look")
        assert running.episode().status is EpisodeStatus.COMPLETED
        assert world.done == list(PLAN)
        bob.context.close()
