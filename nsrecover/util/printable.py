"""Text of others that terminals and pages show as it is."""

import re

UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that turn the direction of a text: they change what a terminal or a page shows."""


def printable(text: str) -> str:
    """Return a text with blanks in place of characters that cannot be printed."""
    return UNPRINTABLE.sub(" ", text)
