"""Operators whose meaning is read off boxes: declared like those of any domain, and evaluated in a scene graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from nsrecover.core.actions import Action, Plan
from nsrecover.core.explanation import Fact
from nsrecover.core.facts import StateFact
from nsrecover.core.scene import Box, SceneGraph
from nsrecover.domains import base
from nsrecover.domains.base import And, Atom, Binding, Exists, Formula, Not, Same, State, facts_of, grounded
from nsrecover.domains.domain import Domain
from nsrecover.domains.instance import Instance
from nsrecover.domains.tabletop.relations import RELATIONS, TABLE, relations
from nsrecover.errors import InvalidAction, InvalidPlan, did_you_mean
from nsrecover.util.english import amount


@dataclass(frozen=True)
class SpatialOperator(base.Operator):
    """An operator over boxes. Its first argument moves.

    Attributes:
        promise: whether the action's promise holds, from the scene before it and the scene after it; by default,
            whether the first added fact holds after it.
        place: the moved object's box after the action (metres), where no model has learned it. None: unknown.
        conditions: further preconditions that depend on the geometry: facts, or texts, of what is wrong.
        needs_target: whether every action has to have a target box.
        relative: whether it leads to a place that depends on the moved object's own place, as "push by 5 cm" does.
        source: the object that was registered, where the operator was not declared.
    """

    promise: Callable[[SceneGraph, SceneGraph, Action], bool] | None = None
    place: Callable[[SceneGraph, Action], Box] | None = None
    conditions: Callable[[SceneGraph, Action], Iterable[Fact | str]] | None = None
    needs_target: bool = False
    relative: bool = False
    source: object = None

    @property
    def arguments(self) -> tuple[str, ...]:
        """What the arguments are called, the moved object first."""
        return tuple(parameter.variable.removeprefix("?") for parameter in self.parameters)

    def violated(self, graph: SceneGraph, action: Action) -> tuple[Fact, ...]:
        """The facts that violate the preconditions of an action in a scene; empty if it can be run."""
        at = self._binding(action)
        found = [fact for need in self.preconditions for fact in unmet(graph, need, at)]
        for fact in self.conditions(graph, action) if self.conditions else ():
            found.append(fact if isinstance(fact, Fact) else Fact(fact, ()))
        return tuple(found)

    def achieved(self, before: SceneGraph, after: SceneGraph, action: Action) -> bool:
        """Whether the promise of an action holds, from the scene before it and the scene after it."""
        if self.promise is not None:
            return self.promise(before, after, action)
        promised = self.promised(action)
        return promised is not None and related(after, promised)

    def promised(self, action: Action) -> StateFact | None:
        """The relation that an action promises; None if its operator has a promise of its own."""
        return grounded(self.effects[0].adds[0], self._binding(action)) if self.promise is None else None

    def _binding(self, action: Action) -> Binding:
        return dict(zip((parameter.variable for parameter in self.parameters), action.arguments, strict=True))


def unmet(graph: SceneGraph, need: Formula, at: Binding) -> Iterator[Fact]:
    """The facts of a scene that keep a precondition from holding.

    Args:
        graph: the scene.
        need: the precondition.
        at: variable -> object.

    Yields:
        For `Not(Exists(...))` one fact for each object that must not be: its code with the object and the other terms
        of the first atom. For an atom that has to hold, `not` with its predicate and terms.
    """
    match need:
        case Not(Exists(variable, And((Atom(predicate, (first, other)), *rest))), code) if first == variable:
            for index in RELATIONS[predicate].subjects(graph, graph.index(at[other])):
                found = {**at, variable: graph.names[index]}
                if all(holds(graph, part, found) for part in rest):
                    yield Fact(code or predicate, (graph.names[index], at[other]))
        case Not(Same(one, other)):
            if at[one] == at[other]:
                yield Fact("same", (at[one],))
        case Atom(predicate, terms):
            if not holds(graph, need, at):
                yield Fact("not", (predicate, *(at.get(term, term) for term in terms)))
        case _:
            if not holds(graph, need, at):
                yield Fact(need.code if isinstance(need, Not) and need.code else "a precondition does not hold", ())


def related(graph: SceneGraph, fact: StateFact) -> bool:
    """Whether a fact about a relation of `RELATIONS` holds in a scene.

    Raises:
        UnknownObject: an object of the fact is not in the scene.
    """
    match fact:
        case (predicate, subject, other) if predicate in RELATIONS:
            index = None if other == TABLE else graph.index(other)
            return RELATIONS[predicate].holds(graph, graph.index(subject), index)
    return False


def holds(graph: SceneGraph, formula: Formula, at: Binding) -> bool:
    """Whether a formula over the relations of `RELATIONS` holds in a scene, with objects for its free variables.

    Raises:
        UnknownObject: the formula names an object that is not in the scene.
    """
    facts = [grounded(fact, at) for fact in facts_of(formula)]
    if isinstance(formula, Atom):
        return related(graph, facts[0])
    for name in {name for fact in facts if fact[0] in RELATIONS for name in fact[1:]} - {TABLE}:
        if not name.startswith("?"):
            graph.index(name)
    instance = Instance(_RELATIONS_ONLY, dict.fromkeys(graph.names, frozenset[str]()))
    return instance.holds(facts_in(graph) if facts else frozenset(), formula, at)


def facts_in(graph: SceneGraph) -> State:
    """The facts that hold in a scene: which objects stand on which, and which stand next to each other."""
    return frozenset((edge.relation.value, edge.subject, edge.object) for edge in relations(graph))


_RELATIONS_ONLY = Domain("relations")


@dataclass(frozen=True)
class SpatialDomain(Domain):
    """A domain whose scenes are boxes on a table; its operators can be evaluated in a scene graph."""

    operators: Mapping[str, SpatialOperator] = field(default_factory=dict)

    def operator_of(self, action: Action) -> SpatialOperator:
        """The operator of an action.

        Raises:
            InvalidAction: no operator has that name, or it takes other arguments.
        """
        operator = self.operators.get(action.operator)
        if operator is None:
            raise InvalidAction(
                f"expected an operator, found {action.operator!r} in {str(action)!r}."
                f"{did_you_mean(action.operator, self.operators)}"
            )
        if len(action.arguments) != len(operator.parameters):
            raise InvalidAction(
                f"expected {amount(len(operator.parameters), 'argument')} ({', '.join(operator.arguments)}) for "
                f"{operator.name!r}, found {len(action.arguments)} in {str(action)!r}"
            )
        if len(set(action.arguments)) != len(action.arguments):
            raise InvalidAction(f"expected different objects as arguments, found {str(action)!r}")
        return operator

    def check_plan(self, plan: Plan) -> None:
        """Refuse a plan that fits no scene.

        Raises:
            InvalidAction: an operator is unknown, or takes another number of arguments.
            InvalidPlan: it stacks objects in a circle.
        """
        below: dict[str, str] = {}
        for action in plan:
            operator, moved = self.operator_of(action), action.arguments[0]
            binding = dict(zip((each.variable for each in operator.parameters), action.arguments, strict=True))
            below.pop(moved, None)
            for fact in (grounded(each, binding) for effect in operator.effects for each in effect.adds):
                if fact[:2] == ("on", moved):
                    below[moved] = fact[2]
            passed, here = [moved], below.get(moved)
            while here is not None and here != moved:
                passed.append(here)
                here = below.get(here)
            if here == moved:
                circle = " on ".join([*passed, moved])
                raise InvalidPlan(f"expected a plan that can be built, found a circle: {circle}; leave out {action}")

    def check(self, plan: Plan, graph: SceneGraph) -> None:
        """Check that every action of a plan is well formed and names objects of a scene.

        Raises:
            InvalidAction: an operator or its arguments are wrong.
            InvalidPlan: it stacks objects in a circle.
            UnknownObject: an argument is not in the scene.
        """
        self.check_plan(plan)
        for action in plan:
            operator = self.operator_of(action)
            for name in action.arguments:
                graph.index(name)
            if operator.needs_target and action.target is None:
                raise InvalidAction(
                    f"expected a target box for {str(action)!r}, found none; give Action(..., target=box)"
                )

    def instance(self, graph: SceneGraph) -> Instance:
        """The domain over the objects of a scene and the table; an object's kind is the last word of its name."""
        objects = {}
        for name in graph.names:
            kind = self.kinds.get(name.rsplit(" ", 1)[-1], base.Kind("movable"))
            objects[name] = frozenset({"movable", kind.name}) | kind.traits
        return Instance(self, {**objects, TABLE: frozenset({"table"})})

    def state(self, graph: SceneGraph) -> State:
        """The facts that hold in a scene: what stands on what, and what stands next to what."""
        return facts_in(graph)
