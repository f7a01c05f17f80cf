"""A supervisor that lets people decide about a run at a desk, and knows what depends on their answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nsrecover.core.actions import Action
from nsrecover.core.sessions.requests import Answer, Decision, Question
from nsrecover.core.sessions.supervision import Supervisor
from nsrecover.live.desk import Desk

AGREES = 0.5
"""Prior probability that a person wants the rest of a task of which a part is lost."""
YES_NO = (("yes", "Yes"), ("no", "No"))
ACCEPT, VETO = "accept", "veto"


class Deciding(Supervisor):
    """Asks the people at a desk.

    Args:
        desk: where the run waits for them.
        answer_s: time after which a question counts as not answered, seconds. Recoveries wait without a limit.
        heading: puts an action into words.
    """

    def __init__(self, desk: Desk, answer_s: float, heading: Callable[[Action], str] = str) -> None:
        self.desk, self._answer_s, self._heading_of = desk, answer_s, heading

    approves = True

    def decides(self, decision: Decision[Any]) -> Answer:
        """Ask the people; the robot stands still until they answer."""
        if decision.question is Question.APPROVE:
            return Answer.YES if self.accepts(decision) else Answer.NO
        rest, plan = decision.recovery, decision.plan
        actions = tuple(map(self._heading_of, (*rest.actions, *plan.actions[rest.resumes_at(len(plan)) :])))
        return Answer.YES if self._agrees(decision.text, actions, AGREES * len(actions)) else Answer.NO

    def accepts(self, decision: Decision[Any]) -> bool:
        """Ask whether to take a recovery, if people want to be asked."""
        recovery, plan = decision.recovery, decision.plan
        if not self.desk.approve:
            return True
        # without actions of its own, the plan goes on at another step
        actions = recovery.actions or plan.actions[recovery.resumes_at(len(plan)) :][:1]
        answer = self.desk.decide(
            "Execute this recovery?",
            ((ACCEPT, "Accept"), (VETO, "Veto")),
            tuple(map(self._heading_of, actions)),
            fallback=VETO,
            stake=recovery.actions_left(len(plan)),
        )
        return answer == ACCEPT

    def asks(self, question: str, stake: float = 1.0) -> str:
        """Ask for any text; empty without an answer in time."""
        return self.desk.decide(question, (), limit_s=self._answer_s, stake=stake)

    def stops(self) -> None:
        """Let what waits go on."""
        self.desk.release()

    def _agrees(self, question: str, actions: tuple[str, ...], stake: float) -> bool:
        answer = self.desk.decide(question, YES_NO, actions, fallback="no", limit_s=self._answer_s, stake=stake)
        return answer == "yes"
