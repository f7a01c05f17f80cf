"""Explained logs reworded by a language model."""

from __future__ import annotations

from typing import Any

from nsrecover.core.explanation import Fact, Sentence
from nsrecover.core.prompts import Listener
from nsrecover.core.protocols import LanguageModel
from nsrecover.explanation.audience import Audience
from nsrecover.explanation.language_model.judge import judge_of
from nsrecover.explanation.language_model.prompting import StructuredPrompt
from nsrecover.explanation.language_model.rewording import reword
from nsrecover.explanation.language_model.rewording_task import RewordingTask
from nsrecover.explanation.language_model.vocabulary import RewordingVocabulary, sentences_of
from nsrecover.logs.explaining import LogExplanation
from nsrecover.logs.templates import verbalize
from nsrecover.logs.trace import FactTrace

_INSTRUCTED = "to finish the task"


def reworded(
    log: FactTrace,
    explanation: LogExplanation,
    audience: Audience,
    model: LanguageModel,
    timeout_s: float,
    strategy: StructuredPrompt | None = None,
    on_text: Listener | None = None,
) -> dict[str, Any]:
    """The text of an explained log as reworded by a language model, to replace that in `report_of`.

    Args:
        log: the log.
        explanation: of that log.
        audience: whom the text is for.
        model: the language model.
        timeout_s: for all its answers together.
        strategy: how it is prompted; `StructuredPrompt()` if None.
        on_text: receives the answers piece by piece, before they are verified.

    Returns:
        `text`, `source` (the model's name, or `grounded` if no sentence is the model's), `note` (why a sentence of the
        model was not used; empty if all were), `sentences` (each with its source) and `tokens` (of prompts and answers,
        as far as known).
    """
    case = household_case(log, explanation, audience)
    result = reword(case, model, strategy or StructuredPrompt(), timeout_s, on_text)
    return {
        "text": " ".join(sentence.text for sentence in result.sentences),
        "source": model.name if result.used else "grounded",
        "note": result.note,
        "sentences": [{"text": sentence.text, "source": sentence.source} for sentence in result.sentences],
        "tokens": {
            "prompt": sum(answer.prompt_tokens or 0 for answer in result.answers),
            "completion": sum(answer.completion_tokens or 0 for answer in result.answers),
        },
    }


def household_case(log: FactTrace, explanation: LogExplanation, audience: Audience = Audience.LAY) -> RewordingTask:
    """The task to reword an explained log.

    Args:
        log: the log.
        explanation: of that log.
        audience: whom the text is for.
    """
    finding = explanation.finding
    steps = [*(explanation.correction or ()), *log.plan, *finding.missing]
    names = dict.fromkeys((*log.objects, *finding.objects, *(name for step in steps for name in step.arguments)))
    vocabulary = RewordingVocabulary(tuple(name for name in names if name))
    facts = (Fact(finding.cause.value, finding.objects), *(Fact("at", (time,)) for time in finding.times))
    way = tuple(Fact("then", (str(step),)) for step in explanation.correction or ())
    sentences = [
        Sentence(text, way if text.lower().startswith(_INSTRUCTED) and way else facts)
        for text in sentences_of(verbalize(explanation, audience), vocabulary)
    ]
    return RewordingTask(tuple(sentences), judge_of(sentences, vocabulary.names), vocabulary.names)
