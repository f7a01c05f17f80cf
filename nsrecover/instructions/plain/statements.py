"""What a command says besides what to do: where things are, who is where, what is wished for, and mere reasons."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.plain.about import Unread
from nsrecover.instructions.plain.frames import Frames
from nsrecover.instructions.plain.parts import AUXILIARY, Part, Words
from nsrecover.instructions.plain.words import CONDITIONS, PREPOSITIONS, WORDS, listed
from nsrecover.instructions.reading import PEOPLE, THE_OPERATOR, THINGS, Clause, Phrase, Sort, Verb

_SAID = {name: re.compile(pattern) for name, pattern in WORDS["statements"].items()}
_ASKING = frozenset((*listed(WORDS["questions"]), *listed(WORDS["no statements"])))
_SUBJECTS, _SAYS = frozenset(listed(WORDS["subjects"])), frozenset(listed(WORDS["says"]))
_DETERMINERS, _DENIED = frozenset(listed(WORDS["determiners"])), frozenset(listed(WORDS["changing"]))


@dataclass
class Statements:
    """The statements and wishes of a command, and what they say about its clauses."""

    words: Words
    frames: Frames
    clauses: list[Clause] = field(default_factory=list)
    mentioned: list[Phrase] = field(default_factory=list)
    operator_at: Phrase | None = None
    lost: bool = False
    wish: Clause | None = None
    supposed: Clause | None = None
    background: list[str] = field(default_factory=list)

    def _wished(self, i: int) -> int | None:
        """The index behind a wish that begins at a word: "i would like a cola", "ashley needs the milk"."""
        words = self.words
        rest = f"{words.text(i, len(words.words))} "
        found = _SAID["wished"].match(rest)
        if found is None or _SAID["meant to"].match(rest):
            return None
        who = found["who"] or found["who_2"]
        person = THE_OPERATOR if who == "i" else Phrase(Sort.PERSON, who) if who in words.lexicon.home.people else None
        person = self.frames.person if who in ("he", "she") else person
        parts = words.parts(i + len(found[0].split()))
        if person is None or parts is None:
            raise Unread
        given = [] if who == "i" else [Part("to", f"to {person.name}", person)]
        for clause in self.frames.clauses(Verb.BRING, "want", [*parts[0], *given]):
            self._add(clause)
            self.wish = clause
        self.frames.note(person)
        return parts[1]

    def _stated(self, i: int) -> int | None:
        """The index behind a statement that begins at a word; None if none does, or it says nothing known."""
        words = self.words
        rest = f"{words.text(i, len(words.words))} "
        entry = words.lexicon.entries.get(words.words[i])
        if entry is not None and entry.sort == "person" and _SAID["placed"].match(f"he {rest.partition(' ')[2]}"):
            rest = f"he {rest.partition(' ')[2]}"
            self.frames.note(Phrase(Sort.PERSON, entry.value))
        if (known := _SAID["known"].match(rest)) and known["who"] in words.lexicon.home.people:
            self.frames.note(Phrase(Sort.PERSON, known["who"]))
            return i + len(known[0].split())
        for pattern in (_SAID["later"], _SAID["placed"], _SAID["present"], _SAID["lost"], _SAID["meant to"]):
            found = pattern.match(rest)
            if found is None:
                continue
            k = i + len(found[0].split())
            if pattern is _SAID["later"]:
                return self._later(k)
            if pattern is _SAID["meant to"] and words.clause_begins(k):
                return k
            parts = words.parts(k)
            if parts is None or (pattern is _SAID["placed"] and not parts[0]):
                break
            nouns = [part.phrase for part in parts[0] if part.kind in ("np", "and") and part.phrase is not None]
            if (len(nouns) > 1 and pattern is not _SAID["present"]) or (pattern is _SAID["placed"] and nouns):
                raise Unread
            if pattern is _SAID["lost"] and not nouns:
                break
            places = [part for part in parts[0] if part.kind in ("at", "near", "from")]
            place = self.frames.place_of(places) or next(
                (part.phrase for part in places if part.phrase is not None and part.phrase.sort is Sort.PLACE), None
            )
            if place is None and any(part.kind != "near" for part in places):
                raise Unread
            if (
                pattern is _SAID["placed"]
                and "should be" in found[0]
                and self.frames.thing is not None
                and self.frames.thing.name in self.frames.where
            ):
                return self._described(i)
            if pattern is _SAID["placed"]:
                self._placed(place, found[0].split()[0] in ("he", "she"))
                if entry is not None and entry.sort == "person":
                    self.mentioned.append(Phrase(Sort.PERSON, entry.value))
            elif pattern is _SAID["meant to"]:
                if nouns and nouns[0].sort in PEOPLE and place is not None:
                    self.frames.where[nouns[0].name] = place
                self.frames.note(*nouns, *(part.phrase for part in places if part.phrase is not None))
            elif nouns:
                if pattern is _SAID["lost"] and found["who"] in words.lexicon.home.people:
                    self.frames.note(Phrase(Sort.PERSON, found["who"]))
                self.lost = pattern is _SAID["lost"] and found["who"] in ("i", "we")
                for noun in nouns:
                    self._mentioned(noun, place)
                self.frames.group = tuple(nouns)
            return parts[1]
        for read in (self._described, self._background, self._topic):
            after = read(i)
            if after is not None:
                return after
        return None

    def _topic(self, i: int) -> int | None:
        """The index behind what is only named before it is spoken of: "my watch, on the desk: bring it"."""
        words = self.words
        noun = words.noun(i) if not words.verb(i) and words.words[i] not in CONDITIONS else None
        parts = words.parts(i) if noun is not None else None
        if noun is None or parts is None or not parts[0]:
            return None
        first, *rest = parts[0]
        if "please" in words.words[i : parts[1] + 2] and noun[0].sort in THINGS and words.known(noun[0]):
            for clause in self.frames.clauses(Verb.BRING, "want", parts[0]):
                self._add(clause)
            return parts[1]
        more = [part.phrase for part in rest if part.kind == "and" and part.phrase is not None]
        rest = [part for part in rest if part.kind != "and"]
        marked = words.text(parts[1], parts[1] + 1) in (",", ".", ";", ":", "!", "?")
        if not marked or first.phrase != noun[0] or any(part.kind not in ("at", "near", "from") for part in rest):
            return None
        if noun[0].sort is Sort.PLACE and self.mentioned and not rest:
            self.frames.where.setdefault(self.mentioned[-1].name, noun[0])
        elif noun[0].sort in (*THINGS, Sort.PERSON, Sort.POSED):
            place = self.frames.place_of(rest)
            if rest and place is None:
                return None
            for phrase in (noun[0], *more):
                self._mentioned(phrase, place)
            self.frames.group = (noun[0], *more)
        else:
            return None
        return parts[1]

    def _described(self, i: int) -> int | None:
        """The index behind where a thing is or belongs: "the cup is on the desk", "it should go into the sink"."""
        words = self.words
        noun = (self.frames.thing, i + 1) if words.words[i] in ("it", "that") else words.noun(i)
        if noun is not None and noun[0] is not None and noun[0].sort in PEOPLE:
            return self._person_described(noun[0], noun[1])
        if noun is not None and noun[0] is not None and noun[0].sort is Sort.PLACE:
            self.frames.note(noun[0])
            mentioned = list(self.mentioned)  # a place need not be spoken of again
            after = self._said_of(noun[0], None, noun[1])
            self.mentioned = mentioned
            return after
        if noun is None or noun[0] is None or noun[0].sort not in THINGS:
            return None
        phrase, k = noun[0], noun[1]
        located = (
            words.part(k, True) if words.longest(k, PREPOSITIONS) or words.text(k, k + 1) in ("that", "which") else None
        )
        where = located[0].phrase if located is not None else None
        if located is not None and where is not None and where.sort is Sort.PLACE and located[0].kind in ("at", "from"):
            self.frames.where[phrase.name], k = where, located[1]
        if (
            words.text(k, k + 1) in ("is", "are")
            and words.text(k + 1, k + 2) in words.nouns.harmless
            and words.clause_begins(k + 2)
        ):
            self._mentioned(phrase, where)
            return k + 2
        rest = f"{words.text(k, len(words.words))} "
        lies, belongs = _SAID["lies"].match(rest), _SAID["belongs"].match(rest)
        found = lies or belongs
        parts = words.parts(k + len(found[0].split())) if found else None
        if found is None or parts is None:
            return self._said_of(phrase, where, k)
        owner = next(
            (part.phrase for part in parts[0] if part.phrase is not None and part.phrase.sort is Sort.PERSON), None
        )
        if owner is not None:
            self._mentioned(phrase, where)
            self.frames.note(owner)
        elif belongs is not None and lies is None:
            goal = [replace(part, kind="to") if part.kind == "at" else part for part in parts[0]]
            for clause in self.frames.clauses(Verb.PLACE, "put", [Part("np", phrase.text, phrase), *goal]):
                self._add(clause)
                self.supposed = clause if "should be" in found[0] else None
        elif (place := self.frames.place_of(parts[0])) is not None:
            self._mentioned(phrase, place)
        else:
            return None
        return parts[1]

    def _said_of(self, thing: Phrase, where: Phrase | None, k: int) -> int | None:
        """The index behind what is said about an object, if that names nothing of the home: "the lemon is mouldy"."""
        words, end = self.words, self.words.end_of_statement(k)
        said = words.words[k:end]
        if end >= len(words.words) or not said or said[0] not in _SAYS or _DENIED & set(said):
            return None
        at = next((j for j in range(k + 1, end) if self._place_until(j, end) is not None), end)
        named = (words.lexicon.entries.get(words.text(j, j + size)) for j in range(k, at) for size in (1, 2))
        if any(entry is not None for entry in named):
            return None
        self._mentioned(thing, self._place_until(at, end) or where)
        return end

    def _place_until(self, j: int, end: int) -> Phrase | None:
        """The place where something is, if words say nothing else: "in the kitchen"."""
        part = self.words.part(j, True)
        phrase = part[0].phrase if part is not None and part[1] == end and part[0].kind == "at" else None
        return phrase if phrase is not None and phrase.sort is Sort.PLACE else None

    def _person_described(self, person: Phrase, k: int) -> int | None:
        """The index behind where a person is: "alex waits in the kitchen", "the guest is still in the study"."""
        words = self.words
        found = _SAID["is at"].match(f"{words.text(k, len(words.words))} ")
        part = words.part(k + len(found[0].split()), True) if found is not None else None
        if part is None or part[0].phrase is None or part[0].phrase.sort is not Sort.PLACE:
            return None
        self._mentioned(person, part[0].phrase)
        return part[1]

    def _later(self, k: int) -> int:
        """The index behind where the operator says to be later."""
        words = self.words
        if words.text(k, k + 1) == "there":
            self.operator_at, k = self.frames.place, k + 1
        elif (part := words.part(k, False)) is not None and part[0].phrase is not None and part[0].kind == "at":
            self.operator_at, k = part[0].phrase, part[1]
        if self.operator_at is None or self.operator_at.sort is not Sort.PLACE:
            raise Unread
        return k + (3 if words.text(k, k + 3) in ("in a moment", "in a minute", "in a second") else 0)

    def _background(self, i: int) -> int | None:
        """The index behind a statement that names nothing of the home and asks for nothing: "alex overslept"."""
        words = self.words
        state = words.text(i + 1, i + 2) in ("am", "is", "are", "feel")  # "i am hungry go to the kitchen"
        end = words.end_of_statement(i, runs_on=state)
        said = words.words[i:end]
        entries = [
            entry
            for k in range(i, end)
            for size in (1, 2)
            if (entry := words.lexicon.entries.get(words.text(k, k + size)))
        ]
        named = {entry.sort for entry in entries} - {"pose", "people", "person", "whose"}
        if (named and not _SAID["weather"].match(" ".join(said))) or end - i < 2 or _DENIED & set(said):
            return None
        if any(map(words.acts, range(i, end))) or said[0] in _ASKING:
            return None
        verbal = any(word in AUXILIARY or word.endswith("ed") for word in said)
        begins = words.lexicon.entries.get(said[0]) is not None or said[0] in _SUBJECTS or said[1] in _SAYS
        if not begins or (said[0] in _DETERMINERS and not verbal):  # "state the colour", "the blue one"
            return None
        for entry in entries:
            if entry.sort in ("person", "whose"):
                self.frames.note(Phrase(Sort.PERSON, entry.value))
        self.background.append(words.text(i, end))
        self.frames.said = self.background[-1]
        return end

    def _joins(self, k: int) -> bool:
        """Whether a word is an "and" before something that is said for itself."""
        return self.words.words[k] == "and" and self.words.clause_begins(k + 1)

    def _mentioned(self, thing: Phrase, place: Phrase | None) -> None:
        """Note something that a later command has to be about."""
        self.frames.note(thing)
        self.mentioned.append(thing)
        if place is not None:
            self.frames.where[thing.name] = place

    def _placed(self, place: Phrase | None, person: bool) -> None:
        """As in "it should be on the nightstand", "she is in the study"."""
        thing = self.frames.person if person else self.frames.thing
        if place is None or thing is None:
            raise Unread
        self.frames.where.setdefault(thing.name, place)
        for k, clause in enumerate(self.clauses):
            if person and clause.person == thing and clause.person_at is None and clause.verb is not Verb.GO:
                self.clauses[k] = replace(clause, person_at=place)
            elif clause.thing is not None and clause.thing.name == thing.name and clause.source is None:
                self.clauses[k] = replace(clause, source=place)

    def _add(self, clause: Clause) -> None:
        """Add a clause, or complete the one before that was only a means to it."""
        last = self.clauses[-1] if self.clauses else None
        taken = clause.verb in (Verb.TAKE, Verb.BRING, Verb.FIND) and clause.thing is not None
        if last is not None and last.verb is Verb.OPEN and taken and clause.source is None:
            clause = replace(clause, source=last.target)
        if last is not None and last is self.supposed and last.thing == clause.thing and last.target != clause.target:
            self.clauses[-1] = replace(clause, source=clause.source or last.target)
            return
        if last is not None and last is self.wish and clause.thing is not None and last.thing == clause.thing:
            wished = replace(last, source=last.source or clause.source)
            means_to = clause.verb in (Verb.TAKE, Verb.FIND)
            self.clauses[-1] = wished if means_to else replace(clause, source=clause.source or last.source)
            return
        same = last is not None and last.thing is not None and clause.thing is not None
        same = same and last is not None and clause.thing == last.thing and self.frames.by_pronoun
        if same and last is not None and clause.verb is Verb.FIND and clause.source is not None:
            self.clauses[-1] = replace(last, source=last.source or clause.source)
            return
        means = (Verb.TAKE, Verb.FIND) if clause.verb in (Verb.BRING, Verb.PLACE) else ()
        fetched = (
            last is not None and last.verb is Verb.BRING and last.person is not None and last.person.name == OPERATOR
        )
        if same and last is not None and (last.verb in means or (fetched and clause.verb in (Verb.BRING, Verb.PLACE))):
            self.frames.settle(last)
            moved = replace(
                clause, source=clause.source or last.source, constraints=(*last.constraints, *clause.constraints)
            )
            self.clauses[-1] = moved
            return
        self.clauses.append(clause)
