"""Templates that verbalize the facts of a failure: the failed step, each object, the consequences, the recovery."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Cause, Phase
from nsrecover.core.explanation import Fact, Sentence
from nsrecover.core.recovery import RecoveryStatus
from nsrecover.domains.domain import Domain
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.domains.tabletop.relations import TABLE
from nsrecover.explanation.audience import Audience, Phrasing, seed_of
from nsrecover.explanation.facts import swap_groups
from nsrecover.explanation.grammar import instruction, not_achieved
from nsrecover.explanation.unseen import NOWHERE, missing_text
from nsrecover.util.english import capital, counted, listed, objects, the

_IN_SHORT = {
    Cause.TOPPLED: ("{0} fell over", "the tower fell"),
    Cause.DROPPED: ("the gripper lost {0}", "what the gripper carried fell"),
    Cause.NOT_LIFTED: ("the gripper came up empty",) * 2,
    Cause.MISPLACED: ("{0} missed its place", "some objects missed their places"),
    Cause.MISSING: ("{0} is gone", "some objects are gone"),
    Cause.SWAPPED: ("{1} were exchanged",) * 2,
    Cause.MOVED: ("{0} was shifted", "some objects were shifted"),
    Cause.BLOCKING: ("{0} blocks the way", "some objects block the way"),
    Cause.HELPED: ("part of the work is done already",) * 2,
}
"""Cause -> a few words about one object and about several; later sentences name the objects."""

WORST_FIRST = tuple(_IN_SHORT)
"""Order of the causes in a text."""


def verbalize(
    facts: Sequence[Fact], audience: Audience = Audience.ENGINEER, domain: Domain = TABLETOP
) -> tuple[Sentence, ...]:
    """Verbalize the facts of a failure.

    Args:
        facts: from `nsrecover.explanation.facts.facts_of`; the text depends on nothing else.
        audience: readers of the text. Engineers get step numbers, action names and fixed phrases; lay readers get plain
            words with varying phrases.
        domain: provides the words for actions.

    Returns:
        Sentences in reading order, each with its facts.
    """
    known: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        known[fact.predicate].append(fact)
    phrasing = Phrasing(audience, seed_of(facts), domain)
    elsewhere = frozenset(fact.arguments[0] for fact in known["should_be_on"])
    return (
        _headline(known, phrasing),
        *(sentence for cause in WORST_FIRST for sentence in _happened(cause, known[cause.value], elsewhere, phrasing)),
        *_consequences(known, phrasing),
        *_missing_to_tell(known),
        *recovery_sentences(facts, phrasing),
    )


def _headline(known: dict[str, list[Fact]], phrasing: Phrasing) -> Sentence:
    """Return the sentence about the failed step and the kind of failure."""
    (step,) = known["step"]
    number, action, phase = step.arguments
    causes = [cause for cause in WORST_FIRST if known[cause.value]]
    deviating = [fact for cause in causes for fact in known[cause.value]]
    violated, missing = known["violated"], [*known["unseen"], *known["sensor"]]
    step_phrase = phrasing.step_with_action(number, action)
    if missing and not causes and not violated:
        if phase == Phase.BEFORE:
            doubt = phrasing.choose("cannot be told whether it can be done", "is not certain that it can be done")
            return Sentence(f"Before {step_phrase} it {doubt}.", (step, *missing))
        doubt = phrasing.choose("cannot be told whether all is as expected", "is not certain that all went well")
        return Sentence(f"After {step_phrase} it {doubt}.", (step, *missing))
    if causes == [Cause.HELPED]:
        when = "Before" if phase == Phase.BEFORE else "After"
        return Sentence(f"{when} {step_phrase} the scene is already ahead of the plan.", (step, *deviating))
    if violated:
        reasons = listed([fact.arguments[0] for fact in violated])
        return Sentence(f"{capital(step_phrase)} cannot be done as things are: {reasons}.", (step, *violated))
    what = in_short(deviating)
    if phase == Phase.BEFORE:
        return Sentence(f"Before {step_phrase} something was not as expected: {what}.", (step, *deviating))
    if known["achieved"]:
        worked = phrasing.choose(
            f"{step_phrase} did what it should, but", f"{step_phrase} worked, but", f"though {step_phrase} worked,"
        )
        return Sentence(f"{capital(worked)} {what}.", (step, *known["achieved"], *deviating))
    wrong = phrasing.choose(f"{step_phrase} went wrong", f"something went wrong at {step_phrase.rstrip(',')}")
    return Sentence(f"{capital(wrong)}: {what}.", (step, *deviating))


def in_short(facts: Sequence[Fact]) -> str:
    """Return what happened in a few words: `the tower fell`; help only if nothing else happened.

    Args:
        facts: those about objects, from `nsrecover.explanation.facts.facts_of`; others are ignored.
    """
    groups = {cause: [fact for fact in facts if fact.predicate == cause.value] for cause in WORST_FIRST}
    causes = [cause for cause in WORST_FIRST if groups[cause]]
    wrong = [cause for cause in causes if cause is not Cause.HELPED] or causes
    return listed([_in_short(cause, groups[cause]) for cause in wrong[:2]])


def _in_short(cause: Cause, facts: Sequence[Fact]) -> str:
    names = the(facts[0].arguments[0]), counted(max(2, len(facts)), "object")
    return _IN_SHORT[cause][len(facts) > 1].format(*names)


def _happened(cause: Cause, facts: Sequence[Fact], elsewhere: Collection[str], phrasing: Phrasing) -> list[Sentence]:
    """Return sentences about the objects with a cause; objects with the same fate share one.

    Args:
        cause: the cause.
        facts: the facts about it.
        elsewhere: objects that do not stand on their expected support.
        phrasing: of the text.
    """
    if cause is Cause.SWAPPED:
        return _swaps(facts)
    groups: dict[str, list[Fact]] = defaultdict(list)
    if cause is Cause.HELPED:
        facts = sorted(facts, key=lambda fact: int(fact.arguments[2]) if fact.arguments[2] != NOWHERE else 0)
    for fact in facts:
        # Grouped by the support; for HELPED, by the step after which the place is correct.
        groups[fact.arguments[2 if cause is Cause.HELPED else 1]].append(fact)
    sentences = []
    for group in groups.values():
        names, (_, other, detail) = [fact.arguments[0] for fact in group], group[0].arguments
        sentences.append(Sentence(capital(_fate(cause, names, other, detail, elsewhere, phrasing)), tuple(group)))
    return sentences


def _fate(
    cause: Cause, names: Sequence[str], other: str, detail: str, elsewhere: Collection[str], phrasing: Phrasing
) -> str:
    """Return the sentence for objects with the same cause and explaining object."""
    who = objects(names)
    one = len(names) == 1
    be, was, has, it = ("is", "was", "has", "it") if one else ("are", "were", "have", "they")
    them, lies, stands = ("it", "lies", "stands") if one else ("them", "lie", "stand")
    offset = f", {phrasing.offset(detail)}" if one and detail != NOWHERE else ""
    on = "" if other == NOWHERE else f" on {the(other)}"
    match cause:
        case Cause.TOPPLED:
            onto = f" onto {the(other)}" if other != NOWHERE else ""
            return phrasing.choose(f"{who} toppled{onto}.", f"{who} toppled and now {lies}{on or ' elsewhere'}.")
        case Cause.DROPPED:
            now = f"now {lies}{on or ' elsewhere'}{offset}."
            return phrasing.choose(f"{who} {was} dropped on the way and {now}", f"{who} {was} dropped and {now}")
        case Cause.NOT_LIFTED:
            return phrasing.choose(
                f"{who} {was} not lifted: {it} still {stands}{on or ' where ' + it + ' ' + was}.",
                f"{who} {was} not lifted and still {stands}{on or ' where ' + it + ' ' + was}.",
            )
        case Cause.MISPLACED:
            return f"{who} {was} misplaced: {it} {stands}{on or ' elsewhere'}{offset}."
        case Cause.MISSING:
            return phrasing.choose(f"{who} {be} nowhere to be seen.", f"{who} {be} missing from the table.")
        case Cause.MOVED:
            where = on if other != TABLE or set(names) & set(elsewhere) else ""
            rest = f": {it} {be} now{where}{offset if where else offset.removeprefix(',')}" if where or offset else ""
            why = phrasing.choose(f"though nothing was to touch {them}", f"though {it} {was} to stay where {it} {was}")
            return f"{who} {has} moved, {why}{rest}."
        case Cause.BLOCKING:
            return f"{who} {be} in the way{'' if other == NOWHERE else ' of ' + the(other)}."
        case Cause.HELPED:
            when = "" if detail == NOWHERE else f" after {phrasing.step(detail)}"
            return f"{who} {be} already where {it} should be{when or ' later'}."
        case Cause.NOT_DONE:
            return f"{who} {be} as before."
        case Cause.CHANGED:
            return f"{who} {has} changed, though nothing was to change {them}."
        case Cause.MISTAKEN:
            return f"{who} {was} taken for {the(other)}."
        case Cause.SWAPPED:
            raise AssertionError("swapped objects share a sentence")


def _swaps(facts: Sequence[Fact]) -> list[Sentence]:
    """Return one sentence for each set of objects that changed places with each other."""
    sentences = []
    for names in swap_groups(fact.arguments for fact in facts):
        ending = {1: " with something else", 2: ""}.get(len(names), " with one another")
        text = f"{capital(objects(names))} {'has' if len(names) == 1 else 'have'} changed places{ending}."
        sentences.append(Sentence(text, tuple(fact for fact in facts if fact.arguments[0] in names)))
    return sentences


def _consequences(known: dict[str, list[Fact]], phrasing: Phrasing) -> list[Sentence]:
    """Return sentences about the lost effect of the step and the lost supports."""
    sentences = []
    promised: set[tuple[str, ...]] = set()
    for fact in known["unachieved"]:
        action = Action.parse(fact.arguments[0])
        promised.add(action.arguments)
        same = [other for other in known["should_be_on"] if other.arguments == action.arguments]
        promise = phrasing.choose("as the step was to bring about", "which is what the step was for")
        sentences.append(Sentence(f"So {not_achieved(action, phrasing.domain)}, {promise}.", (fact, *same)))
    lost = [fact for fact in known["should_be_on"] if fact.arguments not in promised]
    if lost:
        pairs = [
            f"{the(name)} {'should be ' if first else ''}on {the(support)}"
            for first, (name, support) in zip([True] + [False] * len(lost), (f.arguments for f in lost), strict=False)
        ]
        sentences.append(Sentence(f"{capital(listed(pairs))}.", tuple(lost)))
    return sentences


def _missing_to_tell(known: dict[str, list[Fact]]) -> list[Sentence]:
    """Return one sentence for each thing that is missing for a verdict."""
    return [
        Sentence(f"{capital(missing_text(fact))}.", (fact,)) for kind in ("unseen", "sensor") for fact in known[kind]
    ]


def recovery_sentences(facts: Sequence[Fact], phrasing: Phrasing) -> list[Sentence]:
    """Return sentences about the recovery, or why there is none; of other facts than `recovery_facts` none."""
    known: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        known[fact.predicate].append(fact)
    if not known["recovery"]:
        return []
    (recovery,) = known["recovery"]
    match RecoveryStatus(recovery.arguments[0]):
        case RecoveryStatus.RECOVERED if known["does"]:
            return [_way_back(recovery, known, phrasing), *_staying(known), *_rejoining(known, phrasing)]
        case RecoveryStatus.RECOVERED | RecoveryStatus.ALREADY_AT_SUBGOAL:
            return [*_staying(known), *_nothing_to_do(recovery, known, phrasing)]
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


def _way_back(recovery: Fact, known: dict[str, list[Fact]], phrasing: Phrasing) -> Sentence:
    """Return the sentence with the actions of the recovery."""
    does = known["does"]
    instructions = [
        instruction(Action.parse(action), None if place == NOWHERE else place, phrasing.domain)
        for _, action, place in (fact.arguments for fact in does)
    ]
    count = counted(len(does), "action")
    shortest = ", and there is no shorter way" if known["optimal"] else ""
    text = phrasing.choose(f"The way back takes {count}", f"It takes {count} to put this right") + f"{shortest}: "
    if len(instructions) <= 2:
        text += ", then ".join(instructions)
    else:
        text += f"first {instructions[0]}, then {', '.join(instructions[1:-1])} and finally {instructions[-1]}"
    return Sentence(f"{text}.", (recovery, *known["optimal"], *does))


def _staying(known: dict[str, list[Fact]]) -> list[Sentence]:
    """Return the sentence about displaced objects that may stay."""
    names = [fact.arguments[0] for fact in known["stays"]]
    if not names:
        return []
    where, them = ("where it is", "it") if len(names) == 1 else ("where they are", "them")
    text = f"{capital(objects(names))} may stay {where}: nothing that follows needs {them} elsewhere."
    return [Sentence(text, tuple(known["stays"]))]


def _rejoining(known: dict[str, list[Fact]], phrasing: Phrasing) -> list[Sentence]:
    """Return the sentence about the step with which the plan continues."""
    if not known["rejoins"]:
        return []
    (rejoins,), (done_fact,) = known["rejoins"], known["steps_done"]
    subgoal, done = int(rejoins.arguments[0]), int(done_fact.arguments[0])
    if subgoal > done:
        text = f"This also takes care of {phrasing.steps(done + 1, subgoal)}, and the plan goes on from there."
    elif subgoal == done:
        text = f"Then the scene is {_as_after(subgoal, phrasing)}, and the plan goes on from there."
    else:
        again = phrasing.steps(subgoal + 1, done)
        text = f"Then the scene is {_as_after(subgoal, phrasing)}, and the plan goes on with {again} again."
    return [Sentence(text, (rejoins, done_fact))]


def _nothing_to_do(recovery: Fact, known: dict[str, list[Fact]], phrasing: Phrasing) -> list[Sentence]:
    """Return the sentence for a scene that is on the plan already."""
    if not known["rejoins"]:
        return [Sentence("Nothing has to be done to get back onto the plan.", (recovery,))]
    (rejoins,), (done_fact,) = known["rejoins"], known["steps_done"]
    subgoal, done = int(rejoins.arguments[0]), int(done_fact.arguments[0])
    if subgoal > done:
        rest = f"{phrasing.steps(done + 1, subgoal)} can be skipped"
    elif subgoal == done:
        rest = "the plan simply goes on"
    else:
        rest = f"{phrasing.steps(subgoal + 1, done)} can simply be done again"
    return [
        Sentence(
            f"Nothing has to be put right: the scene is {_as_after(subgoal, phrasing)}, so {rest}.",
            (recovery, rejoins, done_fact),
        )
    ]


def _as_after(step: int, phrasing: Phrasing) -> str:
    return "as it was at the start" if step == 0 else f"as it should be after {phrasing.step(step)}"
