"""The conformance kit accepts the kitchen, and names the rule of kitchens that are broken in one way.

Broken kitchens return what a real one returned, in the same order, with one change.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from nsrecover.core import Action, Observation
from nsrecover.domains.domain import Domain
from nsrecover.domains.household import HOUSEHOLD
from nsrecover.errors import InvalidAction, UnknownObject
from nsrecover.testing import ConformanceReport, Rule, WorldNotConforming, check_world
from sim.kitchen.scenes import sample_kitchen
from sim.kitchen.sounding import microphone_in
from sim.kitchen.world import KitchenWorld

SPEC = sample_kitchen(0, 0)
Change = Callable[["Replayed", Observation], Observation]


@dataclass
class Tape:
    """What the worlds of one check returned."""

    seen: list[list[Observation]] = field(default_factory=list)
    refused: dict[Action, Exception] = field(default_factory=dict)
    report: ConformanceReport | None = None


@pytest.fixture(scope="module")
def tape() -> Tape:
    """A check of the real kitchen, written down."""
    tape = Tape()

    class Recorded(KitchenWorld):
        def __init__(self) -> None:
            self.own: list[Observation] = []
            tape.seen.append(self.own)
            super().__init__(SPEC, microphone=microphone_in(SPEC))

        def observe(self) -> Observation:
            self.own.append(super().observe())
            return self.own[-1]

        def execute(self, action: Action) -> None:
            try:
                super().execute(action)
            except (InvalidAction, UnknownObject) as error:
                tape.refused[action] = error
                raise

    tape.report = check_world(Recorded, domain=HOUSEHOLD)
    return tape


class Replayed:
    """Returns what was recorded, with a change."""

    def __init__(self, tape: Tape, number: int, change: Change) -> None:
        self.tape, self.change = tape, change
        self.rest: Iterator[Observation] = iter(tape.seen[number])
        self.first = tape.seen[number][0]
        self.looked = self.done = 0

    def observe(self) -> Observation:
        self.looked += 1
        return self.change(self, next(self.rest))

    def execute(self, action: Action) -> None:
        if action in self.tape.refused:
            raise self.tape.refused[action]
        self.done += 1

    def save(self) -> None: ...

    def restore(self, saved: None) -> None: ...


def _check(tape: Tape, change: Change, domain: Domain = HOUSEHOLD) -> ConformanceReport:
    numbers = iter(range(len(tape.seen)))
    return check_world(lambda: Replayed(tape, next(numbers), change), domain=domain)


def test_the_kitchen_keeps_every_rule_that_can_be_asked(tape: Tape) -> None:
    assert tape.report is not None
    assert set(tape.report.skipped) == {Rule.ARM_OUT_OF_THE_WAY, Rule.SENSORS_PLAUSIBLE}
    assert tape.report[Rule.AUDIO_COVERS_TIME].times > 5
    assert tape.report[Rule.POSES_FOLLOW].times > 5
    first, second, _ = tape.report.actions
    assert first.startswith("pick_up(")
    assert second.startswith("put_on(")


def test_what_was_recorded_passes_again(tape: Tape) -> None:
    assert _check(tape, lambda world, seen: seen).passed


def _slow_microphone(world: Replayed, seen: Observation) -> Observation:
    """It says 16 kHz, and delivers 8."""
    return replace(seen, audio=seen.audio[::2])


def _another_rate(world: Replayed, seen: Observation) -> Observation:
    return replace(seen, audio_rate_hz=8_000) if world.looked > 1 else seen


def _stands_still(world: Replayed, seen: Observation) -> Observation:
    """The robot drives, and its cameras are where they were at the start, it says."""
    return replace(seen, cameras=world.first.cameras)


def _lags_behind(world: Replayed, seen: Observation) -> Observation:
    """The pose is off by 30 cm once the base has driven, as if odometry were late."""
    if not world.done:
        return seen
    cameras = []
    for camera in seen.cameras:
        pose = camera.world_from_camera.copy()
        pose[:2, 3] += 0.3 * np.array([np.cos(world.looked), np.sin(world.looked)])
        cameras.append(replace(camera, world_from_camera=pose))
    return replace(seen, cameras=tuple(cameras))


def _drifts(world: Replayed, seen: Observation) -> Observation:
    """Cameras move although nothing was done."""
    cameras = []
    for camera in seen.cameras:
        pose = camera.world_from_camera.copy()
        pose[0, 3] += 0.02 * world.looked
        cameras.append(replace(camera, world_from_camera=pose))
    return replace(seen, cameras=tuple(cameras))


@dataclass(frozen=True, eq=False)
class Knowing(Observation):
    """An observation that brings the truth along."""

    states: tuple[str, ...] = ("the pot boils",)


def _knows(world: Replayed, seen: Observation) -> Observation:
    return Knowing(**vars(seen))


def _carries_truth(world: Replayed, seen: Observation) -> Observation:
    told = replace(seen)
    object.__setattr__(told, "temperature_c", 100.0)
    return told


class Labelled(str):
    """A name with more in it than text."""

    __slots__ = ("state",)


def _telling_names(world: Replayed, seen: Observation) -> Observation:
    first = min(seen.labels.values())
    return replace(seen, labels={n: f"dirty {name}" if name == first else name for n, name in seen.labels.items()})


def _rich_names(world: Replayed, seen: Observation) -> Observation:
    return replace(seen, labels={n: Labelled(name) for n, name in seen.labels.items()})


def _names_what_was_picked_up(world: Replayed, seen: Observation) -> Observation:
    if not world.done:
        return seen
    return replace(seen, labels={n: f"hot {name}" for n, name in seen.labels.items()})


def _in_table_coordinates(world: Replayed, seen: Observation) -> Observation:
    """z = 0 is where the worktop is, and not the floor."""
    cameras = []
    for camera in seen.cameras:
        pose = camera.world_from_camera.copy()
        pose[2, 3] -= 0.9
        cameras.append(replace(camera, world_from_camera=pose))
    return replace(seen, cameras=tuple(cameras))


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        (Rule.AUDIO_COVERS_TIME, _slow_microphone),
        (Rule.AUDIO_COVERS_TIME, _another_rate),
        (Rule.POSES_FOLLOW, _stands_still),
        (Rule.POSES_FOLLOW, _lags_behind),
        (Rule.SAME_VIEWS, _drifts),
        (Rule.NOTHING_LEAKS, _knows),
        (Rule.NOTHING_LEAKS, _carries_truth),
        (Rule.NOTHING_LEAKS, _telling_names),
        (Rule.NOTHING_LEAKS, _rich_names),
        (Rule.NOTHING_LEAKS, _names_what_was_picked_up),
        (Rule.TABLE_AT_ZERO, _in_table_coordinates),
    ],
    ids=lambda part: part.value if isinstance(part, Rule) else part.__name__,
)
def test_a_broken_kitchen_is_told_which_rule(rule: Rule, change: Change, tape: Tape) -> None:
    with pytest.raises(WorldNotConforming) as broken:
        _check(tape, change)
    assert broken.value.rule == rule, broken.value


class Lazy(Replayed):
    """Drives, but leaves everything where it was."""

    def observe(self) -> Observation:
        self.looked += 1
        return replace(self.first, time_s=float(self.looked), audio=np.zeros(16_000, np.float32))


def test_a_robot_that_does_nothing_breaks_its_promise(tape: Tape) -> None:
    numbers = iter(range(len(tape.seen)))
    with pytest.raises(WorldNotConforming, match="promise-kept"):
        check_world(lambda: Lazy(tape, next(numbers), lambda world, seen: seen), domain=HOUSEHOLD)


def test_a_users_action_is_checked_first(tape: Tape) -> None:
    def check(action: Action) -> None:
        numbers = iter(range(len(tape.seen)))
        check_world(lambda: Replayed(tape, next(numbers), lambda world, seen: seen), domain=HOUSEHOLD, action=action)

    with pytest.raises(InvalidAction, match="'pick_up'"):
        check(Action("pickup", ("mug",)))
    with pytest.raises(InvalidAction, match="1 argument of pick_up, found 2"):
        check(Action("pick_up", ("mug", "sink")))
    with pytest.raises(UnknownObject, match="object in sight"):
        check(Action("pick_up", ("mugg",)))


def test_a_domain_without_the_operators_that_are_tried_is_refused() -> None:
    with pytest.raises(InvalidAction, match="found no pick_up"):
        check_world(lambda: KitchenWorld(SPEC), domain=replace(HOUSEHOLD, operators={}))
