"""From operators with parameters to grounded actions, all instances of an operator at once.

Only actions that can be run in some state that is reachable without deletes are made. Parameters are bound one after
the other; after each, the bindings that contradict facts that no operator changes are dropped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nsrecover.errors import InvalidConfiguration
from nsrecover.planning.symbolic.strips import Condition, GroundAction, StripsTask, mask

MOST_INSTANCES = 4_000_000
"""Most bindings of one operator that are kept at a time."""

Codes = npt.NDArray[np.int64]


class LiftedAtom(NamedTuple):
    """A predicate and its terms: i >= 0 is the i-th parameter, i < 0 the object with number ~i."""

    predicate: str
    terms: tuple[int, ...] = ()


class LiftedEffect(NamedTuple):
    """An atom that an action adds or deletes, if terms are or are not the same object."""

    atom: LiftedAtom
    equal: tuple[tuple[int, int], ...] = ()
    different: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class LiftedOperator:
    """An action with parameters.

    Attributes:
        name: of the operator.
        parameters: for each parameter the numbers of the objects it can stand for.
        needs: atoms that must hold before.
        forbids: atoms that must not.
        adds: atoms that hold afterwards, also if they are deleted, too.
        deletes: atoms that do not hold afterwards.
        equal: pairs of terms that must be the same object.
        different: pairs of terms that must not be.
        cost: of an instance, from the names of its objects; inf: it cannot be run.
    """

    name: str
    parameters: tuple[tuple[int, ...], ...]
    needs: tuple[LiftedAtom, ...] = ()
    forbids: tuple[LiftedAtom, ...] = ()
    adds: tuple[LiftedEffect, ...] = ()
    deletes: tuple[LiftedEffect, ...] = ()
    equal: tuple[tuple[int, int], ...] = ()
    different: tuple[tuple[int, int], ...] = ()
    cost: Callable[[tuple[str, ...]], float] = field(default=lambda _: 1.0)

    @property
    def atoms(self) -> tuple[LiftedAtom, ...]:
        """All atoms of the operator."""
        return (*self.needs, *self.forbids, *(effect.atom for effect in self.adds + self.deletes))


@dataclass(frozen=True)
class LiftedTask:
    """A planning task with parameters.

    Attributes:
        objects: their names.
        operators: what can be done.
        initial: ground atoms that hold at the start.
        goal_needs: ground atoms that must hold in the end.
        goal_forbids: ground atoms that must not.
    """

    objects: tuple[str, ...]
    operators: tuple[LiftedOperator, ...]
    initial: tuple[LiftedAtom, ...]
    goal_needs: tuple[LiftedAtom, ...]
    goal_forbids: tuple[LiftedAtom, ...] = ()


class _Coder:
    """Numbers for all ground atoms of some predicates: the offset of the predicate and its objects as digits."""

    def __init__(self, task: LiftedTask) -> None:
        self.base = max(1, len(task.objects))
        self.objects = task.objects
        self.offsets: dict[str, int] = {}
        arity: dict[str, int] = {}
        for operator in task.operators:
            arity |= {atom.predicate: len(atom.terms) for atom in operator.atoms}
        arity |= {atom.predicate: len(atom.terms) for atom in (*task.initial, *task.goal_needs, *task.goal_forbids)}
        total = 0
        for predicate in sorted(arity, key=lambda name: (arity[name], name)):
            self.offsets[predicate] = total
            total += self.base ** arity[predicate]
        if total >= 2**62:
            raise InvalidConfiguration(
                f"expected fewer than 2^62 possible facts, found about 2^{math.log2(total):.0f}; use fewer objects, or "
                "predicates with fewer parameters"
            )
        self.nothing = total
        """Stands for the atom of an effect that does not take place."""
        self._arity = arity

    def codes(self, atom: LiftedAtom, rows: npt.NDArray[np.int64], columns: dict[int, int]) -> Codes:
        """(n,) numbers of an atom under n bindings; `columns` says where each parameter is in the rows."""
        code = np.zeros(len(rows), dtype=np.int64)
        for term in atom.terms:
            code = code * self.base + (rows[:, columns[term]] if term >= 0 else ~term)
        return code + self.offsets[atom.predicate]

    def ground(self, atoms: Iterable[LiftedAtom]) -> Codes:
        """Numbers of ground atoms."""
        none = np.zeros((1, 0), dtype=np.int64)
        return np.array([self.codes(atom, none, {})[0] for atom in atoms], dtype=np.int64)

    def texts(self, codes: Codes) -> list[str]:
        """Texts of the atoms with some numbers, which must be ascending."""
        written = list[str]()
        for (predicate, start), end in zip(
            self.offsets.items(), [*self.offsets.values(), self.nothing][1:], strict=True
        ):
            rest = codes[np.searchsorted(codes, start) : np.searchsorted(codes, end)] - start
            columns = []
            for _ in range(self._arity[predicate]):
                rest, digit = np.divmod(rest, self.base)
                columns.append([self.objects[i] for i in digit.tolist()])
            if columns:
                written += [f"{predicate}({', '.join(names)})" for names in zip(*reversed(columns), strict=True)]
            else:
                written += [predicate] * len(rest)
        return written


@dataclass(frozen=True, eq=False)
class _Instances:
    """Instances of one operator: bindings (n, P), and codes (literals, n) of needs, forbidden, added, deleted atoms."""

    operator: LiftedOperator
    rows: npt.NDArray[np.int64]
    codes: tuple[Codes, ...]

    def chosen(self, which: npt.NDArray[np.bool_]) -> _Instances:
        """Some of the instances."""
        return _Instances(self.operator, self.rows[which], tuple(codes[:, which] for codes in self.codes))


def instantiate(
    task: LiftedTask, plan: Sequence[tuple[str, tuple[int, ...]]] = ()
) -> tuple[StripsTask, tuple[GroundAction, ...]]:
    """Ground a task.

    Args:
        task: with parameters.
        plan: operator names and object numbers of actions to ground, also if they cannot be run.

    Returns:
        The grounded task, and the actions of the plan over its facts.

    Raises:
        InvalidConfiguration: there are too many instances.
    """
    coder = _Coder(task)
    holds = np.unique(coder.ground(task.initial))
    changing = {effect.atom.predicate for operator in task.operators for effect in operator.adds + operator.deletes}
    found = [_bound(operator, coder, holds, changing) for operator in task.operators]
    kept = _reachable(found, holds)
    by_name = {operator.name: operator for operator in task.operators}
    steps = [_coded(by_name[name], np.array([row], dtype=np.int64), coder) for name, row in plan]
    goal = coder.ground(task.goal_needs), coder.ground(task.goal_forbids)
    mentioned = [codes.ravel() for instances in (*kept, *steps) for codes in instances.codes]
    facts = np.unique(np.concatenate([*mentioned, *goal]))
    facts = facts[facts != coder.nothing]
    made = (action for instances in kept for action in _actions(instances, facts, task.objects))
    actions = [action for action in made if action.cost < math.inf]
    wanted = [action for instances in steps for action in _actions(instances, facts, task.objects)]
    return (
        StripsTask(
            tuple(coder.texts(facts)),
            tuple(actions),
            mask(np.flatnonzero(np.isin(facts, holds)).tolist()),
            Condition(*(mask(np.searchsorted(facts, codes).tolist()) for codes in goal)),
        ),
        tuple(wanted),
    )


def _coded(operator: LiftedOperator, rows: npt.NDArray[np.int64], coder: _Coder) -> _Instances:
    """The atoms of all bindings of an operator."""
    columns = {parameter: parameter for parameter in range(len(operator.parameters))}

    def taking_place(effect: LiftedEffect) -> Codes:
        code = coder.codes(effect.atom, rows, columns)
        for pairs, wanted in ((effect.equal, True), (effect.different, False)):
            for terms in pairs:
                code = np.where(_same(terms, wanted, rows, columns), code, coder.nothing)
        return code

    conditions = [[coder.codes(atom, rows, columns) for atom in atoms] for atoms in (operator.needs, operator.forbids)]
    effects = [[taking_place(effect) for effect in each] for each in (operator.adds, operator.deletes)]
    stacked = (np.array(codes, dtype=np.int64).reshape(len(codes), len(rows)) for codes in conditions + effects)
    return _Instances(operator, rows, tuple(stacked))


def _same(
    terms: tuple[int, int], wanted: bool, rows: npt.NDArray[np.int64], columns: dict[int, int]
) -> npt.NDArray[np.bool_]:
    """(n,) whether two terms are the same object, or whether they are not."""
    first, second = (rows[:, columns[term]] if term >= 0 else ~term for term in terms)
    return np.broadcast_to(np.equal(first, second) if wanted else np.not_equal(first, second), len(rows))


def _bound(operator: LiftedOperator, coder: _Coder, holds: Codes, changing: set[str]) -> _Instances:
    """All instances that agree with the facts that never change."""
    fixed = [
        (atom, wanted)
        for atoms, wanted in ((operator.needs, True), (operator.forbids, False))
        for atom in atoms
        if atom.predicate not in changing
    ]
    rows, columns = np.zeros((1, 0), dtype=np.int64), dict[int, int]()
    left = list(range(len(operator.parameters)))

    waiting: list[tuple[LiftedAtom | tuple[int, int], bool]] = [
        *fixed,
        *((terms, True) for terms in operator.equal),
        *((terms, False) for terms in operator.different),
    ]
    while True:
        later = []
        for check, wanted in waiting:
            if not all(t < 0 or t in columns for t in (check.terms if isinstance(check, LiftedAtom) else check)):
                later.append((check, wanted))
            elif isinstance(check, LiftedAtom):
                rows = rows[np.isin(coder.codes(check, rows, columns), holds, invert=not wanted)]
            else:
                rows = rows[_same(check, wanted, rows, columns)]
        waiting = later
        if not left:
            break
        # next the parameter with which most of what never changes can be checked; of those the one with fewest objects
        following = max(
            left,
            key=lambda p: (
                sum(all(t < 0 or t in columns or t == p for t in atom.terms) for atom, _ in fixed if p in atom.terms),
                -len(operator.parameters[p]),
                -p,
            ),
        )
        values = np.array(operator.parameters[following], dtype=np.int64)
        if len(rows) * len(values) > MOST_INSTANCES:
            raise InvalidConfiguration(
                f"expected at most {MOST_INSTANCES:,} instances of an operator, found {len(rows) * len(values):,} of "
                f"{operator.name}; use fewer objects, narrower types, or fewer parameters"
            )
        rows = np.concatenate([np.repeat(rows, len(values), axis=0), np.tile(values, len(rows))[:, None]], axis=1)
        left.remove(following)
        columns[following] = len(columns)
    return _coded(operator, rows[:, np.argsort(list(columns))] if columns else rows, coder)


def _reachable(found: Sequence[_Instances], holds: Codes) -> list[_Instances]:
    """The instances that can be run in some state that is reachable without deletes."""
    every = np.unique(np.concatenate([holds, *(codes.ravel() for instances in found for codes in instances.codes)]))
    can_hold = np.isin(every, holds)
    can_fail = ~can_hold
    local = [[np.searchsorted(every, codes) for codes in instances.codes] for instances in found]
    used = [np.zeros(len(instances.rows), dtype=np.bool_) for instances in found]
    grown = True
    while grown:
        grown = False
        for (needs, forbids, adds, deletes), so_far in zip(local, used, strict=True):
            now = can_hold[needs].all(axis=0) & can_fail[forbids].all(axis=0) & ~so_far
            if now.any():
                grown = True
                so_far |= now
                can_hold[adds[:, now]] = True
                can_fail[deletes[:, now]] = True
    return [instances.chosen(which) for instances, which in zip(found, used, strict=True)]


def _actions(instances: _Instances, facts: Codes, objects: Sequence[str]) -> list[GroundAction]:
    """Grounded actions over numbered facts."""
    operator = instances.operator
    names = [tuple(objects[i] for i in row) for row in instances.rows.tolist()]
    last = len(facts)

    def numbered(codes: Codes) -> list[tuple[int, ...]]:
        if not codes.size:
            return [()] * len(names)
        found = np.searchsorted(facts, codes)
        rows = list(zip(*found.tolist(), strict=True))
        if found.max() < last:
            return rows
        return [tuple([fact for fact in row if fact < last]) for row in rows]  # the rest does not take place

    columns = [numbered(codes) for codes in instances.codes]
    return [
        GroundAction(operator.name, row, needs, forbids, adds, deletes, operator.cost(row))
        for row, needs, forbids, adds, deletes in zip(names, *columns, strict=True)
    ]
