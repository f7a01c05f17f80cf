"""The paraphrases of the evaluation, and what each has to lead to."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from nsrecover.errors import InvalidConfiguration, did_you_mean

OWN_HAND = (
    "paraphrases.yaml",
    *(f"texts/{name}.yaml" for name in ("errands", "people", "stories", "careless", "mixed", "long", "operator")),
)
STYLES = tuple(f"texts/styles_{i}.yaml" for i in range(1, 6))
PARAPHRASES = {
    "development": (*((name, slice(0, None, 2)) for name in OWN_HAND), *((name, slice(None)) for name in STYLES)),
    "held_out": tuple((name, slice(1, None, 2)) for name in OWN_HAND),
    "another_hand": (("another_hand.yaml", slice(None)),),
}
"""Files of paraphrases, and which sentences of each of their groups."""


def paraphrases(half: str) -> list[tuple[list[str], str]]:
    """The wanted goals and the sentence of every paraphrase of a half.

    Raises:
        InvalidConfiguration: there are no such paraphrases.
    """
    if half not in PARAPHRASES:
        raise InvalidConfiguration(
            f"expected half as one of {', '.join(PARAPHRASES)}, found {half!r}.{did_you_mean(half, PARAPHRASES)}"
        )
    return [
        (stages_of(group["want"]), sentence)
        for name, chosen in PARAPHRASES[half]
        for group in yaml.safe_load((Path(__file__).parent / name).read_text(encoding="utf-8"))
        for sentence in group["say"][chosen]
    ]


def stages_of(want: str) -> list[str]:
    """The stages of a group; the goals of following and guiding belong to one stage."""
    return re.split(r"; (?!followed|guided)", want)
