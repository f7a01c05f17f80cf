"""No package knows a name of the household: with every name changed, all verdicts, causes, plans and texts stay.

Predicates, variables, values and operators of the domain, and the objects of the scene, get other names. Both are
monitored side by side in random episodes with faults; what they say differs in the names only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import nsrecover
from nsrecover import Action, Plan
from nsrecover.core import PLACE, Cause, Discrepancy, FactScene, Property, Recovery, StateFact, Verdict
from nsrecover.domains.base import And, Atom, Effect, Exists, ForAll, Formula, Has, Not, Or, Same, State
from nsrecover.domains.domain import Domain
from nsrecover.domains.household import HouseholdScene
from nsrecover.domains.instance import Instance
from tests.nsrecover.kitchen_facts import FRIED, FRY, HOME, START, WATER, WATERED

MARK = "zq"


def named(predicate: str) -> str:
    return f"{MARK}_{predicate}"


def called(term: str) -> str:
    """Another name of an object or value; variables and `*` stay."""
    return term if term.startswith("?") or term == "*" else f"{MARK} {term}"


def fact_of(fact: Sequence[str]) -> StateFact:
    return (named(fact[0]), *map(called, fact[1:]))


def formula_of(formula: Formula) -> Formula:
    match formula:
        case Atom(predicate, terms):
            return Atom(named(predicate), tuple(map(called, terms)))
        case Not(part, code):
            return Not(formula_of(part), code)
        case And(parts) | Or(parts):
            return type(formula)(tuple(map(formula_of, parts)))
        case Exists(variable, part, trait) | ForAll(variable, part, trait):
            return type(formula)(variable, formula_of(part), trait)
        case Same(one, other):
            return Same(called(one), called(other))
        case Has(term, trait):
            return Has(called(term), trait)


def effect_of(effect: Effect) -> Effect:
    adds, deletes = (tuple(map(fact_of, facts)) for facts in (effect.adds, effect.deletes))
    return replace(effect, adds=adds, deletes=deletes, when=formula_of(effect.when))


def domain_of(domain: Domain) -> Domain:
    return Domain(
        domain.name,
        domain.kinds,
        {
            named(name): replace(each, name=named(name), values=tuple(map(called, each.values)))
            for name, each in domain.variables.items()
        },
        {named(name): role for name, role in domain.relations.items()},
        {
            named(name): replace(
                each,
                name=named(name),
                preconditions=tuple(map(formula_of, each.preconditions)),
                effects=tuple(map(effect_of, each.effects)),
            )
            for name, each in domain.operators.items()
        },
        {
            named(name): replace(each, predicate=named(name), definition=formula_of(each.definition))
            for name, each in domain.derived.items()
        },
        tuple(replace(law, effect=effect_of(law.effect)) for law in domain.laws),
        {named(key) if key in domain.predicates else key: words for key, words in domain.words.items()},
        domain.traits,
        enclosed=named(domain.enclosed),
    )


def back(text: str) -> str:
    """A text with the names of the household."""
    return text.replace(f"{MARK}_", "").replace(f"{MARK} ", "")


def state_back(state: Iterable[StateFact]) -> State:
    return frozenset(tuple(map(back, fact)) for fact in state)


RENAMED = domain_of(HOME.domain)


@dataclass(frozen=True)
class Renamed(Instance):
    """What a household says of its goals and objects, with the other names."""

    home: HouseholdScene = HOME

    @classmethod
    def of(cls, home: HouseholdScene) -> Renamed:
        objects = {called(name): traits for name, traits in home.objects.items()}
        return cls(RENAMED, objects, frozenset(map(fact_of, home.static)), home)

    def condition(self, fact: StateFact) -> Formula:
        return formula_of(self.home.condition(tuple(map(back, fact))))

    def limited(self, state: State) -> Renamed:
        return self.of(self.home.limited(state_back(state)))

    def means(self) -> frozenset[str]:
        return frozenset(map(called, self.home.means()))

    def unwanted(self, goal: Sequence[StateFact]) -> frozenset[Action]:
        return frozenset(map(action_of, self.home.unwanted([tuple(map(back, fact)) for fact in goal])))


def action_of(action: Action) -> Action:
    return Action(named(action.operator), tuple(map(called, action.arguments)))


def scene_of(scene: FactScene) -> FactScene:
    certainty = {
        (variable if variable == PLACE else named(variable), called(name)): sure
        for (variable, name), sure in scene.certainty.items()
    }
    return FactScene(frozenset(map(fact_of, scene.facts)), certainty)


def said(found: Discrepancy[FactScene], recovery: Recovery[FactScene] | None, text: str) -> str:
    """Everything that is reported of a step, as one text; sets of facts in an order of their own."""

    def of(value: object) -> object:
        return sorted(map(back, map(str, value))) if isinstance(value, frozenset) else str(value)

    parts: list[Any] = [found.verdict, found.deviations, found.unmet, found.missing_to_tell, found.plan_problem]
    parts += [found.observed.facts, found.expected.facts]
    if recovery is not None:
        parts += [recovery.status, recovery.actions, recovery.subgoal, recovery.cost, recovery.proven_optimal]
        parts += [recovery.blamed, recovery.lost, recovery.reason_code, recovery.lower_bound]
        parts += [recovery.closest and (recovery.closest.actions, recovery.closest.lost)]
    return back("\n".join(str(of(each)) for each in (*parts, text)))


PLACES = ("countertop", "dining table", "sink", "floor", "fridge", "pan", "pot")
THINGS = ("pot", "mug", "egg", "pan")
STATES = (("open", "fridge"), ("running", "faucet"), ("running", "stove burner"), ("cracked", "egg"), ("broken", "egg"))
FAULTS = ("none", "nothing happens", "moved", "covered", "state", "liquid", "unseen", "held")


def disturbed(draw: st.DataObject, before: State, after: State) -> tuple[State, frozenset[Property]]:
    """The scene after an action with a fault, and what of it cannot be seen."""
    fault = draw.draw(st.sampled_from(FAULTS), label="fault")
    thing = draw.draw(st.sampled_from(THINGS), label="thing")
    elsewhere = frozenset(fact for fact in after if fact[1:2] != (thing,) or fact[0] not in ("at", "atop", "holding"))
    match fault:
        case "nothing happens":
            return before, frozenset()
        case "moved":
            place = draw.draw(st.sampled_from([each for each in PLACES if each != thing]), label="place")
            return elsewhere | {("at", thing, place)}, frozenset()
        case "held":
            return frozenset(fact for fact in after if fact[0] != "holding"), frozenset()
        case "covered":
            return after | {("covers", "mug", thing)} if thing != "mug" else after, frozenset()
        case "state":
            state = draw.draw(st.sampled_from(STATES), label="state")
            return after ^ {state}, frozenset()
        case "liquid":
            return frozenset(fact for fact in after if fact[0] != "filled") | {("filled", "pot", "wine")}, frozenset()
        case "unseen":
            return after, frozenset({(PLACE, thing), ("open", "fridge")})
    return after, frozenset()


@pytest.mark.parametrize(("plan", "goal"), [(WATER, WATERED), (FRY, FRIED)], ids=["water", "fry"])
@settings(max_examples=25, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(draw=st.data())
def test_the_names_make_no_difference(plan: Plan, goal: Sequence[StateFact], draw: st.DataObject) -> None:
    assert RENAMED.predicates == tuple(map(named, HOME.domain.predicates))
    systems = (nsrecover.symbolic(HOME, goal), nsrecover.symbolic(Renamed.of(HOME), tuple(map(fact_of, goal))))
    state = START
    start = FactScene(state)
    monitors = (
        systems[0].monitor(plan, start),
        systems[1].monitor(Plan(tuple(map(action_of, plan))), scene_of(start)),
    )
    for _ in range(8):
        action = monitors[0].next_action
        if action is None:
            assert monitors[1].next_action is None
            break
        assert monitors[1].next_action == action_of(action)
        before = state
        if not HOME.unmet(state, action.operator, action.arguments):
            state = HOME.apply(state, action.operator, action.arguments)
        state, unseen = disturbed(draw, before, state)
        scene = FactScene(state, dict.fromkeys(unseen, 0.0))
        found = (
            monitors[0].step(action, scene),
            monitors[1].step(action_of(action), scene_of(scene)),
        )
        if found[0].verdict is not Verdict.DEVIATING and monitors[0].next_action is not None:
            found = (monitors[0].check(), monitors[1].check())
        ways: list[Recovery[FactScene] | None] = [None, None]
        if found[0].verdict is Verdict.DEVIATING:
            ways = [
                system.planner.recover(each.observed, monitor.trace, each)
                for system, monitor, each in zip(systems, monitors, found, strict=True)
            ]
        told = [
            said(each, way, system.explainer(each, way).text)
            for system, each, way in zip(systems, found, ways, strict=True)
        ]
        assert told[0] == told[1]
        if ways[0] is not None and ways[1] is not None:
            if not ways[0].found:
                break
            for monitor, way in zip(monitors, ways, strict=True):
                assert way is not None
                monitor.rejoin(way)


def test_a_drop_is_not_taken_for_a_move_by_its_names() -> None:
    system = nsrecover.symbolic(Renamed.of(HOME), tuple(map(fact_of, WATERED)))
    monitor = system.monitor(Plan(tuple(map(action_of, WATER))), scene_of(FactScene(START)))
    state = HOME.apply(START, "pick_up", ("pot",))
    monitor.step(action_of(WATER[0]), scene_of(FactScene(state)))
    state = frozenset(fact for fact in state if fact != ("holding", "pot")) | {("at", "pot", "floor")}
    found = monitor.step(action_of(WATER[1]), scene_of(FactScene(state)))
    assert [(each.name, each.cause) for each in found.deviations] == [("zq pot", Cause.DROPPED)]
    assert "is on the zq floor" in system.explainer(found, None).text
