"""What is asked of a language model, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Listener = Callable[[str], None]
"""Called with every piece of an answer as it arrives."""


@dataclass(frozen=True)
class Prompt:
    """A question to a language model.

    Attributes:
        system: what it is to do.
        user: the question.
        schema: JSON schema that the answer has to meet; None for free text.
        max_tokens: the answer is cut off after so many.
    """

    system: str
    user: str
    schema: Mapping[str, Any] | None = field(default=None, hash=False)
    max_tokens: int = 512


@dataclass(frozen=True)
class Completion:
    """An answer of a language model.

    Attributes:
        text: what it says.
        prompt_tokens: length of the question, as the endpoint counts; None if it does not say.
        completion_tokens: length of the answer, likewise.
        seconds: from asking to the last piece.
        attempts: how many times it was asked until it answered.
        cost: in the currency of the endpoint's prices; None if tokens or prices are not known.
        truncated: whether it was cut off at `max_tokens`.
    """

    text: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0
    attempts: int = 1
    cost: float | None = None
    truncated: bool = False
