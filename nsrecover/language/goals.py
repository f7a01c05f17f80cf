"""A success condition in English → conditions over the household's predicates, and what of it cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeAlias

from nsrecover.core.facts import StateFact
from nsrecover.domains.household.kinds import CATEGORIES, KINDS, LIQUIDS, Trait, could_mean, traits_of
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
_SAY_NOTHING = (
    "either", "then", "successfully", "correctly", "safely", "before the end", "by the end", "now", "today", "tonight",
    "later", "tomorrow",
)  # fmt: skip
_AS_LIKELY = 0.05
"""Readings that cost at most so much more than the best one mean the same, or nobody can tell which is meant."""
_PARTS = ("door", "lid")
_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6}


@dataclass(frozen=True)
class Named:
    """A noun phrase of a goal: the object with what is said about it in the phrase."""

    name: str
    states: tuple[str, ...] = ()
    count: str = ""
    contents: tuple[Named, ...] = ()
    which: tuple[Property, ...] = ()


@dataclass(frozen=True)
class Property:
    """What is claimed about an object: a state, a relation to another one or a liquid (`filled`), denied or not.

    Attributes:
        kind: the state or relation.
        value: the other object.
        denied: whether it is not so.
        inverse: whether the other object is in that relation to this one: the cup of `the shelf holds the cup`.
    """

    kind: str
    value: Named | str
    denied: bool = False
    inverse: bool = False


@dataclass(frozen=True)
class Said:
    """A claim: properties of objects, or those of the claim before.

    Attributes:
        about: the objects; none for those of the claim before.
        properties: of the objects; with `likewise` those that deny what the claim before said, or none.
        likewise: whether the properties of the claim before are meant.
        absolute: whether "it" is what the claim before is about: `the tray is on the desk with a cup on it`.
    """

    about: tuple[Named, ...]
    properties: tuple[Property, ...]
    likewise: bool = False
    absolute: bool = False


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
    which: tuple[Property, ...] | None = None,
) -> Named:
    if name == "door" and holding and len(holding) == 1:
        return holding[0]
    return Named(name, states, count or "", holding or (), which or ())


Properties: TypeAlias = tuple[Property, ...] | Property


def _several(*given: Properties | None) -> tuple[Property, ...]:
    """Properties in a row; one that holds several objects is several."""
    return tuple(each for some in given if some for each in (some if isinstance(some, tuple) else (some,)))


def _claim(
    about: tuple[Named, ...],
    first: Properties | None = None,
    rest: tuple[Properties, ...] = (),
    be: tuple[str, ...] = (),
) -> Costly:
    one = len(about) == 1 and not about[0].name.endswith("<s>")
    disagrees = ("are" in be and one) or (bool({"is", "stands", "lies", "sits"} & set(be)) and len(about) > 1)
    return Costly(Said(about, _several(first, *rest)), float(disagrees))


def _holding(contents: tuple[Named, ...], place: str = "in") -> Properties:
    if contents == (NOTHING,):
        return Property("empty", "")
    return tuple(Property(place, each, inverse=True) for each in contents)


def _denied(what: Properties) -> tuple[Property, ...]:
    return tuple(replace(each, denied=not each.denied) for each in _several(what))


def _switched(about: tuple[Named, ...] | Named, state: str) -> Said:
    return Said(about if isinstance(about, tuple) else (about,), (Property(state, ""),))


_BUILDERS: dict[str, Meaning] = {
    "whole": lambda first, rest: (first, *rest),
    "same_subject": lambda first: Said((), _several(first)),
    "likewise": lambda about: Said(about, (), likewise=True),
    "unlike": lambda about: Said(about, (Property("not", ""),), likewise=True),
    "absolute": lambda claim: replace(claim, absolute=True),
    "held": lambda about: Said(about, (Property("holding", ""),)),
    "in_hand": lambda: Property("holding", ""),
    "claim": _claim,
    "claim_in_place": lambda about, first, rest: Said(about, _several(first, rest)),
    "made": _switched,
    "filled": lambda about, of: Said(about, (Property("filled", of),)),
    "watered": lambda about: Said(about, (Property("filled", Named("water")),)),
    "placed": lambda about, at, place: Said((about,), (Property(place, at),)),
    "fastened": lambda about, at: Said(about, (Property("attached", at),)),
    "holding": _holding,
    "holding_fast": lambda contents: _holding(contents, "attached"),
    "denied": _denied,
    "none": lambda about, first: Said((replace(about, count="all"),), _denied(first)),
    "taken": lambda about, at: Said(about, (Property("at", at, denied=True),)),
    "inside": lambda: Property("in", IT),
    "away": lambda at: Property("at", at, denied=True),
    "at_place": lambda place, at: Property(place, at) if at != NOTHING else None,
    "at_it": lambda place: Property(place, IT),
    "state": lambda state: Property(state, ""),
    "state_filled": lambda of: Property("filled", of),
    "state_watered": lambda: Property("filled", Named("water")),
    "things": lambda first, rest: (first, *rest),
    "it": lambda: IT,
    "nothing": lambda: NOTHING,
    "noun": _noun,
    "name": _name,
    "that_one": lambda before: " ".join((*before, "<one>")),
    "slices": lambda words="", before="": normal(words or before) + SLICE,
    "contents": lambda contents: Costly(contents, -0.3 * len(contents)) if IT not in contents else None,
    "contents_in": lambda contents: contents if IT not in contents else None,
    "which": lambda first, rest=(): Costly(_several(first, *rest), -0.1 * len(rest)),
    "which_has": lambda about: (Property("attached", about, inverse=True),),
    "same": lambda what: what,
}


@cache
def grammar() -> Grammar:
    """The grammar of goals."""
    return grammar_of("goals", _BUILDERS)


@cache
def _vocabulary(names: tuple[str, ...], own_states: tuple[str, ...] = ()) -> Vocabulary:
    """The words of goals over objects with names and states, besides those of the household."""
    words = Vocabulary(grammar(), _SAY_NOTHING)
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
        self.names = None if names is None else list(map(normal, names))
        self.found, self.unread = list[StateFact](), list[str]()
        self._subjects, self._before, self._mentioned = list[str](), list[str](), list[str]()
        self._said: tuple[Property, ...] = ()
        self._around, self._main = list[str](), list[str]()

    def add(self, said: Said) -> None:
        """Add the conditions of a claim."""
        properties: tuple[Property, ...] = said.properties
        if said.likewise:
            self.unread += ["so"] if any(each.inverse for each in self._said) else []
            properties = _denied(self._said) if properties else self._said
        self._main = self._subjects if said.absolute else []
        if said.about:
            before = self._subjects
            wanted = {trait for each in properties for trait in _NEEDS.get(each.kind, ())}
            found = [name for each in said.about for name in self._objects(each, wanted)]
            self._before, self._subjects = (self._before if found == before else before), found
        self._said = properties
        for each in properties:
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
            fitting = fitting or [*dict.fromkeys(self._around or spoken)]
            if not fitting or (wanted and len(fitting) > 1 and not traits_of(noun(fitting[0])) & set(wanted)):
                self.unread.append("it")
            return fitting[:1]
        found = self._counted(named)
        self._mentioned += found
        for name in found:
            for state in named.states:
                self._claim(name, Property(state, ""))
            for each in (*(Property("in", one, inverse=True) for one in named.contents), *named.which):
                self._claim(name, each)
        return found

    def _counted(self, named: Named) -> list[str]:
        """The objects that a noun with a number may name; none, with a note, if they are not known."""
        name, plural = named.name.removesuffix("<s>"), named.name.endswith("<s>")
        if self.names is None:
            return [f"{name}s" if plural and CATEGORIES.get(name) else name]
        if name in LIQUIDS:
            return [name]
        if name.endswith("<one>"):
            alike = [each for each in self.names if each.startswith(name.removesuffix("<one>"))]
        elif CATEGORIES.get(name) and not any(same(each, name) for each in self.names):
            alike = [each for each in self.names if could_mean(name, each)]
            if alike and (plural or set(self.names) >= CATEGORIES[name]):  # whichever of a domain's own kinds
                return [f"{name}s" if plural else name]
        else:
            alike = [each for each in self.names if same(whole(each), whole(name)) or noun(each).endswith(f" {name}")]
        if not alike and name in _PARTS and len({*(self._around or self._mentioned)}) == 1:
            return (self._around or self._mentioned)[:1]
        nouns = {noun(each) for each in alike}
        if not alike or (len(nouns) > 1 and noun(name) not in nouns):
            self.unread.append(name.replace("<one>", "one"))
            return []
        number = 2 if named.count.startswith("both") else _COUNTS.get(named.count, 0)
        single = [each for each in alike if noun(each) != each] or alike[:1]
        if number and number != len(single):
            self.unread.append(f"{named.count} {name}")
            return []
        several = number or ((plural or named.count) and len(single) > 1)
        return single if several else [name if noun(name) in nouns or same(whole(alike[0]), whole(name)) else alike[0]]

    def _claim(self, name: str, what: Property) -> None:
        if not isinstance(what.value, Named):
            self._state(name, what)
        elif what.kind == "filled" or (what.inverse and what.value.name in LIQUIDS):
            self._filled(name, what)
        else:
            others = self._there(name, what.kind) if what.value == IT else self._objects(what.value)
            self._around += (others if not what.inverse else [name]) if what.kind == "in" else []
            relation = "at" if what.kind == "in" else what.kind
            self.unread += [] if others else ["it"] if what.value == IT else []
            for other in others:
                pair = (other, name) if what.inverse else (name, other)
                if name != other:
                    denied = ("away_from",) if relation == "at" else ("not", relation)
                    self.found.append((*(denied if what.denied else (relation,)), *pair))

    def _filled(self, name: str, what: Property) -> None:
        """That something is filled with a liquid, or holds an object."""
        value = what.value
        assert isinstance(value, Named)
        if what.denied:
            self.unread.append(f"not filled with {value.name}")
        elif value.name in LIQUIDS or self.names is None:
            self.found.append(("filled", name, value.name))
            for state in value.states:
                self._claim(name, Property(state, ""))
        else:
            self.found += [("at", each, name) for each in self._objects(value)]

    def _state(self, name: str, what: Property) -> None:
        state = OPPOSITE_STATE.get(what.kind, f"not {what.kind}") if what.denied else what.kind
        if name in LIQUIDS:
            name = next((fact[2] for fact in self.found if fact[:2] == ("at", name)), name)
        if state in _UNSERVED or state.removeprefix("not ") == "holding" != state:
            self.unread.append(state)
        else:
            self.found.append((_PREDICATES.get(state, state), name))

    def _there(self, name: str, relation: str) -> list[str]:
        """What "it" is as a place: what was spoken of before and can be one; none if it may be several."""
        spoken = dict.fromkeys(self._main or (*self._before, *self._subjects, *self._mentioned))
        able = {"in": {Trait.HOLLOW}, "at": {Trait.FLAT}}.get(relation, set[Trait]())
        fit = [one for one in spoken if one != name and (not able or not traits_of(one) or traits_of(one) & able)]
        return fit if len(fit) == 1 else []


def _of_liquid(condition: StateFact) -> StateFact:
    """A liquid that is in something fills it."""
    in_it = condition[0] == "at" and condition[1] in LIQUIDS
    return ("filled", condition[2], condition[1]) if in_it else condition


def _evaluated(claims: Iterable[Said], names: Sequence[str] | None) -> _Evaluation:
    reading = _Evaluation(names)
    for said in claims:
        reading.add(said)
    return reading


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
    readings = [_evaluated(meaning, names) for cost, meaning in found if cost <= found[0][0] + _AS_LIKELY]
    reading = readings[0]
    if any(set(each.found) != set(reading.found) for each in readings):
        reading.unread.append("more than one meaning")
    cut = {*sliced, *(condition[1] for condition in reading.found if condition[0] == "sliced")}
    conditions = [_of_liquid(condition) for condition in reading.found]
    conditions = [tuple(slice_of(one) if one in cut else one for one in condition) for condition in conditions]
    return WantedFacts(tuple(dict.fromkeys(conditions)), tuple(dict.fromkeys(reading.unread)))
