"""What a service robot reports after each skill, and how it changes what is believed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from nsrecover.core.actions import Action
from nsrecover.core.facts import FactScene, StateFact
from nsrecover.domains.instance import Instance
from nsrecover.domains.service.kinds import OPERATOR, ROBOT, is_posed
from nsrecover.errors import InvalidObservation
from nsrecover.instructions.belief import Belief
from nsrecover.instructions.task import Stage
from nsrecover.language.answers import Attitude, Choice

LOOKS = 2
"""Looks at a place where something was said to be before it is looked for elsewhere."""

GRASPS = 2
"""Failed grasps of one object after which the robot asks to be handed it."""


@dataclass(frozen=True)
class Sight:
    """What a robot perceives: its own place, gripper and last skill, and what it saw where it looked.

    Attributes:
        place: where the robot is.
        held: what it holds; empty if nothing.
        objects: the names of objects at the place, as recognised; None if it has not looked for objects here.
        people: person -> pose, of the people at the place; None if it has not looked for people here.
        open: places with doors -> whether they are open, of those that it can see.
        running: devices -> whether they are turned on, of those that it can see.
        done: facts that the last skill reports about itself: told, answered, counted, followed.
        heard: the answer to what it asked or was told last; None if nothing was asked.
        count: what was counted last; None if nothing was.
    """

    place: str
    held: str = ""
    objects: tuple[str, ...] | None = None
    people: Mapping[str, str] | None = None
    open: Mapping[str, bool] = field(default_factory=dict)
    running: Mapping[str, bool] = field(default_factory=dict)
    done: frozenset[StateFact] = frozenset()
    heard: str | None = None
    count: int | None = None


class HomeWorld(Protocol):
    """A robot in a home: a real one, or a simulated one."""

    def observe(self) -> Sight:
        """What is perceived now."""
        ...

    def execute(self, action: Action) -> None:
        """Carry out one skill; it may fail."""
        ...


def called(name: str, stage: Stage) -> str:
    """How an object or person of a stage is called in a text."""
    return name.capitalize() if name in stage.people and not name.endswith("person") else f"the {name}"


@dataclass
class BelievedWorld:
    """The world of facts that the recovery agent acts in: the robot's reports, and what is believed besides them.

    Where something is believed to be although it is not found yet is a fact, `likely`. If a look does not confirm it,
    the best other place takes its turn: the agent notices the difference and goes there.

    Attributes:
        world: the robot.
        belief: what is believed; changed by every observation.
        stage: the part of the task that is carried out.
        instance: its scene.
        hear: takes what was heard after a skill, and gives the places that it names and denies.
        log: what happened: a code and a text.
        busy: whether a skill was begun and has not ended: the robot may be moving.
    """

    world: HomeWorld
    belief: Belief
    stage: Stage
    instance: Instance
    hear: Callable[[str], Choice]
    log: list[tuple[str, str]]
    said: list[str] = field(default_factory=list)
    busy: bool = False
    _unjudged: Action | None = None
    _misses: dict[str, int] = field(default_factory=dict)

    def execute(self, action: Action) -> None:
        """Carry out one skill."""
        self.busy = True
        try:
            self.world.execute(action)
            self._unjudged = action
        finally:
            self.busy = False

    def observe(self) -> FactScene:
        """The scene as it is believed after what was perceived.

        Raises:
            InvalidObservation: nothing was perceived.
        """
        sight = self.world.observe()
        if sight is None:
            raise InvalidObservation("expected a sight, found None; let observe() return what is perceived now")
        action, self._unjudged = self._unjudged, None
        if action is not None:
            self._judge(action, sight)
        else:
            self._place(sight)
        return FactScene(self.belief.state(self.instance, self.stage))

    def _judge(self, action: Action, sight: Sight) -> None:
        """What the report of a skill says about its success, once per skill."""
        self._place(sight)
        facts, name = self.belief.facts, action.arguments[0]
        facts |= sight.done
        if sight.heard is not None:
            if action.operator == "ask_location":
                self._told(name, action.arguments[1], self.hear(sight.heard))
            elif sight.heard:
                self.said.append(sight.heard)
        if sight.count is not None and sight.done:
            self.said.append(f"{sight.count} {name}")
        if action.operator.startswith("find_"):
            place = action.arguments[-1]
            if self.belief.placed(name):
                if name in self.stage.things:
                    self.said.append(f"the {name} is at the {place}")
            elif self._looks_again(name, place):
                self.log.append(("M3", f"did not see {called(name, self.stage)} at the {place}, and looked again"))
            else:
                self.belief.exclude(name, place)
                left = self.belief.candidates(name, name in self.stage.people)
                then = f", then looked at the {left[0]}" if left else ""
                self.log.append(("M3", f"did not find {called(name, self.stage)} at the {place}{then}"))
        elif action.operator == "pick" and sight.held != name:
            self._misses[name] = self._misses.get(name, 0) + 1
            if not self.belief.placed(name):
                self.belief.exclude(name, action.arguments[1])
            self.log.append(("M3", f"missed the grasp of the {name}"))
            if self._misses[name] >= GRASPS and OPERATOR in self.instance.objects and self.belief.placed(name):
                facts.add(("hard_to_grasp", name))
                self.log.append(("M3", f"asked to be handed the {name} instead of grasping it again"))
        elif action.operator == "go_to_location" and sight.place != name:
            self.log.append(("M3", f"did not get to the {name}, and tried again"))
        elif action.operator == "operate_door" and (("open", name) in facts) != (action.arguments[1] == "open"):
            self.log.append(("M3", f"could not {action.arguments[1]} the {name}, and tried again"))
        elif action.operator in ("tell_information", "ask_question") and not sight.done:
            self.log.append(("M3", f"got no answer from {action.arguments[-1 if 'tell' in action.operator else 0]}"))

    def _told(self, name: str, person: str, told: Choice) -> None:
        """Believe what a person has said about where something is, or is not."""
        for place in told.denied:
            self.belief.exclude(name, place)
        if len(told.names) == 1:
            self.belief.said[name] = (told.names[0], person)
            self.belief.guess.pop(name, None)
            self.log.append(("M1", f"{person} said that the {name} is at the {told.names[0]}"))
        elif told.attitude in (Attitude.NONE, Attitude.CANCEL):
            self.belief.gone[name] = person
            self.log.append(("M1", f"{person} said that there is no {name}, or not to look for it"))
        else:
            self.log.append(("M1", f"{person} could not say where the {name} is"))

    def _place(self, sight: Sight) -> None:
        """Believe what is perceived of places: the robot's, and that of what it sees."""
        belief, home = self.belief, self.belief.home
        belief.facts = {fact for fact in belief.facts if fact[:2] != ("at", ROBOT) and fact[0] != "holding"}
        belief.facts.add(("at", ROBOT, sight.place))
        for predicate, values in (("open", sight.open), ("running", sight.running)):
            for name, holds in values.items():
                (belief.facts.add if holds else belief.facts.discard)((predicate, name))
        wanted = (name for name in self.stage.things if sight.held and home.could_mean(name, sight.held))
        held = next(wanted, sight.held)
        if held:
            belief.facts = {fact for fact in belief.facts if fact[:2] != ("at", held)} | {("holding", held)}
        belief.said.pop(held, None)
        for name in self.stage.things:
            if sight.objects is None or name == held or self._handed(name):
                continue
            here = any(home.could_mean(name, seen) for seen in sight.objects)
            self._seen(name, here, sight.place)
        for name in dict.fromkeys((*self.stage.people, OPERATOR)):
            if sight.people is None:
                continue
            pose = next((fact[2] for fact in self.stage.static if fact[:2] == ("has_pose", name)), "")
            others = [each for each in sight.people if each != OPERATOR]
            here = (
                any(is_posed(seen, pose) for seen in sight.people.values())
                if pose
                else bool(others)
                if name == "person"
                else name in sight.people
            )
            self._seen(name, here, sight.place)

    def _looks_again(self, name: str, place: str) -> bool:
        """Whether a place where something was said to be deserves another look."""
        expected = place in (self.belief.within.get(name), self.belief.said.get(name, ("",))[0])
        self._misses[f"{name} at {place}"] = misses = self._misses.get(f"{name} at {place}", 0) + 1
        return expected and misses < LOOKS

    def _handed(self, name: str) -> bool:
        people = (*self.belief.home.people, *self.stage.people)
        return any(fact[:2] == ("at", name) and fact[2] in people for fact in self.belief.facts)

    def _seen(self, name: str, here: bool, place: str) -> None:
        facts = self.belief.facts
        if here:
            self.belief.facts = {f for f in facts if f[:2] != ("at", name)} | {("at", name, place)}
        elif ("at", name, place) in facts:
            facts.discard(("at", name, place))
            self.belief.exclude(name, place)
