"""What an object may be called. Names stand in plans, and unquoted in sentences that count as verified."""

from __future__ import annotations

import re
from functools import lru_cache

from nsrecover.util.printable import UNPRINTABLE

LONGEST_NAME, MOST_WORDS = 80, 8
"""Most characters and words of a name."""

MOST_SAID = 16
"""Most words of a text that is passed on word by word."""

SENTENCE = re.compile(
    r"[.!?:\u2026\uff0e\u0964\u061f\u06d4]+(?=\s)|[\u3002\uff01\uff1f\uff61](?=.)"
    r"|[.!:\u2026\uff0e\u0964\u06d4\u3002\uff01\uff61]$"
)
"""What ends a sentence: behind it a name could say something of its own. Inside a word, as in `box.1`, it does not, and
a question may be asked, so that a question mark may come last."""

MARKS = "(),;"
"""Marks of plans."""


@lru_cache(maxsize=4096)
def problem_of(name: object, most_words: int = MOST_WORDS) -> str:
    """What is wrong with a name; empty if it can be used."""
    if not isinstance(name, str) or not name or name != name.strip() or len(name) > LONGEST_NAME:
        return f"1 to {LONGEST_NAME} characters without outer spaces"
    if UNPRINTABLE.search(name) or any(mark in name for mark in MARKS):
        return "no brackets, commas and characters that cannot be printed"
    if SENTENCE.search(name) or len(name.split()) > most_words:
        return f"at most {most_words} words, and nothing that ends a sentence"
    return ""


def plain_name(text: str) -> str:
    """A name like a text of another program, such as a label of a detector: `Mug (red).` becomes `Mug red`.

    Different texts can become the same name; number them then.
    """
    text = UNPRINTABLE.sub(" ", text)
    words = "".join(" " if mark in MARKS else mark for mark in SENTENCE.sub(" ", text)).split()
    return " ".join(words[:MOST_WORDS])[:LONGEST_NAME].strip() or "object"
