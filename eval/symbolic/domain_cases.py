"""Disturbed plans in public planning domains: proofs next to Fast Downward."""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eval.common.optimum_check import fast_downward

TRIES = 100
"""Most disturbances to draw until the plan fails."""


@dataclass(frozen=True)
class DomainCase:
    """A random problem of a domain, and the number of actions of an external agent during its plan."""

    domain: str
    size: int
    seed: int = 0
    strange: int = 4


@dataclass(frozen=True)
class Disturbed:
    """A plan that no longer works.

    Attributes:
        problem: the original problem.
        plan: a shortest plan for it.
        done: number of its steps before the disturbance.
        state: the state afterwards, of unified-planning.
        after: the problem from that state.
    """

    problem: Any
    plan: Any
    done: int
    state: Any
    after: Any


@dataclass(frozen=True)
class Solved:
    """An answer and what it took.

    Attributes:
        cost: of the plan; None if there is none.
        seconds: wall time.
        cpu_s: processor time, with child processes.
        proven: whether no plan is cheaper.
    """

    cost: float | None
    seconds: float
    cpu_s: float
    proven: bool


def made(case: DomainCase) -> Disturbed:
    """Make a problem and a shortest plan, and let an external agent take some possible actions on the way.

    Raises:
        RuntimeError: none of `TRIES` disturbances makes the plan fail.
    """
    from unified_planning.model.fluent import get_all_fluent_exp
    from unified_planning.shortcuts import MinimizeSequentialPlanLength

    from eval.symbolic.public_domains import random_problem
    from nsrecover.bridges.unified_planning import visited_states
    from nsrecover.bridges.unified_planning.grounding import Grounded
    from nsrecover.planning.symbolic.strips import first_failure

    rng = random.Random(f"{case.domain} {case.size} {case.seed} {case.strange}")
    problem = random_problem(case.domain, case.seed, case.size)
    if not problem.quality_metrics:
        problem.add_quality_metric(MinimizeSequentialPlanLength())
    with fast_downward() as planner:
        planner.skip_checks = True
        plan = planner.solve(problem).plan
    grounded = Grounded(problem, plan, {})
    task, steps = grounded.task, grounded.steps
    for _ in range(TRIES):
        done = rng.randrange(len(steps) // 2 + 1)
        state = task.initial
        for step in steps[:done]:
            state = step.apply(state)
        strange, seen = list[Any](), {state}
        while len(strange) < case.strange:
            possible = [a for a in task.actions if a.precondition.holds(state) and a.apply(state) not in seen]
            if not possible:
                break
            strange.append(rng.choice(possible))
            state = strange[-1].apply(state)
            seen.add(state)
        if first_failure(task.goal, state, steps[done:]) is not None:
            break
    else:
        raise RuntimeError(f"expected a disturbance after which the plan of {case} fails, found none")
    taken = [*plan.actions[:done], *(grounded.instance(action) for action in strange)]
    reached = visited_states(problem, taken, "the actions are those of the grounded problem")[-1]
    after = problem.clone()
    for fluent in (fluent for fluent in problem.fluents if fluent.type.is_bool_type()):
        for ground in get_all_fluent_exp(problem, fluent):
            if problem.initial_value(ground) != reached.get_value(ground):
                after.set_initial_value(ground, reached.get_value(ground))
    return Disturbed(problem, plan, done, reached, after)


def processor_s() -> float:
    """Return the processor time of this process and of the child processes that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def repaired(disturbed: Disturbed, budget_s: float) -> tuple[Any, float]:
    """Repair a plan until the proof; the repair and the processor time."""
    from nsrecover.bridges.unified_planning import repair

    began = processor_s()
    found = repair(
        disturbed.problem,
        disturbed.plan,
        disturbed.state,
        after=disturbed.done,
        budget_s=budget_s,
        shortcuts=True,
    )
    return found, processor_s() - began


def proven_by_fast_downward(problem: Any, budget_s: float) -> Solved:
    """Solve a problem by A* with LM-cut."""
    from unified_planning.engines import PlanGenerationResultStatus

    with fast_downward() as planner:
        planner.skip_checks = True
        began, used = time.perf_counter(), processor_s()
        result = planner.solve(problem, timeout=budget_s)
        seconds, cpu_s = time.perf_counter() - began, processor_s() - used
    proven = result.status is PlanGenerationResultStatus.SOLVED_OPTIMALLY
    return Solved(cost_of_plan(problem, result.plan), seconds, cpu_s, proven)


def cost_of_plan(problem: Any, plan: Any) -> float | None:
    """Return the cost of a plan by the problem's metric; None if there is no plan."""
    return None if plan is None else plan_cost(problem, plan.actions)


def plan_cost(problem: Any, actions: Sequence[Any]) -> float:
    """Return the sum of the costs of actions, read from the problem and not from a planner."""
    from nsrecover.bridges.unified_planning.reduction import cost_of, reduced

    reduction = reduced(problem)
    costs = {action.name: cost_of(reduction, action) for action in problem.actions}
    return sum(costs[a.action.name](tuple(p.object().name for p in a.actual_parameters)) for a in actions)


def accepted(problem: Any, plan: Any) -> bool:
    """Whether unified-planning's validator accepts a plan; undefined costs of other actions do not matter to it."""
    from unified_planning.engines import SequentialPlanValidator, ValidationResultStatus

    validator = SequentialPlanValidator()
    validator.skip_checks = True
    return bool(validator.validate(problem, plan).status is ValidationResultStatus.VALID)
