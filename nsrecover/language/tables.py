"""The word lists of words.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources

import yaml

from nsrecover.language.chart import Meaning

WORDS: Mapping[str, Meaning] = yaml.safe_load(resources.files(__package__).joinpath("words.yaml").read_text("utf-8"))
"""Name of a list -> its entries, with commas between, or a table of them."""


def listed(text: str) -> list[str]:
    """The entries of a list that is separated by commas."""
    return [each for each in (part.strip() for part in text.split(",")) if each]
