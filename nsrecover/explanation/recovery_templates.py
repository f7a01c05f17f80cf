"""Templates that verbalize the facts of a recovery: its actions, why there is none, where it rejoins the plan."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import UNDONE, Cause
from nsrecover.core.explanation import Fact, Sentence
from nsrecover.core.recovery import RecoveryStatus
from nsrecover.domains.domain import Domain
from nsrecover.explanation.audience import Phrasing
from nsrecover.explanation.phrases import instruction
from nsrecover.explanation.unseen import NOWHERE
from nsrecover.util.english import Forms, capital, counted, listed, objects

Known = dict[str, list[Fact]]
"""Predicate -> its facts."""


def by_predicate(facts: Sequence[Fact]) -> Known:
    """Return facts by their predicates."""
    known: Known = defaultdict(list)
    for fact in facts:
        known[fact.predicate].append(fact)
    return known


def sentence(text: str, *facts: Fact) -> Sentence:
    """Return a clause as a sentence."""
    return Sentence(f"{capital(text)}.", facts)


def instructions(actions: Sequence[str], domain: Domain) -> str:
    """Return actions as a list of instructions."""
    return listed(instruction(Action.parse(action), domain=domain) for action in actions)


def recovery_sentences(facts: Sequence[Fact], phrasing: Phrasing) -> list[Sentence]:
    """Return sentences about the recovery, or why there is none; of other facts than `recovery_facts` none."""
    known = by_predicate(facts)
    if not known["recovery"]:
        return []
    (recovery,) = known["recovery"]
    match RecoveryStatus(recovery.arguments[0]):
        case RecoveryStatus.RECOVERED if known["does"]:
            sentences = [_actions(recovery, known, phrasing), *_staying(known), *_rejoining(known, phrasing)]
        case RecoveryStatus.RECOVERED | RecoveryStatus.ALREADY_AT_SUBGOAL:
            sentences = [*_staying(known), *_rejoining(known, phrasing, recovery)]
        case RecoveryStatus.IMPOSSIBLE:
            sentences = _none_found("no recovery exists", [recovery], known)
        case RecoveryStatus.BUDGET_EXHAUSTED:
            (searched,) = known["searched"]
            seconds, states = searched.arguments
            text = f"no recovery was found in {seconds} seconds, after looking at {counted(int(states), 'scene')}"
            sentences = _none_found(text, [recovery, searched], known)
    return [*sentences, *_lost(known, phrasing.domain)]


def _none_found(text: str, facts: Sequence[Fact], known: Known) -> list[Sentence]:
    """Return the sentences that say why there is no recovery."""
    reasons = known["reason"]
    if reasons:
        text += f": {reasons[0].arguments[0].rstrip('. ')}"
    sentences = [sentence(text, *facts, *reasons)]
    unnamed = [fact for fact in known["blamed"] if not any(fact.arguments[0] in r.arguments[0] for r in reasons)]
    if unnamed:
        names = [fact.arguments[0] for fact in unnamed]
        sentences.append(sentence(f"{objects(names)} {Forms.of(names).verb('makes')} it impossible", *unnamed))
    return sentences


def _actions(recovery: Fact, known: Known, phrasing: Phrasing) -> Sentence:
    """Return the sentence with the actions of the recovery."""
    does = known["does"]
    instructions = [
        instruction(Action.parse(action), None if place == NOWHERE else place, phrasing.domain)
        for _, action, place in (fact.arguments for fact in does)
    ]
    shortest = ", and there is no shorter one" if known["optimal"] else ""
    text = f"the recovery takes {counted(len(does), 'action')}{shortest}: "
    if len(instructions) <= 2:
        text += ", then ".join(instructions)
    else:
        text += f"first {instructions[0]}, then {', '.join(instructions[1:-1])} and finally {instructions[-1]}"
    return sentence(text, recovery, *known["optimal"], *does)


def _staying(known: Known) -> list[Sentence]:
    """Return the sentence about displaced objects that may stay."""
    names = [fact.arguments[0] for fact in known["stays"]]
    if not names:
        return []
    text = Forms.of(names).agree("may stay where [they] [is]: no later step needs [them] elsewhere")
    return [sentence(f"{objects(names)} {text}", *known["stays"])]


def _rejoining(known: Known, phrasing: Phrasing, *recovery: Fact) -> list[Sentence]:
    """Return the sentence about the step after which the plan is rejoined, given the fact if no recovery is needed."""
    if not known["rejoins"]:
        return [sentence("no recovery is needed", *recovery)] if recovery else []
    facts = (*known["rejoins"], *known["steps_done"])
    subgoal, done = (int(fact.arguments[0]) for fact in facts)
    skipped, again = phrasing.steps(done + 1, subgoal), phrasing.steps(subgoal + 1, done)
    after = f"what the plan needs is {_as_after(subgoal, phrasing)}"
    if recovery:
        rest = f", so {skipped} can be skipped" if subgoal > done else f", so {again} can be repeated"
        put_right = UNDONE if subgoal < done else frozenset[Cause]()  # by repeating the step
        if left := _left_as_it_is(known, put_right):
            forms = Forms.of([fact.arguments[0] for fact in left])
            after = forms.agree(f"no later step needs {objects([f.arguments[0] for f in left])} otherwise")
            after += forms.agree(", and [they] [is] left as [they] [is]")
        return [sentence(f"no recovery is needed: {after}{rest if subgoal != done else ''}", *recovery, *facts)]
    if subgoal > done:
        return [sentence(f"this also completes {skipped}", *facts)]
    return [sentence(f"then {after}{f', and the plan repeats {again}' if subgoal < done else ''}", *facts)]


def _left_as_it_is(known: Known, put_right: frozenset[Cause]) -> list[Fact]:
    """Return the objects of a scene of facts that are wrong and that nothing puts right, as the plan allows.

    Args:
        known: facts by predicate.
        put_right: causes of what the plan puts right.
    """
    if not (known["lacks"] or known["has"]):
        return []
    said = {fact.arguments[0] for fact in known["stays"]}
    wrong = [fact for cause in Cause if cause not in {Cause.HELPED, *put_right} for fact in known[cause.value]]
    return [fact for fact in wrong if fact.arguments[0] not in said]


def _as_after(step: int, phrasing: Phrasing) -> str:
    return "as it was at the start" if step == 0 else f"as it should be after {phrasing.step(step)}"


def _lost(known: Known, domain: Domain) -> list[Sentence]:
    """Return sentences about what is lost for good, and about what can still be achieved."""
    if not known["lost"]:
        return []
    lost = listed(domain.text(fact.arguments) for fact in known["lost"])
    if known["recovery"][0].arguments[0] == RecoveryStatus.RECOVERED.value:
        return [sentence(f"it gives up this part of the goal: {lost}", *known["lost"])]
    sentences = [sentence(f"this part of the goal can no longer be achieved: {lost}", *known["lost"])]
    for closest in known["closest"]:
        way = f": {instructions(closest.arguments, domain)}" if closest.arguments else " with the rest of the plan"
        sentences.append(sentence(f"the other parts can still be achieved{way}", closest))
    return sentences
