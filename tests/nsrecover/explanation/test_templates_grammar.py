"""English of every template: all causes, operators, predicates and reasons, with names of many kinds."""

import random
import re
from collections.abc import Iterator
from functools import cache
from itertools import count, product

import pytest

from nsrecover.core import (
    PLACE,
    Action,
    Cause,
    Fact,
    PlanFault,
    ReasonCode,
    Recovery,
    RecoveryStatus,
    SensorProblem,
    UnseenReason,
)
from nsrecover.domains.base import condition_of
from nsrecover.domains.domain import Domain
from nsrecover.domains.household.domain import LASTING
from nsrecover.domains.service.domain import SERVICE
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.explanation import Audience, reason_text
from nsrecover.explanation.audience import Phrasing, participle
from nsrecover.explanation.facts import NOT_FOUND, recovery_facts
from nsrecover.explanation.phrases import instruction, not_achieved
from nsrecover.explanation.templates import in_short, recovery_sentences, verbalize
from nsrecover.explanation.unseen import NOWHERE
from nsrecover.planning.symbolic.repair import Repair
from nsrecover.util.english import is_plural

DOMAINS = (TABLETOP, LASTING, SERVICE)
NAMES = (
    "apple slice", "potato slices", "scissors", "the red cube", "first stove burner", "8-ball", "mug 2", "egg", "glass",
    "extra-large bowl", "house plant", "onion", "the kitchen tongs", "bus", "LED lamp", "unit 11", "hour hand",
)  # fmt: skip
NOUNS = ("object", "action", "scene", "step", "recovery", "error")
SEVERAL = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|[2-9]|[1-9][0-9]+"
FAULTS = {
    "a word twice": r"\b(?!8\b)([\w']+) \1\b",
    "two articles": r"\b(?:the|a|an) (?:the|a|an)\b",
    "a for an": r"\ba (?=[aeiou])(?!uni|use|one|eu)",
    "an for a": r"\ban (?![aeiou8]|hour|LED|11\b)",
    "number": rf"\b(?:one|1) (?:{'|'.join(f'{noun}s' for noun in NOUNS)}|recoveries)\b|"
              rf"\b(?:{SEVERAL}) (?:{'|'.join(NOUNS)})\b",
    "two verbs": r"\b(?:is|are|was|were|has|does) (?:is|are|was|were|has|does|stands|exists|lies)\b",
    "negation": r"\bnot (?:is|are|was|were|has|not|no|stands|exists)\b|\bno (?:no|not|nothing)\b",
    "a verb after do": r"\b(?:does|do|can|cannot) (?:not )?(?:already )?(?:stands|exists|leads|takes|holds|blocks)\b",
    "a gap": r"  | [.,:;]|[.,:;][.,:;]|^ |\(\)|\{|\}|None|\bnowhere\b|''",
    "old words": r"\b(?:though|bring about|any more|as things are|was to|were to|way back)\b",
}  # fmt: skip


def faults(text: str) -> Iterator[str]:
    """Yield what is wrong with the English of a text."""
    for fault, pattern in FAULTS.items():
        if found := re.search(pattern, text, re.IGNORECASE if fault not in ("a gap",) else 0):
            yield f"{fault}, {found[0]!r}"
    for name in NAMES:
        wrong = r"is|was|has|does|lies|stands|exists" if is_plural(name) else r"are|were|have|do|lie|stand|exist"
        alone = rf"(?:^|[.:] |\bbut |^so )(?:[Tt]he )?{re.escape(name)} (?:{wrong})\b"
        if found := re.search(alone, text):
            yield f"agreement, {found[0]!r}"


def check(text: str, sentence: bool = True) -> None:
    assert not list(faults(text)), text
    if sentence:
        for part in re.split(r"(?<=[a-z)\"'0-9]\.) ", text):
            assert re.match(r"[A-Z0-9]", part), text
        assert text.endswith("."), text


def names(rng: random.Random, number: int) -> list[str]:
    return rng.sample(NAMES, number)


def arity(predicate: str, domain: Domain) -> int:
    if predicate in domain.derived:
        return len(domain.derived[predicate].variables)
    if predicate in domain.variables:
        return 1 if len(domain.variables[predicate].values) == 2 else 2
    if predicate in domain.relations:
        return 2
    return domain.words[predicate].imperative.count("{") if predicate in domain.words else 1


@cache
def _predicates(name: str) -> list[str]:
    domain = next(domain for domain in DOMAINS if domain.name == name)
    traits = {trait for kind in domain.kinds.values() for trait in kind.traits}
    asked = {each.trait for operator in domain.operators.values() for each in operator.parameters if each.trait}
    return sorted(map(str, {*domain.variables, *domain.relations, *domain.derived, *domain.words, *(traits & asked)}))


def predicates(domain: Domain) -> list[str]:
    return _predicates(domain.name)


def actions(domain: Domain, rng: random.Random) -> Iterator[Action]:
    for operator in domain.operators.values():
        arguments = names(rng, len(operator.parameters))
        if operator.name == "operate_door":
            arguments[1] = "open"
        yield Action(operator.name, tuple(arguments))


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)
@pytest.mark.parametrize("seed", range(6))
def test_facts_and_their_negations(domain: Domain, seed: int) -> None:
    rng = random.Random(seed)
    for predicate in predicates(domain):
        terms = names(rng, arity(predicate, domain))
        for holds in (True, False):
            text = domain.text((predicate, *terms), holds)
            check(text, sentence=False)
            assert "_" not in text
        assert domain.text((predicate, *terms)) != text
        assert domain.text(("not", predicate, *terms)) == text
    for operator in domain.operators.values():
        for need in operator.preconditions:
            fact = condition_of(need)
            for holds in (True, False):
                check(domain.text(fact, holds), sentence=False)


GERUNDS = {
    "put": "putting", "set": "setting", "pick": "picking", "open": "opening", "close": "closing", "turn": "turning",
    "slice": "slicing", "crack": "cracking", "pour": "pouring", "go": "going", "ask": "asking", "find": "finding",
    "count": "counting", "see": "seeing", "follow": "following", "guide": "guiding", "hand": "handing",
    "place": "placing", "answer": "answering", "tell": "telling",
}  # fmt: skip


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)
@pytest.mark.parametrize("seed", range(6))
def test_actions_in_all_their_forms(domain: Domain, seed: int) -> None:
    for action in actions(domain, random.Random(seed)):
        told = instruction(action, domain=domain)
        check(told, sentence=False)
        check(not_achieved(action, domain), sentence=False)
        verb, rest = told.split(" ", 1)
        assert participle(action, domain) == f"{GERUNDS[verb]} {rest}"


def recoveries(domain: Domain, rng: random.Random) -> Iterator[Recovery]:
    """Yield a recovery of every kind."""
    every = list(actions(domain, rng))
    lost = tuple((predicate, *names(rng, arity(predicate, domain))) for predicate in rng.sample(predicates(domain), 2))
    for status, number, subgoal in product(RecoveryStatus, (1, 2, 4), (0, 2, 3, 4, 6)):
        found = status in (RecoveryStatus.RECOVERED, RecoveryStatus.ALREADY_AT_SUBGOAL)
        done = status is RecoveryStatus.RECOVERED
        yield Recovery(
            status,
            tuple(rng.choices(every, k=number)) if done else (),
            subgoal=subgoal if found else None,
            staying=tuple(names(rng, rng.choice((0, 1, 2)))),
            proven_optimal=rng.random() < 0.5,
            expansions=number,
            seconds=1.5,
            reason_code=None if found else rng.choice(list(ReasonCode)),
            blamed=() if found else tuple(names(rng, number)),
            lost=lost if rng.random() < 0.5 else (),
            closest=Recovery(RecoveryStatus.RECOVERED, tuple(rng.choices(every, k=number - 1))),
        )


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)
@pytest.mark.parametrize("audience", Audience)
def test_recoveries(domain: Domain, audience: Audience) -> None:
    rng = random.Random(7)
    for recovery in recoveries(domain, rng):
        for sentence in recovery_sentences(recovery_facts(4, recovery), Phrasing(audience, domain)):
            check(sentence.text)


@pytest.mark.parametrize("code", ReasonCode)
@pytest.mark.parametrize("number", [1, 2, 3])
def test_reasons(code: ReasonCode, number: int) -> None:
    blamed = tuple(names(random.Random(number), number))
    for status in RecoveryStatus:
        check(reason_text(Recovery(status, reason_code=code, blamed=blamed)), sentence=False)
        if code in (ReasonCode.UNACHIEVABLE, ReasonCode.CONFLICTING_GOALS, ReasonCode.NO_SEQUENCE):
            found = Repair(status, reason_code=code, blamed=("wet(rose)",), conflicts=(("wet(rose)", "dry(rose)"),))
            check(reason_text(found), sentence=False)


def failures(domain: Domain, rng: random.Random) -> Iterator[tuple[Fact, ...]]:
    """Yield facts of failures of boxes or facts: all causes, alone and together, before and after a step."""
    numbers = count(1)
    for action in actions(domain, rng):
        for phase in ("before", "after"):
            causes = [[cause] for cause in Cause] + [rng.sample(list(Cause), 3) for _ in range(2)] + [[]]
            for chosen in causes:
                step = Fact("step", (str(next(numbers)), str(action), phase))
                yield (step, *_about(chosen, domain, rng), *_around(str(action), phase, bool(chosen), domain, rng))


def _about(chosen: list[Cause], domain: Domain, rng: random.Random) -> Iterator[Fact]:
    """Yield facts about deviating objects; of each cause one or two."""
    free = names(rng, len(NAMES))
    for cause in chosen:
        other = rng.choice([free.pop(), NOWHERE, "table"])
        if cause is Cause.SWAPPED:
            other = free.pop()
        for _ in range(rng.choice((1, 2))):
            name, detail = free.pop(), NOWHERE
            if cause is Cause.HELPED:
                detail = rng.choice([NOWHERE, "5"])
            elif cause is Cause.MISPLACED and rng.random() < 0.3:
                detail = NOT_FOUND
            elif rng.random() < 0.7:
                detail = rng.choice(["7 cm to the left of its place", "0.4 cm from its place"])
            yield Fact(cause.value, (name, other, detail))
            for kind in rng.choice([(), ("has",), ("lacks", "has"), ("lacks",)]):
                predicate = rng.choice([p for p in predicates(domain) if arity(p, domain) > 0])
                rest = rng.sample([each for each in NAMES if each != name], arity(predicate, domain) - 1)
                yield Fact(kind, (predicate, name, *rest))


def _around(action: str, phase: str, deviates: bool, domain: Domain, rng: random.Random) -> Iterator[Fact]:
    """Yield the other facts about a failure; at least what is missing if nothing deviates."""
    if phase == "after" and rng.random() < 0.5:
        yield Fact(rng.choice(["achieved", "unachieved"]), (action,))
    for _ in range(rng.choice((0, 1, 2)) if deviates else 0):
        yield Fact("should_be_on", tuple(names(rng, 2)))
    if phase == "before" and rng.random() < 0.5:
        predicate = rng.choice(predicates(domain))
        yield Fact("violated", (domain.text((predicate, *names(rng, arity(predicate, domain))), rng.random() < 0.5),))
    if rng.random() < 0.3:
        fault = rng.choice(list(PlanFault))
        steps = tuple(map(str, rng.choices(list(actions(domain, rng)), k=rng.choice((1, 2)))))
        about = tuple(names(rng, 2)) if fault is PlanFault.WRONG_OBJECT else steps
        yield Fact("plan", (fault.value, "3", *about))
        if rng.random() < 0.5:
            predicate = rng.choice(predicates(domain))
            yield Fact("misses", (domain.text((predicate, *names(rng, arity(predicate, domain))), False),))
    if rng.random() < 0.3:
        yield Fact("cause", tuple(names(rng, rng.choice((1, 2)))))
    if not deviates or rng.random() < 0.2:
        yield Fact("unseen", (*names(rng, 1), rng.choice(list(UnseenReason)).value, *names(rng, 1)))
        yield Fact("unknown", (*names(rng, 1), rng.choice([PLACE, "hard_to_grasp", "filled"])))
        yield Fact("sensor", (rng.choice(list(SensorProblem)).value, rng.choice(["left", ""]), "no reading"))


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)
@pytest.mark.parametrize("audience", Audience)
def test_failures(domain: Domain, audience: Audience) -> None:
    rng = random.Random(3)
    for facts in failures(domain, rng):
        for sentence in verbalize(facts, audience, domain):
            check(sentence.text)
            assert set(sentence.facts) <= set(facts)
        check(in_short(facts), sentence=False)
        told = {fact for sentence in verbalize(facts, audience, domain) for fact in sentence.facts}
        assert {fact for fact in facts if fact.predicate in set(Cause)} <= told


@pytest.mark.parametrize(
    "text",
    ["the the rose is wet", "the slice is exists", "1 errors", "two object", "a apple slice", "an cube",
     "the mug not is", "The scissors is open.", "The glass are open.", "it does not stands", "one scenes",
     "the rose is not not wet"],
)  # fmt: skip
def test_the_rules_find_faults(text: str) -> None:
    assert list(faults(text))
