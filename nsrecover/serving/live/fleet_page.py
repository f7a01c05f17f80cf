"""One page for the questions of many robots, in the order in which one person should answer them."""

from __future__ import annotations

import logging
import re
import statistics
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nsrecover.errors import InvalidConfiguration
from nsrecover.serving.live import panels
from nsrecover.serving.live.desk import MOST_NAME, MOST_TEXT
from nsrecover.serving.live.order import Stake, order, reason
from nsrecover.serving.live.robots import Robot, RobotQuestion
from nsrecover.serving.live.serving import PageServer
from nsrecover.serving.reports.model import MarkedAs

FIRST_S = 10.0
"""Assumed time of one answer before there are any, seconds."""
SHORTEST_S, LONGEST_S = 1.0, 120.0
"""Answers count as at least, and at most this long; who takes longer was away, seconds."""
KEPT = 9
"""Number of the last answers whose median is the time of one answer."""
MOST_ROBOTS = 200
REDRAWN_S = 0.1
"""Least time between two drawings, seconds."""


@dataclass(frozen=True)
class Asking:
    """An open question of a robot; `key` is its own among all questions."""

    robot: str
    question: RobotQuestion
    key: str


STAYS = "It arrived first and stays here for a moment."
"""Why a question is in front although another one is more valuable."""


class FleetPage:
    """Follows many robots and asks one person; `nsrecover.serving.live.fleet` makes one.

    The question in front stays there for the time of one answer, whatever else is asked, so that it can be read.

    Args:
        server: shows the panels and passes on what the person wants.
        urls: name of each robot -> address of its live page, with the token.

    Raises:
        InvalidConfiguration: there is no robot, there are too many, or an address is not that of a live page.
    """

    def __init__(self, server: PageServer, urls: Mapping[str, str]) -> None:
        if not 1 <= len(urls) <= MOST_ROBOTS:
            raise InvalidConfiguration(f"expected 1 to {MOST_ROBOTS} robots, found {len(urls)}")
        self._board = server
        self.url = server.url
        """Address with the token, to be opened in a browser."""
        self._changed, self._closed, self._guard = threading.Event(), threading.Event(), threading.Lock()
        self._taken: deque[float] = deque(maxlen=KEPT)
        self._given: deque[str] = deque(maxlen=KEPT)
        self._front, self._since, self._last_answer = "", 0.0, 0.0
        self._shown: dict[str, object] = {}
        self._robots = [Robot(name, url, self._changed.set) for name, url in urls.items()]
        self._keys = {robot.name: f"{number}-" for number, robot in enumerate(self._robots)}
        server.command, server.report = self.command, self._no_report
        self._painter = threading.Thread(target=self._paint, name="painter of the fleet's page", daemon=True)
        self._painter.start()

    def close(self) -> None:
        """Follow no longer; the robots are not affected."""
        for robot in self._robots:
            robot.close()
        self._closed.set()
        self._changed.set()
        self._painter.join()

    @property
    def answer_s(self) -> float:
        """Time that one answer takes this person, seconds: the median of the last ones."""
        return statistics.median(self._taken) if self._taken else FIRST_S

    def questions(self) -> list[Asking]:
        """The open questions in the order in which to answer them."""
        return self._ordered()[0]

    def command(self, name: str, fields: Mapping[str, str]) -> str:
        """Pass an answer on to its robot.

        Args:
            name: of the command.
            fields: robot, number of the question, and choice or text.

        Returns:
            What to answer to the person.

        Raises:
            InvalidConfiguration: it is no answer, or the robot does not take it, for instance since it came too late.
        """
        robot = next((each for each in self._robots if each.name == fields.get("robot")), None)
        number = fields.get("number", "")
        given = {each: fields[each].strip()[:MOST_TEXT] for each in ("choice", "text") if fields.get(each, "").strip()}
        known = name == "undo" or (name == "answer" and given)
        if not known or robot is None or not number.isdecimal() or len(number) > 16:
            raise InvalidConfiguration("expected an answer to a robot of this page, found another one")
        before = robot.question
        try:
            said = robot.send(name, {"number": number, "by": fields.get("by", "")[:MOST_NAME], **given})
            options = dict(before.options) if before is not None else {}
            words = options.get(given.get("choice", ""), given.get("text", ""))
            self._note(
                f"{robot.name}: {words or 'answered' if name == 'answer' else 'taken back'}.", counts=bool(given)
            )
        except InvalidConfiguration as problem:
            self._note(f"{robot.name}: {problem}.", counts=False)
            raise
        return said

    def _note(self, text: str, counts: bool) -> None:
        with self._guard:
            now = time.monotonic()
            if counts and self._front:
                took = now - max(self._since, self._last_answer)
                self._taken.append(min(max(took, SHORTEST_S), LONGEST_S))
            self._last_answer = now
            self._given.append(text)
        self._changed.set()

    def _asking(self, chosen: bool) -> dict[str, Asking]:
        """The questions of the robots that are open, or of which the answer can be taken back."""
        asking = {}
        for robot in self._robots:
            if (question := robot.question) is not None and chosen == (question.chosen is not None):
                key = f"{self._keys[robot.name]}{question.number}-"
                asking[key] = Asking(robot.name, question, key)
        return asking

    def _ordered(self) -> tuple[list[Asking], str]:
        """The open questions in order, and why the first one is first."""
        asking = self._asking(chosen=False)
        now = time.time()
        stakes = {
            key: Stake(each.question.stake, None if each.question.until is None else each.question.until - now)
            for key, each in asking.items()
        }
        with self._guard:
            answer_s, best = self.answer_s, order(stakes, self.answer_s)
            found = best
            if self._front in asking and time.monotonic() - self._since < answer_s:
                found = [self._front, *order({k: v for k, v in stakes.items() if k != self._front}, answer_s)]
            elif found[:1] != [self._front]:
                self._front, self._since = found[0] if found else "", time.monotonic()
        stays = found[:1] != best[:1]
        why = "" if not found else STAYS if stays else reason(stakes, found, answer_s)
        return [asking[key] for key in found], why

    # --- drawing

    def _paint(self) -> None:
        while not self._closed.is_set():
            self._changed.clear()
            try:
                self._draw()
            except Exception:  # one robot's text must not keep the others from the person
                logging.getLogger("nsrecover.serving.live").exception("the page could not be drawn")
            self._closed.wait(REDRAWN_S)
            self._changed.wait(1.0)

    def _draw(self) -> None:
        """Draw the panels that have changed."""
        asking, why = self._ordered()
        first = asking[0] if asking else None
        given = tuple(self._given)
        waiting = {each.robot for each in asking}
        robots = [
            (robot.name, *_marked(robot, robot.name in waiting), re.sub(r"\s+", " ", robot.text), robot.safety)
            for robot in self._robots
        ]
        chosen = list(self._asking(chosen=True).values())
        self._show("chosen", chosen, lambda: panels.render("chosen", asking=chosen))
        self._show("first", (first, why), lambda: panels.render("first", asking=first, reason=why))
        self._show("others", asking[1:], lambda: panels.render("others", asking=asking[1:]))
        self._show("robots", robots, lambda: panels.render("robots", robots=robots))
        self._show("given", given, lambda: panels.render("given", given=given, answer_s=self.answer_s))

    def _show(self, name: str, seen: object, html: Callable[[], str]) -> None:
        """Draw a panel if what it shows has changed."""
        if name not in self._shown or self._shown[name] != seen:
            self._board.show({name: html()}, time.time())
            self._shown[name] = seen

    def _no_report(self) -> str:
        raise InvalidConfiguration("expected a report of one robot, found the page of many; open the robot's own page")


def _marked(robot: Robot, waits: bool) -> tuple[MarkedAs, str]:
    """Mark of a robot, and its state in a word or two."""
    if not robot.connected:
        return MarkedAs.ERROR, robot.word
    return (MarkedAs.DOUBT, "waits for you") if waits else (MarkedAs.OK, robot.word)
