"""`python -m eval.symbolic`: repair of symbolic plans, judged by an independent validator and an optimal planner."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import count
from typing import Any

from eval.common.optimum_check import require
from eval.common.runner import Measurement, Run, Settings
from eval.symbolic.domain_cases import DomainCase, made, repaired
from eval.symbolic.domain_results import (
    FIRST,
    PROOFS,
    ConflictOutcome,
    DomainOutcome,
    cases_of_domains,
    compared,
    domain_metrics,
    domain_tables,
    draw_curves,
)
from nsrecover.errors import InvalidConfiguration


@dataclass
class SymbolicConfig(Settings):
    """Measure repairs of symbolic plans in public domains, judged by an independent validator and an optimal planner.

      python -m eval.symbolic                                 20 proofs, 15 first plans, 4 conflicts; ten minutes
      python -m eval.symbolic seed=7 proofs=0 conflicts=0 out=DIR       first plans alone, of fresh problems

    Writes metrics.json, table.md, every case (rows.jsonl) and anytime.png to out=DIR.

    Attributes:
        seed: another seed gives other problems, plans and disturbances.
        workers: number of processes; times are those of one process that has a core for itself.
        proofs: repairs that are proven next to Fast Downward's A* with LM-cut, at most 20.
        first_plans: repairs whose first plan is judged, next to LAMA, at most 50.
        conflicts: blocksworld goals that exclude each other.
        conflict_blocks: number of blocks in these.
        budget_s: seconds for one repair or plan.
        lama_s: seconds for LAMA.
    """

    proofs: int = 20
    first_plans: int = 15
    conflicts: int = 4
    conflict_blocks: int = 50
    budget_s: float = 60.0
    lama_s: float = 3.0
    workers: int = 1
    out: str = "outputs/symbolic"


def check(config: SymbolicConfig) -> None:
    """Refuse numbers out of their range, and a machine without Fast Downward."""
    require("this command")
    counts = (config.proofs, config.first_plans, config.conflicts)
    if min(*counts, config.budget_s) < 0 or config.lama_s <= 0 or config.conflict_blocks < 4 or not any(counts):
        raise InvalidConfiguration(
            f"expected at least one case, no negative numbers, lama_s > 0 and conflict_blocks >= 4, found proofs="
            f"{config.proofs}, first_plans={config.first_plans}, conflicts={config.conflicts}, budget_s="
            f"{config.budget_s}, lama_s={config.lama_s} and conflict_blocks={config.conflict_blocks}"
        )


def proof(case: DomainCase, budget_s: float, lama_s: float | None) -> DomainOutcome:
    """A repair next to Fast Downward, and next to LAMA if `lama_s` is given."""
    _ready()
    return compared(case, budget_s, lama_s)


@cache
def _ready() -> None:
    from unified_planning.shortcuts import get_environment

    get_environment().credits_stream = None
    repaired(made(DomainCase("gripper", 2)), 10.0)  # loads machine code, if it is installed; not counted


def conflicting(seed: int, blocks: int, budget_s: float) -> ConflictOutcome:
    """Ask for the impossible: one more `on` that excludes one of the goal, two blocks on one or one block on two."""
    from unified_planning.plans import SequentialPlan

    from eval.symbolic.public_domains import random_problem
    from nsrecover.integrations.unified_planning import repair

    _ready()
    problem = next(found for i in count() if (found := random_problem("blocks", seed + 1000 * i, blocks)).goals)
    rng = random.Random(f"conflict {blocks} {seed}")
    goals = [goal for each in problem.goals for goal in (each.args if each.is_and() else (each,))]
    top, below = (argument.object() for argument in rng.choice(goals).args)
    other = rng.choice([each for each in problem.all_objects if each not in (top, below)])
    pair = (other, below) if seed % 2 else (top, other)
    problem.add_goal(problem.fluent("on")(*pair))
    wanted = {f"on({top.name}, {below.name})", f"on({pair[0].name}, {pair[1].name})"}
    began, used = time.perf_counter(), time.process_time()
    found = repair(problem, SequentialPlan([]), {}, budget_s=budget_s)
    seconds, cpu_s = time.perf_counter() - began, time.process_time() - used
    named = any(set(pair) == wanted for pair in found.conflicts)
    return ConflictOutcome(
        blocks, seed, found.status.value, named, len(found.conflicts), seconds, cpu_s, found.expansions
    )


def measure(config: SymbolicConfig, run: Run) -> dict[str, Any]:
    """Run every case."""
    proven, first = cases_of_domains(PROOFS, config.proofs, config.seed), _first(config)
    outcomes = [
        *run.each(partial(proof, budget_s=config.budget_s, lama_s=None), proven, "proof"),
        *run.each(partial(proof, budget_s=config.budget_s, lama_s=config.lama_s), first, "first plan"),
    ]
    task = partial(conflicting, blocks=config.conflict_blocks, budget_s=config.budget_s)
    return domain_metrics(outcomes, run.each(task, range(config.conflicts), "conflict"))


def _first(config: SymbolicConfig) -> Sequence[DomainCase]:
    return cases_of_domains({domain: [size] * 10 for domain, size in FIRST.items()}, config.first_plans, config.seed)


MEASUREMENT = Measurement[SymbolicConfig](
    SymbolicConfig,
    measure,
    domain_tables,
    check=check,
    checkpoint=None,
    draw=draw_curves,
    adds=("proofs", "first_plans", "conflicts"),
)
