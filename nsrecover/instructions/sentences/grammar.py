"""Sentence → reading: every piece is a command, a statement about what is to be done, or background."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from nsrecover.instructions.sentences.arguments import state_of
from nsrecover.instructions.sentences.chunks import Chunker
from nsrecover.instructions.sentences.commands import Commands
from nsrecover.instructions.sentences.conclusion import concluded
from nsrecover.instructions.sentences.coverage import MOST_UNKNOWN, uncovered
from nsrecover.instructions.sentences.discourse import OPERATOR_PHRASE, Discourse
from nsrecover.instructions.sentences.elements import Element
from nsrecover.instructions.sentences.lexing import lexed
from nsrecover.instructions.sentences.meaning.speech import CORRECTIONS
from nsrecover.instructions.sentences.meaning.statements import statement_of
from nsrecover.instructions.sentences.pieces import Piece, pieces_of
from nsrecover.instructions.sentences.reading import THINGS, Clause, Phrase, Reading, Sort, Verb
from nsrecover.instructions.sentences.words import COMMON, Lexicon, tokens

_SOUGHT = (Verb.FIND, Verb.BRING, Verb.TAKE)
"""What is looked for at the place that is named last: "where is my book? look in the study"."""


class _Reader(Commands):
    """Reads the pieces of one sentence in order."""

    def read(self) -> None:
        """Read all pieces."""
        i = 0
        while i < len(self.pieces):
            i = self._piece(i)
        self._implied()
        if not self.d.entries:
            for piece in self.background:
                self.d.unknown += [(item.text, False) for item in piece.content if item.kind == "unknown"]

    def _implied(self) -> None:
        """What the operator needs if that is all that is said: "I am thirsty. The water is on the table"."""
        d = self.d
        located = {thing.name: (thing, place) for thing, place in d.located if thing.sort in THINGS}
        acts = any(item.value for piece in self.background for item in piece.items)
        if d.entries or acts or len(located) != 1 or not any(map(_needs, self.background)):
            return
        thing, place = next(iter(located.values()))
        d.add(Clause(Verb.BRING, thing, place, None, OPERATOR_PHRASE))

    def _piece(self, i: int) -> int:
        """Read one piece; returns the index of the next one that is not read yet."""
        piece, d = self.pieces[i], self.d
        self.last = i + 1 >= len(self.pieces)
        if d.said(piece.items) in CORRECTIONS:
            self.correcting = bool(d.entries)
            return i + 1
        if not piece.content:
            return i + 1
        ensured = next((k for k, item in enumerate(piece.items) if item.kind == "ensure"), None)
        if ensured is not None:
            self.ensuring = True
            return self._ensured(i, ensured)
        verb = self._verb(piece)
        if piece.mark in (".", "!", "?", ";") or verb is not None:
            self.ensuring = False
        if verb is not None:
            before = len(d.entries)
            if self.correcting and d.entries:
                d.entries.pop()
                before -= 1
            self.correcting = False
            at, negated = verb
            asker, self.asker = self.asker, None
            end = self._command(i, at, negated)
            for entry in d.entries[before:]:
                if asker is not None and entry.clause.verb is Verb.BRING and entry.clause.person is None:
                    entry.clause = replace(entry.clause, person=asker)
                given = piece.items[at].text in ("give", "hand", "deliver", "pass")
                entry.close = piece.link in ("", "and") and piece.mark in ("", ",") and not piece.sub and not given
            self._ordered(piece, before, end)
            return end
        if piece.content[0].kind in ("not", "exclusion") and self._contrast(piece):
            return i + 1
        if piece.is_nominal:
            before = len(d.entries)
            self._nominal(piece, i)
            self._ordered(piece, before, i + 1)
            return i + 1
        before = len(d.entries)
        for item in piece.items:
            if item.is_thing and d.thing is None:
                d.note(item.phrase)
        person = next((item for item in piece.content if item.kind == "np"), None)
        wished = piece.sub == "condition" and any(item.text == "were" for item in piece.items)
        goal = piece.sub in ("when", "after") and not (person is not None and person.is_person)
        goal = goal or wished or (self.ensuring and piece.link == "and")
        if piece.mark == "," and piece.content[0].text == "which" and d.thing is not None:
            which = replace(piece.content[0], kind="np", phrase=Phrase(Sort.PRONOUN, "it"))
            piece = replace(piece, items=(which, *piece.content[1:]))
        items = self._with_subject(piece)
        if statement_of(d, items, goal=goal):
            self._ordered(piece, before, i + 1)
        else:
            self._background(piece)
        d.statement, d.stated = d.said(piece.items), frozenset(item.start for item in piece.items)
        return i + 1

    def _with_subject(self, piece: Piece) -> list[Element]:
        """The elements of a statement, with the subject of the one before if it has none: "and should know it"."""
        first = piece.content[0]
        items = list(piece.items)
        if piece.link and self.subject and (first.kind == "must" or first.kind == "aux" or first.verb("third", "past")):
            return [*self.subject, *items]
        if piece.link and self.subject and self.subject[0].kind == "i" and first.verb("base") and first.may("want"):
            return [*self.subject, *items]
        k = next((k for k, item in enumerate(items) if item.kind in ("aux", "must", "verb", "unknown")), 0)
        self.subject = [item for item in items[:k] if item.kind == "i" or (item.kind == "np" and not item.prep)]
        return items

    def _ordered(self, piece: Piece, before: int, end: int) -> None:
        """Put what has to be done after something else behind it: "before you go", "after you have opened it"."""
        d = self.d
        new = d.entries[before:]
        if piece.sub == "before":
            self.later = getattr(self, "later", []) + new
            following = end < len(self.pieces) and self.pieces[end].mark in ("", ",")
            if following:
                rest_from = len(d.entries)
                self._piece(end)
                d.entries[before:] = [*d.entries[rest_from:], *new]
                self.pieces[end] = Piece(())
        elif before and (piece.sub == "after" or piece.link == "but first"):
            d.entries[before - 1 :] = [*new, *d.entries[before - 1 : before]]

    def _ensured(self, i: int, k: int) -> int:
        """As in "make sure that the fridge is open": a statement that the robot is to make true, or a command."""
        piece, d = self.pieces[i], self.d
        rest = tuple(each for each in piece.items[k + 1 :] if each.kind not in ("that", "filler") or state_of(each))
        if not rest and i + 1 < len(self.pieces):
            return i + 1
        inner = replace(piece, items=rest)
        if piece.items[k].text == "see that" and not any(each.kind in ("verb", "aux", "must") for each in rest):
            for each in rest:
                if each.is_thing and each.phrase is not None:
                    d.note(each.phrase)
                    place = each.at or next((other.phrase for other in rest if other.is_place), None)
                    if place is not None:
                        d.locate(each.phrase, place)
            return i + 1
        verb = self._verb(inner)
        negated = any(item.kind == "not" for item in piece.items[:k])
        if verb is not None and rest:
            self.pieces[i] = inner
            return self._command(i, verb[0], verb[1] or negated)
        if not statement_of(d, rest, goal=True):
            d.unclear(*[each for each in rest if each.kind in ("np", "unknown", "verb")])
        return i + 1

    def _contrast(self, piece: Piece) -> bool:
        """As in "not the blue one", "not on the bed": what is not meant."""
        items = piece.content
        if len(items) != 2 or items[1].kind != "np":
            return False
        self.d.settled.add(items[1].start)
        if items[1].is_place and items[1].prep and self.d.thing is not None and items[1].phrase is not None:
            self.d.locate(self.d.thing, items[1].phrase)
        return True

    def _nominal(self, piece: Piece, i: int) -> None:
        """Only noun phrases: what is wanted, a closer description, or a correction."""
        d, items = self.d, piece.content
        if self.correcting and d.entries and items[0].phrase is not None:
            for item in items:
                self._corrected(item)
            self.correcting = False
            return
        if items[0].is_pronoun and items[0].phrase is not None and items[0].phrase.words and d.refine(items[0].phrase):
            return
        if "or" in piece.link.split() and i:
            d.unclear(*items)
            return
        things, places = [e for e in items if e.is_thing], [e for e in items if e.is_place]
        people = [e for e in items if e.is_person]
        if piece.sub in ("before", "after") and things:
            for each in things:
                d.add(Clause(Verb.BRING, each.phrase, each.at))
            return
        if piece.link.startswith("but") and places and not things and d.thing is not None and places[0].prep:
            d.add(Clause(Verb.PLACE, d.thing, None, places[0].phrase))
            return
        pairs = [each for each in self.pieces[max(0, i - 1) : i + 2] if _is_pair(each)]
        if len(pairs) > 1 and _is_pair(piece):
            d.add(Clause(Verb.PLACE, things[0].phrase, None, places[-1].phrase))
            return
        there = len(things) and len(places) == 1 and len(items) == len(things) + 1 and items[-1].prep == "at"
        there = there and items[-1].is_place
        if there and not piece.sub and not self._told_later(things[-1]) and d.doubt("fragment", False):
            for each in things:
                d.add(Clause(Verb.PLACE, each.phrase, None, places[0].phrase), indirect=True)
            return
        last = d.entries[-1].clause if d.entries else None
        again = (
            last is not None and last.verb is Verb.PLACE and "and" in f"{piece.link} {piece.mark}".replace(",", "and")
        )
        if again and last is not None and len(things) == len(items) and not piece.sub and "but" not in piece.link:
            for each in things:  # "the soup goes on the table, and a spoon too"
                d.add(replace(last, thing=each.phrase, source=each.at), indirect=True)
            return
        if things:
            self._act(Verb.BRING if not (places and places[-1].prep == "to") else Verb.PLACE, things[0], items, False)
            for each in things:
                after = items[items.index(each) + 1 : items.index(each) + 2]
                near = [other for other in (*after, *places) if other.is_place and other.prep in ("at", "from")]
                at = each.at or next((other.phrase for other in near), None)
                if at is not None and each.phrase is not None:
                    d.locate(each.phrase, at)
            for entry in d.entries[-len(things) :]:
                entry.indirect = entry.belief = True
        elif places and places[0].prep == "to" and len(items) == 1 and not piece.sub:
            d.add(Clause(Verb.GO, target=places[0].phrase), indirect=True)
        elif people and len(items) == 1 and not piece.sub:
            d.note(people[0].phrase)
            if people[0].phrase is not None and people[0].at is not None:
                d.locate(people[0].phrase, people[0].at)
        elif places and i and self.pieces[i - 1].is_nominal and d.thing is not None and places[0].phrase is not None:
            d.locate(d.thing, places[0].phrase)
        else:
            self._background(piece)

    def _told_later(self, thing: Element) -> bool:
        """Whether a pronoun stands for a thing in a later command."""
        after = [item for piece in self.pieces for item in piece.items if item.start > thing.end]
        return any(item.is_pronoun for item in after)

    def _corrected(self, item: Element) -> None:
        d, clause = self.d, self.d.entries[-1].clause
        before = [
            each for piece in self.pieces for each in piece.items if each.kind == "np" and each.start < item.start
        ]
        same = [
            each
            for each in before
            if (each.is_thing, each.is_person, each.prep) == (item.is_thing, item.is_person, item.prep)
        ]
        d.settled |= {each.start for each in same}
        if item.is_thing:
            clause = replace(clause, thing=item.phrase)
        elif item.is_person:
            clause = replace(clause, person=item.phrase)
        elif item.is_place and item.prep == "from":
            clause = replace(clause, source=item.phrase)
        elif item.is_place and clause.target is not None:
            clause = replace(clause, target=item.phrase)
        elif item.is_place:
            clause = replace(clause, source=item.phrase)
        d.entries[-1].clause = clause
        d.note(*clause.phrases)

    def _background(self, piece: Piece) -> None:
        """A reason or a story: what it mentions may be meant by pronouns."""
        d = self.d
        self.background.append(piece)
        for item in piece.items:
            if item.kind == "np" and item.phrase is not None and item.phrase.sort is not Sort.PRONOUN:
                d.note(item.phrase)
                if item.at is not None and not item.is_place:
                    d.locate(item.phrase, item.at)
        for item, after in pairwise(piece.content):
            named = item.is_thing or (item.is_person and not item.vague)
            if named and after.is_place and after.prep in ("at", "from") and item.phrase and after.phrase:
                d.locate(item.phrase, after.phrase)
        if piece.sub == "condition" or (
            piece.sub == "" and any(item.kind == "exclusion" and item.text != "without" for item in piece.items)
        ):
            known = [item for item in piece.content if item.kind in ("np", "exclusion") and not item.is_pronoun]
            found = [item for item in piece.content if item.kind == "verb" and item.may("put")]
            if piece.sub == "" or (not found and known and not any(item.kind == "you" for item in piece.items)):
                d.unclear(*known)


def _needs(piece: Piece) -> bool:
    """Whether the operator says how he is, or what he has to do or cannot do."""
    items = piece.content
    own = any(item.kind == "i" for item in items[:2]) or (items[0].kind == "possessive" and items[0].text == "my")
    return own and any(item.kind in ("must", "not") or item.text in ("am", "is", "are", "feel") for item in items)


def _is_pair(piece: Piece) -> bool:
    """Whether a piece only names a thing and a place: "bread on the counter"."""
    content = piece.content
    return (
        piece.is_nominal
        and len(content) == 2
        and content[0].is_thing
        and content[1].is_place
        and content[1].prep == "at"
    )


def read(sentence: str, lexicon: Lexicon, flips: frozenset[str] = frozenset()) -> Reading:
    """What a sentence says; words that no rule knows are listed, and nothing is looked up in the home.

    Args:
        sentence: in English.
        lexicon: the words.
        flips: the doubts of which the less usual side is taken.
    """
    found = lexed(tokens(sentence), lexicon)
    d = Discourse(lexicon.home, found.items, flips=flips)
    reader = _Reader(lexicon, d, pieces_of(Chunker(found.items, lexicon).elements()))
    pieces = list(reader.pieces)
    reader.read()
    clauses = list(concluded(d))
    d.unexplained += uncovered(d, pieces, clauses)
    for k, clause in enumerate(clauses):
        if clause.verb is Verb.CHECK:
            sought = next((j for j in range(k) if clauses[j].verb in _SOUGHT), None)
            if k + 1 < len(clauses):
                clauses[k] = replace(clause, verb=Verb.GO)
            elif sought is not None and clauses[sought].thing is not None and clauses[sought].source is None:
                clauses[sought] = replace(clauses[sought], source=clause.target)
            elif sought is not None and clauses[sought].thing is None and clauses[sought].person_at is None:
                clauses[sought] = replace(clauses[sought], person_at=clause.target)
            else:
                d.unexplained.append("check")
    strange = [item.text for item in found.items if item.sort == "unknown" and item.text not in COMMON]
    if len(strange) > MOST_UNKNOWN * sum(item.sort != "mark" for item in found.items):
        d.unknown = [(word, False) for word in strange]
    unknown = tuple(dict.fromkeys(word for word, _ in d.unknown))
    names = tuple(dict.fromkeys(word for word, noun in d.unknown if noun))
    return Reading(
        sentence,
        tuple(clause for clause in clauses if clause.verb is not Verb.CHECK),
        unknown,
        names,
        tuple(dict.fromkeys(d.unexplained)),
        tuple(d.verbs),
        found.corrected,
        d.operator_at,
        tuple(d.mentioned),
        tuple(dict.fromkeys(d.doubts)),
    )
