"""Tiny random grounded tasks, and their optimum by uniform-cost search over every state."""

import heapq
import itertools
import random

from nsrecover.planning.symbolic.relaxation import Propositions, Relaxation
from nsrecover.planning.symbolic.strips import Condition, GroundAction, StripsTask, mask


def random_task(seed: int, facts: int = 6, actions: int = 8, unit: bool = True) -> StripsTask:
    """A task with negative preconditions and goals; about half of them can be solved."""
    rng = random.Random(seed)

    def some(least: int, most: int) -> tuple[int, ...]:
        return tuple(sorted(rng.sample(range(facts), rng.randint(least, most))))

    made = []
    for number in range(actions):
        needs = some(0, 2)
        forbids = tuple(fact for fact in some(0, 2) if fact not in needs)
        cost = 1.0 if unit else rng.choice([0.0, 0.5, 1.0, 3.0])
        made.append(GroundAction(f"a{number}", (), needs, forbids, some(1, 2), some(0, 2), cost))
    wanted = some(1, 3)
    unwanted = tuple(fact for fact in some(0, 2) if fact not in wanted)
    goal = Condition(mask(wanted), mask(unwanted))
    return StripsTask(tuple(f"f{i}" for i in range(facts)), tuple(made), mask(some(0, 3)), goal)


def distances(task: StripsTask) -> dict[int, float]:
    """What reaching each reachable state costs."""
    known, queue = {task.initial: 0.0}, [(0.0, task.initial)]
    while queue:
        cost, state = heapq.heappop(queue)
        if cost > known[state]:
            continue
        for action in task.actions:
            if action.precondition.holds(state):
                after, total = action.apply(state), cost + action.cost
                if total < known.get(after, float("inf")) - 1e-12:
                    known[after] = total
                    heapq.heappush(queue, (total, after))
    return known


def optimum(task: StripsTask) -> float:
    """Cost of the cheapest plan; inf if there is none."""
    return min((cost for state, cost in distances(task).items() if task.goal.holds(state)), default=float("inf"))


def some_plan(task: StripsTask, seed: int, steps: int = 6) -> list[GroundAction]:
    """A random walk from the initial state that ends with the goal; empty if none was met."""
    rng = random.Random(seed)
    for _ in itertools.repeat(None, 40):
        state, plan = task.initial, list[GroundAction]()
        while not task.goal.holds(state) and len(plan) < steps:
            possible = [action for action in task.actions if action.precondition.holds(state)]
            if not possible:
                break
            plan.append(rng.choice(possible))
            state = plan[-1].apply(state)
        if plan and task.goal.holds(state):
            return plan
    return []


def relaxation_of(task: StripsTask) -> tuple[Propositions, Relaxation]:
    propositions = Propositions(len(task.facts), task.actions, [task.goal])
    return propositions, Relaxation(propositions, task.actions, [action.cost for action in task.actions])
