"""Listeners of a session, and supervisors of an agent's run, such as a page for people."""

from __future__ import annotations

from typing import Any, Protocol

from nsrecover.core.actions import Action, Plan
from nsrecover.core.discrepancy import AnyDiscrepancy
from nsrecover.core.episode import AnyEpisode, AnyRecord, Decided
from nsrecover.core.recovery import AnyRecovery
from nsrecover.core.sessions.requests import Answer, AnyDecision, Question, Stopped


class Listener:
    """Follows a session as it works; this one does nothing.

    It may not change anything. A session that is pickled loses its listener.
    """

    def compares(self, discrepancy: AnyDiscrepancy) -> None:
        """The scene was compared with the expected one; if it deviates, a recovery is searched for next."""

    def searches(self) -> None:
        """A search for a recovery begins, which may take as long as its budget."""

    def improves(self, recovery: AnyRecovery) -> None:
        """The search has found a recovery, or a better one."""

    def turned(self, record: AnyRecord) -> None:
        """A turn is over, but for a person's decision about its recovery."""

    def reconsiders(self, record: AnyRecord) -> None:
        """The last turn again, with another recovery, as the one before was vetoed."""

    def recorded(self, record: AnyRecord) -> None:
        """A turn is over and belongs to the episode."""

    def cancels(self) -> bool:
        """Whether a search for a recovery should end now, with the best way so far.

        If there is none yet, the session asks to look again.
        """
        return False


class Stops(Protocol):
    """What runs."""

    def stop(self, reason: str = "") -> None:
        """End the run before its next action; the reason says who wanted that."""
        ...


class Stoppable(Stops, Protocol):
    """An agent with its system."""

    system: Any


class Supervisor(Listener):
    """Follows every turn of a run, and may hold it up; this one does neither.

    The agent calls the methods in the order of the loop and in the thread of the run, so they should return at once,
    except where they wait for a person. Subclasses override what they need.
    """

    approves = False
    """Whether it is asked before every recovery is taken."""

    def begins(self, agent: Stoppable, plan: Plan, start: Any) -> None:
        """A run begins, after its first observation.

        Args:
            agent: the agent that carries out the plan.
            plan: the plan.
            start: the first scene.
        """

    def observes(self, observation: Any) -> None:
        """The world was observed, for the first time or again."""

    def held(self, action: Action) -> bool:
        """Return once an action may be carried out.

        Returns:
            Whether the run was held up since the last action, so that the scene has to be observed again.
        """
        return False

    def decides(self, decision: AnyDecision) -> Answer | Decided:
        """A person's answer, and whose it is; this one takes every recovery, and gives nothing up."""
        return Answer.YES if decision.question is Question.APPROVE else Answer.NO

    def helps(self, stopped: Stopped) -> Decided | None:
        """What the person decided who has put right what the run stopped for, so that it goes on; this one does not."""
        return None

    def stops(self) -> None:
        """The run should end: what waits for a person returns. Called from any thread."""

    def ended(self, episode: AnyEpisode) -> None:
        """The run is over."""
