"""What was said before, and so may be meant by a pronoun."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from nsrecover.domains.service.home import Home
from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.plain.about import Unread, about
from nsrecover.instructions.plain.parts import Part
from nsrecover.instructions.reading import (
    PEOPLE,
    SWITCHED,
    Clause,
    Phrase,
    Sort,
    Verb,
)


@dataclass
class Memory:
    """What was said before, and so may be meant by a pronoun.

    Attributes:
        home: where the sentence was said.
        flips: the doubts of which the less usual side is taken.
        doubts: where the sentence may mean two things, each with a number.
        thing: the object that was mentioned last.
        place: the place that was mentioned last.
        person: the person who was mentioned last.
        where: object -> where it is said to be.
        by_pronoun: whether the object of the last clause was named by a pronoun.
        group: the objects of the last clause that had any.
        fetched: a person who was to be fetched, which has to be followed by where to bring her.
        said: the last statement that changed nothing.
        goal: where something was to go last.
        source: where the object of the last clause comes from.
        things: the objects that were mentioned.
    """

    home: Home
    flips: frozenset[str]
    doubts: list[str] = field(default_factory=list)
    thing: Phrase | None = None
    place: Phrase | None = None
    person: Phrase | None = None
    where: dict[str, Phrase] = field(default_factory=dict)
    by_pronoun: bool = False
    group: tuple[Phrase, ...] = ()
    fetched: Phrase | None = None
    said: str = ""
    goal: Phrase | None = None
    source: Phrase | None = None
    things: set[str] = field(default_factory=set)
    _doubtful: str = ""

    def note(self, *phrases: Phrase | None) -> None:
        """Remember what pronouns may mean."""
        for phrase in phrases:
            if phrase is not None and phrase.sort in (Sort.THING, Sort.CATEGORY):
                self.thing = phrase
                self.things.add(phrase.name)
            elif phrase is not None and phrase.sort is Sort.PLACE:
                self.place = phrase
            elif phrase is not None and phrase.sort in PEOPLE and phrase.name != OPERATOR:
                self.person = phrase

    def settle(self, clause: Clause) -> None:
        """Take back the doubt about a clause that a later one has made clear."""
        if self._doubtful and clause.verb is Verb.TAKE and self._doubtful in self.doubts:
            self.doubts.remove(self._doubtful)

    def _doubt(self, kind: str) -> bool:
        """Whether the usual side is taken where a clause may mean two things."""
        self._doubtful = f"{kind} {len(self.doubts)}"
        self.doubts.append(self._doubtful)
        return self._doubtful not in self.flips

    def place_of(self, parts: Sequence[Part]) -> Phrase | None:
        """The first place of some parts, with what the others say about it; None without a place of the home."""
        found: Phrase | None = None
        for part in parts:
            if found is None:
                found = part.phrase if part.phrase is not None and part.phrase.sort is Sort.PLACE else None
            elif part.kind == "at" and self._within(part.phrase, found):
                found = part.phrase  # "in the bedroom on the bedside table"
            else:
                found = about(found, part)
        return found

    def _within(self, inner: Phrase | None, outer: Phrase) -> bool:
        """Whether a place is in a room."""
        return inner is not None and inner.name in self.home.places and self.home.inside(inner.name, outer.name)

    def _named(self, part: Part) -> Part:
        """A part with what its pronoun means: "from it", "to him"."""
        if part.phrase is None or part.phrase.sort is not Sort.PRONOUN:
            return part
        there = part.phrase.name == "there"
        meant = self.person if part.phrase.name == "whom" else (there and self.goal) or self.place
        if meant is None or (there and meant == self.source):
            raise Unread
        return replace(part, phrase=meant)

    def _resolved(self, phrase: Phrase, verb: Verb) -> Phrase:
        """What a pronoun means.

        Raises:
            Unread: nothing was mentioned that it can mean.
        """
        if verb in (Verb.FOLLOW, Verb.GUIDE) or phrase.name == "whom":
            meant = self.person
        elif verb in (*SWITCHED, Verb.GO):
            meant = self.place
        else:
            meant = self.thing
        several = len(self.things) > 1 if phrase.name == "them" else len(self.group) > 1 and phrase.name == "it"
        if meant is None or (several and meant is self.thing):
            raise Unread
        return meant
