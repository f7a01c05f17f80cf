"""Noun phrases of plain commands: determiners, qualities and a noun of the home, or an unknown one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.plain.words import NUMBERS, SPEECH, UNSERVED, VERBS, WORDS, Lexeme, Lexicon, listed
from nsrecover.instructions.reading import Constraint, ConstraintKind, Phrase, Sort

MOST_WORDS = 4
"""Words that a noun phrase may have, without its determiner."""

_DEFINITE = ("the", "this", "that", "these", "those")
_INDEFINITE = ("a", "an", "some", "any")
_OWNERS = {"my": OPERATOR, "our": OPERATOR, "mine": OPERATOR, "your": "", "his": "", "her": "", "their": ""}
_COUNTS = ("all", "both", "two", "three", "four", "five", "six", "several", "every", "each")
_THINGS = ("it", "them", "one", "some", "that", "this", "these", "those", "both")
_PERSONS = ("him", "her", "them", "he", "she", "they")
_GENERIC = frozenset(
    ("thing", "things", "object", "objects", "something", "item", "items", "stuff", "anything", "ones")
)
_PARTS = frozenset(
    ("side", "head", "end", "center", "centre", "middle", "corner", "left", "right", "top", "edge", "front", "back")
)
_CONSTRAINTS = {kind: frozenset(listed(words)) for kind, words in WORDS["constraints"].items()}
_KINDS = {"size": ConstraintKind.ORDER, "clothes": ConstraintKind.CLOTHING, "other": ConstraintKind.OTHER}
_SIZES = frozenset(
    ("big", "large", "small", "little", "tall", "huge", "tiny", "bigger", "larger", "smaller", "heavier", "lighter")
)
_ORDERS = frozenset(
    ("first", "second", "third", "fourth", "fifth", "last", "next", "middle", "farther", "closer", "nearer")
)
_NUMBERS = frozenset(NUMBERS)
_BASE = frozenset((*VERBS, *SPEECH, *UNSERVED))
_SUPERLATIVE = re.compile(r"[a-z]{2,}(?:i?est)")
_PLACES_IN_LINE = frozenset(("left", "right", "upper", "lower", "top", "bottom", "leftmost", "rightmost"))


@dataclass(frozen=True)
class Noun:
    """A noun phrase: what it names, and the index behind it."""

    phrase: Phrase
    end: int


@dataclass(frozen=True)
class Nouns:
    """Reads noun phrases by the words of a home.

    Attributes:
        lexicon: the words.
        stops: words at which a noun phrase ends.
        harmless: qualities that do not tell one thing from another.
        no_nouns: words with which no unknown noun ends.
    """

    lexicon: Lexicon
    stops: frozenset[str]
    harmless: frozenset[str]
    no_nouns: frozenset[str]

    def read(self, words: Sequence[str], i: int, ends: Sequence[bool]) -> Noun | None:
        """The noun phrase at an index; None if there is none.

        Args:
            words: of the sentence.
            i: where it begins.
            ends: whether a clause begins at each word, which ends a noun phrase.
        """
        word = words[i] if i < len(words) else ""
        last = i + 1 >= len(words) or (words[i + 1] in self.stops and words[i + 1] != "of") or ends[i + 1]
        if word in ("me", "us", "myself"):
            return Noun(Phrase(Sort.PERSON, OPERATOR), i + 1)
        if last and (word in _THINGS or word in _PERSONS):
            name = (
                "whom"
                if word in ("him", "her", "he", "she")
                else "them"
                if word in ("them", "these", "those", "both")
                else "it"
            )
            return Noun(Phrase(Sort.PRONOUN, name), i + 1)
        phrase, j = self._determined(words, i)
        posed = self._posed(words, j)
        if posed is not None:
            return Noun(replace(posed.phrase, constraints=(*phrase.constraints, *posed.phrase.constraints)), posed.end)
        entry = self.lexicon.entries.get(word)
        if entry is not None and entry.sort == "person" and j == i:
            return Noun(Phrase(Sort.PERSON, entry.value), i + 1)
        k = j
        while k < len(words) and k - j <= MOST_WORDS:
            whole = k > j and " ".join(words[k - 1 : k + 1]) in self.lexicon.entries  # "soup can"
            if not whole and (words[k] in self.stops or (k > i and ends[k])):
                break
            k += 1
        if k == j or k - j > MOST_WORDS or any(not re.fullmatch(r"[a-z0-9][a-z0-9'-]*", each) for each in words[j:k]):
            return None
        found = self._of(words, j, k, ends) or self._named(list(words[j:k]), j > i)
        if found is None:
            return None
        named, end = found
        end = max(end, k)
        fixed = named.phrase.constraints
        made = replace(
            named.phrase,
            definite=phrase.definite,
            owner=phrase.owner if named.phrase.sort is not Sort.PERSON else "",
            count=phrase.count,
            constraints=(*phrase.constraints, *fixed),
        )
        return Noun(made, end)

    def _determined(self, words: Sequence[str], i: int) -> tuple[Phrase, int]:
        """A phrase with what the determiners at an index say, and the index behind them."""
        definite, owner, count, constraints = True, "", "", list[Constraint]()
        j = i
        if words[j : j + 3] in (["one", "of", "the"], ["any", "of", "the"]):
            definite, j = False, j + 3
        elif words[j : j + 2] == ["one", "of"]:
            definite, j = False, j + 2
        while j < len(words) - 1:
            word = words[j]
            if word in _DEFINITE or word in _INDEFINITE or word == "one":
                definite = word in _DEFINITE
            elif word in _OWNERS:
                owner = _OWNERS[word]
            elif word in _COUNTS or word.isdigit():
                count = word
            elif word in _CONSTRAINTS["other"]:
                constraints.append(Constraint(ConstraintKind.OTHER, word))
            elif (
                word.endswith("'s") and (entry := self.lexicon.entries.get(word)) is not None and entry.sort == "whose"
            ):
                owner = entry.value
            else:
                break
            j += 1
        return Phrase(Sort.THING, "", definite, owner, count=count, constraints=tuple(constraints)), j

    def _posed(self, words: Sequence[str], j: int) -> Noun | None:
        """A person who is known by the pose: "person who is sitting", "guest waving"."""
        noun = self.lexicon.entries.get(words[j]) if j < len(words) else None
        after = self.lexicon.entries.get(words[j + 1]) if j + 1 < len(words) else None
        if noun is not None and noun.sort == "pose" and after is not None and after.sort == "people":
            return Noun(Phrase(Sort.POSED, noun.value, constraints=_gender(words[j + 1])), j + 2)
        if noun is None or noun.sort != "people":
            return None
        k = j + 1
        if words[k : k + 1] in (["who"], ["that"]):
            k += 1
        k += words[k : k + 1] in (["is"], ["are"])
        pose = self.pose(words, k)
        if pose is None:
            return None
        return Noun(Phrase(Sort.POSED, pose[0], constraints=_gender(words[j])), pose[1])

    def pose(self, words: Sequence[str], k: int) -> tuple[str, int] | None:
        """The pose whose words begin at an index, and the index behind them."""
        for size in range(5, 0, -1):
            entry = self.lexicon.entries.get(" ".join(words[k : k + size])) if k + size <= len(words) else None
            if entry is not None and entry.sort == "pose":
                return entry.value, k + size
        return None

    def _of(self, words: Sequence[str], j: int, k: int, ends: Sequence[bool]) -> tuple[Noun, int] | None:
        """As in "a glass of water", "the table of the kitchen", "the side of the bathtub"."""
        if k >= len(words) - 1 or words[k] != "of":
            return None
        inner = self.read(words, k + 1, ends)
        if inner is None:
            return None
        outer = list(words[j:k])
        if outer[-1] in _PARTS:
            part = Constraint(ConstraintKind.SIDE, f"{' '.join(outer)} of the {inner.phrase.name}")
            return Noun(replace(inner.phrase, constraints=(part,)), inner.end), inner.end
        if inner.phrase.sort is Sort.PLACE:
            named = self._named(outer, True)
            if named is None:
                return None
            inside = Constraint(ConstraintKind.RELATION, f"of the {inner.phrase.name}", inner.phrase)
            phrase = replace(named[0].phrase, constraints=(*named[0].phrase.constraints, inside))
            return Noun(phrase, inner.end), inner.end
        if (chosen := _constraints(outer)) and len(chosen) == len(outer):  # "the bigger of the two bowls"
            constraints = (*inner.phrase.constraints, *chosen)
            return Noun(replace(inner.phrase, constraints=constraints, count="", plural=False), inner.end), inner.end
        if inner.phrase.constraints or inner.phrase.sort not in (Sort.THING, Sort.CATEGORY):
            return None
        texts = (f"{outer[-1]} of {inner.phrase.name}", inner.phrase.name, " ".join(outer))
        known = [entry for text in texts if (entry := self._entry(text)) is not None]
        whole = next((each for each in known if self._stocked(each.value)), known[0] if known else None)
        if whole is not None:
            return Noun(_phrase(whole), inner.end), inner.end
        return Noun(Phrase(Sort.THING, f"{' '.join(outer)} of {inner.phrase.text}"), inner.end), inner.end

    def _named(self, words: list[str], determined: bool) -> tuple[Noun, int] | None:
        """What some words name: their longest ending that the home knows, the words before it being qualities."""
        for k in range(len(words)):
            entry = self._entry(" ".join(words[k:]))
            if entry is None:
                continue
            if any(self._is_verb(word) and not word.endswith("ing") for word in words[:k]):
                return None
            constraints = tuple(_constraints(words[:k]))
            said = {each.text for each in constraints}
            qualities = tuple(word for word in words[:k] if word not in said)
            phrase = replace(_phrase(entry), constraints=constraints)
            gender = words[-1] if phrase.sort is Sort.PERSON and words[-1] in _CONSTRAINTS["gender"] else ""
            if gender:
                constraints = (*constraints, Constraint(ConstraintKind.GENDER, gender))
            if phrase.sort is Sort.PERSON:
                more = tuple(Constraint(ConstraintKind.QUALITY, word) for word in qualities)
                return Noun(replace(phrase, constraints=(*constraints, *more)), 0), 0
            plain = all(word in self.harmless for word in qualities)
            if phrase.sort is Sort.PLACE or plain or self._stocked(phrase.name):
                return Noun(replace(phrase, words=qualities), 0), 0
            return Noun(replace(phrase, name=" ".join((*qualities, phrase.name))), 0), 0
        constraints = tuple(_constraints(words[:-1]))
        said = {each.text for each in constraints}
        left = [word for word in words if word not in said]
        last = self.lexicon.entries.get(left[-1]) if left else None
        if not left or set(left) & _GENERIC or left[-1] in _PARTS or left[-1] in (self.no_nouns | self.harmless):
            return None
        if (last is not None and last.sort == "pose") or set(left) & _NUMBERS:
            return None
        if any(self._is_place(left[k : k + 2]) for k in range(len(left) - 2)):
            return None
        if left[-1].endswith("ly") or any(self._is_verb(word) and not word.endswith("ing") for word in left[:-1]):
            return None
        if self._is_verb(left[-1]) and not (determined and left[-1] in _BASE):
            return None
        return Noun(Phrase(Sort.THING, " ".join(left), constraints=constraints), 0), 0

    def _is_place(self, words: Sequence[str]) -> bool:
        entry = self.lexicon.entries.get(" ".join(words))
        return entry is not None and entry.sort == "place"

    def _is_verb(self, word: str) -> bool:
        """Whether a word that no noun has is a verb, as in "the cup lying", "the door open"."""
        return word in self.lexicon.verbs and word not in self.lexicon.entries and word not in self.harmless

    def _stocked(self, name: str) -> bool:
        """Whether the home knows an object that a name can mean."""
        home = self.lexicon.home
        return any(home.could_mean(name, each) for each in home.items)

    def _entry(self, text: str) -> Lexeme | None:
        """What the home calls so, in the singular or the plural."""
        for each in (text, text.removesuffix("s"), f"{text}s"):
            entry = self.lexicon.entries.get(each)
            if entry is not None and entry.sort in ("thing", "category", "place", "person", "people"):
                return entry
        return None


def _gender(word: str) -> tuple[Constraint, ...]:
    """What a word for a person says of the person."""
    return (Constraint(ConstraintKind.GENDER, word),) if word in _CONSTRAINTS["gender"] else ()


def _phrase(entry: Lexeme) -> Phrase:
    if entry.sort in ("person", "people"):
        return Phrase(Sort.PERSON, entry.value)
    return Phrase(Sort(entry.sort), entry.value, plural=entry.plural)


def _constraints(words: Sequence[str]) -> list[Constraint]:
    """What the words of a noun phrase select by size, order, side, clothes, or by being another one."""
    found = []
    for word in words:
        kind = next((_KINDS[name] for name in ("size", "other") if word in _CONSTRAINTS[name]), None)
        if kind is None:
            kind = (
                ConstraintKind.SIZE if word in _SIZES
                else ConstraintKind.ORDER if word in _ORDERS
                else ConstraintKind.SIDE if word in _PLACES_IN_LINE
                else None
            )  # fmt: skip
        if kind is None and _SUPERLATIVE.fullmatch(word) and word not in _CONSTRAINTS["no superlative"]:
            kind = ConstraintKind.ORDER
        if kind is not None:
            found.append(Constraint(kind, word))
    return found
