"""The words of a home and of the grammar, and the repair of misspelt and misheard ones."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import resources
from typing import Any

import yaml

from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.service.home import Home
from nsrecover.domains.service.kinds import FURNITURE, OPERATOR
from nsrecover.instructions.sentences.reading import Verb

GRAMMAR: dict[str, Any] = yaml.safe_load(resources.files(__package__).joinpath("words.yaml").read_text("utf-8"))
"""The word lists of words.yaml."""


def listed(text: str) -> list[str]:
    """The entries of a list that is separated by commas."""
    return [each for each in (part.strip() for part in text.split(",")) if each]


IGNORED = ("filler", "mark", "conj", "aux", "article", "that", "possessive", "of")
"""Sorts of words that say nothing by themselves about what to do."""

HOSTILE = re.compile(
    r"\b(ignore|disregard|override|bypass|disable|forget)\b.{0,30}\b(plan|instruction|instructions|rules?|commands?|"
    r"safety|previous|everything|above|laws?|prompt|told)\b|\b(hurt|attack|stab|poison|smash|destroy|bomb|hack|steal)\b|"
    r"\b(kill|hit|burn|throw (?:\w+ ){1,4}at|punch|kick|slap|push) (?:\w+ )?(him|her|them|me|someone|somebody|person|"
    r"people|man|woman|child|kid|guest|guests|cat|dog|{names})\b"
)
"""Sentences that want rules broken, or harm; "{names}" stands for the names of a home's people."""


@cache
def hostile(names: frozenset[str]) -> re.Pattern[str]:
    """The pattern of sentences that want rules broken, or harm, in a home with some people."""
    return re.compile(HOSTILE.pattern.replace("{names}", "|".join(sorted(map(re.escape, names))) or "nobody"))


@dataclass(frozen=True)
class Lexeme:
    """A word or several that mean something.

    Attributes:
        sort: verb, thing, category, place, person, whose, pose, people, pronoun, article, a preposition's sort, ...
        text: as the lexicon writes it; of a verb the infinitive.
        value: what it stands for.
        plural: whether it is in the plural.
        said: as the sentence has it.
        forms: of a verb: base, third, ing, past.
        also: of a verb: what it may say in statements, as words.yaml names it.
    """

    sort: str
    text: str
    value: str = ""
    plural: bool = False
    said: str = ""
    forms: frozenset[str] = frozenset()
    also: frozenset[str] = frozenset()


class Lexicon:
    """The words of the grammar and of one home.

    Args:
        home: rooms, places, people, kinds of objects.
    """

    def __init__(self, home: Home) -> None:
        self.home = home
        self.verbs = _verbs()
        self.entries: dict[str, Lexeme] = {}
        self._home_words(home)
        self._add(GRAMMAR["ensure"], "ensure")
        for pose, texts in GRAMMAR["poses"].items():
            self._add(texts, "pose", pose)
        self._add(GRAMMAR["people"], "people", "person")
        self._add(GRAMMAR["many_people"], "people", "person", plural=True)
        for text, lexeme in self.verbs.items():
            self.entries.setdefault(text, lexeme)
        self._function_words()
        self.longest = max(text.count(" ") + 1 for text in self.entries)

    def _home_words(self, home: Home) -> None:
        for person, resident in home.people.items():
            for text in (person, *resident.also):
                if person != OPERATOR:
                    self.entries[text] = Lexeme("person", text, person)
                    self.entries[f"{text}'s"] = Lexeme("whose", text, person)
        for item in home.items.values():
            for text in (item.name, *item.also):
                self._noun(text, "thing", item.name)
        for name in home.nouns:
            if name not in home.categories:
                self._noun(name, "thing", name)
        for category in home.categories:
            self._noun(category, "category", category)
        for name, place in home.places.items():
            for text in (name, *place.also):
                self._noun(text, "place", name)
                if Trait.DOOR in place.traits:
                    self._noun(f"door of the {text}", "place", name)
        for word in (*home.furniture_words, *FURNITURE.split(", ")):
            if word != "stand":
                self._noun(word, "place", word)
        for noun, others in GRAMMAR["nouns"].items():
            known = self.entries.get(noun)
            if known is not None and known.sort in ("thing", "category"):
                for text in listed(others):
                    self._noun(text, known.sort, known.value)
        for name, others in GRAMMAR["places"].items():
            if name in home.places:
                for text in listed(others):
                    self._noun(text, "place", name)
        self._heads(home)
        for text, lexeme in list(self.entries.items()):
            if lexeme.sort in ("thing", "category", "place"):
                for plural in _plurals(text):
                    self.entries.setdefault(plural, replace(lexeme, plural=True))

    def _heads(self, home: Home) -> None:
        """The last words of nouns of several words: "ball" may be a soccer ball or a tennis ball."""
        heads: dict[str, list[str]] = {}
        for noun in home.nouns:
            if " " in noun and noun not in home.categories:
                heads.setdefault(noun.split()[-1], []).append(noun)
        for head, nouns in heads.items():
            if head not in self.verbs and head not in listed(GRAMMAR["no heads"]):
                self.entries.setdefault(head, Lexeme("thing", head, nouns[0] if len(nouns) == 1 else head))

    def _noun(self, text: str, sort: str, value: str) -> None:
        known = self.entries.setdefault(text, Lexeme(sort, text, value))
        if sort == "place" and value in self.home.places and known.value not in self.home.places:
            self.entries[text] = Lexeme(sort, text, value)

    def _add(self, texts: str, sort: str, value: str = "", plural: bool = False) -> None:
        for text in listed(texts):
            self.entries.setdefault(text, Lexeme(sort, text, value, plural))

    def _function_words(self) -> None:
        for sort in ("from", "to", "at"):
            self._add(GRAMMAR["prepositions"][sort], sort)
        for sort in ("for", "with", "of", "about"):
            self._add(GRAMMAR["prepositions"][sort], sort)
        self._add(GRAMMAR["must"], "must")
        self._add(GRAMMAR["wh"], "wh")
        self._add(GRAMMAR["negations"], "not")
        self._add(GRAMMAR["exclusions"], "exclusion")
        for kind, texts in GRAMMAR["subordinators"].items():
            self._add(texts, "sub", kind)
        self._add(GRAMMAR["conjunctions"], "conj")
        self._add(GRAMMAR["aux"], "aux")
        for text in ("i", "we"):
            self._add(text, "i")
        for text in ("me", "us", "myself"):
            self._add(text, "me")
        for text in ("you", "yourself"):
            self._add(text, "you")
        self._add("that, which, who", "that")
        self._add(GRAMMAR["possessive"], "possessive", OPERATOR)
        self._add(GRAMMAR["possessive_other"], "possessive")
        self._add(GRAMMAR["articles"]["definite"], "article", "definite")
        self._add(GRAMMAR["articles"]["indefinite"], "article", "indefinite")
        self._add(GRAMMAR["numbers"], "number")
        for name, texts in GRAMMAR["pronouns"].items():
            self._add(texts, "pronoun", name)
        self._add(GRAMMAR["times"], "time")
        self._add(GRAMMAR["words"], "word")
        self._add(GRAMMAR["fillers"], "filler")

    @cached_property
    def single(self) -> frozenset[str]:
        """Every word that is a part of an entry."""
        return frozenset(word for text in self.entries for word in text.split())

    @cached_property
    def _joined(self) -> dict[str, str]:
        nouns = ("thing", "category", "place", "person", "people", "verb", "pose")
        words = [text for text, lexeme in self.entries.items() if len(text) > 3 and lexeme.sort in nouns]
        plain = [text for text in self.entries if len(text) > 3 and " " not in text]
        return {text.replace(" ", ""): text for text in (*plain, *words)}

    @cached_property
    def _by_sound(self) -> dict[str, str]:
        nouns = [
            text for text, lexeme in self.entries.items() if lexeme.sort in ("thing", "category", "place", "person")
        ]
        return {sound(text): text for text in reversed(nouns) if len(text) > 3}

    def known(self, word: str) -> bool:
        """Whether a word means something to the grammar."""
        return word in self.single or word in COMMON or word.removesuffix("s") in COMMON

    def written_apart(self, words: Sequence[str]) -> str | None:
        """The entry that known words are if they are written together: "book shelf"; else None."""
        return self._joined.get("".join(words))

    def repaired(self, words: str) -> str | None:
        """The entry that unknown words are taken for: the closest by letters, or the same by sound; else None."""
        joined = words.replace(" ", "")
        if len(joined) < 4 or joined.isdigit():
            return None
        if joined in self._joined:
            return self._joined[joined]
        swapped = [each for each in self._joined if each[0] == joined[0] and sorted(each) == sorted(joined)]
        if swapped:
            return self._joined[swapped[0]]
        near = [
            each
            for each in self._joined
            if abs(len(each) - len(joined)) < 4 and (each[0] == joined[0] or len(joined) > 6)
        ]
        close = difflib.get_close_matches(joined, near, n=1, cutoff=_cutoff(joined))
        if close and (
            " " not in words or set(words.split()) & set(self._joined[close[0]].split()) or _alike(joined, close[0])
        ):
            return self._joined[close[0]]
        heard = sound(words)
        alike = self._by_sound.get(heard) if len(joined) > 4 and len(heard) > 2 else None
        return alike if alike is not None and abs(len(alike.replace(" ", "")) - len(joined)) < 3 else None


COMMON = frozenset(GRAMMAR["common"].split())
"""Frequent English words without a meaning for the robot: they are no misspelt words of the home."""


@cache
def _verbs() -> dict[str, Lexeme]:
    """How verbs are said -> their lexemes, in all their forms."""
    senses: dict[str, tuple[str, set[str]]] = {}
    for verb, texts in GRAMMAR["verbs"].items():
        for text in listed(texts):
            senses.setdefault(text, (Verb(verb), set()))
    for kind, texts in GRAMMAR["light"].items():
        for text in listed(texts):
            senses.setdefault(text, ("", set()))[1].add(kind)
    found: dict[str, tuple[Lexeme, set[str]]] = {}
    for text, (value, also) in senses.items():
        for form, written in _inflected(text):
            lexeme = Lexeme("verb", text, value, also=frozenset(also))
            found.setdefault(written, (lexeme, set()))[1].add(form)
    return {written: replace(lexeme, forms=frozenset(forms)) for written, (lexeme, forms) in found.items()}


def _inflected(text: str) -> list[tuple[str, str]]:
    """The forms of a verb and how they are written."""
    first, _, rest = text.partition(" ")
    known = listed(GRAMMAR["irregular"].get(first, ""))
    stem = first[:-1] if first.endswith("e") and not first.endswith("ee") else first
    short = first.endswith("y") and first[-2:-1] not in "aeiou"
    third = first[:-1] + "ies" if short else first + ("es" if first.endswith(("s", "x", "ch", "sh", "o")) else "s")
    past = [each for each in known if not each.endswith("ing")] or [first[:-1] + "ied" if short else stem + "ed"]
    gerund = [each for each in known if each.endswith("ing")] or [stem + "ing"]
    forms = [("base", first), ("third", third), *(("past", each) for each in past), *(("ing", each) for each in gerund)]
    return [(form, f"{word} {rest}".strip()) for form, word in forms]


def _cutoff(word: str) -> float:
    """The least similarity at which a word counts as misspelt: one letter in five, more in longer words."""
    return 0.86 if len(word) < 5 else 0.79 if len(word) < 9 else 0.77


def _alike(one: str, other: str) -> bool:
    """Whether hardly a letter differs: for several words none of which is right."""
    return difflib.SequenceMatcher(None, one, other).ratio() >= 0.88


def _plurals(text: str) -> list[str]:
    if text.endswith("f"):
        return [text + "s", text[:-1] + "ves"]
    if text.endswith("y") and text[-2:-1] not in "aeiou":
        return [text[:-1] + "ies"]
    if text.endswith(("s", "x", "ch", "sh")):
        return [text + "es"]
    return [text + "s"] + ([text[:-2] + "ves"] if text.endswith("fe") else [])


_SOUNDS = str.maketrans("bfpvcgjkqsxzdtlmnr", "111122222222334556")


def sound(words: str) -> str:
    """A code of how words sound, after Soundex (Russell, 1918): the first letter, then groups of consonants."""
    letters = re.sub(r"[^a-z]", "", words)
    code = re.sub(r"(.)\1+", r"\1", re.sub(r"[hw]", "", letters[1:]).translate(_SOUNDS))
    return letters[:1] + re.sub(r"[^1-6]", "", code)


_CONTRACTIONS = [
    (re.compile("|".join(rf"(?<![\w'])(?:{each})(?![\w'])" for each in written.split("|\\b"))), plain)
    for written, plain in GRAMMAR["contractions"].items()
]
_REWRITES = [(re.compile(written), plain) for written, plain in GRAMMAR["rewrites"].items()]
_POLITE = [re.compile(pattern) for pattern in GRAMMAR["politeness"]]


def tokens(sentence: str) -> list[str]:
    """The words of a sentence in lower case without phrases of politeness, and marks of punctuation as words."""
    text = sentence.lower().replace("\u2019", "'").replace("`", "'")
    text = re.sub(r"\s*(?:\.\.+|\u2026|\s[-\u2013\u2014]+\s|\u2014|--)\s*", " , ", text)
    for pattern, plain in _CONTRACTIONS:
        text = pattern.sub(plain, text)
    for pattern, plain in _REWRITES:
        text = pattern.sub(plain, text)
    for pattern in _POLITE:
        text = pattern.sub(" ", text)
    text = re.sub(r"(\w)[()]|[()](\w)", r"\1 , \2", text)
    return re.findall(r"[^\W_]+(?:['-][^\W_]+)*|[.,;:!?\"]", text)
