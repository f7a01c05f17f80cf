"""A domain with a mistake is refused when it is made, in one line: what was expected, what was found, what to do."""

import pickle
from dataclasses import replace

import pytest

from nsrecover.domains.base import (
    Derived,
    Effect,
    Exists,
    ForAll,
    Has,
    Kind,
    Law,
    Not,
    Operator,
    Parameter,
    Part,
    Role,
    Same,
    StateVariable,
    Words,
    absent,
    both,
    either,
    fact,
)
from nsrecover.domains.domain import Domain
from nsrecover.domains.household.domain import HOUSEHOLD, LASTING
from nsrecover.domains.household.suitability import PRACTICAL
from nsrecover.domains.service.domain import SERVICE
from nsrecover.errors import InvalidConfiguration

TUBE = Parameter("?tube", "tube")
GOOD: tuple[Part, ...] = (
    Kind("tube"),
    Kind("machine", frozenset({"place"})),
    StateVariable("open", ("closed", "open"), "machine"),
    StateVariable("level", ("full", "low", "empty")),
)
IN = {"in": Role.LOCATION, "of": Role.STATIC}


def spin(
    *needs: object, effects: tuple[Effect, ...] = (), parameters: tuple[Parameter, ...] = (TUBE,), **more: object
) -> Operator:
    return Operator("spin", parameters, needs, effects, **more)  # type: ignore[arg-type]


def adding(*terms: str, **more: object) -> Operator:
    return spin(effects=(Effect(adds=(terms,), **more),))  # type: ignore[arg-type]


MISTAKES: dict[str, tuple[Part, list[str]]] = {
    "predicate of a condition": (spin(fact("opne", "?tube")), ["'opne'", "Did you mean 'open'"]),
    "predicate below quantifiers": (
        spin(ForAll("?x", Exists("?y", either(Same("?x", "?y"), fact("inn", "?x", "?y"))))),
        ["Did you mean 'in'"],
    ),
    "predicate of an effect": (adding("inn", "?tube", "?tube"), ["Did you mean 'in'"]),
    "predicate of a law": (Law("gravity", Effect(deletes=(("inn", "*", "*"),))), ["the law 'gravity'", "'in'"]),
    "predicate of a definition": (Derived("shut", ("?x",), absent("opn", "?x")), ["predicate 'shut'", "'open'"]),
    "normal value as a predicate": (spin(fact("closed", "?tube")), ["absent('open', ...)"]),
    "value as a predicate": (spin(fact("low", "?tube")), ["'low'"]),
    "value": (spin(fact("level", "?tube", "lov")), ["Did you mean 'low'"]),
    "terms of a variable": (spin(fact("open", "?tube", "?tube")), ["expected 1 terms of 'open'"]),
    "terms of a relation": (
        spin(fact("in", "?tube", "?tube"), effects=(Effect(deletes=(("in", "?tube"),)),)),
        ["expected 2 terms of 'in'"],
    ),
    "terms of a location": (spin(fact("in", "?tube", "?tube", "?tube")), ["1 or 2 terms", "found 3", "Role.PLAIN"]),
    "effect on a static relation": (adding("of", "?tube", "?tube"), ["which is static"]),
    "kind of a parameter": (spin(parameters=(Parameter("?tube", "tub"),)), ["'tub'", "Did you mean 'tube'"]),
    "trait in a formula": (spin(both(Has("?tube", "plase"))), ["Did you mean 'place'"]),
    "trait of a quantifier": (spin(Exists("?m", fact("open", "?m"), "machin")), ["Did you mean 'machine'"]),
    "trait of a variable": (StateVariable("spun", ("mixed", "spun"), "tubes"), ["'spun'", "Did you mean 'tube'"]),
    "unbound variable": (spin(fact("open", "?tub")), ["'?tub'", "Did you mean '?tube'"]),
    "variable of a quantifier outside": (
        spin(Exists("?m", fact("open", "?m")), fact("open", "?m"), fact("open", "?tube")),
        ["'?m'"],
    ),
    "variable of another effect": (
        spin(effects=(Effect((("open", "?m"),), for_each=(Parameter("?m"),)), Effect((("open", "?m"),)))),
        ["'?m'"],
    ),
    "any object in a condition": (spin(fact("in", "?tube", "*")), ["'*'"]),
    "any object in an added fact": (adding("in", "?tube", "*"), ["'*'"]),
    "variable without a question mark": (spin(parameters=(Parameter("tube"),)), ["'?tube'"]),
    "parameter twice": (spin(parameters=(TUBE, TUBE)), ["'?tube' twice"]),
    "unused parameter": (
        spin(fact("open", "?tube"), parameters=(TUBE, Parameter("?m"))),
        ["'?m'", "leave it out"],
    ),
    "free cost": (spin(cost=0.0), ["positive cost", "0.0"]),
    "cost that is no number": (spin(cost=float("nan")), ["nan"]),
    "name of an operator": (Operator("spin it", (TUBE,)), ["'spin it'", "rename it"]),
    "words with a parameter that is not there": (
        spin(words=Words("spin {tub}")),
        ["{tub}", "Did you mean 'tube'"],
    ),
    "one value": (StateVariable("spun", ("mixed",)), ["two different values", "mixed"]),
    "predicate twice": (Derived("open", ("?x",), absent("in", "?x", "?x")), ["'open' twice"]),
    "own absence": (Derived("odd", ("?x",), absent("odd", "?x")), ["'odd'", "circle"]),
    "no formula": (spin(("open", "?tube")), ["fact('full', '?can')"]),
}


@pytest.mark.parametrize("name", list(MISTAKES))
def test_a_mistake_is_refused_in_one_line(name: str) -> None:
    part, words = MISTAKES[name]
    with pytest.raises(InvalidConfiguration) as refused:
        Domain.of("lab", *GOOD, part, relations=IN)
    text = str(refused.value)
    assert "'lab'" in text
    assert "\n" not in text
    assert "expected" in text
    assert all(word in text for word in words), text


def test_a_circle_through_others_is_refused_below_a_not_only() -> None:
    def with_rules(second: object) -> Domain:
        first = Derived("a", ("?x",), either(fact("open", "?x"), fact("b", "?x")))
        return Domain.of("lab", *GOOD, first, Derived("b", ("?x",), second), relations=IN)  # type: ignore[arg-type]

    assert with_rules(fact("a", "?x")).recursive == ("a", "b")
    with pytest.raises(InvalidConfiguration, match="circle"):
        with_rules(Not(both(fact("open", "?x"), fact("a", "?x"))))


def test_words_for_terms_that_are_not_there_are_refused() -> None:
    with pytest.raises(InvalidConfiguration, match=r"\{1\}"):
        Domain.of("lab", *GOOD, words={"open": "{0} is open to {1}"})


@pytest.mark.parametrize("domain", [HOUSEHOLD, LASTING, PRACTICAL, SERVICE], ids=lambda each: each.name)
def test_shipped_domains_are_right_and_stay_so_when_they_are_copied(domain: Domain) -> None:
    again = replace(domain)
    assert again == domain
    assert pickle.loads(pickle.dumps(domain)) == domain
    assert again.arities == domain.arities


def test_an_operator_without_words_is_said_by_its_name() -> None:
    words = [
        operator.words.imperative
        for operator in (
            Operator("open-lid", (Parameter("?m"),)),
            Operator("move_to", (Parameter("?tube"), Parameter("?from"), Parameter("?to-rack"))),
            Operator("wait", ()),
        )
    ]
    assert words == ["open lid {m}", "move to {tube} ({from!s}, {to-rack!s})", "wait"]
