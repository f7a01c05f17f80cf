"""What has been said so far: clauses, places, people and objects for pronouns, and words without a meaning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from nsrecover.domains.service.home import Home
from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.sentences.elements import Element
from nsrecover.instructions.sentences.reading import PEOPLE, THINGS, Clause, Phrase, Sort, Verb
from nsrecover.instructions.sentences.words import Lexeme

RESULT, NAME = "the result", "what is your name?"
"""Content of a clause that tells what was found out just before, and the question for a name."""

SWITCHED = (Verb.OPEN, Verb.CLOSE, Verb.TURN_ON, Verb.TURN_OFF)
"""Verbs about places."""

OPERATOR_PHRASE = Phrase(Sort.PERSON, OPERATOR)
"""Who gives the command."""

_TO_PEOPLE = (Verb.FOLLOW, Verb.GUIDE, Verb.ASK, Verb.TELL, Verb.REPORT, Verb.ANSWER, Verb.POSE)


@dataclass(eq=False)
class Entry:
    """Something to do.

    Attributes:
        clause: what.
        indirect: whether it was said only indirectly ("the mug belongs on the desk").
        belief: whether it may be a belief, or only a mention.
        carried: whether it was said with a verb of bringing or taking ("take the cup to the sink").
        close: whether it goes on with what was said just before ("open it and get me a cola", without "then").
    """

    clause: Clause
    indirect: bool = False
    belief: bool = False
    close: bool = True
    carried: bool = False


@dataclass
class Discourse:
    """What has been said so far.

    Attributes:
        home: where it was said.
        items: the lexemes of the sentence.
        entries: what to do, in order.
        located: objects and people with the place where they are said to be.
        moving: people with where they are said to go from and to.
        thing: the object that was mentioned last.
        person: the person who was mentioned last.
        place: the place that was mentioned last.
        mentioned: objects in the order in which they were mentioned.
        places: places in the order in which they were mentioned.
        unknown: words that no rule knows, each with whether it stands where a noun should.
        unexplained: known words that are in no clause and may change what is to be done.
        verbs: the verbs that were heard.
        operator_at: where the operator says to be later.
        statement: the text of the last statement, for "tell her that".
        stated: where the elements of the last statement start.
        taking: whether the last command was to take something, not to pick it up.
        flips: the doubts of which the less usual side is taken.
        doubts: where a sentence may mean two things, each with a number.
        settled: where the elements start that are told or asked, or say no more than others.
    """

    home: Home
    items: Sequence[Lexeme]
    entries: list[Entry] = field(default_factory=list)
    located: list[tuple[Phrase, Phrase]] = field(default_factory=list)
    moving: list[tuple[Phrase, Phrase | None, Phrase | None]] = field(default_factory=list)
    thing: Phrase | None = None
    person: Phrase | None = None
    place: Phrase | None = None
    mentioned: list[Phrase] = field(default_factory=list)
    places: list[Phrase] = field(default_factory=list)
    unknown: list[tuple[str, bool]] = field(default_factory=list)
    unexplained: list[str] = field(default_factory=list)
    verbs: list[Verb] = field(default_factory=list)
    operator_at: Phrase | None = None
    statement: str = ""
    stated: frozenset[int] = frozenset()
    settled: set[int] = field(default_factory=set)
    taking: bool = False
    flips: frozenset[str] = frozenset()
    doubts: list[str] = field(default_factory=list)

    # --- what was said

    def said(self, elements: Iterable[Element]) -> str:
        """The words of some elements."""
        words = [item.said for each in elements for item in self.items[each.start : each.end]]
        return " ".join(word for word in words if word not in ('"', ":")).strip(" ,.")

    def add(self, clause: Clause, indirect: bool = False) -> None:
        """Note something to do."""
        self.entries.append(Entry(clause, indirect))
        self.note(*clause.phrases)
        if (
            clause.verb in (Verb.POSE, Verb.ASK, Verb.TELL)
            and clause.person is not None
            and clause.person_at is not None
        ):
            self.locate(clause.person, clause.person_at)
        self.place = clause.target or clause.source or clause.person_at or self.place

    def note(self, *phrases: Phrase | None) -> None:
        """Remember phrases for pronouns."""
        for phrase in phrases:
            if phrase is None:
                continue
            if phrase.owner in self.home.people and phrase.owner != OPERATOR:
                self.person = Phrase(Sort.PERSON, phrase.owner)
            for word in " ".join(phrase.words).split():
                if word in self.home.people:
                    self.person = Phrase(Sort.PERSON, word)
            if phrase.sort in THINGS:
                self.thing = phrase
                self.mentioned.append(phrase)
            elif phrase.sort in PEOPLE and phrase.name != OPERATOR and phrase.owner not in self.home.people:
                self.person = phrase
            elif phrase.sort is Sort.PLACE:
                self.place = phrase
                self.places.append(phrase)

    def locate(self, phrase: Phrase, place: Phrase) -> None:
        """Note where something is said to be."""
        self.located.append((phrase, place))

    def unclear(self, *elements: Element) -> None:
        """Note elements that are in no clause and may change what is to be done."""
        for each in elements:
            if each.kind == "unknown":
                self.unknown.append((each.text, False))
            else:
                self.unexplained.append(self.said([each]))

    def doubt(self, kind: str, usual: bool) -> bool:
        """Which side is taken where a sentence may mean two things: the usual one unless it is flipped."""
        name = f"{kind} {sum(each.startswith(kind) for each in self.doubts)}"
        self.doubts.append(name)
        return usual != (name in self.flips)

    # --- pronouns

    def resolved(self, item: Element, verb: Verb | None, prep: str = "") -> Phrase:
        """What a pronoun means; other phrases as they are."""
        phrase = item.phrase
        assert phrase is not None
        if phrase.owner == "whom":
            named = self.person is not None and self.person.sort is Sort.PERSON and self.person.name in self.home.people
            phrase = replace(phrase, owner=self.person.name if named and self.person is not None else "")
        if phrase.sort is not Sort.PRONOUN:
            return phrase
        if phrase.name == "there":
            moved = verb in (Verb.PLACE, Verb.BRING, Verb.TAKE, Verb.GUIDE)
            sources = [entry.clause.source for entry in self.entries if entry.clause.source is not None]
            switched = [entry.clause.target for entry in self.entries if entry.clause.verb in SWITCHED]
            meant = self.person if verb is Verb.GUIDE else self.thing
            sources = sources or [p for what, p in self.located if meant is not None and what.name == meant.name]
            others = [place for place in self.places if place not in (*sources, *switched)] if moved else []
            return (others[-1] if others else self.place) or phrase
        if phrase.words and self.thing is not None:
            kind = self.home.kind(self.thing.name)
            return replace(self.thing, name=kind, words=phrase.words, definite=phrase.definite)
        if phrase.name == "it" and (prep in ("from", "at") or verb in SWITCHED) and self.place is not None:
            return self.place
        about_people = verb in _TO_PEOPLE or (prep in ("to", "for", "with") and phrase.name != "it")
        if about_people or phrase.name == "whom" or (phrase.name == "them" and self.thing is None):
            return self.person or phrase
        others = [
            thing for thing in dict.fromkeys(self.mentioned) if self.thing is not None and thing.name != self.thing.name
        ]
        clear = bool(self.entries) and self.entries[-1].clause.thing == self.thing
        if others and phrase.name == "it" and verb is not None and not clear and not self.doubt("pronoun", True):
            return others[-1]
        return self.thing or phrase

    def group(self) -> list[Phrase]:
        """The things that "them" means: those of the last commands of one kind, or else of the last mentions."""
        if not self.entries:
            return list(dict.fromkeys(self.mentioned))
        last = self.entries[-1].clause.verb
        same = takewhile(lambda each: each.clause.verb is last, reversed(self.entries))
        things = [each.clause.thing for each in same if each.clause.thing is not None]
        return list(dict.fromkeys(reversed(things)))

    def refine(self, phrase: Phrase) -> bool:
        """Apply "the red one" to the object of the last clause; returns whether there is one."""
        for entry in reversed(self.entries):
            if entry.clause.thing is not None:
                thing = replace(entry.clause.thing, words=phrase.words)
                entry.clause = replace(entry.clause, thing=thing)
                self.thing = thing
                return True
        return False
