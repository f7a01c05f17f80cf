"""Kinds of household objects: what is generally true of them, by noun.

A new kind is added by adding its noun to the traits that it has. A noun that is not listed has none but those of any
object that can be carried.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import chain

from nsrecover.domains.base import Kind
from nsrecover.domains.household.names import noun, same
from nsrecover.util.python310 import StrEnum


class Trait(StrEnum):
    """What can be true of all objects of a kind."""

    FIXTURE = "fixture"
    """cannot be carried"""
    PORTABLE = "portable"
    """can be carried"""
    SURFACE = "surface"
    """things are set down on it"""
    DOOR = "door"
    """opens and closes, and holds things behind its door"""
    LID = "lid"
    """opens and closes, and holds nothing"""
    SWITCH = "switch"
    """is turned on and off"""
    TIMED = "timed"
    """turns itself off after a short time"""
    SHUT_TO_RUN = "shut_to_run"
    """runs only when closed, opens only when off"""
    ONE_PLACE = "one_place"
    """has room for one thing"""
    SLOT = "slot"
    """things are in it or merely on top of it, which differs"""
    DISH = "dish"
    """what is put in or on it travels with it"""
    FLAT = "flat"
    """things are put on it"""
    HOLLOW = "hollow"
    """things are put in it"""
    VESSEL = "vessel"
    """holds a liquid"""
    LIQUID = "liquid"
    """fills vessels"""
    BASIN = "basin"
    """things in it get what the faucet gives"""
    POURS_WATER = "pours_water"
    """fills and cleans what is in the basin"""
    POURS_COFFEE = "pours_coffee"
    """fills what is in it with coffee"""
    HEATS = "heats"
    """heats what is in or on it"""
    CUTS = "cuts"
    """slices food"""
    SLICEABLE = "sliceable"
    """can be sliced"""
    SLICE = "slice"
    """has been cut from something"""
    CRACKABLE = "crackable"
    """can be cracked"""
    FRAGILE = "fragile"
    """breaks when it falls"""
    COOKS = "cooks"
    """is food that heat cooks"""
    SCREEN = "screen"
    """is operated with the remote control"""
    SOAKS = "soaks"
    """keeps what is poured on it"""
    REMOTE = "remote"
    """operates a screen"""
    MACHINE = "machine"
    """accepts nothing while it runs"""
    MICROWAVES = "microwaves"
    """heats by microwaves, which metal must not be in"""
    BURNS = "burns"
    """heats from below what has to be heat-proof"""
    METAL = "metal"
    """is made of metal"""
    MELTS = "melts"
    """does not stand a stove burner"""
    WIDE = "wide"
    """does not fit into what is narrow"""
    BULKY = "bulky"
    """does not fit into what is compact"""
    NARROW = "narrow"
    """has room for slim things only"""
    COMPACT = "compact"
    """has no room for bulky things"""


_NOUNS: Mapping[Trait, str] = {
    Trait.SOAKS: "house plant",
    Trait.FIXTURE: (
        "fridge, microwave, oven, dishwasher, cabinet, drawer, shelf, safe, sink, bathtub, faucet, "
        "countertop, dining table, coffee table, side table, table, desk, dresser, tv stand, sofa, armchair, "
        "chair, bed, floor, stove burner, stove knob, stove, toaster, coffee machine, television, "
        "house plant, garbage can, window, lamp, floor lamp, light switch, stool, island"
    ),
    Trait.SURFACE: (
        "countertop, dining table, coffee table, side table, table, desk, dresser, tv stand, shelf, sofa, "
        "armchair, chair, bed, floor, stool, island"
    ),
    Trait.DOOR: "fridge, microwave, oven, dishwasher, cabinet, drawer, safe",
    Trait.LID: "laptop, book",
    Trait.SWITCH: (
        "microwave, oven, dishwasher, faucet, stove burner, toaster, coffee machine, television, laptop, "
        "lamp, desk lamp, floor lamp, light switch, cell phone"
    ),
    Trait.TIMED: "toaster",
    Trait.SHUT_TO_RUN: "microwave, dishwasher",
    Trait.ONE_PLACE: "microwave, stove burner, toaster, coffee machine",
    Trait.SLOT: "fridge, microwave, oven, dishwasher, cabinet, drawer, safe, toaster",
    Trait.FLAT: "plate, cutting board, tray",
    Trait.HOLLOW: "garbage can",
    Trait.DISH: "bowl, plate, pot, pan, mug, cup, glass, tray, basket, box, cutting board",
    Trait.VESSEL: (
        "pot, mug, cup, glass, bowl, kettle, bottle, wine bottle, vase, jug, pitcher, watering can, house plant, bucket"
    ),
    Trait.BASIN: "sink, bathtub",
    Trait.POURS_WATER: "faucet",
    Trait.POURS_COFFEE: "coffee machine",
    Trait.HEATS: "microwave, stove burner, toaster, oven",
    Trait.CUTS: "knife",
    Trait.SLICEABLE: "bread, tomato, potato, lettuce, apple, carrot, cucumber, onion, pear, cheese, lemon, orange",
    Trait.CRACKABLE: "egg",
    Trait.FRAGILE: "mug, cup, glass, plate, bowl, egg, bottle, wine bottle, jug, vase, pitcher",
    Trait.COOKS: "egg, potato, bread, tomato, apple, carrot, onion",
    Trait.SCREEN: "television",
    Trait.REMOTE: "remote control",
    Trait.MACHINE: "microwave, oven, dishwasher, toaster, coffee machine",
    Trait.MICROWAVES: "microwave",
    Trait.BURNS: "stove burner",
    Trait.METAL: "pan, pot, kettle, knife, butter knife, fork, spoon, ladle",
    Trait.MELTS: "cup, mug, glass, plate, bowl, box, cutting board, jug, vase, pitcher, bottle, basket",
    Trait.WIDE: "bowl, plate, pan, pot, kettle, tray, box, cutting board, watering can, bucket, vase, pitcher, basket",
    Trait.BULKY: "pan, pot, tray, cutting board, watering can, bucket, basket",
    Trait.NARROW: "coffee machine, toaster, mug, cup, glass",
    Trait.COMPACT: "microwave, bowl",
}

_SAID_BEFORE: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    **dict.fromkeys(("metal", "steel", "iron", "tin"), (frozenset({Trait.METAL}), frozenset({Trait.MELTS}))),
    **dict.fromkeys(("plastic", "paper", "wooden"), (frozenset({Trait.MELTS}), frozenset({Trait.METAL}))),
    **dict.fromkeys(("ceramic", "glass"), (frozenset[str](), frozenset({Trait.METAL}))),
    **dict.fromkeys(("large", "big", "huge"), (frozenset({Trait.WIDE, Trait.BULKY}), frozenset[str]())),
}
"""Word before a noun -> traits that it adds and takes."""

LIQUIDS = ("water", "coffee", "wine", "milk", "tea", "juice", "soup")
"""What vessels are filled with."""

IMPLIED: Mapping[str, tuple[str, ...]] = {
    "water": ("sink", "faucet"),
    "clean": ("sink", "faucet"),
    "coffee": ("coffee machine", "sink", "faucet"),
    "warm": ("microwave",),
    "hot": ("microwave",),
    "heated": ("microwave",),
    "slice": ("knife",),
}
"""Word of a task -> what a household has for it, also where nothing mentions it."""

CATEGORIES: Mapping[str, frozenset[str]] = {
    "container": frozenset({"pot", "mug", "cup", "glass", "bowl", "kettle", "bottle", "jug", "vase", "pan", "box"}),
    "vessel": frozenset({"pot", "mug", "cup", "glass", "bowl", "kettle", "bottle", "jug"}),
    "receptacle": frozenset({"pot", "mug", "cup", "bowl", "pan", "plate", "box", "sink", "countertop"}),
    "dish": frozenset({"bowl", "plate", "mug", "cup", "pot", "pan"}),
    "appliance": frozenset({"microwave", "toaster", "coffee machine", "fridge", "oven", "television"}),
    "device": frozenset({"television", "laptop", "cell phone", "lamp", "desk lamp", "floor lamp"}),
    "food": frozenset({"bread", "tomato", "potato", "lettuce", "apple", "egg", "carrot", "pear"}),
    "vegetable": frozenset({"tomato", "potato", "lettuce", "carrot", "cucumber", "onion"}),
    "fruit": frozenset({"apple", "pear", "tomato", "orange", "lemon", "strawberry", "banana", "peach", "grape"}),
    "utensil": frozenset({"knife", "fork", "spoon", "spatula", "ladle", "butter knife"}),
    "tool": frozenset({"knife", "spatula", "fork", "spoon"}),
    "object": frozenset(),
    "item": frozenset(),
    "thing": frozenset(),
}
"""Word for several kinds -> the nouns that it can stand for (any noun if empty)."""


_CONTAINERS = {Trait.DISH, Trait.BASIN, Trait.DOOR, Trait.SLOT, Trait.POURS_COFFEE}


def completed(traits: frozenset[str]) -> frozenset[str]:
    """Traits with those that follow: portable or a fixture, things are put on it or in it."""
    lies_open = Trait.ONE_PLACE in traits and not traits & {Trait.SLOT, Trait.POURS_COFFEE}
    more = set() if Trait.FIXTURE in traits else {Trait.PORTABLE}
    if Trait.SURFACE in traits or lies_open:
        more.add(Trait.FLAT)
    elif Trait.FLAT not in traits and (not traits or traits & _CONTAINERS):
        more.add(Trait.HOLLOW)
    return traits | more


_LISTS = {trait: names.split(", ") for trait, names in _NOUNS.items()}

KINDS: Mapping[str, Kind] = {
    name: Kind(name, completed(frozenset(trait for trait, names in _LISTS.items() if name in names)))
    for name in chain.from_iterable(_LISTS.values())
}
"""Every kind by its noun."""


def traits_of(name: str) -> frozenset[str]:
    """The traits of an object, by its noun without further words (`metal bowl` is a bowl), and by those words.

    Those of any portable object if the noun is not known.
    """
    return _traits_of_noun(noun(name))


@lru_cache(maxsize=4096)
def _traits_of_noun(name: str) -> frozenset[str]:
    words = name.split()
    found = next((KINDS[rest] for i in range(len(words)) if (rest := " ".join(words[i:])) in KINDS), None)
    traits = found.traits if found else completed(frozenset())
    for word in words[:-1]:
        added, taken = _SAID_BEFORE.get(word, (frozenset(), frozenset()))
        traits = (traits - taken) | added
    return traits


def is_category(name: str) -> bool:
    """Whether a name says only what kind of object is meant: `container`."""
    return noun(name) in CATEGORIES


def could_mean(word: str, name: str) -> bool:
    """Whether a word of a plan can stand for an object: the same name, the name without its ordinal, or a category."""
    if same(word, name):
        return True
    options = CATEGORIES.get(noun(word))
    return options is not None and (not options or noun(name) in options)
