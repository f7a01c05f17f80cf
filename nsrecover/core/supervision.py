"""What watches a run of the agent and may hold it up: a page for people, for instance."""

from __future__ import annotations

from typing import Any, Protocol

from nsrecover.core.actions import Action, Plan
from nsrecover.core.episode import Episode, StepRecord
from nsrecover.core.recovery import Recovery


class Stoppable(Protocol):
    """What runs: an agent with its system."""

    system: Any

    def stop(self) -> None:
        """End the run before its next action."""
        ...


class Supervisor:
    """Watches every turn of a run, and may hold it up; this one does neither.

    The agent calls the methods in the order of the loop and in the thread of the run, so they should return at once,
    except where they wait for a person. Subclasses override what they need. Scenes and comparisons are those of the
    agent's system: scene graphs, or scenes of facts.
    """

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
        """Return once an action may be checked and carried out.

        Returns:
            Whether the run was held up since the last action, so that the scene has to be observed again.
        """
        return False

    def compares(self, discrepancy: Any) -> None:
        """The scene was compared with the expected one; if it deviates, a way back is searched for next."""

    def improves(self, recovery: Recovery) -> None:
        """The search has found a way back, or a better one."""

    def turned(self, record: StepRecord) -> None:
        """A turn of the loop is over."""

    def accepts(self, record: StepRecord) -> bool:
        """Whether the way back of a turn may be taken; if not, the agent looks for another one, or asks for help."""
        return True

    def reconsiders(self, record: StepRecord) -> None:
        """The last turn again, with another way back, as the one before was not accepted; `accepts` is next."""

    def confirms(self, question: str) -> bool:
        """A person's answer to the question whether to do the rest of a task of which a part is lost for good."""
        return False

    def proposes(self, question: str, rest: Recovery, plan: Plan) -> bool:
        """The same question with what the rest is; asks `confirms`, unless a subclass does more.

        Args:
            question: asks whether to do the rest.
            rest: the way to as much of the goal as can be reached.
            plan: the plan until now.
        """
        return self.confirms(question)

    def stops(self) -> None:
        """The run is to end: what waits for a person returns. Called from any thread."""

    def ended(self, episode: Episode) -> None:
        """The run is over."""
