"""Elements: noun phrases with their preposition, place and pose, and the words between them."""

from __future__ import annotations

from dataclasses import dataclass

from nsrecover.instructions.sentences.reading import PEOPLE, THINGS, Phrase, Sort
from nsrecover.instructions.sentences.words import Lexeme

NOUNS = ("thing", "category", "place", "person", "people")
PREPOSITIONS = ("from", "to", "at", "for", "with", "of", "about")


@dataclass(frozen=True)
class Element:
    """A noun phrase, or a word between noun phrases.

    Attributes:
        kind: np, or the sort of the lexeme.
        text: of a word as the lexicon writes it.
        start: index of the first lexeme.
        end: index behind the last lexeme.
        lexeme: of a word.
        phrase: of a noun phrase.
        at: where what the noun phrase names is said to be.
        prep: the sort of the preposition before a noun phrase; empty without one.
        count: the number that was said; empty without one.
        vague: whether a person is "somebody" or "anyone".
        extra: further content of the noun phrase that is not in the phrase.
    """

    kind: str
    text: str
    start: int
    end: int
    lexeme: Lexeme | None = None
    phrase: Phrase | None = None
    at: Phrase | None = None
    prep: str = ""
    count: str = ""
    vague: bool = False

    @property
    def is_thing(self) -> bool:
        """Whether it names an object."""
        return self.phrase is not None and self.phrase.sort in THINGS

    @property
    def is_person(self) -> bool:
        """Whether it names a person."""
        return self.phrase is not None and self.phrase.sort in PEOPLE

    @property
    def is_place(self) -> bool:
        """Whether it names a place."""
        return self.phrase is not None and self.phrase.sort is Sort.PLACE

    @property
    def is_pronoun(self) -> bool:
        """Whether it is a pronoun."""
        return self.phrase is not None and self.phrase.sort is Sort.PRONOUN

    @property
    def value(self) -> str:
        """What the verb that it is may want done; empty if it is no verb, or wants nothing done."""
        return self.lexeme.value if self.kind == "verb" and self.lexeme is not None else ""

    def verb(self, *forms: str) -> bool:
        """Whether it is a verb, in one of some forms if any are given."""
        return self.kind == "verb" and (not forms or bool(self.lexeme is not None and self.lexeme.forms & set(forms)))

    def may(self, kind: str) -> bool:
        """Whether it is a verb that can have a meaning of statements."""
        return self.lexeme is not None and kind in self.lexeme.also
