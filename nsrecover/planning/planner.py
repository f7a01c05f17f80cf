"""The recovery planner: from a discrepancy to the cheapest way back to the plan (Kalithasan et al., section V)."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Cause, Discrepancy
from nsrecover.core.geometry import as_box
from nsrecover.core.recovery import Improvement, ReasonCode, Recovery, RecoveryStatus
from nsrecover.core.scene import SceneGraph
from nsrecover.core.traces import Trace
from nsrecover.domains.costs import cost_of
from nsrecover.domains.tabletop.operators import PUT_BACK, SET_ASIDE, TABLETOP
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.errors import InvalidConfiguration, InvalidPlan
from nsrecover.models.free_place import within_reach
from nsrecover.models.protocols import RecoveryModels
from nsrecover.monitoring.imagination import ModelAndDomain
from nsrecover.planning.alternative_trace import alternative_trace
from nsrecover.planning.exchange import exchange, exchanged, over_to
from nsrecover.planning.making_room import with_room
from nsrecover.planning.neural_model import Means, Move, NeuralModel, State, Untouched
from nsrecover.planning.order import recovery_order
from nsrecover.planning.refine import refine
from nsrecover.planning.search import ROUNDING, SearchResult, search
from nsrecover.planning.setting_aside import PlacementSampler, nearest_place
from nsrecover.planning.subgoals import Subgoal, Subgoals, chosen_subgoals, steps_expected
from nsrecover.planning.vetoes import another_way
from nsrecover.util.python310 import Self, StrEnum

MAX_EXPANSIONS = 20_000
"""Default node budget: some seconds, so that the time budget normally decides."""

LOOK_BACK = 1e-10
"""Added to the cost-to-go of states that the plan has already passed: of two ways that cost the same, the planner takes
the one that does not undo finished steps. All such additions together stay below the search's `ROUNDING`."""

LEAVE_DISPLACED = 2e-10
"""Added to the cost-to-go of a trace that leaves displaced objects where they are: of two ways that cost the same, the
planner takes the one back to the expected places."""

COST_DIGITS = 8
"""Decimal places of costs that are reported; all such additions are smaller."""

BELOW_TABLE_M = -0.01
"""An object whose centre is lower than this has fallen off the table."""


class Rejoin(StrEnum):
    """What counts as being back on the plan."""

    POSE = "pose"
    """Every object is where the trace has it (Kalithasan et al., section V)."""
    RELATIONS = "relations"
    """Every relation holds that the rest of the plan and its goal depend on: displaced objects may stay if they do no
    harm, and what refers to them follows. Never needs more actions than `POSE`, whose subgoals are kept."""
    ALIKE = "alike"
    """As `RELATIONS`, and objects whose names differ in a number at the end only, of the same size and looks, may take
    each other's parts: in what is left of the plan, and in its goal."""


@dataclass(frozen=True)
class RecoveryPlanner:
    """Finds the cheapest way from an erroneous scene back to any state of the expected trace.

    Attributes:
        models: the learned parts.
        action_cost: what an action costs, positive; None: what its operator says. Ways whose costs differ by less than
            1e-9 cost the same.
        rejoin: what counts as being back on the plan.
        placement_sampler: finds free places for what is in the way.
        domain: has the operators, `free` and `restore` among them.
        untouched: names of objects that may not be moved.
    """

    models: RecoveryModels
    action_cost: Callable[[Action], float] | None = None
    rejoin: Rejoin = Rejoin.POSE
    placement_sampler: PlacementSampler = nearest_place
    domain: SpatialDomain = TABLETOP
    untouched: frozenset[str] = frozenset()

    def with_model(self, model: ModelAndDomain) -> Self:
        """The same planner with another model."""
        return replace(self, models=model.models, domain=model.domain)

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
            trace: the expected trace, over the same objects.
            discrepancy: what is wrong, from the monitor.
            budget_s: wall time for the search, in seconds; None: no limit.
            max_expansions: nodes the search may expand; None: no limit.
            on_improvement: called with every better recovery as it is found.
            subgoals: which states of the trace to plan for; a number K means the K from which fewest objects differ.
            cancelled: called before every expansion; if it returns true, the best recovery so far is returned.

        Returns:
            The recovery. `proven_optimal` and `lower_bound` are with respect to the subgoals that were planned for, and
            to the actions that the search model offers.

        Raises:
            InvalidPlan: the trace is over other objects than the scene.
            InvalidConfiguration: `subgoals` is less than 1, a budget is negative, or an action's cost is not positive.
        """
        _check(graph, trace, subgoals)
        alike = self.rejoin is Rejoin.ALIKE and discrepancy.deviates
        if alike and (parts := exchange(graph, trace, steps_expected(discrepancy), self.models)):
            plain = replace(self, rejoin=Rejoin.RELATIONS)
            search_to = partial(
                plain.recover, graph, max_expansions=max_expansions, subgoals=subgoals, cancelled=cancelled
            )
            return _cheaper(search_to, trace, parts, discrepancy, budget_s, on_improvement)
        began = time.perf_counter()
        missing = _missing(graph, discrepancy)
        in_the_way = {name for fact in discrepancy.unmet for name in fact.arguments if name in discrepancy.newcomers}
        needed = {*trace.named, *(name for action in trace.plan for name in action.arguments)}
        lost = tuple(name for name in missing if name in needed)
        if lost or in_the_way:
            return Recovery(
                RecoveryStatus.IMPOSSIBLE,
                seconds=time.perf_counter() - began,
                reason_code=ReasonCode.MISSING_OBJECTS if lost else ReasonCode.BLOCKED_BY_NEWCOMER,
                blamed=lost or tuple(sorted(in_the_way)),
                lower_bound=float("inf"),
            )
        model = self._model(graph, trace, discrepancy, subgoals, missing)
        improvements: list[Improvement] = []

        def recovery_of(result: SearchResult[State, Move]) -> Recovery:
            found = _recovery(model, result, _rows(graph, discrepancy.newcomers))
            return replace(found, seconds=time.perf_counter() - began, improvements=tuple(improvements))

        def improved(result: SearchResult[State, Move]) -> None:
            # without the additions that decide between equal costs
            better = Improvement(time.perf_counter() - began, result.expansions, round(result.cost, COST_DIGITS))
            if not improvements or better.cost < improvements[-1].cost:
                improvements.append(better)
            if on_improvement is not None:
                on_improvement(recovery_of(result))

        result = search(
            model,
            model.start,
            self._costs_to_go(model, steps_expected(discrepancy)),
            max_expansions=max_expansions,
            budget_s=budget_s,
            on_improvement=improved,
            cancelled=cancelled,
            settle=False,  # a plan that moves something twice may be shortened
        )
        return recovery_of(result)

    def _model(
        self,
        graph: SceneGraph,
        trace: Trace,
        discrepancy: Discrepancy,
        subgoals: Subgoals | int,
        missing: Collection[str],
    ) -> NeuralModel:
        """The model that is searched: the scene, the traces to rejoin, and what cannot be moved."""
        traces = self._traces(graph, trace, discrepancy)
        beyond = ~within_reach(graph.boxes, self.models) | (graph.boxes[:, 2] < BELOW_TABLE_M)
        fixed = _rows(graph, (*discrepancy.newcomers, *self.untouched)) | frozenset(np.flatnonzero(beyond).tolist())
        return NeuralModel(
            self.models,
            graph,
            traces,
            chosen_subgoals(self.models, graph, traces, discrepancy, subgoals),
            recovery_order(graph.names, trace.plan.actions[: discrepancy.step + 1]),
            Untouched(fixed, _rows(graph, missing)),
            Means(self.action_cost, self.placement_sampler, self.domain),
        )

    def instead(
        self,
        graph: SceneGraph,
        trace: Trace,
        discrepancy: Discrepancy,
        vetoed: Sequence[Recovery],
        *,
        budget_s: float | None = 1.0,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Recovery | None:
        """A recovery that does not touch an object at least that each vetoed way moves; None if there is none.

        What is displaced may stay if no later action needs it elsewhere (`Rejoin.RELATIONS`).

        Args:
            graph: the scene as it is now.
            trace: the expected trace.
            discrepancy: what is wrong.
            vetoed: the ways that are not wanted.
            budget_s: wall time of one search, seconds; None: no limit.
            cancelled: if it returns true, the best way so far is returned.
        """
        lenient = replace(self, rejoin=Rejoin.RELATIONS)
        return another_way(
            vetoed,
            lambda way: (action.arguments[0] for action in way.actions),
            lambda names: replace(lenient, untouched=names).recover(
                graph, trace, discrepancy, budget_s, cancelled=cancelled
            ),
            cancelled,
        )

    def otherwise(
        self,
        observed: SceneGraph,
        trace: Trace,
        discrepancy: Discrepancy,
        *,
        budget_s: float | None = 1.0,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Recovery | None:
        """Another recovery, for when the shortest one has not helped (`OtherWays`).

        If an object was not lifted again and again, what is next to it may hinder the fingers, or lean on it: the
        nearest neighbour is cleared away before the action is tried again.

        Args:
            observed: the scene as it is now.
            trace: the expected trace, over the same objects.
            discrepancy: what is wrong; its action has failed.
            budget_s: wall time for all searches together, seconds; None: no limit.
            cancelled: if it returns true, no further search is begun, and the one that runs ends.

        Returns:
            The way by the nearest neighbour from which there is one; None if there is none in time.
        """
        began = time.perf_counter()
        for actions, graphs in with_room(self.models, self.domain, observed, discrepancy):
            left_s = None if budget_s is None else budget_s - (time.perf_counter() - began)
            if cancelled() or (left_s is not None and left_s <= 0):
                break
            rest = self.recover(graphs[-1], trace, discrepancy, left_s, cancelled=cancelled)
            if rest.found:
                return replace(
                    rest,
                    status=RecoveryStatus.RECOVERED,
                    actions=(*actions, *rest.actions),
                    graphs=(*graphs, *rest.graphs),
                    cost=rest.cost + sum(map(self.action_cost or partial(cost_of, domain=self.domain), actions)),
                    proven_optimal=False,
                    lower_bound=0.0,
                    improvements=(),
                )
        return None

    def _traces(self, graph: SceneGraph, trace: Trace, discrepancy: Discrepancy) -> Sequence[Trace]:
        """The expected trace, and the alternative one if it is wanted and there is one."""
        if self.rejoin is Rejoin.POSE:
            return (trace,)
        displaced = [graph.index(name) for name in discrepancy.deviating if name in graph.names]
        other = alternative_trace(graph, trace, steps_expected(discrepancy), displaced, self.models, self.domain)
        return (trace,) if other is None else (trace, other)

    def _costs_to_go(self, model: NeuralModel, done: int) -> list[float]:
        """(K,) cost of the rest of the plan from each subgoal, with the additions that decide between equal costs.

        A subgoal that the scene already is at gets no addition.
        """
        # what the last 0, 1, ... actions of the plan cost
        left = [*accumulate(map(model.action_cost, reversed(model.plan.actions)), initial=0.0)]
        costs = []
        (wrong,) = model.discrepancy([model.start])[1]
        for subgoal, misplaced in zip(model.subgoals, wrong, strict=True):
            extra = (LOOK_BACK if subgoal.step < done else 0.0) + (LEAVE_DISPLACED if subgoal.trace else 0.0)
            costs.append(left[len(model.plan) - subgoal.step] + (extra if misplaced > 0 else 0.0))
        return costs


def _cheaper(
    search_to: Callable[..., Recovery],
    trace: Trace,
    parts: Mapping[str, str],
    discrepancy: Discrepancy,
    budget_s: float | None,
    on_improvement: Callable[[Recovery], None] | None,
) -> Recovery:
    """The recovery to the trace, or to the one with exchanged parts if that costs less."""
    began, other = time.perf_counter(), exchanged(trace, parts)
    found = search_to(other, discrepancy, None if budget_s is None else budget_s / 2)
    left_s = None if budget_s is None else max(budget_s - (time.perf_counter() - began), 0.0)
    own = search_to(trace, discrepancy, left_s, on_improvement=on_improvement)
    if not found.found or own.cost <= found.cost:
        return own
    bound = min(found.lower_bound, own.lower_bound)
    proven = found.proven_optimal and bound + ROUNDING >= found.cost
    found = replace(found, lower_bound=bound, proven_optimal=proven, seconds=time.perf_counter() - began)
    return over_to(trace.plan, found, other, parts)


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


def _missing(graph: SceneGraph, discrepancy: Discrepancy) -> tuple[str, ...]:
    """Objects that are missing, in scene order."""
    gone_for = (Cause.MISSING, Cause.REPLACED)
    missing = {deviation.name for deviation in discrepancy.deviations if deviation.cause in gone_for}
    unseen = graph.missing.tolist()
    return tuple(name for name, gone in zip(graph.names, unseen, strict=True) if gone or name in missing)


def _recovery(model: NeuralModel, result: SearchResult[State, Move], newcomers: Collection[int]) -> Recovery:
    """The answer of the search, as actions that the robot can carry out."""
    if result.subgoal is None:
        code, blamed = _reason(model, result, newcomers)
        return Recovery(
            result.status,
            expansions=result.expansions,
            reason_code=code,
            blamed=tuple(model.graph.names[i] for i in blamed),
            lower_bound=result.lower_bound,
        )
    subgoal = model.subgoals[result.subgoal]
    actions, graphs = refine(model, result.path, subgoal)
    rest = model.plan.actions[subgoal.step :]
    cost = sum(map(model.action_cost, actions)) + sum(map(model.action_cost, rest))
    return Recovery(
        result.status,
        actions,
        graphs,
        subgoal=subgoal.step,
        rest=model.traces[subgoal.trace].graphs[subgoal.step + 1 :],
        staying=_staying(model, subgoal),
        cost=cost,
        # the search counts each move by the name it has in the model; refined actions may have others
        proven_optimal=result.proven_optimal and cost <= result.cost + ROUNDING and not _renaming_pays(model),
        expansions=result.expansions,
        reason_code=result.reason_code,
        lower_bound=0.0 if _renaming_pays(model) else min(result.lower_bound, cost),
    )


def _renaming_pays(model: NeuralModel) -> bool:
    """Whether `free` costs less than the `restore` as which the search counts moves to known places."""
    boxes = zip(model.graph.names, map(as_box, model.graph.boxes), strict=True)
    moves = ((Action(SET_ASIDE, (name,)), Action(PUT_BACK, (name,), box)) for name, box in boxes)
    return any(model.action_cost(free) < model.action_cost(restore) for free, restore in moves)


def _staying(model: NeuralModel, subgoal: Subgoal) -> tuple[str, ...]:
    """Objects that the subgoal has where they are seen, and the expected trace elsewhere."""
    chosen, expected = model.scenes[subgoal].boxes, model.scenes[Subgoal(0, subgoal.step)].boxes
    elsewhere = np.any(chosen != expected, axis=1) & np.all(chosen == model.graph.boxes, axis=1)
    return tuple(model.graph.names[i] for i in np.flatnonzero(elsewhere))


def _reason(
    model: NeuralModel, result: SearchResult[State, Move], newcomers: Collection[int]
) -> tuple[ReasonCode, Sequence[int]]:
    """Why there is no way, and the objects to blame."""
    if result.reason_code is not None:
        return result.reason_code, ()
    wrong = model.nearest()
    candidates = (
        (ReasonCode.BLOCKED_BY_NEWCOMER, [i for i in sorted(newcomers) if i in wrong or model.blocks(i)]),
        (ReasonCode.OUT_OF_REACH, [i for i in wrong if i in model.fixed]),
        (ReasonCode.NO_ROOM, sorted(model.no_room)),
        (ReasonCode.BLOCKED_OUT_OF_REACH, [i for i in sorted(model.fixed) if model.blocks(i)]),
        (ReasonCode.NO_SEQUENCE, wrong),
    )
    return next(((code, blamed) for code, blamed in candidates if blamed), (ReasonCode.PRECONDITION_UNMET, ()))


def _rows(graph: SceneGraph, names: Collection[str]) -> frozenset[int]:
    """The indices of the named objects that are in a scene."""
    return frozenset(graph.index(name) for name in names if name in graph.names)
