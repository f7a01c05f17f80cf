"""A simulated home: true places of objects and people, skills that can fail, and what the robot perceives.

It is the robot of `nsrecover tell` until there is one: without contact physics, thousands of tasks a minute.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.service.home import Home
from nsrecover.domains.service.home_file import load_home
from nsrecover.domains.service.kinds import OPERATOR, POSES, ServiceTrait, is_posed
from nsrecover.instructions.seeing import Sight


@dataclass(frozen=True)
class Failures:
    """How often skills fail, as probabilities.

    Attributes:
        blocked: going somewhere ends where it began.
        grasp: a grasp misses.
        recognition: something that is there is not recognised at one look.
        door: a door does not move.
        silence: a person does not answer.
        first_grasps: number of grasps that miss for certain before any can succeed; no probability.
    """

    blocked: float = 0.0
    grasp: float = 0.0
    recognition: float = 0.0
    door: float = 0.0
    silence: float = 0.0
    first_grasps: int = 0


@dataclass
class Someone:
    """A simulated person.

    Attributes:
        place: where the person is.
        pose: how.
        knows: object -> place: what the person answers when asked where it is; nothing about other objects.
        answers: question -> answer.
    """

    place: str
    pose: str = "standing"
    knows: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)


class FastHome:
    """A world of `nsrecover.instructions`: a robot in a simulated home.

    Args:
        home: the map.
        objects: object -> true place.
        people: person -> where and how; the operator has to be one of them.
        failures: how often skills fail.
        seed: of the failures.
        ungraspable: objects that the gripper never gets hold of.
    """

    def __init__(
        self,
        home: Home,
        objects: Mapping[str, str],
        people: Mapping[str, Someone],
        failures: Failures | None = None,
        seed: int = 0,
        ungraspable: frozenset[str] = frozenset(),
    ) -> None:
        self.home, self.failures, self.ungraspable = home, failures or Failures(), ungraspable
        self.objects, self.people = dict(objects), {name: Someone(**vars(each)) for name, each in people.items()}
        self.robot, self.held = home.robot, ""
        self.open = {name: place.open for name, place in home.places.items() if self._has_door(name)}
        self.running = dict.fromkeys((name for name in home.places if Trait.SWITCH in home.places[name].traits), False)
        self.executed, self.told = list[Action](), list[tuple[str, str]]()
        self.done = set[StateFact]()
        self.seconds = 0.0
        self._grasps = 0
        self._rng = np.random.default_rng(seed)
        self._sight = Sight(self.robot, open=dict(self.open))

    def _has_door(self, name: str) -> bool:
        return bool(self.home.places[name].traits & {Trait.DOOR, ServiceTrait.ROOM_DOOR})

    def observe(self) -> Sight:
        """What the robot perceives now."""
        return self._sight

    def execute(self, action: Action) -> None:
        """Carry out a skill; it fails if it cannot be done, or by chance."""
        self.executed.append(action)
        before = self.robot
        skill = getattr(self, f"_{action.operator}", None)
        found = skill(*action.arguments) if skill is not None else {}
        self.seconds += self.home.distance(before, self.robot) / 0.5 + 6.0
        looked = self._sight if self.robot == before else Sight(self.robot)
        seen = {"objects": looked.objects, "people": looked.people}
        self._sight = Sight(
            self.robot, self.held, **{**seen, "open": dict(self.open), "running": dict(self.running), **(found or {})}
        )
        self.done |= self._sight.done

    def _fails(self, chance: float) -> bool:
        return bool(self._rng.random() < chance)

    # --- places

    def _go_to_location(self, place: str) -> None:
        room = self.home.places[place].room
        shut = [door for door in self.home.doors_to(place) if not self.open.get(door, True)]
        if (shut and self.home.places[self.robot].room != room) or self._fails(self.failures.blocked):
            return
        self.robot = place

    def _operate_door(self, place: str, operation: str) -> None:
        if self.robot == place and not self.held and not self._fails(self.failures.door):
            self.open[place] = operation == "open"

    def _inside_visible(self, place: str) -> bool:
        return self.open.get(place, True)

    def _objects_here(self) -> tuple[str, ...]:
        if not self._inside_visible(self.robot):
            return ()
        return tuple(name for name, place in self.objects.items() if place == self.robot)

    def _find_concrete_name_objects(self, thing: str, place: str) -> dict[str, object]:
        here = self._objects_here() if self.robot == place else ()
        return {"objects": tuple(name for name in here if not self._fails(self.failures.recognition))}

    _find_category_name_objects = _find_concrete_name_objects

    def _here(self, person: str) -> bool:
        if person not in self.people or self.people[person].place not in self.home.places:
            return False
        place = self.people[person].place
        return self.robot in (place, self.home.places[place].room)

    def _meant(self, person: str) -> str:
        """The person here who is meant by a name, a pose or just "person"; empty if there is none."""
        if person in self.people:
            return person if self._here(person) else ""
        pose = person.removesuffix("person").strip()
        here = (name for name in self.people if self._here(name) and name != OPERATOR)
        return next((name for name in here if not pose or is_posed(self.people[name].pose, pose)), "")

    def _find_person(self, person: str, place: str) -> dict[str, object]:
        here = [name for name in self.people if self._here(name) and self.robot == place]
        seen = [name for name in here if not self._fails(self.failures.recognition)]
        return {"people": {name: self.people[name].pose for name in seen}}

    def _find_specific_pose_person(self, person: str, pose: str, place: str) -> dict[str, object]:
        return self._find_person(person, place)

    # --- objects

    def _wanted(self, thing: str) -> str:
        return next((name for name in self._objects_here() if self.home.could_mean(thing, name)), "")

    def _pick(self, thing: str, place: str) -> dict[str, object]:
        name = self._wanted(thing)
        self._grasps += 1
        missed = self._grasps <= self.failures.first_grasps or self._fails(self.failures.grasp)
        if not name or self.held or name in self.ungraspable or missed:
            return {"objects": self._objects_here()}
        del self.objects[name]
        self.held = name
        return {"objects": self._objects_here()}

    def _place(self, thing: str, place: str) -> dict[str, object]:
        if self.held and self.robot == place and self._inside_visible(place):
            self.objects[self.held], self.held = place, ""
        return {"objects": self._objects_here()}

    def _hand_over(self, thing: str, person: str) -> dict[str, object]:
        meant = self._meant(person)
        if not meant or not self.held or self._fails(self.failures.silence):
            return {}
        self.objects[self.held], self.held = meant, ""
        return {"done": frozenset({("at", thing, person)})}

    def _ask_person_to_hand_over(self, thing: str, person: str, query: str) -> None:
        meant = self._meant(person)
        known = (each for each in self.objects if self.home.could_mean(thing, each))
        name = next((each for each in known if self.objects[each] in (*self.home.places, meant)), "")
        if meant and name and not self._fails(self.failures.silence):
            del self.objects[name]
            self.held = name

    # --- people

    def _ask_location(self, thing: str, person: str) -> dict[str, object]:
        meant = self._meant(person)
        if not meant:
            return {}
        place = self.people[meant].knows.get(thing, "")
        silent = self._fails(self.failures.silence)
        heard = "" if silent else f"It is at the {place}." if place else "I do not know, sorry."
        return {"done": frozenset({("asked", thing)}), "heard": heard}

    def _ask_question(self, person: str, question: str) -> dict[str, object]:
        meant = self._meant(person)
        if not meant or self._fails(self.failures.silence):
            return {}
        answer = self.people[meant].answers.get(question, meant if "name" in question else "Yes.")
        return {"done": frozenset({("answered", question)}), "heard": answer}

    def _tell_information(self, information: str, person: str) -> dict[str, object]:
        meant = self._meant(person)
        if not meant or self._fails(self.failures.silence):
            return {}
        self.told.append((meant, information))
        return {"done": frozenset({("told", information)})}

    def _answer_question(self, person: str) -> dict[str, object]:
        return {"done": frozenset({("answered_to", person)})} if self._meant(person) else {}

    def _detect_person_pose(self, person: str) -> dict[str, object]:
        meant = self._meant(person)
        return {"done": frozenset({("pose_known", person)}), "heard": self.people[meant].pose} if meant else {}

    def _lead(self, person: str, place: str, done: str) -> dict[str, object]:
        meant = self._meant(person)
        if not meant or self._fails(self.failures.blocked):
            return {}
        self.robot = self.people[meant].place = place
        return {"done": frozenset({(done, person)}), "people": {meant: self.people[meant].pose}}

    def _follow_person(self, person: str, place: str) -> dict[str, object]:
        return self._lead(person, place, "followed")

    def _guide(self, person: str, place: str) -> dict[str, object]:
        return self._lead(person, place, "guided")

    # --- counting

    def _counted(self, what: str, place: str, number: int) -> dict[str, object]:
        return {"done": frozenset({("counted", what)}), "count": number} if self.robot == place else {}

    def _count_concrete_name_objects(self, what: str, place: str) -> dict[str, object]:
        noun = what.removesuffix(f" at the {place}")
        fitting = [name for name in self._objects_here() if noun == "object" or self.home.could_mean(noun, name)]
        return self._counted(what, place, len(fitting))

    _count_category_name_objects = _count_concrete_name_objects

    def _count_person(self, what: str, place: str) -> dict[str, object]:
        return self._counted(what, place, sum(self._here(name) for name in self.people))

    def _count_specific_pose_person(self, what: str, place: str) -> dict[str, object]:
        pose = what.split(" people at ")[0]
        here = [name for name in self.people if self._here(name) and is_posed(self.people[name].pose, pose)]
        return self._counted(what, place, len(here))

    def _toggle_on(self, thing: str) -> None:
        self.running[thing] = True

    def _toggle_off(self, thing: str) -> None:
        self.running[thing] = False


KNOWS, FALSE = 0.6, 0.1
"""Probability that a person knows where an object is, and that what the person then says is false."""


def drawn_home(seed: int, keep: Sequence[str] = ()) -> Home:
    """A variation of the shipped home: some furniture is missing or elsewhere in its room, other priors.

    Args:
        seed: of the variation; 0 is the shipped home.
        keep: furniture that stays.
    """
    home = load_home("apartment")
    if seed == 0:
        return home
    rng = np.random.default_rng([seed, 1])
    # every room keeps a piece of furniture
    firsts = {next(name for name in home.furniture if home.inside(name, room)) for room in home.rooms}
    needed = {*keep, *firsts, home.robot, home.operator_at, "kitchen table"}
    places = {}
    for name, place in home.places.items():
        if place.is_room or place.leads_to or name in needed or rng.random() < 0.8:
            x, y = place.at
            places[name] = replace(place, at=(x + float(rng.normal(0, 0.4)), y + float(rng.normal(0, 0.4))))
    likely = {
        kind: {place: weight * float(rng.gamma(2.0, 0.5)) for place, weight in spots.items() if place in places}
        for kind, spots in home.likely.items()
    }
    people = {name: each for name, each in home.people.items() if not each.place or each.place in places}
    return replace(home, name=f"{home.name} {seed}", places=places, likely=likely, people=people)


def drawn_world(
    home: Home,
    seed: int,
    failures: Failures | None = None,
    nouns: Sequence[str] | None = None,
    fixed: dict[str, str] | None = None,
    false: float = FALSE,
) -> FastHome:
    """A fast home with objects at places drawn from the map's priors.

    Args:
        home: the map.
        seed: of the draw and of the failures.
        failures: how often skills fail.
        nouns: objects that exist; a third of all nouns and the known objects if None.
        fixed: object -> place, of objects that are not drawn.
        false: probability that what a person says about a place is false.
    """
    rng = np.random.default_rng([seed, 2])
    if nouns is None:
        nouns = [noun for noun in home.nouns if noun not in home.categories and rng.random() < 0.33]
    objects = dict(fixed or {})
    for name in dict.fromkeys((*nouns, *home.items)):
        if name not in objects:
            prior = home.prior(name)
            objects[name] = str(rng.choice(list(prior), p=list(prior.values())))
    people = {}
    for name, resident in home.people.items():
        knows = {}
        for each, place in objects.items():
            if rng.random() < KNOWS:
                knows[each] = str(rng.choice(home.furniture)) if rng.random() < false else place
        at = resident.place if resident.place and rng.random() < 0.7 else str(rng.choice(home.rooms))
        if name == OPERATOR:
            at, knows = home.operator_at, {}
        people[name] = Someone(at, str(rng.choice(POSES)), knows)
    return FastHome(home, objects, people, failures, seed)


def make_world(home: Home) -> FastHome:
    """The world of `nsrecover tell`: everything that the home has words for is somewhere; skills fail now and then."""
    nouns = [noun for noun in home.nouns if noun not in home.categories]
    return drawn_world(home, 0, Failures(0.05, 0.1, 0.05, 0.05, 0.0), nouns)
