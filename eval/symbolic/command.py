"""`python -m eval.symbolic`: repair of symbolic plans, judged by an independent validator and an optimal planner."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from eval.common.optimum_check import fast_downward, require
from eval.common.output import in_workers, write_results
from eval.common.tables import markdown_table
from eval.symbolic.domain_results import conflicting, domain_metrics, domain_tables, draw_curves, run_domains
from nsrecover.errors import InvalidConfiguration
from sim.common.folder import write_json

CASES = "cases.json"

CURVES = "anytime"
"""Name of the figure."""

DISTURBANCES = ("moved", "dropped", "toppled")
"""Disturbances of repairable plans."""

HOPELESS = ("lost", "pinned")
"""Disturbances that make most repairs impossible."""

TRIES = 100
"""Most disturbances to draw until the plan fails."""


@dataclass
class SymbolicConfig:
    """Measure repairs of symbolic plans, judged by an independent validator and an optimal planner.

      python -m eval.symbolic                                 300 repairs and 5 of 100 blocks; some minutes
      python -m eval.symbolic seed=7 repairs=30 out=DIR       fewer, and fresh ones
      python -m eval.symbolic repairs=0 large_blocks=50       without the short plans
      python -m eval.symbolic repairs=0 large_repairs=0       only the public domains and conflicting goals

    Writes metrics.json, table.md, cases.json (every repair) and anytime.png to out=DIR.

    Attributes:
        workers: number of processes; the result does not depend on it.
        out: output folder.
        seed: another seed gives other problems, plans and disturbances.
        repairs: number of random blocksworld problems whose plans are disturbed at a random step.
        fewest_blocks: least number of blocks.
        most_blocks: greatest number of blocks.
        hopeless: share of the problems in which a block is lost or fixed in its place, so that most have no solution.
        budget_s: seconds for one repair.
        large_repairs: number of repairs of long plans, for which only the time and the validity are judged.
        large_blocks: number of blocks in these.
        proofs: repairs in public domains that are proven next to Fast Downward's A* with LM-cut, at most 20.
        first_plans: repairs in public domains whose first plan is judged, next to LAMA, at most 50.
        conflicts: blocksworld goals that exclude each other.
        conflict_blocks: number of blocks in these.
        proof_budget_s: seconds for one repair or plan in public domains.
        lama_s: seconds for LAMA.
    """

    seed: int = 0
    repairs: int = 300
    fewest_blocks: int = 4
    most_blocks: int = 8
    hopeless: float = 0.15
    budget_s: float = 10.0
    large_repairs: int = 5
    large_blocks: int = 100
    proofs: int = 20
    first_plans: int = 15
    conflicts: int = 4
    conflict_blocks: int = 50
    proof_budget_s: float = 60.0
    lama_s: float = 3.0
    workers: int = 2
    out: str = "outputs/symbolic"


@dataclass(frozen=True)
class RepairCase:
    """Seed and size of a problem, and kind of its disturbance."""

    seed: int
    blocks: int
    hopeless: bool
    large: bool = False


@dataclass(frozen=True)
class RepairOutcome:
    """Result of a repair.

    Attributes:
        case: the case.
        disturbance: its kind.
        length: of the original plan.
        done: number of steps before the disturbance.
        status: of the repair.
        actions: number of repair actions.
        step: of the plan where the repair rejoins it.
        cost: length of the new plan; None if there is none.
        first_cost: length of the first plan found.
        valid: whether unified-planning's validator accepts the plan; None if there is none.
        optimum: least length, by Fast Downward; None if no plan exists or without a check.
        proven: whether the repair is proven optimal.
        lower_bound: on the length of any plan.
        expansions: search nodes.
        seconds: wall time from the problem to the answer.
        first_s: the same to the first plan.
        first_cpu_s: processor time to the first plan.
        grounding_s: for grounding.
        planner_s: time of Fast Downward.
    """

    case: RepairCase
    disturbance: str
    length: int
    done: int
    status: str
    actions: int
    step: int | None
    cost: float | None
    first_cost: float | None
    valid: bool | None
    optimum: float | None
    proven: bool
    lower_bound: float
    expansions: int
    seconds: float
    first_s: float | None
    first_cpu_s: float | None
    grounding_s: float
    planner_s: float | None


def run_case(case: RepairCase, budget_s: float) -> RepairOutcome:
    """Make a problem and a plan, disturb it, repair it, and judge the repair."""
    from unified_planning.plans import SequentialPlan
    from unified_planning.shortcuts import get_environment

    from eval.symbolic.blocksworld import Blocks, Domain, disturbed, random_towers, reaches, simple_plan
    from nsrecover.integrations.unified_planning import repair

    get_environment().credits_stream = None
    rng = random.Random(f"{case.seed} {case.blocks} {case.hopeless}")
    domain = Domain(case.blocks)
    while True:
        towers, goal = random_towers(rng, case.blocks), random_towers(rng, case.blocks)
        start = Blocks(towers)
        problem = domain.problem(start, goal)
        steps = simple_plan(towers, goal)
        if not case.large:
            # plan by repairing an empty plan
            made = repair(problem, SequentialPlan([]), {}, budget_s=None, max_expansions=2000, shortcuts=True)
            assert made.plan is not None
            steps = domain.steps(made.plan)
        states = [start]
        for step in steps:
            reached = states[-1].after(step)
            assert reached is not None
            states.append(reached)
        for _ in range(TRIES):
            kind = rng.choice(HOPELESS if case.hopeless else DISTURBANCES)
            done = rng.randint(0, len(steps))
            now = disturbed(rng, states[done], kind)
            if now != states[done] and not reaches(now, steps[done:], goal):
                changes, after = domain.changes(start, now), domain.problem(now, goal)
                problems = (problem, after)
                return _judged(case, kind, done, problems, domain.plan(steps), changes, budget_s)


def _judged(
    case: RepairCase, kind: str, done: int, problems: tuple[Any, Any], plan: Any, changes: Any, budget_s: float
) -> RepairOutcome:
    """Repair a plan for the problem before something changed, and judge the repair by the problem after it."""
    from nsrecover.integrations.unified_planning import PlanRepair, repair

    improvements, used = list[PlanRepair](), list[float]()

    def better(improvement: PlanRepair) -> None:
        improvements.append(improvement)
        used.append(time.process_time() - began)

    problem, after = problems
    began = time.process_time()
    found = repair(
        problem,
        plan,
        changes,
        budget_s=budget_s,
        shortcuts=True,
        on_improvement=better,
    )
    optimum, planner_s = (None, None) if case.large else shortest(after)
    return RepairOutcome(
        case,
        kind,
        len(plan.actions),
        done,
        found.status.value,
        len(found.actions),
        found.step,
        found.cost if found.found else None,
        improvements[0].cost if improvements else None,
        is_valid(after, found.plan) if found.plan is not None else None,
        optimum,
        found.proven_optimal,
        found.lower_bound,
        found.expansions,
        found.seconds,
        improvements[0].seconds if improvements else None,
        used[0] if used else None,
        found.grounding_s,
        planner_s,
    )


def is_valid(problem: Any, plan: Any) -> bool:
    """Whether unified-planning's own validator accepts a plan."""
    from unified_planning.engines import SequentialPlanValidator, ValidationResultStatus

    return bool(SequentialPlanValidator().validate(problem, plan).status is ValidationResultStatus.VALID)


def shortest(problem: Any) -> tuple[float | None, float]:
    """Return the length of the shortest plan by Fast Downward (A* with LM-cut), None if none exists; and seconds."""
    from unified_planning.engines import PlanGenerationResultStatus
    from unified_planning.shortcuts import MinimizeSequentialPlanLength

    problem.add_quality_metric(MinimizeSequentialPlanLength())
    with fast_downward() as planner:
        began = time.perf_counter()
        result = planner.solve(problem)
        seconds = time.perf_counter() - began
    if result.status is PlanGenerationResultStatus.UNSOLVABLE_PROVEN:
        return None, seconds
    if result.status is not PlanGenerationResultStatus.SOLVED_OPTIMALLY:
        raise RuntimeError(f"expected Fast Downward to solve the problem, found {result.status}: {result.log_messages}")
    return float(len(result.plan.actions)), seconds


def cases_of(config: SymbolicConfig) -> list[RepairCase]:
    """Return the cases: numbers of blocks in turn, unsolvable ones spread evenly.

    Raises:
        InvalidConfiguration: a number is out of its range, or a planner is not installed.
    """
    require("this command")
    if not 2 <= config.fewest_blocks <= config.most_blocks or config.large_blocks < 2:
        raise InvalidConfiguration(
            f"expected 2 <= fewest_blocks <= most_blocks and large_blocks >= 2, found {config.fewest_blocks}, "
            f"{config.most_blocks} and {config.large_blocks}"
        )
    if not 0.0 <= config.hopeless <= 1.0 or config.budget_s < 0 or min(config.repairs, config.large_repairs) < 0:
        raise InvalidConfiguration(
            f"expected 0 <= hopeless <= 1 and no negative numbers, found hopeless={config.hopeless}, budget_s="
            f"{config.budget_s}, repairs={config.repairs} and large_repairs={config.large_repairs}"
        )
    others = (config.proofs, config.first_plans, config.conflicts)
    if min(*others, config.proof_budget_s) < 0 or config.lama_s <= 0 or config.conflict_blocks < 4:
        raise InvalidConfiguration(
            f"expected no negative numbers, lama_s > 0 and conflict_blocks >= 4, found proofs={config.proofs}, "
            f"first_plans={config.first_plans}, conflicts={config.conflicts}, proof_budget_s={config.proof_budget_s}, "
            f"lama_s={config.lama_s} and conflict_blocks={config.conflict_blocks}"
        )
    if config.repairs + config.large_repairs + sum(others) == 0:
        raise InvalidConfiguration("expected at least one repair, found none; set repairs=300")
    span = config.most_blocks - config.fewest_blocks + 1
    cases = []
    for i in range(config.repairs):
        turn, size = divmod(i, span)
        hopeless = int((turn + 1) * config.hopeless) > int(turn * config.hopeless)
        cases.append(RepairCase(config.seed * 1_000_003 + i, config.fewest_blocks + size, hopeless))
    large = [
        RepairCase(config.seed * 1_000_003 + i, config.large_blocks, False, True) for i in range(config.large_repairs)
    ]
    return cases + large


def run_all(config: SymbolicConfig, cases: Sequence[RepairCase]) -> Iterator[RepairOutcome]:
    """Run the small cases in worker processes, then the large ones in this process, for their times."""
    task = partial(run_case, budget_s=config.budget_s)
    small, large = ([case for case in cases if case.large == which] for which in (False, True))
    yield from in_workers(task, small, config.workers, "repair", "repairing")
    yield from tqdm(map(task, large), total=len(large), unit="repair", desc="long plans")


def _quantile(values: Sequence[float], share: float) -> float | None:
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 4) if ordered else None


def summary(outcomes: Sequence[RepairOutcome]) -> dict[str, Any]:
    """Return the metrics of some cases."""
    solvable = [o for o in outcomes if o.case.large or o.optimum is not None]
    hopeless = [o for o in outcomes if not o.case.large and o.optimum is None]
    found = [o for o in solvable if o.cost is not None]
    judged = [o for o in solvable if o.optimum is not None]
    seconds = [o.seconds for o in outcomes]
    first = [o.first_s for o in solvable if o.first_s is not None]
    first_cpu = [o.first_cpu_s for o in solvable if o.first_cpu_s is not None]
    return {
        "repairs": len(outcomes),
        "solvable": len(solvable),
        "found": len(found),
        "valid": sum(o.valid is True for o in solvable),
        "optimal": sum(o.cost == o.optimum for o in judged),
        "judged_optimal": len(judged),
        "proven_optimal": sum(o.proven for o in solvable),
        "proven_wrongly": sum(o.proven and o.cost != o.optimum for o in judged),
        "unsolvable": len(hopeless),
        "unsolvable_proven": sum(o.status == "impossible" for o in hopeless),
        "impossible_wrongly": sum(o.status == "impossible" for o in judged),
        "rejoined_before_the_goal": sum(o.step is not None and o.step < o.length for o in found),
        "seconds": {"median": _quantile(seconds, 0.5), "p95": _quantile(seconds, 0.95), "max": _quantile(seconds, 1.0)},
        "first_s": {"median": _quantile(first, 0.5), "p95": _quantile(first, 0.95), "max": _quantile(first, 1.0)},
        "first_cpu_s": {"median": _quantile(first_cpu, 0.5), "max": _quantile(first_cpu, 1.0)},
        "grounding_s": {"median": _quantile([o.grounding_s for o in outcomes], 0.5)},
        "planner_s": {"median": _quantile([o.planner_s for o in outcomes if o.planner_s is not None], 0.5)},
        "expansions": {"median": statistics.median([o.expansions for o in outcomes]) if outcomes else None},
    }


def _ms(seconds: float | None) -> str:
    return "" if seconds is None else f"{1000 * seconds:.0f} ms" if seconds < 10 else f"{seconds:.1f} s"


def markdown(groups: dict[str, dict[str, Any]]) -> str:
    """Metrics as a table."""
    head = (
        "blocks", "repairs", "valid", "shortest", "proven shortest", "unsolvable proven", "first plan, median / max",
        "processor time", "answer, median / 95 %", "Fast Downward, median",
    )  # fmt: skip
    rows = []
    for name, found in groups.items():
        first, processor, answer = found["first_s"], found["first_cpu_s"], found["seconds"]
        judged = found["judged_optimal"]
        rows.append(
            [
                name,
                found["repairs"],
                f"{found['valid']} of {found['solvable']}",
                f"{found['optimal']} of {judged}" if judged else "not judged",
                f"{found['proven_optimal']} of {found['solvable']}",
                f"{found['unsolvable_proven']} of {found['unsolvable']}",
                f"{_ms(first['median'])} / {_ms(first['max'])}",
                f"{_ms(processor['median'])} / {_ms(processor['max'])}",
                f"{_ms(answer['median'])} / {_ms(answer['p95'])}",
                _ms(found["planner_s"]["median"]),
            ]
        )
    return markdown_table(head, rows) + "\n"


def measure(config: SymbolicConfig) -> dict[str, Any]:
    """Run every case and write metrics, table and the single outcomes."""
    outcomes = list(run_all(config, cases_of(config)))
    small = [o for o in outcomes if not o.case.large]
    groups: dict[str, dict[str, Any]] = {}
    for count in sorted({o.case.blocks for o in small}):
        groups[str(count)] = summary([o for o in small if o.case.blocks == count])
    if small:
        groups["all"] = summary(small)
    large = [o for o in outcomes if o.case.large]
    if large:
        groups[f"{config.large_blocks} (large)"] = summary(large)
    public = list(run_domains(config.proofs, config.first_plans, config.seed, config.proof_budget_s, config.lama_s))
    conflicts = [conflicting(config.conflict_blocks, seed, config.proof_budget_s) for seed in range(config.conflicts)]
    metrics = {"seed": config.seed, "budget_s": config.budget_s, "groups": groups}
    metrics["domains"] = domain_metrics(public, conflicts)
    table = "\n".join([*([markdown(groups)] if groups else []), domain_tables(public, conflicts)])
    write_results(config.out, metrics, table, config)
    if config.first_plans:
        draw_curves(public, Path(config.out), CURVES)
    write_json(Path(config.out) / CASES, [asdict(outcome) for outcome in outcomes])
    return metrics
