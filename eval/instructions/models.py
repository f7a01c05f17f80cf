"""What is understood with a second reader: none, one that errs at random, and a real language model."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import Any

import numpy as np

from eval.instructions.understood import understood_with
from nsrecover.core.completion import Completion, Listener, Prompt
from nsrecover.errors import ModelFailure
from nsrecover.explanation.language_model.explainer import model_at
from nsrecover.instructions.model_reader import ModelReader

_READ = 100
"""Paraphrases that a real language model reads."""


class ErraticModel:
    """A language model that fails, talks nonsense, or chooses among what it may say by chance.

    Args:
        seed: of its errors.
    """

    name = "erratic"

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng([seed, 6])

    def complete(self, prompt: Prompt, *, timeout_s: float, on_text: Listener | None = None) -> Completion:
        """Return an answer that has little to do with the question.

        Raises:
            ModelFailure: now and then.
        """
        fields = prompt.schema["items"]["properties"] if prompt.schema is not None else {}
        drawn = {slot: str(self._rng.choice(of["enum"])) for slot, of in fields.items() if "enum" in of}
        clause = {slot: text for slot, text in drawn.items() if slot == "do" or self._rng.random() < 0.5}
        answer = json.dumps([clause])
        options = (answer, answer, answer, answer, "", "not JSON", answer[:-3], json.dumps({"do": 7}))
        chosen = int(self._rng.integers(len(options) + 1))
        if chosen == len(options):
            raise ModelFailure("no complete answer in time")
        return Completion(options[chosen])


def with_models(half: str, seed: int, llm: str) -> dict[str, Any]:
    """What is understood of a half of the paraphrases without a model, with an erratic one, and with a real one.

    Args:
        half: of the paraphrases.
        seed: of the erratic model.
        llm: address of an endpoint, or `local`; empty for no real model.
    """
    readers: dict[str, ModelReader | None] = {"none": None, "erratic": ModelReader(ErraticModel(seed))}
    with model_at(llm) if llm else nullcontext() as model:
        if model is None:
            return understood_with(half, readers)
        return understood_with(half, readers) | understood_with(half, {model.name: ModelReader(model)}, _READ)
