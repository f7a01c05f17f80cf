"""Prompts for a language model, and its completions."""

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
        system: the instructions.
        user: the question.
        schema: JSON schema of the answer; None for free text.
        max_tokens: largest length of the answer.
    """

    system: str
    user: str
    schema: Mapping[str, Any] | None = field(default=None, hash=False)
    max_tokens: int = 512


@dataclass(frozen=True)
class Completion:
    """An answer of a language model.

    Attributes:
        text: the answer.
        prompt_tokens: length of the question, counted by the endpoint; None if it is not reported.
        completion_tokens: length of the answer, likewise.
        seconds: time from the request to the last piece.
        attempts: number of requests until there was an answer.
        cost: in the currency of the endpoint's prices; None if tokens or prices are not known.
        truncated: whether the answer was cut off at `max_tokens`.
    """

    text: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0
    attempts: int = 1
    cost: float | None = None
    truncated: bool = False
