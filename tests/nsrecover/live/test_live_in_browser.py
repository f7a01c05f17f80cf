"""The live page in Chromium: an episode, decisions, questions, several viewers, a lost connection, accessibility."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil
import pytest

import nsrecover
import nsrecover.live
from nsrecover.core.episode import EpisodeStatus
from nsrecover.live.serving import EXPIRES_S
from tests.nsrecover.live.live_worlds import PLAN, BoxTable, Running, pushed

DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
LIMIT_MS = 20_000


class Viewer:
    """A browser window on a live page, with what it asked for and complained about."""

    def __init__(self, browser: Any, url: str, **context: Any) -> None:
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.base = url.partition("/enter")[0]
        self.context = browser.new_context(**({"viewport": DESKTOP} | context))
        self.context.set_default_timeout(LIMIT_MS)
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(url)
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


def violations(page: Any) -> list[tuple[str, str]]:
    """Serious barriers that axe finds, with an element of each."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright",
        reason="axe-playwright-python is not installed: pip install 'nsrecover[browser]'",
    )
    found = axe.Axe().run(page).response["violations"]
    serious = [each for each in found if each["impact"] in ("serious", "critical")]
    return [(each["id"], each["nodes"][0]["html"]) for each in serious]


def agent() -> nsrecover.RecoveryAgent:
    return nsrecover.RecoveryAgent(nsrecover.geometric(), BoxTable(pushed))


def test_an_episode_is_watched_to_its_end_and_two_viewers_see_the_same(browser: Any) -> None:
    robot = agent()
    with nsrecover.live.page(robot, paused=True) as page:
        one, other = Viewer(browser, page.url), Viewer(browser, page.url, viewport=PHONE)
        running = Running(robot, PLAN)
        one.wait_for("state", "paused")
        other.page.click("text=Ask me before a recovery")
        one.page.click("text=Continue")
        other.wait_for("decision", "Execute this recovery?")
        one.page.click("text=Why did you move the red cube?")
        other.wait_for("talk", "which I have not done")
        one.page.click("#choice-accept")
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


def test_a_veto_with_the_keyboard_alone(browser: Any) -> None:
    robot = agent()
    with nsrecover.live.page(robot, approve=True) as page:
        viewer = Viewer(browser, page.url)
        running = Running(robot, PLAN)
        viewer.wait_for("decision", "Execute this recovery?")
        for _ in range(12):
            viewer.page.keyboard.press("Tab")
            if viewer.page.evaluate("document.activeElement.id") == "choice-veto":
                break
        viewer.page.keyboard.press("Enter")
        viewer.wait_for("state", "a person vetoed the recovery, and no other one exists")
        assert running.episode().status is EpisodeStatus.ASKED_FOR_HELP
        viewer.nothing_wrong()
        viewer.context.close()


def test_a_question_of_the_robot_is_answered(browser: Any) -> None:
    with nsrecover.live.page() as page:
        viewer, answers = Viewer(browser, page.url), list[str]()

        class Asking:
            """Asks in place of an agent."""

            def run(self, plan: Any) -> Any:
                answers.append(page.ask("Which mug do you mean?"))
                return answers

        running = Running(Asking(), PLAN)  # type: ignore[arg-type]
        viewer.wait_for("decision", "Which mug do you mean?")
        viewer.page.fill("#answer", "the red one")
        viewer.page.press("#answer", "Enter")
        running.episode()
        viewer.wait_for("talk", "the red one")
        assert answers == ["the red one"]
        assert viewer.page.locator("#decision").inner_text().strip() == ""
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
    with nsrecover.live.page(robot, approve=True) as page:
        viewer = Viewer(browser, page.url)
        running = Running(robot, PLAN)
        viewer.wait_for("decision", "Execute this recovery?")
        with frozen():
            viewer.page.evaluate("document.getElementById('choice-accept').click()")  # it looks live still
            viewer.wait_for("connection", "last seen")
            assert viewer.page.locator("#choice-accept").is_disabled()
            assert viewer.page.locator("#pause").is_enabled()
            time.sleep(EXPIRES_S)
        viewer.page.wait_for_selector("#connection.ok")
        viewer.wait_for("reply", "give it again")
        assert running.goes_on  # and the robot has not moved
        assert len(robot.world.done) == 1
        viewer.page.click("#choice-accept")
        viewer.wait_for("state", "The robot completed the plan.")
        assert running.episode().status is EpisodeStatus.COMPLETED
        viewer.context.close()


@pytest.mark.parametrize(("scheme", "size"), [("light", DESKTOP), ("dark", DESKTOP), ("dark", PHONE)])
def test_axe_finds_nothing_serious_and_nothing_is_too_wide(browser: Any, scheme: str, size: dict[str, int]) -> None:
    robot = agent()
    with nsrecover.live.page(robot, approve=True) as page:
        viewer = Viewer(browser, page.url, viewport=size, color_scheme=scheme, bypass_csp=True)
        running = Running(robot, PLAN)
        viewer.wait_for("decision", "Execute this recovery?")
        viewer.wait_for("search", "searched in")
        viewer.page.click("text=What went wrong?")
        viewer.wait_for("talk", "red cube")
        found = violations(viewer.page)
        assert viewer.page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        viewer.context.close()
        robot.stop()
        running.episode()
    assert found == []


@pytest.mark.parametrize(("scheme", "size"), [("light", DESKTOP), ("dark", PHONE)])
def test_one_person_answers_for_many_robots_by_keyboard(browser: Any, scheme: str, size: dict[str, int]) -> None:
    robot, answers = agent(), list[str]()
    with nsrecover.live.page(robot, approve=True) as one, nsrecover.live.page() as two:
        gone = "http://127.0.0.1:9/enter?token=nobody"
        with nsrecover.live.fleet({"hall 1": one.url, "hall 2": two.url, "hall 3": gone}) as page:
            viewer = Viewer(browser, page.url, viewport=size, color_scheme=scheme, bypass_csp=True)
            running = Running(robot, PLAN)
            viewer.wait_for("first", "Execute this recovery?")
            asking = threading.Thread(target=lambda: answers.append(two.ask("Which mug?")))
            asking.start()
            viewer.wait_for("others", "s left")
            viewer.wait_for("robots", "Trying again")
            assert viewer.page.evaluate("document.documentElement.scrollWidth") <= size["width"]
            found = violations(viewer.page)
            viewer.page.focus("#first button")
            viewer.page.keyboard.press("Enter")
            viewer.wait_for("first", "Which mug?")
            assert running.episode().status is EpisodeStatus.COMPLETED
            viewer.page.fill("#first input[name=text]", "the red one")
            viewer.page.keyboard.press("Enter")
            asking.join(20)
            viewer.wait_for("first", "No robot has a question.")
            viewer.wait_for("reply", "hall 2 has the answer.")
            viewer.nothing_wrong()
            viewer.context.close()
    assert answers == ["the red one"]
    assert found == []
