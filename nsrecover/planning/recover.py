"""The recovery planner: from a discrepancy to the cheapest way back onto the plan (Kalithasan et al., section V)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from nsrecover.errors import InvalidConfiguration, InvalidPlan
from nsrecover.free_place import within_reach
from nsrecover.planning.neural import Move, NeuralModel, RecoveryModels, State, unit_cost
from nsrecover.planning.order import recovery_order
from nsrecover.planning.realise import realise
from nsrecover.planning.search import Ending, SearchResult, search
from nsrecover.structs import Action, Cause, Discrepancy, Phase, Recovery, RecoveryStatus, SceneGraph, Trace

MAX_EXPANSIONS = 20_000
"""Default node budget: some seconds, so that the time budget normally decides."""

LOOK_BACK = 1e-3
"""Added to the cost-to-go of states that the plan had already passed: of two ways that cost the same, the one that does
not undo finished steps is taken."""

BELOW_TABLE_M = -0.01
"""An object whose centre is lower than this has fallen off the table."""


class RecoveryPlanner:
    """Finds the cheapest way from an erroneous scene back to any state of the imagined trace.

    Args:
        bundle: the learned parts.
        action_cost: what an action costs; every action 1 by default.
    """

    def __init__(self, bundle: RecoveryModels, action_cost: Callable[[Action], float] = unit_cost) -> None:
        self._models = bundle
        self._action_cost = action_cost

    def recover(
        self,
        graph: SceneGraph,
        trace: Trace,
        discrepancy: Discrepancy,
        budget_s: float | None = 1.0,
        max_expansions: int | None = MAX_EXPANSIONS,
        on_improvement: Callable[[Recovery], None] | None = None,
        subgoals: int | None = None,
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
            subgoals: plan only to this many states of the trace, those nearest by discrepancy; None: to all of them.
            cancelled: asked now and then; if it says true, the best so far is returned.

        Returns:
            The recovery. `proven_optimal` is with respect to the subgoals that were planned for.

        Raises:
            InvalidPlan: the trace is over other objects than the scene.
            InvalidConfiguration: `subgoals` is less than 1, or a budget is negative.
        """
        began = time.perf_counter()
        for imagined in trace.graphs:
            if imagined.names != graph.names:
                raise InvalidPlan(
                    f"expected a trace over the scene's objects {list(graph.names)}, found {list(imagined.names)}; "
                    "imagine it again from this scene"
                )
        if subgoals is not None and subgoals < 1:
            raise InvalidConfiguration(f"expected subgoals >= 1, or None for all, found {subgoals}")
        gone = _gone(graph, discrepancy)
        involved = {name for action in trace.plan for name in action.arguments}
        lost = tuple(name for name in gone if name in involved)
        if lost:
            return Recovery(
                RecoveryStatus.IMPOSSIBLE,
                seconds=time.perf_counter() - began,
                reason=f"{_listed(lost)} cannot be found any more, and the plan needs {_it(lost)}",
                blamed=lost,
            )
        fixed = frozenset(i for i in range(len(graph)) if self._out_of_reach(graph, i))
        order = recovery_order(graph.names, trace.plan.actions[: discrepancy.step + 1])
        considered = self._nearest(graph, trace, discrepancy, subgoals)
        model = NeuralModel(
            self._models,
            graph,
            trace,
            considered,
            order,
            fixed=fixed,
            ignored=frozenset(graph.index(name) for name in gone),
            action_cost=self._action_cost,
        )
        done = discrepancy.step + (discrepancy.phase is Phase.AFTER)
        rest = [
            sum(self._action_cost(action) for action in trace.plan.actions[t:]) + (LOOK_BACK if t < done else 0.0)
            for t in considered
        ]

        def finished(result: SearchResult[State, Move]) -> Recovery:
            return replace(_recovery(model, result), seconds=time.perf_counter() - began)

        result = search(
            model,
            model.start,
            rest,
            max_expansions=max_expansions,
            budget_s=budget_s,
            on_improvement=None if on_improvement is None else lambda found: on_improvement(finished(found)),
            cancelled=cancelled,
        )
        return finished(result)

    def _out_of_reach(self, graph: SceneGraph, index: int) -> bool:
        """Whether the robot cannot get at an object where it is."""
        box = graph.boxes[index]
        return not bool(within_reach(box, self._models)) or float(box[2]) < BELOW_TABLE_M

    def _nearest(self, graph: SceneGraph, trace: Trace, discrepancy: Discrepancy, count: int | None) -> Sequence[int]:
        """Numbers of the trace's graphs to plan for, ascending."""
        steps = list(range(len(trace.graphs)))
        if discrepancy.violated and not discrepancy.culprits and len(steps) > 1:
            # all is where the plan has it and still the action cannot be run: going on from here would fail again
            steps.remove(discrepancy.step)
        if count is None or count >= len(steps):
            return steps
        n = len(graph)
        same = self._models.same(
            np.concatenate([trace.graphs[t].visual for t in steps]),
            np.concatenate([trace.graphs[t].boxes for t in steps]),
            np.tile(graph.visual, (len(steps), 1)),
            np.tile(graph.boxes, (len(steps), 1)),
        ).reshape(len(steps), n)
        distance = n - same.sum(axis=1)
        nearest = np.lexsort((-np.array(steps), distance))[:count]
        return sorted(steps[i] for i in nearest)


def _gone(graph: SceneGraph, discrepancy: Discrepancy) -> tuple[str, ...]:
    """Objects that are not to be seen, in scene order."""
    missing = {culprit.name for culprit in discrepancy.culprits if culprit.cause is Cause.MISSING}
    return tuple(name for i, name in enumerate(graph.names) if name in missing or graph.missing[i])


def _recovery(model: NeuralModel, result: SearchResult[State, Move]) -> Recovery:
    """The answer of the search in terms of scenes."""
    if result.subgoal is None:
        reason, blamed = _why_not(model, result)
        return Recovery(result.status, expansions=result.expansions, reason=reason, blamed=blamed)
    step = model.subgoals[result.subgoal]
    actions, graphs = realise(model, result.path, step)
    spent = sum(model.action_cost(action) for action in actions)
    rest = sum(model.action_cost(action) for action in model.trace.plan.actions[step:])
    stopped = "" if result.ending is Ending.PROVEN else f"the search stopped because {result.ending}"
    return Recovery(
        result.status,
        actions,
        graphs,
        subgoal=step,
        cost=spent + rest,
        proven_optimal=result.proven_optimal,
        expansions=result.expansions,
        reason=stopped,
    )


def _why_not(model: NeuralModel, result: SearchResult[State, Move]) -> tuple[str, tuple[str, ...]]:
    """Why there is no way, and the objects to blame."""
    names = model.graph.names
    if result.status is RecoveryStatus.BUDGET_EXHAUSTED:
        return f"no way back was found before the search stopped: {result.ending}", ()
    distance, _ = model.discrepancy([model.start])
    wrong = model.misplaced(model.start, int(distance[0].argmin()))
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
