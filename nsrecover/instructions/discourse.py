"""What has been said so far: clauses, places, people and objects for pronouns, and words without a meaning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile

from nsrecover.domains.service.home import Home
from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.elements import Element
from nsrecover.instructions.reading import PEOPLE, THINGS, Clause, Phrase, Sort, Verb
from nsrecover.instructions.words import Lexeme

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
            elif phrase.sort in PEOPLE and phrase.name != OPERATOR:
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
            moved = verb in (Verb.PLACE, Verb.BRING, Verb.TAKE)
            sources = [entry.clause.source for entry in self.entries if entry.clause.source is not None]
            switched = [entry.clause.target for entry in self.entries if entry.clause.verb in SWITCHED]
            sources = sources or [
                place for thing, place in self.located if self.thing is not None and thing.name == self.thing.name
            ]
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
        if others and phrase.name == "it" and verb is not None and not self.doubt("pronoun", True):
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

    # --- the end

    def finish(self) -> tuple[Clause, ...]:
        """The clauses with what was said indirectly, where things are, and to whom they go."""
        entries = list(self.entries)
        for k, entry in reversed(list(enumerate(entries))):
            later = [other.clause for other in entries[k + 1 :]]
            told = any(each.verb is Verb.TELL and each.content == RESULT for each in later)
            greeted = entry.clause.content == "hello" and any(
                each.verb is Verb.TELL and each.person == entry.clause.person for each in later
            )
            looked = entries[k - 1].clause if k and entries[k - 1].clause.verb is Verb.FIND else None
            fetched = looked is not None and any(each.thing == looked.thing and each.thing for each in later)
            asked = entry.indirect and entry.clause.content == RESULT and entry.clause.person != OPERATOR_PHRASE
            if (entry.belief and entry.clause.verb is Verb.TELL and (told or fetched)) or greeted or (asked and told):
                del entries[k]
        for entry in [each for each in entries if each.indirect]:
            if entry not in entries:
                continue
            alike = [
                other
                for other in entries
                if other is not entry and not other.indirect and _alike(entry.clause, other.clause)
            ]
            same = [
                other for other in entries if other.indirect and other is not entry and other.clause == entry.clause
            ]
            mentioned = [
                other
                for other in entries
                if other is not entry and not other.belief and _alike(entry.clause, other.clause)
            ]
            named = [
                other
                for other in entries
                if other.belief and other.clause.verb is Verb.BRING and _alike(entry.clause, other.clause)
            ]
            if entry.belief and entry.clause.verb is Verb.PLACE and named and self.doubt("should be", True):
                entries.remove(entry)
            elif entry.belief and not alike and mentioned:
                entries.remove(entry)
            elif alike:
                other = alike[-1]
                if (
                    entry.belief
                    and other.clause.verb in (Verb.FIND, Verb.BRING, Verb.TAKE)
                    and other.clause.target is None
                ):
                    entries.remove(entry)
                    continue
                filled = _filled(other.clause, entry.clause)
                if filled is not None:
                    other.clause = filled
                    k = entries.index(entry)
                    reported = (
                        k + 1 < len(entries) and entries[k + 1].indirect and entries[k + 1].clause.content == RESULT
                    )
                    del entries[k : k + 1 + reported]
                    continue
                if other.clause.verb in (Verb.FIND, Verb.TAKE, Verb.GO) and entries.index(other) > entries.index(entry):
                    entries.remove(entry)
                    entries.insert(entries.index(other) + 1, entry)
            elif same:
                entries = [each for each in entries if each is not entry]
        left = [entry for entry in entries if entry.clause.verb is Verb.PLACE and entry.clause.negated]
        for entry in left:
            others = [each for each in entries if each.clause.thing == entry.clause.thing and not each.clause.negated]
            if others:
                where = entry.clause.source or entry.clause.target
                if others[0].clause.source is None and where != others[0].clause.target:
                    others[0].clause = replace(others[0].clause, source=where)
                entries.remove(entry)
        for entry, after in pairwise(entries):
            held, put = entry.clause, after.clause
            if any(each.clause.thing == held.thing for each in entries[entries.index(after) :]):
                continue
            unsaid = held.verb is Verb.TAKE or (held.verb is Verb.BRING and held.person is None and after.carried)
            if unsaid and put.verb is Verb.PLACE and held.thing != put.thing and not held.negated:
                # the robot has one hand: "take the bread and a knife to the table"
                entry.clause = replace(held, verb=Verb.PLACE, target=put.target)
        for before, entry in (*pairwise(entries), *pairwise(reversed(entries))):
            unsaid = entry.clause.verb is Verb.PLACE and entry.clause.target is None
            if unsaid and before.clause.verb is Verb.PLACE:
                entry.clause = replace(entry.clause, target=before.clause.target)
        for before, entry in pairwise(entries):
            entry.clause = self._taken_out(before.clause, entry)
        clauses = _come_back([self._completed(entry.clause) for entry in entries])
        clauses = _closed_later(clauses)
        for k in range(len(clauses) - 1, 0, -1):
            joined = _elaborated(clauses[k - 1], clauses[k])
            if joined is not None:
                clauses[k - 1 : k + 1] = [joined]
        if clauses and clauses[-1].verb is Verb.TAKE and self.taking and not self.doubt("holding", True):
            clauses[-1] = replace(clauses[-1], verb=Verb.BRING, person=OPERATOR_PHRASE)
        asked = (Verb.COUNT, Verb.POSE, Verb.FIND, Verb.TELL, Verb.ASK)
        return tuple(
            clause
            for i, clause in enumerate(clauses)
            if clause not in (clauses[:i] if clause.verb in asked else clauses[max(0, i - 1) : i])
        )

    def _taken_out(self, before: Clause, entry: Entry) -> Clause:
        """A clause with what was opened just before as the place of what is taken: "open it and bring me a cola"."""
        clause = entry.clause
        inside = before.verb is Verb.OPEN and before.target is not None and not self._is_room_door(before.target)
        moved = clause.verb in (Verb.BRING, Verb.TAKE, Verb.PLACE) and clause.target != before.target
        taken = moved and clause.source is None and clause.thing is not None
        if not (inside and taken):
            return clause
        return replace(clause, source=before.target) if self.doubt("opened", entry.close) else clause

    def _is_room_door(self, phrase: Phrase) -> bool:
        place = self.home.places.get(phrase.name)
        return place is not None and bool(place.leads_to)

    def _completed(self, clause: Clause) -> Clause:
        """A clause with the place where its object or person was said to be."""
        if clause.thing is not None and clause.source is None:
            spots = [p for thing, p in reversed(self.located) if _same(thing, clause.thing) and p != clause.target]
            place = spots[0] if spots else None
            if place is not None:
                clause = replace(clause, source=place)
        person = clause.person
        if person is not None and person.name != OPERATOR:
            spots = (p for who, p in reversed(self.located) if _same(who, person) and p != clause.target)
            place = next(spots, None)
            if place is not None and clause.person_at is None and place != clause.target:
                clause = replace(clause, person_at=place)
        if clause.verb is Verb.FOLLOW and person is not None:
            for who, start, end in self.moving:
                if _same(who, person):
                    clause = replace(clause, target=clause.target or end, person_at=clause.person_at or start)
        if clause.verb is Verb.GUIDE and clause.target is None:
            others = [place for place in self.places if place != clause.person_at]
            clause = replace(clause, target=others[-1] if others else None)
        if clause.verb is Verb.BRING and person is None:
            clause = replace(clause, person=OPERATOR_PHRASE)
        return clause


def _closed_later(clauses: list[Clause]) -> list[Clause]:
    """The clauses with what is taken put down before something is closed: the robot has one hand."""
    for k in range(len(clauses) - 2):
        taken, closed, put = clauses[k : k + 3]
        moved = taken.verb in (Verb.TAKE, Verb.BRING) and put.thing is not None and put.thing == taken.thing
        if moved and closed.verb is Verb.CLOSE:
            clauses[k + 1 : k + 3] = [put, closed]
    return clauses


def _come_back(clauses: list[Clause]) -> list[Clause]:
    """The clauses without coming back to the operator where something is brought or told there anyway."""
    for k in range(len(clauses) - 1, -1, -1):
        clause = clauses[k]
        if clause.verb is not Verb.FIND or clause.person != OPERATOR_PHRASE or clause.negated:
            continue
        before, after = clauses[:k], clauses[k + 1 :]
        taken = before[-1] if before else None
        if taken is not None and taken.verb in (Verb.COUNT, Verb.POSE) and not after:
            clauses[k] = Clause(Verb.TELL, person=OPERATOR_PHRASE, content=RESULT)
        elif taken is not None and taken.verb is Verb.TAKE:
            clauses[k - 1 : k + 1] = [replace(taken, verb=Verb.BRING, person=OPERATOR_PHRASE)]
        elif any(
            each.person == OPERATOR_PHRASE and each.verb in (Verb.BRING, Verb.TELL)
            for each in (*before[-1:], *after[:1])
        ):
            del clauses[k]
    return clauses


def _elaborated(one: Clause, other: Clause) -> Clause | None:
    """One clause for two of the same verb that say no different things: "show robin out, guide him to the entrance"."""
    if (
        one.verb is not other.verb
        or one.verb not in (Verb.GUIDE, Verb.FOLLOW, Verb.PLACE, Verb.BRING)
        or one.negated
        or other.negated
    ):
        return None
    joined = other
    for name in ("thing", "source", "target", "person", "person_at"):
        a, b = getattr(one, name), getattr(other, name)
        if a is not None and b is not None and (a.name != b.name or (a.owner and b.owner and a.owner != b.owner)):
            return None
        joined = replace(joined, **{name: b or a})
    return joined


def _same(one: Phrase, other: Phrase) -> bool:
    """Whether two phrases name the same thing or person."""
    if one.sort in PEOPLE and other.sort in PEOPLE:
        return one.name == other.name or "person" in (one.name, other.name)
    return (
        one.name == other.name
        and one.sort == other.sort
        and (one.words == other.words or not (one.words and other.words))
    )


def _alike(indirect: Clause, direct: Clause) -> bool:
    """Whether a command may be about what was said indirectly."""
    if indirect.verb in SWITCHED or direct.verb in SWITCHED:
        return indirect.verb in SWITCHED and direct.verb in SWITCHED and indirect.target == direct.target
    if indirect.thing is not None:
        return direct.thing is not None and _same(indirect.thing, direct.thing)
    if indirect.person is not None and direct.person is not None:
        return _same(indirect.person, direct.person)
    return indirect.verb is direct.verb


def _filled(direct: Clause, indirect: Clause) -> Clause | None:
    """A command with what it leaves out and was said indirectly; None if the two are different things to do."""
    d, i = direct, indirect
    if d.verb in SWITCHED:
        return d
    if d.verb is Verb.COUNT and i.verb is Verb.FIND:
        return replace(d, source=d.source or i.source)
    if d.verb is i.verb or (i.verb is Verb.PLACE and d.verb in (Verb.TAKE, Verb.BRING) and d.person is None):
        return replace(
            d,
            verb=i.verb if i.verb is Verb.PLACE else d.verb,
            source=d.source or i.source,
            target=d.target or i.target,
            person=d.person or i.person,
            person_at=d.person_at or i.person_at,
            content=d.content or i.content,
        )
    if i.verb is Verb.BRING and d.verb is Verb.TAKE and d.person is None:
        return replace(d, verb=Verb.BRING, person=i.person, source=d.source or i.source)
    if d.verb in (Verb.BRING, Verb.PLACE, Verb.DISCARD) and i.thing is not None:
        return replace(d, source=d.source or i.source)
    if (
        d.verb in (Verb.TELL, Verb.ASK, Verb.ANSWER, Verb.GUIDE, Verb.FOLLOW)
        and i.person is not None
        and i.thing is None
    ):
        return replace(d, person_at=d.person_at or i.person_at)
    return None
