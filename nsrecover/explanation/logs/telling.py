"""A finding and its correction in plain language, for a lay person or an engineer."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from nsrecover.domains.base import Fact, Words
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.domains.household.names import is_slice
from nsrecover.explanation.audience import Audience
from nsrecover.explanation.grammar import capital, counted, listed, the
from nsrecover.explanation.logs.explaining import LogExplanation
from nsrecover.explanation.logs.findings import Finding, RootCause
from nsrecover.explanation.logs.records import Step


def tell(explanation: LogExplanation, audience: Audience = Audience.LAY) -> str:
    """An explanation in words.

    Args:
        explanation: from `nsrecover.explanation.logs.explaining.explain_log`.
        audience: whom it is for.
    """
    finding = explanation.finding
    sentences = [_cause(finding)]
    if audience is Audience.ENGINEER:
        sentences.insert(0, _classified(finding))
        sentences += _subgoal_told(explanation)
        sentences += _way(explanation, lambda steps: ", ".join(map(str, steps)))
    else:
        sentences += _consequence(explanation)
        sentences += _way(explanation, _instructions)
    return " ".join(sentence for sentence in sentences if sentence)


def agrees(text: str, explanation: LogExplanation, known_times: Sequence[str]) -> bool:
    """Whether a text names every object and the first time of a finding, and no time that is not in the log."""
    times = re.findall(r"\b\d+:\d{2}\b", text)
    finding = explanation.finding
    named = all(name in text for name in finding.objects if name)
    return named and (not finding.times or finding.times[0] in text) and set(times) <= set(known_times)


def _classified(finding: Finding) -> str:
    if finding.cause is RootCause.NONE:
        return ""
    what = f"{finding.cause.value}({', '.join(finding.objects)})"
    return f"{capital(finding.kind.value)} failure at {listed(finding.times)}: {what}."


def _subgoal_told(explanation: LogExplanation) -> list[str]:
    if explanation.finding.cause is RootCause.NONE:
        return []
    count = len(explanation.subgoals)
    if explanation.failed is None:
        missing = explanation.finding.unmet
        so = f"; the success condition {_condition(missing)} does not" if missing else ""
        return [f"All {counted(count, 'subgoal')} hold{so}."]
    item = explanation.subgoals[explanation.failed]
    return [
        f"Subgoal {explanation.failed + 1} of {count}, {item.step} at {item.time}, is the first that does not hold: "
        f"{item.why}."
    ]


def _consequence(explanation: LogExplanation) -> list[str]:
    """What failed because of it, if that is another moment."""
    if explanation.failed is None or explanation.finding.cause is RootCause.NONE:
        return []
    item = explanation.subgoals[explanation.failed]
    if item.time in explanation.finding.times:
        return []
    return [f"So at {item.time} it could not {act(item.step)}."]


def _way(explanation: LogExplanation, words: Callable[[Sequence[Step]], str]) -> list[str]:
    if explanation.finding.cause is RootCause.NONE:
        return []
    if explanation.correction is None:
        return ["No way to put this right was found."]
    if not explanation.correction:
        return ["Nothing is left to be done."]
    return [f"To finish the task: {words(explanation.correction)}."]


def _instructions(steps: Sequence[Step]) -> str:
    told = [act(step) for step in steps]
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])}, and finally {told[-1]}"


def thing(name: str) -> str:
    """A thing with its article."""
    return f"a {name}" if is_slice(name) else the(name)


def act(step: Step) -> str:
    """An action in words: `put the pot in the sink`."""
    return _worded(step, past=False)


def _did(step: Step) -> str:
    return _worded(step, past=True)


def _worded(step: Step, past: bool) -> str:
    operator = HOUSEHOLD.operators.get(step.operator)
    if operator is None or len(operator.parameters) != len(step.arguments):
        if step.operator == "move_to" and step.arguments:
            return f"{'went' if past else 'go'} to {thing(step.arguments[0])}"
        return f"{'did' if past else 'do'} {step}"
    roles = (parameter.variable[1:] for parameter in operator.parameters)
    names = dict(zip(roles, map(thing, step.arguments), strict=True))
    return (operator.words.past if past else operator.words.imperative).format(**names)


def _condition(condition: Fact) -> str:
    words = HOUSEHOLD.words.get(condition[0])
    return f"'{words.imperative.format(*condition[1:]) if words else f'{condition[1]} {condition[0]}'}'"


def _be(condition: Fact | None) -> str:
    """A condition as what something has to be."""
    match condition:
        case None:
            return "done"
        case ("at", name, place):
            return f"{thing(name)} would be in or on {the(place)}"
        case ("filled", name, what):
            return f"{thing(name)} would be filled with {what}"
        case ("holding", name):
            return f"the robot would hold {thing(name)}"
        case (state, name):
            words = HOUSEHOLD.words.get(state, Words(f"{{0}} {state}"))
            return words.imperative.format(f"{thing(name)} would be")
    return "it would be so"


def _cause(finding: Finding) -> str:
    """What went wrong, in a sentence or two."""
    time = finding.times[0] if finding.times else ""
    names = [thing(name) for name in finding.objects] + ["it", "it"]
    one, other = names[0], names[1]
    tried = act(finding.step) if finding.step is not None else "go on"
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
            return f"At {time} the robot tried to pick up {one} and came up empty, though nothing was in its way."
        case RootCause.ACTION_FAILED:
            about = (
                f" That was about {listed(names[:-2])}." if not all(name in tried for name in finding.objects) else ""
            )
            return f"At {time} the robot tried to {tried}, and it had no effect.{about}"
        case RootCause.MISPLACED:
            return f"At {time} the robot put {one} in the wrong place: it ended up on {other}."
        case RootCause.CAME_UNDONE:
            from_ = f" in or on {other}" if len(finding.objects) > 1 else ""
            return f"At {time} {one} was no longer as it should be{from_}, though no step of the plan undid that."
        case RootCause.NEVER_OPENED:
            why = f", so the robot could not {tried}" if finding.step else ""
            return f"At {time} {one} was still closed, because the plan never opens it{why}.{_also(finding, 1, tried)}"
        case RootCause.MISSING_STEP:
            return _missing_told(finding, time, names, tried)
        case RootCause.WRONG_ORDER:
            return _order_told(finding, names, tried)
        case RootCause.WRONG_ACTION:
            if len(finding.objects) > 1:
                wrong, needed = listed([act(step) for step in finding.steps]), listed([act(s) for s in finding.missing])
                return f"The plan does the wrong things at {_time_of(finding)}: to {wrong}, instead of to {needed}."
            did = _did(finding.step) if finding.step else "did something else"
            need = f", when the task was to {act(finding.missing[0])}" if finding.missing else ""
            return f"The plan does the wrong thing with {one}: at {_time_of(finding)} the robot {did}{need}."
        case RootCause.WRONG_OBJECT:
            at = listed(finding.times)
            return f"The plan uses the wrong object: at {at} the robot dealt with {other} instead of {one}."
        case RootCause.UNDONE_BY_PLAN:
            did = _did(finding.step) if finding.step else "went on"
            rest = f" That concerns {listed(names[:-2])}." if not all(o in did for o in finding.objects) else ""
            return f"At {time} the robot {did}, and so the plan undid what it had achieved.{rest}"
        case RootCause.ALREADY_FILLED:
            need = f" The plan should first {act(finding.missing[0])}." if finding.missing else ""
            known = f"{capital(one)} was already filled with {finding.liquid}, which the plan does not reckon with."
            return f"{known}{need} The moment for that was {time}."
        case RootCause.ALREADY_RUNNING:
            return f"At {time} the robot could not {tried}, because {one} was already turned on."
        case RootCause.MISTAKEN_OBJECT:
            return f"At {time} the robot mistook {other} for {one}: it was to {tried}, and took {other} instead."
        case RootCause.AMBIGUOUS_NAME:
            came = _reached(finding)
            return f"At {time} the plan does not say which one is meant by {_vague(finding)}: it came to {came}."
        case RootCause.OCCUPIED:
            return f"At {time} the robot could not {tried}: {other} took up the room in {one}."
        case RootCause.BLOCKED:
            return f"At {time} the robot could not {tried}: {other} was in the way of {one}."
        case RootCause.UNKNOWN:
            return f"By {time} {one} was not as it should be, and nothing in the log says why."
    raise AssertionError(finding.cause)


def _also(finding: Finding, start: int, told: str) -> str:
    """Objects that the sentence has not named."""
    rest = [thing(name) for name in finding.objects[start:] if name and name not in told]
    return f" That concerns {listed(rest)}." if rest else ""


def _vague(finding: Finding) -> str:
    """The word of the plan that leaves open what is meant."""
    return the(finding.objects[-1]) if finding.objects else "it"


def _reached(finding: Finding) -> str:
    """The objects that were used."""
    return listed([thing(name) for name in finding.objects[:-1]]) or "another one"


def _time_of(finding: Finding) -> str:
    return listed(finding.times)


def _missing_told(finding: Finding, time: str, names: list[str], tried: str) -> str:
    lacking = listed([act(step) for step in finding.missing]) or "do what is needed"
    text = f"The plan lacks a step: the robot never came to {lacking}, which it should have done before {time}"
    if finding.unmet is not None:
        text += f", so that {_be(finding.unmet)}"
    rest = [name for word, name in zip(finding.objects, names, strict=False) if word and word not in text]
    return text + "." + (f" That concerns {listed(rest)}." if rest else "")


def _order_told(finding: Finding, names: list[str], tried: str) -> str:
    did = _did(finding.earlier) if finding.earlier else "went on"
    first, second = finding.times[0], finding.times[-1]
    if finding.earlier == finding.step or finding.step is None:
        text = f"Two steps are in the wrong order: at {first} the robot was to {tried}, "
        text += f"but what that needs comes only at {second}"
        if finding.missing:
            text += f" ({act(finding.missing[0])})"
    else:
        text = f"Two steps are in the wrong order: at {first} the robot {did}, "
        text += f"too early, for at {second} it still had to {tried}"
    rest = [name for word, name in zip(finding.objects, names, strict=False) if word and word not in text]
    return text + "." + (f" That concerns {listed(rest)}." if rest else "")
