"""Decisions of people about a run: pause, recoveries, answers to the robot. Usable from any thread."""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from nsrecover.errors import InvalidConfiguration
from nsrecover.serving.live.card import Card

MOST_TEXT = 500
"""Characters of a question or an answer of a person."""
MOST_NAME = 60
"""Characters of a person's name."""
UNDO_S = 5.0
"""Time in which a choice can be taken back before it is carried out, seconds."""


@dataclass(frozen=True)
class Chosen:
    """What a person has chosen.

    Attributes:
        text: the answer.
        by: the person's name; empty if it is not known.
        at: when it is carried out unless it is taken back, seconds since the epoch by the robot's clock.
    """

    text: str
    by: str = ""
    at: float = 0.0


@dataclass(frozen=True)
class OpenDecision:
    """What the run waits for.

    Attributes:
        number: different for every decision.
        question: what is asked.
        options: pairs of an answer and its words; empty if the answer is any text.
        actions: what the robot would do, in words.
        fallback: the answer if no person gives one.
        until: when the fallback is taken, seconds since the epoch by the robot's clock; None if the run waits.
        card: what a person needs to know about a recovery.
        chosen: the answer, while it can be taken back.
    """

    number: int
    question: str
    options: tuple[tuple[str, str], ...]
    actions: tuple[str, ...] = ()
    fallback: str = ""
    until: float | None = None
    card: Card | None = None
    chosen: Chosen | None = None


WAKE_S = 0.5
"""A wait is interrupted so often, seconds."""


class Desk:
    """Holds a run up while it is paused, and while a decision is open.

    Args:
        paused: whether the run is to wait before its next action.
        approve: whether every recovery waits for a person.
        on_change: called after every change, in the thread that made it.
        undo_s: time in which a choice among options can be taken back, seconds.

    Attributes:
        paused: whether the run is to wait before its next action.
        approve: whether every recovery waits for a person.
        decision: what the run waits for; None if it does not.
        waiting: whether the run waits because it is paused.
        undo_s: see there.
    """

    def __init__(
        self,
        paused: bool,
        approve: bool,
        on_change: Callable[[], None],
        undo_s: float = 0.0,
    ) -> None:
        self._changed, self.undo_s = threading.Condition(), undo_s
        self._on_change = on_change
        self.paused, self.waiting, self.approve = paused, False, approve
        self.decision: OpenDecision | None = None
        self._number = 0
        self._ended = False

    @property
    def asked(self) -> int:
        """Number of decisions so far."""
        return self._number

    def begin(self) -> None:
        """A run begins."""
        with self._changed:
            self._ended = False
        self._on_change()

    def release(self) -> None:
        """The run is to end: what waits returns, and nothing waits until the next run."""
        with self._changed:
            self._ended, self.paused = True, False
            self._changed.notify_all()

    def switch(self, *, paused: bool | None = None, approve: bool | None = None) -> None:
        """Pause or continue; let every recovery wait for a person, or not."""
        with self._changed:
            self.paused = self.paused if paused is None else paused
            self.approve = self.approve if approve is None else approve
            self._changed.notify_all()
        self._on_change()

    def hold(self) -> bool:
        """Return once the run is not paused; whether that took any time."""
        with self._changed:
            if not self.paused or self._ended:
                return False
            self.waiting = True
        self._on_change()
        with self._changed:
            self._wait(lambda: not self.paused or self._ended, None)
            self.waiting = False
        self._on_change()
        return True

    def decide(
        self,
        question: str,
        options: tuple[tuple[str, str], ...],
        actions: tuple[str, ...] = (),
        fallback: str = "",
        limit_s: float | None = None,
        card: Card | None = None,
    ) -> Chosen:
        """Ask the viewers, and wait for the first answer.

        Args:
            question: what is asked.
            options: pairs of an answer and its words; empty if the answer is any text.
            actions: what the robot would do, in words.
            fallback: the answer if no person gives one.
            limit_s: how long to wait, seconds; without a limit until there is an answer or the run is to end.
            card: what a person needs to know about a recovery.

        Returns:
            The answer, and whose it is.
        """
        with self._changed:
            until = None if limit_s is None else time.time() + limit_s
            self._number += 1
            self.decision = OpenDecision(self._number, question, options, actions, fallback, until, card)
        self._on_change()
        with self._changed:
            chosen = self._choice(until)
            self.decision = None
        self._on_change()
        return Chosen(fallback) if chosen is None else chosen

    def _choice(self, until: float | None) -> Chosen | None:
        """Wait for a choice that is not taken back; None if there is none in time, or if the run is to end."""

        def chosen() -> Chosen | None:
            return None if self.decision is None else self.decision.chosen

        while True:
            left_s = None if until is None else until - time.time()
            self._wait(lambda: chosen() is not None or self._ended, left_s)
            choice = chosen()
            if choice is None or self._ended:
                return None
            left_s = choice.at - time.time()
            if left_s > 0:
                self._wait(lambda: chosen() is None or self._ended, left_s)
            if self._ended:
                return None
            if chosen() is not None:
                return choice

    def _wait(self, done: Callable[[], bool], limit_s: float | None) -> None:
        """Return once a condition holds, or after a limit; others may change what it depends on meanwhile."""
        end = math.inf if limit_s is None else time.monotonic() + limit_s
        while not done() and (left := end - time.monotonic()) > 0:
            self._changed.wait(min(left, WAKE_S))  # Ctrl-C may reach another thread, and then does not end a wait

    def answer(self, number: int, text: str, by: str = "") -> Chosen:
        """Answer a decision; the first answer counts.

        Args:
            number: of the decision.
            text: the answer.
            by: the person's name.

        Raises:
            InvalidConfiguration: it is no longer open, or the text is none of its options.
        """
        with self._changed:
            decision = self._open(number)
            if decision.chosen is not None:
                who, what = decision.chosen.by or "another viewer", decision.chosen.text
                words = dict(decision.options).get(what, what)
                raise InvalidConfiguration(f"expected a decision that is open, found that {who} has decided: {words}")
            if decision.options and text not in dict(decision.options):
                raise InvalidConfiguration(f"expected one of {', '.join(dict(decision.options))}, found {text[:40]!r}")
            chosen = Chosen(text, by, time.time() + (self.undo_s if decision.options else 0.0))
            self.decision = replace(decision, chosen=chosen)
            self._changed.notify_all()
        self._on_change()
        return chosen

    def undo(self, number: int) -> None:
        """Take a choice back before it is carried out; anybody may.

        Raises:
            InvalidConfiguration: it is carried out already, or nothing was chosen.
        """
        with self._changed:
            decision = self._open(number)
            if decision.chosen is None:
                raise InvalidConfiguration("expected a choice that can be taken back, found none")
            self.decision = replace(decision, chosen=None)
            self._changed.notify_all()
        self._on_change()

    def _open(self, number: int) -> OpenDecision:
        if self.decision is None or self.decision.number != number:
            raise InvalidConfiguration("expected a decision that is open, found one that was made already")
        return self.decision
