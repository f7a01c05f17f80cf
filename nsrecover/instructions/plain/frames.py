"""What the parts of a plain clause mean for its verb: object, place, goal, person, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from nsrecover.domains.service.home import Home
from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.plain.about import Unread, Unserved, about, as_place, located
from nsrecover.instructions.plain.parts import Part
from nsrecover.instructions.reading import (
    PEOPLE,
    SWITCHED,
    THE_OPERATOR,
    Clause,
    Constraint,
    ConstraintKind,
    Phrase,
    Sort,
    Verb,
)

_NEAR = ("near", "near to", "next to", "beside", "close to", "by")


@dataclass
class Frames:
    """Gives the parts of clauses their roles, and remembers what pronouns may mean.

    Attributes:
        home: where the sentence was said.
        flips: the doubts of which the less usual side is taken.
        doubts: where the sentence may mean two things, each with a number.
        thing: the object that was mentioned last.
        place: the place that was mentioned last.
        person: the person who was mentioned last.
        where: object -> where it is said to be.
        by_pronoun: whether the object of the last clause was named by a pronoun.
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
            else:
                found = about(found, part)
        return found

    def clauses(self, verb: Verb, said: str, parts: Sequence[Part]) -> list[Clause]:
        """The clauses that a verb and its parts are.

        Raises:
            Unread: a part has no role with this verb.
        """
        self.by_pronoun = False
        nouns = [part.phrase for part in parts if part.kind in ("np", "and") and part.phrase is not None]
        known = tuple(part.text for part in parts if part.kind == "known")
        nouns = [replace(noun, words=(*noun.words, *known)) for noun in nouns]
        rest = [part for part in parts if part.kind not in ("np", "and", "known")]
        how = tuple(
            Constraint(ConstraintKind.MANNER, part.text)
            for part in rest
            if part.kind == "manner" or (part.kind == "particle" and part.text in ("out", "away"))
        )
        rest = [self._named(part) for part in rest if part.kind not in ("manner", "particle")]
        for part in parts:
            if part.kind == "and" and rest and parts.index(part) > parts.index(rest[0]):
                return self._listed(verb, parts)
        if verb is Verb.GO and nouns and nouns[0].sort is Sort.PERSON and said not in ("reach", "approach", "enter"):
            verb = Verb.GUIDE
        if verb is Verb.GO and nouns and not rest and said in ("move", "get"):
            verb = Verb.PLACE if said == "move" else Verb.BRING
        if verb is Verb.PLACE and said == "move" and not nouns:
            verb = Verb.GO
        if verb is Verb.GO and nouns and rest and said in ("move", "get"):
            verb = Verb.PLACE if any(part.kind == "to" for part in rest) else Verb.BRING
        if verb is Verb.BRING and not nouns and said == "get":
            verb = Verb.GO
        match verb:
            case Verb.GO:
                made = self._go(nouns, rest, how)
            case Verb.FOLLOW | Verb.GUIDE:
                made = self._with_person(verb, nouns, rest)
            case Verb.OPEN | Verb.CLOSE | Verb.TURN_ON | Verb.TURN_OFF:
                made = self._switch(verb, said, nouns, rest)
            case Verb.FIND:
                made = self._find(nouns, rest)
            case _:
                made = self._move(verb, said, nouns, rest)
        self.note(
            *(phrase for clause in made for phrase in (clause.source, clause.target, clause.person, clause.thing))
        )
        return [replace(clause, constraints=(*how, *clause.constraints)) for clause in made]

    def _named(self, part: Part) -> Part:
        """A part with what its pronoun means: "from it", "to him"."""
        if part.phrase is None or part.phrase.sort is not Sort.PRONOUN:
            return part
        meant = self.person if part.phrase.name == "whom" else self.place
        if meant is None:
            raise Unread
        return replace(part, phrase=meant)

    def _listed(self, verb: Verb, parts: Sequence[Part]) -> list[Clause]:
        """As in "go to the kitchen and the hall", "give the cup to Ann and the plate to Bob": the verb is repeated."""
        k = next(k for k, part in enumerate(parts) if part.kind == "and")
        if verb is not Verb.GO:
            if {part.kind for part in parts[:k]} - {"np"} != {part.kind for part in parts[k + 1 :]}:
                raise Unread
            return [
                *self.clauses(verb, "give", parts[:k]),
                *self.clauses(verb, "give", [replace(parts[k], kind="np"), *parts[k + 1 :]]),
            ]
        return [*self.clauses(verb, "go", parts[:k]), *self.clauses(verb, "go", [replace(parts[k], kind="to")])]

    # --- kinds of clauses

    def _go(self, nouns: Sequence[Phrase], rest: Sequence[Part], how: tuple[Constraint, ...]) -> list[Clause]:
        target = nouns[0] if nouns else None
        via, limits = list[Clause](), list[Constraint]()
        for part in rest:
            if part.kind == "through" and part.phrase is not None:
                if part.phrase.sort is not Sort.PLACE:
                    limits.append(Constraint(ConstraintKind.PATH, part.text))
                else:
                    via.append(Clause(Verb.GO, target=part.phrase))
            elif target is None and part.kind in ("to", "at", "near", "for") and part.phrase is not None:
                target = part.phrase
                if part.kind == "near" and not part.text.startswith(_NEAR):
                    limits.append(Constraint(ConstraintKind.SIDE, part.text))
            elif target is not None and part.kind in ("at", "near", "side"):
                target = about(target, part)
            elif part.kind == "side" or (target is None and part.kind == "to_me"):
                target = target if part.kind == "side" else THE_OPERATOR
                if part.kind == "side":
                    raise Unserved
            else:
                limits.append(Constraint(ConstraintKind.PATH, part.text))
        if target is None:
            if how or limits:
                raise Unserved
            raise Unread
        if target.sort is Sort.PRONOUN:
            target = self._resolved(target, Verb.GO)
        if target.sort is Sort.PERSON:
            at = next(
                (each.to for each in target.constraints if each.to is not None and each.to.sort is Sort.PLACE), None
            )
            left = tuple(each for each in target.constraints if each.to is not at or at is None)
            met = replace(target, constraints=left)
            return [*via, Clause(Verb.FIND, person=met, person_at=at, constraints=tuple(limits))]
        return [*via, Clause(Verb.GO, target=as_place(target), constraints=tuple(limits))]

    def _with_person(self, verb: Verb, nouns: Sequence[Phrase], rest: Sequence[Part]) -> list[Clause]:
        if len(nouns) != 1:
            raise Unread
        person, target, at = nouns[0], None, None
        if person.sort is Sort.PRONOUN:
            person = self._resolved(person, verb)
        if person.sort not in (Sort.PERSON, Sort.POSED):
            if person.constraints or person.sort is not Sort.THING:
                raise Unserved(f": I only {verb} people")
            person = replace(person, sort=Sort.PERSON)
        for part in rest:
            if part.kind == "to":
                target = part.phrase
            elif (
                part.kind in ("at", "from")
                and at is None
                and part.phrase is not None
                and part.phrase.sort is Sort.PLACE
            ):
                at = part.phrase
            elif part.kind == "at" and part.phrase is not None and part.phrase.sort is not Sort.PLACE:
                worn = Constraint(ConstraintKind.CLOTHING, part.text)
                person = replace(person, constraints=(*person.constraints, worn))
            elif target is not None and part.kind in ("at", "near", "side"):
                target = about(target, part)
            else:
                person = about(person, part)
        places = (each is None or each.sort is Sort.PLACE for each in (target, at))
        if not all(places):
            raise Unread
        return [Clause(verb, person=person, person_at=at, target=target)]

    def _switch(self, verb: Verb, said: str, nouns: Sequence[Phrase], rest: Sequence[Part]) -> list[Clause]:
        if not nouns:
            raise Unread
        found = []
        for noun in nouns:
            target = self._resolved(noun, verb) if noun.sort is Sort.PRONOUN else noun
            if target.sort is not Sort.PLACE:
                raise Unserved(f": the {target.text} is no place or device that I know")
            for part in rest:
                target = about(target, part)
            found.append(Clause(verb, target=target))
        return found

    def _find(self, nouns: Sequence[Phrase], rest: Sequence[Part]) -> list[Clause]:
        sought = [noun for noun in nouns if noun.name != OPERATOR]
        looked = [part for part in rest if part.kind != "for"]
        wanted = next((part.phrase for part in rest if part.kind == "for" and part.phrase is not None), None)
        within: Phrase | None = None
        if wanted is not None and wanted.name != OPERATOR:
            if sought and sought[0].sort is not Sort.PLACE:
                raise Unread
            within, sought = (sought[0] if sought else None), [wanted]
        if len(sought) != 1:
            raise Unread
        self.by_pronoun = sought[0].sort is Sort.PRONOUN
        found = self._resolved(sought[0], Verb.FIND) if sought[0].sort is Sort.PRONOUN else sought[0]
        if found.sort is Sort.PLACE:
            for part in looked:
                found = about(found, part)
            return [Clause(Verb.GO, target=found)]
        if found.sort in PEOPLE:
            found, at = located(found, looked)
            return [Clause(Verb.FIND, person=found, person_at=within or at)]
        found, at = located(found, looked)
        return [Clause(Verb.FIND, found, within or at or self.where.get(found.name))]

    def _move(self, verb: Verb, said: str, nouns: Sequence[Phrase], rest: Sequence[Part]) -> list[Clause]:
        """Bringing, taking and putting."""
        if len(nouns) > 1 and nouns[0].sort is Sort.PRONOUN and self.person is not None:
            nouns = [self.person, *nouns[1:]]
        meant = [self._resolved(noun, verb) if noun.sort is Sort.PRONOUN else noun for noun in nouns]
        people = [noun for noun in meant if noun.sort in PEOPLE]
        things = [noun for noun in meant if noun.sort not in PEOPLE]
        self.by_pronoun = any(noun.sort is Sort.PRONOUN for noun in nouns)
        to = [part for part in rest if part.kind == "to" and part.phrase is not None]
        if people and not things:
            if verb in (Verb.TAKE, Verb.BRING) and to:
                return self._with_person(Verb.GUIDE, people, rest)
            raise Unread
        if not things or len(people) > 1:
            raise Unread
        fixed = next((thing for thing in things if thing.sort is Sort.PLACE), None)
        if fixed is not None:
            raise Unserved(f": I cannot carry the {fixed.text}")
        whom = people[0] if people else None
        target: Phrase | None = None
        at: Phrase | None = None
        behind, ahead, limits = list[Part](), list[Part](), list[Constraint]()
        for part in rest:
            if part.kind == "to_me":
                whom = whom or THE_OPERATOR
            elif part.kind in ("to", "for") and part.phrase is not None and part.phrase.sort in PEOPLE:
                whom = part.phrase
            elif target is None and (part.kind == "to" or (part.kind == "near" and part.text.startswith("to "))):
                target = part.phrase
                limits += [Constraint(ConstraintKind.SIDE, part.text)] if part.kind == "near" else []
            elif target is not None and part.kind != "from":
                ahead.append(part)
            elif part.kind == "at" and whom is not None and whom.name != OPERATOR and whom not in people and at is None:
                at = part.phrase
            else:
                behind.append(part)
        if verb is Verb.PLACE and target is None:
            spots = [k for k, part in enumerate(behind) if part.kind in ("at", "near", "side")]
            if len(spots) == 2 and all(self._is_furniture(behind[k]) for k in spots):
                spots = spots[1:]  # "put the cup on the desk on the shelf"
            if spots:
                k = spots[0]
                ahead = [part for part in behind[k + 1 :] if part.kind != "from"]
                put, behind = behind[k], [*behind[:k], *(part for part in behind[k + 1 :] if part.kind == "from")]
                target = put.phrase
                if put.kind != "at":
                    limits.append(Constraint(ConstraintKind.RELATION, put.text))
        moved = self._carried(verb, said, things, behind, whom, target)
        if moved is not None:
            verb, behind, ahead, target = moved
        for part in ahead:
            target = about(target, part) if target is not None else target
        made = self._moved(verb, things, behind, whom, target, tuple(limits))
        return [replace(clause, person_at=at or clause.person_at) for clause in made]

    def _is_furniture(self, part: Part) -> bool:
        place = self.home.places.get(part.phrase.name) if part.phrase is not None and part.kind == "at" else None
        return place is not None and not place.is_room

    def _carried(
        self,
        verb: Verb,
        said: str,
        things: Sequence[Phrase],
        behind: list[Part],
        whom: Phrase | None,
        target: Phrase | None,
    ) -> tuple[Verb, list[Part], list[Part], Phrase | None] | None:
        """As in "take the cup on the table": where it is, or where it goes; None if that is clear."""
        if whom is not None or target is not None or not behind or said not in ("take", "bring", "carry", "want"):
            return None
        first = behind[0]
        if first.kind == "near" or (len(behind) > 1 and behind[1].kind == "near"):
            near = first if first.kind == "near" else behind[1]
            if not self.by_pronoun:
                raise Unserved(f": '{near.text}' may say where it is or where to put it")
        if first.kind != "at" or first.phrase is None or first.phrase.sort is not Sort.PLACE:
            return None
        kind = "take at" if said != "want" else "want the" if things[0].definite else "want a"
        if self.by_pronoun or not self._doubt(kind):
            return Verb.PLACE, [], behind[1:], first.phrase
        return None

    def _moved(
        self,
        verb: Verb,
        things: Sequence[Phrase],
        behind: Sequence[Part],
        whom: Phrase | None,
        target: Phrase | None,
        limits: tuple[Constraint, ...],
    ) -> list[Clause]:
        found = []
        for noun in things:
            thing, source = located(noun, behind)
            source = source or self.where.get(thing.name)
            if target is not None and whom is None:
                found.append(Clause(Verb.PLACE, thing, source, as_place(target), constraints=limits))
            elif verb is Verb.PLACE and whom is None:
                found.append(Clause(Verb.PLACE, thing, source, None, constraints=limits))
            elif verb is Verb.TAKE and whom is None:
                found.append(Clause(Verb.TAKE, thing, source))
            else:
                at = as_place(target) if target is not None else None
                found.append(Clause(Verb.BRING, thing, source, None, whom or THE_OPERATOR, at, constraints=limits))
        return found

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
        if meant is None or (phrase.name == "them" and meant is self.thing and len(self.things) > 1):
            raise Unread
        return meant
