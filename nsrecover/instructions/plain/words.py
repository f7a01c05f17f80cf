"""The words of commands and of one home, and the repair of misspelt ones."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib import resources
from typing import Any

import yaml

from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.service.home import Home
from nsrecover.domains.service.kinds import FURNITURE, OPERATOR

WORDS: Mapping[str, Any] = yaml.safe_load(resources.files(__package__).joinpath("words.yaml").read_text("utf-8"))
"""The word lists of words.yaml."""

_REPHRASINGS: Sequence[Mapping[str, str]] = yaml.safe_load(
    resources.files(__package__).joinpath("rephrasings.yaml").read_text("utf-8")
)


def listed(text: str) -> list[str]:
    """The entries of a list that is separated by commas."""
    return [each for each in (part.strip() for part in text.split(",")) if each]


def table(name: str) -> dict[str, str]:
    """How something is said -> what it is, from a table of words.yaml."""
    return {text: value for value, texts in WORDS[name].items() for text in listed(texts)}


VERBS = table("verbs")
SPEECH = table("speech")
UNSERVED = frozenset(listed(WORDS["unserved"]))
PREPOSITIONS = table("prepositions")
CONDITIONS = frozenset(listed(WORDS["conditions"]))
COMMON = frozenset(WORDS["common"].split())
"""Frequent English words without a meaning for the robot: they are no misspelt words of the home."""

ALIKE = 0.82
"""Similarity from which a word counts as a misspelt one (`difflib` ratio)."""

_TABLES = ("manners", "elsewhere", "lying", "no_nouns", "harmless", "back_to_me", "particles", "fillers", "openings")
_FUNCTIONS = listed(WORDS["function words"])
NUMBERS, ORDINALS = listed(WORDS["numbers"]), listed(WORDS["ordinals"])
_CONTRACTIONS = tuple(
    (re.compile("|".join(rf"(?<![\w'])(?:{each})(?![\w'])" for each in written.split("|\\b"))), meant)
    for written, meant in WORDS["contractions"].items()
)
_IRREGULAR = frozenset(listed(WORDS["irregular"]))


def tokens(sentence: str) -> list[str]:
    """The words of a sentence in lower case, contractions written out; marks of punctuation are words."""
    text = re.sub(r"\s+'(?=\w+\b)", "'", sentence.lower().replace("\u2019", "'").replace("`", "'"))
    text = re.sub(r"\s*(?:\.\.+|\u2026|\s[-\u2013\u2014]+\s|\u2014|--)\s*", " , ", text)
    for pattern, meant in _CONTRACTIONS:
        text = pattern.sub(meant, text)
    return re.findall(r"[^\W_]+(?:['-][^\W_]+)*|[.,;:!?\"]", text)


def _plainly(plain: str, found: re.Match[str]) -> str:
    if "<verb>" in plain:
        return plain.replace("<verb>", _PARTICIPLES[found["ing"]])
    return found.expand(plain)


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
                if known is None or known.value not in home.places:
                    self.entries[text] = Lexeme("place", name)
                if Trait.DOOR in place.traits:
                    for door in (f"door of the {text}", f"{text} door"):
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
                heads.setdefault(noun.split()[-1], []).append(noun)
        for head, nouns in heads.items():
            if head not in self.verbs and head not in listed(WORDS["no heads"]):
                self.entries.setdefault(head, Lexeme("thing", nouns[0] if len(nouns) == 1 else head))

    def rephrased(self, text: str) -> str:
        """A sentence in plainer words, by rephrasings.yaml."""
        text = f"{text} "
        for pattern, plain in self._rephrased:
            text = pattern.sub(partial(_plainly, plain), text)
        return " ".join(re.sub(r"([.,;!?])", r" \1 ", text).split())

    @cached_property
    def _rephrased(self) -> tuple[tuple[re.Pattern[str], str], ...]:
        people = (text for text, entry in self.entries.items() if entry.sort == "person")
        who = "|".join(map(re.escape, (*people, "he", "she", "him", "her", "them", "they", "someone", "somebody")))
        rules = (rule for each in _REPHRASINGS for rule in each.items())
        return tuple((_pattern(said.replace("{who}", f"(?:{who})")), plain) for said, plain in rules)

    @property
    def verbs(self) -> frozenset[str]:
        """Verbs of one word, in all their forms."""
        return _FORMS

    @cached_property
    def _known(self) -> frozenset[str]:
        """Every word that is a part of an entry or of a table."""
        texts = (*self.entries, *_TEXTS, *_CHOOSING)
        return frozenset(word for text in texts for word in text.split()) | _FORMS | COMMON

    @cached_property
    def _joined(self) -> dict[str, str]:
        """Texts without their spaces -> the texts; those of the home come last, and so first."""
        texts = (*(each for each in _TEXTS if " " not in each), *self.entries)
        return {text.replace(" ", ""): text for text in texts if len(text) > 3}

    def known(self, word: str) -> bool:
        """Whether a word means something in a command, or is a frequent one."""
        return word in self._known or word.removesuffix("s") in COMMON

    def repaired(self, words: Sequence[str]) -> tuple[list[str], list[tuple[str, str]]]:
        """The words with misspelt ones replaced, also those that fell apart; and pairs of what was replaced by what."""
        left, corrected, i = list[str](), list[tuple[str, str]](), 0
        while i < len(words):
            meant, size = self._meant(words, i)
            if meant:
                corrected.append((" ".join(words[i : i + size]), meant))
            left += meant.split() if meant else [words[i]]
            i += size
        return left, corrected

    def _meant(self, words: Sequence[str], i: int) -> tuple[str, int]:
        for size in (3, 2, 1):
            part = words[i : i + size]
            if len(part) < size or not all(re.fullmatch(r"[a-z][a-z'-]*", each) for each in part):
                continue
            unknown = [each for each in part if not self.known(each)]
            if size > 1 and any(each in _TEXTS or each in _FORMS for each in part):
                continue
            joined = "".join(part)
            if size > 1 and " ".join(part) not in self.entries and joined in self._joined:
                return self._joined[joined], size
            if unknown and (close := self._close(joined)) and size - 1 <= close.count(" ") + 1:
                return close, size
        return "", 1

    def _close(self, joined: str) -> str:
        """The text that letters are closest to; empty if none is close."""
        if len(joined) < 4:
            return ""
        near = [each for each in self._joined if each[0] == joined[0] and abs(len(each) - len(joined)) < 4]
        swapped = [each for each in near if sorted(each) == sorted(joined)]
        close = swapped or difflib.get_close_matches(joined, near, n=1, cutoff=ALIKE)
        return self._joined[close[0]] if close else ""

    def named(self, text: str, *sorts: str) -> list[str]:
        """What a text names, in order, of some sorts."""
        words, _ = self.repaired(tokens(text))
        found, i = list[str](), 0
        while i < len(words):
            sizes = (size for size in range(5, 0, -1) if " ".join(words[i : i + size]) in self.entries)
            size = next(sizes, 0)
            if size and (entry := self.entries[" ".join(words[i : i + size])]).sort in sorts:
                found.append(entry.value)
            i += size or 1
        return found


def _plurals(text: str) -> list[str]:
    if text.endswith("f"):
        return [text + "s", text[:-1] + "ves"]
    if text.endswith("y") and text[-2:-1] not in "aeiou":
        return [text[:-1] + "ies"]
    if text.endswith(("s", "x", "ch", "sh")):
        return [text + "es"]
    return [text + "s"] + ([text[:-2] + "ves"] if text.endswith("fe") else [])


def _forms(verb: str) -> list[str]:
    """A verb of one word in all its regular forms."""
    stem = verb[:-1] if verb.endswith("e") and not verb.endswith("ee") else verb
    short = verb.endswith("y") and verb[-2:-1] not in "aeiou"
    third = verb[:-1] + "ies" if short else verb + ("es" if verb.endswith(("s", "x", "ch", "sh", "o")) else "s")
    past = verb[:-1] + "ied" if short else stem + "ed"
    doubled = verb + verb[-1]
    return [verb, third, past, stem + "ing", f"{doubled}ing", f"{doubled}ed"]


_CHOOSING = (*(text for texts in WORDS["constraints"].values() for text in listed(texts)), *NUMBERS, *ORDINALS)
_FORMS = _IRREGULAR | {form for text in (*VERBS, *SPEECH, *UNSERVED) if " " not in text for form in _forms(text)}
_TEXTS = frozenset((*VERBS, *SPEECH, *UNSERVED, *PREPOSITIONS, *_FUNCTIONS)) | {
    text for name in _TABLES for text in listed(WORDS[name])
}


_SINGLE = sorted({text for text in (*VERBS, *SPEECH, *UNSERVED) if " " not in text}, key=len, reverse=True)
_PARTICIPLES = {form: verb for verb in _SINGLE for form in _forms(verb) if form.endswith("ing")}
_PLACEHOLDERS = {
    "{verb}": f"(?:{'|'.join(_SINGLE)})",
    "{ing}": f"(?:{'|'.join(sorted(_PARTICIPLES, key=len, reverse=True))})",
    "{mark}": r"(?:(?<=[.,;!?] )|(?<=^)|(?<=\band )|(?<=\bthen )|(?<=\bplease ))",
    "{end}": r" ?(?=$|[.,;!?])",
}


def _pattern(text: str) -> re.Pattern[str]:
    for name, meant in _PLACEHOLDERS.items():
        text = text.replace(name, meant)
    return re.compile(text)
