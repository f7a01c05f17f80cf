"""People who give commands, and err: they misspell, contradict themselves, say nothing or something else."""

from __future__ import annotations

import numpy as np

from eval.instructions.generator import Generator
from nsrecover.domains.service.home import Home

ANSWERS = (
    "", "", "yes", "no", "I do not know", "no, I meant the {place}", "the {place}", "the {thing}", "a {thing}, please",
    "no, the {thing} instead", "what?", "forget it", "yes and no", "\u00e4h \u2026", "stop", "{place} {place} {place}",
    "x" * 300, "the other one", "wrong", "not the {place}, the {place}", "bring me the {thing} from the {place}",
)  # fmt: skip
"""Answers to questions, and to whether it was what the person wanted."""

TRIMMED = 0.15
MISSPELT = 0.3
JOINED = 0.15
"""How often a command is cut off, is misspelt, or is followed by another one that may contradict it."""


class ErringPerson:
    """A person who answers at random.

    Args:
        home: where the person is.
        rng: decides.
    """

    def __init__(self, home: Home, rng: np.random.Generator) -> None:
        self._generator, self._rng = Generator(home, int(rng.integers(1_000_000))), rng

    def command(self) -> str:
        """A command, with errors in some."""
        text = self._generator.command().text
        if self._rng.random() < JOINED:
            joint = str(self._rng.choice([" and then ", ", no wait, ", " but first ", ". "]))
            text = f"{text}{joint}{self._generator.command().text}"
        if self._rng.random() < TRIMMED:
            text = text[: int(self._rng.integers(len(text)))]
        if self._rng.random() < MISSPELT:
            text = self._misspelt(text)
        return text

    def tell(self, text: str) -> None:
        """Hear what the robot says."""

    def ask(self, question: str) -> str:
        """Any answer."""
        answer = str(self._rng.choice(ANSWERS))
        return answer.format(place=self._one_of(self._generator.spots), thing=self._one_of(self._generator.nouns))

    def _one_of(self, names: list[str]) -> str:
        return names[int(self._rng.integers(len(names)))]

    def _misspelt(self, text: str) -> str:
        """With one to three characters doubled, left out, exchanged or replaced."""
        letters = list(text)
        for _ in range(int(self._rng.integers(1, 4))):
            if len(letters) < 2:
                break
            at = int(self._rng.integers(len(letters) - 1))
            match int(self._rng.integers(4)):
                case 0:
                    letters.insert(at, letters[at])
                case 1:
                    del letters[at]
                case 2:
                    letters[at], letters[at + 1] = letters[at + 1], letters[at]
                case _:
                    letters[at] = chr(int(self._rng.integers(97, 123)))
        return "".join(letters)
