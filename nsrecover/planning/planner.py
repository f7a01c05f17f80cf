"""The recovery planner: from a discrepancy to the cheapest way back onto the plan (Kalithasan et al., section V)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import partial

import numpy as np

from nsrecover.core.actions import Action, Trace
from nsrecover.core.discrepancy import Cause, Discrepancy
from nsrecover.core.recovery import Recovery, RecoveryStatus
from nsrecover.core.scene import SceneGraph
from nsrecover.errors import InvalidConfiguration, InvalidPlan
from nsrecover.models.free_place import within_reach
from nsrecover.models.protocols import RecoveryModels
from nsrecover.planning.alternative_trace import standing_course
from nsrecover.planning.batch import Request, recover_each
from nsrecover.planning.neural_model import Move, NeuralModel, State, unit_cost
from nsrecover.planning.order import recovery_order
from nsrecover.planning.placement import FreePlaces, proposed_place
from nsrecover.planning.refine import realise
from nsrecover.planning.search import Ending, SearchResult, check_budgets, search
from nsrecover.planning.subgoals import Subgoals, considered, done_by

MAX_EXPANSIONS = 20_000
"""Default node budget: some seconds, so that the time budget normally decides."""

LOOK_BACK = 1e-3
"""Added to the cost-to-go of states that the plan had already passed: of two ways that cost the same, the one that does
not undo finished steps is taken."""

LEAVE_DISPLACED = 2e-3
"""Added to the cost-to-go of a course that leaves displaced objects where they are: of two ways that cost the same, the
one back to where everything was meant to be is taken."""

BELOW_TABLE_M = -0.01
"""An object whose centre is lower than this has fallen off the table."""


class Rejoin(StrEnum):
    """What counts as being back on the plan."""

    POSE = "pose"
    """Every object is where the trace has it (Kalithasan et al., section V)."""
    RELATIONS = "relations"
    """Every relation holds that the rest of the plan and its goal rest on: displaced objects may stay if they do no
    harm, and what refers to them follows. Never needs more actions than `POSE`, whose subgoals are kept."""


class RecoveryPlanner:
    """Finds the cheapest way from an erroneous scene back to any state of the imagined trace.

    Args:
        bundle: the learned parts.
        action_cost: what an action costs; every action 1 by default.
        rejoin: what counts as being back on the plan.
        free_places: finds free places for what is in the way.
    """

    def __init__(
        self,
        bundle: RecoveryModels,
        action_cost: Callable[[Action], float] = unit_cost,
        rejoin: Rejoin = Rejoin.POSE,
        free_places: FreePlaces = proposed_place,
    ) -> None:
        self._models = bundle
        self._action_cost = action_cost
        self._rejoin = rejoin
        self._free_places = free_places

    def recover(
        self,
        graph: SceneGraph,
        trace: Trace,
        discrepancy: Discrepancy,
        budget_s: float | None = 1.0,
        max_expansions: int | None = MAX_EXPANSIONS,
        on_improvement: Callable[[Recovery], None] | None = None,
        subgoals: Subgoals | int = Subgoals.ALL,
        cancelled: Callable[[], bool] | None = None,
    ) -> Recovery:
        """Plan a recovery; that there is none is an answer, not an exception.

        Args:
            graph: the scene as it is now.
            trace: what should have been, over the same objects.
            discrepancy: what is wrong, from the monitor.
            budget_s: wall time for the search, in seconds; None: no limit.
            max_expansions: nodes the search may expand; None: no limit.
            on_improvement: called with every better recovery as it is found.
            subgoals: which states of the trace to plan for; a number K means the K from which fewest objects differ.
            cancelled: asked now and then; if it says true, the best so far is returned.

        Returns:
            The recovery. `proven_optimal` is with respect to the subgoals that were planned for.

        Raises:
            InvalidPlan: the trace is over other objects than the scene.
            InvalidConfiguration: `subgoals` is less than 1, or a budget is negative.
        """
        began = time.perf_counter()
        _check(graph, trace, subgoals)
        gone = _gone(graph, discrepancy)
        involved = {name for action in trace.plan for name in action.arguments}
        lost = tuple(name for name in gone if name in involved)
        if lost:
            return Recovery(
                RecoveryStatus.IMPOSSIBLE,
                reason=f"{_listed(lost)} cannot be found any more, and the plan needs {_it(lost)}",
                blamed=lost,
                seconds=time.perf_counter() - began,
            )
        courses = self._courses(graph, trace, discrepancy)
        scenes = considered(self._models, graph, courses, discrepancy, subgoals)
        beyond = ~within_reach(graph.boxes, self._models) | (graph.boxes[:, 2] < BELOW_TABLE_M)
        model = NeuralModel(
            self._models,
            graph,
            courses,
            scenes,
            recovery_order(graph.names, trace.plan.actions[: discrepancy.step + 1]),
            fixed=frozenset(np.flatnonzero(beyond).tolist()),
            ignored=frozenset(graph.index(name) for name in gone),
            action_cost=self._action_cost,
            free_places=self._free_places,
        )

        def finished(result: SearchResult[State, Move]) -> Recovery:
            if result.subgoal is None:
                answer = _no_way(model, result)
            else:
                answer = _recovery(model, result, model.subgoals[result.subgoal])
            return replace(answer, seconds=time.perf_counter() - began)

        result = search(
            model,
            model.start,
            self._costs_to_go(model, discrepancy),
            max_expansions=max_expansions,
            budget_s=budget_s,
            on_improvement=None if on_improvement is None else lambda found: on_improvement(finished(found)),
            cancelled=cancelled,
            settle=False,  # a plan that moves something twice may be shortened
        )
        return finished(result)

    def recover_many(
        self,
        requests: Sequence[Request],
        budget_s: float | None = None,
        max_expansions: int | None = MAX_EXPANSIONS,
        subgoals: Subgoals | int = Subgoals.ALL,
        workers: int = 1,
    ) -> list[Recovery]:
        """Plan a recovery from each of many error states, as `recover` does.

        Args:
            requests: the error states; their scenes and plans may be of different sizes.
            budget_s: wall time for all of them together, in seconds; None: no limit.
            max_expansions: nodes that may be expanded for each of them; None: no limit.
            subgoals: as for `recover`.
            workers: number of processes. Every process starts a new interpreter and loads the models.

        Returns:
            The recoveries in the order of the requests.

        Raises:
            InvalidPlan: a trace is over other objects than its scene; the error names the number of the request.
            InvalidConfiguration: `subgoals` or `workers` is less than 1, a budget is negative, or `workers` is more
                than 1 and the planner cannot be pickled.
        """
        check_budgets(max_expansions, budget_s)
        for number, request in enumerate(requests):
            try:
                _check(request.graph, request.trace, subgoals)
            except InvalidPlan as error:
                raise InvalidPlan(f"request {number} (counted from 0): {error}") from None
        recover = partial(self.recover, max_expansions=max_expansions, subgoals=subgoals)
        return recover_each(recover, requests, workers, budget_s, type(self._models).__module__)

    def _costs_to_go(self, model: NeuralModel, discrepancy: Discrepancy) -> list[float]:
        """(K,) what the rest of the plan costs from each subgoal, and a little more for those that are less wanted.

        Of equally good ways the one that stays where the scene already is, if that is a subgoal, is taken.
        """
        left = [0.0]  # what the last 0, 1, ... actions of the plan cost
        for action in reversed(model.plan.actions):
            left.append(left[-1] + self._action_cost(action))
        costs, done = [], done_by(discrepancy)
        (wrong,) = model.discrepancy([model.start])[1]
        for scene, misplaced in zip(model.subgoals, wrong, strict=True):
            course, step = divmod(scene, len(left))
            extra = (LOOK_BACK if step < done else 0.0) + (LEAVE_DISPLACED if course else 0.0)
            costs.append(left[len(model.plan) - step] + (extra if misplaced > 0 else 0.0))
        return costs

    def _courses(self, graph: SceneGraph, trace: Trace, discrepancy: Discrepancy) -> Sequence[Trace]:
        """The trace, and another course if one is wanted and there is one."""
        if self._rejoin is Rejoin.POSE:
            return (trace,)
        displaced = [graph.index(name) for name in discrepancy.deviating if name in graph.names]
        other = standing_course(graph, trace, done_by(discrepancy), displaced, self._models)
        return (trace,) if other is None else (trace, other)


def _check(graph: SceneGraph, trace: Trace, subgoals: Subgoals | int) -> None:
    """Refuse a trace over other objects than the scene, and less than one subgoal."""
    for imagined in trace.graphs:
        if imagined.names != graph.names:
            raise InvalidPlan(
                f"expected a trace over the scene's objects {list(graph.names)}, found {list(imagined.names)}; "
                "imagine it again from this scene"
            )
    if isinstance(subgoals, int) and subgoals < 1:
        raise InvalidConfiguration(f"expected subgoals >= 1, or one of {', '.join(Subgoals)}, found {subgoals}")


def _gone(graph: SceneGraph, discrepancy: Discrepancy) -> tuple[str, ...]:
    """Objects that are not to be seen, in scene order."""
    missing = {culprit.name for culprit in discrepancy.deviations if culprit.cause is Cause.MISSING}
    unseen = graph.missing.tolist()
    return tuple(name for name, gone in zip(graph.names, unseen, strict=True) if gone or name in missing)


def _no_way(model: NeuralModel, result: SearchResult[State, Move]) -> Recovery:
    """The answer of a search that found nothing."""
    reason, blamed = _why_not(model, result)
    return Recovery(result.status, expansions=result.expansions, reason=reason, blamed=blamed)


def _recovery(model: NeuralModel, result: SearchResult[State, Move], scene: int) -> Recovery:
    """The answer of a search that found a way to an imagined scene, in terms of scenes."""
    step = scene % (len(model.plan) + 1)
    actions, graphs = realise(model, result.path, scene)
    spent = sum(model.action_cost(action) for action in actions)
    rest = sum(model.action_cost(action) for action in model.plan.actions[step:])
    stopped = "" if result.ending is Ending.PROVEN else f"the search stopped because {result.ending}"
    return Recovery(
        result.status,
        actions,
        graphs,
        subgoal=step,
        rest=tuple(model.scenes[scene + 1 : scene + 1 + len(model.plan) - step]),
        staying=_staying(model, model.scenes[scene], model.scenes[step]),
        cost=spent + rest,
        proven_optimal=result.proven_optimal or result.lower_bound >= result.cost - LOOK_BACK - LEAVE_DISPLACED,
        expansions=result.expansions,
        reason=stopped,
    )


def _staying(model: NeuralModel, meant: SceneGraph, imagined: SceneGraph) -> tuple[str, ...]:
    """Objects that the subgoal has where they are seen, and the trace elsewhere."""
    elsewhere = np.any(meant.boxes != imagined.boxes, axis=1) & np.all(meant.boxes == model.graph.boxes, axis=1)
    return tuple(model.graph.names[i] for i in np.flatnonzero(elsewhere))


def _why_not(model: NeuralModel, result: SearchResult[State, Move]) -> tuple[str, tuple[str, ...]]:
    """Why there is no way, and the objects to blame."""
    names = model.graph.names
    if result.status is RecoveryStatus.BUDGET_EXHAUSTED:
        return f"no way back was found before the search stopped: {result.ending}", ()
    wrong = model.nearest()
    far = tuple(names[i] for i in wrong if i in model.fixed)
    if far:
        return f"{_listed(far)} {_is(far)} out of the robot's reach", far
    stuck = tuple(names[i] for i in sorted(model.no_room))
    if stuck:
        return f"there is no room on the table to put {_listed(stuck)} down", stuck
    blocked = tuple(names[i] for i in sorted(model.fixed) if model.blocks(i))
    if blocked:
        return f"{_listed(blocked)} {_is(blocked)} in the way and out of the robot's reach", blocked
    left = tuple(names[i] for i in wrong)
    if not left:
        return "everything is where the plan has it, and still its next action cannot be run", ()
    return f"no sequence of moves brings {_listed(left)} back to where the plan has {_it(left)}", left


def _listed(names: tuple[str, ...]) -> str:
    """`the a, the b and the c`."""
    words = [f"the {name}" for name in names]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _it(names: tuple[str, ...]) -> str:
    return "it" if len(names) == 1 else "them"


def _is(names: tuple[str, ...]) -> str:
    return "is" if len(names) == 1 else "are"
