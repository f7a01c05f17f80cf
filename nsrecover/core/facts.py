"""Scenes of symbolic domains as facts with certainties, their traces, and the comparison of two of them.

A fact is a predicate and objects, `("at", "mug", "sink")`; what a scene does not list does not hold. A property is what
facts exclude each other about: the place of a mug, or what is in it. `nsrecover.domains.properties` says which.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nsrecover.core.actions import Action, Plan
from nsrecover.core.discrepancy import CodeWithMeaning, Phase, Verdict
from nsrecover.core.explanation import Fact
from nsrecover.errors import InvalidPlan

StateFact = tuple[str, ...]
"""A predicate and the objects that it is about."""
Facts = frozenset[StateFact]
Property = tuple[str, str]
"""A state variable or `PLACE`, and an object."""

PLACE = "place"
"""The property that says what an object is in or on, or that the gripper holds it."""

SURE = 0.6
"""Below this certainty a property counts as unknown; two observations that disagree leave it unknown."""


@dataclass(frozen=True)
class FactScene:
    """A scene as facts: observed, believed or imagined.

    Attributes:
        facts: what holds, most likely.
        certainty: property -> probability that the facts about it are right, 0 if nothing is known; 1 where not listed.
    """

    facts: Facts
    certainty: Mapping[Property, float] = field(default_factory=dict)

    def knows(self, prop: Property) -> bool:
        """Whether the facts about a property can be relied on."""
        return self.certainty.get(prop, 1.0) >= SURE

    @property
    def unknown(self) -> tuple[Property, ...]:
        """The properties that are not known, in a fixed order."""
        return tuple(sorted(prop for prop in self.certainty if not self.knows(prop)))


@dataclass(frozen=True)
class FactTrace:
    """What a plan is expected to lead through: `graphs[t]` is the scene after the first t actions (T + 1 scenes).

    Attributes:
        plan: T actions.
        graphs: T + 1 scenes.
        goal: conditions that hold in the end; `at` is in or on, also indirectly.
        tidy: facts that the plan brings about on its way and ends again: doors that it opens and closes.
    """

    plan: Plan
    graphs: tuple[FactScene, ...]
    goal: tuple[StateFact, ...]
    tidy: tuple[StateFact, ...] = ()

    def __post_init__(self) -> None:
        if len(self.graphs) != len(self.plan) + 1:
            raise InvalidPlan(
                f"expected {len(self.plan) + 1} scenes for {len(self.plan)} actions, found {len(self.graphs)}"
            )


class FactCause(CodeWithMeaning):
    """What happened to an object of a symbolic domain. The codes are stable; docs/household_monitoring.md lists them.

    A member is its code; its docstring (`meaning`) says in words what it means.
    """

    MISSING = "missing", "It is nowhere to be seen any more."
    DROPPED = "dropped", "The robot was to carry it, and lost it."
    NOT_DONE = "not_done", "The action was to change it, and it is as it was before."
    MISPLACED = "misplaced", "The action was to put it somewhere, and it is somewhere else."
    MISTAKEN = "mistaken", "The action changed it instead of what it was to change."
    HELPED = "helped", "It already is as a later step of the plan makes it."
    BLOCKING = "blocking", "It is in the way of a later step of the plan."
    MOVED = "moved", "It is somewhere else, though no action was to move it."
    CHANGED = "changed", "It is in another state, though no action was to change that."


@dataclass(frozen=True)
class FactDeviation:
    """An object that is not as expected.

    Attributes:
        name: the object.
        cause: what happened to it.
        expected: facts about it that should hold and do not.
        observed: facts about it that hold and should not.
        probability: P(as expected): how uncertain its observation is.
        other: the object that explains the cause, if there is one: the one that is blocked, or was mistaken.
        subgoal: for `helped`, the number of plan steps after which this is right.
        since: number of the action (from 0) after which it was noticed first; None: before the first.
    """

    name: str
    cause: FactCause
    expected: tuple[StateFact, ...]
    observed: tuple[StateFact, ...]
    probability: float = 0.0
    other: str | None = None
    subgoal: int | None = None
    since: int | None = None


@dataclass(frozen=True)
class Unknown:
    """A property that nobody can tell and that matters; `property` is a state variable, or `PLACE`."""

    name: str
    property: str

    def __str__(self) -> str:
        return f"{self.name}: {self.property}"


class PlanFault(CodeWithMeaning):
    """What is wrong with a plan before it is carried out. The codes are stable.

    A member is its code; its docstring (`meaning`) says in words what it means.
    """

    WRONG_OBJECT = "wrong_object", "With another object in one step, or from it on, the plan works."
    WRONG_ORDER = "wrong_order", "With one step at another place, the plan works."
    MISSING_STEP = "missing_step", "With further steps at one place, the plan works."
    DESTROYS = "destroys", "A step makes the goal unreachable."
    UNREACHABLE = "unreachable", "No plan reaches the goal from the scene as it is."
    FAILS = "fails", "A step cannot be done, or the goal does not hold in the end, and no small change helps."


@dataclass(frozen=True)
class PlanProblem:
    """What is wrong with a plan.

    Attributes:
        fault: the stable code.
        step: number of the step that it is about, from 0.
        steps: steps that are missing there; for `wrong_order` the step that is misplaced.
        objects: for `wrong_object` the wrong and the right one.
        unmet: conditions that are not met because of it: of the step, or else of the goal.
    """

    fault: PlanFault
    step: int
    steps: tuple[Action, ...] = ()
    objects: tuple[str, ...] = ()
    unmet: tuple[Fact, ...] = ()


@dataclass(frozen=True, eq=False)
class FactDiscrepancy:
    """The comparison of an expected with an observed scene; `nsrecover.Discrepancy` for symbolic domains.

    Attributes:
        step: number of the action in the plan (from 0) before or after which it was made.
        phase: before or after that action.
        action: the action.
        expected: the imagined scene.
        observed: the belief about the scene: what is seen, and what is remembered.
        deviations: the objects that are not as expected, and how.
        unmet: conditions of the action that do not hold (only before an action).
        missing_to_tell: what would have to be seen for a verdict.
        plan_problem: why the rest of the plan does not lead to its goal (only before an action).
        cause: the smallest set of deviating objects without which the plan would have reached the goal, in the domain's
            simulation; empty if it reaches it anyway, or if it would not even without any.
        looks: number of observations that the verdict is based on.
    """

    step: int
    phase: Phase
    action: Action
    expected: FactScene
    observed: FactScene
    deviations: tuple[FactDeviation, ...] = ()
    unmet: tuple[Fact, ...] = ()
    missing_to_tell: tuple[Unknown, ...] = ()
    plan_problem: PlanProblem | None = None
    cause: tuple[str, ...] = ()
    looks: int = 1

    def __bool__(self) -> bool:
        return self.verdict is Verdict.DEVIATING

    @property
    def verdict(self) -> Verdict:
        """Whether the scene is as expected, deviates, or cannot be judged."""
        if self.deviations or self.unmet or self.plan_problem:
            return Verdict.DEVIATING
        return Verdict.CANNOT_TELL if self.missing_to_tell else Verdict.AS_EXPECTED

    @property
    def as_expected(self) -> bool:
        """Whether nothing deviates and everything that matters is known."""
        return self.verdict is Verdict.AS_EXPECTED

    @property
    def deviating(self) -> tuple[str, ...]:
        """Names of the deviating objects."""
        return tuple(each.name for each in self.deviations)
