"""Plain English from the facts of a failure: what failed, what happened to each object, what follows, what to do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from nsrecover.explain.facts import NOWHERE
from nsrecover.explain.grammar import capital, counted, instruction, listed, objects, steps, the, unkept
from nsrecover.scene.relations import TABLE
from nsrecover.structs import Action, Cause, Fact, Phase, RecoveryStatus, Sentence

_WORST_FIRST = (
    Cause.TOPPLED,
    Cause.DROPPED,
    Cause.NOT_LIFTED,
    Cause.MISPLACED,
    Cause.MISSING,
    Cause.SWAPPED,
    Cause.MOVED,
    Cause.BLOCKING,
    Cause.HELPED,
)
"""The order in which causes are told."""


def realise(facts: Sequence[Fact]) -> tuple[Sentence, ...]:
    """Word the facts of a failure.

    Args:
        facts: from `nsrecover.explain.facts.facts_of`; nothing else is looked at.

    Returns:
        Sentences in reading order, each with the facts it rests on.
    """
    known: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        known[fact.predicate].append(fact)
    return (
        _headline(known),
        *(sentence for cause in _WORST_FIRST for sentence in _happened(cause, known[cause.value])),
        *_consequences(known),
        *_recovery(known),
    )


def _headline(known: dict[str, list[Fact]]) -> Sentence:
    """Which step failed, and how in a few words."""
    (step,) = known["step"]
    number, action, phase = step.arguments
    causes = [cause for cause in _WORST_FIRST if known[cause.value]]
    culprits = [fact for cause in causes for fact in known[cause.value]]
    violated = known["violated"]
    told = f"step {number}, {action},"
    if causes == [Cause.HELPED]:
        when = "Before" if phase == Phase.BEFORE else "After"
        return Sentence(f"{when} {told} the scene is already ahead of the plan.", (step, *culprits))
    if violated:
        reasons = listed([fact.arguments[0] for fact in violated])
        return Sentence(f"{capital(told)} cannot be done as things are: {reasons}.", (step, *violated))
    what = listed([_in_short(cause, known[cause.value]) for cause in causes if cause is not Cause.HELPED][:2])
    if phase == Phase.BEFORE:
        return Sentence(f"Before {told} something was not as expected: {what}.", (step, *culprits))
    if known["achieved"]:
        return Sentence(f"{capital(told)} did what it should, but {what}.", (step, *known["achieved"], *culprits))
    return Sentence(f"{capital(told)} went wrong: {what}.", (step, *culprits))


def _in_short(cause: Cause, facts: Sequence[Fact]) -> str:
    """A cause in a few words; the sentences after it name the objects."""
    several = len(facts) > 1
    only = the(facts[0].arguments[0])
    match cause:
        case Cause.TOPPLED:
            return "the tower fell" if several else f"{only} fell over"
        case Cause.DROPPED:
            return "what the gripper carried fell" if several else f"the gripper lost {only}"
        case Cause.NOT_LIFTED:
            return "the gripper came up empty"
        case Cause.MISPLACED:
            return "some objects missed their places" if several else f"{only} missed its place"
        case Cause.MISSING:
            return "some objects are gone" if several else f"{only} is gone"
        case Cause.SWAPPED:
            return f"{counted(max(2, len(facts)), 'object')} were exchanged"
        case Cause.MOVED:
            return "some objects were shifted" if several else f"{only} was shifted"
        case Cause.BLOCKING:
            return "some objects block the way" if several else f"{only} blocks the way"
        case Cause.HELPED:
            return "part of the work is done already"


def _happened(cause: Cause, facts: Sequence[Fact]) -> list[Sentence]:
    """What happened to each object, objects with the same fate in one sentence."""
    if cause is Cause.SWAPPED:
        return _swaps(facts)
    groups: dict[str, list[Fact]] = defaultdict(list)
    if cause is Cause.HELPED:
        facts = sorted(facts, key=lambda fact: int(fact.arguments[2]) if fact.arguments[2] != NOWHERE else 0)
    for fact in facts:
        # Told together: what lies on the same thing; for what was helped, what is right after the same step.
        groups[fact.arguments[2 if cause is Cause.HELPED else 1]].append(fact)
    return [
        Sentence(capital(_fate(cause, [fact.arguments[0] for fact in group], *group[0].arguments[1:])), tuple(group))
        for group in groups.values()
    ]


def _fate(cause: Cause, names: Sequence[str], other: str, detail: str) -> str:
    """The sentence for objects that share a cause and the object that explains it."""
    who = objects(names)
    one = len(names) == 1
    be, was, has, it = ("is", "was", "has", "it") if one else ("are", "were", "have", "they")
    offset = f", {detail}" if one and detail != NOWHERE else ""
    on = "" if other == NOWHERE else f" on {the(other)}"
    match cause:
        case Cause.TOPPLED:
            return f"{who} toppled{' onto ' + the(other) if other != NOWHERE else ''}."
        case Cause.DROPPED:
            return f"{who} {was} dropped on the way and now {'lies' if one else 'lie'}{on or ' elsewhere'}{offset}."
        case Cause.NOT_LIFTED:
            return (
                f"{who} {was} not lifted: {it} still {'stands' if one else 'stand'}{on or ' where ' + it + ' ' + was}."
            )
        case Cause.MISPLACED:
            return f"{who} {was} misplaced: {it} {'stands' if one else 'stand'}{on or ' elsewhere'}{offset}."
        case Cause.MISSING:
            return f"{who} {be} nowhere to be seen."
        case Cause.MOVED:
            where = on if other != TABLE else ""
            rest = f": {it} {be} now{where}{offset if where else offset.removeprefix(',')}" if where or offset else ""
            return f"{who} {has} moved, though nothing was to touch {'it' if one else 'them'}{rest}."
        case Cause.BLOCKING:
            return f"{who} {be} in the way{'' if other == NOWHERE else ' of ' + the(other)}."
        case Cause.HELPED:
            when = "" if detail == NOWHERE else f" after step {detail}"
            return f"{who} {be} already where {it} should be{when or ' later'}."
        case Cause.SWAPPED:
            raise AssertionError("swapped objects are told together")


def _swaps(facts: Sequence[Fact]) -> list[Sentence]:
    """One sentence for each set of objects that took each other's places."""
    groups: list[tuple[list[str], list[Fact]]] = []
    for fact in facts:
        members = [name for name in fact.arguments[:2] if name != NOWHERE]
        joined = [group for group in groups if set(group[0]) & set(members)]
        names = list(dict.fromkeys([*(name for group in joined for name in group[0]), *members]))
        told = [*(known for group in joined for known in group[1]), fact]
        groups = [group for group in groups if group not in joined] + [(names, told)]
    sentences = []
    for names, told in groups:
        ending = {1: " has changed places with something else", 2: " have changed places"}.get(
            len(names), " have changed places with one another"
        )
        sentences.append(Sentence(f"{capital(objects(names))}{ending}.", tuple(told)))
    return sentences


def _consequences(known: dict[str, list[Fact]]) -> list[Sentence]:
    """What no longer holds: the promise of the step, and who should stand on whom."""
    sentences = []
    promised: set[tuple[str, ...]] = set()
    for fact in known["unachieved"]:
        action = Action.parse(fact.arguments[0])
        promised.add(action.arguments)
        same = [other for other in known["should_be_on"] if other.arguments == action.arguments]
        sentences.append(Sentence(f"So {unkept(action)}, as the step was to bring about.", (fact, *same)))
    lost = [fact for fact in known["should_be_on"] if fact.arguments not in promised]
    if lost:
        pairs = [
            f"{the(name)} {'should be ' if first else ''}on {the(support)}"
            for first, (name, support) in zip([True] + [False] * len(lost), (f.arguments for f in lost), strict=False)
        ]
        sentences.append(Sentence(f"{capital(listed(pairs))}.", tuple(lost)))
    return sentences


def _recovery(known: dict[str, list[Fact]]) -> list[Sentence]:
    """What will be done about it, or why nothing can be."""
    if not known["recovery"]:
        return []
    (recovery,) = known["recovery"]
    match RecoveryStatus(recovery.arguments[0]):
        case RecoveryStatus.RECOVERED:
            return [_way_back(recovery, known), *_staying(known), *_rejoining(known, "Then")]
        case RecoveryStatus.ALREADY_AT_SUBGOAL:
            return [*_staying(known), *_nothing_to_do(recovery, known)]
        case RecoveryStatus.IMPOSSIBLE:
            text = "There is no way back onto the plan"
            facts = [recovery]
        case RecoveryStatus.BUDGET_EXHAUSTED:
            (searched,) = known["searched"]
            seconds, states = searched.arguments
            text = f"No way back was found in {seconds} seconds, after looking at {counted(int(states), 'scene')}"
            facts = [recovery, searched]
    reasons = known["reason"]
    if reasons:
        text += f": {reasons[0].arguments[0].rstrip('. ')}"
    sentences = [Sentence(f"{text}.", (*facts, *reasons))]
    unnamed = [fact for fact in known["blamed"] if not any(fact.arguments[0] in r.arguments[0] for r in reasons)]
    if unnamed:
        names = [fact.arguments[0] for fact in unnamed]
        sentences.append(
            Sentence(f"What makes it impossible {'is' if len(names) == 1 else 'are'} {objects(names)}.", tuple(unnamed))
        )
    return sentences


def _way_back(recovery: Fact, known: dict[str, list[Fact]]) -> Sentence:
    """How many actions the recovery takes, and which."""
    does = known["does"]
    told = [
        instruction(Action.parse(action), None if place == NOWHERE else place)
        for _, action, place in (fact.arguments for fact in does)
    ]
    count = counted(len(does), "action")
    shortest = ", and there is no shorter way" if known["optimal"] else ""
    text = f"The way back takes {count}{shortest}: "
    if len(told) <= 2:
        text += ", then ".join(told)
    else:
        text += f"first {told[0]}, then {', '.join(told[1:-1])} and finally {told[-1]}"
    return Sentence(f"{text}.", (recovery, *known["optimal"], *does))


def _staying(known: dict[str, list[Fact]]) -> list[Sentence]:
    """What is displaced and may stay so."""
    names = [fact.arguments[0] for fact in known["stays"]]
    if not names:
        return []
    where, them = ("where it is", "it") if len(names) == 1 else ("where they are", "them")
    text = f"{capital(objects(names))} may stay {where}: nothing that follows needs {them} elsewhere."
    return [Sentence(text, tuple(known["stays"]))]


def _rejoining(known: dict[str, list[Fact]], opening: str) -> list[Sentence]:
    """Where the plan goes on after the recovery."""
    if not known["rejoins"]:
        return []
    (rejoins,), (done_fact,) = known["rejoins"], known["steps_done"]
    subgoal, done = int(rejoins.arguments[0]), int(done_fact.arguments[0])
    if subgoal > done:
        text = f"This also takes care of {steps(done + 1, subgoal)}, and the plan goes on from there."
    elif subgoal == done:
        text = f"{opening} the scene is {_as_after(subgoal)}, and the plan goes on from there."
    else:
        text = (
            f"{opening} the scene is {_as_after(subgoal)}, and the plan goes on with {steps(subgoal + 1, done)} again."
        )
    return [Sentence(text, (rejoins, done_fact))]


def _nothing_to_do(recovery: Fact, known: dict[str, list[Fact]]) -> list[Sentence]:
    """The scene is on the plan already: ahead of it, where it should be, or behind."""
    if not known["rejoins"]:
        return [Sentence("Nothing has to be done to get back onto the plan.", (recovery,))]
    (rejoins,), (done_fact,) = known["rejoins"], known["steps_done"]
    subgoal, done = int(rejoins.arguments[0]), int(done_fact.arguments[0])
    if subgoal > done:
        rest = f"{steps(done + 1, subgoal)} can be skipped"
    elif subgoal == done:
        rest = "the plan simply goes on"
    else:
        rest = f"{steps(subgoal + 1, done)} can simply be done again"
    return [
        Sentence(
            f"Nothing has to be put right: the scene is {_as_after(subgoal)}, so {rest}.",
            (recovery, rejoins, done_fact),
        )
    ]


def _as_after(step: int) -> str:
    return "as it was at the start" if step == 0 else f"as it should be after step {step}"
