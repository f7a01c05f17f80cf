"""Grounded planning tasks (STRIPS with negative preconditions), and the kernels of a plan.

A state is a Python int whose bit f says whether fact f holds, so that applying an action is two operations on ints.

What step t of a plan and all that follow need to reach the goal is found by regressing the goal through them; Fikes,
Hart & Nilsson, "Learning and executing generalized robot plans" (1972), call it a kernel of the plan's triangle table.
A state that satisfies kernel t, whatever else is true in it, is back on the plan at step t.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_

from nsrecover.errors import InvalidPlan

_BITS = [[bit for bit in range(8) if value >> bit & 1] for value in range(256)]


def mask(facts: Iterable[int]) -> int:
    """The int in which exactly the bits of some facts are set."""
    return reduce(or_, (1 << fact for fact in facts), 0)


def bits_of(state: int) -> Iterator[int]:
    """Numbers of the facts that hold in a state, ascending."""
    for byte, value in enumerate(state.to_bytes((state.bit_length() + 7) // 8, "little")):
        if value:
            for bit in _BITS[value]:
                yield 8 * byte + bit


@dataclass(frozen=True)
class Condition:
    """A conjunction: facts that must hold and facts that must not, both as bits."""

    needs: int
    forbids: int = 0

    def holds(self, state: int) -> bool:
        """Whether a state satisfies it."""
        return not self.needs & ~state and not self.forbids & state


@dataclass(frozen=True)
class GroundAction:
    """An action without parameters. A fact that it both deletes and adds is true afterwards.

    Attributes:
        name: of the operator.
        arguments: names of the objects it is applied to.
        needs: numbers of the facts that must hold before.
        forbids: numbers of the facts that must not.
        adds: facts that hold afterwards.
        deletes: facts that do not.
        cost: what it costs; not negative.
    """

    name: str
    arguments: tuple[str, ...]
    needs: tuple[int, ...]
    forbids: tuple[int, ...]
    adds: tuple[int, ...]
    deletes: tuple[int, ...]
    cost: float = 1.0

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.arguments)})"

    @cached_property
    def precondition(self) -> Condition:
        """Preconditions."""
        return Condition(mask(self.needs), mask(self.forbids))

    @cached_property
    def made_true(self) -> int:
        """The facts it adds, as bits."""
        return mask(self.adds)

    @cached_property
    def made_false(self) -> int:
        """The facts it deletes and does not add, as bits."""
        return mask(self.deletes) & ~self.made_true

    def apply(self, state: int) -> int:
        """The state afterwards; the precondition is not checked."""
        return state & ~self.made_false | self.made_true


@dataclass(frozen=True)
class StripsTask:
    """A grounded planning task.

    Attributes:
        facts: what each bit of a state means.
        actions: what can be done.
        initial: the state to start from.
        goal: what must hold in the end.
        rules: what follows without an action, in the relaxation of a task that is more than STRIPS.
    """

    facts: tuple[str, ...]
    actions: tuple[GroundAction, ...]
    initial: int
    goal: Condition
    rules: tuple[GroundAction, ...] = ()

    def named(self, state: int) -> list[str]:
        """The facts that hold in a state."""
        return [self.facts[fact] for fact in bits_of(state)]


def reachable_actions(actions: Sequence[GroundAction], initial: int) -> tuple[GroundAction, ...]:
    """The actions that can be run in a state that is reachable without deletes."""
    lacking = [len(set(action.needs)) + len(set(action.forbids)) for action in actions]
    users = defaultdict[tuple[int, bool], list[int]](list)
    for number, action in enumerate(actions):
        for facts, wanted in ((action.needs, True), (action.forbids, False)):
            for fact in facts:
                users[fact, wanted].append(number)
    reached = {(fact, wanted) for fact, wanted in users if bool(initial >> fact & 1) is wanted}
    waiting = sorted(reached)
    ready = [number for number, count in enumerate(lacking) if not count]
    kept = set[int]()
    while waiting or ready:
        while ready:
            number = ready.pop()
            kept.add(number)
            action = actions[number]
            made = [(fact, True) for fact in action.adds]
            made += [(fact, False) for fact in action.deletes if fact not in action.adds]
            waiting += [each for each in made if each not in reached]
            reached.update(made)
        if waiting:
            for number in users.get(waiting.pop(), ()):
                lacking[number] -= 1
                if not lacking[number]:
                    ready.append(number)
    return tuple(action for number, action in enumerate(actions) if number in kept)


def first_failure(goal: Condition, state: int, plan: Sequence[GroundAction]) -> int | None:
    """Number of the first step of a plan that cannot be run from a state.

    Returns:
        None if the plan reaches the goal; the length of the plan if all of it can be run and the goal does not hold.
    """
    for number, action in enumerate(plan):
        if not action.precondition.holds(state):
            return number
        state = action.apply(state)
    return None if goal.holds(state) else len(plan)


def regressed(condition: Condition, action: GroundAction) -> Condition | None:
    """The weakest condition under which an action can be run and achieves another one; None if it never does."""
    if condition.needs & action.made_false or condition.forbids & action.made_true:
        return None
    needs = condition.needs & ~action.made_true | action.precondition.needs
    forbids = condition.forbids & ~action.made_false | action.precondition.forbids
    return None if needs & forbids else Condition(needs, forbids)


def usable_from(goal: Condition, plan: Sequence[GroundAction]) -> int:
    """Number of the first step from which the rest of a plan can reach a goal; its length if there is none."""
    for number in range(len(plan) - 1, -1, -1):
        before = regressed(goal, plan[number])
        if before is None:
            return number + 1
        goal = before
    return 0


def kernels(facts: Sequence[str], goal: Condition, plan: Sequence[GroundAction]) -> tuple[Condition, ...]:
    """For every step t the weakest condition under which `plan[t:]` can be run and reaches the goal.

    Args:
        facts: what each bit means, for error messages.
        goal: what must hold in the end.
        plan: T actions.

    Returns:
        T + 1 conditions; the last one is the goal.

    Raises:
        InvalidPlan: from no state at all can the plan be run to the goal.
    """
    found = [goal]
    for number in range(len(plan) - 1, -1, -1):
        before = regressed(found[-1], plan[number])
        if before is None:
            raise InvalidPlan(
                f"expected a plan that leads to the goal, found that step {number} {plan[number]} "
                f"{_conflict(facts, found[-1], plan[number])}, although a later step or the goal depends on it; pass "
                "the whole plan, in order, for this problem"
            )
        found.append(before)
    return tuple(reversed(found))


def _conflict(facts: Sequence[str], after: Condition, action: GroundAction) -> str:
    """Why an action cannot come before what follows it."""
    needs, forbids = action.precondition.needs, action.precondition.forbids
    for verb, conflict in (
        ("makes false", after.needs & action.made_false),
        ("makes true", after.forbids & action.made_true),
        ("needs true and what follows needs false", needs & after.forbids & ~action.made_false),
        ("needs false and what follows needs true", forbids & after.needs & ~action.made_true),
    ):
        if conflict:
            return f"{verb}: {facts[next(bits_of(conflict))]}"
    return f"can never be run: {facts[next(bits_of(needs & forbids))]}"
