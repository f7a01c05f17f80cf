"""An explained log in the words of a language model, as far as they are so."""

from __future__ import annotations

from typing import Any

from nsrecover.core.completion import Listener
from nsrecover.core.protocols import LanguageModel
from nsrecover.explanation.audience import Audience
from nsrecover.explanation.language_model.prompting import PromptStrategy, StructuredPrompt
from nsrecover.explanation.language_model.rewording import reword
from nsrecover.explanation.logs.explaining import LogExplanation
from nsrecover.explanation.logs.judging import household_case
from nsrecover.explanation.logs.records import HouseholdLog


def reworded(
    log: HouseholdLog,
    explanation: LogExplanation,
    audience: Audience,
    model: LanguageModel,
    timeout_s: float,
    strategy: PromptStrategy | None = None,
    on_text: Listener | None = None,
) -> dict[str, Any]:
    """What a language model makes of an explained log, to replace that in `report_of`.

    Args:
        log: the log.
        explanation: of that log.
        audience: whom the text is for.
        model: who words it.
        timeout_s: for all questions to it.
        strategy: how it is asked; `StructuredPrompt()` if None.
        on_text: gets its answers piece by piece, unjudged.

    Returns:
        `text`, `source` (the model's name, or `grounded` if nothing of it is the model's), `note` (why not everything
        is; empty if it is), `sentences` (each with its source) and `tokens` (asked and answered, as far as known).
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
