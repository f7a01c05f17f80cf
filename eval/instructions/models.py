"""What is understood with language models that propose other words: none, one that errs at random, and a real one."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from eval.instructions.generator import Generator
from eval.instructions.understood import understood_with
from nsrecover.core.completion import Completion, Listener, Prompt
from nsrecover.domains.service.home_file import load_home
from nsrecover.errors import ModelFailure
from nsrecover.explanation.language_model.explainer import model_at
from nsrecover.instructions.rephrasing import Rephraser
from nsrecover.instructions.understanding import Understanding


class ErraticModel:
    """A language model that fails, talks nonsense, or gives another command, each by chance.

    Args:
        seed: of its errors.
    """

    name = "erratic"

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng([seed, 6])
        self._commands = Generator(load_home("apartment"), seed)

    def complete(self, prompt: Prompt, *, timeout_s: float, on_text: Listener | None = None) -> Completion:
        """Return an answer that has little to do with the question.

        Raises:
            ModelFailure: now and then.
        """
        command = json.dumps({"command": self._commands.command().text})
        words = prompt.user.split()
        shuffled = json.dumps({"command": " ".join(self._rng.permutation(words))})
        options = ("", "not JSON", command, command[:-3], shuffled, json.dumps({"command": 7}), json.dumps([command]))
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
    understanding = Understanding(load_home("apartment"))
    with model_at(llm) if llm else nullcontext() as model:
        proposals: dict[str, Callable[[str], str | None]] = {
            "none": lambda sentence: None,
            "erratic": Rephraser(ErraticModel(seed), understanding).proposal,
        }
        if model is not None:
            proposals[model.name] = Rephraser(model, understanding).proposal
        return understood_with(half, proposals)
