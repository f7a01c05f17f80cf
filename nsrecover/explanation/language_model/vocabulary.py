"""The words of a text about one scene that are data: names of objects, actions and quotations."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

MARK = "\uf8ff"
"""First character of a stand-in for a name, an action or a quotation; a text that contains it is not parsed."""

LONGEST = 800
"""Sentences of more characters are not parsed."""

_PLAIN = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": ",", "\u00a0": " "}
)
_SHORT = {"can't": "cannot", "won't": "will not", "it's": "it is", "they're": "they are", "that's": "that is"}


@dataclass(frozen=True)
class MaskedText:
    """A text with stand-ins for its data.

    Attributes:
        text: in lower case, with one space between words.
        tokens: what the stand-ins stand for, by number.
        objects: for each token, the names of the objects in it.
    """

    text: str
    tokens: tuple[str, ...]
    objects: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class RewordingVocabulary:
    """The data in texts about one scene.

    Attributes:
        names: names of the objects.
        quotes: sentences that may be quoted literally.
    """

    names: tuple[str, ...]
    quotes: tuple[str, ...] = ()

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        # Longest first, so that `red cube` is not found inside `dark red cube`.
        names = "|".join(_spaced(name) for name in sorted(self.names, key=len, reverse=True))
        quotes = "|".join(_spaced(text) for text in sorted(self.quotes, key=len, reverse=True))
        parts = [
            rf"(?P<q>{quotes})" if quotes else "",
            rf"(?P<a>\b\w+\((?:{names})(?:, ?(?:{names}))*\))" if names else "",
            rf"(?P<n>[\u201c\"]?(?:{names})[\u201d\"]?)" if names else "",
        ]
        found = "|".join(part for part in parts if part)
        return re.compile(rf"(?<![\w-])(?:{found})(?![\w-])", re.IGNORECASE) if found else None

    def names_in(self, text: str) -> frozenset[str]:
        """Return the objects that a text names, including those in actions."""
        masked = self.mask(text)
        return frozenset(name for each in masked.objects for name in each) if masked is not None else frozenset()

    def mask(self, text: str) -> MaskedText | None:
        """Replace names, actions and quotations by stand-ins; return None if the rest is not plain ASCII."""
        tokens: list[str] = []
        objects: list[tuple[str, ...]] = []
        known = {" ".join(name.lower().split()): name for name in (*self.names, *self.quotes)}

        def stand_in(match: re.Match[str]) -> str:
            kind = match.lastgroup or "n"
            written = " ".join(match[0].lower().strip('\u201c\u201d"').split())
            if kind == "a":
                operator, inner = written[:-1].split("(", 1)
                parts = tuple(known[part] for part in _arguments(inner, known))
                tokens.append(f"{operator}({', '.join(parts)})")
                objects.append(parts)
            else:
                tokens.append(known[written])
                objects.append((known[written],) if kind == "n" else ())
            return f"{MARK}{len(tokens) - 1}{kind}"

        if MARK in text:
            return None
        masked = self._pattern.sub(stand_in, text) if self._pattern else text
        plain = " ".join(masked.translate(_PLAIN).lower().split())
        for short, full in _SHORT.items():
            plain = re.sub(rf"(?<!\w){short}(?!\w)", full, plain)
        plain = re.sub(r"(?<=[a-z])n't(?!\w)", " not", plain).replace("`", "").replace("*", "")
        if not plain.replace(MARK, "").isascii():
            return None
        return MaskedText(plain, tuple(tokens), tuple(objects))


def _spaced(name: str) -> str:
    return r"\s+".join(re.escape(part) for part in name.split()) or r"(?!)"


def _arguments(inner: str, known: dict[str, str]) -> list[str]:
    """Return the names of the arguments of an action; a name may contain a comma."""
    parts, current = [], ""
    for piece in inner.split(","):
        current = f"{current},{piece}" if current else piece.strip()
        if current.strip() in known:
            parts.append(current.strip())
            current = ""
    return parts


def sentences_of(text: str, vocabulary: RewordingVocabulary, most: int = 40) -> tuple[str, ...]:
    """Split a text into sentences, never inside a name, and strip bullets and numbers of lists.

    Args:
        text: any text.
        vocabulary: the names and quotations in it.
        most: maximum number of sentences; the rest is dropped.
    """
    names = sorted((*vocabulary.names, *vocabulary.quotes), key=len, reverse=True)
    ends = "|".join([*(_spaced(name) for name in names), r"(?<=[.!?])\s+(?P<cut>)|\n+(?P<line>)"])
    found, start = [], 0
    for match in re.finditer(ends, text, flags=re.IGNORECASE):
        if match["cut"] is not None or match["line"] is not None:
            found.append(text[start : match.end()])
            start = match.end()
        if len(found) >= most:
            break
    else:
        found.append(text[start:])
    cut = (re.sub(r"^\s*(?:[-*•]|\d+[.)])\s+", "", sentence).strip() for sentence in found)
    return tuple(sentence for sentence in cut if sentence)
