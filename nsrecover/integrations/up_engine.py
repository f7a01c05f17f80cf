"""The recovery search as engines of `unified_planning`: `PlanRepairer`, `Replanner` and `OneshotPlanner`.

`nsrecover.integrations.unified_planning.register` makes them known there; docs/unified_planning.md says how they are
used.
"""

from __future__ import annotations

import time
from typing import IO, Any, ClassVar
from warnings import warn

from nsrecover.core.extras import needs_extra
from nsrecover.core.recovery import RecoveryStatus
from nsrecover.errors import InvalidConfiguration
from nsrecover.integrations.unified_planning import told
from nsrecover.integrations.up_grounding import Grounded
from nsrecover.integrations.up_reduction import READ, REMOVED
from nsrecover.planning import symbolic
from nsrecover.planning.search_tree import Ending

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
    from unified_planning.exceptions import UPUsageError
    from unified_planning.model import Problem, ProblemKind
    from unified_planning.model.problem_kind_versioning import LATEST_PROBLEM_KIND_VERSION
    from unified_planning.plans import PlanKind, SequentialPlan


class RecoveryEngine(Engine, PlanRepairerMixin, ReplannerMixin, OneshotPlannerMixin):  # type: ignore[misc]
    """Repairs plans: what of the old plan still is of use is used, by way of any of its steps.

    As a plan repairer it returns a valid plan as it is, and the cheapest repair it finds of any other one, also of one
    that was made for another goal or with actions that are gone. As a replanner it repairs its own last plan: after
    `update_initial_value` that is what is left of it from where the world is, or the way back onto it. As a planner it
    repairs `warm_start_plan`, or the empty plan; large problems are better left to other planners then.

    unified-planning makes the instances; `params` may hold every argument but the first two.

    Args:
        problem: what to plan for again and again, as a replanner.
        error_on_failed_checks: whether a problem that is not supported is an error or a warning, as a replanner.
        plan: the plan that the replanner begins with; without it, it plans from nothing.
        improve_s: seconds for which cheaper plans are looked for after the first one; None: until there can be none.
        timeout_s: seconds after which the search is given up; None: never. The timeout of `resolve` comes before it.
        max_expansions: search nodes after which it is given up; None: never. With this, and no times, the result is
            deterministic.

    Raises:
        InvalidConfiguration: a budget is negative.
    """

    optimal: ClassVar[bool] = False
    """Whether only a proof ends the search."""

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
        self._problem: Any = None
        if problem is not None:
            ReplannerMixin.__init__(self, problem, error_on_failed_checks)
        self._plan = plan
        self._improve_s = None if self.optimal else improve_s
        self._timeout_s, self._max_expansions = timeout_s, max_expansions

    @property
    def name(self) -> str:
        """What results say that they come from."""
        return "nsrecover"

    @staticmethod
    def satisfies(optimality_guarantee: OptimalityGuarantee) -> bool:
        """A valid plan; how good it is, the status says."""
        return bool(optimality_guarantee == OptimalityGuarantee.SATISFICING)

    @staticmethod
    def supported_kind() -> ProblemKind:
        """All that can be reduced to STRIPS with negative preconditions, and the costs of actions."""
        return ProblemKind(READ.union(*REMOVED.values()), version=LATEST_PROBLEM_KIND_VERSION)

    @staticmethod
    def supports(problem_kind: ProblemKind) -> bool:
        """Whether problems of some kind can be repaired."""
        return bool(problem_kind <= RecoveryEngine.supported_kind())

    @staticmethod
    def supports_plan(plan_kind: PlanKind) -> bool:
        """Plans have to be sequences of actions."""
        return bool(plan_kind == PlanKind.SEQUENTIAL_PLAN)

    @staticmethod
    def get_credits(**_: Any) -> Credits:
        """Who made it."""
        short = "Repairs plans by the cheapest way to the goal through any step of the old plan."
        return Credits("nsrecover", "the developers of nsrecover", "", "", "MIT", short, short)

    def _repair(self, problem: Problem, plan: SequentialPlan) -> PlanGenerationResult:
        return self._answer(problem, plan, None, None, keep=not self.optimal)

    def _resolve(self, timeout: float | None = None, output_stream: IO[str] | None = None) -> PlanGenerationResult:
        problem = self._replanned
        plan = SequentialPlan([], problem.environment) if self._plan is None else self._plan
        result = self._answer(problem, plan, timeout, output_stream, keep=False)
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
            warn(f"{self.name} has a heuristic of its own and ignores the one that was given", stacklevel=3)
        plan = warm_start_plan or SequentialPlan([], problem.environment)
        return self._answer(problem, plan, timeout, output_stream, keep=False)

    def _update_initial_value(self, fluent: Any, value: Any) -> None:
        self._replanned.set_initial_value(fluent, value)

    def _add_goal(self, goal: Any) -> None:
        self._replanned.add_goal(goal)

    def _remove_goal(self, goal: Any) -> None:
        problem = self._replanned
        (gone,) = problem.environment.expression_manager.auto_promote(goal)
        goals = problem.goals
        self._check_known(gone, goals, "goal")
        problem.clear_goals()
        for kept in goals:
            if kept is not gone:
                problem.add_goal(kept)

    def _add_action(self, action: Any) -> None:
        self._replanned.add_action(action)

    def _remove_action(self, name: str) -> None:
        problem = self._replanned
        actions = problem.actions
        self._check_known(name, [action.name for action in actions], "action")
        problem.clear_actions()
        problem.add_actions([action for action in actions if action.name != name])

    @property
    def _replanned(self) -> Any:
        if self._problem is None:
            raise UPUsageError("expected a replanner, found a plan repairer; make it with Replanner(problem, name=...)")
        return self._problem

    def _check_known(self, gone: Any, known: list[Any], what: str) -> None:
        if self.skip_checks or any(gone is item or gone == item for item in known):
            return
        message = f"expected one of the {what}s {known} to remove, found {gone}"
        if self.error_on_failed_checks:
            raise UPUsageError(message)
        warn(message, stacklevel=4)

    def _answer(
        self, problem: Problem, plan: SequentialPlan, timeout_s: float | None, stream: IO[str] | None, keep: bool
    ) -> PlanGenerationResult:
        """Search; `keep` says that a valid plan is returned as it is, even if there is a shorter one."""
        began = time.perf_counter()
        try:
            grounded = Grounded(problem, plan, {}, any_plan=True)
        except InvalidConfiguration as refused:
            return self._result(PlanGenerationResultStatus.UNSUPPORTED_PROBLEM, None, str(refused), LogLevel.ERROR)
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

        limit_s = self._timeout_s if timeout_s is None else timeout_s
        found = symbolic.repair(
            grounded.task,
            grounded.steps,
            budget_s=symbolic.what_is_left(limit_s, grounding_s),
            max_expansions=self._max_expansions,
            on_improvement=improved,
            cancelled=enough,
            shortcuts=self.optimal,
        )
        answer = told(grounded, found, time.perf_counter() - began, grounding_s)
        keep = self.optimal and grounded.followed and sum(step.cost for step in grounded.steps) <= found.cost
        return self._result(
            self._status(problem, found),
            plan if keep else answer.plan,
            answer.reason,
            cost=answer.cost,
            lower_bound=answer.lower_bound,
            proven_optimal=answer.proven_optimal,
            expansions=answer.expansions,
            seconds=answer.seconds,
            grounding_s=grounding_s,
        )

    def _status(self, problem: Problem, found: symbolic.Repair) -> PlanGenerationResultStatus:
        """What may be claimed of a result; without exactly one metric, none is better than another."""
        if found.status is RecoveryStatus.IMPOSSIBLE:
            return PlanGenerationResultStatus.UNSOLVABLE_PROVEN
        late = found.ending is Ending.TIME
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
        **measured: object,
    ) -> PlanGenerationResult:
        messages = [LogMessage(level, reason)] if reason else []
        return PlanGenerationResult(status, plan, self.name, {k: str(v) for k, v in measured.items()}, messages)


class OptimalRecoveryEngine(RecoveryEngine):
    """The same, but only a proof that no plan is cheaper ends the search: a valid plan is kept if it is optimal.

    Without a quality metric every action counts 1. If a budget ends the search before the proof, the best plan so far
    comes with status TIMEOUT, or SOLVED_SATISFICING for a budget of nodes.
    """

    optimal = True

    @property
    def name(self) -> str:
        """What results say that they come from."""
        return "nsrecover-opt"

    @staticmethod
    def satisfies(optimality_guarantee: OptimalityGuarantee) -> bool:
        """Both guarantees."""
        return True
