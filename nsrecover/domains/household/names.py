"""Names of household objects as logs write them: ordinals, slices, camel case and what people call things."""

from __future__ import annotations

import re
from functools import lru_cache

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
SLICE = " slice"

_CONTROLS = {"stove knob": "stove burner"}
"""Noun of a control that is an object of its own -> what it switches, of the same ordinal."""

_ARTICLES = re.compile(r"^(?:the|a|an|some|any|one|another) ")
_STATED = re.compile(
    r"^(?:(?:cracked|clean|dirty|empty|closed|open|opened|shut|stained|unwashed|washed|soiled|spotless|full|hot|cold|"
    r"warm|heated|uncut|unsliced|uncracked) )+"
)
SYNONYMS = {
    "counter": "countertop",
    "counter top": "countertop",
    "worktop": "countertop",
    "tv": "television",
    "telly": "television",
    "tvstand": "tv stand",
    "television stand": "tv stand",
    "refrigerator": "fridge",
    "sink basin": "sink",
    "sinkbasin": "sink",
    "tap": "faucet",
    "burner": "stove burner",
    "stoveburner": "stove burner",
    "coffeemachine": "coffee machine",
    "coffee maker": "coffee machine",
    "houseplant": "house plant",
    "plant": "house plant",
    "diningtable": "dining table",
    "remote": "remote control",
    "remotecontrol": "remote control",
    "butterknife": "butter knife",
    "bin": "garbage can",
}
"""Synonym -> name that is used here."""


@lru_cache(maxsize=4096)
def normal(name: str) -> str:
    """One way to write an object's name.

    `TVStand`, `the TV stand` -> `tv stand`; `StoveBurner-4` -> `fourth stove burner`; `BreadSliced`, `sliced bread` ->
    `bread slice`; `cracked egg` -> `egg` (that it is cracked is a state, not a name).
    """
    text = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_", " ", name.strip())
    text = _ARTICLES.sub("", " ".join(text.lower().split()))
    numbered = re.fullmatch(r"(.+?)\s*[-#]\s*(\d+)", text)
    number = ""
    if numbered:
        text, digits = numbered.groups()
        number = ORDINALS[int(digits) - 1] if 1 <= int(digits) <= len(ORDINALS) else f"{digits}th"
    text = _STATED.sub("", text)
    cut = re.fullmatch(r"(?:sliced (.+)|(.+?) (?:sliced|slices?))", text)
    if cut:
        text = cut.group(1) or cut.group(2)
    ordinal, noun = split(text)
    noun = SYNONYMS.get(noun, noun) + (SLICE if cut else "")
    return " ".join(part for part in (number or ordinal, noun) if part)


def split(name: str) -> tuple[str, str]:
    """The ordinal of a name (empty if it has none) and the noun: `fourth stove burner` -> `fourth`, `stove burner`."""
    first, _, rest = name.partition(" ")
    return (first, rest) if rest and (first in ORDINALS or re.fullmatch(r"\d+th", first)) else ("", name)


def noun(name: str) -> str:
    """The name without its ordinal."""
    return split(name)[1]


def operated_by(name: str) -> str | None:
    """What a control switches, `third stove knob` -> `third stove burner`; None for what is no control."""
    ordinal, control = split(name)
    return " ".join(part for part in (ordinal, _CONTROLS[control]) if part) if control in _CONTROLS else None


def whole(name: str) -> str:
    """What a slice was cut from: `bread slice` -> `bread`; other names as they are."""
    return name.removesuffix(SLICE)


def slice_of(name: str) -> str:
    """What an object is called once it is sliced."""
    return name if name.endswith(SLICE) else f"{name}{SLICE}"


def is_slice(name: str) -> bool:
    """Whether a name says that it is a slice of something."""
    return name.endswith(SLICE)


def same(left: str, right: str) -> bool:
    """Whether two names can mean one thing: equal, or one of them leaves the ordinal out."""
    if left == right:
        return True
    (first, one), (second, other) = split(left), split(right)
    return one == other and not (first and second)


def same_stuff(left: str, right: str) -> bool:
    """Like `same`, but a slice and what it was cut from count as one: observers mix them up."""
    return same(whole(left), whole(right))
