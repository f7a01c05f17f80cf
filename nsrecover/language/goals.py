"""A success condition in English → conditions over the household's predicates, and what of it cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from nsrecover.core.facts import StateFact
from nsrecover.domains.household.kinds import CATEGORIES, KINDS, LIQUIDS, Trait, traits_of
from nsrecover.domains.household.names import ORDINALS, SLICE, SYNONYMS, normal, noun, same, slice_of, whole
from nsrecover.language.chart import Costly, Grammar, Meaning
from nsrecover.language.lattice import Vocabulary, tokens
from nsrecover.language.rules import grammar_of
from nsrecover.language.tables import WORDS

STATES: Mapping[str, str] = WORDS["states"]
"""State as logs usually write it -> the words for it."""
OPPOSITE_STATE: Mapping[str, str] = {**WORDS["opposites"], **{b: a for a, b in WORDS["opposites"].items()}}
"""State -> the state that an object is in if it is not in that one."""
_PREDICATES = {"turned on": "running", "turned off": "off", "not cracked": "intact"}
_UNSERVED = ("not sliced", "cold", "not hot", "not empty", "not cold")
_ASIDE = re.compile(r"\([^(),]*\)(?!,)|\[[^\[\]]*\]|\b(?:e\.g\.|for example,?|i\.e\.)[^,;]*")
_CALLED = re.compile(r"\b([a-z]+)\(")
_NEEDS = {
    "open": {Trait.DOOR, Trait.LID}, "closed": {Trait.DOOR, Trait.LID}, "turned on": {Trait.SWITCH},
    "turned off": {Trait.SWITCH}, "sliced": {Trait.SLICEABLE}, "cracked": {Trait.CRACKABLE},
}  # fmt: skip
"""State -> the traits of what "it" can be."""
_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6}


@dataclass(frozen=True)
class Named:
    """A noun phrase of a goal: the object with what is said about it in the phrase."""

    name: str
    states: tuple[str, ...] = ()
    count: str = ""
    contents: tuple[Named, ...] = ()
    which: Property | None = None


@dataclass(frozen=True)
class Property:
    """What is claimed about an object: a state, a place (`at`) or a liquid (`filled`), denied or not."""

    kind: str
    value: Named | str
    denied: bool = False


@dataclass(frozen=True)
class Said:
    """A claim: properties of objects; without objects those of the claim before are meant."""

    about: tuple[Named, ...]
    properties: tuple[Property, ...]


@dataclass(frozen=True)
class WantedFacts:
    """The conditions that a text names, in its order, and what of it cannot be read.

    Attributes:
        conditions: as in `nsrecover.domains.household.scene.holds`; names may leave the ordinal out.
        unread: words that name nothing known, or say what no condition can say; success is not claimed with them.
    """

    conditions: tuple[StateFact, ...]
    unread: tuple[str, ...] = ()


IT, NOTHING = Named("<it>"), Named("<nothing>")


def _name(words: str = "", ordinal: str | None = None, before: Sequence[str] | str = ()) -> str:
    found = " ".join(filter(None, (ordinal, *([before] if isinstance(before, str) else before), words)))
    return normal(found.removesuffix("<s>")) + ("<s>" if found.endswith("<s>") else "")


def _noun(
    name: str,
    states: tuple[str, ...] = (),
    count: str | None = None,
    holding: tuple[Named, ...] | None = None,
    which: Property | None = None,
) -> Named:
    if name == "door" and holding and len(holding) == 1:
        return holding[0]
    return Named(name, states, count or "", holding or (), which)


def _claim(
    about: tuple[Named, ...], first: Property | None = None, rest: tuple[Property, ...] = (), be: tuple[str, ...] = ()
) -> Costly:
    one = len(about) == 1 and not about[0].name.endswith("<s>")
    disagrees = ("are" in be and one) or (bool({"is", "stands", "lies", "sits"} & set(be)) and len(about) > 1)
    return Costly(Said(about, (*([first] if first else []), *rest)), float(disagrees))


def _contains(vessel: tuple[Named, ...], contents: tuple[Named, ...]) -> Said | None:
    if len(vessel) != 1:
        return None
    if contents == (NOTHING,):
        return Said(vessel, (Property("empty", ""),))
    return Said((replace(vessel[0], contents=(*vessel[0].contents, *contents)),), ())


def _switched(about: tuple[Named, ...] | Named, state: str) -> Said:
    return Said(about if isinstance(about, tuple) else (about,), (Property(state, ""),))


_BUILDERS: dict[str, Meaning] = {
    "whole": lambda first, rest: (first, *rest),
    "same_subject": lambda more: Said((), (more,)),
    "claim": _claim,
    "claim_in_place": lambda about, first, rest: Said(about, (first, rest)),
    "made": _switched,
    "filled": lambda about, of: Said(about, (Property("filled", of),)),
    "watered": lambda about: Said(about, (Property("filled", Named("water")),)),
    "placed": lambda about, at, place: Said((about,), (Property("at", at),)),
    "contains": _contains,
    "denied": lambda what: replace(what, denied=not what.denied),
    "at_place": lambda place, at: Property("at", at) if at != NOTHING else None,
    "at_it": lambda place: Property("at", IT),
    "state": lambda state: Property(state, ""),
    "state_filled": lambda of: Property("filled", of),
    "state_watered": lambda: Property("filled", Named("water")),
    "things": lambda first, rest: (first, *rest),
    "it": lambda: IT,
    "nothing": lambda: NOTHING,
    "noun": _noun,
    "name": _name,
    "slices": lambda words="", before="": normal(words or before) + SLICE,
    "contents": lambda contents: Costly(contents, -0.3 * len(contents)) if IT not in contents else None,
    "which": lambda what: what,
    "same": lambda what: what,
}


@cache
def grammar() -> Grammar:
    """The grammar of goals."""
    return grammar_of("goals", _BUILDERS)


@cache
def _vocabulary(names: tuple[str, ...], own_states: tuple[str, ...] = ()) -> Vocabulary:
    """The words of goals over objects with names and states, besides those of the household."""
    words = Vocabulary(grammar(), ("either", "then", "successfully", "correctly", "safely"))
    for state, texts in STATES.items():
        words.add(texts.split(", "), "state", state)
    for state in own_states:
        words.add((state,), "state", state)
    words.add(ORDINALS, "ordinal")
    low = [" ".join(tokens(name)) for name in (*KINDS, *CATEGORIES, *LIQUIDS, *SYNONYMS, *names)]
    for name in dict.fromkeys((*low, *map(noun, low))):
        words.add({name, f"{name} slice", f"{name} slices", f"sliced {name}"}, "object")
        words.add((_plural(name),), "object", f"{name}<s>")
        if traits_of(name) & _NEEDS["open"]:
            words.add((f"{name} door",), "object", name)
    return words


def _plural(name: str) -> str:
    if name.endswith(("s", "x", "ch", "sh", "o")):
        return f"{name}es"
    return f"{name[:-1]}ies" if name.endswith("y") and name[-2:-1] not in "aeiou" else f"{name}s"


class _Evaluation:
    """Goes through the claims of a reading; keeps what was spoken of."""

    def __init__(self, names: Sequence[str] | None) -> None:
        self.names, self.found, self.unread = names, list[StateFact](), list[str]()
        self._subjects, self._before, self._mentioned = list[str](), list[str](), list[str]()

    def add(self, said: Said) -> None:
        """Add the conditions of a claim."""
        if said.about:
            before = self._subjects
            wanted = {trait for each in said.properties for trait in _NEEDS.get(each.kind, ())}
            found = [name for each in said.about for name in self._objects(each, wanted)]
            self._before, self._subjects = (self._before if found == before else before), found
        for each in said.properties:
            for name in self._subjects:
                self._claim(name, each)

    def _objects(self, named: Named, wanted: Iterable[Trait] = ()) -> list[str]:
        """The objects of a noun phrase, with what it says about them noted as conditions."""
        if named == NOTHING:
            self.unread.append("nothing")
            return []
        if named == IT:
            spoken = [*reversed(self._subjects), *reversed(self._mentioned)]
            fitting = [name for name in spoken if not wanted or traits_of(noun(name)) & set(wanted)]
            return [*fitting, *spoken][:1]
        found = self._counted(named)
        self._mentioned += found
        for name in found:
            for state in named.states:
                self._claim(name, Property(state, ""))
            for each in named.contents:
                self._contents(name, each)
            if named.which is not None:
                self._claim(name, named.which)
        return found

    def _counted(self, named: Named) -> list[str]:
        """The objects that a noun with a number may name; none, with a note, if they are not known."""
        name, plural = named.name.removesuffix("<s>"), named.name.endswith("<s>")
        if CATEGORIES.get(name):
            return [f"{name}s" if plural else name]
        if self.names is None:
            return [name]
        alike = [each for each in self.names if same(whole(each), whole(name)) or noun(each).endswith(f" {name}")]
        if not alike and noun(whole(name)) not in (*KINDS, *LIQUIDS, *CATEGORIES):
            self.unread.append(name)
            return []
        number = 2 if named.count.startswith("both") else _COUNTS.get(named.count, 0)
        single = [each for each in alike if noun(each) != each] or alike[:1]
        if number and number != len(single):
            self.unread.append(f"{named.count} {name}")
            return []
        return single if number or ((plural or named.count) and len(single) > 1) else [name]

    def _contents(self, vessel: str, held: Named) -> None:
        if held.name in LIQUIDS:
            self._claim(vessel, Property("filled", held))
        else:
            self.found += [("at", each, vessel) for each in self._objects(held)]

    def _claim(self, name: str, what: Property) -> None:
        if isinstance(what.value, Named) and what.kind == "at":
            targets = self._there(name) if what.value == IT else self._objects(what.value)
            self.found += [("away_from" if what.denied else "at", name, each) for each in targets if each != name]
        elif isinstance(what.value, Named):
            if what.denied:
                self.unread.append(f"not filled with {what.value.name}")
            elif what.value.name in LIQUIDS or self.names is None or not self._counted(what.value):
                self.unread = [each for each in self.unread if each != what.value.name]
                self.found.append(("filled", name, what.value.name))
                for state in what.value.states:
                    self._claim(name, Property(state, ""))
            else:
                self.found += [("at", each, name) for each in self._objects(what.value)]
        else:
            state = OPPOSITE_STATE.get(what.kind, f"not {what.kind}") if what.denied else what.kind
            if name in LIQUIDS:
                name = next((fact[2] for fact in self.found if fact[:2] == ("at", name)), name)
            if state in _UNSERVED:
                self.unread.append(state)
            else:
                self.found.append((_PREDICATES.get(state, state), name))

    def _there(self, name: str) -> list[str]:
        """What "it" is as a place: the subject before, else what was spoken of last."""
        spoken = [*reversed(self._before), *reversed(self._mentioned)]
        return [each for each in spoken if each != name][:1]


def _of_liquid(condition: StateFact) -> StateFact:
    """A liquid that is in something fills it."""
    in_it = condition[0] == "at" and condition[1] in LIQUIDS
    return ("filled", condition[2], condition[1]) if in_it else condition


def read_goal(
    text: str, names: Sequence[str] | None = None, sliced: Iterable[str] = (), own_states: Iterable[str] = ()
) -> WantedFacts:
    """Parse a success condition.

    Args:
        text: e.g. `a pot is filled with water, the pot is on top of a stove burner that is turned on.`
        names: of the objects that the log knows; None if any noun may name one.
        sliced: what the robot slices: its slices are meant then.
        own_states: words for states of another domain, which become predicates of their own.
    """
    text = _ASIDE.sub(" ", _CALLED.sub(r"\1 (", text.replace("(", " (") if "," in text else text))
    words = tokens(text)
    found = grammar().readings(_vocabulary(tuple(names or ()), tuple(own_states)).lattice(words), "Goal")
    if not found:
        return WantedFacts((), ("the whole text",) if words else ())
    reading = _Evaluation(names)
    for said in found[0][1]:
        reading.add(said)
    cut = {*sliced, *(condition[1] for condition in reading.found if condition[0] == "sliced")}
    conditions = [_of_liquid(condition) for condition in reading.found]
    conditions = [tuple(slice_of(one) if one in cut else one for one in condition) for condition in conditions]
    return WantedFacts(tuple(dict.fromkeys(conditions)), tuple(dict.fromkeys(reading.unread)))
