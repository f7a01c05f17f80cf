"""`Instance` agrees with the reference interpreter, and plans of `solve` are right and as cheap as they claim."""

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from nsrecover.core.actions import Action
from nsrecover.domains.base import (
    And,
    Atom,
    Exists,
    ForAll,
    Formula,
    Has,
    Not,
    Or,
    Same,
    State,
    both,
    bound,
    either,
    fact,
)
from nsrecover.domains.household import HOUSEHOLD, Trait, household
from nsrecover.domains.household.kinds import traits_of
from nsrecover.domains.instance import Instance
from nsrecover.planning.symbolic.solving import solve
from tests.nsrecover.domains.interpreter import Interpreter

HOME = household(["bread", "mug", "microwave"], unnamed=["countertop", "sink", "faucet", "knife"])
LEFT_OUT = ("wine", "milk", "tea", "juice", "soup", "mug slice", "knife slice")
NAMES = tuple(name for name in HOME.objects if name not in LEFT_OUT)
SCENE = Instance(HOUSEHOLD, {name: HOME.objects[name] for name in NAMES}, HOME.static)
"""Smaller than the household, because the reference tries all combinations of objects."""
VARIABLES = ("?a", "?b", "?c")
ARITIES = {
    **dict.fromkeys(("open", "running", "dirty", "sliced", "cracked", "hot", "cooked", "broken", "holding"), 1),
    "one_handed": 0,
    **dict.fromkeys(("at", "atop", "covers", "filled", "slices_of"), 2),
    **{rule.predicate: len(rule.variables) for rule in HOUSEHOLD.derived.values()},
}

name = st.sampled_from(NAMES)
trait = st.sampled_from(["", *(each.value for each in (Trait.PORTABLE, Trait.SLICE, Trait.DOOR, Trait.LIQUID))])


def tuples(predicates: dict[str, int], terms: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.sampled_from(sorted(predicates)).flatmap(
        lambda each: st.tuples(st.just(each), *[terms] * predicates[each])
    )


basic = {each: arity for each, arity in ARITIES.items() if each not in HOUSEHOLD.derived and each != "slices_of"}
circles = st.permutations(NAMES).map(
    lambda order: frozenset(zip(["at"] * 3, order[:3], order[1:3] + order[:1], strict=True))
)
states = st.builds(frozenset.union, st.frozensets(tuples(basic, name), max_size=14), st.just(frozenset()) | circles)
term = st.sampled_from((*VARIABLES, *NAMES))
formulas: st.SearchStrategy[Formula] = st.recursive(
    st.one_of(
        tuples(ARITIES, term).map(lambda each: Atom(each[0], each[1:])),
        tuples(ARITIES, st.sampled_from(VARIABLES)).map(lambda each: Atom(each[0], each[1:])),
        st.builds(Has, term, trait),
        st.builds(Same, term, term),
    ),
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.lists(inner, max_size=3).map(lambda parts: And(tuple(parts))),
        st.lists(inner, max_size=3).map(lambda parts: Or(tuple(parts))),
        st.builds(Exists, st.sampled_from(VARIABLES), inner, trait),
        st.builds(ForAll, st.sampled_from(VARIABLES), inner, trait),
    ),
    max_leaves=6,
)


def reference(instance: Instance, state: State) -> Interpreter:
    return Interpreter(instance.domain, instance.objects, instance.static, state)


@settings(max_examples=300, deadline=None)
@given(state=states, formula=formulas, names=st.tuples(name, name, name))
def test_formulas(state: State, formula: Formula, names: tuple[str, str, str]) -> None:
    at = dict(zip(VARIABLES, names, strict=True))
    expected = reference(SCENE, state).holds(formula, at)
    assert SCENE.holds(state, formula, at) is expected
    assert SCENE.holds(state, bound(formula, at)) is expected


@settings(max_examples=60, deadline=None)
@given(state=states, order=st.permutations(sorted(HOUSEHOLD.operators)), names=st.lists(name, min_size=20, max_size=20))
def test_preconditions_effects_and_laws_on_random_walks(state: State, order: list[str], names: list[str]) -> None:
    for operator in order:
        step = Action(operator, tuple(names.pop() for _ in HOUSEHOLD.operators[operator].parameters))
        here = reference(SCENE, state)
        needs = HOUSEHOLD.operators[operator].preconditions
        unmet = [bound(needs[number], here.binding(step)) for number in here.unmet(step)]
        assert SCENE.unmet(state, operator, step.arguments) == unmet
        assert SCENE.applicable(state, operator, step.arguments) is (not unmet)
        state = SCENE.apply(state, operator, step.arguments)
        assert state == here.after(step)


# --- plans

TINY = Instance(
    HOUSEHOLD,
    {name: traits_of(name) for name in ("mug", "apple", "fridge", "countertop", "sink", "faucet", "microwave")}
    | {"water": frozenset({Trait.LIQUID.value})},
)
THINGS = st.sampled_from(("mug", "apple"))
PLACES = st.sampled_from(("fridge", "countertop", "sink", "microwave"))
starts = st.builds(
    lambda places, more: frozenset(("at", *each) for each in places if len(set(each)) == 2) | more,
    st.tuples(*(st.tuples(st.just(each), PLACES) for each in ("mug", "apple"))),
    st.frozensets(
        st.sampled_from(
            (("open", "fridge"), ("open", "microwave"), ("running", "microwave"), ("running", "faucet"),
             ("dirty", "mug"), ("filled", "mug", "water"))
        ),
        max_size=2,
    ),
)  # fmt: skip
goals = st.lists(
    st.one_of(
        st.builds(lambda *terms: fact("inside", *terms), THINGS, PLACES),
        st.builds(lambda thing: fact("holding", thing), THINGS),
        st.sampled_from(
            (fact("hot", "mug"), fact("clean", "mug"), fact("full", "mug"), fact("closed", "fridge"),
             fact("empty", "mug"),
             Not(fact("inside", "mug", "sink")), either(fact("hot", "apple"), fact("open", "microwave")),
             Exists("?x", both(fact("on", "?x", "countertop"), fact("off", "faucet")), Trait.DISH))
        ),
    ),
    min_size=1,
    max_size=2,
)  # fmt: skip
USES = {
    **{key: {Trait.DOOR} for key in ("open_obj", "close_obj")},
    **{key: {Trait.SWITCH} for key in ("toggle_on", "toggle_off")},
}
"""What an operator's object needs for the action to make a difference to a goal."""
STEPS = [
    Action(operator.name, names)
    for operator in HOUSEHOLD.operators.values()
    for names in product(*(TINY.having(each.trait) for each in operator.parameters))
    if len(set(names)) == len(names) and (operator.name not in USES or TINY.objects[names[0]] & USES[operator.name])
]


def fewest_steps(state: State, goal: list[Formula], most: int) -> int | None:
    """Length of the shortest plan by breadth-first search; None if it is longer than `most`."""
    level, seen = {state}, {state}
    for depth in range(most + 1):
        if any(all(TINY.holds(each, part) for part in goal) for each in level):
            return depth
        level = {
            TINY.apply(each, step.operator, step.arguments)
            for each in level
            for step in STEPS
            if TINY.applicable(each, step.operator, step.arguments)
        } - seen
        seen |= level
    return None


@settings(max_examples=50, deadline=None)
@given(state=starts, goal=goals)
def test_plans_are_right_and_as_short_as_they_claim(state: State, goal: list[Formula]) -> None:
    state = TINY.settle(state)
    solution = solve(TINY, state, goal, familiar=tuple(TINY.objects))
    shortest = fewest_steps(state, goal, min(len(solution.steps), 4) if solution.found else 3)
    if not solution.found:
        assert shortest is None
        return
    for step in solution.steps:
        here = reference(TINY, state)
        assert not here.unmet(step), (step, solution.steps)
        state = here.after(step)
    assert all(reference(TINY, state).holds(part, {}) for part in goal)
    if solution.proven_optimal:
        assert shortest in (None, len(solution.steps)), solution.steps
