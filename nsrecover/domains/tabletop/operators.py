"""The kinds of action a plan is made of. Adding one is one entry in `OPERATORS`, or `register` at run time.

An operator names its arguments (the first one moves), tells which preconditions do not hold in a scene, and whether
its promised effect holds. What it does to the geometry is learned (`nsrecover.models.transition`), given with the
action (`target`), or said by the operator (`place`), in this order of trust.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from nsrecover.core import protocols
from nsrecover.core.actions import Action, Plan
from nsrecover.core.geometry import CONTACT_M, as_box, bottom, intersects, top
from nsrecover.core.scene import Box, SceneGraph
from nsrecover.domains.tabletop.relations import (
    DIRECTIONS,
    Relation,
    beside,
    is_clear,
    landed,
    resting_on,
    stands_beside,
    supporter,
)
from nsrecover.errors import InvalidAction, InvalidConfiguration, did_you_mean

REACHED_M = 0.02
"""A target counts as reached within this distance (the bound that deviations are judged by)."""


def _cannot_lift(graph: SceneGraph, action: Action) -> tuple[str, ...]:
    """Reasons why the moved object cannot be picked up."""
    moved = graph.index(action.arguments[0])
    on_top = [graph.names[i] for i in resting_on(graph, moved)]
    return tuple(f"the {name} stands on the {graph.names[moved]}" for name in on_top)


@dataclass(frozen=True)
class Stack:
    """Put the first argument on top of the second."""

    name: str = "top"
    arguments: tuple[str, ...] = ("moved", "support")

    def violated(self, graph: SceneGraph, action: Action) -> tuple[str, ...]:
        """The moved object is clear and nothing else stands on the support."""
        moved, support = (graph.index(name) for name in action.arguments)
        others = [graph.names[i] for i in resting_on(graph, support) if i != moved]
        return _cannot_lift(graph, action) + tuple(
            f"the {name} already stands on the {graph.names[support]}" for name in others
        )

    def achieved(self, graph: SceneGraph, action: Action) -> bool:
        """The moved object rests on the support."""
        moved, support = (graph.index(name) for name in action.arguments)
        return supporter(graph, moved) == support

    def place(self, graph: SceneGraph, action: Action) -> Box:
        """In the middle of the support's top."""
        box, below = (graph.boxes[graph.index(name)] for name in action.arguments)
        return as_box(np.array([*below[:2], top(below) + box[5] / 2, *box[3:]], dtype=np.float32))


@dataclass(frozen=True)
class Beside:
    """Put the first argument next to the second, on the side the relation says, on the same surface.

    Attributes:
        gap_m: between the two, where nothing is learned.
    """

    name: str
    relation: Relation
    gap_m: float = 0.03
    arguments: tuple[str, ...] = ("moved", "reference")

    def violated(self, graph: SceneGraph, action: Action) -> tuple[str, ...]:
        """The moved object is clear, and no third object stands on that side already."""
        moved, reference = (graph.index(name) for name in action.arguments)
        others = [graph.names[i] for i in beside(graph, self.relation, reference) if i != moved]
        return _cannot_lift(graph, action) + tuple(
            f"the {name} already stands {self.relation} of the {graph.names[reference]}" for name in others
        )

    def achieved(self, graph: SceneGraph, action: Action) -> bool:
        """The moved object stands on that side of the reference."""
        moved, reference = (graph.index(name) for name in action.arguments)
        return stands_beside(graph, moved, self.relation, reference)

    def place(self, graph: SceneGraph, action: Action) -> Box:
        """In line with the reference, a gap away from it, and as high as it stands."""
        box, other = (graph.boxes[graph.index(name)] for name in action.arguments)
        axis, sign = DIRECTIONS[self.relation]
        placed = np.array([*other[:2], bottom(other) + box[5] / 2, *box[3:]], dtype=np.float32)
        placed[axis] += sign * ((other[3 + axis] + box[3 + axis]) / 2 + self.gap_m)
        return as_box(placed)


@dataclass(frozen=True)
class ToTarget:
    """Put the argument where the action's `target` box says.

    Attributes:
        needs_target: whether somebody has to say where; otherwise any collision-free place will do.
    """

    name: str
    needs_target: bool = False
    arguments: tuple[str, ...] = ("moved",)

    def violated(self, graph: SceneGraph, action: Action) -> tuple[str, ...]:
        """The moved object is clear, the target place is empty and something is there to stand on, or nearly there."""
        moved = graph.index(action.arguments[0])
        problems = _cannot_lift(graph, action)
        if action.target is None:
            return problems
        target = landed(graph, moved, action.target, REACHED_M)
        rest = np.arange(len(graph)) != moved
        blocking = np.flatnonzero(rest)[intersects(target, graph.boxes[rest])]
        problems += tuple(f"the {graph.names[i]} stands where the {graph.names[moved]} has to go" for i in blocking)
        if float(bottom(target)) > CONTACT_M:
            placed = graph.with_node(moved, target)
            if supporter(placed, moved) is None:
                problems += (f"there is nothing to put the {graph.names[moved]} on",)
        return problems

    def achieved(self, graph: SceneGraph, action: Action) -> bool:
        """The moved object stands within `REACHED_M` of the target."""
        box = graph.boxes[graph.index(action.arguments[0])]
        if action.target is None:
            return is_clear(graph, graph.index(action.arguments[0]))
        return bool(np.linalg.norm(box[:3] - np.asarray(action.target[:3])) <= REACHED_M)


OPERATORS: dict[str, protocols.Operator] = {
    operator.name: operator
    for operator in (
        Stack(),
        Beside("left", Relation.LEFT),
        Beside("right", Relation.RIGHT),
        Beside("front", Relation.FRONT),
        Beside("behind", Relation.BEHIND),
        ToTarget("free"),
        ToTarget("restore", needs_target=True),
    )
}
"""Every operator by its name in plans. The order is part of a checkpoint: append, do not insert."""


def register(operator: protocols.Operator) -> None:
    """Add an operator to `OPERATORS`, for all plans in this process.

    A plan can use it at once if the operator says where it leads (`protocols.PlacingOperator`), or its actions do
    (`target`); otherwise a checkpoint has to be trained on demonstrations that use it.

    Args:
        operator: the new one.

    Raises:
        InvalidConfiguration: something that an operator needs is missing, its name cannot be written in a plan, or
            another operator has that name already.
    """
    if isinstance(operator, type):
        raise InvalidConfiguration(
            f"expected an operator, found the class {operator.__name__}; register an instance, {operator.__name__}()"
        )
    missing = [part for part in ("name", "arguments", "violated", "achieved") if not hasattr(operator, part)]
    if missing:
        raise InvalidConfiguration(
            f"expected an operator (nsrecover.core.protocols.Operator), found {operator!r} without {', '.join(missing)}"
        )
    if not (isinstance(operator.name, str) and re.fullmatch(r"\w+", operator.name)):
        raise InvalidConfiguration(
            f"expected a name of letters, digits and _ for an operator, found {operator.name!r}; plans say name(a, b)"
        )
    if isinstance(operator.arguments, str) or not operator.arguments:
        raise InvalidConfiguration(
            f"expected what the arguments of {operator.name!r} are called, the moved object first, such as "
            f"('moved', 'support'), found {operator.arguments!r}"
        )
    if OPERATORS.setdefault(operator.name, operator) != operator:
        raise InvalidConfiguration(
            f"expected an operator's name that is not taken, found {operator.name!r}; known: {', '.join(OPERATORS)}"
        )


def operator_of(action: Action, operators: Mapping[str, protocols.Operator] = OPERATORS) -> protocols.Operator:
    """The operator of an action.

    Raises:
        InvalidAction: no operator has that name, or it takes other arguments.
    """
    operator = operators.get(action.operator)
    if operator is None:
        raise InvalidAction(
            f"expected an operator, found {action.operator!r} in {str(action)!r}."
            f"{did_you_mean(action.operator, operators)}"
        )
    if len(action.arguments) != len(operator.arguments):
        raise InvalidAction(
            f"expected {len(operator.arguments)} arguments ({', '.join(operator.arguments)}) for "
            f"{operator.name!r}, found {len(action.arguments)} in {str(action)!r}"
        )
    if len(set(action.arguments)) != len(action.arguments):
        raise InvalidAction(f"expected different objects as arguments, found {str(action)!r}")
    return operator


def moved_object(graph: SceneGraph, action: Action) -> int:
    """Index of the one object that an action moves: its first argument."""
    return graph.index(action.arguments[0])


def check_plan(plan: Plan, graph: SceneGraph) -> None:
    """Check that every action of a plan is well formed and names objects of the scene.

    Raises:
        InvalidAction: an operator or its arguments are wrong.
        UnknownObject: an argument is not in the scene.
    """
    for action in plan:
        operator = operator_of(action)
        for name in action.arguments:
            graph.index(name)
        if isinstance(operator, ToTarget) and operator.needs_target and action.target is None:
            raise InvalidAction(f"expected a target box for {str(action)!r}, found none; give Action(..., target=box)")
