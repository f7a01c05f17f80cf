"""The tabletop domain. Adding an operator is one entry in `OPERATORS`, or `register` at run time.

An entry has the arguments (the first one moves), the symbolic preconditions and effects, the cost, the words, and what
the action means for boxes. Where an action leads is given with it (`target`), learned
(`nsrecover.models.transition`), or computed by the operator (`place`), in this order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

import numpy as np

from nsrecover.core import protocols
from nsrecover.core.actions import Action
from nsrecover.core.explanation import Fact
from nsrecover.core.geometry import CONTACT_M, as_box, bottom, intersects, top
from nsrecover.core.scene import Box, SceneGraph
from nsrecover.domains.base import Effect, Exists, Kind, Not, Parameter, Role, Same, Words, both, fact
from nsrecover.domains.tabletop.relations import DIRECTIONS, TABLE, Relation, is_clear, landed, supporter
from nsrecover.domains.tabletop.spatial import SpatialDomain, SpatialOperator
from nsrecover.errors import InvalidConfiguration

REACHED_M = 0.02
"""A target counts as reached within this distance (the bound that deviations are judged by)."""

GAP_M = 0.03
"""Gap between an object and the one that it is put next to, where nothing is learned."""

STACK, SET_ASIDE, PUT_BACK = "top", "free", "restore"
"""Names of the operators that stack an object, make room, and undo a deviation."""

OPPOSITE = {
    one: other for one, (axis, sign) in DIRECTIONS.items() for other in DIRECTIONS if DIRECTIONS[other] == (axis, -sign)
}
"""Side -> the side across."""

_SIDES = {
    Relation.LEFT: ("to the left of", r"(?:to|on) the left(?: side)? of|left of", "left of"),
    Relation.RIGHT: ("to the right of", r"(?:to|on) the right(?: side)? of|right of", "right of"),
    Relation.FRONT: ("in front of", r"in front of", "before"),
    Relation.BEHIND: ("behind", r"behind", "behind"),
}
"""Side -> its words in instructions, a regular expression for the ways in which people say it, and its words in logs in
REFLECT's format."""

CLEAR = Not(Exists("?other", both(fact("on", "?other", "?moved"))), "covered")
"""Nothing stands on the moved object."""

LEAVE = (
    ("on", "?moved", "*"),
    *((side.value, "?moved", "*") for side in DIRECTIONS),
    *((side.value, "*", "?moved") for side in DIRECTIONS),
)
"""The facts that end when an object is moved."""


def _free(relation: Relation, reference: str, code: str) -> Not:
    """No object but the moved one is in a relation to a reference."""
    standing = fact(relation.value, "?other", reference)
    return Not(Exists("?other", both(standing, Not(Same("?other", "?moved")))), code)


def _on_top(graph: SceneGraph, action: Action) -> Box:
    """The place in the middle of the support's top."""
    box, below = (graph.boxes[graph.index(name)] for name in action.arguments)
    return as_box(np.array([*below[:2], top(below) + box[5] / 2, *box[3:]], dtype=np.float32))


def _next_to(graph: SceneGraph, action: Action, axis: int, sign: int) -> Box:
    """The place beside the reference, a gap away from it, on the same level."""
    box, other = (graph.boxes[graph.index(name)] for name in action.arguments)
    placed = np.array([*other[:2], bottom(other) + box[5] / 2, *box[3:]], dtype=np.float32)
    placed[axis] += sign * ((other[3 + axis] + box[3 + axis]) / 2 + GAP_M)
    return as_box(placed)


def _beside(relation: Relation) -> SpatialOperator:
    """The operator that puts its first argument on one side of the second, on the same surface."""
    (axis, sign), (where, pattern, logged) = DIRECTIONS[relation], _SIDES[relation]
    return SpatialOperator(
        relation.value,
        (Parameter("?moved", "movable"), Parameter("?reference", "movable")),
        preconditions=(
            Not(Same("?moved", "?reference")),
            CLEAR,
            _free(relation, "?reference", f"{relation.value}_taken"),
        ),
        effects=(
            Effect(
                ((relation.value, "?moved", "?reference"), (OPPOSITE[relation].value, "?reference", "?moved")), LEAVE
            ),
            Effect(
                (("on", "?moved", "?surface"),),
                when=fact("on", "?reference", "?surface"),
                for_each=(Parameter("?surface"),),
            ),
        ),
        words=Words(
            f"put {{moved}} {where} {{reference}}",
            unkept=f"{{moved}} is not {where} {{reference}}",
            logged=(f"place_{relation.value}", f"Place {{0}} {logged} {{1}}"),
            relation=pattern,
        ),
        place=partial(_next_to, axis=axis, sign=sign),  # a closure could not be sent to other processes
    )


def _target_conditions(graph: SceneGraph, action: Action) -> Iterator[Fact]:
    """The target place is empty, and something is there to stand on, or nearly there."""
    if action.target is None:
        return
    moved = graph.index(action.arguments[0])
    target = landed(graph, moved, action.target, REACHED_M)
    rest = np.arange(len(graph)) != moved
    for i in np.flatnonzero(rest)[intersects(target, graph.boxes[rest])]:
        yield Fact("in_the_way", (graph.names[i], graph.names[moved]))
    if float(bottom(target)) > CONTACT_M and supporter(graph.with_node(moved, target), moved) is None:
        yield Fact("nothing_below", (graph.names[moved],))


def _at_target(before: SceneGraph, after: SceneGraph, action: Action) -> bool:
    """Whether the moved object stands within `REACHED_M` of the target; without one, whether it is clear."""
    moved = after.index(action.arguments[0])
    if action.target is None:
        return is_clear(after, moved)
    return bool(np.linalg.norm(after.boxes[moved, :3] - np.asarray(action.target[:3])) <= REACHED_M)


def _to_target(
    name: str, words: Words, effects: tuple[Effect, ...] = (), needs_target: bool = False
) -> SpatialOperator:
    """The operator that moves its argument to the target of the action."""
    return SpatialOperator(
        name,
        (Parameter("?moved", "movable"),),
        (CLEAR,),
        effects,
        words=words,
        promise=_at_target,
        conditions=_target_conditions,
        needs_target=needs_target,
    )


def _pushed_far_enough(before: SceneGraph, after: SceneGraph, action: Action) -> bool:
    """Whether an object was pushed by `PUSHED` of the way to the target at least; it may have gone aside."""
    moved = after.index(action.arguments[0])
    start = before.boxes[before.index(action.arguments[0]), :2]
    way = np.asarray((action.target or before.boxes[moved])[:2]) - start
    return bool((after.boxes[moved, :2] - start) @ way >= PUSHED * (way @ way))


PUSHED = 0.5
"""Share of the way by which a push is seen to move its object at least; the good ones of dataset XI move it by 0.6."""

PUSH = SpatialOperator(
    "push",
    (Parameter("?moved", "movable"),),
    (CLEAR,),
    words=Words("push {moved}", unkept="{moved} was not pushed far enough", logged=("push", "Push {0}")),
    promise=_pushed_far_enough,
    needs_target=True,
)
"""Pushes an object along the table towards the target of the action, through others if they are in the way.

Where it and its neighbours end up is a distribution (`nsrecover.models.outcomes`). It is not one of `OPERATORS`:
make it known with `register(PUSH)`.
"""

OPERATORS: dict[str, SpatialOperator] = {
    operator.name: operator
    for operator in (
        SpatialOperator(
            STACK,
            (Parameter("?moved", "movable"), Parameter("?support", "movable")),
            preconditions=(Not(Same("?moved", "?support")), CLEAR, _free(Relation.ON, "?support", "occupied")),
            effects=(Effect((("on", "?moved", "?support"),), LEAVE),),
            words=Words(
                "put {moved} on {support}",
                unkept="{moved} is not on {support}",
                logged=("put_on", "Put {0} on {1}"),
                relation=r"on|onto|upon|on top of",
            ),
            place=_on_top,
        ),
        *map(_beside, _SIDES),
        _to_target(
            SET_ASIDE,
            Words(
                "set {moved} aside",
                unkept="{moved} is not out of the way",
                logged=("set_aside", "Set {0} aside"),
                relation=r"aside|out of the way|to the side",
            ),
            effects=(Effect((("on", "?moved", TABLE),), LEAVE),),
        ),
        _to_target(
            PUT_BACK,
            Words(
                "put {moved} back",
                unkept="{moved} is not back in its place",
                logged=("put_back", "Bring {0} back"),
                relation=r"back(?: (?:in|to|into) (?:its|their) places?"
                r"| where (?:it|they) (?:was|were|belongs?|should be))?",
            ),
            needs_target=True,
        ),
    )
}
"""Every operator by its name in plans. The order is part of a checkpoint: append, do not insert."""

TABLETOP = SpatialDomain(
    "tabletop",
    kinds={name: Kind(name) for name in ("cube", "die", "lego")},
    relations={one.value: Role.LOCATION if one is Relation.ON else Role.PLAIN for one in Relation},
    operators=OPERATORS,
    traits=frozenset({"movable", TABLE}),
    words={
        "occupied": Words("{0} already stands on {1}"),
        **{f"{side}_taken": Words(f"{{0}} already stands {where} {{1}}") for side, (where, *_) in _SIDES.items()},
        "covered": Words("{0} stands on {1}"),
        "same": Words("{0} is named twice"),
        "in_the_way": Words("{0} stands where {1} has to go"),
        "nothing_below": Words("there is no support for {0}"),
        "in_place": Words("{0} is in its place"),
        "upright": Words("{0} stands on the side that the plan has it on"),
        "on": Words("{0} stands on {1}"),
        **{side.value: Words(f"{{0}} stands {where} {{1}}") for side, (where, *_) in _SIDES.items()},
    },
)
"""Boxes on a table: the domain of the shipped checkpoint, and the default everywhere."""


def register(operator: protocols.CustomOperator) -> None:
    """Add an operator to `TABLETOP`, for all plans in this process.

    A plan can use it at once if the operator says where it leads (`place`), or its actions do (`target`); otherwise a
    checkpoint has to be trained on demonstrations that use it.

    Args:
        operator: a declared one (`SpatialOperator`), or any object with the members of `protocols.CustomOperator`.

    Raises:
        InvalidConfiguration: a member that an operator needs is missing, its name cannot be written in a plan, or
            another operator has that name already.
    """
    if isinstance(operator, type):
        raise InvalidConfiguration(
            f"expected an operator, found the class {operator.__name__}; register an instance, {operator.__name__}()"
        )
    missing = [part for part in ("name", "arguments", "violated", "achieved") if not hasattr(operator, part)]
    if missing:
        raise InvalidConfiguration(
            f"expected an operator (nsrecover.core.protocols.CustomOperator), found {operator!r} without "
            f"{', '.join(missing)}"
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
    known = OPERATORS.setdefault(operator.name, _declared(operator))
    if operator not in (known, known.source):
        raise InvalidConfiguration(
            f"expected an operator's name that is not taken, found {operator.name!r}; known: {', '.join(OPERATORS)}"
        )


def _declared(operator: protocols.CustomOperator) -> SpatialOperator:
    """An operator that is given by its methods, as one of the domain."""
    if isinstance(operator, SpatialOperator):
        return operator
    return SpatialOperator(
        operator.name,
        tuple(Parameter(f"?{name}", "movable") for name in operator.arguments),
        promise=operator.achieved,
        place=operator.place if isinstance(operator, protocols.PlacingOperator) else None,
        conditions=operator.violated,
        source=operator,
    )


operator_of, check_plan = TABLETOP.operator_of, TABLETOP.check
"""`SpatialDomain.operator_of` and `SpatialDomain.check` of the tabletop."""


def has_own_effect(action: Action) -> bool:
    """Whether its operator says where an action leads, so that this can be learned; others only reach their target."""
    return len(action.arguments) > 1 or (action.target is None and action.operator not in (SET_ASIDE, PUT_BACK))


def reference_name(action: Action) -> str:
    """The object that an action moves its first argument relative to: the second argument, or the first alone."""
    return action.arguments[:2][-1]


def moved_object(graph: SceneGraph, action: Action) -> int:
    """Index of the one object that an action moves: its first argument."""
    return graph.index(action.arguments[0])
