"""How scenes of facts are perceived and compared: rules, and protocols of what can be replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import PlanProblem, Unknown
from nsrecover.core.facts import FactScene, Property, StateFact
from nsrecover.domains.base import State
from nsrecover.util.python310 import Self

SeenT_contra = TypeVar("SeenT_contra", contravariant=True)


class FactPerceiver(Protocol[SeenT_contra]):
    """Turns observations into scenes of facts; what one of them does not show has certainty 0."""

    def __call__(self, observation: SeenT_contra) -> FactScene:
        """The scene that an observation shows.

        Raises:
            InvalidObservation: the observation cannot be used.
        """
        ...


@runtime_checkable
class ExpectingPerceiver(Protocol):
    """A perceiver that uses what should be seen; the monitor says so before the first observation of a step or check.

    Each further observation then says of states what all of them show together.
    """

    def expect(self, before: State, expected: State, doubted: Mapping[Property, int]) -> None:
        """Say what was believed before the last action, what should hold now, and what failures speak against.

        `doubted` has the number of actions that have failed as if a state was otherwise.
        """
        ...


@runtime_checkable
class ForkingPerceiver(ExpectingPerceiver, FactPerceiver[SeenT_contra], Protocol[SeenT_contra]):
    """An expecting perceiver that can be copied, for frames that are not to be remembered."""

    def fork(self) -> Self:
        """An independent copy."""
        ...


class Lookahead(Protocol):
    """Says before an action what would go wrong later; `nsrecover.planning.symbolic.lookahead` has one."""

    def problem(
        self, state: State, actions: Sequence[Action], goal: Sequence[StateFact], first: int
    ) -> PlanProblem | None:
        """What is wrong with the rest of a plan, whose first action has the number `first`; None if it works."""
        ...

    def needed(self, scene: FactScene, actions: Sequence[Action], goal: Sequence[StateFact]) -> tuple[Unknown, ...]:
        """What has to be known before the first of some actions is done, because it cannot be undone."""
        ...


@dataclass(frozen=True)
class FactRules:
    """How scenes of facts are compared.

    Attributes:
        goal: conditions that hold in the end; None: what the plan achieves.
        assumed: the facts for which the plan was made, such as those before a successful demonstration (Yu et al.,
            "Scene graph-guided proactive replanning", section II-C); None: those that are seen.
        lookahead: says before an action what would go wrong later; None: only the conditions of the next action count.
        check: whether conditions are checked before actions at all; False for comparisons.
        memory: whether what is not seen is remembered; False for comparisons.
        visits: whether the place of an action that is done elsewhere than the last one is looked at first, the places
            of the goal when all is done, and every place for what is lost; for robots that see only what is near.
    """

    goal: tuple[StateFact, ...] | None = None
    assumed: frozenset[StateFact] | None = None
    lookahead: Lookahead | None = None
    check: bool = True
    memory: bool = True
    visits: bool = False
