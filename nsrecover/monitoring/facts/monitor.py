"""The monitor of symbolic domains: compares every observed scene of facts with the imagined one, and looks ahead."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from nsrecover.belief.tracker import Tracker
from nsrecover.core import explanation
from nsrecover.core.actions import Action, Plan
from nsrecover.core.certainty import CERTAINTY, Certainty
from nsrecover.core.discrepancy import Discrepancy, Phase, PlanFault, PlanProblem, Unknown
from nsrecover.core.facts import SURE, FactScene, Property, StateFact
from nsrecover.core.recovery import Recovery
from nsrecover.core.traces import Trace
from nsrecover.domains.base import State
from nsrecover.domains.entrances import check_plan
from nsrecover.domains.instance import Instance
from nsrecover.domains.properties import changed, drifts, literal, outermost, placed, property_of, supports
from nsrecover.errors import InvalidConfiguration, InvalidPlan
from nsrecover.monitoring.facts.causes import FactSituation, deviations
from nsrecover.monitoring.facts.expected_trace import imagined_trace, what_it_leaves
from nsrecover.monitoring.facts.looking_again import Judged, Stage
from nsrecover.monitoring.facts.outlook import (
    counterfactual_cause,
    decides,
    explaining,
    rests_on,
    unmet_conditions,
    unmet_goal,
)
from nsrecover.monitoring.facts.rules import ExpectingPerceiver, FactPerceiver, FactRules, ForkingPerceiver
from nsrecover.monitoring.monitor import Monitor, Seen, check_done


class FactMonitor(Monitor[FactScene, Seen]):
    """The monitor of scenes of facts.

    What is believed is the posterior of `nsrecover.belief.tracker.Tracker`, and all else follows from it: the verdict,
    whether another observation is wanted, what is missing to tell, and what keeps the goal from being confirmed. Until
    a verdict is certain enough, what was read last counts. What is unknown never deviates. An action is not relied on
    while a condition that it needs depends on an earlier action whose effect has not been seen.

    The errors of different observations are taken to be independent; what errs in the same way every time defeats it.

    Args:
        instance: the domain over the objects of the scene.
        perceiver: turns observations into scenes of facts.
        plan: what will be done.
        observation: what is seen before its first action.
        rules: how.
        certainty: how sure a verdict has to be.

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
        rules: FactRules | None = None,
        certainty: Certainty = CERTAINTY,
    ) -> None:
        self.certainty = certainty
        self.instance, self._perceiver, self._rules = instance, perceiver, rules or FactRules()
        self.reset(plan, observation)

    def reset(self, plan: Plan, observation: Seen) -> None:
        """Begin a new episode; arguments and errors as for the constructor."""
        instance, assumed = self.instance, self._rules.assumed
        check_plan(instance, plan)
        self._near = tuple[str, ...]()
        self._suspects = Counter[Property]()
        known = frozenset(assumed or ())
        self._expect(known, known)
        seen = self._perceiver(observation)
        expected = seen if assumed is None else FactScene(known)
        self.tracker = Tracker(instance, expected.facts, assumed is not None)
        self._take(seen)
        self._movable = placed(seen.facts | expected.facts, instance.domain)
        goal = self._rules.goal
        self.goal = what_it_leaves(instance, expected.facts, plan) if goal is None else goal
        self._graph = self._believed(seen)
        self._trace = imagined_trace(instance, self._graph if assumed is None else expected, plan, self.goal)
        self._num_executed = 0
        self._judged = Judged(Phase.BEFORE, None, expected.facts, self._trace.graphs[0], [seen])

    @property
    def graph(self) -> FactScene:
        """The scene as it is believed to be."""
        return self._graph

    @property
    def num_executed(self) -> int:
        """How many actions of the plan are done."""
        return self._num_executed

    @property
    def plan(self) -> Plan:
        """The current plan."""
        return self._trace.plan

    @property
    def trace(self) -> Trace[FactScene]:
        """The scenes that the last one was compared with, those after the next actions included."""
        return self._trace

    @property
    def last_found(self) -> Discrepancy[FactScene] | None:
        """What the observations of the last step or check say together; None if there was none."""
        return self._judged.found

    @property
    def unconfirmed(self) -> tuple[str, ...]:
        """Objects of the conditions of the goal that are neither certain to hold nor certain not to.

        Of a goal that soon passes an ordinary certainty is enough: another look would cost what it checks.
        """
        domain, tracker = self.instance.domain, self.tracker
        allowed = self.certainty.alarm if self.passing else self.certainty.done
        unseen = {prop: tracker.unseen(prop) for prop in tracker.props}
        disputed, shares = tracker.disputed(tracker.best), tracker.shares()
        doubtful = {prop for prop, chance in unseen.items() if chance > allowed / 20} | disputed.keys()
        names = list[str]()
        for fact in self.goal:
            condition, (atom, _) = self.instance.condition(fact), literal(fact, domain)
            own = property_of(atom, domain)
            deciding = [own] if own in unseen else list(decides(self.instance, self.graph.facts, (fact,), doubtful))
            sure = math.prod(1.0 - unseen.get(prop, 0.0) for prop in deciding)
            holds = sure * sum(share for one, share in shares if self.instance.holds(one.state, condition))
            if own in self.graph.unknown or allowed < holds < 1.0 - allowed:
                names += [name for _, name in deciding if name in self.instance.objects] or [own[1]]
        return tuple(dict.fromkeys(names))

    @property
    def passing(self) -> bool:
        """Whether the goal is believed to be reached and soon will not be: another look would cost what it checks."""
        wanted = (fact for fact, holds in (literal(fact, self.instance.domain) for fact in self.goal) if holds)
        return self.next_action is None and not self.missed and any(map(self._passes, wanted))

    @property
    def missed(self) -> tuple[explanation.Fact, ...]:
        """Conditions of the goal that do not hold now."""
        missed = unmet_goal(self.instance, self.graph.facts, self.goal)
        return tuple(explanation.Fact(fact[0], fact[1:]) for fact in missed)

    @property
    def wanted(self) -> tuple[str, ...] | None:
        """Where to look next, the most important first; None: the verdict is settled."""
        last = self._judged
        if last.found is None or (self.passing and not last.found.deviates):
            return None
        if last.stage is not Stage.DOUBT:
            return last.places[:1] or None
        if self._settled:
            return None
        found = last.found
        missing = (each.name for each in found.missing_to_tell if isinstance(each, Unknown))
        names = (*found.deviating, *missing, *(name for _, name in last.doubtful))
        places = self._places(names, found.observed.facts, found.expected.facts)
        turn = (last.made - 1) % max(len(places), 1)
        return (*places[turn:], *places[:turn])

    @property
    def _settled(self) -> bool:
        """Whether the verdict is certain enough, or there were enough observations."""
        last = self._judged
        assert last.found is not None
        return last.made >= self.certainty.looks or not (last.doubtful or last.found.missing_to_tell)

    def _check(self, observation: Seen | None) -> Discrepancy[FactScene]:
        last, graph = self._judged, self.graph
        if observation is not None:
            self._expect(graph.facts, graph.facts)
            seen = self._perceiver(observation)
            self.tracker.waited()
            self._take(seen)
            return self._begin(Judged(Phase.BEFORE, None, graph.facts, graph, [seen]))
        if last.phase is Phase.AFTER:
            if last.found is not None and last.found.as_expected:
                self._suspects.clear()
            # further observations add to those after the last action
            last = replace(last, phase=Phase.BEFORE, expected=graph, before=graph.facts, action=None)
        return self._begin(last)

    def _step(self, action: Action, observation: Seen) -> Discrepancy[FactScene]:
        before = self.graph
        self._imagine_from(self.num_executed, before)
        expected = self._trace.graphs[self.num_executed + 1]
        self._expect(before.facts, expected.facts)
        seen = self._perceiver(observation)
        self.tracker.acted(action)
        self._take(seen)
        self._num_executed += 1
        self._near = self._places(action.arguments, before.facts, expected.facts)
        return self._begin(Judged(Phase.AFTER, action, before.facts, expected, [seen]))

    def _not_begun(self) -> Discrepancy[FactScene]:
        last, domain = self._judged, self.instance.domain
        if all(drifts(p, domain) or not self.graph.knows(p) for p in changed(last.before, self.graph.facts, domain)):
            return self.found
        self.tracker.undone()
        self._num_executed -= 1
        before = self._trace.graphs[self._num_executed]
        return self._begin(Judged(Phase.BEFORE, None, before.facts, before, last.looks, made=last.made))

    def look_again(self, observation: Seen) -> Discrepancy[FactScene]:
        """Judge the last step, or the last check, with one more observation of the same scene."""
        last, graph = self._judged, self.graph
        if last.found is None:
            raise InvalidPlan("expected a step or a check to look at again, found none since the plan was set")
        visits = last.stage is Stage.VISIT and bool(last.places)
        if visits:  # a place is compared with what is believed now
            self._expect(graph.facts, graph.facts)
        seen = self._perceiver(observation)
        if visits:
            last = replace(last, before=graph.facts, expected=graph, looks=[])
        elif self.next_action is None and self.wanted is None:  # the goal is looked at: its conditions have to be read
            self.tracker.trust_readings()
        self._take(seen)
        last.looks.append(seen)
        return self._looked(last)

    def glance(self, expected: State, observation: Seen) -> FactScene:
        """What is seen while the next action runs; nothing of it is remembered.

        Args:
            expected: the facts after the action.
            observation: the frame.

        Raises:
            InvalidConfiguration: the perceiver cannot be copied.
        """
        if not isinstance(self._perceiver, ForkingPerceiver):
            raise InvalidConfiguration(
                f"expected a perceiver with fork() while actions are watched, found {type(self._perceiver).__name__}"
            )
        aside = self._perceiver.fork()
        aside.expect(self.graph.facts, expected, self._suspects)
        return aside(observation)

    def look_failed(self) -> None:
        """Count an observation that was wanted and could not be used as made."""
        self._looked(self._judged)

    def judge_anew(self, observation: Seen) -> Discrepancy[FactScene]:
        """Judge the last step, or the last check, by one observation alone, after an external change."""
        last = self._judged
        if last.found is None:
            raise InvalidPlan("expected a step or a check to judge again, found none since the plan was set")
        self._expect(last.before, last.expected.facts)
        seen = self._perceiver(observation)
        self.tracker.waited(disturbed=True)
        self._take(seen)
        return self._begin(Judged(last.phase, last.action, last.before, last.expected, [seen]))

    def set_plan(self, plan: Plan, num_executed: int = 0, observation: Seen | None = None) -> None:
        """Go on with another plan, or from another step of this one, from the scene as it was seen last."""
        check_done(num_executed, plan)
        check_plan(self.instance, plan)
        looks = self._judged.looks[-1:]
        if observation is not None:
            self._expect(self.graph.facts, self.graph.facts)
            looks = [self._perceiver(observation)]
            self.tracker.waited(disturbed=True)
            self._take(looks[0])
        self._graph = self._believed(looks[-1])
        rest = Plan(plan.actions[num_executed:])
        if self._rules.goal is None and plan != self.plan:
            self.goal = what_it_leaves(self.instance, self.graph.facts, rest)
        trace = imagined_trace(self.instance, self.graph, rest, self.goal)
        self._trace = replace(trace, plan=plan, graphs=(self.graph,) * num_executed + trace.graphs)
        self._num_executed = num_executed
        self._judged = Judged(Phase.BEFORE, None, self.graph.facts, self.graph, looks)

    def _rejoin(self, recovery: Recovery[FactScene]) -> None:
        last = self._judged
        self.goal = tuple(fact for fact in self.goal if fact not in recovery.lost)
        plan = Plan((*recovery.actions, *self.plan.actions[recovery.resumes_at(len(self.plan)) :]))
        self._trace = replace(imagined_trace(self.instance, self.graph, plan, self.goal), tidy=self._trace.tidy)
        self._num_executed = 0
        if last.action is not None:
            self._suspects.update(explaining(self.instance, self.graph.facts, last.action))
        self._judged = Judged(Phase.BEFORE, None, self.graph.facts, self.graph, last.looks)
        if self.next_action is None and last.found is not None:  # nothing is left but to look at the goal
            self._begin(replace(self._judged, phase=Phase.AFTER, action=last.found.action))

    def _begin(self, judged: Judged) -> Discrepancy[FactScene]:
        """Judge the first observation of a step or check."""
        self._judged = judged
        judged.found = self._concluded(judged)
        judged.stage, judged.places = Stage.VISIT, ()
        due = self.next_action
        if self._rules.visits and judged.found.as_expected and (due is None or judged.phase is Phase.BEFORE):
            names = due.arguments if due is not None else [name for _, name in self._wanted]
            judged.places = self._places(names, self.graph.facts)
        self._plan_looks()
        return judged.found

    def _looked(self, judged: Judged) -> Discrepancy[FactScene]:
        """Judge anew after a look that was made, whether it could be used or not."""
        if judged.stage is Stage.DOUBT:
            self._near += (self.wanted or ())[:1]
            judged.made += 1
        else:
            self._near += judged.places[:1]
            judged.places = judged.places[1:]
        judged.found = self._concluded(judged)
        self._judged = judged
        self._plan_looks()
        return judged.found

    def _plan_looks(self) -> None:
        """Go on to the next place, or to the next stage, if there is nothing more to look at in this one."""
        last = self._judged
        assert last.found is not None
        if last.stage is Stage.VISIT:
            last.places = tuple(place for place in last.places if place not in self._near)
            if last.places and not last.found.deviates:
                return
            last.stage, last.places = Stage.DOUBT, ()
        if last.stage is Stage.DOUBT:
            if not self._settled:
                return
            last.stage = Stage.SEARCH
            if self._rules.visits and last.found.deviates:
                facts = self.graph.facts
                last.places = self._places(sorted(supports(facts, self.instance.domain)), facts)
        if not self._lost:
            last.places = ()

    def _passes(self, fact: StateFact) -> bool:
        """Whether a fact soon ends unprompted."""
        variable = self.instance.domain.variables.get(fact[0])
        return variable is not None and bool(variable.passes) and variable.passes in self.instance.objects[fact[1]]

    @property
    def _lost(self) -> set[str]:
        """What is needed, deviates, and is in no place."""
        found, rest = self._judged.found, self.plan.actions[self.num_executed :]
        needed = {name for _, name in self._wanted} | {name for action in rest for name in action.arguments}
        lost = needed & self._movable & set(found.deviating if found is not None else ())
        return lost - placed(self.graph.facts, self.instance.domain)

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
        self._fresh = True
        if isinstance(self._perceiver, ExpectingPerceiver):
            self._perceiver.expect(before, expected, self._suspects)

    def _take(self, seen: FactScene) -> None:
        """Believe an observation as far as it is likely."""
        self.tracker.saw(seen, isinstance(self._perceiver, ExpectingPerceiver), self._fresh)
        self._fresh = False

    def _imagine_from(self, step: int, scene: FactScene) -> None:
        """Expect the rest of the plan from another scene after some steps."""
        rest = imagined_trace(self.instance, scene, Plan(self.plan.actions[step:]), self.goal)
        self._trace = replace(self._trace, graphs=self._trace.graphs[:step] + rest.graphs)

    def _believed(self, seen: FactScene, settled: bool = True) -> FactScene:
        """The scene as it is believed to be; until a verdict is settled, what was read last counts.

        Args:
            seen: the last observation.
            settled: whether the verdict is.
        """
        allowed, tracker = self.certainty.alarm, self.tracker
        scene = tracker.scene(tracker.best if settled else tracker.as_read(allowed), allowed)
        certainty, otherwise = dict(scene.certainty), changed(scene.facts, seen.facts, self.instance.domain)
        for prop in scene.certainty:
            if not seen.knows(prop):
                continue
            read = SURE if settled or prop in otherwise else seen.certainty.get(prop, 1.0)
            certainty[prop] = max(certainty[prop], read)
        if not self._rules.memory:
            certainty |= {prop: 0.0 for prop in seen.certainty if not seen.knows(prop)}
        return replace(scene, certainty={prop: sure for prop, sure in certainty.items() if sure < 1.0 - allowed})

    def _doubtful(self, judged: Judged) -> tuple[Property, ...]:
        """What the action should have changed, or was read otherwise than expected, and is not certain enough."""
        domain, expected = self.instance.domain, judged.expected
        after = judged.phase is Phase.AFTER
        props = set(changed(judged.before, expected.facts, domain)) if after else set[Property]()
        for look in judged.looks:
            otherwise = changed(look.facts, expected.facts, domain)
            props |= {prop for prop in otherwise if look.knows(prop) and expected.knows(prop)}
        disputed = self.tracker.disputed(self.tracker.best, predicted=True)
        return self._open(self.certainty.alarm, props & disputed.keys())

    def _open(self, allowed: float, props: Iterable[Property]) -> tuple[Property, ...]:
        """Those of some properties that are not certain enough, as far as another observation may tell."""
        tracker, domain = self.tracker, self.instance.domain
        disputed = tracker.disputed(tracker.best, predicted=True)
        sure = {prop: disputed.get(prop, 1.0) * (1.0 - tracker.unseen(prop)) for prop in props}
        return tuple(sorted(prop for prop in sure if sure[prop] < 1.0 - allowed and not drifts(prop, domain)))

    def _allowed(self, action: Action) -> float:
        """How uncertain a condition of an action may be."""
        reversible = self.instance.domain.operators[action.operator].reversible
        return self.certainty.alarm if reversible else self.certainty.irreversible

    def _relied_on(self, facts: State, action: Action) -> tuple[Property, ...]:
        """What an action needs and is not certain enough.

        What may have changed unseen counts only if the action cannot be undone.
        """
        tracker, allowed = self.tracker, self._allowed(action)
        disputed = tracker.disputed(tracker.best)
        unsure = {prop for prop, sure in disputed.items() if sure < 1.0 - allowed}
        if not self.instance.domain.operators[action.operator].reversible:
            unsure |= {prop for prop in tracker.props if tracker.unseen(prop) > allowed}
        return rests_on(self.instance, facts, action, unsure) if unsure else ()

    def _concluded(self, judged: Judged) -> Discrepancy[FactScene]:
        """Judge all observations of a step or check together."""
        domain, after, done = self.instance.domain, judged.phase is Phase.AFTER, self.num_executed
        doubtful = self._doubtful(judged)
        settled = not doubtful or judged.made >= self.certainty.looks
        observed = self._graph = self._believed(judged.looks[-1], settled)
        rest = self.plan.actions[done:]
        situation = FactSituation(
            self.instance, judged.action, judged.before, judged.expected, observed, rest, self.goal, done
        )
        found, facts = deviations(situation), observed.facts
        unmet, missing = tuple[explanation.Fact, ...](), list[Unknown]()
        problem: PlanProblem | None = None
        disputed = self.tracker.disputed(self.tracker.best)
        if after:
            problem = None if rest or found else self._goal_missed(observed)
            unsure = (p for p in situation.acted_on if disputed.get(p, 1.0) < 1.0 - self.certainty.alarm)
            missing = [Unknown(p[1], p[0]) for p in sorted(unsure) if not judged.shows(p) and not drifts(p, domain)]
        elif self._rules.check:
            unmet = unmet_conditions(self.instance, facts, rest[0])
            if (lookahead := self._rules.lookahead) is not None:
                problem = lookahead.problem(facts, rest, self.goal, done)
                missing = [] if problem else [*lookahead.needed(observed, rest, self.goal)]
            relied_on = self._relied_on(facts, rest[0])
            doubtful += self._open(self._allowed(rest[0]), relied_on)
            missing += [Unknown(p[1], p[0]) for p in relied_on if p in disputed and not judged.shows(p)]
        if unmet or problem:
            doubtful += self._open(self.certainty.irreversible, {p for p in self.tracker.props if judged.shows(p)})
        judged.doubtful = tuple(dict.fromkeys(doubtful))
        cause = tuple[str, ...]()
        if found:
            expected = judged.expected.facts
            cause = counterfactual_cause(self.instance, facts, expected, situation.deviating, rest, self.goal)
        return Discrepancy[FactScene](
            max(done - 1, 0) if after else done,
            judged.phase,
            judged.action if judged.action is not None else rest[0],
            judged.expected,
            observed,
            found,
            unmet,
            tuple(dict.fromkeys(missing)),
            len(judged.looks),
            plan_problem=problem,
            cause=cause,
        )

    def _goal_missed(self, scene: FactScene) -> PlanProblem | None:
        """Conditions of the goal that are known not to hold although every action is done."""
        domain = self.instance.domain
        missed = [
            fact
            for fact in unmet_goal(self.instance, scene.facts, self.goal)
            if scene.knows(property_of(literal(fact, domain)[0], domain))
        ]
        unmet = tuple(explanation.Fact(fact[0], fact[1:]) for fact in missed)
        return PlanProblem(PlanFault.FAILS, max(self.num_executed - 1, 0), unmet=unmet) if unmet else None
