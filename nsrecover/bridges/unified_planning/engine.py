"""The recovery search as engines of `unified_planning`: `PlanRepairer`, `Replanner` and `OneshotPlanner`.

`nsrecover.bridges.unified_planning.register` registers them; docs/symbolic.md shows their use.
"""

from __future__ import annotations

import time
from typing import IO, ClassVar
from warnings import warn

from nsrecover.bridges.unified_planning import plan_repair, unfinished
from nsrecover.bridges.unified_planning.grounding import Grounded
from nsrecover.bridges.unified_planning.reduction import READ, REMOVED
from nsrecover.core.recovery import ReasonCode, RecoveryStatus
from nsrecover.errors import InvalidConfiguration
from nsrecover.planning import symbolic
from nsrecover.util.extras import needs_extra

with needs_extra("up", "unified-planning"):
    from unified_planning.engines import (
        Credits,
        Engine,
        LogLevel,
        LogMessage,
        PlanGenerationResult,
        PlanGenerationResultStatus,
    )
    from unified_planning.engines.mixins import OneshotPlannerMixin, PlanRepairerMixin, ReplannerMixin
    from unified_planning.engines.mixins.oneshot_planner import OptimalityGuarantee
    from unified_planning.engines.replanner import Replanner as MetaReplanner
    from unified_planning.exceptions import UPUsageError
    from unified_planning.model import Problem, ProblemKind
    from unified_planning.model.problem_kind_versioning import LATEST_PROBLEM_KIND_VERSION
    from unified_planning.plans import PlanKind, SequentialPlan

METRICS = ("cost", "lower_bound", "proven_optimal", "expansions", "seconds", "grounding_s")
"""Attributes of `PlanRepair` that are reported as metrics of a result."""


class RecoveryEngine(Engine, PlanRepairerMixin, ReplannerMixin, OneshotPlannerMixin):  # type: ignore[misc]
    """Repairs plans by the cheapest way to the goal through any step of the old plan.

    As a plan repairer it returns a valid plan unchanged, and otherwise the cheapest repair that it finds, even if the
    plan was made for another goal or with actions that no longer exist. As a replanner it repairs its own last plan:
    after `update_initial_value` it returns the rest of it, or a recovery. As a planner it repairs
    `warm_start_plan`, or the empty plan, for which other planners are better in large problems.

    unified-planning makes the instances; `params` may hold every argument but the first two.

    Args:
        problem: the problem, as a replanner.
        error_on_failed_checks: whether an unsupported problem is an error or a warning, as a replanner.
        plan: the first plan of the replanner; by default empty.
        improve_s: time for improving the first plan, in seconds; None: until it is proven optimal.
        timeout_s: time limit in seconds; None: no limit. The timeout of `resolve` takes precedence.
        max_expansions: largest number of expanded nodes; None: no limit. With it and no time limits, the result is
            deterministic.

    Raises:
        InvalidConfiguration: a budget is negative.
    """

    optimal: ClassVar[bool] = False
    """Whether only a proof of optimality ends the search."""

    def __init__(
        self,
        problem: Problem | None = None,
        error_on_failed_checks: bool = True,
        plan: SequentialPlan | None = None,
        improve_s: float | None = 1.0,
        timeout_s: float | None = None,
        max_expansions: int | None = None,
    ) -> None:
        if any(budget is not None and budget < 0 for budget in (improve_s, timeout_s, max_expansions)):
            raise InvalidConfiguration(
                f"expected budgets >= 0, found improve_s={improve_s}, timeout_s={timeout_s} and "
                f"max_expansions={max_expansions}; None means no limit"
            )
        Engine.__init__(self)
        PlanRepairerMixin.__init__(self)
        self._problem: Problem | None = None
        if problem is not None:
            ReplannerMixin.__init__(self, problem, error_on_failed_checks)
        self._plan = plan
        self._improve_s = None if self.optimal else improve_s
        self._timeout_s, self._max_expansions = timeout_s, max_expansions

    @property
    def name(self) -> str:
        """The name of the engine in results."""
        return "nsrecover-opt" if self.optimal else "nsrecover"

    @classmethod
    def satisfies(cls, optimality_guarantee: OptimalityGuarantee) -> bool:
        """Return whether the engine guarantees satisficing or optimal plans: all do the former, optimal ones both."""
        return cls.optimal or bool(optimality_guarantee == OptimalityGuarantee.SATISFICING)

    @staticmethod
    def supported_kind() -> ProblemKind:
        """Return the features that can be reduced to STRIPS with negative preconditions and action costs."""
        return ProblemKind(READ.union(*REMOVED.values()), version=LATEST_PROBLEM_KIND_VERSION)

    @staticmethod
    def supports(problem_kind: ProblemKind) -> bool:
        """Return whether problems of a kind are supported."""
        return bool(problem_kind <= RecoveryEngine.supported_kind())

    @staticmethod
    def supports_plan(plan_kind: PlanKind) -> bool:
        """Return whether a kind of plan is supported: sequential plans."""
        return bool(plan_kind == PlanKind.SEQUENTIAL_PLAN)

    @staticmethod
    def get_credits(**_: object) -> Credits:
        """Return the credits of the engine."""
        short = "Repairs plans by the cheapest way to the goal through any step of the old plan."
        return Credits("nsrecover", "the developers of nsrecover", "", "", "MIT", short, short)

    def _repair(self, problem: Problem, plan: SequentialPlan) -> PlanGenerationResult:
        return self._answer(problem, plan, None, None, keep=not self.optimal)

    def _resolve(self, timeout: float | None = None, output_stream: IO[str] | None = None) -> PlanGenerationResult:
        if self._problem is None:
            raise UPUsageError("expected a replanner, found a plan repairer; make it with Replanner(problem, name=...)")
        result = self._solve_with_params(self._problem, None, timeout, output_stream, self._plan)
        self._plan = result.plan or self._plan
        return result

    def _solve(
        self,
        problem: Problem,
        heuristic: object = None,
        timeout: float | None = None,
        output_stream: IO[str] | None = None,
    ) -> PlanGenerationResult:
        return self._solve_with_params(problem, heuristic, timeout, output_stream)

    def _solve_with_params(
        self,
        problem: Problem,
        heuristic: object = None,
        timeout: float | None = None,
        output_stream: IO[str] | None = None,
        warm_start_plan: SequentialPlan | None = None,
    ) -> PlanGenerationResult:
        if heuristic is not None:
            warn(f"{self.name} uses its own heuristic and ignores the given one", stacklevel=3)
        plan = warm_start_plan or SequentialPlan([], problem.environment)
        return self._answer(problem, plan, timeout, output_stream, keep=False)

    # The changes of the problem are those of unified-planning's own replanner.
    _update_initial_value = MetaReplanner._update_initial_value
    _add_goal, _remove_goal = MetaReplanner._add_goal, MetaReplanner._remove_goal
    _add_action, _remove_action = MetaReplanner._add_action, MetaReplanner._remove_action

    def _answer(
        self, problem: Problem, plan: SequentialPlan, timeout_s: float | None, stream: IO[str] | None, keep: bool
    ) -> PlanGenerationResult:
        """Search for a plan; with `keep`, a valid plan is returned unchanged even if there is a shorter one."""
        began = time.perf_counter()
        limit_s = self._timeout_s if timeout_s is None else timeout_s
        try:
            grounded = Grounded(problem, plan, {}, any_plan=True, stop=symbolic.stopping(limit_s, None, began))
        except InvalidConfiguration as refused:
            return self._result(PlanGenerationResultStatus.UNSUPPORTED_PROBLEM, None, str(refused), LogLevel.ERROR)
        except symbolic.Interrupted:
            late = unfinished(None, time.perf_counter() - began)
            return self._result(PlanGenerationResultStatus.TIMEOUT, None, late.reason)
        grounding_s = time.perf_counter() - began
        if keep and grounded.valid:
            return self._result(PlanGenerationResultStatus.SOLVED_SATISFICING, plan)
        first_s: list[float] = []

        def improved(found: symbolic.Repair) -> None:
            first_s.append(time.perf_counter())
            if stream is not None:
                stream.write(f"a plan of cost {found.cost:g} after {first_s[-1] - began:.2f} s\n")

        def enough() -> bool:
            return self._improve_s is not None and bool(first_s) and time.perf_counter() > first_s[0] + self._improve_s

        found = symbolic.repair(
            grounded.task,
            grounded.steps,
            budget_s=symbolic.what_is_left(limit_s, grounding_s),
            max_expansions=self._max_expansions,
            on_improvement=improved,
            cancelled=enough,
            shortcuts=self.optimal,
        )
        answer = plan_repair(grounded, found, time.perf_counter() - began, grounding_s)
        keep = self.optimal and grounded.followed and sum(step.cost for step in grounded.steps) <= found.cost
        measured = {name: str(getattr(answer, name)) for name in METRICS}
        return self._result(
            self._status(problem, found), plan if keep else answer.plan, answer.reason, metrics=measured
        )

    def _status(self, problem: Problem, found: symbolic.Repair) -> PlanGenerationResultStatus:
        """Return the status of a result; optimality is claimed only for problems with exactly one metric."""
        if found.status is RecoveryStatus.IMPOSSIBLE:
            return PlanGenerationResultStatus.UNSOLVABLE_PROVEN
        late = found.reason_code is ReasonCode.TIME_BUDGET
        if not found.found or (self.optimal and not found.proven_optimal):
            return (
                PlanGenerationResultStatus.TIMEOUT if late
                else PlanGenerationResultStatus.SOLVED_SATISFICING if found.found
                else PlanGenerationResultStatus.UNSOLVABLE_INCOMPLETELY
            )  # fmt: skip
        if found.proven_optimal and len(problem.quality_metrics) == 1:
            return PlanGenerationResultStatus.SOLVED_OPTIMALLY
        return PlanGenerationResultStatus.SOLVED_SATISFICING

    def _result(
        self,
        status: PlanGenerationResultStatus,
        plan: SequentialPlan | None,
        reason: str = "",
        level: LogLevel = LogLevel.INFO,
        metrics: dict[str, str] | None = None,
    ) -> PlanGenerationResult:
        messages = [LogMessage(level, reason)] if reason else []
        return PlanGenerationResult(status, plan, self.name, metrics or {}, messages)


class OptimalRecoveryEngine(RecoveryEngine):
    """Like `RecoveryEngine`, but only a proof of optimality ends the search; a valid plan is kept if it is optimal.

    Without a quality metric every action costs 1. If a budget ends the search before the proof, the best plan is
    returned with status TIMEOUT, or SOLVED_SATISFICING for a budget of nodes.
    """

    optimal = True
