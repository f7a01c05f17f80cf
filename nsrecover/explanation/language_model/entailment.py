"""Everything that follows from the facts of a failure, and that a sentence about it may therefore claim."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Cause, Phase
from nsrecover.core.explanation import Fact
from nsrecover.core.recovery import RecoveryStatus
from nsrecover.domains.tabletop.operators import PUT_BACK, STACK
from nsrecover.domains.tabletop.relations import TABLE
from nsrecover.explanation.facts import swap_groups
from nsrecover.explanation.unseen import NOWHERE

SEVERAL = "several"
"""Predicate of events that concern more than one object."""

BACK_ON = "back on"
"""First argument of claims about an object that is put back onto a support; else it is the name of the operator."""

_CAUSES = {cause.value for cause in Cause}
_PLACED = {c.value for c in (Cause.TOPPLED, Cause.DROPPED, Cause.NOT_LIFTED, Cause.MISPLACED, Cause.MOVED)}
_IN_PLACE = {Cause.HELPED.value, Cause.BLOCKING.value}


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
    return _Consequences(facts).entailment()


def direction(words: str) -> str:
    """Return the direction in a phrase, `to the left of its place` -> `left`; empty if there is none."""
    return next((word for word in ("left", "right", "farther", "nearer") if word in words), "")


class _Consequences:
    """Collects what follows from facts, one method for each part of an explanation."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        self.known: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        for fact in facts:
            self.known[fact.predicate].append(fact.arguments)
        self.true = set[Fact]()
        self.points = dict[Fact, str]()

    def entailment(self) -> Entailment:
        self.step()
        for name in sorted(_CAUSES):
            self.cause(name, self.known[name])
        self.swaps(self.known[Cause.SWAPPED.value])
        self.effects()
        if self.known["recovery"]:
            self.recovery()
        return Entailment(frozenset(self.true), tuple(_ways(*does[1:]) for does in self.known["does"]), self.points)

    def add(self, point: str, predicate: str, *arguments: str) -> None:
        """Add a true fact, and the point that it covers, if any."""
        fact = Fact(predicate, arguments)
        self.true.add(fact)
        if point:
            self.points[fact] = point

    def step(self) -> None:
        known, add = self.known, self.add
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

    def cause(self, name: str, found: Sequence[tuple[str, ...]]) -> None:
        add = self.add
        for who, other, detail in found:
            add(f"{name} {who}", name, who)
            if name not in _IN_PLACE:
                add("", "displaced", who)
            place = f"place {who}"
            if name in _PLACED and other != NOWHERE:
                add(place, "on", who, other)
            if name == Cause.BLOCKING.value and other != NOWHERE:
                add(f"{name} {who}", "blocks", who, other)
            if name == Cause.HELPED.value and detail != NOWHERE:
                add(f"{name} {who}", "right_after", who, detail)
            offset = re.match(r"(\d+ (?:cm|mm)) (.*)$", detail)
            if offset:
                add(place, "off_by", who, offset[1])
                add("", "off_towards", who, direction(offset[2]))
        if found:
            add("", "some", name)
            number = max(2, len(found)) if name == Cause.SWAPPED.value else len(found)
            add("", "count", name, str(number))
            if len(found) > 1:
                add("", SEVERAL, name)

    def swaps(self, found: Sequence[tuple[str, ...]]) -> None:
        add = self.add
        for who, other, _ in found:
            names = {name for name in (who, other) if name != NOWHERE}
            for name in names:
                add(f"swapped {who}", "swapped", name)
            if len(names) == 2:
                add(f"swapped {who}", "swapped_with", who, other)
                add(f"swapped {who}", "swapped_with", other, who)
        for group in swap_groups(found):
            add("", "swapped_together", *sorted(group))

    def effects(self) -> None:
        """Add the lost effect of the step and the lost supports."""
        known, add = self.known, self.add
        for (action,) in known["unachieved"]:
            parsed = Action.parse(action)
            add(f"unkept {action}", "unkept", parsed.operator, *parsed.arguments)
            point = f"should {parsed.arguments}" if parsed.operator == STACK else ""
            add(point, "meant", parsed.operator, *parsed.arguments)
        for pair in known["should_be_on"]:
            add(f"should {pair}", "meant", STACK, *pair)
            if Fact(Cause.TOPPLED.value, (pair[0],)) in self.true:
                add("", "fell_from", *pair)

    def recovery(self) -> None:
        known, add = self.known, self.add
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
            self.rejoining(int(known["rejoins"][0][0]), int(known["steps_done"][0][0]), recovered)

    def rejoining(self, subgoal: int, done: int, recovered: bool) -> None:
        add = self.add
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
    ways = [("action", action), (parsed.operator, *parsed.arguments)]
    if parsed.operator == PUT_BACK and place not in (NOWHERE, TABLE):
        ways += [(BACK_ON, parsed.arguments[0], place), (STACK, parsed.arguments[0], place)]
    return frozenset(Fact("do", way) for way in ways)
