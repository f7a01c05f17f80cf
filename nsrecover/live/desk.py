"""Decisions of people about a run: pause, recoveries, answers to the robot. Usable from any thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from nsrecover.errors import InvalidConfiguration

MOST_TEXT = 500
"""Characters of a question or an answer of a person."""


@dataclass(frozen=True)
class Decision:
    """What the run waits for.

    Attributes:
        number: different for every decision.
        question: what is asked.
        options: pairs of an answer and its words; empty if the answer is any text.
        actions: what the robot would do, in words.
        fallback: the answer if no person gives one.
        stake: expected number of actions of the task that are done thanks to an answer.
        until: when the fallback is taken, seconds since the epoch by the robot's clock; None if the run waits.
    """

    number: int
    question: str
    options: tuple[tuple[str, str], ...]
    actions: tuple[str, ...] = ()
    fallback: str = ""
    stake: float = 1.0
    until: float | None = None


class Clock:
    """The time by which a desk waits."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def wait(self, changed: threading.Condition, done: Callable[[], bool], limit_s: float | None) -> None:
        """Return once a condition holds, or after a limit.

        Args:
            changed: held by the caller, and notified of every change; others may change what it guards meanwhile.
            done: the condition.
            limit_s: how long at most, seconds; None for any time.
        """
        changed.wait_for(done, limit_s)


class Desk:
    """Holds a run up while it is paused, and while a decision is open.

    Args:
        paused: whether the run is to wait before its next action.
        approve: whether every recovery waits for a person.
        on_change: called after every change, in the thread that made it.
        clock: by which it waits; simulations have their own.

    Attributes:
        paused: whether the run is to wait before its next action.
        approve: whether every recovery waits for a person.
        decision: what the run waits for; None if it does not.
        waiting: whether the run waits because it is paused.
    """

    def __init__(self, paused: bool, approve: bool, on_change: Callable[[], None], clock: Clock | None = None) -> None:
        self._changed = threading.Condition()
        self._on_change, self._clock = on_change, clock or Clock()
        self.paused, self.waiting, self.approve = paused, False, approve
        self.decision: Decision | None = None
        self._answer: str | None = None
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
            self._clock.wait(self._changed, lambda: not self.paused or self._ended, None)
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
        stake: float = 1.0,
    ) -> str:
        """Ask the viewers, and wait for the first answer.

        Args:
            question: what is asked.
            options: pairs of an answer and its words; empty if the answer is any text.
            actions: what the robot would do, in words.
            fallback: the answer if no person gives one.
            limit_s: how long to wait, seconds; without a limit until there is an answer or the run is to end.
            stake: expected number of actions of the task that are done thanks to an answer.

        Returns:
            The answer.
        """
        with self._changed:
            until = None if limit_s is None else self._clock.now() + limit_s
            self._number += 1
            self.decision = Decision(self._number, question, options, actions, fallback, stake, until)
            self._answer = None
        self._on_change()
        with self._changed:
            self._clock.wait(self._changed, lambda: self._answer is not None or self._ended, limit_s)
            answer = fallback if self._answer is None else self._answer
            self.decision = None
        self._on_change()
        return answer

    def answer(self, number: int, text: str) -> None:
        """Answer a decision; the first answer counts.

        Raises:
            InvalidConfiguration: it is no longer open, or the text is none of its options.
        """
        with self._changed:
            decision = self.decision
            if decision is None or decision.number != number or self._answer is not None:
                raise InvalidConfiguration("expected a decision that is open, found one that was made already")
            if decision.options and text not in dict(decision.options):
                raise InvalidConfiguration(f"expected one of {', '.join(dict(decision.options))}, found {text[:40]!r}")
            self._answer = text
            self._changed.notify_all()
