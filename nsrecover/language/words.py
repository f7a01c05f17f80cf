"""The words of commands and of one home."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace

from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.service.home import Home
from nsrecover.domains.service.kinds import FURNITURE, OPERATOR
from nsrecover.language.tables import WORDS, listed


def table(name: str) -> dict[str, str]:
    """How something is said -> what it is, from a table of words.yaml."""
    return {text: value for value, texts in WORDS[name].items() for text in listed(texts)}


VERBS = table("verbs")
PREPOSITIONS = table("prepositions")
COMMON = frozenset(WORDS["common"].split())
"""Frequent English words without a meaning for the robot: they are no misspelt words of the home."""


@dataclass(frozen=True)
class Lexeme:
    """A word or several that mean something.

    Attributes:
        sort: thing, category, place, person, whose, people, pose.
        value: what it stands for.
        plural: whether it is in the plural.
    """

    sort: str
    value: str
    plural: bool = False


class Lexicon:
    """The words of commands and of one home.

    Args:
        home: rooms, places, people, kinds of objects.
    """

    def __init__(self, home: Home) -> None:
        self.home = home
        self.entries: dict[str, Lexeme] = {}
        for person, resident in home.people.items():
            for text in (person, *resident.also):
                if person != OPERATOR:
                    self.entries[text] = Lexeme("person", person)
                    self.entries[f"{text}'s"] = Lexeme("whose", person)
        self._nouns(home)
        self._places(home)
        self._heads(home)
        for text, lexeme in list(self.entries.items()):
            if lexeme.sort in ("thing", "category", "place"):
                for plural in _plurals(text):
                    self.entries.setdefault(plural, replace(lexeme, plural=True))
        for pose, texts in WORDS["poses"].items():
            for text in listed(texts):
                self.entries.setdefault(text, Lexeme("pose", pose))
        for name in ("people", "many_people"):
            for text in listed(WORDS[name]):
                self.entries.setdefault(text, Lexeme("people", "person", plural=name != "people"))

    def _nouns(self, home: Home) -> None:
        named = [(text, "thing", item.name) for item in home.items.values() for text in (item.name, *item.also)]
        named += [(name, "thing", name) for name in home.nouns if name not in home.categories]
        named += [(name, "category", name) for name in home.categories]
        for text, sort, value in named:
            self.entries.setdefault(text, Lexeme(sort, value))
        for noun, others in WORDS["nouns"].items():
            known = self.entries.get(noun)
            if known is not None and known.sort in ("thing", "category"):
                for text in listed(others):
                    self.entries.setdefault(text, known)

    def _places(self, home: Home) -> None:
        for name, place in home.places.items():
            for text in (name, *place.also, *listed(WORDS["places"].get(name, ""))):
                known = self.entries.get(text)
                if known is None or known.sort != "place":
                    self.entries[text] = Lexeme("place", name)
                if Trait.DOOR in place.traits:
                    for door in (f"door of the {text}", f"{text} door", f"{text}'s door"):
                        self.entries.setdefault(door, Lexeme("place", name))
        heads = Counter(name.split()[-1] for name in home.places if " " in name)
        for word in (head for head, count in heads.items() if count > 1 and not head.endswith("room")):
            self.entries.setdefault(word, Lexeme("place", word))
        for word in (*home.furniture_words, *FURNITURE.split(", ")):
            if word != "stand":
                self.entries.setdefault(word, Lexeme("place", word))

    def _heads(self, home: Home) -> None:
        """The last words of nouns of several words: "ball" may be a soccer ball or a tennis ball."""
        heads: dict[str, list[str]] = {}
        for noun in home.nouns:
            if " " in noun and noun not in home.categories:
                heads.setdefault(head_of(noun), []).append(noun)
        for head, nouns in heads.items():
            if head not in VERBS and head not in listed(WORDS["no heads"]):
                self.entries.setdefault(head, Lexeme("thing", nouns[0] if len(nouns) == 1 else head))


def can_be(home: Home, said: str) -> list[str]:
    """The objects of a home that can be what is said of them: rotten, sweet, a can."""
    kinds = {kind for told, of in WORDS["of kinds"].items() if {*said.split()} & {*listed(told)} for kind in listed(of)}
    named = kinds & home.categories.keys()
    return [n for n in home.items if kinds & {*n.split()} or any(home.could_mean(kind, n) for kind in named)]


def head_of(noun: str) -> str:
    """The word of a noun phrase that says what it is: `sponge` of "dirty sponge with food residue"."""
    return re.split(r" (?:with|of|in|from|for) ", noun, maxsplit=1)[0].split()[-1]


def _plurals(text: str) -> list[str]:
    if text.endswith("f"):
        return [text + "s", text[:-1] + "ves"]
    if text.endswith("y") and text[-2:-1] not in "aeiou":
        return [text[:-1] + "ies"]
    if text.endswith(("s", "x", "ch", "sh")):
        return [text + "es"]
    return [text + "s"] + ([text[:-2] + "ves"] if text.endswith("fe") else [])


def forms(verb: str) -> list[str]:
    """A verb of one word in all its regular forms."""
    stem = verb[:-1] if verb.endswith("e") and not verb.endswith("ee") else verb
    short = verb.endswith("y") and verb[-2:-1] not in "aeiou"
    third = verb[:-1] + "ies" if short else verb + ("es" if verb.endswith(("s", "x", "ch", "sh", "o")) else "s")
    past = verb[:-1] + "ied" if short else stem + "ed"
    doubled = verb + verb[-1]
    return [verb, third, past, stem + "ing", f"{doubled}ing", f"{doubled}ed"]


def in_forms(phrase: str) -> dict[str, tuple[str, ...]]:
    """A verb with what follows it by form: none (the imperative), "ing", "ed" (the past), "en" (the participle)."""
    verb, _, rest = phrase.partition(" ")
    regular = forms(verb)
    past = WORDS["pasts"].get(verb)
    done = WORDS["participles"].get(verb)
    both = (regular[2], regular[5])
    said = {"": (verb,), "ing": tuple(regular[3:5]), "ed": (past,) if past else (done,) if done else both}
    said["en"] = (done,) if done else both
    return {form: tuple(f"{each} {rest}".strip() for each in texts) for form, texts in said.items()}
