"""Questions about somebody's robot log, answered from what was found in it and from plans without what was done."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nsrecover.domains.base import State
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.domains.household.names import noun, same_stuff
from nsrecover.domains.household.scene import apply, holds, unmet
from nsrecover.explanation.audience import Audience
from nsrecover.explanation.grammar import capital, counted, listed
from nsrecover.explanation.logs.correction import correct
from nsrecover.explanation.logs.explaining import LogExplanation, explain_run
from nsrecover.explanation.logs.records import HouseholdLog, Step
from nsrecover.explanation.logs.run import Run, run_of
from nsrecover.explanation.logs.templates import act, verbalize
from nsrecover.explanation.questions import Answer, asks_what_if, asks_what_was_done, asks_what_went_wrong, asks_why

_VERBS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"(?:pick|picked|take|taken|took|grab|grabbed|get|fetch)(?: up)?", ("pick_up",)),
    (r"(?:toggle|toggled|turn|turned|switch|switched) on", ("toggle_on",)),
    (r"(?:toggle|toggled|turn|turned|switch|switched) off", ("toggle_off",)),
    (r"opened|open", ("open_obj",)),
    (r"closed|close|shut", ("close_obj",)),
    (r"sliced|slice|cut", ("slice_obj",)),
    (r"cracked|crack|broke", ("crack_obj",)),
    (r"poured|pour|emptied", ("pour",)),
    (r"moved|move|put|placed|place|brought|set", ("put_in", "put_on", "pick_up")),
)


def ask_log(log: HouseholdLog, questions: Sequence[str], audience: Audience = Audience.LAY) -> tuple[Answer, ...]:
    """Answer questions about a log; a "what if" that names no action is about that of the question before.

    Args:
        log: from `nsrecover.explanation.logs.format.read_logs`.
        questions: in plain English.
        audience: whom the answers are for.
    """
    run = run_of(log)
    explanation = explain_run(run)
    answers: list[Answer] = []
    about: Step | None = None
    for question in questions:
        step = _step_of(question, _steps(run, explanation))
        about = step or about
        if asks_what_if(question) and about is not None:
            text = _what_if(run, explanation, about)
        elif asks_why(question) and step is not None:
            text = _why(run, explanation, step)
        elif asks_what_went_wrong(question):
            text = verbalize(explanation, audience)
        elif asks_what_was_done(question):
            way = explanation.correction
            text = "No way to put it right was found." if way is None else _told(way)
        else:
            answers.append(Answer(question, _help(run, explanation), understood=False))
            continue
        answers.append(Answer(question, text, objects=about.arguments if about is not None else ()))
    return tuple(answers)


def _steps(run: Run, explanation: LogExplanation) -> list[Step]:
    """What was done, and what is proposed."""
    return list(dict.fromkeys([*(item.step for item in run.subgoals), *(explanation.correction or ())]))


def _step_of(question: str, steps: Sequence[Step]) -> Step | None:
    """The step that a question is about: its verb and as many of its objects as are named."""
    words = question.lower()
    verbs = next((kinds for pattern, kinds in _VERBS if re.search(rf"\b(?:{pattern})\b", words)), None)
    # `turn the faucet on` is `turn on the faucet`.
    switched = re.search(r"\b(?:turn|turned|switch|switched|toggle|toggled) (?:the )?[a-z ]+? (on|off)\b", words)
    if switched:
        verbs = (f"toggle_{switched[1]}",)
    if verbs is None:
        return None

    def fit(step: Step) -> tuple[int, int, int]:
        full = sum(bool(re.search(rf"\b{re.escape(name)}\b", words)) for name in step.arguments)
        loose = sum(bool(re.search(rf"\b{re.escape(noun(name))}\b", words)) for name in step.arguments)
        return full + loose, loose, -verbs.index(step.operator)

    fitting = [step for step in steps if step.operator in verbs and fit(step)[1] > 0]
    return max(fitting, key=fit, default=None)


def _why(run: Run, explanation: LogExplanation, step: Step) -> str:
    number = next((n for n, item in enumerate(run.subgoals) if item.step == step), None)
    if number is None:
        return f"It is part of the way to put things right: {_told(explanation.correction or ())}"
    item = run.subgoals[number]
    tail = "" if item.satisfied else f" It did not work: {item.why}."
    needing = _who_needs(run.before(number), step, [later.step for later in run.subgoals[number + 1 :]], run)
    place = f"That was step {number + 1} of {len(run.subgoals)}, at {item.time}: to {act(step)}."
    if needing is not None:
        later = run.subgoals[number + 1 + needing]
        return f"{place} Without it the robot could not {act(later.step)} at {later.time}.{tail}"
    if any(set(condition[1:]) & set(step.arguments) for condition in run.wanted):
        return f"{place} The task asks for it: {run.log.success_state.rstrip('. ')}.{tail}"
    return f"{place} Nothing later in the plan rests on it.{tail}"


def _who_needs(state: State, step: Step, rest: Sequence[Step], run: Run) -> int | None:
    """The first later step that can be done after a step, and not without it."""
    if step.operator not in HOUSEHOLD.operators:
        return None
    with_it, without = apply(state, step, run.home), state
    for number, later in enumerate(rest):
        if later.operator not in HOUSEHOLD.operators:
            continue
        if not unmet(with_it, later, run.home) and unmet(without, later, run.home):
            return number
        with_it = apply(with_it, later, run.home)
        without = without if unmet(without, later, run.home) else apply(without, later, run.home)
    return None


def _what_if(run: Run, explanation: LogExplanation, step: Step) -> str:
    """Plan again from where the step was taken, or from the end if it is only proposed, without it."""
    number = next((n for n, item in enumerate(run.subgoals) if item.step == step), None)
    start = run.final if number is None else run.before(number)
    done = [item.step for item in run.subgoals]
    forbidden = {step, *(other for other in done if other.operator == step.operator and _alike(other, step))}
    if all(holds(start, condition, run.home) for condition in run.wanted):
        return f"Had the robot not come to {act(step)}, nothing would be missing: the task was done by then."
    way = correct(start, run.wanted, run.home, done, forbidden, run.plan)
    if way is None:
        return f"Had the robot not come to {act(step)}, there would be no way to finish the task."
    return f"Had the robot not come to {act(step)}, {counted(len(way), 'step')} would do instead. {_told(way)}"


def _alike(left: Step, right: Step) -> bool:
    return all(same_stuff(a, b) for a, b in zip(left.arguments, right.arguments, strict=False))


def _told(way: Sequence[Step]) -> str:
    return f"{capital(listed([act(step) for step in way]))}." if way else "Nothing is left to be done."


def _help(run: Run, explanation: LogExplanation) -> str:
    steps = _steps(run, explanation)
    example = act(steps[0]) if steps else "do that"
    return (
        "I did not understand the question. You can ask, for example: what went wrong? what should be done about it? "
        f"why did you {example}? what if you had not? The actions are to {listed([act(step) for step in steps])}."
    )
