"""Templates that verbalize the facts of a failure: the failed step, each object, the consequences, the recovery."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Cause, Phase, PlanFault
from nsrecover.core.explanation import Fact, Sentence
from nsrecover.domains.domain import Domain
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.domains.tabletop.relations import TABLE
from nsrecover.explanation.audience import Audience, Phrasing
from nsrecover.explanation.facts import NOT_FOUND, PLACED, swap_groups
from nsrecover.explanation.phrases import not_achieved
from nsrecover.explanation.recovery_templates import Known, by_predicate, instructions, recovery_sentences, sentence
from nsrecover.explanation.unseen import NOWHERE, missing_text
from nsrecover.util.english import Forms, counted, listed, objects, the

PHRASES = {
    Cause.TOPPLED: "toppled",
    Cause.DROPPED: "[was] dropped",
    Cause.NOT_LIFTED: "[was] not lifted",
    Cause.NOT_DONE: "[was] not changed by the step",
    Cause.MISPLACED: "[was] put in the wrong place",
    Cause.MISTAKEN: "[was] mistaken",
    Cause.MISSING: "[is] missing",
    Cause.REPLACED: "[was] replaced",
    Cause.SWAPPED: "[has] swapped places",
    Cause.MOVED: "[has] moved, although no action should have moved [them]",
    Cause.TURNED: "[is] turned, although no action should have turned [them]",
    Cause.LEANING: "[is] leaning",
    Cause.LYING: "[is] lying on another side",
    Cause.CHANGED: "[has] changed, although no action should have changed [them]",
    Cause.BLOCKING: "[is] in the way",
    Cause.HELPED: "[is] already as [they] should be",
}
"""Cause -> what is said of the objects, the worst cause first; before the comma, in short."""

NOT_FOUND_PHRASE = "[was] not found"
"""What is said of a misplaced object that was searched for and not found."""

ALTHOUGH = {cause: PHRASES[cause].partition(", ")[2] for cause in (Cause.MOVED, Cause.CHANGED)}
"""Cause -> what is said after the present state of an object: `the pot is filled with wine, although no action …`."""

MOST_NAMED = 5
"""Of more objects with one cause, a headline names the first ones and counts the others."""

_OF_OTHER = {Cause.BLOCKING: "of", Cause.MISTAKEN: "for", Cause.REPLACED: "by"}
"""Cause -> preposition before the explaining object."""

_PLAN = {
    PlanFault.WRONG_OBJECT: "from {step} on, the plan names {wrong} instead of {right}",
    PlanFault.WRONG_ORDER: "{step} ({steps}) is out of order",
    PlanFault.MISSING_STEP: "the plan lacks steps before {step} ({steps})",
    PlanFault.DESTROYS: "{step} would make the goal unreachable and cannot be undone",
    PlanFault.UNREACHABLE: "the goal can no longer be reached",
    PlanFault.FAILS: "the plan fails at {step}",
}

WORST_FIRST = tuple(PHRASES)
"""Order of the causes in a text."""


def verbalize(
    facts: Sequence[Fact], audience: Audience = Audience.ENGINEER, domain: Domain = TABLETOP
) -> tuple[Sentence, ...]:
    """Verbalize the facts of a failure.

    Args:
        facts: from `nsrecover.explanation.facts.facts_of`; the text depends on nothing else.
        audience: readers of the text. Engineers get step numbers and action names; lay readers get plain words.
        domain: provides the words for actions and facts.

    Returns:
        Sentences in reading order, each with its facts.
    """
    known, phrasing = by_predicate(facts), Phrasing(audience, domain)
    events = [event for cause in WORST_FIRST for event in _events(cause, known, phrasing)]
    return (
        _headline(known, events, phrasing),
        *_details(known, events),
        *_consequences(known, phrasing),
        *_plan(known, phrasing),
        *(sentence(missing_text(fact), fact) for kind in ("unseen", "unknown", "sensor") for fact in known[kind]),
        *recovery_sentences(facts, phrasing),
    )


@dataclass(frozen=True)
class _Event:
    """What happened to objects with the same fate.

    Attributes:
        cause: the cause.
        names: the objects.
        phrase: what happened to them.
        details: how they are now, with `[they]` for them; empty if nothing is known, or if `phrase` says it.
        facts: those that it rests on.
        state: whether `details` says what is so of objects now, as facts of their domain.
    """

    cause: Cause
    names: Sequence[str]
    phrase: str
    details: str
    facts: tuple[Fact, ...]
    state: bool = False

    @property
    def clause(self) -> str:
        """What happened, with the names."""
        return f"{objects(self.names)} {self.phrase}"


def _in_headline(known: Known, events: Sequence[_Event]) -> list[_Event]:
    """Return the events that the headline tells in full."""
    if known["violated"] or all(event.cause is Cause.HELPED for event in events):
        return []
    causes = [each for each in _shortest(known) if each not in ALTHOUGH and len(known[each.value]) <= MOST_NAMED]
    said = [each for each in events if each.cause in causes]
    told = [each for each in said if each.phrase == Forms.of(each.names).agree(PHRASES[each.cause])]
    return told if len(events) > 1 else list(events)


def _headline(known: Known, events: Sequence[_Event], phrasing: Phrasing) -> Sentence:
    """Return the sentence about the failed step and the kind of failure."""
    (step,) = known["step"]
    number, action, phase = step.arguments
    name, when = phrasing.step_with_action(number, action), "before" if phase == Phase.BEFORE else "after"
    deviating = [fact for cause in WORST_FIRST for fact in known[cause.value]]
    what = _in_few_words(known, phrasing.domain)
    if len(events) == 1:
        (event,) = events
        details = f": {Forms.of(event.names).agree(event.details)}" if event.details and event.state else ""
        what, deviating = f"{event.clause}{details}", [*event.facts]
    if known["violated"]:
        reasons = listed(fact.arguments[0] for fact in known["violated"])
        could = "cannot" if phase == Phase.BEFORE else "could not"
        return sentence(f"{name} {could} be done: {reasons}", step, *known["violated"])
    if not deviating and known["plan"]:
        return sentence(f"{when} {name} the plan does not reach its goal", step)
    if not deviating:
        missing = [*known["unseen"], *known["unknown"], *known["sensor"]]
        return sentence(f"{when} {name} the scene cannot be judged", step, *missing)
    if len(known[Cause.HELPED.value]) == len(deviating):
        return sentence(f"{when} {name} the scene is already ahead of the plan", step, *deviating)
    if phase == Phase.BEFORE:
        return sentence(f"before {name} something was not as expected: {what}", step, *deviating)
    if known["achieved"]:
        return sentence(f"{name} worked, but {what}", step, *known["achieved"], *deviating)
    return sentence(f"{name} went wrong: {what}", step, *deviating)


def _details(known: Known, events: Sequence[_Event]) -> list[Sentence]:
    """Return sentences about the events and how the objects are now, without what the headline tells."""
    sentences, told = [], _in_headline(known, events)
    for event in events:
        forms = Forms.of(event.names)
        details = forms.agree(event.details)
        if event not in told:
            sentences.append(sentence(f"{event.clause}: {details}" if details else event.clause, *event.facts))
        elif details and not (event.state and len(events) == 1):
            details = forms.agree(event.details.replace("[they]", objects(event.names), 1))
            sentences.append(sentence(details, *event.facts))
    return sentences


def in_short(facts: Sequence[Fact], domain: Domain = TABLETOP) -> str:
    """Return what happened in a few words: `the a and the b toppled`; help only if nothing else happened.

    Args:
        facts: from `nsrecover.explanation.facts.facts_of`.
        domain: has the words of states: `the pot is filled with wine`.
    """
    known = by_predicate(facts)
    if not _shortest(known) and known["violated"]:
        return f"a condition of the step did not hold: {listed(fact.arguments[0] for fact in known['violated'])}"
    if not _shortest(known) and known["plan"]:
        return "the plan does not reach its goal"
    return _in_few_words(known, domain)


def _shortest(known: Known) -> list[Cause]:
    """Return the worst two causes; help only without another one."""
    wrong: list[Cause] = [cause for cause in WORST_FIRST if known[cause.value] and cause is not Cause.HELPED]
    return wrong[:2] or [Cause.HELPED] * bool(known[Cause.HELPED.value])


def _in_few_words(known: Known, domain: Domain) -> str:
    return ", and ".join(_of_cause(cause, known, domain) for cause in _shortest(known))


def _of_cause(cause: Cause, known: Known, domain: Domain) -> str:
    """Return what happened to the objects with a cause: their state if it says all, else the cause."""
    facts = known[cause.value]
    names = list(dict.fromkeys(fact.arguments[0] for fact in facts))
    if cause is Cause.SWAPPED:
        names = list(dict.fromkeys(name for fact in facts for name in fact.arguments[:2] if name != NOWHERE))
    if cause in ALTHOUGH and len(names) == 1 and (own := _own(facts[0], known)):
        return listed(_states(own, domain))
    named = [the(name) for name in (names if len(names) <= MOST_NAMED else names[: MOST_NAMED - 2])]
    if len(named) < len(names):
        named.append(counted(len(names) - len(named), "other object"))
    return f"{listed(named)} {Forms.of(names).agree(_phrase(cause, facts[0].arguments[2]).partition(',')[0])}"


def _states(own: Sequence[Fact], domain: Domain) -> list[str]:
    """Return what is so of an object in words: what it has, or else what it lacks."""
    has = [fact for fact in own if fact.predicate == "has"]
    return [domain.text(fact.arguments, holds=bool(has)) for fact in has or own]


def _phrase(cause: Cause, detail: str) -> str:
    return NOT_FOUND_PHRASE if detail == NOT_FOUND else PHRASES[cause]


def _events(cause: Cause, known: Known, phrasing: Phrasing) -> list[_Event]:
    """Return the events with a cause; objects with the same fate share one."""
    facts = known[cause.value]
    if cause is Cause.SWAPPED:
        return _swaps(facts)
    if cause is Cause.HELPED:
        facts = sorted(facts, key=lambda fact: int(fact.arguments[2]) if fact.arguments[2] != NOWHERE else 0)
    groups: dict[object, list[Fact]] = defaultdict(list)
    for fact in facts:
        # Grouped by the explaining object; for HELPED, by the step after which it is right.
        groups[_own(fact, known) or fact.arguments[2 if cause is Cause.HELPED else 1]].append(fact)
    return [_event(cause, group, known, phrasing) for group in groups.values()]


def _own(fact: Fact, known: Known) -> tuple[Fact, ...]:
    """Return the facts that a deviating object lacks and has, of scenes of facts."""
    return tuple(own for own in (*known["lacks"], *known["has"]) if own.arguments[1:2] == fact.arguments[:1])


def _event(cause: Cause, group: Sequence[Fact], known: Known, phrasing: Phrasing) -> _Event:
    """Return the event of objects with the same cause and explaining object."""
    names, (_, other, detail), own = [fact.arguments[0] for fact in group], group[0].arguments, _own(group[0], known)
    phrase, tail, details = _phrase(cause, detail), "", ""
    if cause is Cause.HELPED:
        tail = f" after {phrasing.step(detail)}" if detail != NOWHERE else " later"
    elif other != NOWHERE and (detail == NOT_FOUND or cause in _OF_OTHER):
        tail = f" {_OF_OTHER.get(cause, 'at')} {the(other)}"
    if own:
        states, subject = _states(own, phrasing.domain), f"{the(names[0])} "
        plain = [text.removeprefix(subject) for text in states if text.startswith(subject)]
        if cause in ALTHOUGH and len(plain) == len(states):
            phrase = f"{listed(plain)}, {ALTHOUGH[cause]}"
        else:
            details = listed(
                f"[they] {text.removeprefix(subject)}" if text.startswith(subject) else text for text in states
            )
    elif cause in PLACED:
        elsewhere = {fact.arguments[0] for fact in known["should_be_on"]}
        place = _place(cause, names, other, detail, elsewhere, phrasing)
        details = f"[they] [is] {'still' if cause is Cause.NOT_LIFTED else 'now'} {place}" if place else ""
    return _Event(cause, names, f"{Forms.of(names).agree(phrase)}{tail}", details, (*group, *own), bool(own))


def _place(
    cause: Cause, names: Sequence[str], other: str, detail: str, elsewhere: Collection[str], phrasing: Phrasing
) -> str:
    """Return where objects are now: their support, and for a single one how far it is from its place.

    Args:
        cause: of their deviation.
        names: the objects.
        other: their support, or `nowhere`.
        detail: distance and direction, or `nowhere`.
        elsewhere: objects that are not on their expected support.
        phrasing: of the text.
    """
    parts = []
    if other != NOWHERE and (cause is not Cause.MOVED or other != TABLE or set(names) & set(elsewhere)):
        parts.append(f"on {the(other)}")
    if len(names) == 1 and detail != NOWHERE and cause not in (Cause.TOPPLED, Cause.NOT_LIFTED):
        parts.append(phrasing.offset(detail))
    return ", ".join(parts)


def _swaps(facts: Sequence[Fact]) -> list[_Event]:
    """Return one event for each set of objects that changed places with each other."""
    events = []
    for names in swap_groups(fact.arguments for fact in facts):
        ending = {1: " with something else", 2: ""}.get(len(names), " with one another")
        phrase = f"{Forms.of(names).agree(PHRASES[Cause.SWAPPED])}{ending}"
        events.append(
            _Event(Cause.SWAPPED, names, phrase, "", tuple(fact for fact in facts if fact.arguments[0] in names))
        )
    return events


def _consequences(known: Known, phrasing: Phrasing) -> list[Sentence]:
    """Return sentences about the lost effect of the step and the lost supports."""
    sentences = []
    promised: set[tuple[str, ...]] = set()
    for fact in known["unachieved"]:
        action = Action.parse(fact.arguments[0])
        promised.add(action.arguments)
        same = [other for other in known["should_be_on"] if other.arguments == action.arguments]
        sentences.append(sentence(f"so {not_achieved(action, phrasing.domain)}", fact, *same))
    lost = [fact for fact in known["should_be_on"] if fact.arguments not in promised]
    if lost:
        (first, support), *others = (fact.arguments for fact in lost)
        pairs = [f"{the(first)} should be on {the(support)}", *(f"{the(a)} on {the(b)}" for a, b in others)]
        sentences.append(sentence(listed(pairs), *lost))
    return sentences


def _plan(known: Known, phrasing: Phrasing) -> list[Sentence]:
    """Return sentences about what is wrong with the plan."""
    sentences = []
    for fact in known["plan"]:
        fault, step, *about = fact.arguments
        named = PlanFault(fault) is PlanFault.WRONG_OBJECT
        wrong, right = map(the, about) if named else ("", "")
        steps = "" if named else instructions(about, phrasing.domain)
        text = _PLAN[PlanFault(fault)].format(step=f"step {step}", steps=steps, wrong=wrong, right=right)
        missed = listed(each.arguments[0] for each in known["misses"])
        sentences.append(sentence(f"{text}: {missed}" if missed else text, fact, *known["misses"]))
    return sentences
