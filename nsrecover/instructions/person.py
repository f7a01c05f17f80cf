"""People as the robot meets them: what they are asked and how they answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from nsrecover.domains.service.kinds import OPERATOR


class Person(Protocol):
    """Somebody who can be told and asked something; silence is an empty answer."""

    def tell(self, text: str) -> None:
        """Say something."""
        ...

    def ask(self, question: str) -> str:
        """Ask something and return the answer; empty if there is none."""
        ...


class TerminalPerson:
    """A person at the terminal.

    Args:
        read: reads a line.
        write: prints a line.
    """

    def __init__(self, read: Callable[[str], str] = input, write: Callable[[str], None] = print) -> None:
        self._read, self._write = read, write

    def tell(self, text: str) -> None:
        """Print what is said."""
        self._write(text)

    def ask(self, question: str) -> str:
        """Print a question and read the answer; empty at the end of the input."""
        try:
            return self._read(f"{question} ")
        except EOFError:
            return ""


def person_text(name: str) -> str:
    """A person as the operator hears of them: you, Ann, the sitting person."""
    if name == OPERATOR:
        return "you"
    return f"the {name}" if name.islower() and " " in name else name.capitalize()
