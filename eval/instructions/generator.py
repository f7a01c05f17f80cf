"""Commands of the kinds of RoboCup@Home's GPSR and EGPSR, with what each has to lead to: templates of commands.yaml.

The templates and word lists are that file's own; nothing of the library's grammar is used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import yaml

from nsrecover.domains.service.home import Home

T = TypeVar("T")
_FILE: Mapping[str, Mapping[str, Any]] = yaml.safe_load(Path(__file__).with_name("commands.yaml").read_text("utf-8"))
WORDS, KINDS, UNSERVED = _FILE["words"], _FILE["served"], _FILE["unserved"]
"""Lists of words; kind of a command -> its template; the same of what no skill serves."""


@dataclass(frozen=True)
class Command:
    """A generated command.

    Attributes:
        kind: of the command.
        text: the sentence.
        want: the goals of its stages as `wanted` writes them, in order.
    """

    kind: str
    text: str
    want: tuple[str, ...]


class Generator:
    """Draws commands about one home.

    Args:
        home: the map.
        seed: of the draw.
    """

    def __init__(self, home: Home, seed: int) -> None:
        self.home, self.rng = home, np.random.default_rng([seed, 3])
        traits = {name: place.traits for name, place in home.places.items()}
        own = {item.kind for item in home.items.values()}
        self.spots = [name for name in home.furniture if "door" not in traits[name] and "switch" not in traits[name]]
        self.nouns = [noun for nouns in home.categories.values() for noun in nouns if noun not in own]
        self._lists: dict[str, Sequence[str]] = {
            **WORDS,
            "spots": self.spots,
            "nouns": self.nouns,
            "rooms": list(home.rooms),
            "surfaces": [name for name in home.furniture if "surface" in traits[name]],
            "people": [name for name in home.people if name != "operator"],
            "categories": list(home.categories),
            "shared": [name for name in home.categories if name != "personal item"],
        }

    def command(self) -> Command:
        """The next command."""
        kind = self.of(list(KINDS))
        text, want = self.made(KINDS[kind])
        reason, polite = self.of(WORDS["REASON"]), self.of(WORDS["POLITE"])
        return Command(kind, f"{reason}{polite}{text}{self.of(WORDS['ENDING'])}", want)

    def made(self, template: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
        """A sentence of a template, and what it wants."""
        drawn = dict[str, str]()
        for name, source in template["draw"].items():
            drawn[name] = self.of(
                self.home.categories[drawn["category"]] if source == "members" else self._lists[source]
            )
        drawn["plural"] = _plural(drawn.get("category", ""))
        drawn["pose"] = drawn.get("said", "").removesuffix(" down").replace("their", "the")
        if "coin" in template:
            template = {**template, **template["coin"][int(self.rng.random() >= 0.5)]}
        texts, want = [self._filled(text, drawn) for text in template["say"]], template["want"]
        text = texts[0] if len(texts) == 1 else self.of(texts)
        wanted = want.format(**drawn).split() if isinstance(want, str) else [each.format(**drawn) for each in want]
        return text, tuple(wanted)

    def _filled(self, text: str, drawn: Mapping[str, str]) -> str:
        """A text with a word in every place, drawn from the left to the right."""

        def word(place: re.Match[str]) -> str:
            name = place[1]
            if name in drawn:
                return drawn[name]
            return self._filled(self.of(self._lists[name] if name in self._lists else name.split("/")), drawn)

        return re.sub(r"{([^}]+)}", word, text)

    def of(self, options: Sequence[T]) -> T:
        """One of some options."""
        return options[int(self.rng.integers(len(options)))]


def _plural(category: str) -> str:
    if category.endswith("y") and category[-2] not in "aeiou":
        return category[:-1] + "ies"
    return category + ("es" if category.endswith(("sh", "ch")) else "s")
