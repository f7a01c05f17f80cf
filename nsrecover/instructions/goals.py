"""Reading → task: phrases are looked up in the home, clauses become goals of the service domain."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from nsrecover.core.facts import StateFact
from nsrecover.domains.household.kinds import Trait, traits_of
from nsrecover.domains.service.home import Home
from nsrecover.domains.service.kinds import OPERATOR, ROBOT, ServiceTrait
from nsrecover.instructions.constraints import StopError, check_constraints, in_room
from nsrecover.instructions.ordering import OPPOSITE, asked_first, gone_first, taken_first
from nsrecover.instructions.person import person_text
from nsrecover.instructions.task import Choices, Refusal, RefusalCode, Stage, Task, TaskQuestion
from nsrecover.language.meaning import RESULT, Clause, Phrase, Reading, Sort, Verb
from nsrecover.language.words import head_of
from nsrecover.util.english import listed

LONGEST = 400
"""Characters that a sentence may have."""


_HOSTILE = (
    r"\b(ignore|disregard|override|bypass|disable|forget)\b.{0,30}\b(plan|instruction|instructions|rules?|commands?|"
    r"safety|previous|everything|above|laws?|prompt|told)\b|\b(attack|stab|poison|smash|destroy|bomb|hack|steal)\b|"
    r"\b(kill|hurt|hit|burn|throw (?:\w+ ){1,4}at|punch|kick|slap|push) (?:\w+ )?(him|her|them|me|someone|somebody|"
    r"person|people|man|woman|child|kid|guest|guests|cat|dog|NAMES)\b"
)
"""Sentences that want rules broken, or harm; NAMES stands for the names of a home's people."""

NUMBERS = {"two": 2, "2": 2, "both of the": 2, "three": 3, "3": 3, "four": 4, "4": 4}
"""How many a number word means; of more, a home has hardly ever as many by name."""


_ON = ("on", "onto", "upon", "over")
_TAKES_THINGS = frozenset((Trait.SURFACE, Trait.FLAT, Trait.HOLLOW, Trait.BASIN))


def plain(text: str) -> str:
    """A text as the name of an object: without the marks that actions are written with."""
    return " ".join(re.sub(r"[,;()]", " ", text).split())


def refused(sentence: str, home: Home) -> Refusal | None:
    """Why a sentence is not even read; None if it is."""
    if not any(character.isalnum() for character in sentence):
        return Refusal(RefusalCode.EMPTY, "I heard nothing. Tell me what to do.")
    if len(sentence) > LONGEST:
        text = f"That is too long for me: {len(sentence)} characters. Use at most {LONGEST}, or several commands."
        return Refusal(RefusalCode.TOO_LONG, text)
    names = "|".join(sorted(map(re.escape, home.people)))
    if re.search(_HOSTILE.replace("NAMES", names), sentence.lower()):
        return Refusal(RefusalCode.HOSTILE, "I do not do that: I neither set rules aside nor do harm.")
    return None


def ground(reading: Reading, home: Home, choices: Choices | None = None) -> Task | TaskQuestion | Refusal:
    """What a reading means in a home.

    Args:
        reading: of a sentence.
        home: where it was said.
        choices: phrase -> what a person has said that it means.

    Returns:
        A task; one question if ambiguity would change the outcome; or one answer why nothing is done.
    """
    try:
        return _GoalGrounder(home, reading, choices or {}).task()
    except StopError as stop:
        return stop.result


@dataclass
class _GoalGrounder:
    home: Home
    reading: Reading
    said: Choices
    notes: list[str] = field(default_factory=list)

    @cached_property
    def choices(self) -> dict[Phrase, str]:
        """Phrases of which a person has said which single thing they mean."""
        return {phrase: meant for phrase, meant in self.said.items() if isinstance(meant, str)}

    def task(self) -> Task:
        reading, clauses = self.reading, taken_first(asked_first(gone_first(self.reading.clauses, self.home)))
        for clause in reading.clauses:
            check_constraints(self.home, clause, self.notes, self.said)
        clauses = tuple(
            each for clause in clauses for each in self._several(clause) if not _said_instead(each, clauses)
        )
        self._check_contradictions(clauses)
        stages = list[Stage]()
        for i, clause in enumerate(clauses):
            stages.append(self._stage(clause, i))
            if _unreported(clause, clauses[i + 1 :]):
                report = Clause(Verb.TELL, person=Phrase(Sort.PERSON, OPERATOR), content=RESULT)
                stages.append(self._speech(report, len(clauses) + i))
        at = self._place(reading.operator_at) if reading.operator_at is not None else ""
        self.notes += [f"I take '{text}' as a reason only." for text in reading.background]
        for clause in clauses:
            one, other = clause.thing, clause.instead
            if one is not None and other is not None and not clause.either and one not in self.said:
                options = (one.name, other.name)
                raise StopError(TaskQuestion(f"Which do you mean: {_or(options)}?", one, options))
        either = [(each.thing, each.instead) for each in clauses if each.thing is not None and each.instead is not None]
        self.notes += [f"Either will do: of {one.text} and {other.text} I take the first." for one, other in either]
        contents = " ".join(clause.content for clause in clauses)
        self.notes += [
            f"I took '{said}' for '{meant}'."
            for said, meant in reading.corrected
            if said not in contents and not said.startswith(meant)
        ]
        return Task(reading.sentence, tuple(stages), at, tuple(dict.fromkeys(self.notes)), reading.clauses)

    def _refuse(self, code: RefusalCode, text: str) -> None:
        raise StopError(Refusal(code, text))

    def _check_contradictions(self, clauses: tuple[Clause, ...]) -> None:
        for i, clause in enumerate(clauses):
            others = [other for j, other in enumerate(clauses) if j != i]
            if clause.negated:
                same = any(other.verb is clause.verb and not other.negated for other in others)
                code = RefusalCode.CONTRADICTION if same else RefusalCode.NO_SKILL
                why = (
                    "You want it done and not done."
                    if same
                    else f"You tell me not to {clause.verb}; that is no command that I can carry out."
                )
                self._refuse(code, f"{why} I did nothing.")
            after = clauses[i + 1] if i + 1 < len(clauses) else None
            if after is not None and OPPOSITE.get(clause.verb) is after.verb and clause.target == after.target:
                self._refuse(
                    RefusalCode.CONTRADICTION, f"You want it to {clause.verb} and to {after.verb}. I did nothing."
                )
            if (
                clause.verb is Verb.PLACE
                and after is not None
                and after.verb is Verb.PLACE
                and clause.thing == after.thing
                and clause.target != after.target
            ):
                self._refuse(RefusalCode.CONTRADICTION, "You want one thing put in two places. I did nothing.")

    def _several(self, clause: Clause) -> list[Clause]:
        """One clause for each of several things: "both mugs", "all balls", "the mugs"."""
        phrase = clause.thing
        both = self.said.get(phrase) if phrase is not None else None
        if isinstance(both, tuple):
            return [replace(clause, thing=Phrase(Sort.THING, name)) for name in both]
        if phrase is None or clause.verb is Verb.COUNT or not (phrase.count or (phrase.plural and phrase.definite)):
            return [clause]
        names = [item.name for item in self.home.items.values() if self.home.could_mean(phrase.name, item.name)]
        names = names or [noun for noun in self.home.nouns if noun.endswith(f" {phrase.name}")]
        wanted = NUMBERS.get(phrase.count, 0) if phrase.count not in ("", "all", "both") else len(names)
        if len(names) > 1 and wanted == len(names) and not phrase.owner and not phrase.words:
            return [replace(clause, thing=Phrase(Sort.THING, name)) for name in names]
        if phrase.count:
            text = f"I cannot tell which '{phrase.count} {phrase.text}s' are meant; say each of them. I did nothing."
            self._refuse(RefusalCode.NOT_UNDERSTOOD, text)
        self.notes.append(f"I do not know how many {phrase.text} are meant, and take one.")
        return [clause]

    # --- stages

    def _stage(self, clause: Clause, number: int) -> Stage:
        match clause.verb:
            case Verb.BRING | Verb.TAKE | Verb.PLACE | Verb.FIND if (
                clause.thing is not None or clause.verb is not Verb.FIND
            ):
                return self._with_thing(clause)
            case Verb.FIND | Verb.FOLLOW | Verb.GUIDE | Verb.ANSWER | Verb.POSE:
                return self._with_person(clause)
            case Verb.COUNT:
                return self._count(clause)
            case Verb.TELL | Verb.ASK:
                return self._speech(clause, number)
            case Verb.ASK_WHERE:
                thing, within = self._thing(clause)
                _, people, more, static = self._person(clause)
                return Stage((("asked", thing),), {thing: within}, people, (), more, static)
            case _:
                return self._at_place(clause)

    def _with_thing(self, clause: Clause) -> Stage:
        to = clause.target if clause.verb is Verb.PLACE else None
        place = self._surface(self._place(to) if to.name != "?" else self._beside(clause)) if to is not None else ""
        thing, within = self._thing(clause, place)
        if clause.verb is Verb.FIND:
            return Stage((("found", thing),), {thing: within})
        if clause.verb is Verb.TAKE:
            return Stage((("holding", thing),), {thing: within})
        if clause.verb is Verb.PLACE:
            if clause.target is None:
                raise StopError(TaskQuestion(f"Where should I put the {thing}?", Phrase(Sort.PLACE, "?")))
            if not self.home.places[place].is_room and not self.home.places[place].traits & _TAKES_THINGS:
                self._refuse(RefusalCode.NO_SKILL, f"I cannot put anything in or on the {place}.")
            if clause.target.prep in _ON and Trait.DOOR in self.home.places[place].traits:
                self.notes.append(f"I can put things in the {place}, not on it.")
            if self.home.places[place].is_room:
                return Stage((("holding", thing), ("at", ROBOT, place)), {thing: within}, {}, (place,))
            if danger := self._danger(thing, place):
                self._refuse(RefusalCode.DANGEROUS, f"I do not do that: {danger}.")
            return Stage((("at", thing, place),), {thing: within}, {}, (place,))
        name, people, more, static = self._person(clause)
        return Stage((("at", thing, name),), {thing: within}, people, (), more, static)

    def _beside(self, clause: Clause) -> str:
        """The place of the object beside which something is to be put, as a person has chosen it."""
        named = [self.choices[each.to] for each in clause.constraints if each.to in self.choices]
        place = self.home.items[named[0]].place if named and named[0] in self.home.items else ""
        if not place:
            self._refuse(RefusalCode.NO_SKILL, "I do not know where that is, so I cannot put anything there.")
        self.notes.append(f"I put it at the {place}, where the {named[0]} is.")
        return place

    def _danger(self, thing: str, place: str) -> str:
        """Why an object must not go to a place; empty if it may."""
        has, there = traits_of(thing) | traits_of(self.home.kind(thing)), self.home.places[place].traits
        if Trait.METAL in has and Trait.MICROWAVES in there:
            return f"the {thing} is made of metal, which must not be in the {place}"
        hot = Trait.HEATS in there and Trait.MICROWAVES not in there
        return f"the {thing} melts in the heat of the {place}" if Trait.MELTS in has and hot else ""

    def _with_person(self, clause: Clause) -> Stage:
        name, people, more, static = self._person(clause)
        if clause.verb in (Verb.FOLLOW, Verb.GUIDE):
            if clause.target is None and clause.verb is Verb.GUIDE:
                raise StopError(TaskQuestion(f"Where should I guide {person_text(name)}?", Phrase(Sort.PLACE, "?")))
            place = self._place(clause.target) if clause.target is not None else self._followed_to(people[name])
            done = "followed" if clause.verb is Verb.FOLLOW else "guided"
            return Stage(((done, name), ("at", ROBOT, place)), {}, people, (place,), more, static)
        goal = {Verb.FIND: "beside", Verb.ANSWER: "answered_to", Verb.POSE: "pose_known"}[clause.verb]
        return Stage(((goal, name),), {}, people, (), more, static)

    def _followed_to(self, within: str) -> str:
        """Where following ends if it is not said: the person leads; planned for the room that is spoken of."""
        return self.home.places[within].room if within else self.home.places[self.home.robot].room

    def _count(self, clause: Clause) -> Stage:
        if clause.source is None:
            raise StopError(TaskQuestion("Where should I count?", Phrase(Sort.PLACE, "?")))
        place = self._place(clause.source)
        if clause.person is not None or clause.thing is None:
            posed = clause.person is not None and clause.person.sort is Sort.POSED
            pose = clause.person.name if clause.person is not None and posed else ""
            what = f"{pose} people at the {place}".strip()
            trait = ServiceTrait.COUNT_POSED if posed else ServiceTrait.COUNT_PEOPLE
            return Stage(
                (("counted", what),), {}, {}, (place,), {what: frozenset({trait})}, (("counts_at", what, place),)
            )
        noun = clause.thing.name
        if clause.thing.words:
            text = f"I cannot take '{' '.join(clause.thing.words)}' into account when I count. I did nothing."
            self._refuse(RefusalCode.NO_SKILL, text)
        spots = [place]
        if self.home.places[place].is_room:
            spots = [each for each in self.home.furniture if self.home.inside(each, place)]
        trait = ServiceTrait.COUNT_CATEGORY if clause.thing.sort is Sort.CATEGORY else ServiceTrait.COUNT_OBJECTS
        whats = {f"{noun} at the {spot}": spot for spot in spots}
        goal: tuple[StateFact, ...] = tuple(("counted", what) for what in whats)
        static: tuple[StateFact, ...] = tuple(("counts_at", what, spot) for what, spot in whats.items())
        return Stage(goal, {}, {}, tuple(spots), dict.fromkeys(whats, frozenset({trait})), static)

    def _speech(self, clause: Clause, number: int) -> Stage:
        name, people, more, static = self._person(clause)
        telling = clause.verb is Verb.TELL
        if not clause.content:
            self._refuse(RefusalCode.NOT_UNDERSTOOD, f"I did not understand what to {clause.verb} {person_text(name)}.")
        reports = telling and clause.content == RESULT
        text = f"{clause.content} of part {number}" if reports else plain(clause.content)
        trait, done = (ServiceTrait.INFORMATION, "told") if telling else (ServiceTrait.QUESTION, "answered")
        static = (*static, ("for_person", text, name))
        return Stage(((done, text),), {}, people, (), {**more, text: frozenset({trait})}, static, reports)

    def _at_place(self, clause: Clause) -> Stage:
        if clause.target is None:
            what = clause.thing.text if clause.thing is not None else "that"
            self._refuse(RefusalCode.NO_SKILL, f"I cannot {clause.verb} {what}.")
        if clause.target is not None and clause.target.sort is not Sort.PLACE:
            text = f"I have no skill to {clause.verb} the {clause.target.text}: it is no place or device that I know."
            self._refuse(RefusalCode.NO_SKILL, text)
        place = self._place(clause.target) if clause.target is not None else ""
        traits = self.home.places[place].traits
        doors, switch = {Trait.DOOR, ServiceTrait.ROOM_DOOR}, Trait.SWITCH
        if clause.verb in (Verb.OPEN, Verb.CLOSE) and not traits & doors:
            self._refuse(RefusalCode.NO_SKILL, f"I cannot {clause.verb} the {place}.")
        if clause.verb in (Verb.TURN_ON, Verb.TURN_OFF) and switch not in traits:
            self._refuse(RefusalCode.NO_SKILL, f"I cannot {clause.verb} the {place}.")
        goals: dict[Verb, StateFact] = {
            Verb.OPEN: ("open", place), Verb.CLOSE: ("closed", place), Verb.TURN_ON: ("running", place),
            Verb.TURN_OFF: ("off", place), Verb.GO: ("at", ROBOT, place),
        }  # fmt: skip
        return Stage((goals[clause.verb],), places=(place,))

    # --- phrases

    def _thing(self, clause: Clause, place: str = "") -> tuple[str, str]:
        """The object of a clause, and where its search is limited to; `place` is where it is put."""
        phrase = clause.thing
        within = self._place(clause.source) if clause.source is not None else ""
        if phrase is None or phrase.sort is Sort.PRONOUN:
            self._refuse(RefusalCode.NOT_UNDERSTOOD, f"I did not understand what to {clause.verb}.")
            raise AssertionError
        if phrase in self.choices:
            return self.choices[phrase], within
        if phrase.name in self.home.items:
            item = self.home.items[phrase.name]
            unknown = [word for word in phrase.words if word not in (*item.name.split(), *item.notes)]
            self.notes += [f"I cannot tell whether the {item.name} is '{word}'." for word in unknown]
            return phrase.name, within
        if phrase.name == "object" and phrase.definite and clause.verb is not Verb.COUNT:
            raise StopError(TaskQuestion(f"Which thing should I {clause.verb}?", Phrase(Sort.PRONOUN, "thing")))
        if phrase.name not in self.home.nouns and phrase.name not in self.home.categories:
            options = tuple(noun for noun in self.home.nouns if " " in noun and head_of(noun) == phrase.name)
            if not options:
                self.notes.append(f"I know no {phrase.name}; I look for what is called so.")
                return phrase.name, within
            raise StopError(TaskQuestion(f"Which {phrase.name} do you mean: {_or(options)}?", phrase, options))
        fitting = [item for item in self.home.items.values() if self.home.could_mean(phrase.name, item.name)]
        for word in phrase.words:
            told = [item for item in fitting if word in item.name.split() or word in item.notes]
            if told:
                fitting = told
            else:
                self.notes.append(f"I do not know what '{word}' says about the {phrase.name} and left it out.")
        owned = [item for item in fitting if phrase.owner and item.owner == phrase.owner]
        if phrase.owner:
            fitting = owned or [item for item in fitting if not item.owner]
        if len(fitting) == 1 and (phrase.definite or phrase.owner):
            return fitting[0].name, within
        certain = phrase.sort is Sort.THING or (phrase.sort is Sort.CATEGORY and not phrase.plural)
        safe = [item for item in fitting if not (place and self._danger(item.name, place))]
        if len(safe) == 1 < len(fitting) and (phrase.definite or phrase.owner):
            self.notes.append(f"Of them only the {safe[0].name} may go to the {place}.")
            return safe[0].name, within
        if len(fitting) > 1 and (phrase.definite or phrase.owner) and certain:
            options = tuple(item.name for item in fitting)
            raise StopError(TaskQuestion(f"Which {phrase.name} do you mean: {_or(options)}?", phrase, options))
        if phrase.sort is Sort.CATEGORY:
            self.notes.append(f"Any {phrase.name} will do.")
        return phrase.name, within

    def _person(self, clause: Clause) -> tuple[str, dict[str, str], dict[str, frozenset[str]], tuple[StateFact, ...]]:
        """The person of a clause, with where to look, further objects and static facts."""
        phrase = clause.person or Phrase(Sort.PERSON, OPERATOR)
        if phrase.count or (phrase.plural and phrase.name == "person" and clause.verb is not Verb.COUNT):
            text = f"I cannot {clause.verb} several people; name each of them. I did nothing."
            self._refuse(RefusalCode.NOT_UNDERSTOOD, text)
        if phrase.sort is Sort.PRONOUN:
            self._refuse(RefusalCode.NOT_UNDERSTOOD, f"I did not understand whom to {clause.verb}.")
        within = self._place(clause.person_at) if clause.person_at is not None else ""
        if phrase in self.choices:
            return self.choices[phrase], {self.choices[phrase]: within}, {}, ()
        if phrase.sort is Sort.POSED:
            name = f"{phrase.name} person"
            traits = frozenset({ServiceTrait.PERSON, ServiceTrait.POSED})
            return name, {name: within}, {name: traits}, (("has_pose", name, phrase.name),)
        if phrase.name not in self.home.people and phrase.name != "person":
            self._refuse(RefusalCode.UNKNOWN_NAME, f"I know nobody called {phrase.name}. I did nothing.")
        return phrase.name, {phrase.name: within}, {}, ()

    def _place(self, phrase: Phrase | None) -> str:
        """The place that a phrase means."""
        assert phrase is not None
        if phrase in self.choices:
            return self.choices[phrase]
        if phrase.sort is not Sort.PLACE:
            self._refuse(RefusalCode.NOT_UNDERSTOOD, f"I did not understand where '{phrase.text}' is.")
        places = self.home.places
        if phrase.name in places:
            looks = (*places[phrase.name].looks, *phrase.name.split(), places[phrase.name].room)
            strange = [word for word in phrase.words if word not in looks]
            if any(word.endswith("'s") for word in strange):
                text = f"I do not know {strange[0]} {phrase.name}. Do you mean the {phrase.name}?"
                raise StopError(TaskQuestion(text, phrase, (phrase.name,)))
            self.notes += [
                f"I do not know what '{word}' says about the {phrase.name} and left it out." for word in strange
            ]
            return in_room(self.home, phrase, [places[phrase.name]])[0].name
        fitting = [each for each in places.values() if each.name.endswith(phrase.name) or phrase.name in each.also]
        fitting = in_room(self.home, phrase, fitting)
        unclear = []
        for word in phrase.words:
            told = [each for each in fitting if word in each.looks or word in each.name.split()]
            fitting = told or fitting
            unclear += [] if told else [word]
        head = phrase.name.split()[-1]
        alike = tuple(each.name for each in places.values() if head in (each.name.split()[-1], *each.also))
        if not fitting and " " in phrase.name and len(alike) == 1:
            in_that = phrase.name.removesuffix(head).strip() in (places[alike[0]].room, *places[alike[0]].looks)
            if in_that:
                return alike[0]
            text = f"I know no {phrase.name}. Do you mean the {alike[0]}?"
            raise StopError(TaskQuestion(text, phrase, alike))
        if not fitting:
            known = _or((self.home.furniture or self.home.rooms)[:4])
            self._refuse(
                RefusalCode.UNKNOWN_NAME, f"There is no {phrase.text} here; I know {known} and others. I did nothing."
            )
        if len(fitting) > 1:
            options = tuple(each.name for each in fitting)
            said = f" I do not know what '{unclear[0]}' means." if unclear else ""
            raise StopError(TaskQuestion(f"Which {phrase.name} do you mean: {_or(options)}?{said}", phrase, options))
        self.notes += [
            f"I do not know what '{word}' says about the {fitting[0].name} and left it out." for word in unclear
        ]
        return fitting[0].name

    def _surface(self, place: str) -> str:
        """Where things are put down in a room; another place as it is."""
        if not self.home.places[place].is_room:
            return place
        for each in self.home.furniture:
            if self.home.inside(each, place) and Trait.SURFACE in self.home.places[each].traits:
                self.notes.append(f"In the {place} I put it on the {each}.")
                return each
        self.notes.append(f"I know nothing in the {place} to put it on, so I bring it there and hold it.")
        return place


def _said_instead(clause: Clause, clauses: tuple[Clause, ...]) -> bool:
    """Whether a clause that denies something goes on with what to do instead: "not on the desk; put it on the bed"."""
    return clause.negated and any(
        other.verb is clause.verb
        and not other.negated
        and other.thing == clause.thing
        and other.target != clause.target
        for other in clauses
    )


def _unreported(clause: Clause, later: tuple[Clause, ...]) -> bool:
    """Whether what a clause finds out is neither told nor used afterwards."""
    if any(each.verb is Verb.TELL and each.content == RESULT for each in later):
        return False
    found = (
        clause.verb is Verb.FIND and clause.thing is not None and not any(each.thing == clause.thing for each in later)
    )
    return found or clause.verb is Verb.COUNT


def _or(options: Iterable[str]) -> str:
    return listed([f"the {each}" for each in options], "or")
