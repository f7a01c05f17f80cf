"""Answers to questions of viewers about a run that goes on."""

from __future__ import annotations

from collections.abc import Sequence

from nsrecover.core.episode import Episode
from nsrecover.core.facts import FactScene
from nsrecover.explanation.answers.questions import ask
from nsrecover.monitoring.fact_belief import FactModel
from nsrecover.serving.reports.wording import Wording

WRONG, DONE = "What went wrong?", "What did you do about it?"


def answered(
    episode: Episode, questions: Sequence[str], words: Wording, symbolic: FactModel | None, waits_for: str = ""
) -> str:
    """The answer to the last of several questions; the earlier ones say what "it" is.

    Args:
        episode: the run so far.
        questions: in plain English.
        words: how the domain is put into words.
        symbolic: the system of a symbolic domain; None for boxes.
        waits_for: what a person is asked now.
    """
    return ask(episode, questions, domain=words.domain, waits_for=waits_for, supposing=symbolic)[-1].text


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
