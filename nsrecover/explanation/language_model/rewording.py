"""Reword with a language model, verify, retry once, fall back to templates."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from nsrecover.core.explanation import Sentence
from nsrecover.core.prompts import Completion, Listener
from nsrecover.core.protocols import LanguageModel
from nsrecover.errors import ModelFailure
from nsrecover.explanation.language_model.judge import Judgement
from nsrecover.explanation.language_model.prompting import StructuredPrompt
from nsrecover.explanation.language_model.rewording_task import RewordingTask


@dataclass(frozen=True)
class RewordingRefusal:
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
    refused: tuple[RewordingRefusal, ...]

    @property
    def used(self) -> int:
        """Number of sentences that come from the model."""
        return sum(sentence.source != "grounded" for sentence in self.sentences)


def reword(
    task: RewordingTask,
    model: LanguageModel,
    strategy: StructuredPrompt,
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
    kept, refused, answers, offered, problem = (
        dict[str, frozenset[str]](),
        list[RewordingRefusal](),
        list[Completion](),
        0,
        "",
    )
    needs = [task.judge(sentence.text).points for sentence in task.grounded]
    for question in range(2):
        said = frozenset[str]().union(*kept.values())
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
                refused.append(RewordingRefusal(answers[-1].text[:200], problem, question))
                continue
            break
        offered += len(candidates)
        for candidate in candidates:
            judged = Judgement(candidate.problem) if candidate.problem else task.judge(candidate.text)
            if not judged.accepted:
                refused.append(RewordingRefusal(candidate.text, judged.reason, question))
            elif judged.points - said:
                kept[candidate.text] = judged.points
                said |= judged.points
    sentences = _composed(task, needs, kept, model.name)
    return Reworded(sentences, _note(sentences, problem, refused), tuple(answers), offered, tuple(refused))


def _composed(
    task: RewordingTask, needs: Sequence[frozenset[str]], kept: Mapping[str, frozenset[str]], source: str
) -> tuple[Sentence, ...]:
    """Return the sentences of the model in the order of the grounded ones, and grounded ones for the open points.

    Args:
        task: the explanation.
        needs: points of each grounded sentence.
        kept: accepted sentence of the model -> its points.
        source: name of the model.
    """
    said = frozenset[str]().union(*kept.values())
    reworded: list[list[Sentence]] = [[] for _ in needs]
    for text, points in kept.items():
        covered = [grounded.facts for grounded, of in zip(task.grounded, needs, strict=True) if of & points]
        # It goes to the place of the grounded sentence that it covers best.
        place = max(range(len(needs)), key=lambda n: len(needs[n] & points) / max(1, len(needs[n])))
        reworded[place].append(Sentence(_tidy(text), tuple(dict.fromkeys(chain(*covered))), source))
    sentences = list[Sentence]()
    for grounded, points, own in zip(task.grounded, needs, reworded, strict=True):
        sentences += own if points and points <= said else [*own, grounded]
    return tuple(sentences)


def _tidy(text: str) -> str:
    text = " ".join(text.replace("*", "").replace("`", "").split())
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!")) else f"{text}."


def _note(sentences: Sequence[Sentence], problem: str, refused: Sequence[RewordingRefusal]) -> str:
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
