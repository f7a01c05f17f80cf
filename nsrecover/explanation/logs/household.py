"""What kinds of household things there are and what can be done with them: general knowledge, by noun.

Adding a thing is adding its noun to the traits it has. What a log shows of an unknown thing (that it is open, turned
on, filled, sliced) gives it the traits too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from nsrecover.explanation.logs.names import SLICE, is_slice, noun, same, whole
from nsrecover.explanation.logs.records import HouseholdLog, Observation


class Trait(StrEnum):
    """Something that is so of every thing of a kind."""

    FIXTURE = "cannot be carried"
    SURFACE = "things are set down on it"
    DOOR = "opens and closes, and holds things behind its door"
    LID = "opens and closes, and holds nothing"
    SWITCH = "is toggled on and off"
    SHUT_TO_RUN = "runs only when closed, opens only when off"
    ONE_PLACE = "has room for one thing"
    SLOT = "things are in it or merely on top of it, which differs"
    DISH = "what is put in or on it travels with it"
    VESSEL = "holds a liquid"
    BASIN = "things in it get what the faucet gives"
    POURS_WATER = "fills and cleans what is in the basin"
    POURS_COFFEE = "fills what is in it with coffee"
    HEATS = "heats what is in or on it"
    CUTS = "slices food"
    SLICEABLE = "can be sliced"
    CRACKABLE = "can be cracked, and breaks when it falls"
    SCREEN = "is operated with the remote control"
    REMOTE = "operates a screen"


_NOUNS: Mapping[Trait, str] = {
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
    Trait.SHUT_TO_RUN: "microwave, dishwasher",
    Trait.ONE_PLACE: "microwave, stove burner, toaster, coffee machine",
    Trait.SLOT: "fridge, microwave, oven, dishwasher, cabinet, drawer, safe, toaster",
    Trait.DISH: "bowl, plate, pot, pan, mug, cup, glass, tray, basket, box, cutting board",
    Trait.VESSEL: (
        "pot, mug, cup, glass, bowl, kettle, bottle, wine bottle, vase, jug, pitcher, watering can, house plant, bucket"
    ),
    Trait.BASIN: "sink, bathtub",
    Trait.POURS_WATER: "faucet",
    Trait.POURS_COFFEE: "coffee machine",
    Trait.HEATS: "microwave, stove burner, toaster, oven, coffee machine",
    Trait.CUTS: "knife",
    Trait.SLICEABLE: "bread, tomato, potato, lettuce, apple, carrot, cucumber, onion, pear, cheese, lemon, orange",
    Trait.CRACKABLE: "egg",
    Trait.SCREEN: "television",
    Trait.REMOTE: "remote control",
}

_IMPLIED: Mapping[str, tuple[str, ...]] = {
    "water": ("sink", "faucet"),
    "clean": ("sink", "faucet"),
    "coffee": ("coffee machine", "sink", "faucet"),
    "warm": ("microwave",),
    "hot": ("microwave",),
    "heated": ("microwave",),
    "slice": ("knife",),
}
"""What a household has for a purpose, also where a log does not mention it."""

_KINDS: Mapping[str, frozenset[str]] = {
    "container": frozenset({"pot", "mug", "cup", "glass", "bowl", "kettle", "bottle", "jug", "vase", "pan", "box"}),
    "vessel": frozenset({"pot", "mug", "cup", "glass", "bowl", "kettle", "bottle", "jug"}),
    "receptacle": frozenset({"pot", "mug", "cup", "bowl", "pan", "plate", "box", "sink", "countertop"}),
    "dish": frozenset({"bowl", "plate", "mug", "cup", "pot", "pan"}),
    "appliance": frozenset({"microwave", "toaster", "coffee machine", "fridge", "oven", "television"}),
    "device": frozenset({"television", "laptop", "cell phone", "lamp", "desk lamp", "floor lamp"}),
    "food": frozenset({"bread", "tomato", "potato", "lettuce", "apple", "egg", "carrot", "pear"}),
    "vegetable": frozenset({"tomato", "potato", "lettuce", "carrot", "cucumber", "onion"}),
    "fruit": frozenset({"apple", "pear", "tomato", "orange", "lemon"}),
    "utensil": frozenset({"knife", "fork", "spoon", "spatula", "ladle", "butter knife"}),
    "tool": frozenset({"knife", "spatula", "fork", "spoon"}),
    "object": frozenset(),
    "item": frozenset(),
    "thing": frozenset(),
}
"""Words for kinds of things -> the nouns they can stand for (any noun if empty)."""

_TRAITS: dict[str, frozenset[Trait]] = {}
for _trait, _names in _NOUNS.items():
    for _name in _names.split(", "):
        _TRAITS[_name] = _TRAITS.get(_name, frozenset()) | {_trait}

_SHOWN: Mapping[str, Trait] = {
    "turned on": Trait.SWITCH,
    "turned off": Trait.SWITCH,
    "not sliced": Trait.SLICEABLE,
    "not cracked": Trait.CRACKABLE,
    "empty": Trait.VESSEL,
}
_DONE: Mapping[str, Trait] = {"open_obj": Trait.DOOR, "toggle_on": Trait.SWITCH, "toggle_off": Trait.SWITCH}


def is_kind_word(name: str) -> bool:
    """Whether a name says only what kind of thing is meant: `container`."""
    return noun(name) in _KINDS


def could_mean(word: str, name: str) -> bool:
    """Whether a name in a plan can stand for an object: the same name, fewer words of it, or its kind."""
    if same(word, name):
        return True
    options = _KINDS.get(noun(word))
    return options is not None and (not options or noun(name) in options)


class Household:
    """The things of one log and their traits.

    Args:
        log: whose objects; their states and the steps done with them tell the traits of things not known here.
    """

    def __init__(self, log: HouseholdLog) -> None:
        self._extra: dict[str, frozenset[Trait]] = {}
        names: dict[str, None] = {}
        for observation in (*(frame.observation for frame in (*log.events, *log.subgoals)), log.final):
            for name in _named(observation):
                names.setdefault(name)
            for name, states in observation.states().items():
                self._learn(name, (_SHOWN[state] for state in states if state in _SHOWN))
                if noun(name) not in _TRAITS and {"open", "closed"} & set(states):
                    self._learn(name, (Trait.DOOR,))
                if any(state.startswith("filled with") for state in states):
                    self._learn(name, (Trait.VESSEL,))
        for step in log.plan:
            for name in step.arguments:
                names.setdefault(name)
            if step.arguments and step.operator in _DONE and noun(step.arguments[0]) not in _TRAITS:
                self._learn(step.arguments[0], (_DONE[step.operator],))
        text = f"{log.success_state} {' '.join(map(str, log.plan))}".lower()
        for word, needed in _IMPLIED.items():
            for name in needed if word in text else ():
                if not any(noun(known) == name for known in names):
                    names.setdefault(name)
        self.names = tuple(name for name in names if not is_kind_word(name))
        """Every object that is named anywhere, in the order of appearance."""

    def _learn(self, name: str, traits: Iterable[Trait]) -> None:
        self._extra[noun(name)] = self._extra.get(noun(name), frozenset()) | frozenset(traits)

    def traits(self, name: str) -> frozenset[Trait]:
        """All traits of a thing."""
        if is_slice(name):
            return frozenset()
        return _TRAITS.get(noun(name), frozenset()) | self._extra.get(noun(name), frozenset())

    def has(self, name: str, trait: Trait) -> bool:
        """Whether a thing has a trait."""
        return trait in self.traits(name)

    def all(self, trait: Trait) -> list[str]:
        """Every object of the log with a trait."""
        return [name for name in self.names if self.has(name, trait)]

    def movable(self, name: str) -> bool:
        """Whether the robot can carry a thing."""
        return not self.has(name, Trait.FIXTURE)

    def instances(self, word: str) -> list[str]:
        """The objects that a name can mean; those with an ordinal before the bare name."""
        found = [name for name in self.names if same(word, name)]
        numbered = [name for name in found if name != word and whole(name) != word]
        return numbered if numbered else found or [word]

    def ambiguous(self, word: str) -> bool:
        """Whether a name in a plan leaves open which object is meant, where that matters."""
        if is_kind_word(word):
            return True
        return not self.has(word, Trait.SURFACE) and len([n for n in self.names if n != word and same(word, n)]) > 1


def _named(observation: Observation) -> list[str]:
    names = list(observation.states())
    for subject, _, other in observation.relations():
        names += [subject, other]
    return names + ([observation.held] if observation.held else [])


def slice_of(name: str) -> str:
    """What a thing is called once it is sliced."""
    return name if name.endswith(SLICE) else f"{name}{SLICE}"
