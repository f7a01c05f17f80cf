"""From a case and a language model to sentences that are so: ask, judge, ask once more, fill up from the facts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from nsrecover.core.completion import Completion, Listener
from nsrecover.core.explanation import Sentence
from nsrecover.core.protocols import LanguageModel
from nsrecover.errors import ModelFailure
from nsrecover.explanation.language_model.prompting import Candidate, PromptStrategy
from nsrecover.explanation.language_model.rewording_task import RewordingTask


@dataclass(frozen=True)
class Refusal:
    """A sentence that was not let through.

    Attributes:
        text: what the model said.
        reason: why it was refused.
        question: in answer to the first or second question (0 or 1).
    """

    text: str
    reason: str
    question: int


@dataclass(frozen=True)
class Reworded:
    """An explanation, and how it came about.

    Attributes:
        sentences: each is so; `source` says who worded it.
        note: why not everything is worded by the model; empty if it is.
        answers: the model's, at most two.
        candidates: how many sentences the model offered.
        refused: those that were not let through.
    """

    sentences: tuple[Sentence, ...]
    note: str
    answers: tuple[Completion, ...]
    candidates: int
    refused: tuple[Refusal, ...]

    @property
    def used(self) -> int:
        """Sentences that are the model's."""
        return sum(sentence.source != "grounded" for sentence in self.sentences)


def reword(
    case: RewordingTask,
    model: LanguageModel,
    strategy: PromptStrategy,
    timeout_s: float,
    on_text: Listener | None = None,
) -> Reworded:
    """Have a language model word a failure.

    Every sentence it returns is judged. For what is not said then it is asked once more, with the reasons of refusal,
    and what is still not said is told in the grounded sentences.

    Args:
        case: what is to be explained.
        model: who words it.
        strategy: how it is asked.
        timeout_s: for all questions together.
        on_text: gets answers piece by piece, unjudged.
    """
    deadline = time.monotonic() + timeout_s
    kept, refused, answers, offered, problem = list[_Kept](), list[Refusal](), list[Completion](), 0, ""
    needs = [case.judge(sentence.text).points for sentence in case.grounded]
    for question in range(2):
        said = frozenset[str]().union(*(each.points for each in kept))
        open_points = [number for number, points in enumerate(needs) if not points or not points <= said]
        reasons = [(each.text, each.reason) for each in refused]
        asked = strategy.asked(open_points)
        if not asked or (question and not reasons and not problem):
            break
        try:
            prompt = strategy.prompt(case, asked, reasons)
            answer = model.complete(prompt, timeout_s=deadline - time.monotonic(), on_text=on_text)
            answers.append(answer)
            candidates = strategy.candidates(case, asked, answer.text)
            problem = ""
        except ModelFailure as failure:
            problem = str(failure)
            # What could not be read may be readable the second time; what did not come will not come at once.
            if answers and len(answers) == question + 1:
                refused.append(Refusal(answers[-1].text[:200], problem, question))
                continue
            break
        offered += len(candidates)
        for candidate in candidates:
            verdict = _judged(case, candidate)
            if isinstance(verdict, str):
                refused.append(Refusal(candidate.text, verdict, question))
            elif verdict - said:
                kept.append(_Kept(candidate.text, verdict))
                said |= verdict
    sentences = _composed(case, needs, kept, model.name)
    return Reworded(sentences, _note(sentences, problem, refused), tuple(answers), offered, tuple(refused))


@dataclass(frozen=True)
class _Kept:
    text: str
    points: frozenset[str]


def _judged(case: RewordingTask, candidate: Candidate) -> frozenset[str] | str:
    """What a candidate says of what has to be said, or why it is refused."""
    if candidate.problem:
        return candidate.problem
    verdict = case.judge(candidate.text)
    return verdict.points if verdict.accepted else verdict.reason


def _composed(
    case: RewordingTask, needs: Sequence[frozenset[str]], kept: Sequence[_Kept], source: str
) -> tuple[Sentence, ...]:
    """The model's sentences where the grounded ones would say the same, and the grounded ones for the rest."""
    said = frozenset[str]().union(*(each.points for each in kept))
    # Where the grounded sentence stands that says the same, not where one only touches on it.
    places = [
        max(range(len(needs)), key=lambda number: len(needs[number] & each.points) / max(1, len(needs[number])))
        for each in kept
    ]
    sentences = list[Sentence]()
    for number, (grounded, points) in enumerate(zip(case.grounded, needs, strict=True)):
        here = [each for each, at in zip(kept, places, strict=True) if at == number]
        for each in here:
            facts = [
                fact
                for sentence, of in zip(case.grounded, needs, strict=True)
                if of & each.points
                for fact in sentence.facts
            ]
            sentences.append(Sentence(_tidy(each.text), tuple(dict.fromkeys(facts)), source))
        if not points or not points <= said:
            sentences.append(grounded)
    return tuple(sentences)


def _tidy(text: str) -> str:
    text = " ".join(text.replace("*", "").replace("`", "").split())
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!")) else f"{text}."


def _note(sentences: Sequence[Sentence], problem: str, refused: Sequence[Refusal]) -> str:
    own = sum(sentence.source == "grounded" for sentence in sentences)
    if not own:
        return ""
    which = "all" if own == len(sentences) else f"{own} of {len(sentences)}"
    if problem:
        return f"{which} sentences are made from the facts: {problem}"
    if refused:
        return (
            f"{which} sentences are made from the facts: what the model said instead was refused ({refused[-1].reason})"
        )
    return f"{which} sentences are made from the facts: the model left them out"
