"""A supervisor that lets people decide about a run at a desk, and knows what depends on their answers."""

from __future__ import annotations

from collections.abc import Callable

from nsrecover.core.actions import Action
from nsrecover.core.episode import Decided
from nsrecover.core.sessions.requests import Answer, AnyDecision, Question
from nsrecover.core.sessions.supervision import Supervisor
from nsrecover.serving.live.card import Card
from nsrecover.serving.live.desk import Chosen, Desk

AGREES = 0.5
"""Prior probability that a person wants the rest of a task of which a part is lost."""
YES, NO, DO, ANOTHER, FIX, LOOK, STOP = "yes", "no", "do", "another", "fix", "look", "stop"
YES_NO = ((YES, "Yes"), (NO, "No"))
CHOICES = ((DO, "Do it"), (ANOTHER, "Another way"), (FIX, "I will fix it, then look again"), (STOP, "Stop"))
FIXED = ((LOOK, "I have fixed it: look again"), (STOP, "Stop"))
ANSWERS = {YES: Answer.YES, DO: Answer.YES, LOOK: Answer.LOOK_AGAIN}
"""Choice -> answer; the others are a no."""


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

    def decides(self, decision: AnyDecision) -> Decided:
        """Ask the people; the robot stands still until they answer."""
        if decision.question is Question.APPROVE:
            return self.accepts(decision)
        rest, plan = decision.recovery, decision.plan
        actions = tuple(map(self._heading_of, (*rest.actions, *plan.actions[rest.resumes_at(len(plan)) :])))
        stake, limit_s = AGREES * len(actions), self._answer_s
        return self._decided(self.desk.decide(decision.text, YES_NO, actions, NO, limit_s, stake))

    def accepts(self, decision: AnyDecision) -> Decided:
        """Ask whether to take a recovery, if people want to be asked."""
        recovery, plan = decision.recovery, decision.plan
        if not self.desk.approve:
            return Decided(Answer.YES)
        # without actions of its own, the plan goes on at another step
        actions = recovery.actions or plan.actions[recovery.resumes_at(len(plan)) :][:1]
        stake, texts = recovery.actions_left(len(plan)), tuple(map(self._heading_of, actions))
        question = "Take this way back?" if recovery.actions else "Go on with this step?"
        chosen = self.desk.decide(question, CHOICES, texts, stake=stake, card=self.card(decision))
        if chosen.text == FIX:
            chosen = self.repaired("Put it right now: the robot stands still until you say that it may look.")
        return self._decided(chosen)

    def card(self, decision: AnyDecision) -> Card | None:
        """What people need to know about a recovery; nothing is known here."""
        return None

    def ends(self, by: str) -> None:
        """A person wants the run to end."""

    def asks(self, question: str, stake: float = 1.0) -> Chosen:
        """Ask for any text; empty without an answer in time."""
        return self.desk.decide(question, (), limit_s=self._answer_s, stake=stake)

    def stops(self) -> None:
        """Let what waits go on."""
        self.desk.release()

    def repaired(self, question: str, limit_s: float | None = None) -> Chosen:
        """Wait until a person has put something right, and the robot may look again."""
        return self.desk.decide(question, FIXED, limit_s=limit_s)

    def _decided(self, chosen: Chosen) -> Decided:
        if chosen.text == STOP:
            self.ends(chosen.by)
        return Decided(ANSWERS.get(chosen.text, Answer.NO), chosen.by)
