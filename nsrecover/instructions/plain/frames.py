"""What the parts of a plain clause mean for its verb: object, place, goal, person, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.plain.about import Unread, Unserved, about, as_place, located
from nsrecover.instructions.plain.memory import Memory
from nsrecover.instructions.plain.parts import Part
from nsrecover.instructions.reading import (
    PEOPLE,
    THE_OPERATOR,
    Clause,
    Constraint,
    ConstraintKind,
    Phrase,
    Sort,
    Verb,
)

_SHARED = ("to", "at", "to_me", "for")
"""Kinds of parts that are said once for two objects: "the cup from the desk and the plate from the bed to the sink"."""

_NEAR = ("near", "near to", "next to", "beside", "close to", "by")


class Frames(Memory):
    """Gives the parts of clauses their roles."""

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
        if verb is Verb.FIND:
            rest = [replace(part, kind="at") if part.text.endswith("there") else part for part in rest]
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
        for part in parts:
            if part.kind == "and" and rest and parts.index(part) > parts.index(rest[0]):
                return self._listed(verb, said, parts)
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
        things = tuple(clause.thing for clause in made if clause.thing is not None)
        self.group = things or self.group
        for clause in made:
            self.goal, self.source = clause.target or self.goal, clause.source
        self.note(
            *(phrase for clause in made for phrase in (clause.source, clause.target, clause.person, clause.thing))
        )
        return [replace(clause, constraints=(*how, *clause.constraints)) for clause in made]

    def _listed(self, verb: Verb, said: str, parts: Sequence[Part]) -> list[Clause]:
        """As in "go to the kitchen and the hall", "give the cup to Ann and the plate to Bob": the verb is repeated."""
        k = next(k for k, part in enumerate(parts) if part.kind == "and")
        if verb is not Verb.GO:
            first, second = list(parts[:k]), [replace(parts[k], kind="np"), *parts[k + 1 :]]
            for one, other in ((first, second), (second, first)):
                kinds = {part.kind for part in one}
                if one is first or kinds != {"np"}:
                    one += [part for part in other if part.kind in _SHARED and part.kind not in kinds]
            if {part.kind for part in first} - {"from"} != {part.kind for part in second} - {"from"}:
                raise Unread
            return [*self.clauses(verb, said, first), *self.clauses(verb, said, second)]
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
        group = self.group if len(self.group) > 1 else ()
        nouns = [each for noun in nouns for each in (group if group and noun.name == "them" else (noun,))]
        meant = [self._resolved(noun, verb) if noun.sort is Sort.PRONOUN else noun for noun in nouns]
        meant = list(dict.fromkeys(meant))
        people = [noun for noun in meant if noun.sort in PEOPLE]
        things = [noun for noun in meant if noun.sort not in PEOPLE]
        self.by_pronoun = any(noun.sort is Sort.PRONOUN for noun in nouns)
        if people and not things:
            return self._moved_people(verb, people, rest)
        pairs = [noun.sort in PEOPLE for noun in meant] == [True, False] * (len(meant) // 2)
        if pairs and len(people) > 1:
            return [
                each
                for whom, it in zip(people, things, strict=True)
                for each in self._move(verb, said, [whom, it], rest)
            ]
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

    def _moved_people(self, verb: Verb, people: Sequence[Phrase], rest: Sequence[Part]) -> list[Clause]:
        """As in "bring Jordan to the sofa", "bring Jordan here", "fetch Jordan from the study (and bring her ...)"."""
        if verb not in (Verb.TAKE, Verb.BRING):
            raise Unread
        if any(part.kind == "to_me" or (part.kind == "to" and part.phrase == THE_OPERATOR) for part in rest):
            k = next(k for k, part in enumerate(rest) if part.kind == "to_me" or part.phrase == THE_OPERATOR)
            spoken = [part.phrase.name for part in rest[k:] if part.kind == "at" and part.phrase is not None]
            rest = [part for part in rest[: k + 1] if part.kind != "to_me"] if spoken else rest
            here = spoken[0] if spoken else self.home.places[self.home.robot].room
            rest = [part for part in rest if part.kind != "to_me" and part.phrase != THE_OPERATOR]
            return self._with_person(Verb.GUIDE, people, [*rest, Part("to", here, Phrase(Sort.PLACE, here))])
        if any(part.kind == "to" for part in rest):
            return self._with_person(Verb.GUIDE, people, rest)
        if len(people) > 1:
            raise Unread
        self.fetched = people[0]
        return self._find(people, rest)

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
