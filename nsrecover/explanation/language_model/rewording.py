"""Reword with a language model, verify, retry once, fall back to templates."""

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
    """A refused sentence.

    Attributes:
        text: the sentence of the model.
        reason: why it was refused.
        question: number of the request that it answers, 0 or 1.
    """

    text: str
    reason: str
    question: int


@dataclass(frozen=True)
class Reworded:
    """A reworded explanation and how it was obtained.

    Attributes:
        sentences: verified sentences; `source` names their author.
        note: why not every sentence comes from the model; empty if all do.
        answers: the answers of the model, at most two.
        candidates: number of sentences in them.
        refused: the refused sentences.
    """

    sentences: tuple[Sentence, ...]
    note: str
    answers: tuple[Completion, ...]
    candidates: int
    refused: tuple[Refusal, ...]

    @property
    def used(self) -> int:
        """Number of sentences that come from the model."""
        return sum(sentence.source != "grounded" for sentence in self.sentences)


def reword(
    task: RewordingTask,
    model: LanguageModel,
    strategy: PromptStrategy,
    timeout_s: float,
    on_text: Listener | None = None,
) -> Reworded:
    """Let a language model reword an explanation, and verify every sentence.

    Points that no accepted sentence covers are requested once more, with the reasons for the refusals. Points that are
    still open are covered by the grounded sentences.

    Args:
        task: the explanation to reword.
        model: the language model.
        strategy: how to prompt it.
        timeout_s: time limit for both requests together, seconds.
        on_text: receives the answers piece by piece, unverified.
    """
    deadline = time.monotonic() + timeout_s
    kept, refused, answers, offered, problem = list[_Kept](), list[Refusal](), list[Completion](), 0, ""
    needs = [task.judge(sentence.text).points for sentence in task.grounded]
    for question in range(2):
        said = frozenset[str]().union(*(each.points for each in kept))
        open_points = [number for number, points in enumerate(needs) if not points or not points <= said]
        reasons = [(each.text, each.reason) for each in refused]
        asked = strategy.asked(open_points)
        if not asked or (question and not reasons and not problem):
            break
        try:
            prompt = strategy.prompt(task, asked, reasons)
            answer = model.complete(prompt, timeout_s=deadline - time.monotonic(), on_text=on_text)
            answers.append(answer)
            candidates = strategy.candidates(task, asked, answer.text)
            problem = ""
        except ModelFailure as failure:
            problem = str(failure)
            # An unreadable answer may be readable the second time; a missing answer will not arrive then.
            if answers and len(answers) == question + 1:
                refused.append(Refusal(answers[-1].text[:200], problem, question))
                continue
            break
        offered += len(candidates)
        for candidate in candidates:
            verdict = _judged(task, candidate)
            if isinstance(verdict, str):
                refused.append(Refusal(candidate.text, verdict, question))
            elif verdict - said:
                kept.append(_Kept(candidate.text, verdict))
                said |= verdict
    sentences = _composed(task, needs, kept, model.name)
    return Reworded(sentences, _note(sentences, problem, refused), tuple(answers), offered, tuple(refused))


@dataclass(frozen=True)
class _Kept:
    text: str
    points: frozenset[str]


def _judged(task: RewordingTask, candidate: Candidate) -> frozenset[str] | str:
    """Return the points that a candidate covers, or the reason why it is refused."""
    if candidate.problem:
        return candidate.problem
    verdict = task.judge(candidate.text)
    return verdict.points if verdict.accepted else verdict.reason


def _composed(
    task: RewordingTask, needs: Sequence[frozenset[str]], kept: Sequence[_Kept], source: str
) -> tuple[Sentence, ...]:
    """Return the sentences of the model in the order of the grounded ones, and grounded ones for the open points."""
    said = frozenset[str]().union(*(each.points for each in kept))
    # Each goes to the place of the grounded sentence that it covers best.
    places = [
        max(range(len(needs)), key=lambda number: len(needs[number] & each.points) / max(1, len(needs[number])))
        for each in kept
    ]
    sentences = list[Sentence]()
    for number, (grounded, points) in enumerate(zip(task.grounded, needs, strict=True)):
        here = [each for each, at in zip(kept, places, strict=True) if at == number]
        for each in here:
            facts = [
                fact
                for sentence, of in zip(task.grounded, needs, strict=True)
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
