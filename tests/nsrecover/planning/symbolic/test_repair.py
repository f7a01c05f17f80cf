"""Repairs of symbolic plans against the true optimum, found by searching every state."""

import random
from dataclasses import replace

import numpy as np
import pytest

from nsrecover.core.recovery import ReasonCode, RecoveryStatus
from nsrecover.errors import InvalidConfiguration
from nsrecover.explanation import reason_text
from nsrecover.planning.lazy import LazyModel
from nsrecover.planning.symbolic import symbolic_model
from nsrecover.planning.symbolic.repair import Repair, repair
from nsrecover.planning.symbolic.strips import Condition, GroundAction, StripsTask, first_failure, kernels, mask
from nsrecover.planning.symbolic.symbolic_model import SymbolicModel
from tests.nsrecover.planning.symbolic.strips_tasks import distances, optimum, random_task, some_plan

INF = float("inf")


def disturbed(seed: int, unit: bool = True) -> tuple[StripsTask, list[GroundAction]]:
    """A task whose initial state is not where its plan begins."""
    task = random_task(seed, facts=7, actions=9, unit=unit)
    plan = some_plan(task, seed)
    return replace(task, initial=random.Random(seed).randrange(2**7)), plan


@pytest.mark.parametrize("unit", [True, False])
def test_finds_the_optimum_and_proves_it_or_proves_that_there_is_none(unit: bool) -> None:
    met = dict.fromkeys(RecoveryStatus, 0)
    rejoined = 0
    for seed in range(120):
        task, plan = disturbed(seed, unit)
        best = optimum(task)
        found = repair(task, plan, shortcuts=True)
        met[found.status] += 1
        if best == INF:
            assert found.status is RecoveryStatus.IMPOSSIBLE
            assert not found.found
            assert reason_text(found)
            continue
        assert first_failure(task.goal, task.initial, found.plan) is None
        assert found.plan == (*found.actions, *plan[found.step :])
        assert found.cost == pytest.approx(best)
        assert found.proven_optimal
        assert found.lower_bound == pytest.approx(best, abs=1e-4)
        rejoined += found.step < len(plan)
    assert met[RecoveryStatus.BUDGET_EXHAUSTED] == 0
    assert min(met[status] for status in RecoveryStatus if status is not RecoveryStatus.BUDGET_EXHAUSTED) > 8
    assert rejoined > 10


@pytest.mark.parametrize("scale", [1e-7, 1e-6, 1e-3, 1.0])
def test_costs_as_small_as_the_tie_breaking_constants_are_told_apart(scale: float) -> None:
    """All costs are whole multiples of a small one, some are 0; then the proof holds in spite of `LEAST_COST`."""
    solved = 0
    for seed in range(80):
        task, plan = disturbed(seed, unit=False)
        rng = random.Random(seed)
        cost = {action.name: scale * rng.choice([0, 1, 2, 5, 1000]) for action in task.actions}
        task = replace(task, actions=tuple(replace(action, cost=cost[action.name]) for action in task.actions))
        plan = [replace(action, cost=cost[action.name]) for action in plan]
        best = optimum(task)
        found = repair(task, plan, shortcuts=True)
        assert found.found == (best < INF)
        if found.found:
            solved += 1
            assert found.proven_optimal
            assert found.cost == pytest.approx(best, rel=0, abs=1e-9 * scale)
            assert found.lower_bound <= best + 1e-9 * scale
    assert solved > 30


def test_unsolvable_is_proven_by_searching_where_the_relaxation_does_not_tell() -> None:
    # one token buys one of two things, and both are wanted
    buy = [GroundAction("buy", (str(i),), (0,), (), (i,), (0,)) for i in (1, 2)]
    task = StripsTask(("token", "left", "right"), tuple(buy), 0b001, Condition(0b110))
    found = repair(task, [])
    assert (found.status, found.expansions > 0) == (RecoveryStatus.IMPOSSIBLE, True)
    assert found.reason_code is ReasonCode.CONFLICTING_GOALS
    assert (found.blamed, found.conflicts) == (("left", "right"), (("left", "right"),))
    assert reason_text(found).endswith("exclude each other: left and right")
    # two tokens buy two of three things, so that no pair is impossible
    some = [GroundAction("buy", (str(i), str(t)), (t,), (), (i,), (t,)) for i in (2, 3, 4) for t in (0, 1)]
    more = repair(StripsTask(tuple("abcde"), tuple(some), 0b00011, Condition(0b11100)), [])
    assert (more.status, more.reason_code) == (RecoveryStatus.IMPOSSIBLE, ReasonCode.NO_SEQUENCE)
    assert "every reachable state was searched" in reason_text(more)
    broke = repair(replace(task, initial=0), [])
    assert (broke.status, broke.expansions) == (RecoveryStatus.IMPOSSIBLE, 0)
    assert reason_text(broke).endswith("achieve left, right")
    unwanted = repair(replace(task, initial=0b110, goal=Condition(0, 0b010)), [])
    assert reason_text(unwanted).endswith("achieve not left")


def test_a_plan_that_still_works_is_kept_unless_shortcuts_are_looked_for() -> None:
    step = [GroundAction("step", (str(i),), (i,), (), (i + 1,), (i,)) for i in range(4)]
    leap = GroundAction("leap", (), (0,), (), (4,), (0,))
    task = StripsTask(tuple("abcde"), (*step, leap), 0b00001, Condition(0b10000))
    kept = repair(task, step)
    assert (kept.status, kept.step, kept.plan) == (RecoveryStatus.ALREADY_AT_SUBGOAL, 0, tuple(step))
    assert (kept.cost, kept.expansions, kept.proven_optimal) == (4.0, 0, False)
    short = repair(task, step, shortcuts=True)
    assert (short.status, short.plan, short.proven_optimal) == (RecoveryStatus.RECOVERED, (leap,), True)
    further = repair(replace(task, initial=0b00100), step)
    assert (further.step, further.plan) == (2, tuple(step[2:]))


def tower(count: int) -> tuple[StripsTask, list[GroundAction]]:
    """All blocks on the table, to be stacked in order: the initial state, and the plan."""
    on = {(a, b): i for i, (a, b) in enumerate((a, b) for a in range(count) for b in range(count) if a != b)}
    size = len(on)
    table, clear = [size + b for b in range(count)], [size + count + b for b in range(count)]
    stack = {
        (a, b): GroundAction("stack", (str(a), str(b)), (table[a], clear[a], clear[b]), (), (on[a, b],),
                             (table[a], clear[b]))
        for a, b in on
    }  # fmt: skip
    lower = [
        GroundAction("lower", (str(a), str(b)), (on[a, b], clear[a]), (), (table[a], clear[b]), (on[a, b],))
        for a, b in on
    ]
    goal = Condition(mask(on[a, a - 1] for a in range(1, count)))
    facts = [f"on({a}, {b})" for a, b in on] + [f"table({b})" for b in range(count)]
    facts += [f"clear({b})" for b in range(count)]
    task = StripsTask(tuple(facts), (*stack.values(), *lower), mask((*table, *clear)), goal)
    return task, [stack[a, a - 1] for a in range(1, count)]


def test_a_fallen_tower_is_rebuilt_without_a_detour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbolic_model, "SETTLING", 0)  # announce what is found first
    task, plan = tower(10)
    fallen = replace(task, initial=plan[4].apply(task.initial))  # one block stands on another that has to move yet
    improvements: list[Repair] = []
    found = repair(fallen, plan, on_improvement=improvements.append)
    assert first_failure(task.goal, fallen.initial, found.plan) is None
    assert (found.cost, found.proven_optimal) == (10.0, True)
    assert (improvements[0].cost, improvements[0].expansions) == (10.0, len(found.actions))


def test_budgets_cancelling_and_improvements() -> None:
    for seed in range(60):
        task, plan = disturbed(seed, unit=False)
        if optimum(task) == INF:
            continue
        better: list[Repair] = []
        last = repair(task, plan, shortcuts=True, on_improvement=better.append)
        costs = [found.cost for found in better]
        assert costs == sorted(costs, reverse=True)
        assert costs[-1] == pytest.approx(last.cost)
        assert all(first_failure(task.goal, task.initial, found.plan) is None for found in better)
        for nodes in (0, 2, 5):
            some = repair(task, plan, shortcuts=True, max_expansions=nodes)
            again = repair(task, plan, shortcuts=True, max_expansions=nodes)
            assert some.expansions <= nodes
            assert some.lower_bound <= last.cost + 1e-4
            assert (some.plan, some.cost, some.expansions) == (again.plan, again.cost, again.expansions)
            assert some.cost >= last.cost - 1e-9
    task, plan = tower(6)
    stopped = repair(task, [], cancelled=lambda: True)
    assert (stopped.status, stopped.expansions) == (RecoveryStatus.BUDGET_EXHAUSTED, 0)
    assert stopped.reason_code is ReasonCode.CANCELLED
    assert repair(task, [], budget_s=0.0).status is RecoveryStatus.BUDGET_EXHAUSTED
    found: list[Repair] = []
    first = repair(task, [], on_improvement=found.append, cancelled=lambda: bool(found))
    assert first.plan == found[0].plan
    with pytest.raises(InvalidConfiguration, match="budgets"):
        repair(task, [], budget_s=-1.0)


def test_bounds_hold_for_every_subgoal_and_are_zero_exactly_there() -> None:
    for seed in range(60):
        task, plan = disturbed(seed)
        subgoals = kernels(task.facts, task.goal, plan)
        to_go = [float(len(plan) - t) for t in range(len(plan) + 1)]
        model = SymbolicModel(task, subgoals, to_go)
        assert isinstance(model, LazyModel)
        known = distances(task)
        true = np.array([min((c for s, c in known.items() if k.holds(s)), default=INF) for k in subgoals])
        _, bound = model.discrepancy([task.initial])
        assert np.all(bound[0] <= true + 1e-9)
        assert [b == 0 for b in bound[0]] == [k.holds(task.initial) for k in subgoals]
        assert np.all(model.tighten(task.initial, lambda: False) <= true + 1e-9)
        assert model.solvable() or np.isinf(true).all()
        assert np.all(np.isinf(true[np.isinf(model.estimate(task.initial))]))
        steps = {*model.applicable(task.initial), *model.detours(task.initial)}
        assert steps == {a for a, action in enumerate(task.actions) if action.precondition.holds(task.initial)}
