"""What a question names: objects, actions, values, words that the run does not have; and the nearest known ones."""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import yaml

from nsrecover.core.actions import Action
from nsrecover.domains.base import StateVariable
from nsrecover.domains.domain import Domain
from nsrecover.explanation.phrases import instruction

NEAREST = 3
"""So many known questions are offered for one that is not understood."""
DETERMINERS = "the|a|an|my|your|our|any|this|that|these|those|some"
_WORD = re.compile(r"[a-z][a-z-]*")
_ANY_VERB = {"put", "set", "do", "go", "move"}
_ALIASES = {
    "tap": "faucet",
    "brick": "lego",
    "hob": "stove",
    "cooker": "stove",
    "refrigerator": "fridge",
    "tv": "television",
}
_SLIP = 0.85
"""Words of five letters or more that are so alike are one word, misspelled."""
_ENDINGS = ("", "s", "es", "ed", "ing", "d", "n")
_TOGETHER = 3
"""Length of the pieces of words that are compared."""


def mentioned(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the objects that a text names, in order.

    `The red block` is the red cube if it is the only red object, and `the plant` the house plant if there is no other.
    """
    found: dict[int, str] = {}
    masked = text.lower()
    for name in sorted(names, key=len, reverse=True):
        place = re.search(rf"(?<!\w){re.escape(name.lower())}(?!\w)", masked)
        if place:
            found[place.start()] = name
            masked = masked[: place.start()] + " " * len(place[0]) + masked[place.end() :]
    if not found:
        for place in re.finditer(r"(\w+) (?:block|one|thing|object|piece)\b", masked):
            fitting = [name for name in names if name.lower().split()[0] == place[1]]
            if len(fitting) == 1:
                found[place.start()] = fitting[0]
    if not found:
        for place in re.finditer(r"\b(?:the|that|this|your|my) (\w+)", masked):
            fitting = [name for name in names if name.lower().split()[-1] == place[1]]
            if len(fitting) == 1:
                found[place.start()] = fitting[0]
    return tuple(found[place] for place in sorted(found))


def in_own_words(question: str, names: Sequence[str]) -> str:
    """Return a question with the words of a run: `the tap` is the faucet, if the run has one and no tap."""
    own = {word for name in names for word in _WORD.findall(name.lower())}
    for word, meant in _ALIASES.items():
        if word not in own and meant in own:
            question = re.sub(rf"\b{word}\b", meant, question, flags=re.IGNORECASE)
    return question


def strange(question: str, names: Iterable[str], domain: Domain) -> tuple[str, ...]:
    """Return the words of a question that neither questions about runs have, nor the objects and words of this run."""
    own, plain, exact = {word for name in names for word in _WORD.findall(name.lower())}, *words_of(domain)
    words = dict.fromkeys(_WORD.findall(question.lower()))
    return tuple(
        word
        for word in words
        if word not in exact
        and not any(each in own or each in plain for each in _stems(word))
        and not (len(word) > 4 and difflib.get_close_matches(word, plain, 1, _SLIP))
    )


def fits(action: Action, question: str, domain: Domain) -> int:
    """Return how well a question names an action: 2 with its verb, 1 with none of the domain's, 0 with another one."""
    words = _WORD.findall(question.lower().replace("switch", "turn"))
    asked = {stem for word in words for stem in _stems(word)}
    verb, *rest = instruction(action, domain=domain).split()
    own, named = {"on", "off"} & set(rest), {"on", "off"} & asked
    if verb in asked and (not own or not named or own & named):
        return 2
    return int(not asked & {each.words.imperative.partition(" ")[0] for each in domain.operators.values()} - _ANY_VERB)


def values_named(question: str, domain: Domain) -> Iterator[tuple[StateVariable, str]]:
    """Yield the values of state variables that a question names."""
    for variable in domain.variables.values():
        for value in variable.values:
            words = domain.words.get(value)
            said = {value} if words is None else {value, words.imperative.removeprefix("{0} ").removeprefix("is ")}
            said |= {text.replace("turned", "switched") for text in said}
            patterns = [rf"\b{re.escape(text)}\b" for text in said]
            patterns += [rf"\b{text.split()[-1]}\W*$" for text in said if text.endswith((" on", " off"))]  # "is it on?"
            if any(re.search(pattern, question, re.IGNORECASE) for pattern in patterns):
                yield variable, value


def nearest(question: str, known: Sequence[str]) -> list[str]:
    """Return the known questions that are most like another one, by the pieces of their rarer words."""
    pieces = [_pieces(each) for each in known]
    often = Counter(piece for each in pieces for piece in each)
    asked = _pieces(question)

    def likeness(number: int) -> float:
        common = sum(1 / often[piece] for piece in asked & pieces[number])
        return common / math.sqrt(1 + sum(1 / often[piece] for piece in pieces[number]))

    return [known[i] for i in sorted(range(len(known)), key=likeness, reverse=True)[:NEAREST]]


def _pieces(text: str) -> set[str]:
    padded = (f" {word} " for word in _WORD.findall(text.lower()))
    return {word[i : i + _TOGETHER] for word in padded for i in range(len(word) - _TOGETHER + 1)}


def _stems(word: str) -> Iterator[str]:
    """Yield a word without its endings, as far as it may have some."""
    for ending in _ENDINGS:
        if word.endswith(ending):
            stem = word[: len(word) - len(ending)]
            yield from (stem, f"{stem}e")
            if ending in ("ed", "ing") and stem[-1:] == stem[-2:-1]:
                yield stem[:-1]


@cache
def known_questions() -> Mapping[str, Any]:
    """Return the kinds of questions that are understood, and the words that they may have; see `questions.yaml`."""
    text = resources.files(__package__).joinpath("questions.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


@cache
def _words(texts: frozenset[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in _WORD.findall(text.lower().replace("_", " ")))


def words_of(domain: Domain) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words that may have endings, of all questions and of the actions, and the words of states."""
    states = {*domain.predicates, *(words.imperative for words in domain.words.values())}
    states |= {value for variable in domain.variables.values() for value in variable.values}
    actions = {text for each in domain.operators.values() for text in (each.words.imperative, each.words.past)}
    return _words(frozenset({known_questions()["plain"], *actions})), _words(frozenset(states))
