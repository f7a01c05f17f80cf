"""Worlds in which anything may go wrong: actions fail, others change things, and observations lie or miss things.

They keep the truth themselves, by rules of a few lines, and never hand it to the library.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from nsrecover import Act, Action, Ask, Episode, Look, Plan, Session, SessionSettings, geometric, symbolic
from nsrecover.bridges.pddl import domain_from_pddl, scene_from_pddl
from nsrecover.core import Box, Facts, FactScene, StateFact
from nsrecover.domains.base import Role
from nsrecover.domains.instance import Instance
from nsrecover.domains.properties import by_property, property_of
from nsrecover.system import AnySystem

SIDE_M = 0.05
ON_M = 0.03
"""A cube is on another one if it is no farther than this from its middle: the tolerance, and half as much for drift."""
DOMAINS = Path(__file__).parent / "domains"
MOST_REQUESTS = 400

TruthT = TypeVar("TruthT")


@dataclass(frozen=True)
class Trouble:
    """What goes wrong, as probabilities.

    Attributes:
        fails: of an action that does not do what it should.
        lies: of an observation that shows something as it is not.
        drops: of an observation that does not show something, which may last.
        changes: of a change by others during an action.
    """

    fails: float = 0.0
    lies: float = 0.0
    drops: float = 0.0
    changes: float = 0.0


@dataclass
class RandomWorld(ABC, Generic[TruthT]):
    """A world with trouble.

    A lie is about what the last action was about, in every other case: that it is as it was before, or as it should be
    now; else about anything.

    Attributes:
        rng: chance.
        trouble: what goes wrong.
        looks: observations that were made.
        wrong: those of them that lied or missed something.
        acts: actions that were done.
        plan: what should be done.
        truth: the scene as it is; never changed in place.
    """

    rng: np.random.Generator
    trouble: Trouble
    plan: Plan = field(init=False)
    truth: TruthT = field(init=False)
    looks: int = 0
    wrong: int = 0
    acts: int = 0
    _hidden: dict[str, int] = field(default_factory=dict)
    _last: tuple[Action, TruthT, TruthT] | None = None

    def execute(self, action: Action) -> None:
        """Carry out an action, if it does not fail; others may change something meanwhile."""
        before, self.acts = self.truth, self.acts + 1
        meant = self.meant(action)
        if self.rng.random() >= self.trouble.fails:
            self.truth = meant
        else:
            self.misdo(action)
        self._last = action, before, meant
        if self.rng.random() < self.trouble.changes:
            self.change(self._any())

    def observe(self, names: Sequence[str] = ()) -> Any:
        """An observation, which may be wrong about something."""
        self.looks += 1
        truth, missed = self.truth, dict.fromkeys(self._hidden, True)
        self._hidden = {name: left - 1 for name, left in self._hidden.items() if left > 1}
        if lies := self.rng.random() < self.trouble.lies:
            truth = self._lie(truth)
        if self.looks > 1 and self.rng.random() < self.trouble.drops:  # without its objects a plan is refused
            name, lasting = self._any(), bool(self.rng.random() < 0.5)
            missed[name] = lasting
            if lasting:
                self._hidden[name] = int(self.rng.integers(1, 5))
        self.wrong += bool(lies or missed)
        return self.picture(truth, missed)

    def _lie(self, truth: TruthT) -> TruthT:
        if self._last is not None and self.rng.random() < 0.5:
            action, *others = self._last
            return self.mixed(truth, others[int(self.rng.integers(2))], action.arguments[0])
        return self.altered(truth, self._any())

    def _any(self) -> str:
        return str(self.rng.choice(self.things()))

    @abstractmethod
    def system(self) -> AnySystem:
        """A system for this world."""

    @abstractmethod
    def things(self) -> list[str]:
        """What can be changed."""

    @abstractmethod
    def meant(self, action: Action) -> TruthT:
        """The scene after an action that works."""

    @abstractmethod
    def misdo(self, action: Action) -> None:
        """What an action does that fails."""

    @abstractmethod
    def change(self, name: str) -> None:
        """What others do to something."""

    @abstractmethod
    def mixed(self, truth: TruthT, other: TruthT, name: str) -> TruthT:
        """A scene in which one thing is as in another scene."""

    @abstractmethod
    def altered(self, truth: TruthT, name: str) -> TruthT:
        """A scene in which one thing is otherwise."""

    @abstractmethod
    def picture(self, truth: TruthT, missed: dict[str, bool]) -> Any:
        """An observation of a scene that misses some things."""

    @abstractmethod
    def unmet(self) -> list[StateFact]:
        """The conditions of the goal that do not hold."""


Boxes = dict[str, Box]


@dataclass
class BoxWorld(RandomWorld[Boxes]):
    """Cubes that become towers. They fall if what is below them is taken away."""

    def __post_init__(self) -> None:
        number = int(self.rng.integers(3, 7))
        self.truth = {f"cube {row}": _cube(0.42, 0.11 * row - 0.3) for row in range(1, number + 1)}
        names = [str(name) for name in self.rng.permutation(list(self.truth))]
        tower = int(self.rng.integers(2, min(number, 4) + 1))
        pairs = list(zip(names[1:tower], names[: tower - 1], strict=True))
        if number - tower >= 2 and self.rng.random() < 0.5:
            pairs.append((names[tower + 1], names[tower]))
        self.plan = Plan(tuple(Action("top", pair) for pair in pairs))

    def system(self) -> AnySystem:
        """A system for this world."""
        return geometric()

    def things(self) -> list[str]:
        """What can be changed."""
        return list(self.truth)

    def meant(self, action: Action) -> Boxes:
        """The scene after an action that works."""
        moved = action.arguments[0]
        if not set(action.arguments) <= self.truth.keys():
            return self.truth  # it is lost
        x, y, z = action.target[:3] if action.target else self.truth[action.arguments[1]][:3]
        return self._with(moved, x, y, z if action.target else z + SIDE_M)

    def misdo(self, action: Action) -> None:
        """What an action does that fails."""
        name = action.arguments[0]
        if name not in self.truth or not set(action.arguments) <= self.truth.keys():
            return
        match self.rng.integers(4):
            case 1:  # another cube is taken
                self.truth = self._with(self._any(), 0.6, self.rng.uniform(-0.3, 0.3), 0.0)
            case 2:
                self.truth = self._with(name, 0.33, self.rng.uniform(-0.3, 0.3), 0.0)
            case 3:  # it lands beside its place
                x, y, z = self.meant(action)[name][:3]
                self.truth = self._with(name, x + 0.024, y, z)

    def change(self, name: str) -> None:
        """What others do to something."""
        x, y, z = self.truth[name][:3]
        match self.rng.integers(5):
            case 0 if len(self.truth) > 2:
                self.truth = _settled({other: box for other, box in self.truth.items() if other != name})
            case 1:
                self.truth = self._with(name, x, y + 0.008, z)
            case _:
                self.truth = self._with(name, self.rng.uniform(0.3, 0.6), self.rng.uniform(-0.35, 0.35), 0.0)

    def mixed(self, truth: Boxes, other: Boxes, name: str) -> Boxes:
        """A scene in which one thing is as in another scene."""
        return {**truth, **({name: other[name]} if name in other and name in truth else {})}

    def altered(self, truth: Boxes, name: str) -> Boxes:
        """A scene in which one thing is otherwise."""
        place = _cube(float(self.rng.uniform(0.3, 0.6)), float(self.rng.uniform(-0.35, 0.35)))
        return {**truth, **({name: place} if name in truth else {})}

    def picture(self, truth: Boxes, missed: dict[str, bool]) -> dict[str, Box | None]:
        """An observation of a scene that misses some things."""
        shown: dict[str, Box | None] = {**truth, **{name: None for name, hidden in missed.items() if hidden}}
        return {name: box for name, box in shown.items() if missed.get(name, True) and name in truth}

    def unmet(self) -> list[StateFact]:
        """The conditions of the goal that do not hold."""
        return [("on", *action.arguments) for action in self.plan if not self._on(*action.arguments)]

    def _on(self, upper: str, lower: str) -> bool:
        if not {upper, lower} <= self.truth.keys():
            return False
        apart = np.subtract(self.truth[upper][:3], self.truth[lower][:3])
        return bool(abs(apart[2] - SIDE_M) < 0.005 and np.hypot(*apart[:2]) < ON_M)

    def _with(self, name: str, x: float, y: float, z: float) -> Boxes:
        return _settled({**self.truth, name: (float(x), float(y), float(z), SIDE_M, SIDE_M, SIDE_M)})


def _cube(x: float, y: float) -> Box:
    return x, y, SIDE_M / 2, SIDE_M, SIDE_M, SIDE_M


def _settled(boxes: Boxes) -> Boxes:
    """Let everything down onto what is under it; what would be inside of something slips beside it."""
    placed: Boxes = {}
    for name, (x, y, z, *_) in sorted(boxes.items(), key=lambda pair: pair[1][2]):
        near = [one for one in placed.values() if max(abs(one[0] - x), abs(one[1] - y)) < SIDE_M - 1e-6]
        top = max((one[2] + SIDE_M / 2 for one in near), default=0.0)
        if near and z < top:
            x, top = max(one[0] for one in placed.values()) + 0.06, 0.0
        placed[name] = (x, y, top + SIDE_M / 2, SIDE_M, SIDE_M, SIDE_M)
    return {name: placed[name] for name in boxes}


@dataclass(frozen=True)
class FactTask:
    """A task in a domain of facts.

    Attributes:
        instance: the domain over the objects.
        start: the facts in the beginning.
        goal: conditions that hold in the end.
        plan: leads there.
    """

    instance: Instance
    start: Facts
    goal: tuple[StateFact, ...]
    plan: Plan


@cache
def task_of(name: str) -> FactTask:
    """A task in eval/completion/domains."""
    domain = domain_from_pddl(DOMAINS / f"{name}.pddl", roles={"at": Role.LOCATION})
    instance, state, goal = scene_from_pddl(domain, DOMAINS / f"{name}.pddl", DOMAINS / f"{name}_problem.pddl")
    return FactTask(instance, state, goal, Plan.parse((DOMAINS / f"{name}_plan.txt").read_text(encoding="utf-8")))


@dataclass
class FactWorld(RandomWorld[Facts]):
    """A scene of facts.

    Attributes:
        task: what should be done.
        stated: whether the goal is stated; else it follows from the plan.
    """

    task: FactTask = field(default_factory=lambda: task_of("laboratory"))
    stated: bool = True

    def __post_init__(self) -> None:
        self._instance, self.plan, self.truth = self.task.instance, self.task.plan, self.task.start

    def system(self) -> AnySystem:
        """A system for this world."""
        return symbolic(self._instance, self.task.goal if self.stated else None)

    def things(self) -> list[str]:
        """What can be changed."""
        return sorted({name for _, name in self._properties()})

    def meant(self, action: Action) -> Facts:
        """The scene after an action that works."""
        if not self._instance.applicable(self.truth, action.operator, action.arguments):
            return self.truth
        return self._instance.apply(self.truth, action.operator, action.arguments)

    def misdo(self, action: Action) -> None:
        """What an action does that fails."""
        match self.rng.integers(3):
            case 1:  # the same is done to another thing
                moved, traits = action.arguments[0], self._instance.objects[action.arguments[0]]
                others = [name for name, own in self._instance.objects.items() if own == traits and name != moved]
                other = str(self.rng.choice(others or [moved]))
                self.truth = self.meant(Action(action.operator, (other, *action.arguments[1:])))
            case 2:
                self.change(action.arguments[0])

    def change(self, name: str) -> None:
        """What others do to something."""
        self.truth = self.altered(self.truth, name)

    def mixed(self, truth: Facts, other: Facts, name: str) -> Facts:
        """A scene in which one thing is as in another scene."""
        return frozenset(fact for fact in truth if fact[1] != name) | {fact for fact in other if fact[1] == name}

    def altered(self, truth: Facts, name: str) -> Facts:
        """A scene in which one thing is otherwise."""
        options = [prop for prop in self._properties() if prop[1] == name]
        prop = options[int(self.rng.integers(len(options)))]
        now = by_property(truth, self._instance.domain).get(prop, frozenset())
        if prop[0] in self._instance.domain.variables:
            fresh: StateFact = (prop[0], name)
        else:
            places = [place for place in self._instance.having("place") if ("at", name, place) not in now]
            fresh = ("at", name, str(self.rng.choice(places)))
        return (truth - now) | ({fresh} - now)

    def picture(self, truth: Facts, missed: dict[str, bool]) -> FactScene:
        """An observation of a scene that misses some things."""
        certainty = {(variable, name): 0.0 for variable, name in self._properties() if name in missed}
        domain = self._instance.domain
        return FactScene(frozenset(fact for fact in truth if property_of(fact, domain) not in certainty), certainty)

    def unmet(self) -> list[StateFact]:
        """The conditions of the goal that do not hold."""
        instance = self._instance
        return [fact for fact in self.task.goal if not instance.holds(self.truth, instance.condition(fact))]

    def _properties(self) -> list[tuple[str, str]]:
        domain, instance = self._instance.domain, self._instance
        states = {(each.name, name) for each in domain.variables.values() for name in instance.having(each.trait)}
        return sorted(states | by_property(self.task.start, domain).keys())


@dataclass(frozen=True)
class Ended:
    """How an episode ended.

    Attributes:
        status: of the episode.
        why: code of the reason if it asked for help.
        reason: in words.
        unmet: conditions of the goal that do not hold, and were not given up.
        acts: actions that were done.
        looks: observations after the first.
        wrong: observations that lied or missed something.
    """

    status: str
    why: str
    reason: str
    unmet: list[str]
    acts: int
    looks: int
    wrong: int


def carry_out(
    world: RandomWorld[Any], settings: SessionSettings | None = None, ends: float = 0.0
) -> tuple[Ended, Episode[Any]]:
    """Run an episode; a person says yes or no by chance.

    Args:
        world: where.
        settings: of the session; by default searches have no time limit, so that the outcome is always the same.
        ends: probability that the run is stopped before a request, or that an action fails.
    """
    session: Session[Any] = world.system().session(world.plan, None, settings or SessionSettings(budget_s=None))
    for _ in range(MOST_REQUESTS):
        if ends and world.looks and world.rng.random() < ends:
            session.stop()
        match session.request:
            case Act() if ends and world.rng.random() < ends:
                session.failed("the gripper does not answer")
            case Act(action):
                world.execute(action)
                session.observed(world.observe(), world.looks)
            case Look(names):
                session.observed(world.observe(names), world.looks)
            case Ask():
                session.answered(bool(world.rng.integers(2)))
            case _:
                break
    else:
        raise RuntimeError(f"expected an end within {MOST_REQUESTS} requests, found {session.request}")
    episode = session.episode
    unmet = [" ".join(fact) for fact in world.unmet() if fact not in episode.given_up]
    why = "" if episode.why is None else str(episode.why)
    found = Ended(str(episode.status), why, episode.reason, unmet, world.acts, world.looks - 1, world.wrong)
    return found, episode
