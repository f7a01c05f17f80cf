"""`python -m eval.symbolic`: repair of symbolic plans, judged by an independent validator and an optimal planner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from typing import Any

from eval.common.optimum_check import require
from eval.common.tables import markdown_table
from eval.run import Measurement, Run, Settings, run
from eval.symbolic.domain_cases import (
    DomainCase,
    accepted,
    made,
    proven_by_fast_downward,
    repaired,
)

PROOFS = {"blocks": (8, 9, 10, 12), "gripper": (3, 4, 5, 6), "logistics": (3, 4, 5, 6), "rovers": (4, 5, 6, 7),
          "barman": (2, 2, 3, 3)}  # fmt: skip
"""Domain -> sizes of the problems whose repairs are proven."""

STRANGE = {"blocks": 6}
"""Number of actions of the external agent in some domains; 4 in the others."""

RATIO = 3.0
"""Largest time of a proof in units of Fast Downward's."""


@dataclass(frozen=True)
class DomainOutcome:
    """A repair next to Fast Downward.

    Attributes:
        case: the case.
        length: number of actions of the old plan.
        done: number of them before the disturbance.
        cost: of the repair; None if there is none.
        proven: whether the repair is proven optimal.
        valid: whether unified-planning's validator accepts it.
        seconds: wall time to the proof.
        cpu_s: processor time to the proof.
        expansions: of the search.
        planner_cost: least cost by Fast Downward (A* with LM-cut).
        planner_s: its wall time, with the start of its processes.
        planner_cpu_s: its processor time.
    """

    case: DomainCase
    length: int
    done: int
    cost: float | None
    proven: bool
    valid: bool
    seconds: float
    cpu_s: float
    expansions: int
    planner_cost: float | None
    planner_s: float
    planner_cpu_s: float


def cases_of_domains(sizes: Mapping[str, Sequence[int]], count: int, seed: int) -> list[DomainCase]:
    """Return at most `count` cases, domain by domain in turn."""
    turns = range(max(map(len, sizes.values())))
    every = [
        DomainCase(domain, some[turn], seed * 1000 + turn, STRANGE.get(domain, 4))
        for turn in turns
        for domain, some in sizes.items()
        if turn < len(some)
    ]
    return every[:count]


def compared(case: DomainCase, budget_s: float) -> DomainOutcome:
    """Repair a disturbed plan and solve the same problem with Fast Downward.

    Disturbances after which there is no plan (a crate in a corner) are replaced by those of another seed.
    """
    while True:
        disturbed = made(case)
        judge = proven_by_fast_downward(disturbed.after, budget_s)
        if judge.cost is not None or not judge.proven:
            break
        case = replace(case, seed=case.seed + 100)
    found, cpu_s = repaired(disturbed, budget_s)
    return DomainOutcome(
        case,
        len(disturbed.plan.actions),
        disturbed.done,
        found.cost if found.found else None,
        found.proven_optimal,
        found.plan is not None and accepted(disturbed.after, found.plan),
        found.seconds,
        cpu_s,
        found.expansions,
        judge.cost,
        judge.seconds,
        judge.cpu_s,
    )


def domain_metrics(outcomes: Sequence[DomainOutcome]) -> dict[str, Any]:
    """Return the metrics of all cases in public domains."""
    ratios = [o.cpu_s / o.planner_cpu_s for o in outcomes if o.proven]
    wall = [o.seconds / o.planner_s for o in outcomes if o.proven]
    return {
        "proofs": {
            "instances": len(outcomes),
            "proven": sum(o.proven for o in outcomes),
            "valid": sum(o.valid for o in outcomes),
            "same_cost": sum(o.cost == o.planner_cost for o in outcomes),
            "within_cpu": sum(ratio <= RATIO for ratio in ratios),
            "within_wall": sum(ratio <= RATIO for ratio in wall),
            "cpu_ratio": {"median": _middle(ratios), "max": max(ratios, default=None)},
            "wall_ratio": {"median": _middle(wall), "max": max(wall, default=None)},
        },
        "cases": [asdict(o) for o in outcomes],
    }


def _middle(values: Sequence[float]) -> float | None:
    return sorted(values)[len(values) // 2] if values else None


def domain_tables(metrics: Mapping[str, Any]) -> str:
    """Return the tables of all cases in public domains."""
    outcomes = [DomainOutcome(**{**o, "case": DomainCase(**o["case"])}) for o in metrics["cases"]]
    head = ("domain", "size", "cost", "best", "proven", "expansions", "processor time, ours / Fast Downward", "ratio",
            "wall time, ours / Fast Downward")  # fmt: skip
    rows = [
        [
            o.case.domain, o.case.size, o.cost, o.planner_cost, "yes" if o.proven else "no", o.expansions,
            f"{o.cpu_s:.2f} s / {o.planner_cpu_s:.2f} s", f"{o.cpu_s / o.planner_cpu_s:.1f}",
            f"{o.seconds:.2f} s / {o.planner_s:.2f} s",
        ]
        for o in outcomes
    ]  # fmt: skip
    return markdown_table(head, rows) + "\n"


@dataclass
class SymbolicConfig(Settings):
    """Measure repairs of symbolic plans in public domains, judged by an independent validator and an optimal planner.

      python -m eval.symbolic                                 20 proofs; ten minutes
      python -m eval.symbolic seed=7 proofs=5 out=DIR         fewer, of fresh problems

    Writes metrics.json, table.md and every case (rows.jsonl) to out=DIR.

    Attributes:
        seed: another seed gives other problems, plans and disturbances.
        workers: number of processes; times are those of one process that has a core for itself.
        proofs: repairs that are proven next to Fast Downward's A* with LM-cut, at most 20.
        budget_s: seconds for one repair or plan.
    """

    proofs: int = 20
    budget_s: float = 60.0
    workers: int = 1


def proof(case: DomainCase, budget_s: float) -> DomainOutcome:
    """A repair next to Fast Downward."""
    _ready()
    return compared(case, budget_s)


@cache
def _ready() -> None:
    from unified_planning.shortcuts import get_environment

    get_environment().credits_stream = None
    repaired(made(DomainCase("gripper", 2)), 10.0)  # loads machine code, if it is installed; not counted


def measure(config: SymbolicConfig, run: Run) -> dict[str, Any]:
    """Run every case."""
    cases = cases_of_domains(PROOFS, config.proofs, config.seed)
    return domain_metrics(run.each(partial(proof, budget_s=config.budget_s), cases, "proof"))


MEASUREMENT = Measurement[SymbolicConfig](
    SymbolicConfig,
    measure,
    domain_tables,
    check=lambda config: require("this command"),
    least={"proofs": 1, "budget_s": 0},
    checkpoint=None,
    adds=("proofs",),
)


if __name__ == "__main__":
    run(MEASUREMENT)
