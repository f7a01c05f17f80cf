"""The success condition of a task, from its English to typed conditions over the state of the household."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nsrecover.domains.base import Fact, State
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.household.names import is_slice, normal, slice_of
from nsrecover.domains.household.scene import Household, holds
from nsrecover.explanation.logs.records import Step

LIQUIDS = frozenset({"water", "coffee", "wine", "milk", "tea", "juice", "soup"})

_PHRASES = (
    (r"\bfilled (?:up )?with\b|\bcontaining\b", "<filled>"),
    (r"\b(?:turned|switched|toggled) on\b|\brunning\b", "<running>"),
    (r"\b(?:turned|switched|toggled) off\b", "<off>"),
    (r"\b(?:that|which) (?:is|are)\b", "<that>"),
    (r"\b(?:on top of|on top|onto|upon|on|at)\b", "<on>"),
    (r"\b(?:inside of|inside|into|within|in)\b", "<in>"),
    (r"\b(?:is|are|be|been|being)\b", "<is>"),
    (r"\b(?:a|an|the|then|also|it|stored|placed|put|served|located|standing|all|both|some|has|have)\b", " "),
)
_STATES = {
    "<running>": "running",
    "<off>": "off",
    "open": "open",
    "opened": "open",
    "closed": "closed",
    "cracked": "cracked",
    "sliced": "sliced",
    "cut": "sliced",
    "clean": "clean",
    "cleaned": "clean",
    "washed": "clean",
    "dirty": "dirty",
    "empty": "empty",
    "heated": "hot",
    "hot": "hot",
    "warm": "hot",
    "warmed": "hot",
    "cooked": "hot",
    "toasted": "hot",
    "boiled": "hot",
}
_MARKS = frozenset({"<filled>", "<that>", "<on>", "<in>", "<is>", "with", "of", "and", ","})

_UNTIED_LIMIT = 2000
"""Bindings of names to objects beyond this number are not tried."""


@dataclass(frozen=True)
class Goal:
    """What has to be so at the end; names may leave the ordinal out.

    Attributes:
        conditions: as in `nsrecover.domains.household.scene.holds`.
    """

    conditions: tuple[Fact, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Every object the goal speaks of."""
        found = (name for condition in self.conditions for name in _objects(condition))
        return tuple(dict.fromkeys(found))

    def bound(self, state: State, home: Household, plan: Sequence[Step]) -> tuple[Fact, ...]:
        """The conditions with objects for names: those of which most is so already, then those the plan works with."""
        used = [name for step in plan for name in step.arguments]
        options = [sorted(home.instances(name), key=lambda one: -used.count(one)) for name in self.names]

        def score(chosen: tuple[str, ...]) -> tuple[int, int, int]:
            met = [c for c in self.with_names(chosen) if holds(state, c, home)]
            return len(met), sum(c[0] == "at" for c in met), sum(used.count(name) for name in set(chosen))

        best = max(itertools.islice(itertools.product(*options), _UNTIED_LIMIT), key=score, default=())
        return self.with_names(best)

    def with_names(self, chosen: Sequence[str]) -> tuple[Fact, ...]:
        """The conditions with other names, one for each of `names`."""
        objects = dict(zip(self.names, chosen, strict=True))
        return tuple(
            (condition[0], *(objects.get(part, part) for part in condition[1:])) if condition[0] != "filled"
            else ("filled", objects[condition[1]], condition[2])
            for condition in self.conditions
        )  # fmt: skip


def _objects(condition: Fact) -> tuple[str, ...]:
    return condition[1:2] if condition[0] == "filled" else condition[1:]


def goal_of(text: str, plan: Sequence[Step] = ()) -> Goal:
    """Parse a success condition.

    Args:
        text: e.g. `a pot is filled with water, the pot is on top of a stove burner that is turned on.`
        plan: what the robot was to do; things it slices are meant in slices.

    Returns:
        The conditions, in the order of the text.
    """
    found = _Parser(_tokens(text)).conditions()
    cut = {step.arguments[0] for step in plan if step.operator == "slice_obj" and step.arguments}
    cut |= {condition[1] for condition in found if condition[0] == "sliced"}

    def meant(name: str) -> str:
        return slice_of(name) if name in cut else name

    return Goal(
        tuple(
            dict.fromkeys(
                ("filled", meant(condition[1]), condition[2])
                if condition[0] == "filled"
                else (condition[0], *(meant(name) for name in condition[1:]))
                for condition in found
            )
        )
    )


def _tokens(text: str) -> list[str]:
    # Camel case is split before the case is lost.
    text = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text).lower()
    text = re.sub(r"[.;]", " , ", text.replace(",", " , "))
    for pattern, token in _PHRASES:
        text = re.sub(pattern, f" {token} ", text)
    words: list[str] = []
    for word in text.split():
        # Words of one name become one token, states before it stay apart.
        plain = word not in _MARKS and word not in _STATES
        if plain and words and words[-1] not in _MARKS and words[-1] not in _STATES:
            words[-1] += f" {word}"
        else:
            words.append(word)
    return words


class _Parser:
    """Goes through the tokens once: who is spoken of, and what is said of it."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens, self._found = tokens, list[Fact]()
        self._subject = self._last = ""

    def conditions(self) -> list[Fact]:
        """Everything that is said."""
        position, target, waiting = 0, "", list[str]()
        heating = False
        while position < len(self._tokens):
            token = self._tokens[position]
            position += 1
            if token == "<that>":
                target = self._last
            elif token in _STATES:
                if self._is_name(position):
                    waiting.append(_STATES[token])
                    continue
                self._say((_STATES[token], target or self._subject))
                heating, target = _STATES[token] == "hot", ""
            elif token in ("<in>", "<on>", "<filled>", "with", "of"):
                position = self._related(token, target or self._subject, position, silent=heating)
                heating, target = False, ""
            elif token not in _MARKS:
                self._subject = self._last = normal(token)
                for state in waiting:
                    self._say((state, self._subject))
                waiting, heating, target = [], False, ""
        return self._found

    def _related(self, token: str, who: str, position: int, silent: bool) -> int:
        """What follows a preposition: one name, or for `with` and `of` a list of them."""
        many = token in ("with", "of")
        # A heated thing need not stay in what heated it.
        who = self._last if token == "of" else who
        while True:
            states = []
            while position < len(self._tokens) and self._tokens[position] in _STATES:
                states.append(_STATES[self._tokens[position]])
                position += 1
            if not self._is_name(position):
                return position
            name = normal(self._tokens[position])
            position += 1
            if name in LIQUIDS:
                self._say(("filled", who, name))
                for state in states:
                    self._say((state, who))
            elif not silent:
                self._say(("at", name, who) if many else ("at", who, name))
                for state in states:
                    self._say((state, name))
                self._last = name if not many else who
            ahead = position
            while ahead < len(self._tokens) and self._tokens[ahead] in (",", "and"):
                ahead += 1
            # The list goes on unless the next name is the subject of a sentence of its own.
            following = self._tokens[ahead + 1] if ahead + 1 < len(self._tokens) else ""
            last_of_list = self._tokens[ahead - 1] == "and" if ahead > position else True
            if not many or ahead == position or not self._is_name(ahead):
                return position
            if following == "<is>" and not last_of_list:
                return position
            position = ahead

    def _is_name(self, position: int) -> bool:
        if position >= len(self._tokens):
            return False
        token = self._tokens[position]
        if token in _STATES:
            return self._is_name(position + 1)
        return token not in _MARKS

    def _say(self, condition: Fact) -> None:
        if all(condition):
            self._found.append(condition)


def order_of(conditions: Iterable[Fact], home: Household) -> list[Fact]:
    """Conditions in the order in which they are best brought about: what a thing is like, where it is, what runs."""
    wanted = list(conditions)
    carried: dict[str, list[str]] = {}
    for condition in wanted:
        if condition[0] == "at":
            carried.setdefault(condition[1], []).append(condition[2])
    arranged: list[Fact] = []
    for condition in wanted:
        carriers = [p for p in carried.get(condition[1], []) if home.has(p, Trait.DISH)] if len(condition) > 1 else []
        # What lies on a dish that has to go somewhere goes there with the dish.
        if condition[0] == "at" and carriers and condition[2] not in carriers:
            condition = ("at", carriers[0], condition[2])
        arranged.append(condition)

    def rank(condition: Fact) -> tuple[int, int]:
        kinds = {
            "sliced": 0,
            "cracked": 0,
            "empty": 1,
            "clean": 2,
            "filled": 3,
            "hot": 4,
            "away_from": 4,
            "closed": 5,
            "at": 6,
        }
        rank = kinds.get(condition[0], 8)
        if condition[0] == "closed" and home.has(condition[1], Trait.DOOR):
            rank = 7
        depth = 0
        if condition[0] == "at":
            # Innermost first: the egg into the bowl before the bowl into the fridge.
            depth = sum(other[0] == "at" and other[2] == condition[1] for other in arranged)
        if condition[0] == "cracked" or is_slice(condition[1]):
            depth -= 1
        return rank, depth

    return sorted(dict.fromkeys(arranged), key=rank)
