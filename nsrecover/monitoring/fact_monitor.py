"""The monitor of symbolic domains: compares every observed scene of facts with the imagined one, and looks ahead."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar, runtime_checkable

from nsrecover.core import explanation
from nsrecover.core.actions import Action, Plan
from nsrecover.core.discrepancy import Discrepancy, Phase, PlanProblem, Unknown
from nsrecover.core.facts import FactScene, Property, StateFact
from nsrecover.core.recovery import Recovery
from nsrecover.core.traces import Trace
from nsrecover.domains.base import State
from nsrecover.domains.instance import Instance
from nsrecover.domains.properties import changed, literal, outermost, placed, property_of, supports
from nsrecover.errors import InvalidObservation, InvalidPlan
from nsrecover.monitoring.beliefs import DECAY, by_laws, fused, updated
from nsrecover.monitoring.fact_causes import FactSituation, deviations
from nsrecover.monitoring.failures import Failures
from nsrecover.monitoring.monitor import LOOKS
from nsrecover.monitoring.outlook import counterfactual_cause, outlook, unmet_conditions

SeenT_contra = TypeVar("SeenT_contra", contravariant=True)
Seen = TypeVar("Seen")


class FactPerceiver(Protocol[SeenT_contra]):
    """Turns observations into scenes of facts; what one of them does not show has certainty 0."""

    def __call__(self, observation: SeenT_contra) -> FactScene:
        """The scene that an observation shows.

        Raises:
            InvalidObservation: the observation cannot be used.
        """
        ...


@runtime_checkable
class ExpectingPerceiver(Protocol):
    """A perceiver that uses what should be seen; the monitor says so before the first observation of a step or check.

    Each further observation then says of states what all of them show together.
    """

    def expect(self, before: State, expected: State, doubted: Mapping[Property, int]) -> None:
        """Say what was believed before the last action, what should hold now, and what failures speak against.

        `doubted` has the number of actions that have failed as if a state was otherwise.
        """
        ...


class Lookahead(Protocol):
    """Says before an action what would go wrong later; `nsrecover.planning.symbolic.lookahead` has one."""

    def problem(
        self, state: State, actions: Sequence[Action], goal: Sequence[StateFact], first: int
    ) -> PlanProblem | None:
        """What is wrong with the rest of a plan, whose first action has the number `first`; None if it works."""
        ...

    def needed(self, scene: FactScene, actions: Sequence[Action], goal: Sequence[StateFact]) -> tuple[Unknown, ...]:
        """What has to be known before the first of some actions is done, because it cannot be undone."""
        ...


def imagined_trace(instance: Instance, scene: FactScene, plan: Plan, goal: Sequence[StateFact]) -> Trace[FactScene]:
    """The scenes that a plan is expected to lead through, from a belief; what is unknown stays unknown."""
    domain = instance.domain
    states = outlook(instance, scene.facts, plan.actions, goal).states
    passing = frozenset[StateFact]().union(*states) - states[0] - states[-1]
    tidy = tuple(sorted(fact for fact in passing if fact[0] in domain.variables and len(fact) == 2))
    return Trace[FactScene](
        plan, (scene, *(FactScene(state, scene.certainty) for state in states[1:])), tuple(goal), tidy
    )


def what_it_leaves(instance: Instance, start: State, plan: Plan) -> tuple[StateFact, ...]:
    """The facts that a plan brings about and leaves in the end: its goal, if none is stated."""
    final = outlook(instance, start, plan.actions, ()).states[-1]
    return tuple(sorted(final - start))


@dataclass
class _Judged:
    """A step or a check, and the observations of it."""

    phase: Phase
    action: Action | None
    before: State
    expected: FactScene
    looks: list[FactScene]
    found: Discrepancy[FactScene] = None  # type: ignore[assignment]  # concluded at once
    alarmed: frozenset[Property] = frozenset()
    """Properties that deviated by the observations so far."""

    @property
    def seen_twice(self) -> bool:
        """Whether two observations at least show each property that deviated."""
        return all(sum(look.knows(prop) for look in self.looks) > 1 for prop in self.alarmed)


class FactMonitor(Generic[Seen]):
    """Says before and after each action of a symbolic plan what is not as expected; `nsrecover.Monitor` for facts.

    Each step is judged from the scene that was believed before it. What is not seen is remembered with decreasing
    certainty, and what is unknown never deviates.

    Args:
        instance: the domain over the objects of the scene.
        perceiver: turns observations into scenes of facts.
        plan: what will be done.
        observation: what is seen before its first action.
        goal: conditions that hold in the end; None: what the plan brings about.
        assumed: the facts for which the plan was made, such as those before a successful demonstration (Yu et al.,
            "Scene graph-guided proactive replanning", section II-C); None: those that are seen.
        lookahead: says before an action what would go wrong later; None: only the conditions of the next action count.
        check: whether conditions are checked before actions at all; False for comparisons.
        decay: factor of the certainty of what is not seen, for every action.
        visits: whether `confirm` looks first at the place of an action that is done elsewhere than the last one, at the
            places of the goal when all is done, and everywhere for what is lost; for robots that see only what is near.

    Raises:
        InvalidAction: the plan has an unknown operator or wrong arguments.
        InvalidObservation: the observation cannot be used.
    """

    def __init__(
        self,
        instance: Instance,
        perceiver: FactPerceiver[Seen],
        plan: Plan,
        observation: Seen,
        goal: Sequence[StateFact] | None = None,
        assumed: Iterable[StateFact] | None = None,
        lookahead: Lookahead | None = None,
        check: bool = True,
        decay: float = DECAY,
        visits: bool = False,
    ) -> None:
        self.instance, self._perceiver, self._lookahead, self._check = instance, perceiver, lookahead, check
        self._decay, self._visits = decay, visits
        self._visited, self._near = tuple[str, ...](), tuple[str, ...]()
        self._failures = Failures(instance)
        known = frozenset(assumed or ())
        self._expect(known, known)
        seen = perceiver(observation)
        expected = seen if assumed is None else FactScene(known)
        self._movable = placed(seen.facts | expected.facts, instance.domain)
        self.goal = what_it_leaves(instance, expected.facts, plan) if goal is None else tuple(goal)
        self.graph = updated(expected, seen, instance.domain, decay=1.0)
        self._trace = imagined_trace(instance, expected, plan, self.goal)
        self.num_executed = 0
        self._judged = _Judged(Phase.BEFORE, None, expected.facts, expected, [seen])

    @property
    def plan(self) -> Plan:
        """The current plan."""
        return self._trace.plan

    @property
    def trace(self) -> Trace[FactScene]:
        """The scenes that the last one was compared with, those after the next actions included."""
        return self._trace

    @property
    def next_action(self) -> Action | None:
        """The action of the plan to be done next; None at its end."""
        return self.plan[self.num_executed] if self.num_executed < len(self.plan) else None

    @property
    def unconfirmed(self) -> tuple[str, ...]:
        """Objects of the goal that are not known to be as it says."""
        return tuple(dict.fromkeys(prop[1] for prop in self._wanted if not self.graph.knows(prop)))

    @property
    def doubtful(self) -> tuple[str, ...]:
        """Where to look next: a visited place, or fixed objects with what deviates or is not known, in turn."""
        if self._visited:
            return self._visited
        found = self._judged.found
        names = (*found.deviating, *(each.name for each in found.missing_to_tell if isinstance(each, Unknown)))
        places = self._places(names, found.observed.facts, found.expected.facts)
        turn = (len(self._judged.looks) - 1) % max(len(places), 1)
        return (*places[turn:], *places[:turn])

    def check(self, observation: Seen | None = None) -> Discrepancy[FactScene]:
        """Compare before the next action: whether it can be done, and whether the plan still leads to its goal.

        Args:
            observation: what is seen now, if there is a new observation; it is compared with the last scene.

        Raises:
            InvalidPlan: there is no next action.
            InvalidObservation: the observation cannot be used; nothing has changed, so it can be tried again.
        """
        if self.next_action is None:
            raise InvalidPlan(f"expected a plan with an action left, found all {len(self.plan)} done")
        last = self._judged
        if observation is not None:
            self._expect(self.graph.facts, self.graph.facts)
            seen = self._perceiver(observation)
            self._judged = _Judged(Phase.BEFORE, None, self.graph.facts, self.graph, [seen])
        elif last.phase is Phase.AFTER:
            if last.found.as_expected:
                self._failures.forget()
            # further observations add to those after the last action
            self._judged = replace(last, phase=Phase.BEFORE, expected=self.graph, before=self.graph.facts, action=None)
        self._judged.found = self._concluded(self._judged)
        return self._judged.found

    def step(self, action: Action, observation: Seen) -> Discrepancy[FactScene]:
        """Compare after an action: whether it worked and left everything else alone.

        Raises:
            InvalidPlan: another action was due, or none.
            InvalidObservation: the observation cannot be used; nothing has changed, so it can be tried again.
        """
        if action != self.next_action:
            raise InvalidPlan(f"expected {self.next_action or 'no further action'}, found {action}")
        before = self.graph
        self._imagine_from(self.num_executed, before)
        expected = self._trace.graphs[self.num_executed + 1]
        self._expect(before.facts, expected.facts)
        seen = self._perceiver(observation)
        self.num_executed += 1
        self._near = self._places(action.arguments, before.facts, expected.facts)
        self._judged = _Judged(Phase.AFTER, action, before.facts, expected, [seen])
        self._judged.found = self._concluded(self._judged)
        return self._judged.found

    def confirm(self, observe: Callable[[], Seen], looks: int = LOOKS) -> Discrepancy[FactScene]:
        """Look again until the verdict on the last step or check is settled.

        Args:
            observe: makes another observation of the scene. One that cannot be used counts as made.
            looks: how often the scene is observed at most, the observation of the step or check included; visits, which
                end at the first deviation, come on top.
        """
        self._visit(observe)
        last, previous = self._judged, None
        for _ in range(looks - 1):
            same = last.found.as_expected or (last.found.deviates and last.found.deviating == previous)
            if same and last.seen_twice and not last.found.missing_to_tell:
                break
            previous = last.found.deviating
            self._near += self.doubtful[:1]
            with contextlib.suppress(InvalidObservation):
                last.looks.append(self._perceiver(observe()))
                last.found = self._concluded(last)
        if self._visits and last.found.deviates:
            self._search(observe)
        return last.found

    def accepted(self) -> Recovery | None:
        """None: the planner finds out itself whether nothing has to be done."""
        return None

    def rejoin(self, recovery: Recovery) -> Plan:
        """Go on with a recovery: its actions, then what is left of the old plan, to its goal.

        Raises:
            InvalidPlan: the recovery has found no way.
        """
        if recovery.subgoal is None:
            raise InvalidPlan(f"expected a way back, found none ({recovery.reason_code}); ask for help")
        self.goal = tuple(fact for fact in self.goal if fact not in recovery.lost)
        plan = Plan((*recovery.actions, *self.plan.actions[recovery.subgoal :]))
        self._trace = replace(imagined_trace(self.instance, self.graph, plan, self.goal), tidy=self._trace.tidy)
        self.num_executed = 0
        looks = self._judged.looks
        if self._judged.action is not None:
            self._failures.note(self._judged.action, self._judged.alarmed, self.graph.facts)
        self._judged = _Judged(Phase.BEFORE, None, self.graph.facts, self.graph, looks)
        return plan

    def _visit(self, observe: Callable[[], Seen]) -> None:
        """Look at where something will be done, or at what was to be reached, before it is relied on."""
        last, due = self._judged, self.next_action
        if not self._visits or not last.found.as_expected or (due is not None and last.phase is Phase.AFTER):
            return
        names = due.arguments if due is not None else [name for _, name in self._wanted]
        for place in self._places(names, self.graph.facts):
            if place in self._near or self._judged.found.deviates:
                continue
            self._expect(self.graph.facts, self.graph.facts)
            judged = replace(last, before=self.graph.facts, expected=self.graph, looks=[])
            if self._looked_at(place, observe, judged):
                self._judged = judged

    def _search(self, observe: Callable[[], Seen]) -> None:
        """Look for what is needed and in none of the places in view: wherever things are known to be."""
        last, rest = self._judged, self.plan.actions[self.num_executed :]
        needed = {name for _, name in self._wanted} | {name for action in rest for name in action.arguments}
        lost = needed & self._movable & set(last.found.deviating)
        domain = self.instance.domain
        for place in self._places(sorted(supports(self.graph.facts, domain)), self.graph.facts):
            if lost <= placed(self.graph.facts, domain):
                return
            self._looked_at(place, observe, last)

    def _looked_at(self, place: str, observe: Callable[[], Seen], judged: _Judged) -> bool:
        """Add an observation of a place to a step or check; whether it could be used."""
        self._visited = (place,)
        self._near += self._visited
        try:
            judged.looks.append(self._perceiver(observe()))
        except InvalidObservation:
            return False
        finally:
            self._visited = ()
        judged.found = self._concluded(judged)
        return True

    @property
    def _wanted(self) -> list[Property]:
        """The properties that the goal is about."""
        domain = self.instance.domain
        return [property_of(literal(fact, domain)[0], domain) for fact in self.goal]

    def _places(self, names: Iterable[str], *scenes: State) -> tuple[str, ...]:
        """The fixed objects that some objects are in or on, or are themselves."""
        outer = (outermost(name, facts, self.instance.domain) for name in names for facts in scenes)
        return tuple(dict.fromkeys(place for place in outer if place is not None and place not in self._movable))

    def _expect(self, before: State, expected: State) -> None:
        if isinstance(self._perceiver, ExpectingPerceiver):
            self._perceiver.expect(before, expected, self._failures.doubted)

    def _imagine_from(self, step: int, scene: FactScene) -> None:
        """Expect the rest of the plan from another scene after some steps."""
        rest = imagined_trace(self.instance, scene, Plan(self.plan.actions[step:]), self.goal)
        self._trace = replace(self._trace, graphs=self._trace.graphs[:step] + rest.graphs)

    def _concluded(self, judged: _Judged) -> Discrepancy[FactScene]:
        """Judge all observations of a step or check together, and believe them."""
        domain, after = self.instance.domain, judged.phase is Phase.AFTER
        acted_on = changed(judged.before, judged.expected.facts, domain) if after else frozenset[Property]()
        looks = [self._failures.without(look, judged.expected.facts) for look in judged.looks]
        seen = fused(looks, domain, isinstance(self._perceiver, ExpectingPerceiver))
        observed = updated(judged.expected, seen, domain, acted_on, self._decay if after else 1.0)
        if not acted_on.isdisjoint(changed(judged.expected.facts, observed.facts, domain)):
            unseen = [prop for prop in acted_on if not seen.knows(prop)]
            observed = by_laws(self.instance, judged.before, observed, unseen)
        done = self.num_executed
        rest = self.plan.actions[done:]
        situation = FactSituation(
            self.instance, judged.action, judged.before, judged.expected, observed, rest, self.goal, done
        )
        found, facts = deviations(situation), observed.facts
        unmet, problem, missing = tuple[explanation.Fact, ...](), None, tuple[Unknown, ...]()
        if after:
            missing = tuple(Unknown(name, variable) for variable, name in sorted(acted_on - _known(observed, acted_on)))
        elif self._check:
            unmet = unmet_conditions(self.instance, facts, rest[0])
            if self._lookahead is not None:
                problem = self._lookahead.problem(facts, rest, self.goal, done)
                missing = () if problem else self._lookahead.needed(observed, rest, self.goal)
        cause = tuple[str, ...]()
        if found:
            expected = judged.expected.facts
            cause = counterfactual_cause(self.instance, facts, expected, situation.deviating, rest, self.goal)
        self.graph, judged.alarmed = observed, judged.alarmed | frozenset(situation.deviating)
        action = judged.action if judged.action is not None else rest[0]
        return Discrepancy[FactScene](
            done - 1 if after else done,
            judged.phase,
            action,
            judged.expected,
            observed,
            found,
            unmet,
            missing,
            len(judged.looks),
            plan_problem=problem,
            cause=cause,
        )


def _known(scene: FactScene, props: Collection[Property]) -> frozenset[Property]:
    return frozenset(prop for prop in props if scene.knows(prop))
