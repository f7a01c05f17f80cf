"""What the robot believes during a task: where things and people are or may be, by experience, answers and priors.

This is where to search next: a prior over places that looks and answers narrow. What came of the actions of a stage is
believed by `nsrecover.belief`, in the session that carries the stage out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from nsrecover.core.facts import StateFact
from nsrecover.domains.base import State
from nsrecover.domains.instance import Instance
from nsrecover.domains.service.home import Home, instance_of
from nsrecover.domains.service.kinds import OPERATOR, ROBOT
from nsrecover.instructions.task import Stage

TRAVEL_MPS, LOOK_S = 0.5, 6.0
"""Speed of the robot, and what one look at a place takes: the cost of a search step, in seconds."""

_SAID = 5.0
"""Weight of a place that a person has named, against all other places together."""


@dataclass
class Belief:
    """What is believed of a home while a task is carried out.

    Attributes:
        home: what was known before.
        facts: what was seen or done: places of what was found, what is held, open doors, what was said.
        excluded: object or person -> places where it was looked for and not found.
        said: object -> place that a person has named, and who.
        within: object or person -> room or place to which the search is limited.
        gone: object that need not be looked for -> the person who has said that there is none.
        guess: object or person -> the place that is looked at next; kept until it was looked at, or a person names one.
    """

    home: Home
    facts: set[StateFact] = field(default_factory=set)
    excluded: dict[str, set[str]] = field(default_factory=dict)
    said: dict[str, tuple[str, str]] = field(default_factory=dict)
    within: dict[str, str] = field(default_factory=dict)
    guess: dict[str, str] = field(default_factory=dict)
    gone: dict[str, str] = field(default_factory=dict)

    @classmethod
    def at_start(cls, home: Home, operator_at: str = "") -> Belief:
        """The belief before anything was seen.

        Args:
            home: what is known.
            operator_at: where the operator is going to be; empty if where the home says.
        """
        facts: set[StateFact] = {("at", ROBOT, home.robot)}
        facts |= {("open", name) for name, place in home.places.items() if place.open}
        belief = cls(home, facts)
        if operator_at:
            belief.said[OPERATOR] = (operator_at, OPERATOR)
        else:
            facts.add(("at", OPERATOR, home.operator_at))
        return belief

    @property
    def robot(self) -> str:
        """Where the robot is."""
        return next(fact[2] for fact in self.facts if fact[:2] == ("at", ROBOT))

    def placed(self, name: str) -> bool:
        """Whether something was seen somewhere, or is held."""
        return any(fact[0] in ("at", "holding") and fact[1] == name for fact in self.facts)

    def probabilities(self, name: str, person: bool = False) -> dict[str, float]:
        """Where something that is not found yet may be: place -> probability, without places that were looked at."""
        within = self.within.get(name, "")
        prior = self.home.person_prior(name, within) if person else self.home.prior(name, within)
        if name in self.said:
            place = self.said[name][0]
            prior = {**prior, place: prior.get(place, 0.0) + _SAID}
        left = {place: p for place, p in prior.items() if place not in self.excluded.get(name, ())}
        total = sum(left.values())
        return {place: p / total for place, p in left.items()} if total else {}

    def candidates(self, name: str, person: bool = False) -> list[str]:
        """Places to look at, the best first: by probability over cost, from where the robot is."""
        chances = self.probabilities(name, person)
        return sorted(chances, key=lambda place: (-chances[place] / self.cost(self.robot, place), place))

    def cost(self, one: str, other: str) -> float:
        """What going from one place to another and looking there takes, seconds."""
        return self.home.distance(one, other) / TRAVEL_MPS + LOOK_S

    def search_cost(self, name: str, person: bool = False) -> float:
        """Expected cost of finding something by always going to the best place from where the robot is, seconds."""
        chances, here, spent, expected = self.probabilities(name, person), self.robot, 0.0, 0.0
        left = dict(chances)
        while left:
            place = max(left, key=lambda each: left[each] / self.cost(here, each))
            spent += self.cost(here, place)
            expected += left.pop(place) * spent
            here = place
        return expected

    @property
    def num_excluded(self) -> int:
        """How many times a place was found not to hold something."""
        return sum(map(len, self.excluded.values()))

    def exclude(self, name: str, place: str) -> None:
        """Something was looked for at a place and is not there: what was said or known otherwise is dropped."""
        self.excluded.setdefault(name, set()).add(place)
        if self.said.get(name, ("",))[0] == place:
            del self.said[name]
        item = self.home.items.get(name)
        if item is not None and item.place == place:
            self.home = self.home.with_item(name, "")

    def instance(self, stage: Stage, most: int = 1) -> Instance:
        """The scene of a stage, with so many candidate places of what is not found yet."""
        places = {self.robot, *stage.places}
        holders = {fact[2] for fact in self.facts if fact[0] == "at" and fact[1] in stage.things} & {*self.home.people}
        for name in (*self._names(stage), *holders):
            places |= {fact[2] for fact in self.facts if fact[0] == "at" and fact[1] == name} & self.home.places.keys()
            if not self.placed(name):
                places |= set(self.candidates(name, name in stage.people)[:most])
        held = [fact[1] for fact in self.facts if fact[0] == "holding"]
        if held and not set(held) <= set(stage.things):
            places |= {self._surface()}
        doors = {door for place in places for door in self.home.doors_to(place)}
        doors |= {
            door for door in self.home.places if self.home.places[door].leads_to == self.home.places[self.robot].room
        }
        ordered = [name for name in self.home.places if name in places | doors]
        people = [*(name for name in stage.people if name not in stage.more)]
        helper = () if any(fact[0] == "asked" for fact in stage.goal) else (OPERATOR,)
        return instance_of(
            self.home,
            dict.fromkeys((*stage.things, *held)),
            dict.fromkeys((*people, *helper, *sorted(holders))),
            stage.more,
            stage.static,
            ordered,
        )

    def state(self, instance: Instance, stage: Stage) -> State:
        """What is believed about the objects of a scene: what is not found is at its best candidate."""
        known = {fact for fact in self.facts if all(term in instance.objects for term in fact[1:])}
        for name in self._names(stage):
            if name in instance.objects and not self.placed(name):
                options = [place for place in self.candidates(name, name in stage.people) if place in instance.objects]
                if self.guess.get(name) not in options:
                    self.guess.pop(name, None)
                    if options:
                        self.guess[name] = options[0]
                known |= {("likely", name, self.guess[name])} if name in self.guess else set()
        return frozenset(known)

    def learn(self, state: Iterable[StateFact], instance: Instance) -> None:
        """Take over what a state of a scene says about the scene's objects; guesses are not kept."""
        new = {fact for fact in state if fact[0] != "likely"}
        self.facts = {fact for fact in self.facts if not all(term in instance.objects for term in fact[1:])} | new

    def forget(self, fact: StateFact) -> None:
        """A fact does not hold any more."""
        self.facts.discard(fact)

    def _names(self, stage: Stage) -> Collection[str]:
        return dict.fromkeys((*stage.things, *stage.people, OPERATOR))

    def _surface(self) -> str:
        room = self.home.places[self.robot].room
        inside = [name for name in self.home.furniture if self.home.inside(name, room)]
        fitting = [name for name in (*inside, *self.home.furniture) if "surface" in self.home.places[name].traits]
        return fitting[0] if fitting else self.robot
