"""Noun phrases and clauses of commands: the builders of the grammar's rules, from words to clauses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.language.chart import Costly
from nsrecover.language.meaning import (
    PEOPLE,
    SWITCHED,
    THE_OPERATOR,
    THINGS,
    Clause,
    Constraint,
    ConstraintKind,
    Phrase,
    Sort,
    Verb,
)
from nsrecover.language.tables import WORDS, listed

BIN = "trash bin"
"""Where things are thrown away."""
PERSONAL = ("him", "her", "he", "she", "whom")
FAR = ("there", "here")
_GENDERS = frozenset(listed(WORDS["constraints"]["gender"]))
_BESIDE = ("near", "near to", "next to", "beside", "close to", "by")
_GETTING = ("get", "pick up", "meet", "collect", "fetch", "grab")
_GIVING = ("take", "bring", "get", "fetch", "grab", "find", "pick up", "get hold of", "want", "put", "give")
_PROVIDING = ("provide", "supply", "serve", "present", "equip", "surprise")
"""Verbs that name the person first, and what is given with "with"."""
_TOSS = ("toss", "chuck", "throw", "dump")
"""Verbs that throw something somewhere, if that is said: no skill does that."""
_UNFINISHED = ("have", "has", "the", "a", "to", "and", "or", "once", "when", "if")
"""Words with which nothing ends that is told."""
_MOST_QUALITIES = 2
_INDEFINITE = ("a", "an", "a single", "one single", "some", "any", "another", "no")


@dataclass(frozen=True)
class Part:
    """A part of a clause: a preposition's kind, as it was said, and the noun phrases behind it."""

    kind: str
    text: str
    nouns: tuple[Np, ...] = ()


@dataclass(frozen=True)
class Np:
    """A noun phrase with what is said about it, and the other one where either will do."""

    phrase: Phrase
    parts: tuple[Part, ...] = ()
    said: str = ""
    other: Np | None = None
    ask: bool = False


@dataclass(frozen=True)
class Pose:
    """The pose by which a person is known."""

    name: str


@dataclass(frozen=True)
class Told:
    """Words that tell one object or place of the home from others."""

    text: str


@dataclass(frozen=True)
class Unit:
    """Something that is said: clauses to do, a statement, a correction, a reason, or what cannot be done.

    Attributes:
        kind: do, stated, at, lost, later, reason, refused, fixed, nothing.
        clauses: what to do.
        nouns: what a statement is about, or a correction says instead.
        place: where that is.
        text: as it was said.
    """

    kind: str
    clauses: tuple[Clause, ...] = ()
    nouns: tuple[Np, ...] = ()
    place: Phrase | None = None
    text: str = ""


# --- noun phrases


def is_person(phrase: Phrase) -> bool:
    """Whether a phrase may name a person."""
    return phrase.sort in PEOPLE or (phrase.sort is Sort.PRONOUN and phrase.name in (*PERSONAL, "them", "subject"))


def is_thing(phrase: Phrase) -> bool:
    """Whether a phrase may name an object."""
    return phrase.sort in THINGS or (
        phrase.sort is Sort.PRONOUN and phrase.name in ("it", "them", "that", "this", "sought")
    )


def is_place(phrase: Phrase) -> bool:
    """Whether a phrase may name a place."""
    return phrase.sort is Sort.PLACE or (phrase.sort is Sort.PRONOUN and phrase.name in (*FAR, "it", "that"))


def _as_place(found: tuple[Phrase, Phrase | None]) -> Phrase:
    """An open noun as a place, which the home may not know."""
    inside = _inside(found)
    return replace(inside, sort=Sort.PLACE) if inside.sort in THINGS else inside


def pronoun(name: str, posts: Sequence[Part] = ()) -> Np | Costly | None:
    """A pronoun; that of the speaker is the operator."""
    if name in ("me", "us", "i", "myself", "we"):
        return Np(THE_OPERATOR, tuple(posts), "me") if all(part.kind == "at" for part in posts) else None
    if posts and (name not in (*PERSONAL, "them") or any(part.kind not in ("at", "near", "with") for part in posts)):
        return None
    return Np(Phrase(Sort.PRONOUN, name), tuple(posts), name)


def noun(
    head: tuple[Phrase, str],
    det: str | None = None,
    number: str | None = None,
    mods: Sequence[Constraint | Told | Pose | Part | str] = (),
    posts: Sequence[Part | Constraint | Pose | Told | str] = (),
    owner: str = "",
) -> Np | Costly | None:
    """A noun with determiner, number, qualities, and what is said about it behind."""
    phrase, said = head
    det = "the" if owner else det
    if said.endswith(" ") and det is None:  # a verb is a noun behind a determiner only
        return None
    said = said.strip()
    if sum(isinstance(each, Constraint) and each.kind is ConstraintKind.QUALITY for each in mods) > _MOST_QUALITIES:
        return None
    pose = next((post.name for post in (*mods, *posts) if isinstance(post, Pose)), "")
    if number in ("one", "1"):
        det, number, phrase = ("a", None, replace(phrase, plural=False)) if phrase.plural else (det, None, phrase)
    limits = [each for each in (*mods, *posts) if isinstance(each, Constraint)]
    told = tuple(each.text for each in (*mods, *posts) if isinstance(each, Told))
    if phrase.sort is Sort.PLACE:
        told += tuple(each.text for each in limits if each.kind is ConstraintKind.QUALITY)
        limits = [each for each in limits if each.kind is not ConstraintKind.QUALITY]
    parts = tuple(each for each in (*mods, *posts) if isinstance(each, Part))
    if any(isinstance(each, Part) for each in mods) and phrase.sort is not Sort.PLACE:
        return None
    person = phrase.sort is Sort.PERSON
    if person and phrase.name != "person" and any(part.kind == "with" for part in parts):
        return None
    if pose and not person:
        return None
    if det is None and phrase.sort is Sort.THING and not phrase.plural and said.endswith(("ed", "ing")):
        return None
    if person and phrase.name != "person" and det in ("a", "an"):
        return None
    if person and said in _GENDERS:
        limits.append(Constraint(ConstraintKind.GENDER, said))
    if person and said in ("everyone", "everybody"):
        limits.append(Constraint(ConstraintKind.OTHER, said))
    if any(part.kind in ("to", "through", "for") for part in parts):
        return None
    if person and phrase.name == "person" and any(part.text.startswith("lying ") for part in parts):
        return None
    if not person and any(part.text in ("there", "in there") for part in parts):
        return None
    cost = sum(part.kind in ("at", "from") for part in parts[1:]) * 0.4
    for part in parts:
        place = part.nouns[0].phrase
        if phrase.sort is Sort.PLACE and part.kind == "from":
            return None
        if part.kind in ("at", "from") and not (place.sort is Sort.PLACE or (place.name in FAR)):
            cost += 0.6
    words = " ".join(each.text for each in mods if isinstance(each, Constraint | Told))
    owner = OPERATOR if det in ("my", "our") else owner
    definite = det not in _INDEFINITE if det else bool(number) or person
    if det in ("another", "no"):
        limits.append(Constraint(ConstraintKind.OTHER, det))
    definite = definite or (det is None and phrase.sort is Sort.PLACE)
    pose = pose if phrase.name == "person" else ""
    made = replace(
        phrase,
        sort=Sort.POSED if pose else phrase.sort,
        name=pose or phrase.name,
        definite=definite,
        owner=owner,
        words=told,
        count=number or ("all" if det is not None and det.startswith("all") else ""),
        constraints=tuple(limits),
    )
    return Costly(
        Np(made, parts, " ".join(filter(None, (f"{owner}'s the" if det == "the" and owner else det, words, said)))),
        cost,
    )


def located(np: Np, extra: Sequence[Part] = ()) -> tuple[Phrase, Phrase | None] | None:
    """What a noun phrase names with all that is said about it as constraints, and where it is said to be."""
    place: Phrase | None = None
    limits, words, owner = list(np.phrase.constraints), np.phrase.words, np.phrase.owner
    for part in (*np.parts, *extra):
        inner = part.nouns[0] if part.nouns else None
        at = located(inner) if inner is not None else None
        if at is None:
            return None
        fits = is_place(at[0]) and part.kind in ("at", "from")
        if part.kind == "from" and at[0].sort in THINGS and place is None:
            place = _as_place(at)
            continue
        if np.phrase.sort is Sort.PLACE and part.kind in ("of", "at") and at[0].sort is Sort.THING and not at[0].plural:
            words = (*words, at[0].name)  # a room that the home may not know
            continue
        if part.kind == "of" and at[0].sort is Sort.PERSON and np.phrase.sort in THINGS and at[1] is None:
            owner = at[0].name
            continue
        if part.kind == "of" and not (np.phrase.sort is Sort.PLACE and at[0].sort is Sort.PLACE):
            limits.append(Constraint(ConstraintKind.OTHER, part.text))
            continue
        if fits and place is None and np.phrase.sort is not Sort.PLACE:
            place = _inside(at)
        elif fits and place is not None and (_names_room(place, at[0]) or _names_room(at[0], place)):
            room, spot = (place, at[0]) if _names_room(place, at[0]) else (at[0], place)
            place = _inside((spot, room))
        else:
            kind = ConstraintKind.CLOTHING if part.kind == "with" else ConstraintKind.RELATION
            limits.append(Constraint(kind, part.text, at[0]))
    return replace(np.phrase, words=words, owner=owner, constraints=tuple(dict.fromkeys(limits))), place


def _inside(found: tuple[Phrase, Phrase | None]) -> Phrase:
    """A place with the room that it is said to be in as a constraint."""
    phrase, room = found
    return phrase.limited(Constraint(ConstraintKind.RELATION, f"in the {room.name}", room)) if room else phrase


def _is_room(place: Phrase) -> bool:
    return place.name.endswith(("room", "kitchen", "hall", "study"))


def _names_room(place: Phrase, inner: Phrase) -> bool:
    return place.sort is Sort.PLACE and inner.sort is Sort.PLACE and _is_room(place)


# --- clauses


def clauses(
    said: tuple[str, str], args: Sequence[Part], negated: bool = False, how: str | None = None
) -> Unit | Costly | None:
    """What a verb with its parts wants done."""
    act, verb = said
    frame = _Frame(verb, [part for part in args if part.kind not in ("manner", "particle")])
    frame.limits += [Constraint(ConstraintKind.MANNER, text) for text in ([how] if how else [])]
    for part in args:
        if part.kind == "particle" and not frame.takes(act, part.text):
            return None
        if part.kind == "manner":
            frame.limits.append(Constraint(ConstraintKind.MANNER, part.text))
            frame.cost += 0.3
    made = frame.made(act)
    if frame.refused:
        return Costly(Unit("refused", text=f"I have no skill to {verb} {frame.refused}."), 2.0)
    if made is None:
        return None
    found = tuple(replace(each, negated=negated, constraints=(*frame.limits, *each.constraints)) for each in made)
    return Costly(Unit("do", found), frame.cost)


class _Frame:
    """Gives the parts of a clause their roles."""

    def __init__(self, said: str, args: Sequence[Part]) -> None:
        self.said, self.cost, self.limits, self.hint = said, 0.0, list[Constraint](), ""
        self.refused = ""
        self.switch: Verb | None = None
        self.target: Phrase | None = None
        self.at_person: Phrase | None = None
        self.whom: tuple[Phrase, Phrase | None] | None = None
        self.behind, self.near = list[Part](), list[Constraint]()
        self.objects = [part.nouns for part in args if part.kind == "np"]
        mine = [part for part in args if part.kind == "for" and part.nouns[0].phrase == THE_OPERATOR]
        self.rest = [part for part in args if part.kind != "np" and (part not in mine or said in _GIVING)]

    def takes(self, act: str, particle: str) -> bool:
        """Whether a particle says nothing new with a verb."""
        if particle in ("on", "off") and act in ("take", "bring", "place"):
            self.switch = Verb.TURN_ON if particle == "on" else Verb.TURN_OFF
            return True
        if particle in ("over", "back", "here", "along", "over here", "back here"):
            self.hint = particle
            return True
        return particle in ("up", "out", "away", "down", "off", "in", "on") and act in ("take", "bring", "place", "go")

    def made(self, act: str) -> list[Clause] | None:
        """The clauses; None if the parts do not go together."""
        if act == "go" and self.said == "move" and self.objects:
            fixed = [np for nouns in self.objects for np in nouns if np.phrase.sort is Sort.PLACE]
            self.refused = fixed[0].said if fixed else ""
        if act == "go" and self.said == "run" and self.objects and self.objects[0][0].phrase.sort is Sort.PLACE:
            return self._switched(Verb.TURN_ON)
        if act == "go" and self.objects and all(is_thing(np.phrase) for nouns in self.objects for np in nouns):
            put = self.said == "move" or any(part.kind in ("to", "at", "near") for part in self.rest)
            return self._moved("place" if put else "bring")
        if act == "go":
            if any(is_person(np.phrase) and not is_place(np.phrase) for nouns in self.objects for np in nouns) and any(
                part.kind == "to" for part in self.rest
            ):
                return self._with_person(Verb.GUIDE)
            return self._go()
        if act == "discard" and any(is_person(np.phrase) and not is_thing(np.phrase) for o in self.objects for np in o):
            return None
        if act == "discard" and any(_is_bin(part) for o in self.objects for np in o for part in np.parts if part.nouns):
            return None
        into = [p for p in self.rest if p.kind == "to" or (p.kind == "at" and (self.said in _TOSS or _is_bin(p)))]
        if act == "discard" and self.said == "throw" and not into:
            self.refused = "something"
            return None
        if act == "discard" and self.said in _TOSS and not all(map(_is_bin, into)):
            self.refused = f"something {into[-1].text}"
            return None
        if act == "discard" and into:
            self.rest = [part for part in self.rest if part is not into[-1]]
            self.rest.append(replace(into[-1], kind="to"))
            act = "place"
        if act == "discard":
            self.rest = [part for part in self.rest if part.kind in ("at", "from", "near")]
            self.rest.append(Part("to", "into the bin", (Np(Phrase(Sort.PLACE, BIN), (), "the bin"),)))
            self.rest = [replace(part, kind="from") if part.kind == "at" else part for part in self.rest]
            act = "take"
            self.objects = [tuple(_kept(np) for np in nouns) for nouns in self.objects]
        if act in ("follow", "guide"):
            return self._with_person(Verb(act))
        if act in SWITCHED:
            return self._switched(Verb(act))
        if act == "find":
            return self._found()
        if act == "count" or len(self.objects) > 2:
            return None
        return self._moved(act)

    def _single(self, part: Part) -> tuple[Phrase, Phrase | None] | None:
        return located(part.nouns[0]) if len(part.nouns) == 1 and part.nouns[0].other is None else None

    def _go(self) -> list[Clause] | None:
        found, target = list[Clause](), None
        via = list[Clause]()
        parts = [*(Part("to", "", (np,)) for nouns in self.objects for np in nouns), *self.rest]
        for part in parts:
            each = self._single(part)
            if each is None:
                return None
            phrase, at = each
            if part.kind == "with" and is_thing(phrase) and phrase.sort in THINGS:
                return self._carried(part)
            if part.kind == "through":
                if phrase.sort is Sort.PLACE:
                    via.append(Clause(Verb.GO, target=phrase))
                else:
                    self.limits.append(Constraint(ConstraintKind.PATH, part.text))
            elif part.kind == "with" and is_person(phrase):
                found.append(Clause(Verb.FOLLOW, person=phrase, person_at=at))
            elif is_person(phrase) and not is_place(phrase) and part.kind in ("to", "at", "near", "for"):
                found.append(Clause(Verb.FIND, person=phrase, person_at=at))
            elif phrase.sort is Sort.PRONOUN and phrase.name == "here":
                found.append(Clause(Verb.FIND, person=THE_OPERATOR))
            elif (is_place(phrase) or phrase.sort in THINGS) and part.kind in ("to", "at", "near"):
                self.cost += 0 if is_place(phrase) else 1
                each = _as_place(each), None
                if part.kind == "near" and not part.text.startswith(_BESIDE):
                    self.limits.append(Constraint(ConstraintKind.SIDE, part.text))
                if target is not None and part.kind != "at" and part.text != "":
                    return None
                if target is not None and part.text == "":
                    found.append(Clause(Verb.GO, target=_inside(each)))
                    continue
                if found and found[-1].person_at is None and found[-1].person is not None and part.kind == "at":
                    found[-1] = replace(found[-1], person_at=_inside(each))
                    continue
                if target is not None:
                    target = target.limited(Constraint(ConstraintKind.RELATION, part.text, phrase))
                    found[0] = Clause(Verb.GO, target=target)
                    continue
                target = _inside(each)
                found.append(Clause(Verb.GO, target=target))
            elif part.kind == "from":
                self.limits.append(Constraint(ConstraintKind.PATH, part.text))
            else:
                return None
        if not found and not self.limits and not via:
            return [Clause(Verb.FIND, person=THE_OPERATOR)] if self.hint.endswith("here") else None
        return [*via, *found] if found else None

    def _carried(self, what: Part) -> list[Clause] | None:
        """As in "come back with the cup", "go to Ann with the cup"."""
        self.rest = [part for part in self.rest if part is not what]
        self.objects = [what.nouns]
        to_me = self.said.startswith("come") or self.hint
        return self._moved("bring") if to_me or any(part.kind == "to" for part in self.rest) else None

    def _with_person(self, verb: Verb) -> list[Clause] | None:
        people = [np for nouns in self.objects for np in nouns if is_person(np.phrase) or np.phrase.sort is Sort.THING]
        places = [np for nouns in self.objects for np in nouns if np.phrase.sort is Sort.PLACE]
        if len(people) != 1 or sum(map(len, self.objects)) != len(people) + len(places):
            return None
        who = located(people[0])
        if who is None or (who[0].name == OPERATOR and verb is Verb.GUIDE and not self.rest and not places):
            return None
        if who[0].sort is Sort.THING:
            named = people[0].said == people[0].phrase.name
            if not (people[0].phrase.definite or named) or people[0].phrase.plural or who[1] is not None:
                return None
            self.cost += 1.5
            who = replace(who[0], sort=Sort.PERSON), who[1]
        person, at, target = who[0], who[1], None
        for part in [*(Part("to", "", (np,)) for np in places), *self.rest]:
            each = self._single(part)
            if each is None:
                return None
            if part.kind == "to" and target is None and (is_place(each[0]) or each[0].sort in THINGS):
                target = _as_place(each)
            elif part.kind in ("at", "from") and at is None and is_place(each[0]):
                at = _inside(each)
            elif part.kind in ("with", "near", "at", "through"):
                kind = ConstraintKind.CLOTHING if part.kind == "with" else ConstraintKind.RELATION
                person = person.limited(Constraint(kind, part.text, each[0]))
            else:
                return None
        return [Clause(verb, person=person, person_at=at, target=target)]

    def _switched(self, verb: Verb) -> list[Clause] | None:
        found = []
        for np in (np for nouns in self.objects for np in nouns):
            each = located(np, [part for part in self.rest if part.kind in ("at", "near", "with", "of", "from")])
            if each is None or (is_person(each[0]) and each[0].sort is not Sort.PRONOUN):
                return None
            self.cost += 0 if is_place(each[0]) else 1
            found.append(Clause(verb, target=_inside(each)))
        if any(part.kind in ("to", "for", "through") for part in self.rest):
            return None
        return found or None

    def _found(self) -> list[Clause] | None:
        sought = [np for nouns in self.objects for np in nouns if np.phrase != THE_OPERATOR]
        if len([nouns for nouns in self.objects if nouns[0].phrase != THE_OPERATOR]) > 1:
            return None
        given = [part for part in self.rest if part.kind == "for" and is_person(part.nouns[0].phrase)]
        if given and given[0].nouns[0].phrase != THE_OPERATOR and all(is_thing(np.phrase) for np in sought):
            return self._moved("bring")
        wanted = [np for part in self.rest if part.kind == "for" for np in part.nouns if np.phrase != THE_OPERATOR]
        rest = [part for part in self.rest if part.kind != "for"]
        if wanted:
            if len(sought) > 1 or (sought and sought[0].phrase.sort is not Sort.PLACE):
                return None
            within = located(sought[0]) if sought else None
            rest += [Part("at", "", (sought[0],))] if within is not None else []
            sought = wanted
        if not sought or any(part.kind == "to" for part in rest):
            return None
        found = []
        for np in sought:
            each = located(np, rest)
            if each is None:
                return None
            phrase, at = each
            if phrase.sort is Sort.PLACE:
                self.cost += 0.3
                found.append(Clause(Verb.GO, target=_inside(each)))
            elif is_person(phrase) and not (is_thing(phrase) and phrase.sort is Sort.PRONOUN):
                found.append(Clause(Verb.FIND, person=phrase, person_at=at))
            else:
                found += alternatives(Clause(Verb.FIND, phrase, at), np)
        return found

    def _moved(self, act: str) -> list[Clause] | None:
        """Bringing, taking and putting."""
        nouns = [np for group in self.objects for np in group]
        people = [np for np in nouns if is_person(np.phrase) and not is_thing(np.phrase)]
        things = [np for np in nouns if np not in people]
        if len(self.objects) == 2 and not people and self.objects[0][0].phrase.name == "them":
            people, things = [self.objects[0][0]], list(self.objects[1])
        if len([group for group in self.objects if group[0] in things]) > 1:
            return None
        fixed = [np for np in things if np.phrase.sort is Sort.PLACE]
        if fixed and self.switch is not None:
            return self._switched(self.switch)
        if fixed and self.said == "get" and "door" in fixed[0].said:
            return self._switched(Verb.OPEN)
        if fixed:
            self.refused = fixed[0].said
            return None
        if len(people) > 1:
            return None
        given = [part for part in self.rest if part.kind == "with" and part.nouns[0].phrase.sort in THINGS]
        if people and not things and given and self.said in _PROVIDING:
            things, self.rest = list(given[0].nouns), [part for part in self.rest if part is not given[0]]
        if people and things:
            self.whom = located(people[0])
        for part in self.rest:
            if not self._role(act, part, bool(people)):
                return None
        target, at_person, whom, behind, limits = self.target, self.at_person, self.whom, self.behind, self.near
        if people and not things:
            return self._moved_person(act, people[0], whom, target, behind)
        if not things:
            return None
        if act == "place" and whom is not None and any(part.kind == "for" for part in self.rest):
            if target is None:
                return None
            whom = None  # as in "set a plate on the table for Ann"
        if target is not None and whom is not None:
            if whom[0] != THE_OPERATOR and at_person is None and act != "place":
                at_person, target = target, None
            elif whom[0] == THE_OPERATOR:
                at_person, target = (target, None) if act != "place" else (None, target)
                whom = whom if at_person is not None else None
            else:
                return None
        if self.hint and act == "take" and whom is None and target is None and self.hint != "along":
            act = "bring"
        near = [part for part in (*behind, *(part for np in things for part in np.parts)) if part.kind == "near"]
        if self.said in ("take", "bring", "carry") and act != "place" and target is None and whom is None and near:
            limits.append(Constraint(ConstraintKind.RELATION, near[0].text))
        found = list[Clause]()
        for np in things:
            each = located(np, behind)
            if each is None or (len(things) > 1 and behind and any(part.kind in ("at", "from") for part in np.parts)):
                return None
            thing, source = each
            if target is not None and whom is None:
                clause = Clause(Verb.PLACE, thing, source, target)
            elif act == "place" and whom is None:
                self.cost += 1.0
                clause = Clause(Verb.PLACE, thing, source)
            elif act == "take" and whom is None:
                clause = Clause(Verb.TAKE, thing, source)
            else:
                person, where = whom or (THE_OPERATOR, None)
                clause = Clause(Verb.BRING, thing, source, None, person, at_person or where)
            found += alternatives(replace(clause, constraints=tuple(limits)), np)
        return found

    def _role(self, act: str, part: Part, given: bool) -> bool:
        """Give a part of moving something its role; returns whether it has one."""
        each = self._single(part)
        if each is None:
            return False
        phrase = each[0]
        if part.kind == "near" and phrase.sort is Sort.PRONOUN and phrase.name in FAR:
            part = replace(part, kind="to")
        if part.kind in ("to", "for") and is_person(phrase) and not is_place(phrase):
            if self.whom is not None and self.whom[0] != phrase:
                return False
            self.whom = each
        elif part.kind == "to" and (is_place(phrase) or phrase.sort in THINGS):
            if self.target is not None:
                return False
            self.cost += 0 if is_place(phrase) else 1
            self.target = replace(_as_place(each), prep=part.text.partition(" ")[0])
            if phrase.name == "here" and phrase.sort is Sort.PRONOUN:
                self.target, self.whom = None, self.whom or (THE_OPERATOR, None)
        elif part.kind == "near":
            self.near.append(Constraint(ConstraintKind.RELATION, part.text, phrase if phrase.sort in THINGS else None))
            if act != "place":
                self.behind.append(part)
                self.near.pop()
            elif self.target is None:
                self.target = Phrase(Sort.PLACE, phrase.name) if phrase.sort is Sort.PLACE else Phrase(Sort.PLACE, "?")
        elif part.kind == "at" and act == "place" and self.target is None and phrase.sort in THINGS:
            self.cost += 1
            self.target = _as_place(each)
        elif part.kind in ("at", "from") and is_place(phrase):
            other = self.whom is not None and self.whom[0].name != OPERATOR
            going = any(each.kind in ("to", "for") for each in self.rest)
            carried = self.said in ("take", "bring", "carry") and not self.hint and not going
            if part.kind == "at" and act == "place" and self.target is None:
                self.target = replace(_inside(each), prep=part.text.partition(" ")[0])
            elif part.kind == "at" and self.target is not None and self.target.sort is phrase.sort is Sort.PLACE:
                self.target = self.target.limited(Constraint(ConstraintKind.RELATION, part.text, phrase))
            elif part.kind == "at" and other and not given and self.at_person is None:
                self.at_person = _inside(each)
            elif part.kind == "at" and act != "place" and carried and self.whom is None and self.target is None:
                self.target = _inside(each)
                self.cost += 0.02
            else:
                self.behind.append(part)
        else:
            return False
        return True

    def _moved_person(
        self, act: str, np: Np, whom: tuple[Phrase, Phrase | None] | None, target: Phrase | None, behind: Sequence[Part]
    ) -> list[Clause] | None:
        each = located(np, behind)
        if each is None or act == "place" or (np.phrase == THE_OPERATOR and target is None):
            return None
        person, at = each
        self.cost += 0.3
        if target is not None:
            return [Clause(Verb.GUIDE, person=person, person_at=at, target=target)]
        if self.hint or (whom is not None and whom[0] == THE_OPERATOR and person != THE_OPERATOR):
            return [Clause(Verb.GUIDE, person=person, person_at=at, target=Phrase(Sort.PRONOUN, "here"))]
        if self.said in _GETTING:
            self.cost += 1
            return [Clause(Verb.FIND, person=person, person_at=at)]
        return None


def _is_bin(part: Part) -> bool:
    return part.nouns[0].phrase.name.endswith(("bin", "trash", "garbage", "compost", "landfill", "recycling"))


def _kept(np: Np) -> Np:
    """A noun phrase of which every quality counts: what is thrown away must be the right one."""
    told = tuple(Constraint(ConstraintKind.QUALITY, word) for word in np.phrase.words)
    return replace(np, phrase=replace(np.phrase.limited(*told), words=()))


def alternatives(clause: Clause, np: Np) -> list[Clause]:
    """A clause, with the other object that would do as well."""
    if np.other is None:
        return [clause]
    other = located(np.other)
    return [replace(clause, instead=other[0], either=not np.ask)] if other is not None else [clause]


def spoken(verb: str, who: Sequence[Np] | None, content: str = "") -> Unit | None:
    """What is told or asked, and to whom."""
    people = [located(np) for np in who] if who else [(THE_OPERATOR, None)]
    found = [each for each in people if each is not None and is_person(each[0])]
    after = any(f" {word} you have " in content for word in ("once", "when", "after", "as soon as"))
    if len(found) != len(people) or content.split()[-1:] in ([word] for word in _UNFINISHED) or after:
        return None
    made = (Clause(Verb(verb), person=person, person_at=at, content=content) for person, at in found)
    return Unit("do", tuple(made))
