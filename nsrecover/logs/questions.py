"""Answers to questions about a log: reasons from later steps, and plans without an executed step."""

from __future__ import annotations

from collections.abc import Sequence

from nsrecover.core.actions import Action
from nsrecover.domains.household.names import noun, same_stuff
from nsrecover.explanation.answers.questions import QuestionAnswer
from nsrecover.explanation.audience import Audience
from nsrecover.language.questions import GENERIC, Gap, Proposition, read_question
from nsrecover.logs.correction import correct
from nsrecover.logs.explaining import LogExplanation, explain_run
from nsrecover.logs.findings import Checked
from nsrecover.logs.run import LogRun, run_of
from nsrecover.logs.templates import act, verbalize
from nsrecover.logs.trace import FactTrace
from nsrecover.util.english import capital, counted, listed


def ask_log(log: FactTrace, questions: Sequence[str], audience: Audience = Audience.LAY) -> tuple[QuestionAnswer, ...]:
    """Answer questions about a log; a "what if" that names no action is about that of the question before.

    Args:
        log: from `nsrecover.logs.read_logs`.
        questions: in plain English.
        audience: whom the answers are for.
    """
    run = run_of(log)
    explanation = explain_run(run)
    answers: list[QuestionAnswer] = []
    about: Action | None = None
    steps = _steps(run, explanation)
    names = tuple(dict.fromkeys(name for each in steps for name in (*each.arguments, *map(noun, each.arguments))))
    for question in questions:
        asked = next(iter(read_question(question, names, log.scene.domain)), None)
        gap, said = (None, Proposition("")) if asked is None else (asked.gap, asked.said)
        step = _step_of(said, steps)
        about = step or about
        if gap is Gap.IF and about is not None:
            text = _what_if(run, about)
        elif gap is Gap.WHY and step is not None:
            text = _why(run, explanation, step)
        elif said.predicate == "wrong":
            text = verbalize(explanation, audience)
        elif said.predicate in ("recovered", "needs"):
            way = explanation.correction
            text = "No way to put it right was found." if way is None else _way_text(way)
        else:
            answers.append(QuestionAnswer(question, _help(run, explanation), understood=False))
            continue
        answers.append(QuestionAnswer(question, text, objects=about.arguments if about is not None else ()))
    return tuple(answers)


def _steps(run: LogRun, explanation: LogExplanation) -> list[Action]:
    """The executed and the proposed steps."""
    return list(dict.fromkeys([*run.steps, *(explanation.correction or ())]))


def _step_of(said: Proposition, steps: Sequence[Action]) -> Action | None:
    """The step that a question is about: its verb and as many of its objects as are named."""
    if said.predicate != "act":
        return None
    named = (*said.names, *said.place[1:])

    def fit(step: Action) -> tuple[int, int, int]:
        full = sum(name in step.arguments for name in named)
        loose = sum(any(noun(own) == noun(name) for own in step.arguments) for name in named)
        order = said.value.index(step.operator) if step.operator in said.value else len(said.value)
        return full + loose, loose, -order

    fitting = [step for step in steps if (step.operator in said.value or GENERIC in said.value) and fit(step)[1] > 0]
    return max(fitting, key=fit, default=None)


def _why(run: LogRun, explanation: LogExplanation, step: Action) -> str:
    if step not in run.steps:
        return f"It is part of the way to put things right: {_way_text(explanation.correction or ())}"
    number = run.steps.index(step)
    item = run.subgoals[number]
    tail = "" if item.satisfied else f" It did not work: {item.why}."
    place = f"That was step {number + 1} of {len(run.subgoals)}, at {item.time}: to {act(step)}."
    needing = _first_needing(run, number)
    if needing is not None:
        return f"{place} Without it the robot could not {act(needing.step)} at {needing.time}.{tail}"
    if any(set(condition[1:]) & set(step.arguments) for condition in run.wanted):
        return f"{place} The task asks for it: {run.log.goal_text.rstrip('. ')}.{tail}"
    return f"{place} Nothing later in the plan rests on it.{tail}"


def _first_needing(run: LogRun, number: int) -> Checked | None:
    """The first later subgoal whose step can be executed after a step, and not without it."""
    without, simulate = run.before(number), run.believer
    if run.scene.opaque(run.steps[number]):
        return None
    after = simulate.after(without, run.steps[number])
    for item in run.subgoals[number + 1 :]:
        if not run.scene.opaque(item.step):
            prevented = bool(simulate.unmet(without, item.step))
            if prevented and not simulate.unmet(after, item.step):
                return item
            after = simulate.after(after, item.step)
            without = without if prevented else simulate.after(without, item.step)
    return None


def _what_if(run: LogRun, step: Action) -> str:
    """Plan again without a step, from where it was taken, or from the end if it is only proposed."""
    had_not = f"Had the robot not come to {act(step)},"
    start = run.before(run.steps.index(step)) if step in run.steps else run.final
    if all(run.scene.holds(start, condition) for condition in run.wanted):
        return f"{had_not} nothing would be missing: the task was done by then."
    forbidden = {step, *(other for other in run.steps if _alike(other, step))}
    way = correct(start, run.wanted, run.home, run.steps, forbidden)
    if way is None:
        return f"{had_not} there would be no way to finish the task."
    return f"{had_not} {counted(len(way), 'step')} would do instead. {_way_text(way)}"


def _alike(one: Action, other: Action) -> bool:
    """Whether two steps are the same action, with slices for what they were cut from and ordinals left out."""
    return one.operator == other.operator and all(map(same_stuff, one.arguments, other.arguments))


def _way_text(way: Sequence[Action]) -> str:
    return f"{capital(listed(list(map(act, way))))}." if way else "Nothing is left to be done."


def _help(run: LogRun, explanation: LogExplanation) -> str:
    actions = list(map(act, _steps(run, explanation)))
    example = next(iter(actions), "do that")
    return (
        "I did not understand the question. You can ask, for example: what went wrong? what should be done about it? "
        f"why did you {example}? what if you had not? The actions are to {listed(actions)}."
    )
