"""Contents of a home besides household objects: rooms, people, things that are said, and more nouns by category."""

from __future__ import annotations

from collections.abc import Mapping

from nsrecover.domains import base
from nsrecover.util.python310 import StrEnum


class ServiceTrait(StrEnum):
    """Traits of objects of the service domain, besides those of the household."""

    ROBOT = "robot"
    """the robot itself"""
    ROOM = "room"
    """a room"""
    LOCATION = "location"
    """the robot can go there: a room, a piece of furniture, a door"""
    ROOM_DOOR = "room_door"
    """a door between rooms"""
    PERSON = "person"
    """a person"""
    NAMED = "named"
    """a person with a name, or any person"""
    POSED = "posed"
    """a person known by the pose only"""
    CONCRETE = "concrete"
    """an object known by its noun"""
    CATEGORY = "category"
    """any object of a category"""
    POSE = "pose"
    """how a person sits, stands or waves"""
    OPERATION = "operation"
    """opening or closing"""
    INFORMATION = base.INFORMATION
    """something to tell"""
    QUESTION = base.QUESTION
    """something to ask"""
    REQUEST = "request"
    """a request to hand something over"""
    COUNT_OBJECTS = "count_objects"
    """objects of a noun to count"""
    COUNT_CATEGORY = "count_category"
    """objects of a category to count"""
    COUNT_POSED = "count_posed"
    """people in a pose to count"""
    COUNT_PEOPLE = "count_people"
    """people to count"""


ROBOT, OPERATOR, OPEN, CLOSE = "robot", "operator", "open", "close"
"""Names of objects that every home has: the robot, who gives the commands, and the two operations of doors."""

REQUEST = "please hand it to me"
"""Sentence with which the robot asks to be handed something."""

POSES = (
    "sitting",
    "standing",
    "lying",
    "waving",
    "raising an arm",
    "raising the left arm",
    "raising the right arm",
    "pointing",
    "pointing to the left",
    "pointing to the right",
)
"""Poses that the robot tells apart, the usual one first."""
_SIDES = {
    "raising an arm": ("raising the left arm", "raising the right arm"),
    "pointing": ("pointing to the left", "pointing to the right"),
}


def is_posed(pose: str, wanted: str) -> bool:
    """Return whether a pose that was seen is the one that is meant, of either side where no side is said."""
    return pose == wanted or pose in _SIDES.get(wanted, ())


CATEGORIES: Mapping[str, tuple[str, ...]] = {
    "fruit": ("apple", "banana", "orange", "pear", "peach", "lemon", "plum", "strawberry"),
    "drink": ("cola", "milk", "orange juice", "tropical juice", "red wine", "iced tea", "water bottle", "juice pack"),
    "snack": ("chips", "pringles", "cheezit", "cookies", "chocolate"),
    "food": ("spam", "tuna", "sugar", "mustard", "coffee grounds", "tomato soup", "bread", "egg", "cereal"),
    "toy": ("baseball", "soccer ball", "tennis ball", "dice", "rubiks cube", "teddy bear", "jump rope"),
    "dish": ("bowl", "cup", "plate", "mug", "glass", "fork", "knife", "spoon"),
    "cleaning supply": ("sponge", "cleanser", "cloth", "dish soap"),
    "personal item": (
        "watch",
        "wallet",
        "key",
        "glasses",
        "cell phone",
        "book",
        "newspaper",
        "umbrella",
        "remote control",
    ),
}
"""Category -> its nouns."""

FURNITURE = (
    "bookshelf, storage shelf, shelf, cabinet, kitchen cabinet, refrigerator, fridge, microwave, oven, dishwasher, "
    "sink, countertop, kitchen table, dining table, coffee table, side table, end table, bedside table, table, desk, "
    "sofa, couch, armchair, bed, tv stand, dresser, drawer, trash bin, garbage can, washing machine, potted plant, "
    "entrance, exit, lamp"
)
"""Nouns of furniture that homes usually have."""


def category_of(noun: str) -> str:
    """The first category of a noun; empty if it has none."""
    return next((name for name, nouns in CATEGORIES.items() if noun in nouns), "")
