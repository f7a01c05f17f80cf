"""What is believed of a scene of facts: the posterior of a tracker, and where to look to make it certain."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from pathlib import Path
from typing import Any, cast

from nsrecover.belief.channels import LearnedRates
from nsrecover.belief.tracker import FIRST, Tracker
from nsrecover.core import explanation
from nsrecover.core.actions import Action, Plan
from nsrecover.core.certainty import Certainty
from nsrecover.core.discrepancy import Discrepancy, Phase, PlanFault, PlanProblem, Unknown
from nsrecover.core.facts import SURE, FactScene, Property, StateFact
from nsrecover.core.recovery import Recovery
from nsrecover.core.traces import Trace
from nsrecover.domains.base import State
from nsrecover.domains.domain import Domain
from nsrecover.domains.entrances import check_plan
from nsrecover.domains.instance import Instance
from nsrecover.domains.properties import (
    changed,
    drifts,
    driven,
    literal,
    outermost,
    placed,
    property_of,
    supports,
    values_of,
    with_properties_of,
)
from nsrecover.errors import InvalidCheckpoint, InvalidConfiguration
from nsrecover.models.conformal import Calibration, check_rate, lowest
from nsrecover.monitoring.expected_trace import ExpectedTrace
from nsrecover.monitoring.outlook import (
    decides,
    explaining,
    imagine,
    keeping_from,
    outlook,
    rests_on,
    unmet_goal,
    what_it_leaves,
)
from nsrecover.monitoring.scene_model import (
    ExpectingPerceiver,
    FactPerceiver,
    ForkingPerceiver,
    SceneBelief,
    SceneModel,
    SceneParts,
)
from nsrecover.perception.facts import FactsPerceiver
from nsrecover.util.atomic_write import atomic_write_bytes
from nsrecover.util.json_data import from_json, to_json
from nsrecover.util.untrusted_json import JsonMapping, read_json

FAILED_BY = 10.0
"""How much more likely an action fails if a condition of it does not hold than if all do."""
UNLIKELY = 0.2
"""What does not matter is looked at again if it is otherwise than expected with at least this probability,"""
PLAIN = 0.95
"""and if it was read with at least this certainty."""
RATES = "rates.json"
"""File of the learned rates, in a folder that `System.save` has written."""


class BeliefStage(Enum):
    """What further observations of a step or check are for."""

    VISIT = auto()
    """To look at where something will be done, or at what should have been reached, before it is relied on."""
    DOUBT = auto()
    """To settle the verdict."""
    SEARCH = auto()
    """To find what is needed and in none of the places in view: wherever things are known to be."""


@dataclass
class JudgedFacts:
    """A step or a check, and the observations of it.

    Attributes:
        phase: whether an action was done.
        action: the action of a step; None for a check.
        before: the scene before the action.
        expected: the imagined scene.
        looks: what was observed.
        found: what that says together.
        doubtful: properties that decide the verdict and are not certain enough.
        stage: what further observations are for.
        places: places to visit or to search.
        made: observations that the verdict is based on, those that could not be used included.
    """

    phase: Phase
    action: Action | None
    before: FactScene
    expected: FactScene
    looks: list[FactScene]
    found: Discrepancy[FactScene] = field(init=False)
    doubtful: tuple[Property, ...] = ()
    stage: BeliefStage = BeliefStage.VISIT
    places: tuple[str, ...] = ()
    made: int = 1

    def shows(self, prop: Property) -> bool:
        """Whether an observation shows a property."""
        return any(look.knows(prop) for look in self.looks)


class FactBelief(SceneBelief[JudgedFacts, FactScene]):
    """What is believed of a scene of facts.

    It is the posterior of `nsrecover.belief.tracker.Tracker`, and all else follows from it: the verdict, whether
    another observation is wanted, what is missing to tell, and what keeps the goal from being confirmed. Until a
    verdict is certain enough, what was read last counts. What is unknown never deviates. An action is not relied on
    while a condition that it needs depends on an earlier action whose effect has not been seen.

    The errors of different observations are taken to be independent; what errs in the same way every time defeats it.

    Args:
        model: how scenes are judged.
        parts: a system, whose parts imagine, compare, and look ahead.
        perceiver: turns observations into scenes of facts.
        certainty: how sure a verdict has to be.
        plan: what will be done.
        observation: what is seen before its first action.

    Attributes:
        instance: the domain over the objects of the scene.
        goal: conditions that hold in the end.
        tracker: follows the scene.

    Raises:
        InvalidAction: the plan has an unknown operator or wrong arguments.
        InvalidObservation: the observation cannot be used.
    """

    def __init__(
        self,
        model: FactModel,
        parts: SceneParts[FactScene],
        perceiver: FactPerceiver[Any],
        certainty: Certainty,
        plan: Plan,
        observation: object,
    ) -> None:
        self.certainty, self.instance, self._model = certainty, model.instance, model
        self._imagination = parts.imagination
        self._comparison = parts.comparison
        self._lookahead = parts.lookahead
        self._perceiver, assumed = perceiver, model.assumed
        check_plan(self.instance, plan)
        self._near = tuple[str, ...]()
        self._suspects = set[Property]()
        known = FactScene(frozenset(assumed or ()))
        seen = self._seen(observation, known, known)
        start = seen if assumed is None else known
        self.tracker = Tracker(self.instance, start.facts, assumed is not None, model.rates, model.misassumed)
        self.tracker.saw(seen)
        self._looks = [seen]
        self._movable = placed(seen.facts | start.facts, self.instance.domain)
        self._scene = self._believed(seen)
        trace = self._imagination.trace(self.scene if assumed is None else known, plan)
        self._expected = ExpectedTrace(self._imagination, trace)
        self._aim(what_it_leaves(self.instance, start.facts, plan) if model.goal is None else model.goal)

    @property
    def expected(self) -> ExpectedTrace[FactScene]:
        """The scenes that the plan is expected to lead through, and how far it is."""
        return self._expected

    @property
    def scene(self) -> FactScene:
        """The scene as it is believed to be."""
        return self._scene

    @property
    def unconfirmed(self) -> tuple[str, ...]:
        """Objects of the conditions of the goal that are neither certain to hold nor certain not to.

        Of a goal that soon passes an ordinary certainty is enough: another look would cost what it checks.
        """
        domain, tracker = self.instance.domain, self.tracker
        allowed = self.certainty.alarm if self.passing else self.certainty.done
        unseen = {prop: tracker.unseen(prop) for prop in tracker.props}
        disputed, shares = tracker.disputed(tracker.best), tracker.shares(streaks=True)
        doubtful = {prop for prop, chance in unseen.items() if chance > allowed / 20} | disputed.keys()
        names = list[str]()
        for fact in self.goal:
            condition, (atom, _) = self.instance.condition(fact), literal(fact, domain)
            own = property_of(atom, domain)
            deciding = [own] if own in unseen else list(decides(self.instance, self.scene.facts, (fact,), doubtful))
            sure = math.prod(1.0 - unseen.get(prop, 0.0) for prop in deciding)
            holds = sure * sum(share for one, share in shares if self.instance.holds(one.state, condition))
            if own in self.scene.unknown or allowed < holds < 1.0 - allowed:
                names += [name for _, name in deciding if name in self.instance.objects] or [own[1]]
        return tuple(dict.fromkeys(names))

    def whereabouts(self, names: Sequence[str]) -> tuple[str, ...]:
        """Fixed objects that some objects are believed to be in or on."""
        return self._places(names, self.scene.facts)

    @property
    def passing(self) -> bool:
        """Whether the goal is believed to be reached and soon will not be: another look would cost what it checks.

        Not if the last look has shown a part of it otherwise.
        """
        if self.expected.rest or self.missed or self._missed_in(self._looks[-1]):
            return False
        return any(self._passes(*literal(fact, self.instance.domain)) for fact in self.goal)

    @property
    def missed(self) -> tuple[explanation.Fact, ...]:
        """Conditions of the goal that do not hold now."""
        missed = unmet_goal(self.instance, self.scene.facts, self.goal)
        return tuple(explanation.Fact(fact[0], fact[1:]) for fact in missed)

    def likelihood(self, judged: object) -> float:
        """The probability that the last action did what it should."""
        return self.tracker.worked

    def wanted(self, judged: JudgedFacts) -> tuple[str, ...] | None:
        """Where to look next, the most important first; None: the verdict is settled."""
        if self.passing and not judged.found.deviates:
            return None
        if judged.stage is not BeliefStage.DOUBT:
            return judged.places[:1] or None
        if self._settled(judged):
            return None
        found = judged.found
        missing = (each.name for each in found.missing_to_tell if isinstance(each, Unknown))
        names = (*found.deviating, *missing, *(name for _, name in judged.doubtful))
        places = self._places(names, found.observed.facts, found.expected.facts)
        turn = (judged.made - 1) % max(len(places), 1)
        return (*places[turn:], *places[:turn])

    def _settled(self, judged: JudgedFacts) -> bool:
        """Whether the verdict is certain enough, or there were enough observations."""
        return judged.made >= self.certainty.looks or not (judged.doubtful or judged.found.missing_to_tell)

    def begin(
        self, phase: Phase, action: Action | None, observation: object, last: JudgedFacts | None = None
    ) -> JudgedFacts:
        """Judge the first observation of a step or check; without one, by those after the last action."""
        if observation is None and last is not None and last.phase is Phase.BEFORE:
            return self._opened(last)
        before = expected = self.scene
        if observation is None and last is None:
            before = expected = self.expected.scene(self.expected.num_executed)
        if action is not None:
            self.expected.start_from(self.expected.num_executed, before)
            expected = self.expected.scene(self.expected.num_executed + 1)
        if observation is not None:
            seen = self._seen(observation, before, expected)
            if action is None:
                self.tracker.waited()
            else:
                self.tracker.acted(action)
            self.tracker.saw(seen)
            self._looks = [seen]
        if action is not None:
            self.expected.num_executed += 1
            self._near = self._places(action.arguments, before.facts, expected.facts)
        elif observation is None and last is not None:
            if last.found.as_expected:
                self._suspects.clear()
            return self._opened(replace(last, phase=phase, action=None, before=before, expected=expected))
        return self._opened(JudgedFacts(phase, action, before, expected, self._looks))

    def take_back(self, judged: JudgedFacts) -> JudgedFacts:
        """Judge a step as a check: its action was not begun."""
        self.tracker.undone()
        self.expected.num_executed -= 1
        before = self.expected.scene(self.expected.num_executed)
        return self._opened(JudgedFacts(Phase.BEFORE, None, before, before, judged.looks, made=judged.made))

    def look_again(self, judged: JudgedFacts, observation: object) -> None:
        """Judge the same with one more observation; None: one was made that cannot be used."""
        if observation is not None:
            if judged.stage is BeliefStage.VISIT and judged.places:  # a place is compared with what is believed now
                seen = self._seen(observation, self.scene, self.scene)
                judged.before = judged.expected = self.scene
                judged.looks = self._looks = []
            else:
                seen = self._perceiver(observation)
                if not self.expected.rest and self.wanted(judged) is None:
                    self.tracker.trust_readings()  # the goal is looked at: its conditions have to be read
            self.tracker.saw(seen)
            judged.looks.append(seen)
        if judged.stage is BeliefStage.DOUBT:
            self._near += (self.wanted(judged) or ())[:1]
            judged.made += 1
        else:
            self._near += judged.places[:1]
            judged.places = judged.places[1:]
        judged.found = self._concluded(judged)
        self._plan_looks(judged)

    def saw(self, observation: object) -> None:
        """Take in an observation of which nothing is judged."""
        seen = self._seen(observation, self.scene, self.scene)
        self.tracker.saw(seen)
        self._looks.append(seen)
        self._scene = self._believed(seen)

    def glance(self, expected: State, observation: object) -> FactScene:
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
        aside.expect(self.scene.facts, expected)
        return aside(observation)

    def judge_anew(self, judged: JudgedFacts, observation: object) -> JudgedFacts:
        """Judge the same by one observation alone, after an external change."""
        self._disturbed(observation, judged.before, judged.expected)
        return self._opened(JudgedFacts(judged.phase, judged.action, judged.before, judged.expected, self._looks))

    def replan(self, plan: Plan, num_executed: int, observation: object) -> None:
        """Go on with another plan; arguments and errors as for `Monitor.set_plan`."""
        check_plan(self.instance, plan)
        if observation is not None:
            self._disturbed(observation, self.scene, self.scene)
        self._scene = self._believed(self._looks[-1])
        self._looks = self._looks[-1:]
        fresh = self._model.goal is None and plan != self.expected.plan
        self.expected.replan(plan, num_executed, self.scene)
        rest = Plan(plan.actions[num_executed:])
        self._aim(what_it_leaves(self.instance, self.scene.facts, rest) if fresh else self.goal)

    def rejoin(self, recovery: Recovery[FactScene], judged: JudgedFacts | None) -> JudgedFacts | None:
        """Go on with a recovery; returns what can be looked at again, if no action is left."""
        plan, tidy = self.expected.plan, self.expected.up_to(0).tidy
        left = Plan((*recovery.actions, *plan.actions[recovery.resumes_at(len(plan)) :]))
        self.expected.set(replace(self._imagination.trace(self.scene, left), tidy=tidy))
        self._aim(tuple(fact for fact in self.goal if fact not in recovery.lost))
        if judged is not None and judged.action is not None:
            fresh = explaining(self.instance, self.scene.facts, judged.action)
            self.tracker.doubt(fresh, FAILED_BY)
            self._suspects.update(fresh)
        if len(left) or judged is None:
            return None
        # nothing is left but to look at the goal
        return self._opened(JudgedFacts(Phase.AFTER, judged.found.action, self.scene, self.scene, self._looks))

    def _aim(self, goal: tuple[StateFact, ...]) -> None:
        """Have a goal from now on."""
        self.goal = goal
        self.expected.edit(lambda trace: replace(trace, goal=goal))

    def _opened(self, judged: JudgedFacts) -> JudgedFacts:
        """The same, judged by its first observation."""
        judged.found = self._concluded(judged)
        judged.stage, judged.places = BeliefStage.VISIT, ()
        due = next(iter(self.expected.rest), None)
        if self._model.visits and judged.found.as_expected and (due is None or judged.phase is Phase.BEFORE):
            names = due.arguments if due is not None else [name for _, name in self._wanted]
            judged.places = self._places(names, self.scene.facts)
        self._plan_looks(judged)
        return judged

    def _plan_looks(self, judged: JudgedFacts) -> None:
        """Go on to the next place, or to the next stage, if there is nothing more to look at in this one."""
        if judged.stage is BeliefStage.VISIT:
            judged.places = tuple(place for place in judged.places if place not in self._near)
            if judged.places and not judged.found.deviates:
                return
            judged.stage, judged.places = BeliefStage.DOUBT, ()
        if judged.stage is BeliefStage.DOUBT:
            if not self._settled(judged):
                return
            judged.stage = BeliefStage.SEARCH
            if self._model.visits and judged.found.deviates:
                facts = self.scene.facts
                judged.places = self._places(sorted(supports(facts, self.instance.domain)), facts)
        if not self._lost(judged.found):
            judged.places = ()

    def _passes(self, fact: StateFact, holds: bool) -> bool:
        """Whether a condition soon ends unprompted: a toaster pops, what lies in a hot pan burns.

        Args:
            fact: of a state variable, for which this is known.
            holds: whether the condition is that it holds.
        """
        variable = self.instance.domain.variables.get(fact[0])
        if variable is None:
            return False
        if holds:
            return bool(variable.passes) and variable.passes in self.instance.objects[fact[1]]
        return variable.drifts and driven(fact[1], self.scene.facts, self.instance)

    def _lost(self, found: Discrepancy[FactScene]) -> set[str]:
        """What is needed, deviates, and is in no place."""
        needed = {name for _, name in self._wanted} | {
            name for action in self.expected.rest for name in action.arguments
        }
        return (needed & self._movable & set(found.deviating)) - placed(self.scene.facts, self.instance.domain)

    @property
    def _wanted(self) -> list[Property]:
        """The properties that the goal is about."""
        domain = self.instance.domain
        return [property_of(literal(fact, domain)[0], domain) for fact in self.goal]

    def _places(self, names: Iterable[str], *scenes: State) -> tuple[str, ...]:
        """The fixed objects that some objects are in or on, or are themselves."""
        outer = (outermost(name, facts, self.instance.domain) for name in names for facts in scenes)
        return tuple(dict.fromkeys(place for place in outer if place is not None and place not in self._movable))

    def _seen(self, observation: object, before: FactScene, expected: FactScene) -> FactScene:
        """What an observation shows, the first one of a step or check, if a scene was expected."""
        if isinstance(self._perceiver, ExpectingPerceiver):
            self._perceiver.expect(before.facts, expected.facts)
        return self._perceiver(observation)

    def _disturbed(self, observation: object, before: FactScene, expected: FactScene) -> None:
        """Take in an observation after somebody has changed the scene."""
        seen = self._seen(observation, before, expected)
        self.tracker.waited(disturbed=True)
        self.tracker.saw(seen)
        self._looks = [seen]

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
        if not self._model.memory:
            certainty |= {prop: 0.0 for prop in seen.certainty if not seen.knows(prop)}
        return replace(scene, certainty={prop: sure for prop, sure in certainty.items() if sure < 1.0 - allowed})

    def _doubtful(self, judged: JudgedFacts) -> tuple[Property, ...]:
        """What the action should have changed, or was read otherwise than expected, and is not certain enough.

        What is read otherwise and matters neither for the plan nor for the goal has to be read plainly and be likely.
        """
        expected, best = judged.expected, self.tracker.best
        acted_on, otherwise = self._acted_on(judged), set[Property]()
        for look in judged.looks:
            differ = changed(look.facts, expected.facts, self.instance.domain)
            otherwise |= {prop for prop in differ if look.knows(prop) and expected.knows(prop)}
        disputed = self.tracker.disputed(best, predicted=True)
        likely = changed(best.state, expected.facts, self.instance.domain)
        likely |= {prop for prop in otherwise if disputed.get(prop, 1.0) < 1.0 - UNLIKELY}
        plain = {p for p in otherwise & likely if max(look.certainty.get(p, 1.0) for look in judged.looks) >= PLAIN}
        props = acted_on | plain | self._matters(judged, otherwise - plain)
        return self._open(self.certainty.alarm, props & disputed.keys())

    def _without_guesses(self, scene: FactScene, judged: JudgedFacts) -> FactScene:
        """A scene in which what does not matter is unknown unless it is certain enough that it is otherwise."""
        otherwise = changed(scene.facts, judged.expected.facts, self.instance.domain) & scene.certainty.keys()
        open_to_doubt = otherwise - self._acted_on(judged)
        guessed = open_to_doubt - self._matters(judged, open_to_doubt)
        return replace(scene, certainty={**scene.certainty, **dict.fromkeys(sorted(guessed), 0.0)})

    def _matters(self, judged: JudgedFacts, props: Iterable[Property]) -> set[Property]:
        """Those of some properties that matter: the goal's, places in it and in the plan, and what decides them.

        Another state does not matter if the rest of the plan reaches the goal with each value that was read.
        """
        domain, rest, wanted = self.instance.domain, self.expected.rest, self._wanted
        actions = [*rest, *([] if judged.action is None else [judged.action])]
        names = {name for action in actions for name in action.arguments} | {name for _, name in wanted}
        names = names.union(*(supports(self.scene.facts, domain, name) for name in names))
        expected = judged.expected.facts

        def fails(prop: Property) -> bool:
            read = {frozenset(f for f in look.facts if property_of(f, domain) == prop) for look in judged.looks}
            states = [with_properties_of(expected, value, [prop], domain) for value in read]
            return not all(outlook(self.instance, state, rest, self.goal).good for state in (expected, *states))

        always = {prop for prop in props if prop in wanted or prop[0] not in domain.variables}
        return {prop for prop in props if prop[1] in names and (prop in always or fails(prop))}

    def _acted_on(self, judged: JudgedFacts) -> frozenset[Property]:
        """What the action should have changed."""
        return changed(judged.before.facts, judged.expected.facts, self.instance.domain)

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

    def _distrust(self, action: Action) -> None:
        """Believe what is read, not that a reading is stuck, if an action needs it that cannot be undone."""
        stuck = {prop for prop, _ in self.tracker.best.stuck}
        reversible = self.instance.domain.operators[action.operator].reversible
        if stuck and not reversible and rests_on(self.instance, self.tracker.best.state, action, stuck):
            self.tracker.trust_readings()

    def _relied_on(self, facts: State, action: Action) -> tuple[Property, ...]:
        """What the next action needs and is not certain enough.

        What may have changed unseen counts only if the action cannot be undone, or has failed as if it had changed.
        Nothing counts with whose every value the rest of the plan reaches the goal.
        """
        tracker, allowed = self.tracker, self._allowed(action)
        disputed = tracker.disputed(tracker.best)
        unsure = {prop for prop, sure in disputed.items() if sure < 1.0 - allowed}
        reversible = self.instance.domain.operators[action.operator].reversible
        suspects = self._suspects if reversible else tracker.props
        unsure |= {prop for prop in suspects if tracker.unseen(prop) > allowed}
        needed = rests_on(self.instance, facts, action, unsure) if unsure else ()
        return tuple(prop for prop in needed if not self._harmless(facts, prop))

    def _harmless(self, facts: State, prop: Property) -> bool:
        """Whether the rest of the plan reaches the goal with every value of a property, even if its next action fails.

        What a cup is filled with, if anything, need not be known to pour it out into the sink.
        """
        instance, (first, *later) = self.instance, self.expected.rest
        others = [with_properties_of(facts, each, [prop], instance.domain) for each in values_of(prop, facts, instance)]
        after = (outlook(instance, start, (first,), ()).states[1] for start in (facts, *others))
        return all(outlook(instance, each, later, self.goal).good for each in after)

    def _hidden_by(self, facts: State, action: Action) -> list[Property]:
        """What the goal is about and is behind something closed after an action, but not before: seen now or never."""
        predicate, wanted = self.instance.domain.enclosed, self._wanted
        if not predicate:
            return []
        after, names = imagine(self.instance, facts, action), {name for _, name in wanted}
        conditions = {name: self.instance.condition((predicate, name)) for name in names}
        closed_in = {
            name
            for name, enclosed in conditions.items()
            if self.instance.holds(after, enclosed) and not self.instance.holds(facts, enclosed)
        }
        return [prop for prop in wanted if prop[1] in closed_in]

    def _compared(self, judged: JudgedFacts) -> Discrepancy[FactScene]:
        """Compare what is believed with what was expected."""
        done, after = self.expected.num_executed, judged.phase is Phase.AFTER
        if done == 0 and after:  # all was done before the plan was set
            assert judged.action is not None
            trace, done = Trace[FactScene](Plan((judged.action,)), (judged.before, judged.expected), self.goal), 1
        else:
            trace = self.expected.up_to(done)
            if trace.graphs[done] is not judged.expected or (after and trace.graphs[done - 1] is not judged.before):
                graphs = list(trace.graphs)
                graphs[done - after : done + 1] = [judged.before, judged.expected][not after :]
                trace = replace(trace, graphs=tuple(graphs))
        compare = self._comparison.after if after else self._comparison.before
        return compare(self.scene, trace, done - after)

    def _concluded(self, judged: JudgedFacts) -> Discrepancy[FactScene]:
        """Judge all observations of a step or check together."""
        domain, tracker, rest = self.instance.domain, self.tracker, self.expected.rest
        if judged.phase is Phase.BEFORE and self._model.check:
            self._distrust(rest[0])
        doubtful = self._doubtful(judged)
        settled = not doubtful or judged.made >= self.certainty.looks
        self._scene = self._without_guesses(self._believed(judged.looks[-1], settled), judged)
        found, facts = self._compared(judged), self.scene.facts
        unmet, missing, problem = found.unmet, list[Unknown](), None
        disputed = tracker.disputed(tracker.best)
        if judged.phase is Phase.AFTER:
            problem = None if rest or found.deviations else self._goal_missed()
            if found.deviations and judged.action is not None and tracker.refused:
                unmet = keeping_from(self.instance, tracker.best.before, judged.action)
            acted_on = self._acted_on(judged)
            unsure = (p for p in acted_on if disputed.get(p, 1.0) < 1.0 - self.certainty.alarm)
            missing = [Unknown(p[1], p[0]) for p in sorted(unsure) if not judged.shows(p) and not drifts(p, domain)]
            missing += [Unknown(p[1], p[0]) for p, _ in tracker.best.stuck if p in acted_on]
        elif not self._model.check:
            unmet = ()
        else:
            if (lookahead := self._lookahead) is not None:
                problem = lookahead.problem(facts, rest, self.goal, self.expected.num_executed)
                missing = [] if problem else [*lookahead.needed(self.scene, rest, self.goal)]
            relied_on = self._relied_on(facts, rest[0])
            doubtful += self._open(self._allowed(rest[0]), relied_on)
            hidden = self._hidden_by(facts, rest[0])
            doubtful += self._open(self.certainty.done / max(1, len(hidden)), hidden)
            missing += [Unknown(p[1], p[0]) for p in relied_on if p in disputed and not judged.shows(p)]
        if unmet or problem:
            doubtful += self._open(self.certainty.irreversible, {p for p in tracker.props if judged.shows(p)})
        judged.doubtful = tuple(dict.fromkeys(doubtful))
        missing_to_tell, looks = tuple(dict.fromkeys(missing)), len(judged.looks)
        return replace(found, unmet=unmet, missing_to_tell=missing_to_tell, looks=looks, plan_problem=problem)

    def _missed_in(self, scene: FactScene) -> list[StateFact]:
        """Conditions of the goal that are known not to hold in a scene."""
        domain = self.instance.domain
        unmet = unmet_goal(self.instance, scene.facts, self.goal)
        return [fact for fact in unmet if scene.knows(property_of(literal(fact, domain)[0], domain))]

    def _goal_missed(self) -> PlanProblem | None:
        """Conditions of the goal that are known not to hold although every action is done."""
        unmet = tuple(explanation.Fact(fact[0], fact[1:]) for fact in self._missed_in(self.scene))
        return PlanProblem(PlanFault.FAILS, max(self.expected.num_executed - 1, 0), unmet=unmet) if unmet else None


@dataclass(frozen=True)
class FactModel(SceneModel[FactScene]):
    """The model of scenes of facts: a domain over the objects of a scene, and how its scenes are judged.

    Attributes:
        instance: the domain over the objects of the scene.
        goal: conditions that hold in the end; None: what the plan achieves.
        assumed: the facts for which the plan was made, such as those before a successful demonstration (Yu et al.,
            "Scene graph-guided proactive replanning", section II-C); None: those that are seen.
        check: whether conditions are checked before actions at all; False for comparisons.
        memory: whether what is not seen is remembered; False for comparisons.
        visits: whether the place of an action that is done elsewhere than the last one is looked at first, the places
            of the goal when all is done, and every place for what is lost; for robots that see only what is near.
        rates: how often the robot's actions fail, and its readings are wrong, when an episode begins.
        misassumed: odds that one of the facts that are assumed or seen in the beginning is otherwise.
    """

    instance: Instance
    goal: tuple[StateFact, ...] | None = None
    assumed: State | None = None
    check: bool = True
    memory: bool = True
    visits: bool = False
    rates: LearnedRates = field(default_factory=LearnedRates)
    misassumed: float = FIRST

    @property
    def domain(self) -> Domain:
        """The domain, which has the words."""
        return self.instance.domain

    def check_plan(self, plan: Plan) -> None:
        """Refuse a plan with unknown operators or objects, or with arguments that do not fit."""
        check_plan(self.instance, plan)

    def believe(
        self,
        parts: SceneParts[FactScene],
        perceiver: FactPerceiver[Any],
        certainty: Certainty,
        plan: Plan,
        observation: object,
    ) -> FactBelief:
        """What is believed at the beginning of an episode; errors as for `FactBelief`."""
        return FactBelief(self, parts, perceiver, certainty, plan, observation)

    def calibrated(
        self, scores: Sequence[float], beliefs: Sequence[FactBelief], alpha: float
    ) -> tuple[FactModel, Calibration]:
        """The same model with the failure and misread rates of recorded episodes; see `System.calibrated`."""
        check_rate(scores, alpha)
        failed = sum(score < 0.5 for score in scores)
        if 2 * failed > len(scores):
            raise InvalidConfiguration(
                f"expected episodes of a robot that works, found {failed} of {len(scores)} actions that had no effect; "
                "check that the observations belong to the plans"
            )
        rates = copy.deepcopy(self.rates)
        for belief in beliefs:
            belief.tracker.learn()
            rates.add(belief.tracker.rates, self.rates)
        return replace(self, rates=rates), Calibration(lowest(scores), len(scores))

    def save(self, folder: str | Path, calibration: Calibration | None, card: str) -> Path:
        """Write the rates, and what they were learned from; see `System.save`."""
        document = {"rates": to_json(self.rates), "calibration": to_json(calibration), "card": card}
        atomic_write_bytes(Path(folder) / RATES, json.dumps(document, indent=1).encode() + b"\n")
        return Path(folder)


def rates_in(folder: str | Path) -> tuple[LearnedRates, Calibration | None]:
    """Read what `System.save` has written for scenes of facts.

    Raises:
        InvalidCheckpoint: it is missing or damaged.
    """
    path = Path(folder) / RATES
    try:
        document = cast("JsonMapping", read_json(path))
        given = document["calibration"]
        calibration = None if given is None else from_json(Calibration, given)
        return from_json(LearnedRates, document["rates"]), calibration
    except (OSError, ValueError, TypeError, KeyError) as problem:
        raise InvalidCheckpoint(
            f"expected the rates of a calibration in {path}, found: {problem}; calibrate again"
        ) from problem


@dataclass(frozen=True)
class FactPerceivers:
    """Makes perceivers of facts that are given.

    Attributes:
        instance: the domain over the objects of the scene.
    """

    instance: Instance

    def with_model(self, model: FactModel) -> FactPerceivers:
        """The same for another model."""
        return replace(self, instance=model.instance)

    def __call__(self, observation: object = None, watch_cameras: bool = True) -> FactsPerceiver:
        """A perceiver."""
        return FactsPerceiver(self.instance)
