"""Chart parser over a lattice of lexical edges: every reading of a sentence, packed by meaning, the cheapest first.

A grammar is a text. A line that begins at the margin names a symbol, the indented lines below are its rules:

    Request
      "bring" who:Who? what:Thing+ -> bring 0.5

The parts of a rule are words (`"in|on"`, one of several), lexical classes of the lattice (`<place>`), and symbols, each
with an optional label and one of `?`, `*`, `+`. Behind the arrow stand the builder that makes the meaning of what was
labelled, and the rule's cost; without an arrow the meaning is that of the labelled or only part. `builder key=value`
gives constants besides, `builder(text {label})` only the text with the parts in it. A builder gets the labels as
keyword arguments (None for an absent `?`, a tuple for `*` and `+`) and returns a meaning, a `Costly` one, or
None if the parts do not go together. Below the name of a class stand its closed words, with what they mean before a
colon:

    <state>
      open: open, opened, ajar

A symbol that ends in `~` stands once for each form of a verb, with the form in place of each `~` below it: none (the
imperative), `ing`, `ed` (the past), `en` (the participle).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

Meaning: TypeAlias = Any
"""What a builder makes of the meanings of a rule's parts; hashable."""
_PART = re.compile(r'(?:(?P<label>\w+):)?(?P<symbol>"[^"]*"|<[^>]+>|\w+)(?P<times>[?*+]?)')
_END = re.compile(r"(\w*)(?:\((.*)\))?((?: \w+=\w+)*) ?(-?[\d.]+)?")
_FORMS = ("", "ing", "ed", "en")
_EACH_FORM = re.compile(r"^\w+~\n(?:(?:[ \t].*)?\n)+", re.MULTILINE)
_MOST = 48
"""Meanings that are kept for one symbol over one span; far more than any sentence has."""
_WORD_COST = 0.9
"""Cost of a word of the grammar; slightly less than of an open word, so that a phrase of the grammar is preferred."""


@dataclass(frozen=True)
class Costly:
    """A meaning that costs more than its parts."""

    meaning: Meaning
    cost: float


@dataclass(frozen=True)
class Lattice:
    """The words of a sentence with everything that each of them may begin.

    Attributes:
        words: of the sentence, in lower case; marks are words.
        edges: for each word: lexical class -> (index behind the edge, value, cost).
        skips: for each word the indices behind it that may be gone on from as if nothing had been said.
    """

    words: tuple[str, ...]
    edges: tuple[Mapping[str, Sequence[tuple[int, Meaning, float]]], ...]
    skips: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class _Rule:
    parts: tuple[tuple[str, str, str], ...]
    build: Callable[..., Meaning] | None
    cost: float


def _filled(build: Callable[[str], Meaning], template: str, **labels: Meaning) -> Meaning:
    """The meaning of a template with the words of the parts in it; of a verb its text."""
    texts = {name: text if isinstance(text, str) else "" for name, text in labels.items()}
    texts |= {name: text[-1] for name, text in labels.items() if isinstance(text, tuple) and text}
    texts |= {"words": " ".join(labels["words"])} if isinstance(labels.get("words"), tuple) else {}
    return build(" ".join(template.format_map(texts).split()).replace(" .", "."))


class Grammar:
    """Rules by symbol; `words` are the words that they name, `alone` those without others, `closed` the closed words.

    Args:
        text: see the module.
        builders: makes meanings, by name.

    Raises:
        ValueError: a rule names a symbol or builder that does not exist.
    """

    def __init__(self, text: str, builders: Mapping[str, Callable[..., Meaning]]) -> None:
        self.rules: dict[str, list[_Rule]] = {}
        self.closed = list[tuple[str, str, list[str]]]()
        symbol = ""
        text = _EACH_FORM.sub(lambda found: "".join(found[0].replace("~", form) for form in _FORMS), text)
        for line in text.splitlines():
            plain = line.partition("#")[0].rstrip()
            if plain and not plain[0].isspace():
                symbol = plain.strip()
                if symbol[0] != "<":
                    self.rules.setdefault(symbol, [])
            elif plain and symbol[0] == "<":
                value, _, texts = plain.rpartition(":")
                self.closed.append((symbol[1:-1], value.strip(), [each.strip() for each in texts.split(",")]))
            elif plain:
                body, _, end = plain.partition("->")
                name, template, given, cost = _END.fullmatch(end.strip()).groups()  # type: ignore[union-attr]
                if name and name not in builders:
                    raise ValueError(f"expected a known builder in {plain.strip()!r}, found {name!r}")
                build = builders[name] if name else None
                if build is not None and template is not None:
                    build = partial(_filled, build, template)
                elif build is not None and given:
                    build = partial(build, **dict(each.split("=") for each in given.split()))
                parts = tuple((m["label"] or "", m["symbol"], m["times"]) for m in _PART.finditer(body))
                if not name and len(parts) == 1:
                    parts = (("meaning", *parts[0][1:]),)
                self.rules[symbol].append(_Rule(parts, build, float(cost or 0)))
        used = {part for rules in self.rules.values() for rule in rules for _, part, _ in rule.parts}
        unknown = sorted(part for part in used if part[0] not in '"<' and part not in self.rules)
        if unknown:
            raise ValueError(f"expected rules for {', '.join(unknown)}, found none")
        self._firsts: dict[str, frozenset[str] | None] = {}
        literals = (part[1:-1].replace("|", " ").split() for part in used if part[0] == '"')
        self.words = frozenset(word for each in literals for word in each)
        alone = (text for part in used if part[0] == '"' for text in part[1:-1].split("|"))
        self.alone = frozenset(text for text in alone if " " not in text)

    def starts(self, symbol: str) -> frozenset[str] | None:
        """The words and classes that something can begin with; None if it may be empty."""
        if symbol[0] == '"':
            return frozenset(f'"{text.split()[0]}' for text in symbol[1:-1].split("|"))
        if symbol[0] == "<":
            return frozenset(symbol[1:-1].split("|"))
        if symbol not in self._firsts:
            self._firsts[symbol] = frozenset()
            found = [self.begins(rule) for rule in self.rules[symbol]]
            whole = frozenset[str]().union(*(each for each in found if each is not None))
            self._firsts[symbol] = None if any(each is None for each in found) else whole
        return self._firsts[symbol]

    def begins(self, rule: _Rule) -> frozenset[str] | None:
        """The words and classes that a rule can begin with; None if it may be empty."""
        found: frozenset[str] = frozenset()
        for _, symbol, times in rule.parts:
            first = self.starts(symbol)
            if first is None:
                return None
            found |= first
            if times in ("", "+"):
                return found
        return None

    def readings(self, lattice: Lattice, symbol: str) -> list[tuple[float, Meaning]]:
        """The meanings of a whole sentence with their costs, the cheapest first."""
        return self.parsed(lattice, symbol)[0]

    def parsed(self, lattice: Lattice, symbol: str) -> tuple[list[tuple[float, Meaning]], int]:
        """The readings as above, and the index behind the last word that any of them could use."""
        chart = _Chart(self, lattice)
        return chart.whole(symbol), chart.reached


@dataclass
class _Chart:
    grammar: Grammar
    lattice: Lattice
    known: dict[tuple[str, int], list[tuple[int, Meaning, float]]] = field(default_factory=dict)
    offers: dict[int, frozenset[str]] = field(default_factory=dict)
    reached: int = 0

    def whole(self, symbol: str) -> list[tuple[float, Meaning]]:
        size = len(self.lattice.words)
        found = [(cost, meaning) for end, meaning, cost in self.derive(symbol, 0) if size in self.after(end)]
        return sorted(found, key=lambda each: each[0])

    def after(self, i: int) -> list[int]:
        """Where one may go on from an index: there, or behind what may be skipped."""
        reached = [i]
        for k in reached:
            if k < len(self.lattice.words):
                reached += [end for end in self.lattice.skips[k] if end not in reached]
        return reached

    def offered(self, i: int) -> frozenset[str]:
        """The words and classes that begin at an index, or behind what may be skipped there."""
        if i not in self.offers:
            at = [k for k in self.after(i) if k < len(self.lattice.words)]
            words = (f'"{self.lattice.words[k]}' for k in at)
            self.offers[i] = frozenset((*words, *(name for k in at for name in self.lattice.edges[k])))
        return self.offers[i]

    def derive(self, symbol: str, i: int) -> list[tuple[int, Meaning, float]]:
        """What a symbol can be from an index on: end, meaning, cost."""
        key = (symbol, i)
        if key not in self.known:
            self.known[key] = []  # no symbol begins with itself
            self.known[key] = list(self.terminal(symbol, i)) if symbol[0] in '"<' else self.symbol(symbol, i)
            if symbol != "<any>":
                self.reached = max([self.reached, *(end for end, _, _ in self.known[key])])
        return self.known[key]

    def terminal(self, symbol: str, i: int) -> Iterator[tuple[int, Meaning, float]]:
        words = self.lattice.words
        for k in self.after(i):
            if k >= len(words):
                continue
            if symbol[0] == '"':
                for text in symbol[1:-1].split("|"):
                    end = k + text.count(" ") + 1
                    if " ".join(words[k:end]) == text:
                        yield end, text, _WORD_COST
            else:
                for name in symbol[1:-1].split("|"):
                    yield from self.lattice.edges[k].get(name, ())

    def symbol(self, symbol: str, i: int) -> list[tuple[int, Meaning, float]]:
        best: dict[tuple[int, Meaning], float] = {}
        for rule in self.grammar.rules[symbol]:
            first = self.grammar.begins(rule)
            if first is not None and not first & self.offered(i):
                continue
            for end, labels, cost in self.sequence(rule.parts, 0, i):
                meaning: Meaning = next(iter(labels.values()), "") if rule.build is None else rule.build(**labels)
                more = 0.0
                if isinstance(meaning, Costly):
                    meaning, more = meaning.meaning, meaning.cost
                if meaning is not None:
                    total = cost + rule.cost + more
                    if best.get((end, meaning), total + 1) > total:
                        best[end, meaning] = total
        by_end: dict[int, list[tuple[int, Meaning, float]]] = {}
        for (end, meaning), cost in best.items():
            by_end.setdefault(end, []).append((end, meaning, cost))
        return [each for group in by_end.values() for each in sorted(group, key=lambda one: one[2])[:_MOST]]

    def sequence(
        self, parts: tuple[tuple[str, str, str], ...], k: int, i: int
    ) -> Iterator[tuple[int, dict[str, Meaning], float]]:
        """The ways in which the parts of a rule from one on fit from an index on."""
        if k == len(parts):
            yield i, {}, 0.0
            return
        label, symbol, times = parts[k]
        for end, value, cost in self.repeated(symbol, times, i):
            for last, labels, rest in self.sequence(parts, k + 1, end):
                yield last, {label: value, **labels} if label else labels, cost + rest

    def repeated(self, symbol: str, times: str, i: int) -> Iterator[tuple[int, Meaning, float]]:
        """A part of a rule as often as it may stand there."""
        many = times in ("*", "+")
        if times in ("?", "*"):
            yield i, () if many else None, 0.0
        first = self.grammar.starts(symbol)
        if first is not None and not first & self.offered(i):
            return
        for end, value, cost in self.derive(symbol, i):
            if not many:
                yield end, value, cost
            elif end > i:
                for last, values, rest in self.repeated(symbol, "*", end):
                    yield last, (value, *values), cost + rest
