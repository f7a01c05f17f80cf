"""A supervisor that lets people decide about a run at a desk, and knows what depends on their answers."""

from __future__ import annotations

from collections.abc import Callable

from nsrecover.core.actions import Action, Plan
from nsrecover.core.episode import StepRecord
from nsrecover.core.recovery import Recovery
from nsrecover.core.supervision import Supervisor
from nsrecover.live.desk import Desk

AGREES = 0.5
"""Probability that a person wants the rest of a task of which a part is lost."""
YES_NO = (("yes", "Yes"), ("no", "No"))
ACCEPT, VETO = "accept", "veto"


class Deciding(Supervisor):
    """Asks the people at a desk.

    Args:
        desk: where the run waits for them.
        answer_s: time after which a question counts as not answered, seconds. Ways back wait for any time.
        heading: puts an action into words.
    """

    def __init__(self, desk: Desk, answer_s: float, heading: Callable[[Action], str] = str) -> None:
        self.desk, self._answer_s, self._heading_of = desk, answer_s, heading

    def accepts(self, record: StepRecord) -> bool:
        """Ask whether to take a way back, if people want to be asked; the robot stands still until they answer."""
        recovery = record.recovery
        if not self.desk.approve or recovery is None or not recovery.actions:
            return True
        answer = self.desk.decide(
            "Take this way back?",
            ((ACCEPT, "Accept"), (VETO, "Veto")),
            tuple(map(self._heading_of, recovery.actions)),
            fallback=VETO,
            stake=recovery.actions_left(len(record.plan)),
        )
        return answer == ACCEPT

    def proposes(self, question: str, rest: Recovery, plan: Plan) -> bool:
        """Ask whether to do the rest of the task, which is not done without an answer."""
        actions = tuple(map(self._heading_of, (*rest.actions, *plan.actions[rest.resumes_at(len(plan)) :])))
        return self._agrees(question, actions, AGREES * len(actions))

    def confirms(self, question: str) -> bool:
        """Ask whether to do the rest of the task."""
        return self._agrees(question, (), 1.0)

    def asks(self, question: str, stake: float = 1.0) -> str:
        """Ask for any text; empty if nobody answers in time."""
        return self.desk.decide(question, (), limit_s=self._answer_s, stake=stake)

    def stops(self) -> None:
        """Let what waits go on."""
        self.desk.release()

    def _agrees(self, question: str, actions: tuple[str, ...], stake: float) -> bool:
        answer = self.desk.decide(question, YES_NO, actions, fallback="no", limit_s=self._answer_s, stake=stake)
        return answer == "yes"
