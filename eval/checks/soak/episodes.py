"""The four kinds of episodes of a soak test: facts of a household, commands in a home, a tabletop, a kitchen."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from eval.checks.soak.disturbed import TIMED, Disturbance, DisturbedLookingWorld, DisturbedWorld, Rng, drawn
from eval.common.fault_free import run_without_faults
from eval.common.systems import system_of
from eval.household.fact_world import FactWorld
from eval.household.planners import PLANNERS
from eval.instructions.generator import Generator
from eval.kitchen.course import system_for
from eval.kitchen.robot import KitchenRobot
from nsrecover.agent import RecoveryAgent
from nsrecover.core import EpisodeStatus, Plan, RecoveryStatus, StepRecord
from nsrecover.domains.service.home import Home
from nsrecover.errors import InvalidObservation, UnknownObject
from nsrecover.instructions.agent import OutcomeStatus, ServiceAgent
from nsrecover.instructions.understanding import Understanding
from nsrecover.loading import symbolic
from nsrecover.testing.simulated_home import Failures, drawn_home, drawn_world
from sim.common.cameras import DEFAULT_RIG
from sim.datasets.household import HouseholdEpisode
from sim.datasets.shipped import shipped_lines
from sim.datasets.spec import ErrorEpisode
from sim.sensors.events import CameraEvent, EventKind
from sim.sensors.presets import presets, sensor
from sim.sensors.world import SensedWorld
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.world import TabletopWorld

ANSWERS = (
    "", "", "yes", "no", "I do not know", "no, I meant the {place}", "the {place}", "the {thing}", "a {thing}, please",
    "no, the {thing} instead", "what?", "forget it", "yes and no", "\u00e4h \u2026", "stop", "{place} {place} {place}",
    "x" * 300, "the other one", "wrong", "not the {place}, the {place}", "bring me the {thing} from the {place}",
)  # fmt: skip
"""Answers to questions, and to whether it was what the person wanted."""

TRIMMED = 0.15
MISSPELT = 0.3
JOINED = 0.15
"""How often a command is cut off, is misspelt, or is followed by another one that may contradict it."""


class ErringPerson:
    """A person who answers at random.

    Args:
        home: where the person is.
        rng: decides.
    """

    def __init__(self, home: Home, rng: np.random.Generator) -> None:
        self._generator, self._rng = Generator(home, int(rng.integers(1_000_000))), rng

    def command(self) -> str:
        """A command, with errors in some."""
        text = self._generator.command().text
        if self._rng.random() < JOINED:
            joint = str(self._rng.choice([" and then ", ", no wait, ", " but first ", ". "]))
            text = f"{text}{joint}{self._generator.command().text}"
        if self._rng.random() < TRIMMED:
            text = text[: int(self._rng.integers(len(text)))]
        if self._rng.random() < MISSPELT:
            text = self._misspelt(text)
        return text

    def tell(self, text: str) -> None:
        """Hear what the robot says."""

    def ask(self, question: str) -> str:
        """Any answer."""
        answer = str(self._rng.choice(ANSWERS))
        return answer.format(place=self._one_of(self._generator.spots), thing=self._one_of(self._generator.nouns))

    def _one_of(self, names: list[str]) -> str:
        return names[int(self._rng.integers(len(names)))]

    def _misspelt(self, text: str) -> str:
        """With one to three characters doubled, left out, exchanged or replaced."""
        letters = list(text)
        for _ in range(int(self._rng.integers(1, 4))):
            if len(letters) < 2:
                break
            at = int(self._rng.integers(len(letters) - 1))
            match int(self._rng.integers(4)):
                case 0:
                    letters.insert(at, letters[at])
                case 1:
                    del letters[at]
                case 2:
                    letters[at], letters[at + 1] = letters[at + 1], letters[at]
                case _:
                    letters[at] = chr(int(self._rng.integers(97, 123)))
        return "".join(letters)


REACHED, IMPOSSIBLE, ASKED = "reached", "impossible", "asked_for_help"
ENDS = (REACHED, IMPOSSIBLE, ASKED)
"""How an episode may end."""

FACT_DATASETS, TABLE_DATASETS = ("H1", "H2", "H3"), ("I", "II", "IV", "V")
"""Shipped error datasets whose errors strike as well as the disturbances."""

WITH_ARM = 0.3
"""Share of the episodes on a table in which the arm is simulated although no error needs it."""


@dataclass(frozen=True)
class Ending:
    """How an episode ended.

    Attributes:
        ended: one of `ENDS`, as the agent says.
        reason: why the goal is not reached; empty if it is.
        disturbances: what struck.
        true: whether the goal is truly reached; None where that is not known.
        refused_at_start: whether the first observations could not be used, so that nothing was begun.
    """

    ended: str
    reason: str
    disturbances: tuple[str, ...]
    true: bool | None = None
    refused_at_start: bool = False


def facts(rng: Rng, seed: int) -> Ending:
    """A plan in a household of facts, some of them hidden or misperceived."""
    episode = HouseholdEpisode.from_json(_shipped(rng, FACT_DATASETS))
    hidden, wrong = (float(rng.choice([0.0, 0.0, 0.1, 0.3])) for _ in range(2))
    world = FactWorld(episode, hidden, wrong, seed)
    system = symbolic(world.home, world.goal, assumed=world.expected_start)
    return _run(
        world, system, episode.robots_plan, rng, lambda: world.disturb(rng), world.reached, limit_s=0.5,
        own={Disturbance.HIDDEN: hidden > 0, Disturbance.WRONG: wrong > 0},
    )  # fmt: skip


def tabletop(rng: Rng, seed: int) -> Ending:
    """A plan on a table with physics, seen through a sensor whose cameras fail."""
    episode = ErrorEpisode.from_json(_shipped(rng, TABLE_DATASETS))
    scene, plan, faults = episode.scene, episode.plan, episode.faults
    with_arm = rng.random() < WITH_ARM or any(fault.needs_arm for fault in faults)
    fidelity = Fidelity.PHYSICS if with_arm else Fidelity.KINEMATIC
    fault_free = run_without_faults(scene, plan, episode.seed, fidelity)
    rig = replace(DEFAULT_RIG, light=episode.light)
    events = [_event(rng) for _ in range(int(rng.integers(3)))]
    seen_by = sensor(str(rng.choice(presets())), events)
    with TabletopWorld(scene, faults, rig, plan, episode.seed, fidelity=fidelity) as world:

        def change() -> None:
            name = str(rng.choice(scene.names))
            place = rng.uniform((0.40, -0.25), (0.65, 0.25))
            world.external_agent.carry(name, (*place.tolist(), scene[name].size[2] / 2))

        return _run(
            SensedWorld(world, seen_by.stream(len(rig.views), seed)), system_of(None), plan, rng, change,
            lambda: not fault_free.wrong_at_the_end(world.truth()), limit_s=20.0, timed=True,
            own={Disturbance.CAMERA: bool(events)},
        )  # fmt: skip


def kitchen(rng: Rng, seed: int) -> Ending:
    """A plan in a kitchen with physics, seen and heard, with a microphone that may be dead."""
    episode = HouseholdEpisode.from_json(_shipped(rng, FACT_DATASETS))
    with KitchenRobot(episode.spec, episode.faults) as robot:
        system = system_for(PLANNERS["ours"], robot, None)
        return _run(
            robot, system, episode.robots_plan, rng, lambda: None, robot.reached, limit_s=60.0, timed=True,
            wrapper=DisturbedLookingWorld,
        )  # fmt: skip


def home(rng: Rng, seed: int) -> Ending:
    """A command of a person who errs, in a home with people who do not know or say something false."""
    place = drawn_home(int(rng.integers(1, 1_000_000)))
    blocked, grasp, recognition, door, silence = (float(rng.choice([0.0, 0.1, 0.3])) for _ in range(5))
    failures = Failures(blocked, grasp, recognition, door, silence)
    world = drawn_world(place, seed, failures, false=0.3)
    person = ErringPerson(place, rng)

    def change() -> None:
        names = sorted(world.objects)
        if names:
            world.objects[str(rng.choice(names))] = str(rng.choice(place.furniture))
        who = str(rng.choice(sorted(world.people)))
        world.people[who].place = str(rng.choice(place.rooms))

    rates = drawn(rng, [each for each in Disturbance if each not in TIMED])
    disturbed, lost = DisturbedWorld(world, rates, rng, change), list[bool]()
    with closing(disturbed):
        agent = ServiceAgent(
            Understanding(place), disturbed, person, bool(rng.random() < 0.5),
            lambda found, record: _note(record, disturbed, lost),
            action_limit_s=0.5 if Disturbance.HANGS in rates else None,
        )  # fmt: skip
        outcome = agent.run(person.command())
    done = outcome.status is OutcomeStatus.DONE
    ended = REACHED if done else IMPOSSIBLE if lost and lost[-1] else ASKED
    return Ending(ended, "" if done else outcome.text, _names(disturbed))


KINDS: dict[str, Callable[[Rng, int], Ending]] = {
    "facts": facts, "home": home, "tabletop": tabletop, "kitchen": kitchen,
}  # fmt: skip
"""Every kind of episode by its name."""


def kind_of(number: int) -> str:
    """Of a hundred episodes 50 are of facts, 40 in homes, 9 on tables and one in a kitchen, mixed."""
    if number % 100 == 49:
        return "kitchen"
    return "tabletop" if number % 10 == 9 else "facts" if number % 10 < 5 else "home"


def run_episode(number: int, seed: int) -> Ending:
    """An episode, which depends on the arguments only, but for limits of time."""
    rng = np.random.default_rng([seed, number, 41])
    return KINDS[kind_of(number)](rng, int(rng.integers(2**31)))


def _run(
    world: Any,
    system: Any,
    plan: Plan,
    rng: Rng,
    change: Callable[[], None],
    reached: Callable[[], bool],
    limit_s: float,
    timed: bool = False,
    wrapper: type[DisturbedWorld] = DisturbedWorld,
    own: Mapping[Disturbance, bool] = {},
) -> Ending:
    """Let the agent carry out a plan in a world with disturbances."""
    rates = drawn(rng, [each for each in Disturbance if timed or each not in TIMED])
    disturbed, lost, agreed = wrapper(world, rates, rng, change), list[bool](), list[bool]()
    disturbed.struck |= {which for which, present in own.items() if present}

    def confirm(question: str) -> bool:
        agreed.append(bool(rng.random() < 0.5))
        return agreed[-1]

    agent = RecoveryAgent(
        system,
        disturbed,
        confirm=confirm,
        action_limit_s=limit_s if Disturbance.HANGS in rates else None,
    )
    try:
        with closing(disturbed):
            episode = agent.run(plan, lambda record: _note(record, disturbed, lost))
    except (InvalidObservation, UnknownObject) as problem:  # as `RecoveryAgent.run` says
        return Ending(ASKED, str(problem), _names(disturbed), refused_at_start=True)
    true = reached()
    if episode.status is EpisodeStatus.COMPLETED and any(agreed):
        return Ending(IMPOSSIBLE, "the person agreed to do without what is lost", _names(disturbed), true)
    if episode.status is EpisodeStatus.COMPLETED:
        return Ending(REACHED, "", _names(disturbed), true)
    return Ending(IMPOSSIBLE if lost and lost[-1] else ASKED, episode.reason, _names(disturbed), true)


def _note(record: StepRecord, disturbed: DisturbedWorld, lost: list[bool]) -> None:
    """Note whether a search has found that there is no way; the world may change meanwhile."""
    if record.recovery is not None:
        lost.append(record.recovery.status is RecoveryStatus.IMPOSSIBLE)
        disturbed.planned()


def _names(disturbed: DisturbedWorld) -> tuple[str, ...]:
    return tuple(sorted(each.name for each in disturbed.struck))


def _event(rng: Rng) -> CameraEvent:
    kind = EventKind(str(rng.choice(list(EventKind))))
    size = {EventKind.BUMPED: 0.03, EventKind.RESCALED: 1.1, EventKind.PASSING: 0.05}.get(kind, 0.0)
    start = int(rng.integers(0, 8))
    end = None if rng.random() < 0.3 else start + int(rng.integers(1, 6))
    return CameraEvent(kind, start, end, int(rng.integers(len(DEFAULT_RIG.views))), size)


def _shipped(rng: Rng, datasets: Sequence[str]) -> str:
    """A random episode of one of some datasets."""
    lines = _lines(str(rng.choice(datasets)))
    return lines[int(rng.integers(len(lines)))]


@cache
def _lines(dataset: str) -> list[str]:
    return list(itertools.islice(shipped_lines(dataset, 0, 2000), 2000))
