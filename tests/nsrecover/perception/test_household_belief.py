"""What is believed of a household by its readings: with fingers that feel, doors that close, and states to read."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
import pytest

import nsrecover
from nsrecover import Action, Plan
from nsrecover.core import Camera, ObjectStates, Observation
from nsrecover.core.explanation import Fact
from nsrecover.core.facts import StateFact
from nsrecover.core.sessions.requests import Act, Done, Look, Stopped
from nsrecover.domains.base import State
from nsrecover.domains.household import LASTING, household
from nsrecover.loading import MISASSUMED
from nsrecover.perception.household import HouseholdPerceiver
from nsrecover.perception.states import StateCrops
from nsrecover.session import AnySession

PLACES = ["fridge", "cabinet", "drawer", "microwave"]
HOME = household(
    ["countertop", "dining table", "sink", "faucet", *PLACES, "bowl", "pan"],
    complete=True,
    one_handed=True,
    domain=LASTING,
)
START: State = frozenset({("at", "bowl", "countertop"), ("at", "pan", "countertop")})
CLEAR = 0.93
"""Probability that readings give what is true."""


class Scene:
    """A household of facts, seen by names, places and readings; what is held seems to stand where it should be put."""

    crop_size = 8

    def __init__(self, *less_clear: tuple[StateFact, float]) -> None:
        self.state, self.failing, self.closing, self.clear = START, frozenset[str](), "", CLEAR
        self.done: list[str] = []
        self._in_front, self._moments, self._reads = "", count(1), dict(less_clear)

    def execute(self, action: Action) -> None:
        """Carry out an action, unless it cannot be done or fails; a person may close a door afterwards."""
        self.done.append(action.operator)
        self._in_front = action.arguments[-1]
        fails = self.done.count(action.operator) == 1 and action.operator in self.failing
        if not fails and HOME.applicable(self.state, action.operator, action.arguments):
            self.state = HOME.apply(self.state, action.operator, action.arguments)
        if action.operator == "pick_up" and self.closing:
            self.state, self.closing = self.state - {("open", self.closing)}, ""

    def observe(self) -> Observation:
        """What the robot sees from another place every time, and feels."""
        seen = [name for name in HOME.objects if not HOME.holds(self.state, HOME.condition(("shut_in", name)))]
        moment, masks, pose = next(self._moments), np.zeros((1, 40, 40), np.int32), np.eye(4, dtype=np.float32)
        masks[0, 0, : len(seen)] = range(1, len(seen) + 1)
        pose[0, 3] = 0.5 * moment
        camera = Camera(np.array([[50.0, 0, 20], [0, 50.0, 20], [0, 0, 1]], np.float32), pose)
        images = np.zeros((1, 40, 40, 3), np.uint8), np.ones((1, 40, 40), np.float32)
        labels, holds = dict(enumerate(seen, start=1)), any(fact[0] == "holding" for fact in self.state)
        return Observation(*images, masks, (camera,), labels, holding=holds, time_s=float(moment))

    def step(self, *_: Any) -> dict[str, StateFact]:
        """The relations, as `SupportRelations.step` gives them."""
        return {
            fact[1]: fact if fact[0] == "at" else ("at", fact[1], self._in_front)
            for fact in self.state
            if fact[0] in ("at", "holding") and not HOME.holds(self.state, HOME.condition(("shut_in", fact[1])))
        }

    def absent(self, *_: Any) -> frozenset[str]:
        """Nothing is seen to be gone."""
        return frozenset()

    def weighed(self, crops: StateCrops) -> dict[str, ObjectStates]:
        """Readings, as a reader of states gives them."""
        read: Mapping[str, str] = dict.fromkeys(PLACES, "open") | {"bowl": "dirty", "pan": "dirty"}
        return {name: {read[name]: self._chances(read[name], name)} for name in crops.names if name in read}

    def _chances(self, variable: str, name: str) -> dict[str, float]:
        true = self._reads.get((variable, name), self.clear if (variable, name) in self.state else 1.0 - self.clear)
        normal, other = HOME.domain.variables[variable].values
        return {normal: 1.0 - true, other: true}


def run(scene: Scene, plan: str, *goal: StateFact) -> AnySession:
    """Carry out a plan; the session at its end."""
    system = nsrecover.symbolic(HOME, goal, assumed=START, visits=True)
    perceiver = HouseholdPerceiver(HOME, scene)  # type: ignore[arg-type]
    perceiver._support = scene  # type: ignore[assignment]
    system = replace(system, model=replace(system.model, misassumed=MISASSUMED))
    session = system.session(Plan.parse(plan), scene.observe(), perceiver=perceiver)
    while not session.request.final:
        if isinstance(session.request, Act):
            scene.execute(session.request.action)
        else:
            assert isinstance(session.request, Look)
        session.observed(scene.observe())
    return session


def deviations(session: AnySession) -> Iterator[str]:
    """The objects that deviated."""
    for record in session.records:
        yield from record.discrepancy.deviating


def texts(session: AnySession) -> str:
    """What was said."""
    return " ".join(each.explanation.text for each in session.records if each.explanation is not None)


def put_away(scene: Scene, place: str) -> AnySession:
    """Put the bowl somewhere, behind its door if it has one."""
    if place not in PLACES:
        return run(scene, f"pick_up(bowl); put_on(bowl, {place})", ("at", "bowl", place))
    plan = f"open_obj({place}); pick_up(bowl); put_in(bowl, {place}); close_obj({place})"
    return run(scene, plan, ("at", "bowl", place), ("closed", place))


@pytest.mark.parametrize("place", PLACES)
def test_what_is_put_in_front_of_a_door_that_somebody_has_closed_is_not_behind_it(place: str) -> None:
    scene = Scene()
    scene.closing = place
    session = put_away(scene, place)
    assert ("at", "bowl", place) in scene.state
    assert isinstance(session.request, Done)
    assert place in texts(session)


@pytest.mark.parametrize("place", [*PLACES, "dining table"])
def test_what_the_fingers_still_feel_was_not_put_down(place: str) -> None:
    scene = Scene()
    scene.failing = frozenset({"put_in", "put_on"})
    session = put_away(scene, place)
    assert sum(each.startswith("put_") for each in scene.done) == 2
    assert ("at", "bowl", place) in scene.state
    assert isinstance(session.request, Done)
    assert set(deviations(session)) == {"bowl"}


def test_what_was_assumed_and_reads_otherwise_every_time_is_believed_in_the_end() -> None:
    scene = Scene((("dirty", "pan"), 0.8))
    scene.state |= {("dirty", "pan")}
    session = run(scene, "pick_up(pan); put_on(pan, dining table)", ("at", "pan", "dining table"), ("clean", "pan"))
    assert "pan" in deviations(session)
    assert not isinstance(session.request, Done)


def test_what_is_never_read_was_not_seen_whatever_was_assumed() -> None:
    scene = Scene((("dirty", "pan"), 0.5))
    session = run(scene, "pick_up(pan); put_on(pan, dining table)", ("at", "pan", "dining table"), ("clean", "pan"))
    assert isinstance(session.request, Stopped)
    assert "pan" in session.request.reason


def test_a_door_that_nobody_could_see_closing_is_the_reason_why_nothing_was_put_behind_it() -> None:
    scene = Scene()
    scene.closing, scene.clear = "fridge", 0.6
    session = run(scene, "open_obj(fridge); pick_up(bowl); put_in(bowl, fridge)", ("at", "bowl", "fridge"))
    first = next(record.discrepancy for record in session.records if record.discrepancy.deviates)
    assert first.unmet == (Fact("open", ("fridge",)),)
    assert isinstance(session.request, Done) == (("at", "bowl", "fridge") in scene.state)
