"""Markdown tables without the spaces that align their columns."""

import re


def unpadded(text: str) -> str:
    """The text with one space where there are several, and short rules below heads."""
    return re.sub(r" {2,}", " ", re.sub(r"\| +", "| ", re.sub(r" +\|", " |", text)))
