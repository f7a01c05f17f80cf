"""The way back to a symbolic plan of a domain: from a scene of facts to any state of the trace, or to the goal."""

import copy
import itertools
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Discrepancy, Phase
from nsrecover.core.facts import FactScene, StateFact
from nsrecover.core.recovery import ReasonCode, Recovery, RecoveryStatus
from nsrecover.core.traces import Trace
from nsrecover.domains.base import Not, Role, State
from nsrecover.domains.costs import cost_of
from nsrecover.domains.domain import Domain
from nsrecover.domains.instance import Instance
from nsrecover.domains.properties import facts_with, literal, property_of
from nsrecover.monitoring.outlook import HasInstance, imagine, outlook, unmet_conditions, unmet_goal
from nsrecover.planning.symbolic.solving import Limits, Solution, solve
from nsrecover.planning.vetoes import another_way
from nsrecover.util.python310 import Self

_TIDY = 0.75
"""Share of the time in which a way is looked for that leaves tidy what the plan tidies up."""

MANY = 16
"""Objects of a scene from which on a way back with few of them is looked for first."""

_AROUND = 2
"""Rounds in which what objects are in or on, and what is in or on them, is added to the objects of a search."""


def involved(
    instance: Instance, state: State, names: Iterable[str], means: frozenset[str] | None = None
) -> tuple[str, ...]:
    """The objects that a search needs: those named, what they are in or on and bear, and the means of plans.

    Args:
        instance: the domain over the objects of the scene.
        state: the facts.
        names: of objects.
        means: objects that may be used for any goal; those of the domain if None.
    """
    means, named = instance.means() if means is None else means, set(names)
    links = [
        fact[1:] for fact in (*state, *instance.static) if len(fact) == 3 and fact[0] not in instance.domain.variables
    ]
    for _ in range(_AROUND):
        # what stands on a worktop blocks nothing
        named |= {name for pair in links if pair[0] in named or pair[1] in named - means for name in pair}
    held = {fact[1] for fact in facts_with((Role.HELD,), state, instance.domain)}
    return tuple(name for name in instance.objects if name in named | means | held)


def works(instance: Instance, state: State, actions: Sequence[Action], goal: Sequence[StateFact]) -> bool:
    """Whether actions can be done from a state and reach a goal; like `outlook`, but ends with the first that fails."""
    for action in actions:
        if unmet_conditions(instance, state, action):
            return False
        state = imagine(instance, state, action)
    return not unmet_goal(instance, state, goal)


class FactPlanner:
    """Finds the cheapest way back to a plan: recovery and rest of the plan together cost least.

    A way from a state of the trace on is a way to the goal, so the common search goes to the goal, by way of the steps
    of the plan if the domain is STRIPS; how much of the plan's end its answer shares says where it rejoins.

    Args:
        instance: the domain over the objects of the scene; its operators' costs count.
        max_expansions: states that a search expands at most; None: no limit with a time budget, else a default.
    """

    def __init__(self, instance: Instance, max_expansions: int | None = None) -> None:
        self.instance, self._most = instance, max_expansions

    def with_model(self, model: HasInstance) -> Self:
        """The same planner for another model."""
        other = copy.copy(self)
        other.instance = model.instance
        return other

    def recover(
        self,
        observed: FactScene,
        trace: Trace[FactScene],
        discrepancy: Discrepancy[FactScene] | None = None,
        *,
        budget_s: float | None = None,
        on_improvement: Callable[[Recovery[FactScene]], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Recovery[FactScene]:
        """The recovery.

        Args:
            observed: the scene to recover from; what is unknown in it is assumed to be as it is believed.
            trace: of the plan, with its goal.
            discrepancy: what is wrong; its objects may be used.
            budget_s: wall time in seconds: the best way until then is returned, with its bound; None: no limit.
            on_improvement: called with the recovery, if the search finds one.
            cancelled: called before every expansion; if it returns true, the search ends.
        """
        began, limits = time.perf_counter(), self.limits(budget_s, cancelled)
        plan, state, goal = trace.plan.actions, observed.facts, trace.goal
        step = self._resumes(state, plan, goal)
        resumed: Recovery[FactScene] | None = None
        if step is not None:
            resumed = Recovery(RecoveryStatus.ALREADY_AT_SUBGOAL, subgoal=step, cost=self.cost(plan[step:]))
            if discrepancy is None or step >= discrepancy.step:
                return resumed  # else other actions may be cheaper than to repeat steps that worked
        names = _names(plan, discrepancy)
        first = self._restored(state, trace, discrepancy, limits) if discrepancy is not None else None
        found = self._tidily(state, trace, names, limits)
        found = found if first is None else found.or_cheaper(first)
        seconds = time.perf_counter() - began
        if found.found:
            recovery = self._rejoined(found, plan, seconds, (state, goal, trace.tidy))
            if resumed is not None and resumed.cost <= recovery.cost:
                return resumed
            if on_improvement is not None:
                on_improvement(recovery)
            return recovery
        if resumed is not None:
            return resumed
        if found.status is RecoveryStatus.BUDGET_EXHAUSTED:
            code = found.reason_code
            return Recovery(found.status, expansions=found.expansions, seconds=seconds, reason_code=code)
        lost, closest = self._closest(state, goal, names, plan, limits)
        blamed = tuple(dict.fromkeys(name for fact in lost for name in fact[1:2]))
        return Recovery(
            RecoveryStatus.IMPOSSIBLE,
            expansions=found.expansions,
            seconds=time.perf_counter() - began,
            reason_code=ReasonCode.UNACHIEVABLE,
            blamed=blamed,
            lost=lost,
            closest=closest,
        )

    def otherwise(
        self,
        observed: FactScene,
        trace: Trace[FactScene],
        discrepancy: Discrepancy[FactScene],
        *,
        budget_s: float | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Recovery[FactScene] | None:
        """Another recovery, for when the shortest one has not helped (Obinata et al., 2024: another approach).

        What deviates is first taken away from where it is; if it cannot be, what is at the same place, or where it
        should be, is taken away for good, as it may be in the way. So a cup that lies in the sink is stood up, and a
        plate goes that hides a mug.

        Args:
            observed: the scene.
            trace: of the plan, with its goal.
            discrepancy: what is wrong; its action has failed.
            budget_s: after this time no other object is tried, and the search that runs ends, seconds.
            cancelled: if it returns true, the same.

        Returns:
            The way through the first object for which there is one; None if there is none.
        """
        began, limits = time.perf_counter(), self.limits(budget_s, cancelled)
        plan, goal = trace.plan.actions, trace.goal
        for name in discrepancy.deviating + self._in_the_way(observed.facts, discrepancy):
            state = observed.facts
            places = tuple(fact for fact in sorted(state) if self._is_place(fact) and fact[1] == name)
            if limits.over():
                break
            if not places:
                continue
            names = [name, *discrepancy.deviating, *(n for action in plan for n in action.arguments)]
            away = self.search(state, (), names, without=places, limits=limits)
            if not away.steps or away.steps[0] == discrepancy.action:
                continue
            for step in away.steps:
                state = self.instance.apply(state, step.operator, step.arguments)
            gone = () if name in discrepancy.deviating else places
            found = self.search(state, goal, names, plan, (*trace.tidy, *gone), limits=limits)
            if found.found:
                # the costs of the search's improvements are without what takes the object away
                whole = replace(found, steps=(*away.steps, *found.steps), proven_optimal=False, improvements=())
                return self._rejoined(whole, plan, time.perf_counter() - began)
        return None

    def instead(
        self,
        observed: FactScene,
        trace: Trace[FactScene],
        discrepancy: Discrepancy[FactScene],
        vetoed: Sequence[Recovery[FactScene]],
        *,
        budget_s: float | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Recovery[FactScene] | None:
        """A recovery without an action at least of each vetoed way; None if there is none.

        Args:
            observed: the scene to recover from.
            trace: of the plan, with its goal.
            discrepancy: what is wrong.
            vetoed: the ways that are not wanted.
            budget_s: after this time no further search is begun, and the one that runs ends, seconds.
            cancelled: if it returns true, the best way so far is returned.
        """
        plan, state, began = trace.plan.actions, observed.facts, time.perf_counter()
        limits = self.limits(budget_s, cancelled)

        def without(actions: frozenset[Action]) -> Recovery[FactScene]:
            found = self._tidily(state, trace, _names(plan, discrepancy), limits, actions)
            if not found.found:
                return Recovery(found.status)
            return self._rejoined(found, plan, time.perf_counter() - began)

        return another_way(vetoed, lambda way: way.actions, without, limits.over)

    def _tidily(
        self,
        state: State,
        trace: Trace[FactScene],
        names: Sequence[str],
        limits: Limits,
        forbidden: Collection[Action] = (),
    ) -> Solution:
        """A plan to the goal of a trace that leaves what its plan tidies up tidy, if there is one."""
        plan, goal = trace.plan.actions, trace.goal
        if trace.tidy:
            found = self.search(state, goal, names, plan, trace.tidy, forbidden, replace(limits, share=_TIDY))
            if found.found:
                return found
        return self.search(state, goal, names, plan, (), forbidden, limits)

    def limits(self, budget_s: float | None = None, cancelled: Callable[[], bool] | None = None) -> Limits:
        """Limits of searches that begin now.

        Args:
            budget_s: wall time of all of them together, seconds; None: no limit.
            cancelled: ends them if it returns true.
        """
        until = None if budget_s is None else time.perf_counter() + budget_s
        if until is None and self._most is None:
            return Limits(cancelled=cancelled)
        return Limits(self._most, cancelled, until)

    def _in_the_way(self, state: State, discrepancy: Discrepancy[FactScene]) -> tuple[str, ...]:
        """What else is in or on what deviates, or where that is or should be."""
        own = discrepancy.deviating
        at = [fact for fact in (*state, *discrepancy.expected.facts) if self._is_place(fact) and fact[1] in own]
        places = {*own, *(fact[2] for fact in at)}
        return tuple(
            fact[1] for fact in sorted(state) if self._is_place(fact) and fact[2] in places and fact[1] not in own
        )

    def _is_place(self, fact: StateFact) -> bool:
        """Whether a fact says what an object is in or on, or in the way of."""
        roles = (Role.LOCATION, Role.BELIEVED, Role.COVERS)
        return len(fact) == 3 and self.instance.domain.relations.get(fact[0]) in roles

    def cost(self, actions: Sequence[Action]) -> float:
        """Costs of actions."""
        return sum(cost_of(action, self.instance.domain) for action in actions)

    def search(
        self,
        state: State,
        goal: Sequence[StateFact],
        names: Iterable[str],
        plan: Sequence[Action] = (),
        without: Sequence[StateFact] = (),
        forbidden: Collection[Action] = (),
        limits: Limits | None = None,
    ) -> Solution:
        """A cheap plan to a goal by the common search.

        Impossible is an answer about all objects, not only those that are involved.

        Args:
            state: where to start.
            goal: conditions.
            names: further objects that may be used.
            plan: actions whose objects and order are preferred.
            without: facts that must not hold in the end.
            forbidden: steps that may not be used.
            limits: of the search; those of the planner by default.
        """
        instance = self.instance.limited(state)
        formulas = [instance.condition(fact) for fact in goal]
        formulas += [Not(instance.condition(fact)) for fact in without]
        terms = [term for fact in (*goal, *without) for term in fact[1:]]
        chosen = involved(instance, state, [*names, *terms])
        forbidden = instance.unwanted(goal).union(forbidden)
        for objects in (chosen, None) if len(chosen) < len(instance.objects) else (None,):
            found = solve(
                instance,
                state,
                formulas,
                familiar=chosen,
                prefer=plan,
                forbidden=forbidden,
                objects=objects,
                limits=limits or self.limits(),
            )
            if found.status is not RecoveryStatus.IMPOSSIBLE:
                break
        return found

    def _restored(
        self, state: State, trace: Trace[FactScene], discrepancy: Discrepancy[FactScene], limits: Limits
    ) -> Solution | None:
        """In large scenes, the way back to the expected scene with the objects that deviate or are due.

        It is found at once, and is the answer if time is too short for a search with all objects.
        """
        instance, expected = self.instance, discrepancy.expected.facts
        rest = trace.plan.actions[discrepancy.step + (discrepancy.phase is Phase.AFTER) :]
        near = (*discrepancy.deviating, *(name for action in rest[:1] for name in action.arguments))
        few = involved(instance, state | expected, near, frozenset())
        if len(instance.objects) < MANY or len(few) == len(instance.objects):
            return None
        goal = [instance.condition(fact) for fact in sorted(expected) if not set(few).isdisjoint(fact[1:])]
        goal += [Not(instance.condition(fact)) for fact in sorted(state - expected)]
        back = solve(instance, state, goal, objects=few, limits=limits.of_first())
        steps = (*back.steps, *rest)
        if not (back.found and works(instance, state, steps, trace.goal)):
            return None
        return Solution(RecoveryStatus.RECOVERED, steps, self.cost(steps))

    def _resumes(self, state: State, plan: Sequence[Action], goal: Sequence[StateFact]) -> int | None:
        """The last step of the plan with which to go on from a state without anything else; None if there is none."""
        for step in range(len(plan), -1, -1):
            if works(self.instance, state, plan[step:], goal):
                return step
        return None

    def _rejoined(
        self,
        found: Solution,
        plan: Sequence[Action],
        seconds: float,
        task: tuple[State, Sequence[StateFact], Sequence[StateFact]] | None = None,
    ) -> Recovery[FactScene]:
        """A solution as recovery and the rest of the plan that it ends with.

        Args:
            found: the solution.
            plan: what is to be rejoined.
            seconds: of the search.
            task: state, goal and what must not hold in the end; if given, steps that the plan does later are done
                later, as far as the goal is reached so: a burner is turned on when the pot is on it.
        """
        actions = tuple(found.steps)
        if task is not None:
            actions = self._in_order_of(plan, actions, *task)
        shared = 0
        while shared < min(len(actions), len(plan)) and actions[-1 - shared] == plan[-1 - shared]:
            shared += 1
        cost = self.cost(actions)
        return Recovery(
            RecoveryStatus.RECOVERED,
            actions=actions[: len(actions) - shared],
            subgoal=len(plan) - shared,
            cost=cost,
            lower_bound=cost if found.proven_optimal else min(cost, found.lower_bound),
            reason_code=found.reason_code,
            proven_optimal=found.proven_optimal,
            expansions=found.expansions,
            seconds=seconds,
            improvements=found.improvements,
        )

    def _in_order_of(
        self,
        plan: Sequence[Action],
        actions: tuple[Action, ...],
        state: State,
        goal: Sequence[StateFact],
        without: Sequence[StateFact],
    ) -> tuple[Action, ...]:
        """Actions in another order that reaches the goal, too, and ends with as much of a plan's end as possible."""
        for kept in range(min(len(actions), len(plan))):
            wanted, end = plan[-1 - kept], len(actions) - kept
            if wanted not in actions[:end]:
                break
            at = max(i for i in range(end) if actions[i] == wanted)
            if at == end - 1:
                continue
            later = (*actions[:at], *actions[at + 1 : end], wanted, *actions[end:])
            ahead = outlook(self.instance, state, later, goal)
            if not ahead.good or any(
                self.instance.holds(ahead.states[-1], self.instance.condition(f)) for f in without
            ):
                break
            actions = later
        return actions

    def _closest(
        self,
        state: State,
        goal: Sequence[StateFact],
        names: Sequence[str],
        plan: Sequence[Action],
        limits: Limits,
    ) -> tuple[tuple[StateFact, ...], Recovery[FactScene] | None]:
        """The conditions that are lost for good, and the way to as many others as possible."""
        alone = ((fact, self.search(state, [fact], names, limits=limits)) for fact in goal)
        lost = tuple(fact for fact, found in alone if found.status is RecoveryStatus.IMPOSSIBLE)
        rest = [fact for fact in goal if fact not in lost]
        for given_up in itertools.chain.from_iterable(itertools.combinations(rest, size) for size in range(len(rest))):
            kept = [fact for fact in rest if fact not in given_up]
            found = self.search(state, kept, names, plan, limits=limits)
            if found.found:
                gone = tuple(fact for fact in goal if fact not in kept)
                return lost or gone, replace(self._rejoined(found, plan, 0.0), lost=gone)
            if limits.over():
                break
        return lost or tuple(goal), None


def _names(plan: Sequence[Action], discrepancy: Discrepancy[FactScene] | None) -> list[str]:
    """The objects of a search: what deviates, and what the plan is about."""
    return [*(discrepancy.deviating if discrepancy is not None else ()), *(n for a in plan for n in a.arguments)]


def contradictions(goal: Sequence[StateFact], domain: Domain) -> list[tuple[StateFact, StateFact]]:
    """Pairs of conditions that cannot both hold: closed and open, two liquids in one vessel."""
    literals = [(fact, *literal(fact, domain)) for fact in goal]
    return [
        (one, other)
        for (one, a, yes), (other, b, no) in itertools.combinations(literals, 2)
        if (a == b and yes is not no)
        or (yes and no and a != b and a[0] in domain.variables and property_of(a, domain) == property_of(b, domain))
    ]
