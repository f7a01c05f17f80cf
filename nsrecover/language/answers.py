"""Answers of a person: which options they name or deny, and whether a report is agreed to, denied or cancelled."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from nsrecover.language.chart import Grammar, Meaning
from nsrecover.language.lattice import Vocabulary, tokens
from nsrecover.language.rules import grammar_of
from nsrecover.language.tables import WORDS, listed
from nsrecover.util.python310 import StrEnum


class Attitude(StrEnum):
    """What an answer does, besides naming something."""

    YES = "yes"
    NO = "no"
    CANCEL = "cancel"
    UNDO = "undo"
    NONE = "none"
    UNSURE = "unsure"
    UNCLEAR = "unclear"


@dataclass(frozen=True)
class Choice:
    """Which options an answer means.

    Attributes:
        names: the options that are meant; several only if all of them are wanted.
        denied: the options that are said not to be meant.
        attitude: what the answer does if it names none.
    """

    names: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    attitude: Attitude = Attitude.UNCLEAR


@dataclass(frozen=True)
class Reply:
    """What a person says to a report or a proposal.

    Attributes:
        attitude: yes, no, cancel, undo, or unclear.
        rest: further words, which are a command or a correction; empty if there are none.
    """

    attitude: Attitude
    rest: str = ""


@dataclass(frozen=True)
class _Option:
    kind: str
    parts: tuple[frozenset[str], ...] = ()
    denied: bool = False
    joined: str = ""


def _described(parts: Sequence[frozenset[str] | None]) -> _Option | None:
    told = tuple(part for part in parts if part is not None)
    return _Option("named", told)


def _denied(option: _Option) -> _Option | None:
    return replace(option, denied=True) if option.kind in ("named", "other", "all") and not option.denied else None


_BUILDERS: dict[str, Callable[..., Meaning]] = {
    "reply": lambda parts, rest=None: (*parts, rest or ""),
    "empty": lambda: "",
    "agree": lambda: _Option("yes"),
    "approve": lambda: _Option("fine"),
    "deny": lambda: _Option("no"),
    "cancel": lambda: _Option("cancel"),
    "undo": lambda: _Option("undo"),
    "rest": lambda rest: " ".join(rest),
    "options": lambda first, rest: (first, *rest),
    "same": lambda option: option,
    "joined": lambda join, option: replace(option, joined=join),
    "denied_option": _denied,
    "every": lambda: _Option("all"),
    "whichever": lambda: _Option("any"),
    "nothing_of": lambda: _Option("none"),
    "unsure": lambda: _Option("unsure"),
    "other": lambda: _Option("other"),
    "described": _described,
    "nothing_said": lambda: frozenset(("",)),
}
_ALONE = {"none": Attitude.NONE, "unsure": Attitude.UNSURE, "cancel": Attitude.CANCEL, "no": Attitude.NO}


@cache
def _grammar() -> Grammar:
    return grammar_of("answers", _BUILDERS)


def read_reply(answer: str, things: Sequence[str] = ()) -> Reply:
    """What an answer to "Is that what you wanted?", or to a proposal, says.

    Args:
        answer: in English; silence is unclear.
        things: what was moved, which may be wanted back.
    """
    words = Vocabulary(_grammar())
    words.add(things, "thing")
    readings = _grammar().readings(words.lattice(tokens(answer), every="any"), "Reply")
    parts = [part for part in readings[0][1] if part != ""] if readings else []
    rest = " ".join(part for part in parts if isinstance(part, str))
    kinds = [part.kind for part in parts if isinstance(part, _Option)]
    for kind, attitude in (("cancel", Attitude.CANCEL), ("undo", Attitude.UNDO), ("fine", Attitude.YES)):
        if kind in kinds:
            return Reply(attitude, rest)
    if "no" in kinds:
        return Reply(Attitude.NO, rest)
    return Reply(Attitude.YES if "yes" in kinds else Attitude.UNCLEAR, rest)


def read_choice(answer: str, options: Mapping[str, Sequence[str]]) -> Choice:
    """Which of some options an answer means.

    Args:
        answer: in English.
        options: each with its other names, or words that tell it from the others.
    """
    words = Vocabulary(_grammar(), listed(WORDS["skipped in answers"]), ("part",))
    texts = {name: (name, *others) for name, others in options.items()}
    whole = {text.lower(): frozenset((name,)) for name, each in texts.items() for text in each}
    single = {part for text in whole for part in re.findall(r"[^\W_]+", text)} - {"the", "a", "to", "on", "and", "or"}
    for part in single - whole.keys():
        words.add(
            (part,), "part", frozenset(n for n, each in texts.items() if any(part in t.lower().split() for t in each))
        )
    for text, names in whole.items():
        words.add((" ".join(tokens(text)),), "part", names, 0.5)
    for place, numbers in enumerate(("first, former", "second", "third", "fourth")):
        if place < len(options):
            words.add(numbers.split(", "), "part", frozenset((list(options)[place],)))
    words.add(("last", "latter"), "part", frozenset(list(options)[-1:]))
    readings = _grammar().readings(words.lattice(tokens(answer)), "Chosen")
    choices = [_meant(reading, list(options)) for _, reading in readings[:4]]
    return next((each for each in choices if each.names or each.attitude is not Attitude.UNCLEAR), _first(choices))


def _first(choices: Sequence[Choice]) -> Choice:
    return choices[0] if choices else Choice()


def _meant(reading: Sequence[_Option], options: Sequence[str]) -> Choice:
    """The options that a reading of an answer leaves."""
    kept = [k for k, each in enumerate(reading) if each.kind == "no" and k + 1 < len(reading)]
    reading = reading[kept[-1] + 1 :] if kept else reading  # "the red one, no, the blue one"
    named = [(each, _fitting(each, options)) for each in reading if each.kind == "named"]
    denied = frozenset(n for each, fitting in named if each.denied for n in fitting)
    kinds = {each.kind: each.denied for each in reading}
    left = [name for name in options if name not in denied]
    wanted = [fitting for each, fitting in named if not each.denied]
    gone = tuple(name for name in options if name in denied)
    if "all" in kinds:
        return Choice((), gone) if kinds["all"] else Choice(tuple(left), gone)
    if any(not fitting for _, fitting in named):
        return Choice((), gone)
    if wanted:
        single = [fitting - denied for fitting in wanted]
        if any(len(each) != 1 for each in single):
            return Choice((), gone)
        names = tuple(dict.fromkeys(name for each in single for name in each))
        joined = {each.joined for each in reading[1:]}
        return Choice(names if len(names) == 1 or joined == {"and"} else (), gone)
    if "any" in kinds:
        return Choice(tuple(left[:1]), gone)
    for kind, attitude in _ALONE.items():
        if kind in kinds and not denied:
            return Choice((), (), attitude)
    if "yes" in kinds and not denied:
        return Choice(tuple(options) if len(options) == 1 else (), (), Attitude.YES)
    one = (len(left) == 1 and len(options) == 2) or (len(left) == 1 and "other" in kinds)
    return Choice(tuple(left) if denied and one else (), gone)


def _fitting(option: _Option, options: Sequence[str]) -> frozenset[str]:
    told = [part for part in option.parts if part != frozenset(("",))]
    return frozenset(options).intersection(*told) if told else frozenset()
