"""What the simulated household knows of its things, by noun; it shares nothing with the domain that is tested on it."""

from __future__ import annotations

from nsrecover.domains.household.names import noun

_TABLE = {
    "door": "fridge, microwave, cabinet, drawer, oven, dishwasher",
    "lid": "laptop, book",
    "flat": "countertop, dining table, coffee table, side table, tv stand, desk, shelf, sofa, counter",
    "switch": "microwave, oven, dishwasher, faucet, stove burner, toaster, coffee machine, television, laptop, "
    "floor lamp",
    "machine": "microwave, oven, dishwasher, toaster, coffee machine",
    "single": "microwave, stove burner, toaster, coffee machine",
    "vessel": "pot, mug, cup, glass, bowl, kettle, jug, bottle, vase, pitcher, watering can, bucket, house plant",
    "dish": "bowl, plate, pot, pan, mug, cup, glass, tray, box, cutting board, basket",
    "fixed": "sink, faucet, television, house plant, garbage can, floor lamp, stove burner, toaster, coffee machine, "
    "floor",
    "food": "bread, tomato, potato, lettuce, apple, carrot, cucumber, onion, pear, egg, cheese, lemon",
    "cuttable": "bread, tomato, potato, lettuce, apple, carrot, cucumber, onion, pear, cheese, lemon",
    "metal": "pan, pot, kettle, knife, fork, spoon, ladle",
    "soft": "cup, mug, glass, plate, bowl, box, cutting board, jug, vase, pitcher",
    "wide": "bowl, plate, pan, pot, kettle, tray, box, cutting board, watering can, bucket, vase, pitcher, basket",
    "bulky": "pan, pot, tray, cutting board, watering can, bucket, basket",
    "narrow": "coffee machine, toaster, mug, cup, glass",
    "compact": "microwave, bowl",
    "hollow": "fridge, microwave, cabinet, drawer, oven, dishwasher, sink, coffee machine, toaster, bowl, mug, cup, "
    "glass, pot, pan, box, basket, garbage can",
}  # fmt: skip
"""`soft` does not stand a burner; `wide` does not go into what is `narrow`, `bulky` not into what is `compact`."""

_NOUNS = {what: frozenset(nouns.split(", ")) for what, nouns in _TABLE.items()}
_MATERIAL = {"metal": "metal", "steel": "metal", "plastic": "soft", "paper": "soft"}
_SIZE = {"large": ("wide", "bulky"), "big": ("wide", "bulky")}


def head(name: str) -> str:
    """The kind of a thing: its name without ordinal, material, size and colour."""
    known = frozenset().union(*_NOUNS.values())
    words = noun(name.removesuffix(" slice")).split()
    return next((" ".join(words[i:]) for i in range(len(words)) if " ".join(words[i:]) in known), words[-1])


def is_a(name: str, what: str) -> bool:
    """Whether a thing belongs to a group of the table; words such as `metal` before the noun count first."""
    words = noun(name).split()
    material = next((_MATERIAL[word] for word in words if word in _MATERIAL), None)
    if what in ("metal", "soft") and material is not None:
        return what == material
    if any(what in _SIZE.get(word, ()) for word in words):
        return True
    if name.endswith(" slice"):
        return what == "food"
    return head(name) in _NOUNS[what]


def carried(name: str) -> bool:
    """Whether a thing can be carried."""
    return not any(is_a(name, what) for what in ("door", "flat", "fixed"))
