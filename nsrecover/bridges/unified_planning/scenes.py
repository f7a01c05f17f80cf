"""Mapping between scene graphs and `unified_planning` problems: relations to fluents, and actions to operators.

    mapping = SceneMapping(
        {on: Predicate.ON, on_table: Predicate.ON_TABLE, clear: Predicate.CLEAR},
        {stack: ("top", "a", "b"), lower: ("free", "a")},
    )
    problem = mapping.at(problem, graph)  # the problem with the scene as its initial state
    plan = mapping.plan(result.plan).plan  # what the robot has to do, for nsrecover's monitor

docs/symbolic.md shows a whole loop. Needs unified-planning: `pip install 'nsrecover[up]'`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from nsrecover.bridges.unified_planning import visited_states
from nsrecover.core.actions import Action, Plan
from nsrecover.core.scene import SceneGraph
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.domains.tabletop.relations import TABLE, Edge, Relation, relations
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.errors import InvalidConfiguration, InvalidPlan, did_you_mean, require_known
from nsrecover.planning.planner import BELOW_TABLE_M
from nsrecover.util.python310 import StrEnum

if TYPE_CHECKING:
    from unified_planning.model import Action as UpAction
    from unified_planning.model import Fluent, FNode, Problem, State, Type
    from unified_planning.plans import SequentialPlan


class Predicate(StrEnum):
    """Predicates of a scene graph. Missing objects, and those that fell off the table, are in no relation."""

    ON = "on"
    """(a, b): a stands on the object b."""
    ON_TABLE = "on_table"
    """(a): a stands on the table."""
    CLEAR = "clear"
    """(a): nothing stands on a, and a is not held."""
    HELD = "held"
    """(a): a is in the gripper."""
    HAND_EMPTY = "hand_empty"
    """(): nothing is in the gripper."""
    LEFT = "left"
    """(a, b): a stands to the left of b, next to it; likewise the following ones."""
    RIGHT = "right"
    FRONT = "front"
    BEHIND = "behind"


Reading = Callable[[SceneGraph], Iterable[tuple[str, ...]]]
"""Function from a scene to the tuples of object names for which a predicate holds."""

_RELATIONS = {Predicate(relation.value): relation for relation in Relation}

_ARITY = {Predicate.ON_TABLE: 1, Predicate.CLEAR: 1, Predicate.HELD: 1, Predicate.HAND_EMPTY: 0}


@dataclass(frozen=True, eq=False)
class Translated:
    """A plan of the robot for a plan of unified-planning.

    Attributes:
        plan: T actions.
        done: T + 1 numbers of actions of unified-planning's plan that are done before, between and after them; maps the
            step of a discrepancy to the argument `after` of `repair`.
    """

    plan: Plan
    done: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class SceneMapping:
    """The meaning of the fluents and actions of a problem in scenes.

    Attributes:
        fluents: Boolean fluent -> its predicate in a scene. Other fluents keep the values of the problem.
        actions: action -> operator of nsrecover, followed by the names of the parameters that are its arguments. None:
            the action is part of the following one, as picking up is of putting down.
        names: name in scenes -> name of the problem's object, where they differ.
        new_objects: type of the objects that are added for new objects of a scene; None: new objects are an error.
        domain: has the operators.

    Raises:
        InvalidConfiguration: a fluent is not Boolean or has another arity than its predicate, or an action has no
            parameter of that name.
        InvalidAction: an operator is unknown, or takes another number of arguments.
    """

    fluents: Mapping[Fluent, Predicate | Reading]
    actions: Mapping[UpAction, tuple[str, ...] | None] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    new_objects: Type | None = None
    domain: SpatialDomain = TABLETOP

    def __post_init__(self) -> None:
        for fluent, meaning in self.fluents.items():
            arity = _ARITY.get(meaning, 2) if isinstance(meaning, Predicate) else fluent.arity
            if not fluent.type.is_bool_type() or fluent.arity != arity:
                raise InvalidConfiguration(
                    f"expected a Boolean fluent of {arity} objects for {meaning}, found {fluent}; declare it so, "
                    "or give a function that reads it off a scene"
                )
        for action, step in self.actions.items():
            if step is None:
                continue
            self.domain.operator_of(Action(step[0], step[1:]))
            known = [parameter.name for parameter in action.parameters]
            for name in step[1:]:
                require_known(name, known, f"a parameter of {action.name}")

    def values(self, problem: Problem, graph: SceneGraph) -> dict[FNode, FNode]:
        """Return the values of the mapped fluents in a scene; objects that are not in it are in no relation.

        Raises:
            InvalidConfiguration: an object of the scene is not in the problem.
        """
        from unified_planning.model.fluent import get_all_fluent_exp

        self._check_known(problem, graph)
        manager = problem.environment.expression_manager
        present = _present(graph)
        found: dict[FNode, FNode] = {}
        for fluent, meaning in self.fluents.items():
            read = _read(present, meaning) if isinstance(meaning, Predicate) else set(map(tuple, meaning(graph)))
            holds = {tuple(self.names.get(name, name) for name in names) for names in read}
            for ground in get_all_fluent_exp(problem, fluent):
                found[ground] = manager.Bool(tuple(argument.object().name for argument in ground.args) in holds)
        return found

    def at(self, problem: Problem, graph: SceneGraph) -> Problem:
        """Return a copy of a problem with a scene as its initial state.

        Raises:
            InvalidConfiguration: an object of the scene is not in the problem, and there is no `new_objects`.
        """
        clone = problem.clone()
        if self.new_objects is not None:
            for name in self._unknown(problem, graph):
                clone.add_object(name, self.new_objects)
        for ground, value in self.values(clone, graph).items():
            clone.set_initial_value(ground, value)
        return clone

    def plan(self, plan: SequentialPlan) -> Translated:
        """Translate a plan of unified-planning to actions of the robot.

        Raises:
            InvalidConfiguration: an action is not mapped.
            InvalidPlan: the plan has no action for the robot, or ends in the middle of one.
        """
        actions, done = list[Action](), [0]
        for number, taken in enumerate(plan.actions):
            step = self._meaning(taken.action)
            if step is None:
                continue
            given = {p.name: v for p, v in zip(taken.action.parameters, taken.actual_parameters, strict=True)}
            actions.append(Action(step[0], tuple(self._seen_as(given[name]) for name in step[1:])))
            done.append(number + 1)
        if done[-1] != len(plan.actions):
            raise InvalidPlan(
                f"expected a plan that ends with something the robot does, found {plan.actions[-1]} as its end; "
                "map it to an operator, or add to the goal what has to become of it"
            )
        return Translated(Plan(tuple(actions)), tuple(done))

    def expected(self, problem: Problem, plan: SequentialPlan) -> tuple[frozenset[Edge], ...]:
        """Return the relations that should hold before, between and after the robot's actions.

        Args:
            problem: what the plan is for.
            plan: whose actions are mapped to T of the robot's.

        Returns:
            T + 1 sets of the relations that are mapped to fluents.

        Raises:
            InvalidPlan: the plan does not work from the initial state of the problem.
        """
        states = visited_states(problem, plan.actions, "make or repair the plan for this problem")
        return tuple(self.edges(problem, states[number]) for number in self.plan(plan).done)

    def edges(self, problem: Problem, state: State) -> frozenset[Edge]:
        """Return the relations between objects that hold in a state."""
        from unified_planning.model.fluent import get_all_fluent_exp

        found = set()
        for fluent, meaning in self.fluents.items():
            on_table = meaning is Predicate.ON_TABLE
            relation = Relation.ON if on_table else None if callable(meaning) else _RELATIONS.get(meaning)
            if relation is None:
                continue
            for ground in get_all_fluent_exp(problem, fluent):
                if state.get_value(ground).is_true():
                    first, second = (*map(self._seen_as, ground.args), TABLE)[:2]
                    found.add(Edge(first, relation, second))
        return frozenset(found)

    def _seen_as(self, item: FNode) -> str:
        """Return the name of an object in scenes."""
        name = item.object().name
        return next((scene for scene, known in self.names.items() if known == name), name)

    def _meaning(self, action: UpAction) -> tuple[str, ...] | None:
        if action in self.actions:
            return self.actions[action]
        known = [mapped.name for mapped in self.actions]
        raise InvalidConfiguration(
            f"expected an action that is mapped to an operator, or to None, found {action.name!r}."
            f"{did_you_mean(action.name, known)}"
        )

    def _unknown(self, problem: Problem, graph: SceneGraph) -> list[str]:
        known = {item.name for item in problem.all_objects}
        return [name for name in (self.names.get(n, n) for n in graph.names) if name not in known]

    def _check_known(self, problem: Problem, graph: SceneGraph) -> None:
        unknown = self._unknown(problem, graph)
        if unknown:
            raise InvalidConfiguration(
                f"expected objects of {problem.name!r} in the scene, found {unknown[0]!r}; say in names= what it is "
                "called in the problem, or in new_objects= as what type it is to be added."
                f"{did_you_mean(unknown[0], [item.name for item in problem.all_objects])}"
            )


def _present(graph: SceneGraph) -> SceneGraph:
    """Return the scene without missing objects and those that fell off the table."""
    there = np.flatnonzero(~graph.missing & (graph.boxes[:, 2] >= BELOW_TABLE_M))
    rows = there.tolist()
    return replace(
        graph,
        names=tuple(graph.names[i] for i in rows),
        visual=graph.visual[there],
        boxes=graph.boxes[there],
        seen=graph.seen[there],
        occluded=None,
        held=rows.index(graph.held) if graph.held in rows else None,
    )


def _read(graph: SceneGraph, predicate: Predicate) -> set[tuple[str, ...]]:
    """Return the tuples of object names for which a predicate holds."""
    held = None if graph.held is None else graph.names[graph.held]
    if predicate is Predicate.HELD:
        return set() if held is None else {(held,)}
    if predicate is Predicate.HAND_EMPTY:
        return {()} if held is None else set()
    edges = {edge for edge in relations(graph) if held not in (edge.subject, edge.object)}
    if predicate is Predicate.ON_TABLE:
        return {(edge.subject,) for edge in edges if edge.relation is Relation.ON and edge.object == TABLE}
    if predicate is Predicate.CLEAR:
        covered = {edge.object for edge in edges if edge.relation is Relation.ON}
        return {(name,) for name in graph.names if name not in covered and name != held}
    wanted = _RELATIONS[predicate]
    return {(edge.subject, edge.object) for edge in edges if edge.relation is wanted and edge.object != TABLE}
