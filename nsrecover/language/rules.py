"""The one grammar, with the builders of those who read by it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any

from nsrecover.language.chart import Grammar


def grammar_of(section: str, builders: Mapping[str, Callable[..., Any]]) -> Grammar:
    """A section of `grammar.txt`.

    Args:
        section: goals, answers or commands.
        builders: makes the meanings of its symbols.
    """
    text = resources.files(__package__).joinpath("grammar.txt").read_text("utf-8")
    parts = re.split(r"^=== (\w+)$", text, flags=re.MULTILINE)
    return Grammar(dict(zip(parts[1::2], parts[2::2], strict=True))[section], builders)
