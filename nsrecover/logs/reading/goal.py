"""The success condition of a task, from its English to typed conditions over the state of the household."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import State
from nsrecover.domains.household.kinds import CATEGORIES, LIQUIDS, could_mean
from nsrecover.domains.household.names import normal, same, slice_of, whole
from nsrecover.domains.household.scene import Household, holds

_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\b(?:e\.g\.|for example,?|i\.e\.)[^,;]*")
"""What is said by the way: brackets, and examples."""

_PHRASES = (
    (r"(?<!\bthe )(?<!\ba )\bdoors?\b(?= (?:is|are|stays?|closed|shut|open))", " "),
    (r"\b(?:is|are|was|has been|have been) watered\b", "<filled> water"),
    (r"\b(?:in|inside|on|on top of) (?:it|them)\b", "<there>"),
    (r"\bthere (?:is|are)\b", " "),
    (r"\b(?:has|have)(?: been)?\b", " "),
    (r"\bfilled (?:up )?with\b|\bcontain(?:s|ing)?\b|\bfull of\b|\bholds\b", "<filled>"),
    (r"\b(?:turned|switched|toggled) on\b|\brunning\b|\b(?:is|are) on(?= *(?:[.,;]|and\b|$))", "<running>"),
    (r"\b(?:turned|switched|toggled) off\b|\b(?:is|are) off(?= *(?:[.,;]|and\b|$))|\bnot running\b", "<off>"),
    (r"\bnot dirty\b", "clean"),
    (r"\b(?:warmed|heated) up\b", "heated"),
    (r"\bbroken open\b", "cracked"),
    (r"\b(?:that|which) (?:is|are)\b", "<that>"),
    (r"\b(?:stands|sits|lies|rests|stays|located|stored|placed|put|served|standing|lying)\b", " "),
    (r"\b(?:on top of|on top|onto|upon|on|at)\b", "<on>"),
    (r"\b(?:inside of|inside|into|within|in)\b", "<in>"),
    (r"\b(?:is|are|be|been|being)\b", "<is>"),
    (r"\b(?:a|an|the|then|also|it|all|both|some)\b", " "),
)
_STATES = {
    word: state
    for state, words in {
        "intact": "intact unbroken undamaged",
        "running": "<running>",
        "off": "<off>",
        "open": "open opened",
        "closed": "closed shut",
        "cracked": "cracked",
        "sliced": "sliced cut",
        "clean": "clean cleaned washed spotless",
        "dirty": "dirty",
        "empty": "empty",
        "hot": "heated hot warm warmed cooked toasted boiled",
    }.items()
    for word in words.split()
}
_MARKS = frozenset({"<there>", "<filled>", "<that>", "<on>", "<in>", "<is>", "with", "of", "and", ","})

_LONGEST_NAME = 5
"""Words that a name has at most; more is a text."""

_MAX_BINDINGS = 2000
"""Bindings of names to objects beyond this number are not tried."""


@dataclass(frozen=True)
class Goal:
    """The success condition of a task; names may leave the ordinal out.

    Attributes:
        conditions: as in `nsrecover.domains.household.scene.holds`.
    """

    conditions: tuple[StateFact, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Every object that the goal names."""
        return tuple(dict.fromkeys(name for condition in self.conditions for name in _objects(condition)))

    def bound(self, state: State, home: Household, plan: Sequence[Action]) -> tuple[StateFact, ...]:
        """The conditions with objects for names: those for which most conditions hold, then those the plan uses."""
        everything = list(_everything(self.conditions, home, plan))
        if everything != list(self.conditions):
            return Goal(tuple(everything)).bound(state, home, plan)
        used = [name for step in plan for name in step.arguments]
        options = [sorted(home.instances(name), key=lambda one: -used.count(one)) for name in self.names]

        def score(chosen: tuple[str, ...]) -> tuple[int, int, int]:
            met = [c for c in self.with_names(chosen) if holds(state, c, home)]
            return len(met), sum(c[0] == "at" for c in met), sum(used.count(name) for name in set(chosen))

        best = max(itertools.islice(itertools.product(*options), _MAX_BINDINGS), key=score, default=())
        return self.with_names(best)

    def with_names(self, chosen: Sequence[str]) -> tuple[StateFact, ...]:
        """The conditions with other names, one for each of `names`."""
        return tuple(_renamed(self.conditions, dict(zip(self.names, chosen, strict=True))))


def _everything(conditions: Iterable[StateFact], home: Household, plan: Sequence[Action]) -> Iterator[StateFact]:
    """Conditions about all things of a kind (`fruits`), for each of them; nothing else that the plan puts there."""
    put = {step.arguments for step in plan if step.operator in ("put_in", "put_on")}
    for condition in conditions:
        word = condition[1].removesuffix("s") if len(condition) > 1 else ""
        if condition[0] != "at" or condition[1] == word or not CATEGORIES.get(word):
            yield condition
            continue
        meant = [name for name in home.names if could_mean(word, name)]
        yield from (("at", name, condition[2]) for name in meant)
        for thing, place in sorted(pair for pair in put if len(pair) == 2):
            if same(place, condition[2]) and not could_mean(word, whole(thing)):
                yield ("away_from", thing, place)


def _objects(condition: StateFact) -> tuple[str, ...]:
    return condition[1:2] if condition[0] == "filled" else condition[1:]


def _renamed(conditions: Iterable[StateFact], names: Mapping[str, str]) -> Iterator[StateFact]:
    """Conditions with other names for their objects; liquids keep theirs."""
    for condition in conditions:
        objects = _objects(condition)
        yield (condition[0], *(names.get(name, name) for name in objects), *condition[1 + len(objects) :])


def goal_of(text: str, plan: Sequence[Action] = ()) -> Goal:
    """Parse a success condition.

    Args:
        text: e.g. `a pot is filled with water, the pot is on top of a stove burner that is turned on.`
        plan: the steps of the robot; slices are meant of what it slices.

    Returns:
        The conditions, in the order of the text.
    """
    found = _Parser(_tokens(text)).conditions()
    cut = {step.arguments[0] for step in plan if step.operator == "slice_obj" and step.arguments}
    cut |= {condition[1] for condition in found if condition[0] == "sliced"}
    # A liquid that is in something fills it.
    found = [("filled", c[2], c[1]) if c[0] == "at" and c[1] in LIQUIDS else c for c in found]
    return Goal(tuple(dict.fromkeys(_renamed(found, {name: slice_of(name) for name in cut}))))


def _tokens(text: str) -> list[str]:
    # Camel case is split before the case is lost.
    text = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text).lower()
    text = re.sub(r"[.;](?= |$)|,", " , ", _ASIDE.sub(" ", text))
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
    """Goes through the tokens once and keeps the subject of the sentence."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens, self._found = tokens, list[StateFact]()
        self._subject = self._last = self._it = ""
        self._group, self._said, self._open = list[str](), False, False

    def conditions(self) -> list[StateFact]:
        """Every condition of the text."""
        position, target, waiting, heating = 0, "", list[str](), False
        while position < len(self._tokens):
            token = self._tokens[position]
            position += 1
            if token == "<that>":
                target = self._last
            elif token in _STATES and self._is_name(position):
                waiting.append(_STATES[token])
            elif token == "<there>" and self._it:  # in the subject of the sentence before
                self._say(*(("at", one, self._it) for one in self._subjects() if one != self._it))
            elif token in _STATES:
                self._say(*((_STATES[token], one) for one in ([target] if target else self._subjects())))
                heating, target = _STATES[token] == "hot", ""
            elif token in ("<in>", "<on>", "<filled>", "with", "of"):
                began = position
                for one in [target] if target else self._subjects():
                    position = self._related(token, one, began, silent=heating)
                heating, target = False, ""
            elif token not in _MARKS and len(token.split()) <= _LONGEST_NAME:
                before = self._tokens[position - 2 - len(waiting)] if position - 2 - len(waiting) >= 0 else ""
                joined = before in ("and", ",") and bool(self._group) and not self._said
                self._it = self._it if joined else self._subject
                self._subject = self._last = normal(token)
                self._group = [*self._group, self._subject] if joined else [self._subject]
                self._said, self._open = False, joined and before == ","
                self._found += [(state, self._subject) for state in waiting]
                waiting, heating, target = [], False, ""
        return self._found

    def _subjects(self) -> list[str]:
        """What a condition is about: all things of a list that ends with "and", else the last one."""
        return [self._subject] if self._open else list(self._group)

    def _related(self, token: str, who: str, position: int, silent: bool) -> int:
        """Read what follows a preposition, one name, or for `with` and `of` a list of them; the next position."""
        many = token in ("with", "of")
        # A heated object need not stay in what heated it.
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
                self._say(("filled", who, name), *((state, who) for state in states))
            elif not silent:
                self._say(("at", name, who) if many else ("at", who, name), *((state, name) for state in states))
                self._last = name if not many else who
            ahead = position
            while ahead < len(self._tokens) and self._tokens[ahead] in (",", "and"):
                ahead += 1
            # The list goes on unless the next name is the subject of a sentence of its own.
            if not many or ahead == position or not self._is_name(ahead):
                return position
            if self._tokens[ahead + 1 : ahead + 2] == ["<is>"] and self._tokens[ahead - 1] != "and":
                return position
            position = ahead

    def _is_name(self, position: int) -> bool:
        """Whether a name, possibly with states before it, begins at a position."""
        while position < len(self._tokens) and self._tokens[position] in _STATES:
            position += 1
        return position < len(self._tokens) and self._tokens[position] not in _MARKS

    def _say(self, *conditions: StateFact) -> None:
        self._said = True
        self._found += [condition for condition in conditions if all(condition)]
