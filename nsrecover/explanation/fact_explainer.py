"""Explanations of discrepancies in symbolic domains: facts, and one template for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nsrecover.core.discrepancy import Cause, Deviation, Discrepancy, Phase, PlanFault, PlanProblem
from nsrecover.core.explanation import Explanation, Fact, Sentence
from nsrecover.core.facts import FactScene, StateFact
from nsrecover.core.recovery import Recovery
from nsrecover.domains.base import Role
from nsrecover.domains.domain import Domain
from nsrecover.domains.instance import Instance
from nsrecover.domains.properties import facts_with
from nsrecover.explanation.audience import Audience, Phrasing, seed_of
from nsrecover.explanation.facts import recovery_facts
from nsrecover.explanation.grammar import instruction
from nsrecover.explanation.templates import recovery_sentences
from nsrecover.explanation.unseen import NOWHERE, missing_facts, missing_text
from nsrecover.util.english import capital, listed, objects, the

_CAUSES = {
    Cause.MISSING: "{0} is nowhere to be seen any more",
    Cause.DROPPED: "the robot lost {0}",
    Cause.NOT_DONE: "the step did not change {0}",
    Cause.MISPLACED: "{0} was put in the wrong place",
    Cause.MISTAKEN: "the robot took {0} for {1}",
    Cause.HELPED: "{0} already is as a later step makes it",
    Cause.BLOCKING: "{0} is in the way of {1}",
    Cause.MOVED: "{0} was moved, though no step was to move it",
    Cause.CHANGED: "{0} has changed, though no step was to change it",
}


@dataclass(frozen=True)
class FactExplainer:
    """Explains a discrepancy of a symbolic domain by templates from computed facts.

    Attributes:
        instance: the domain over the objects of the scene.
        audience: readers of the text.
    """

    instance: Instance
    audience: Audience = Audience.ENGINEER

    def __call__(self, discrepancy: Discrepancy[FactScene], recovery: Recovery | None) -> Explanation:
        """Explain what went wrong, why, what comes of it, and the recovery.

        Returns:
            The explanation; `verified` if its text names the step, every deviating object, and the cause.
        """
        domain = self.instance.domain
        done = discrepancy.step + (discrepancy.phase is Phase.AFTER)
        facts = recovery_facts(done, recovery) if recovery is not None else ()
        phrasing = Phrasing(self.audience, seed_of((discrepancy.step, *discrepancy.deviating, *facts)), domain)
        sentences = [
            _headline(discrepancy, domain, phrasing),
            *(_deviation(each, domain) for each in discrepancy.deviations),
            *_plan(discrepancy, domain),
            *_cause(discrepancy),
            *(Sentence(f"{capital(missing_text(fact))}.", (fact,)) for fact in missing_facts(discrepancy)),
            *recovery_sentences(facts, phrasing),
            *(_given_up(recovery, domain) if recovery is not None else ()),
        ]
        text = " ".join(sentence.text for sentence in sentences)
        named = {*discrepancy.deviating, *discrepancy.cause, phrasing.step(discrepancy.step + 1)}
        verified = all(name.lower() in text.lower() for name in named)
        return Explanation(tuple(sentences), discrepancy.step + 1, verified=verified)


def in_short(found: Discrepancy[FactScene], domain: Domain) -> str:
    """What happened in a few words: `the pot has changed, though no step was to change it`."""
    wrong = [each for each in found.deviations if each.cause is not Cause.HELPED] or found.deviations
    if wrong:
        return listed([_what_happened(each, domain) for each in wrong[:2]])
    if found.unmet:
        return "a condition of the step did not hold"
    return "it was clear that the plan would not lead to its goal" if found.plan_problem is not None else ""


def _headline(found: Discrepancy[FactScene], domain: Domain, phrasing: Phrasing) -> Sentence:
    step = Fact("step", (str(found.step + 1), str(found.action), found.phase.value))
    where = phrasing.step_with_action(str(found.step + 1), str(found.action))
    if found.unmet:
        unmet = tuple(Fact("violated", (text,)) for text in map(domain.text, found.unmet))
        reasons = listed([fact.arguments[0] for fact in unmet])
        return Sentence(f"{capital(where)} cannot be done as things are, for it needs this: {reasons}.", (step, *unmet))
    if found.deviations:
        when = "Before" if found.phase is Phase.BEFORE else "After"
        if all(each.cause is Cause.HELPED for each in found.deviations):
            return Sentence(f"{when} {where} the scene is already ahead of the plan.", (step,))
        return Sentence(f"{when} {where} something was not as expected.", (step,))
    if found.plan_problem is not None:
        return Sentence(f"Before {where} it is clear that the plan does not lead to its goal.", (step,))
    when = "Before" if found.phase is Phase.BEFORE else "After"
    return Sentence(f"{when} {where} it cannot be told whether all is as expected.", (step,))


def _deviation(found: Deviation[tuple[StateFact, ...]], domain: Domain) -> Sentence:
    """The sentence about one object: what happened to it, and how it is instead of how it should be."""
    other = found.other or NOWHERE
    facts = [Fact(found.cause.value, (found.name, other))]
    facts += [Fact("lacks", fact) for fact in found.expected] + [Fact("has", fact) for fact in found.observed or ()]
    shown = found.observed or found.expected
    now = [domain.text(fact, holds=bool(found.observed)) for fact in shown]
    return Sentence(f"{capital(_what_happened(found, domain))}: {listed(now)}.", tuple(facts))


def _what_happened(found: Deviation[tuple[StateFact, ...]], domain: Domain) -> str:
    """What happened to an object, as a clause; something that was looked for in vain was not put anywhere."""
    if found.cause is Cause.MISPLACED and facts_with((Role.BELIEVED,), found.observed or (), domain):
        wanted = next((fact[2] for fact in found.expected if len(fact) == 3), None)
        return f"{the(found.name)} is not at {the(wanted)}" if wanted else f"{the(found.name)} was not found"
    return _CAUSES[found.cause].format(the(found.name), the(found.other or NOWHERE))


def _plan(found: Discrepancy[FactScene], domain: Domain) -> list[Sentence]:
    """The sentence about what is wrong with the plan."""
    problem = found.plan_problem
    if problem is None:
        return []
    fact = Fact("plan", (problem.fault.value, str(problem.step + 1), *map(str, problem.steps), *problem.objects))
    unmet = listed(map(domain.text, problem.unmet))
    return [Sentence(f"{_plan_text(problem, domain)}; what is missed is this: {unmet}.", (fact,))]


def _plan_text(problem: PlanProblem, domain: Domain) -> str:
    steps = listed([instruction(action, domain=domain) for action in problem.steps])
    number = f"step {problem.step + 1}"
    match problem.fault:
        case PlanFault.WRONG_OBJECT:
            wrong, right = problem.objects
            return f"From {number} on the plan names {the(wrong)} and not {the(right)}"
        case PlanFault.WRONG_ORDER:
            return f"Steps are in the wrong order: {number} ({steps}) stands at the wrong place"
        case PlanFault.MISSING_STEP:
            return f"Before {number} the plan lacks something: {steps}"
        case PlanFault.DESTROYS:
            return f"{capital(number)} of the plan would make the goal unreachable, and it cannot be undone"
        case PlanFault.UNREACHABLE:
            return "The goal cannot be reached any more"
        case PlanFault.FAILS:
            return f"The plan fails at {number}"


def _cause(found: Discrepancy[FactScene]) -> list[Sentence]:
    """The counterfactual: without which deviation the goal would have been reached."""
    if not found.cause:
        return []
    who = objects(found.cause)
    text = f"Had {who} been as expected, the plan would have reached its goal"
    return [Sentence(f"{text}.", (Fact("cause", found.cause),))]


def _given_up(recovery: Recovery, domain: Domain) -> Sequence[Sentence]:
    """What is lost for good, and the way to what can still be reached."""
    if not recovery.lost:
        return []
    facts = tuple(Fact("lost", fact) for fact in recovery.lost)
    lost = listed([domain.text(fact) for fact in recovery.lost])
    if recovery.found:
        return [Sentence(f"This gives up that {lost}.", facts)]
    sentences = [Sentence(f"It cannot be brought about any more that {lost}.", facts)]
    if recovery.closest is not None:
        todo = [instruction(action, domain=domain) for action in recovery.closest.actions]
        way = f"by these actions: {listed(todo)}" if todo else "with the rest of the plan"
        closest = tuple(Fact("closest", (str(action),)) for action in recovery.closest.actions)
        sentences.append(Sentence(f"The rest of the goal can still be reached, {way}.", closest or facts))
    return sentences


def proposal(recovery: Recovery[object], domain: Domain) -> str:
    """The question whether to go on with the closest goal that can be reached."""
    assert recovery.closest is not None
    given_up = listed([domain.text(fact) for fact in recovery.closest.lost])
    return f"It cannot be brought about any more that {given_up}. Shall the rest of the task be done?"
