"""Answers to questions of viewers about a run that goes on."""

from __future__ import annotations

from collections.abc import Sequence

from nsrecover.core.episode import Episode
from nsrecover.core.facts import FactScene
from nsrecover.explanation.answers.numbering import turns
from nsrecover.explanation.answers.questions import ask, asks_what_if, asks_what_was_done, asks_why
from nsrecover.explanation.answers.run_questions import about_the_run
from nsrecover.explanation.answers.what_if import what_if
from nsrecover.explanation.audience import Audience, Phrasing
from nsrecover.monitoring.watching import FactWatching
from nsrecover.reports.answers import answers_of
from nsrecover.reports.build import moments_of
from nsrecover.reports.wording import Wording

WRONG, DONE = "What went wrong?", "What did you do about it?"


def answered(episode: Episode, questions: Sequence[str], words: Wording, symbolic: FactWatching | None) -> str:
    """The answer to the last of several questions; the earlier ones say what "it" is.

    Args:
        episode: the run so far.
        questions: in plain English.
        words: how the domain is put into words.
        symbolic: the system of a symbolic domain; None for boxes.
    """
    if symbolic is None:
        return ask(episode, questions)[-1].text
    question = questions[-1]
    if asks_what_if(question):
        return what_if(episode, question, symbolic.instance, symbolic.rules.goal)
    answers = answers_of(episode, moments_of(episode, words), words, None)
    said = {each.key: " ".join(line.text for line in each.lines) for each in answers}
    if asks_why(question):
        return said["why"]
    run = about_the_run(episode, tuple(turns(episode)), question, Phrasing(Audience.LAY, words.domain))
    if run is not None:
        return run
    return said["done"] if asks_what_was_done(question) else f"{said['what']} {said['when']}"


def suggested(episode: Episode) -> tuple[str, ...]:
    """Questions that suit a run."""
    wrong = [record for record in episode.records if record.discrepancy.deviates]
    if not wrong:
        return (WRONG,)
    last = wrong[-1]
    if isinstance(episode.start, FactScene):
        return (WRONG, "Why?", DONE, "What if you had not done that?")
    moved = [action.arguments[0] for action in (last.recovery.actions if last.recovery else ())]
    about = [(f"Why did you move the {name}?", f"What if you had not moved the {name}?") for name in moved[:1]]
    return (WRONG, *(each for pair in about for each in pair), DONE)
