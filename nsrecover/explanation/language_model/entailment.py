"""Everything that follows from the facts of a failure, and that a sentence about it may therefore claim."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Cause, Phase
from nsrecover.core.explanation import Fact
from nsrecover.core.recovery import RecoveryStatus
from nsrecover.domains.tabletop.relations import TABLE
from nsrecover.explanation.facts import NOWHERE

SEVERAL = "several"
"""Predicate of events that concern more than one object."""

_CAUSES = {cause.value for cause in Cause}
_PLACED = {c.value for c in (Cause.TOPPLED, Cause.DROPPED, Cause.NOT_LIFTED, Cause.MISPLACED, Cause.MOVED)}
_IN_PLACE = {Cause.HELPED.value, Cause.BLOCKING.value}
FORMS = {"free": "aside", "restore": "back"}
"""Names of instructions in claims, where they differ from the operator's."""


class _Add(Protocol):
    """Adds a true fact, and the point that it covers, if any."""

    def __call__(self, point: str, predicate: str, *arguments: str) -> None: ...


@dataclass(frozen=True)
class Entailment:
    """The true claims about a failure.

    Attributes:
        facts: all true facts.
        ordered: the instructions in their order, each with its equivalent forms.
        points: fact -> the point of the explanation that it covers; an explanation has to cover all points.
    """

    facts: frozenset[Fact]
    ordered: tuple[frozenset[Fact], ...]
    points: dict[Fact, str]


def entailed_by(facts: Sequence[Fact]) -> Entailment:
    """Return everything that follows from facts of `nsrecover.explanation.facts.facts_of`."""
    known: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for fact in facts:
        known[fact.predicate].append(fact.arguments)
    true, points = set[Fact](), dict[Fact, str]()

    def add(point: str, predicate: str, *arguments: str) -> None:
        fact = Fact(predicate, arguments)
        true.add(fact)
        if point:
            points[fact] = point

    _add_step(known, add)
    for name in sorted(_CAUSES):
        _add_cause(name, known[name], add)
    _add_swaps(known[Cause.SWAPPED.value], add)
    for (action,) in known["unachieved"]:
        parsed = Action.parse(action)
        point = f"unkept {action}"
        add(point, "unkept", parsed.operator, *parsed.arguments)
        add("", "meant", parsed.operator, *parsed.arguments)
        add("", "promised")
        if parsed.operator == "top":
            points[Fact("meant", ("top", *parsed.arguments))] = f"should {parsed.arguments}"
    for pair in known["should_be_on"]:
        add(f"should {pair}", "meant", "top", *pair)
        if Fact(Cause.TOPPLED.value, (pair[0],)) in true:
            add("", "fell_from", *pair)
    _add_recovery(known, add)
    return Entailment(frozenset(true), tuple(_ways(*does[1:]) for does in known["does"]), points)


def _add_step(known: dict[str, list[tuple[str, ...]]], add: _Add) -> None:
    ((number, action, phase),) = known["step"]
    causes = {name for name in _CAUSES if known[name]}
    add("step", "at_step", number, phase)
    add("step", "step_action", number, action)
    add("", "action", action)
    add("", "step_number", number)
    if causes == {Cause.HELPED.value}:
        add("step", "ahead")
        return
    add("step", "trouble", number)
    if known["violated"]:
        add("step", "cannot", number)
        for (text,) in known["violated"]:
            add("", "quoted", text)
    elif phase == Phase.BEFORE:
        add("step", "unexpected")
    elif known["achieved"]:
        add("step", "worked", number)
    else:
        add("step", "failed", number)
        add("", "failed_action", action)


def _add_cause(name: str, found: list[tuple[str, ...]], add: _Add) -> None:
    for who, other, detail in found:
        add(f"{name} {who}", name, who)
        if name not in _IN_PLACE:
            add("", "displaced", who)
        if name in _PLACED and other != NOWHERE:
            add("", "on", who, other)
        if name == Cause.BLOCKING.value and other != NOWHERE:
            add(f"{name} {who}", "blocks", who, other)
        if name == Cause.HELPED.value and detail != NOWHERE:
            add(f"{name} {who}", "right_after", who, detail)
        offset = re.match(r"(\d+ (?:cm|mm)) (.*)$", detail)
        if offset:
            add("", "off_by", who, offset[1])
            add("", "off_towards", who, direction(offset[2]))
    if found:
        add("", "some", name)
        number = max(2, len(found)) if name == Cause.SWAPPED.value else len(found)
        add("", "count", name, str(number))
        if len(found) > 1:
            add("", SEVERAL, name)


def direction(words: str) -> str:
    """Return the direction in a phrase, `to the left of its place` -> `left`; empty if there is none."""
    return next((word for word in ("left", "right", "farther", "nearer") if word in words), "")


def _add_swaps(found: list[tuple[str, ...]], add: _Add) -> None:
    groups: list[set[str]] = []
    for who, other, _ in found:
        names = {name for name in (who, other) if name != NOWHERE}
        for name in names:
            add(f"swapped {who}", "swapped", name)
        if len(names) == 2:
            add(f"swapped {who}", "swapped_with", who, other)
            add(f"swapped {who}", "swapped_with", other, who)
        joined = [group for group in groups if group & names]
        groups = [group for group in groups if group not in joined] + [names.union(*joined)]
    for group in groups:
        add("", "swapped_together", *sorted(group))


def _add_recovery(known: dict[str, list[tuple[str, ...]]], add: _Add) -> None:
    if not known["recovery"]:
        return
    ((status, _),) = known["recovery"]
    recovered = status == RecoveryStatus.RECOVERED
    for number, (_, action, place) in enumerate(known["does"]):
        for way in _ways(action, place):
            add(f"does {number}", way.predicate, *way.arguments)
    if recovered:
        add("", "actions", str(len(known["does"])))
        add("", "way_back")
    if known["optimal"]:
        add("", "shortest")
    if status == RecoveryStatus.ALREADY_AT_SUBGOAL:
        add("nothing to do", "nothing_to_do")
    if status in (RecoveryStatus.IMPOSSIBLE, RecoveryStatus.BUDGET_EXHAUSTED):
        add("no way", "none_found")
    if status == RecoveryStatus.IMPOSSIBLE:
        add("no way", "no_way")
    for seconds, states in known["searched"]:
        add("", "searched_for", seconds)
        add("", "looked_at", states)
    for (text,) in known["reason"]:
        add("reason", "quoted", text.rstrip(". "))
    for (name,) in known["blamed"]:
        add(f"blamed {name}", "blamed", name)
    for (name,) in known["stays"]:
        add(f"stays {name}", "stays", name)
    if known["rejoins"]:
        _add_rejoining(int(known["rejoins"][0][0]), int(known["steps_done"][0][0]), recovered, add)


def _add_rejoining(subgoal: int, done: int, recovered: bool, add: _Add) -> None:
    add("rejoins", "then_as_after" if recovered else "as_after", str(subgoal))
    add("", "goes_on")
    add("", "goes_on_after", str(subgoal))
    if subgoal > done:
        add("rejoins", "skips", str(done + 1), str(subgoal))
    elif subgoal < done:
        add("", "again", str(subgoal + 1), str(done))


def _ways(action: str, place: str) -> frozenset[Fact]:
    """Return the equivalent forms of an instruction."""
    parsed = Action.parse(action)
    moved = parsed.arguments[0]
    ways = {Fact("do", ("action", action))}
    ways.add(Fact("do", (FORMS.get(parsed.operator, parsed.operator), *parsed.arguments)))
    if parsed.operator == "restore" and place not in (NOWHERE, TABLE):
        ways |= {Fact("do", ("back on", moved, place)), Fact("do", ("top", moved, place))}
    return frozenset(ways)
