"""PDDL text as nested lists that know their place, so that an error names the line."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nsrecover.errors import InvalidConfiguration
from nsrecover.util.untrusted_json import MAX_BYTES

MOST_NESTED = 200
"""Largest accepted number of brackets inside one another."""

MOST_PARTS = 500_000
"""Largest accepted number of brackets and words of a text."""

_TOKEN = re.compile(r";[^\n]*|[()]|[^\s();]+")
_NAME = re.compile(r"[\w.+*/<>=!@#$%&~^-]+")


@dataclass(frozen=True, eq=False)
class Source:
    """A text, in lower case as PDDL does not tell upper from lower, and how messages call it."""

    name: str
    text: str

    @cached_property
    def _ends(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.text)]

    def wrong(self, at: int, expected: str, found: str, fix: str) -> InvalidConfiguration:
        """An error at a place of the text, for the caller to raise."""
        line = bisect_left(self._ends, at) + 1
        return InvalidConfiguration(f"expected {expected}, found {found} in line {line} of {self.name}; {fix}")


class Form(list["str | Form"]):
    """What is between two brackets.

    Attributes:
        at: where it begins in the text.
        source: the text.
    """

    __slots__ = ("at", "source")

    def __init__(self, source: Source, at: int) -> None:
        super().__init__()
        self.source, self.at = source, at

    def __str__(self) -> str:
        return f"({' '.join(map(str, self))})"

    @property
    def head(self) -> str:
        """Its first word; empty if it begins with a bracket or has nothing."""
        return self[0] if self and isinstance(self[0], str) else ""

    @property
    def forms(self) -> Iterator[Form]:
        """What follows the head.

        Raises:
            InvalidConfiguration: (when asked for) a part is a word.
        """
        for part in self[1:]:
            if not isinstance(part, Form):
                raise self.wrong("brackets", repr(part), f"write ({part}) if it is a fact")
            yield part

    def words(self, start: int = 0) -> list[str]:
        """Its parts from one on, all of which have to be words."""
        for part in self[start:]:
            if isinstance(part, Form):
                raise part.wrong("a name", f"{part}", "leave out the brackets")
        return [str(part) for part in self[start:]]

    def one(self) -> Form:
        """The only part after the head."""
        parts = list(self.forms)
        if len(parts) != 1:
            raise self.wrong(f"one part of ({self.head} …)", str(len(parts)), "join several with (and …)")
        return parts[0]

    def wrong(self, expected: str, found: str, fix: str) -> InvalidConfiguration:
        """An error at this place, for the caller to raise."""
        return self.source.wrong(self.at, expected, found if len(found) < 120 else f"{found[:120]}…", fix)


def read(source: str | Path, what: str) -> Form:
    """The outermost form `(define …)` of a PDDL text.

    Args:
        source: a file, or the text itself, which begins with a bracket or a comment.
        what: "domain" or "problem".

    Raises:
        InvalidConfiguration: the file cannot be read, or the brackets do not fit.
    """
    made = Source(*_loaded(source, what))
    stack = [Form(made, 0)]
    for number, match in enumerate(_TOKEN.finditer(made.text)):
        token, at = match[0], match.start()
        if number > MOST_PARTS:
            raise made.wrong(at, f"at most {MOST_PARTS} brackets and words", "more", "leave out what is not needed")
        if token == "(":
            if len(stack) > MOST_NESTED:
                raise made.wrong(at, f"at most {MOST_NESTED} brackets inside one another", "more", "write it flatter")
            stack[-1].append(inner := Form(made, at))
            stack.append(inner)
        elif token == ")":
            if len(stack) == 1:
                raise made.wrong(at, "an opening bracket for each closing one", "')'", "take it out")
            stack.pop()
        elif token[0] != ";":
            stack[-1].append(token)
    if len(stack) > 1:
        raise stack[-1].wrong("a closing bracket for each opening one", f"none for ({stack[-1].head}", "close it")
    return _defined(stack[0], what)


def _defined(whole: Form, what: str) -> Form:
    """The form `(define (domain name) …)`, which has to be the only one, without its two first parts' brackets."""
    if len(whole) != 1 or not isinstance(whole[0], Form) or whole[0].head != "define":
        raise whole.wrong(f"one (define ({what} …) …)", f"{len(whole)} parts" if len(whole) != 1 else str(whole[0]),
                          f"give a text with the {what} and nothing else")  # fmt: skip
    form = whole[0]
    title = form[1] if len(form) > 1 and isinstance(form[1], Form) else form
    if title.head != what or len(title) != 2 or not isinstance(title[1], str):
        raise title.wrong(f"({what} and its name)", str(title), f"give the {what} first")
    return form


def checked_name(name: str, form: Form) -> str:
    """A name that something is declared by."""
    if not _NAME.fullmatch(name) or name == "-":
        raise form.wrong("a name of letters, digits, - and _", repr(name), "rename it")
    return name


def _loaded(source: str | Path, what: str) -> tuple[str, str]:
    """The name of a source for messages, and its text."""
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith(("(", ";")):
        return f"the {what}", source.lstrip("\ufeff").lower()
    try:
        with Path(source).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise InvalidConfiguration(
            f"expected a file with PDDL, or PDDL itself, found {str(source)[:120]!r} ({error}); give the path of a file"
        ) from error
    if len(data) > MAX_BYTES:
        raise InvalidConfiguration(f"expected a file of at most {MAX_BYTES:,} bytes, found more: {source}; split it")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:  # comments in other alphabets
        text = data.decode("latin-1")
    if "\0" in text:
        raise InvalidConfiguration(f"expected PDDL in UTF-8, found UTF-16 or binary data: {source}; save it as UTF-8")
    return Path(source).name, text.lower()
