"""The monitor of symbolic domains: compares every observed scene of facts with the imagined one, and looks ahead."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from nsrecover.core import explanation
from nsrecover.core.actions import Action, Plan
from nsrecover.core.certainty import CERTAINTY, Certainty
from nsrecover.core.discrepancy import Discrepancy, Phase, PlanFault, PlanProblem, Unknown
from nsrecover.core.facts import FactScene, Property, StateFact
from nsrecover.core.recovery import Recovery
from nsrecover.core.traces import Trace
from nsrecover.domains.base import State
from nsrecover.domains.entrances import check_plan
from nsrecover.domains.instance import Instance
from nsrecover.domains.properties import changed, drifts, literal, outermost, placed, property_of, supports
from nsrecover.errors import InvalidConfiguration, InvalidPlan
from nsrecover.monitoring.facts.beliefs import by_laws, fused, updated
from nsrecover.monitoring.facts.causes import FactSituation, deviations
from nsrecover.monitoring.facts.expected_trace import imagined_trace, what_it_leaves
from nsrecover.monitoring.facts.failures import Failures
from nsrecover.monitoring.facts.looking_again import Judged, Stage
from nsrecover.monitoring.facts.outlook import counterfactual_cause, decides, rests_on, unmet_conditions, unmet_goal
from nsrecover.monitoring.facts.rules import ExpectingPerceiver, FactPerceiver, FactRules, ForkingPerceiver
from nsrecover.monitoring.monitor import LOOKS, Monitor, Seen, check_done


class FactMonitor(Monitor[FactScene, Seen]):
    """The monitor of scenes of facts.

    Each step is judged from the scene that was believed before it. What is not seen is remembered with decreasing
    certainty, and what is unknown never deviates. An action is not relied on while a condition that it needs depends on
    an earlier action whose effect has not been seen.

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
        self._failures = Failures(instance)
        self._unseen_effects = frozenset[Property]()
        known = frozenset(assumed or ())
        self._expect(known, known)
        seen = self._see(observation)
        expected = seen if assumed is None else FactScene(known)
        self._movable = placed(seen.facts | expected.facts, instance.domain)
        goal = self._rules.goal
        self.goal = what_it_leaves(instance, expected.facts, plan) if goal is None else goal
        self._graph = updated(expected, seen, instance.domain, decay=1.0)
        self._trace = imagined_trace(instance, expected, plan, self.goal)
        self._num_executed = 0
        self._judged = Judged(Phase.BEFORE, None, expected.facts, expected, [seen])

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
        """Objects of the goal that are not known to be as it says."""
        unseen = [prop for prop in self._wanted if not self.graph.knows(prop) or prop in self._unseen_effects]
        unknown = {prop for prop in self.graph.certainty if not self.graph.knows(prop)} | set(self._unseen_effects)
        unseen += decides(self.instance, self.graph.facts, self.goal, unknown - set(unseen))  # what is derived of them
        return tuple(dict.fromkeys(name for _, name in unseen))

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
        found = last.found
        names = (*found.deviating, *(each.name for each in found.missing_to_tell if isinstance(each, Unknown)))
        places = self._places(names, found.observed.facts, found.expected.facts)
        turn = (len(last.looks) - 1) % max(len(places), 1)
        return None if self._settled else (*places[turn:], *places[:turn])

    @property
    def _settled(self) -> bool:
        """Whether another look would not change the verdict, or there were enough."""
        last = self._judged
        assert last.found is not None
        same = last.found.as_expected or (last.found.deviates and last.found.deviating == last.previous)
        return last.made >= LOOKS or (same and last.seen_twice and not last.found.missing_to_tell)

    def _check(self, observation: Seen | None) -> Discrepancy[FactScene]:
        last = self._judged
        if observation is not None:
            self._expect(self.graph.facts, self.graph.facts)
            seen = self._see(observation)
            return self._begin(Judged(Phase.BEFORE, None, self.graph.facts, self.graph, [seen]))
        if last.phase is Phase.AFTER:
            if last.found is not None and last.found.as_expected:
                self._failures.forget()
            # further observations add to those after the last action
            last = replace(last, phase=Phase.BEFORE, expected=self.graph, before=self.graph.facts, action=None)
        return self._begin(last)

    def _step(self, action: Action, observation: Seen) -> Discrepancy[FactScene]:
        before = self.graph
        self._imagine_from(self.num_executed, before)
        expected = self._trace.graphs[self.num_executed + 1]
        self._expect(before.facts, expected.facts)
        seen = self._see(observation)
        self._num_executed += 1
        self._near = self._places(action.arguments, before.facts, expected.facts)
        return self._begin(Judged(Phase.AFTER, action, before.facts, expected, [seen]))

    def _not_begun(self) -> Discrepancy[FactScene]:
        last, domain = self._judged, self.instance.domain
        if all(drifts(p, domain) or not self.graph.knows(p) for p in changed(last.before, self.graph.facts, domain)):
            return self.found
        self._num_executed, self._unseen_effects = self._num_executed - 1, last.unseen_effects
        before = self._trace.graphs[self._num_executed]
        return self._begin(Judged(Phase.BEFORE, None, before.facts, before, last.looks))

    def look_again(self, observation: Seen) -> Discrepancy[FactScene]:
        """Judge the last step, or the last check, with one more observation of the same scene."""
        last = self._judged
        if last.found is None:
            raise InvalidPlan("expected a step or a check to look at again, found none since the plan was set")
        if last.stage is Stage.VISIT and last.places:
            # a place is compared with what is believed now
            self._expect(self.graph.facts, self.graph.facts)
            seen = self._see(observation)
            last = replace(
                last, before=self.graph.facts, expected=self.graph, looks=[], unseen_effects=self._unseen_effects
            )
        else:
            seen = self._see(observation)
        last.looks.append(seen)
        self._looked(last)
        last.found = self._concluded(last)
        self._judged = last
        self._plan_looks()
        return last.found

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
        aside.expect(self.graph.facts, expected, self._failures.doubted)
        return aside(observation)

    def look_failed(self) -> None:
        """Count an observation that was wanted and could not be used as made."""
        self._looked(self._judged)
        self._plan_looks()

    def judge_anew(self, observation: Seen) -> Discrepancy[FactScene]:
        """Judge the last step, or the last check, by one observation alone, after an external change."""
        last = self._judged
        if last.found is None:
            raise InvalidPlan("expected a step or a check to judge again, found none since the plan was set")
        self._expect(last.before, last.expected.facts)
        seen = self._see(observation)
        return self._begin(Judged(last.phase, last.action, last.before, last.expected, [seen]))

    def set_plan(self, plan: Plan, num_executed: int = 0, observation: Seen | None = None) -> None:
        """Go on with another plan, or from another step of this one, from the scene as it was seen last."""
        check_done(num_executed, plan)
        check_plan(self.instance, plan)
        if observation is not None:
            self._expect(self.graph.facts, self.graph.facts)
            self._graph = updated(self.graph, self._see(observation), self.instance.domain, decay=1.0)
        rest = Plan(plan.actions[num_executed:])
        if self._rules.goal is None and plan != self.plan:
            self.goal = what_it_leaves(self.instance, self.graph.facts, rest)
        trace = imagined_trace(self.instance, self.graph, rest, self.goal)
        self._trace = replace(trace, plan=plan, graphs=(self.graph,) * num_executed + trace.graphs)
        self._num_executed = num_executed
        self._judged = Judged(Phase.BEFORE, None, self.graph.facts, self.graph, self._judged.looks[-1:])

    def _rejoin(self, recovery: Recovery[FactScene]) -> None:
        self.goal = tuple(fact for fact in self.goal if fact not in recovery.lost)
        plan = Plan((*recovery.actions, *self.plan.actions[recovery.resumes_at(len(self.plan)) :]))
        self._trace = replace(imagined_trace(self.instance, self.graph, plan, self.goal), tidy=self._trace.tidy)
        self._num_executed = 0
        last = self._judged
        if last.action is not None:
            self._failures.note(last.action, last.alarmed, self.graph.facts)
        self._judged = Judged(Phase.BEFORE, None, self.graph.facts, self.graph, last.looks)

    def _begin(self, judged: Judged) -> Discrepancy[FactScene]:
        """Judge the first observation of a step or check."""
        self._judged = judged
        judged.unseen_effects = self._unseen_effects
        judged.found = self._concluded(judged)
        judged.stage, judged.places, judged.made, judged.previous = Stage.VISIT, (), 1, None
        due = self.next_action
        if self._rules.visits and judged.found.as_expected and (due is None or judged.phase is Phase.BEFORE):
            names = due.arguments if due is not None else [name for _, name in self._wanted]
            judged.places = self._places(names, self.graph.facts)
        self._plan_looks()
        return judged.found

    def _looked(self, judged: Judged) -> None:
        """Note a look that was made, whether it could be used or not."""
        assert judged.found is not None
        if judged.stage is Stage.DOUBT:
            self._near += (self.wanted or ())[:1]
            judged.made, judged.previous = judged.made + 1, judged.found.deviating
        else:
            self._near += judged.places[:1]
            judged.places = judged.places[1:]

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

    def _see(self, observation: Seen) -> FactScene:
        seen = self._perceiver(observation)
        self._failures.read(seen)
        return seen

    def _expect(self, before: State, expected: State) -> None:
        if isinstance(self._perceiver, ExpectingPerceiver):
            self._perceiver.expect(before, expected, self._failures.doubted)

    def _imagine_from(self, step: int, scene: FactScene) -> None:
        """Expect the rest of the plan from another scene after some steps."""
        rest = imagined_trace(self.instance, scene, Plan(self.plan.actions[step:]), self.goal)
        self._trace = replace(self._trace, graphs=self._trace.graphs[:step] + rest.graphs)

    def _concluded(self, judged: Judged) -> Discrepancy[FactScene]:
        """Judge all observations of a step or check together, and believe them."""
        domain, after = self.instance.domain, judged.phase is Phase.AFTER
        acted_on = changed(judged.before, judged.expected.facts, domain) if after else frozenset[Property]()
        looks = [self._failures.without(look, judged.expected.facts) for look in judged.looks]
        seen = fused(looks, domain, isinstance(self._perceiver, ExpectingPerceiver))
        observed = updated(judged.expected, seen, domain, acted_on, self._rules.decay if after else 1.0)
        if not acted_on.isdisjoint(changed(judged.expected.facts, observed.facts, domain)):
            unseen = [prop for prop in acted_on if not seen.knows(prop)]
            observed = by_laws(self.instance, judged.before, observed, unseen)
        # what one of several observations denies, and none confirms, has to be seen, too
        denied = (
            prop for look in looks for prop in changed(look.facts, judged.expected.facts, domain) if look.knows(prop)
        )
        unseen_effects = judged.unseen_effects | {prop for prop in (*acted_on, *denied) if not drifts(prop, domain)}
        unseen_effects = frozenset(prop for prop in unseen_effects if not seen.knows(prop))
        done = self.num_executed
        rest = self.plan.actions[done:]
        situation = FactSituation(
            self.instance, judged.action, judged.before, judged.expected, observed, rest, self.goal, done
        )
        found, facts = deviations(situation), observed.facts
        unmet, missing = tuple[explanation.Fact, ...](), tuple[Unknown, ...]()
        problem: PlanProblem | None = None
        if after:
            problem = None if rest or found else self._goal_missed(observed, unseen_effects)
            unknown = sorted(prop for prop in acted_on if not observed.knows(prop))
            missing = tuple(Unknown(name, variable) for variable, name in unknown)
        elif self._rules.check:
            unmet = unmet_conditions(self.instance, facts, rest[0])
            if (lookahead := self._rules.lookahead) is not None:
                problem = lookahead.problem(facts, rest, self.goal, done)
                missing = () if problem else lookahead.needed(observed, rest, self.goal)
            relied_on = rests_on(self.instance, facts, rest[0], unseen_effects)
            missing = tuple(dict.fromkeys((*missing, *(Unknown(name, variable) for variable, name in relied_on))))
        cause = tuple[str, ...]()
        if found:
            expected = judged.expected.facts
            cause = counterfactual_cause(self.instance, facts, expected, situation.deviating, rest, self.goal)
        self._graph, self._unseen_effects = observed, unseen_effects
        judged.alarmed |= frozenset(situation.deviating)
        return Discrepancy[FactScene](
            done - 1 if after else done,
            judged.phase,
            judged.action if judged.action is not None else rest[0],
            judged.expected,
            observed,
            found,
            unmet,
            missing,
            len(judged.looks),
            plan_problem=problem,
            cause=cause,
        )

    def _goal_missed(self, scene: FactScene, unseen: Collection[Property]) -> PlanProblem | None:
        """Conditions of the goal that are known not to hold although every action is done."""
        domain = self.instance.domain
        seen = [
            fact
            for fact in unmet_goal(self.instance, scene.facts, self.goal)
            if scene.knows(prop := property_of(literal(fact, domain)[0], domain)) and prop not in unseen
        ]
        unmet = tuple(explanation.Fact(fact[0], fact[1:]) for fact in seen)
        return PlanProblem(PlanFault.FAILS, self.num_executed - 1, unmet=unmet) if unmet else None
