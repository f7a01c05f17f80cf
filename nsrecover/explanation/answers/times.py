"""The part of a run that a question is about: a time bound cuts the run, and each answer is that of what is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from nsrecover.core.episode import Fate
from nsrecover.explanation.answers.events import happenings_of, matching
from nsrecover.explanation.answers.numbering import Turn
from nsrecover.explanation.answers.run import AskedRun
from nsrecover.language.questions import Bound, Proposition, When

SCENES = ("where", "state", "hold", "see", "seen", "layout", "right", "standing", "hazard", "about")
"""Predicates of one scene; the others are of what was done and happened in a time."""
COVERED = (*SCENES, "act", "happen", "wrong", "done", "do", "took", "cost", "recovered", "repeated", "looked",
           "noticed", "plan", "skipped", "sought", "helped", "stopped", "think")  # fmt: skip
"""Predicates that can be asked of a time."""
NO_TIME = "The records of this run have no such time: {}"


def within(run: AskedRun, said: Proposition, worked: bool = True) -> AskedRun | str:
    """The part of a run that a proposition is about, or why there is none.

    Of several actions of a kind the first that worked counts, or the first one (`worked`). Of a scene, it ends with
    the scene that is asked about; the time of a step or event is the scene after it.
    """
    for bound in said.times:
        if bound.when in (When.FIRST, When.LAST, When.END) or bound.step < -1:
            run = replace(run, cut=run.cut or (bound.when is When.END and said.predicate in SCENES))
            continue
        found = (0, 0) if bound.when is When.START else _span(run, bound, worked)
        if isinstance(found, str):
            return NO_TIME.format(found)
        first, behind = found
        if said.predicate in SCENES:
            first, behind = 0, first if bound.when in (When.BEFORE, When.START) else behind
        elif bound.when is not When.AT:
            first, behind = (behind, len(run.every)) if bound.when is When.AFTER else (0, first)
        run = replace(run, every=run.every[first:behind], before=run.scenes[first], cut=True)
    return run


def _span(run: AskedRun, bound: Bound, worked: bool) -> tuple[int, int] | str:
    """Number of the first turn of a step or event, and of the one behind its last turn."""
    if bound.event is not None:
        return _event_span(run, bound.event, worked and bound.when is not When.AT and not bound.event.times)
    steps, number = len(run.episode.plan), bound.step
    number = steps if number == -1 else number
    if number > steps:
        return f"its plan has {steps} steps."
    found = [i for i, turn in enumerate(run.every) if turn.step == number]
    if not found:
        return f"{run.phrasing.step(number)} of the plan was not executed."
    return found[0], found[-1] + 1


def _event_span(run: AskedRun, event: Proposition, worked: bool) -> tuple[int, int] | str:
    """As above, of the first event of its kind; of an action, if wanted, rather the first that worked."""
    found = _turns_of(run, event, worked)
    if found is None:
        return "I cannot find what it refers to."
    at = [i for i, turn in enumerate(run.every) if turn in found]
    if not at:
        return "what it refers to was not noticed." if event.predicate != "act" else "I did nothing of that kind."
    if event.times and event.times[0].step > len(at):
        return "there were not so many."
    first = at[event.times[0].step - (event.times[0].step > 0)] if event.times else at[0]
    return first, (at[-1] if event.predicate == "recovered" and not event.times else first) + 1


def _turns_of(run: AskedRun, event: Proposition, worked: bool) -> Sequence[Turn] | None:
    """The turns of what was done or happened; None if an event of that kind has no time."""
    done = matching(run, event) if event.predicate == "act" else []
    kinds: dict[str, Callable[[], Sequence[Turn]]] = {
        "act": lambda: [each.turn for each in done if each.worked or not worked] or [each.turn for each in done],
        "happen": lambda: [each.turn for each in happenings_of(run, event)],
        "wrong": lambda: run.errors,
        "noticed": lambda: run.errors,
        "recovered": lambda: [each for each in run.every if each.record.recovering],
        "vetoed": lambda: [each for each in run.every if each.record.vetoed or each.record.fate is Fate.VETOED],
        "helped": lambda: [each for each in run.every if each.by_hand],
        "stopped": lambda: run.every[-1:],
        "done": lambda: run.every[-1:],
    }
    kind = kinds.get(event.predicate)
    return None if kind is None or event.negated or event.unknown else kind()
