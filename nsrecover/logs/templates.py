"""Explanations of logs as text, for a lay person or an engineer, and as plain data for programs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import yaml

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


def _condition(condition: StateFact, domain: Domain) -> str:
    return f"'{domain.text(condition)}'"


def _cause(finding: Finding, domain: Domain) -> str:
    """What went wrong, in a sentence or two; every object of the finding is named."""
    names, way = list(map(thing, finding.objects)), finding.earlier
    say = partial(act, domain=domain)
    said = {
        "time": next(iter(finding.times), ""), "times": listed(finding.times),
        "last": next(reversed(finding.times), ""),
        "one": next(iter(names), "it"), "other": next(iter(names[1:]), "something else"),
        "word": next(iter(names[-1:]), "it"), "used": listed(names[:-1]) or "another one",
        "better": next(iter(names[1:]), ""),
        "tried": say(finding.step) if finding.step else "", "needed": listed([say(step) for step in finding.missing]),
        "did": say(finding.step, past=True) if finding.step else "went on",
        "early": say(way, past=True) if way else "went on",
        "way": thing(way.arguments[0]) if way and way.operator == "move_to" and way.arguments else "",
        "where": the(finding.where) if finding.where else "", "liquid": finding.liquid, "reason": finding.reason,
        "clear": ", though nothing was seen in its way" if finding.clear else "",
        "would": domain.text(finding.unmet).replace(" is ", " would be ", 1) if finding.unmet else "",
    }  # fmt: skip
    said |= {"One": capital(said["one"]), "Better": capital(said["better"])}
    unnamed = finding.cause is RootCause.WRONG_ORDER and finding.step in (way, None)
    parts = re.split(r"\[(.*?)\]", _texts()["wrong_order_unnamed" if unnamed else finding.cause.value])
    fields = (re.findall(r"{(\w+)}", part) for part in parts)
    kept = [part for number, (part, own) in enumerate(zip(parts, fields, strict=True))
            if number % 2 == 0 or all(map(said.__getitem__, own))]  # fmt: skip
    text = "".join(kept).format(**said)
    rest = [name for name, own in zip(names, finding.objects, strict=True) if own and own not in text]
    return f"{text} That concerns {listed(rest)}." if rest else text


@cache
def _texts() -> dict[str, str]:
    found: dict[str, str] = yaml.safe_load(Path(__file__).with_name("texts.yaml").read_text(encoding="utf-8"))
    return found
