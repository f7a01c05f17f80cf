"""What a reading leads to, against what a command wants: right, wrong, asked, refused by name, or refused."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any

from eval.foreign_sentences.frames import WORDS, Wish
from nsrecover.domains.service.home import Home, Item, Place, Resident
from nsrecover.domains.service.kinds import OPERATOR, ROBOT
from nsrecover.instructions.planning import TaskPlan
from nsrecover.instructions.task import Refusal, Stage, TaskQuestion

Entity = Mapping[str, Any]

_ELSEWHERE = "somewhere"


def home_of_map(entities: Sequence[Entity], sentence: str) -> Home:
    """The home that a map shows.

    Args:
        entities: of the map.
        sentence: the command, for the room of a piece of furniture.
    """
    places: dict[str, Place] = {_ELSEWHERE: Place(_ELSEWHERE, _ELSEWHERE, (0.0, 0.0))}
    items: dict[str, Item] = {}
    people: dict[str, Resident] = {OPERATOR: Resident(OPERATOR, _ELSEWHERE)}
    kinds = {_kind(each): _names_in(each) for each in entities}
    for each in sorted(entities, key=lambda each: not re.fullmatch(WORDS["rooms"], _kind(each))):
        kind, names, at = _kind(each), _names_in(each), (float(each["x"]), float(each["y"]))
        name, others = names[0], tuple(names[1:])
        if kind == "robot" or name in places or name in items:
            continue
        if re.fullmatch(WORDS["rooms"], kind):
            places[name] = Place(name, name, at, others)
        elif kind == "person":
            people |= {person: Resident(person) for person in names if person not in WORDS["nobody"]}
        elif re.fullmatch(WORDS["fixed"], kind) or (
            (each["contains"] or each["supports"]) and not re.fullmatch(WORDS["carried"], kind)
        ):
            parts = tuple(
                part
                for part, has in (("switch", WORDS["switched"]), ("door", WORDS["opened"]))
                if re.fullmatch(has, kind)
            )
            room = _room(names, sentence, [kinds[each] for each in kinds if re.fullmatch(WORDS["rooms"], each)])
            places[name] = Place(name, room if room in places else _ELSEWHERE, at, others, parts=parts)
        else:
            items[name] = Item(name, name, also=others)
    if not any(not place.is_room for place in places.values()):
        places["rack"] = Place("rack", _ELSEWHERE, (1.0, 0.0))
    return Home("map", places, items, people, robot=_ELSEWHERE)


def _kind(entity: Entity) -> str:
    return re.sub(r"[^a-z]", "", str(entity["type"]).lower())


def _names_in(entity: Entity) -> list[str]:
    """The names of an entity, the type's own first."""
    names = [str(each).replace("_", " ") for each in entity["names"]]
    own = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", str(entity["type"])).lower()
    return [own, *(each for each in names if each != own)] if own in names else names


def _room(names: Sequence[str], sentence: str, rooms: Sequence[Sequence[str]]) -> str:
    """The room in which the sentence says that a piece of furniture is; empty if it does not."""
    for room in rooms:
        for name in names:
            for other in room:
                inside = rf"\b{re.escape(name)}s? (?:in|inside|of) (?:the )?{re.escape(other)}\b"
                if re.search(rf"{inside}|\b{re.escape(other)} {re.escape(name)}\b", sentence):
                    return room[0]
    return ""


class Verdict(Enum):
    """How an answer to a command compares with what it wants."""

    WRONG = "wrong plan"
    RIGHT = "right plan"
    ASKED = "asked"
    NAMED = "refused, naming what no skill does"
    REFUSED = "refused otherwise"


_ALSO_BRING = ("get", "fetch", "grab")
_NOTHING = ("no command", "nothing to do")


def verdict(found: TaskPlan | TaskQuestion | Refusal, wishes: Sequence[Wish], home: Home) -> Verdict:
    """Judge what a command led to."""
    unserved = [words for wish in wishes for words in _unserved(wish, home)]
    if isinstance(found, TaskPlan):
        right = bool(wishes) and not unserved and _agree(_stages(found), list(wishes), home)
        return Verdict.RIGHT if right else Verdict.WRONG
    if isinstance(found, TaskQuestion):
        return Verdict.ASKED
    if not wishes:
        return Verdict.NAMED if any(text in found.text for text in _NOTHING) else Verdict.REFUSED
    named = any(_content(words) & _content(found.text) for words in unserved)
    return Verdict.NAMED if named else Verdict.REFUSED


def _content(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z]+", text.lower()) if len(word) > 3 or word in ("go", "see", "tap", "pc")}


def _unserved(wish: Wish, home: Home) -> list[str]:
    """The words of a wish that nothing in the home or among the skills serves."""
    found = [*wish.limits]
    if wish.goal == "none" and not found:
        found.append(wish.verb)
    parts = {"on": "switch", "off": "switch", "open": "door", "closed": "door"}
    if wish.goal in parts:
        for words in wish.thing.split(" and "):
            fitting = [name for name in resolved(words, home) if name in home.places]
            if not any(parts[wish.goal] in home.places[name].traits for name in fitting):
                found.append(f"{wish.verb} {words}")
    if wish.goal in ("put", "bring", "hold") and resolved(wish.thing, home) & set(home.places):
        found.append(wish.thing)
    if wish.place and not any(name in home.places for name in resolved(wish.place, home)):
        found.append(wish.place)
    return found


def resolved(words: str, home: Home) -> set[str]:
    """The places, objects and people of a home that words may name, by their longest ending that names any."""
    named: dict[str, set[str]] = {}
    also = {name: place.also for name, place in home.places.items()}
    also |= {name: item.also for name, item in home.items.items()}
    also |= {name: person.also for name, person in home.people.items()}
    for name, others in also.items():
        for text in (name, *others):
            named.setdefault(_singular(text), set()).add(name)
    parts = words.split()
    for k in range(len(parts)):
        if names := named.get(_singular(" ".join(parts[k:]))):
            return names
    spans = (" ".join(parts[k:end]) for k in range(len(parts)) for end in range(len(parts), k, -1))
    return next((names for each in spans if (names := named.get(_singular(each), set()) & set(home.places))), set())


def _singular(text: str) -> str:
    return text.replace(" ", "").removesuffix("s")


def _stages(found: TaskPlan) -> list[Stage]:
    """The stages of a plan without telling the operator a result."""
    return [stage for stage in found.task.stages if not stage.reports]


def _agree(stages: list[Stage], wishes: list[Wish], home: Home) -> bool:
    """Whether stages do what is wished, in order; means to a later wish may be left out."""
    if not wishes:
        return not stages
    wish, later = wishes[0], wishes[1:]
    if stages and _does(stages[0], wish, home) and _agree(stages[1:], later, home):
        return True
    if stages and _is_on_the_way(stages, home) and _agree(stages[1:], wishes, home):
        return True
    if wish.goal == "go" and stages and later:
        near = [*stages[0].things.values(), *stages[0].people.values(), *stages[0].places]
        meant = resolved(wish.place, home)
        if any(place in meant or (place and home.places[place].room in meant) for place in near):
            return _agree(stages, later, home)
    moved = any(other.goal == "put" and _alike(wish, other) for other in later)
    means = moved and wish.goal == "bring" and not wish.person
    means = means or (wish.goal in ("hold", "find") and any(_alike(wish, other) for other in later))
    return means and _agree(stages, [_with_source(other, wish) for other in later], home)


def _alike(wish: Wish, other: Wish) -> bool:
    return other.goal in ("put", "bring", "hold") and other.thing == wish.thing


def _with_source(other: Wish, wish: Wish) -> Wish:
    source = wish.source or (wish.place if wish.goal == "find" else "")
    return replace(other, source=other.source or source) if _alike(wish, other) else other


def _is_on_the_way(stages: Sequence[Stage], home: Home) -> bool:
    """Whether a stage only goes to a door."""
    goal = stages[0].goal
    return len(stages) > 1 and len(goal) == 1 and goal[0][:2] == ("at", ROBOT) and "door" in goal[0][2]


def _names(name: str, words: str, home: Home) -> bool:
    """Whether an object, place or person of a stage is what words name, by the home or as an open query."""
    meant = resolved(words, home)
    if meant:
        return name in meant or any(_singular(name).endswith(_singular(each)) for each in meant)
    last = _singular(words.split()[-1]) if words else ""
    return bool(last) and last in {_singular(each) for each in name.split()} | {_singular(home.kind(name))}


def _does(stage: Stage, wish: Wish, home: Home) -> bool:
    """Whether a stage does what is wished."""
    facts = {fact[0]: fact for fact in stage.goal if fact[:2] != ("at", ROBOT)}
    where = next((fact[2] for fact in stage.goal if fact[:2] == ("at", ROBOT)), "")
    thing = next(iter(stage.things), "")
    named = wish.thing in ("one", "some", "it", "them") or _names(thing, wish.thing, home)
    if thing and (not named or not _limited(stage, wish, home)):
        return False
    match wish.goal:
        case "hold":
            given = facts.get("at", ("", "", ""))[2] == OPERATOR and wish.verb in _ALSO_BRING
            return ("holding" in facts and not where) or given
        case "bring":
            to = facts.get("at", ("", "", ""))[2]
            return to == OPERATOR if not wish.person else _is_person(to, wish.person, home)
        case "put":
            to = facts["at"][2] if "at" in facts else where if "holding" in facts else ""
            return bool(to) and (_at(to, wish.place, home) if wish.place else False)
        case "find":
            met = "beside" in facts and _is_person(facts["beside"][1], wish.thing, home)
            return "found" in facts or met or (not thing and _at(where, wish.thing, home))
        case "go":
            return not facts and _at(where, wish.place, home)
        case "follow" | "guide":
            done = facts.get({"follow": "followed", "guide": "guided"}[wish.goal], ("", ""))[1]
            return _is_person(done, wish.thing, home) and (not wish.place or _at(where, wish.place, home))
        case _:
            state = {"on": "running", "off": "off", "open": "open", "closed": "closed"}.get(wish.goal, "")
            return state in facts and facts[state][1] in resolved(wish.thing, home)


def _limited(stage: Stage, wish: Wish, home: Home) -> bool:
    """Whether something is looked for where it is said to be."""
    within = next(iter(stage.things.values()), "")
    said = wish.place if wish.goal == "find" else wish.source
    known = [name for name in resolved(said, home) if name in home.places] if said else []
    return not known or (bool(within) and _at(within, said, home))


def _at(place: str, words: str, home: Home) -> bool:
    meant = resolved(words, home)
    return place in home.places and (place in meant or home.places[place].room in meant)


def _is_person(name: str, words: str, home: Home) -> bool:
    if words in ("me", "us", "with me"):
        return name == OPERATOR
    return name in resolved(words, home) or (name.endswith("person") and words.split()[-1] in WORDS["people"])
