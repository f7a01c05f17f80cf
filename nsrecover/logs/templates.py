"""Explanations of logs as text, for a lay person or an engineer, and as plain data for programs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.domain import Domain
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.domains.household.names import is_slice
from nsrecover.explanation.audience import Audience
from nsrecover.logs.explaining import LogExplanation
from nsrecover.logs.findings import Finding, RootCause
from nsrecover.logs.trace import FactTrace
from nsrecover.util.english import capital, counted, listed, the


def report_of(log: FactTrace, explanation: LogExplanation, audience: Audience = Audience.LAY) -> dict[str, Any]:
    """What `nsrecover explain LOG --json` prints.

    Args:
        log: the log.
        explanation: of that log.
        audience: whom the text is for.

    Returns:
        `kind` (execution, planning or none), `steps` (times, the most important first), `step` (typed), `root_cause`
        and `objects`, `text`, `correction` (typed actions; null if no plan was found), `confidence` (that step and
        kind are right), `abstained` (why the finding is only a guess; empty if it is not), `since` (the times at
        which it was last seen right and first seen wrong), `rivals` (other courses of events), `assumed` (objects of
        the correction that the log does not mention), `text_agrees` (the text agrees with the
        finding, and the correction, executed symbolically, achieves the success condition), `missing_steps`,
        `failed_subgoal` (the first that does not hold; null if all do), `subgoals`, `unread` (lines of the log that
        could not be read) and `not_considered` (what there was no time for).
    """
    finding, text = explanation.finding, verbalize(explanation, audience)
    times = [event.time for event in log.events]
    subgoals = [
        {"time": item.time, "step": str(item.step), "satisfied": item.satisfied, "why": item.why}
        for item in explanation.subgoals
    ]
    return {
        "kind": finding.kind.value,
        "steps": list(finding.times),
        "step": None if finding.step is None else str(finding.step),
        "root_cause": finding.cause.value,
        "objects": list(finding.objects),
        "text": text,
        "correction": None if explanation.correction is None else [str(step) for step in explanation.correction],
        "confidence": round(explanation.confidence, 3),
        "abstained": explanation.open_question,
        "since": list(finding.since),
        "rivals": [
            {
                "what": first.mode if first else "as_planned",
                "time": log.events[min(first.event, len(log.events) - 1)].time if first and log.events else None,
                "probability": round(chance, 3),
            }
            for first, chance in ((course.first(), chance) for course, chance in explanation.rivals)
        ],
        "assumed": list(explanation.assumed),
        "text_agrees": explanation.succeeds and agrees(text, explanation, times),
        "unread": list(explanation.unread),
        "not_considered": explanation.not_considered,
        "missing_steps": [str(step) for step in finding.missing],
        "failed_subgoal": None if explanation.failed is None else subgoals[explanation.failed],
        "subgoals": subgoals,
    }


def verbalize(explanation: LogExplanation, audience: Audience = Audience.LAY) -> str:
    """An explanation as text.

    Args:
        explanation: from `nsrecover.logs.explaining.explain_log`.
        audience: whom it is for.
    """
    finding, cause = explanation.finding, _cause(explanation.finding, explanation.domain)
    if explanation.open_question:
        cause = f"This is a guess, because {explanation.open_question}. {cause}"
    if finding.cause is RootCause.NONE:
        return cause
    if finding.reason == "holds":
        cause = f"The stated condition holds at the end, but not all went well. {cause}"
    if audience is Audience.ENGINEER:
        what = f"{finding.cause.value}({', '.join(finding.objects)})"
        classified = f"{capital(finding.kind.value)} failure at {listed(finding.times)}: {what}."
        sentences = [classified, cause, _subgoals_text(explanation)]
    else:
        sentences = [cause, _consequence(explanation)]
    if explanation.correction is None:
        sentences.append("No way to put this right was found.")
    elif not explanation.correction:
        sentences.append("Nothing is left to be done.")
    else:
        told = [
            str(step) if audience is Audience.ENGINEER else act(step, domain=explanation.domain)
            for step in explanation.correction
        ]
        if audience is Audience.LAY and len(told) > 1:
            told[-1] = f"and finally {told[-1]}"
        sentences.append(f"To finish the task: {', '.join(told)}.")
    if explanation.assumed:
        names, they = listed(list(map(the, explanation.assumed))), "them" if len(explanation.assumed) > 1 else "it"
        sentences.append(f"This assumes {names}, though the log does not mention {they}.")
    return " ".join(filter(None, sentences))


def agrees(text: str, explanation: LogExplanation, known_times: Sequence[str]) -> bool:
    """Whether a text names every object and the first time of a finding, and no time that is not in the log."""
    times = re.findall(r"\b\d+:\d{2}\b", text)
    finding = explanation.finding
    named = all(name in text for name in finding.objects if name)
    return named and (not finding.times or finding.times[0] in text) and set(times) <= set(known_times)


def _subgoals_text(explanation: LogExplanation) -> str:
    """The first subgoal that failed, for an engineer."""
    count, unmet = len(explanation.subgoals), explanation.finding.unmet
    if explanation.failed is None:
        rest = f"; the success condition {_condition(unmet, explanation.domain)} does not" if unmet else ""
        return f"All {counted(count, 'subgoal')} hold{rest}."
    item = explanation.subgoals[explanation.failed]
    return (
        f"Subgoal {explanation.failed + 1} of {count}, {item.step} at {item.time}, is the first that does not hold: "
        f"{item.why}."
    )


def _consequence(explanation: LogExplanation) -> str:
    """The step that failed because of the cause, if that is at another time."""
    item = None if explanation.failed is None else explanation.subgoals[explanation.failed]
    times = explanation.finding.times
    if item is None or item.time in times or (times and item.time.rjust(9) < times[0].rjust(9)):
        return ""
    return f"So at {item.time} it could not {act(item.step, domain=explanation.domain)}."


def thing(name: str) -> str:
    """An object with its article."""
    return f"a {name}" if is_slice(name) else the(name)


def act(step: Action, past: bool = False, domain: Domain = HOUSEHOLD) -> str:
    """An action as an instruction, `put the pot in the sink`, or in the past tense."""
    operator = domain.operators.get(step.operator)
    if operator is None or len(operator.parameters) != len(step.arguments):
        if step.operator == "move_to" and step.arguments:
            return f"{'went' if past else 'go'} to {thing(step.arguments[0])}"
        return f"{'did' if past else 'do'} {step}"
    roles = (parameter.variable[1:] for parameter in operator.parameters)
    names = dict(zip(roles, map(thing, step.arguments), strict=True))
    if past and not operator.words.past:
        return f"was to {operator.words.imperative.format(**names)}"
    return (operator.words.past if past else operator.words.imperative).format(**names)


def _did(step: Action | None, otherwise: str = "went on", domain: Domain = HOUSEHOLD) -> str:
    return act(step, past=True, domain=domain) if step else otherwise


def _condition(condition: StateFact, domain: Domain) -> str:
    return f"'{domain.text(condition)}'"


def _would_be(condition: StateFact, domain: Domain) -> str:
    """A condition in the subjunctive."""
    return domain.text(condition).replace(" is ", " would be ", 1)


def _cause(finding: Finding, domain: Domain) -> str:
    """What went wrong, in a sentence or two."""
    time, times = next(iter(finding.times), ""), listed(finding.times)
    names = list(map(thing, finding.objects))
    one, other, *_ = [*names, "it", "it"]
    say, did = partial(act, domain=domain), partial(_did, domain=domain)
    tried = say(finding.step) if finding.step is not None else "go on"
    needed = listed([say(step) for step in finding.missing])

    def concerning(said: str, start: int = 0) -> str:
        """The objects that a text has not named."""
        rest = [thing(name) for name in finding.objects[start:] if name and name not in said]
        return f" That concerns {listed(rest)}." if rest else ""

    match finding.cause:
        case RootCause.NONE:
            return "The task succeeded: its success condition holds at the end."
        case RootCause.DROPPED:
            way = ""
            if finding.earlier is not None and finding.earlier.operator == "move_to" and finding.earlier.arguments:
                way = f" on the way to {thing(finding.earlier.arguments[0])}"
            where = f" It was then seen on {the(finding.where)}." if finding.where else ""
            return f"At {time} the robot dropped {one}{way}.{where}"
        case RootCause.MISSED_GRASP:
            seen = ", though nothing was seen in its way" if finding.clear else ""
            return f"At {time} the robot tried to pick up {one} and came up empty{seen}."
        case RootCause.ACTION_FAILED:
            about = "" if all(name in tried for name in finding.objects) else f" That was about {listed(names)}."
            return f"At {time} the robot tried to {tried}, and it had no effect.{about}"
        case RootCause.MISPLACED:
            return f"At {time} the robot put {one} in the wrong place: it ended up on {other}."
        case RootCause.NEVER_OPENED:
            why = f", so the robot could not {tried}" if finding.step else ""
            return (
                f"At {time} {one} was still closed, because the plan never opens it{why}.{concerning(tried, start=1)}"
            )
        case RootCause.MISSING_STEP:
            text = f"The plan lacks a step: the robot never came to {needed or 'do what is needed'}, "
            text += f"which it should have done before {time}"
            text += f", so that {_would_be(finding.unmet, domain)}" if finding.unmet is not None else ""
            return f"{text}.{concerning(text)}"
        case RootCause.WRONG_ORDER:
            text = f"Two steps are in the wrong order: at {time} the robot "
            if finding.earlier == finding.step or finding.step is None:
                text += f"was to {tried}, but what that needs comes only at {finding.times[-1]}"
                text += f" ({say(finding.missing[0])})" if finding.missing else ""
            else:
                text += f"{did(finding.earlier)}, too early, "
                text += f"for at {finding.times[-1]} it still had to {tried}"
            return f"{text}.{concerning(text)}"
        case RootCause.WRONG_ACTION:
            task = f", when the task was to {say(finding.missing[0])}" if finding.missing else ""
            task = f"{did(finding.step, 'did something else')}{task}."
            return f"The plan does the wrong thing with {one}: at {times} the robot {task}"
        case RootCause.WRONG_OBJECT:
            return f"The plan uses the wrong object: at {times} the robot dealt with {other} instead of {one}."
        case RootCause.WRONG_PLACE:
            place = f"at {times} the robot was to {tried}, but {one} is needed, not {other}."
            return f"The plan uses the wrong place: {place}"
        case RootCause.UNSUITABLE:
            better = f" {capital(other)} would do." if len(finding.objects) > 1 else ""
            return f"{capital(one)}, which the plan chose at {time}, is not suitable: {finding.reason}.{better}"
        case RootCause.UNDONE_BY_PLAN:
            done = did(finding.step)
            return f"At {time} the robot {done}, and so the plan undid what it had achieved.{concerning(done)}"
        case RootCause.ALREADY_FILLED:
            known = f"{capital(one)} was already filled with {finding.liquid}, which the plan does not reckon with."
            return f"{known}{f' The plan should first {needed}.' if needed else ''} The moment for that was {time}."
        case RootCause.ALREADY_RUNNING:
            return f"At {time} the robot could not {tried}, because {one} was already turned on."
        case RootCause.MISTAKEN_OBJECT:
            return f"At {time} the robot mistook {other} for {one}: it was to {tried}, and took {other} instead."
        case RootCause.AMBIGUOUS_NAME:
            word, used = the(finding.objects[-1]), listed(names[:-1]) or "another one"
            return f"At {time} the plan does not say which one is meant by {word}: it came to {used}."
        case RootCause.OCCUPIED | RootCause.BLOCKED:
            other = other if len(names) > 1 else "something else"
            how = "took up the room in" if finding.cause is RootCause.OCCUPIED else "was in the way of"
            return f"At {time} the robot could not {tried}: {other} {how} {one}."
        case RootCause.UNKNOWN:
            return f"By {time} {one} was not as it should be, and nothing in the log says why."
