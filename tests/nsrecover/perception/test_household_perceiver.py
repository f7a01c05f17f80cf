"""Scenes of facts from observations: what is expected, pieces of food, the gripper, readings and sounds."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nsrecover.core import PLACE, Camera, FactScene, ObjectStates, Observation
from nsrecover.domains.base import State
from nsrecover.domains.household import LASTING, household
from nsrecover.domains.household.names import operated_by
from nsrecover.perception.household import HouseholdPerceiver, Sign
from nsrecover.perception.sounds import UNKNOWN_SOUND, Hearing, SoundHeard
from nsrecover.perception.states import Alike, StateCrops, state_masks, worth

HOME = household(
    ["countertop", "sink", "faucet", "fridge", "bread", "toaster", "mug", "plate"],
    complete=True,
    one_handed=True,
    domain=LASTING,
)
CAMERA = Camera(np.array([[50.0, 0, 20], [0, 50.0, 20], [0, 0, 1]], np.float32), np.eye(4, dtype=np.float32))
START: State = frozenset({("at", "mug", "countertop"), ("at", "plate", "countertop"), ("at", "bread", "countertop")})
TAKEN = START - {("at", "mug", "countertop")} | {("holding", "mug")}
RUNS = Sign("running_water", "running", "faucet", 0.95, 0.01)


def seen(*names: str, grips: bool = False, x_m: float = 0.0) -> Observation:
    """An observation in which only names and gripper matter."""
    masks = np.zeros((1, 40, 40), np.int32)
    masks[0, 0, : len(names)] = range(1, len(names) + 1)
    images = np.zeros((1, 40, 40, 3), np.uint8), np.ones((1, 40, 40), np.float32)
    labels = dict(enumerate(names, start=1))
    place = np.eye(4, dtype=np.float32)
    place[0, 3] = x_m
    camera = Camera(CAMERA.intrinsics, place)
    return Observation(*images, masks, (camera,), labels, gripper_opening_m=0.03 if grips else 0.08, holding=grips)


class Relations:
    """Relations as they are given."""

    def __init__(self, *facts: tuple[str, ...]) -> None:
        self._facts = facts

    def step(self, *_: Any) -> dict[str, tuple[str, ...]]:
        return {fact[1]: fact for fact in self._facts if fact[0] != "absent"}

    def absent(self, _: Observation, expected: Mapping[str, str]) -> frozenset[str]:
        return frozenset(name for name in expected if ("absent", name) in self._facts)


class Reader:
    """Readings as they are given."""

    crop_size = 8

    def __init__(self, found: Mapping[str, ObjectStates]) -> None:
        self._found = found

    def weighed(self, crops: StateCrops) -> dict[str, ObjectStates]:
        return {name: states for name, states in self._found.items() if name in crops.names}


def watching(relations: Relations, *parts: Any) -> HouseholdPerceiver:
    perceiver = HouseholdPerceiver(HOME, *parts)
    perceiver._support = relations  # type: ignore[assignment]
    return perceiver


def scene(
    observation: Observation,
    relations: Relations,
    expected: State = START,
    before: State = START,
    reader: Reader | None = None,
    heard: Hearing | None = None,
) -> FactScene:
    ears = None if heard is None else SimpleNamespace(step=lambda _: heard)
    perceiver = watching(relations, reader, ears, (RUNS,))
    perceiver.expect(before, expected)
    return perceiver(observation)


ON_COUNTERTOP, IN_FRIDGE, HELD = ("at", "mug", "countertop"), ("at", "mug", "fridge"), ("holding", "mug")
PUT_ON, PUT_IN = (TAKEN - {HELD} | {place} for place in (ON_COUNTERTOP, IN_FRIDGE))


@pytest.mark.parametrize(
    ("observation", "relations", "expected", "before", "facts"),
    [
        # what the gripper hides is held if that is expected, unless it is seen where it was
        (seen(grips=True), (), TAKEN, START, {HELD}),
        (seen("mug", grips=True), (ON_COUNTERTOP,), TAKEN, START, {ON_COUNTERTOP}),
        # or something else is held: then nobody knows
        (seen("plate", grips=True), (("holding", "plate"),), TAKEN, START, None),
        # with an empty gripper what was held is lost, and what the fingers have missed is where it was
        (seen(), (), TAKEN, TAKEN, set()),
        (seen(), (), TAKEN, START, {ON_COUNTERTOP}),
        # fingers that feel something hold what they have taken, wherever it seems to be
        (seen(grips=True), (), PUT_ON, TAKEN, {HELD}),
        (seen(grips=True), (), PUT_IN, TAKEN, {HELD}),
        (seen("mug", grips=True), (ON_COUNTERTOP,), PUT_ON, TAKEN, {HELD}),
        (seen("mug", grips=True), (IN_FRIDGE,), PUT_IN, TAKEN, {HELD}),
        (seen("mug"), (ON_COUNTERTOP,), PUT_ON, TAKEN, {ON_COUNTERTOP}),
        (seen("mug"), (IN_FRIDGE,), PUT_IN | {("open", "fridge")}, TAKEN, {IN_FRIDGE}),
    ],
)
def test_fingers_and_eyes_together_tell_where_a_thing_is(
    observation: Observation, relations: State, expected: State, before: State, facts: State | None
) -> None:
    found = scene(observation, Relations(*relations), expected, before)
    assert {fact for fact in found.facts if fact[1] == "mug"} == (facts or set())
    assert found.knows((PLACE, "mug")) is (facts is not None)


def test_the_fingers_hold_what_they_have_felt_all_the_time_whatever_is_believed() -> None:
    perceiver = watching(Relations(ON_COUNTERTOP))
    perceiver.expect(TAKEN, START)
    perceiver(seen("mug", grips=True))
    perceiver.expect(START, START)
    assert ("holding", "mug") in perceiver(seen("mug", grips=True)).facts
    assert ("at", "mug", "countertop") in perceiver(seen("mug")).facts


@pytest.mark.parametrize("held", [False, True])
def test_in_the_hand_nothing_tells_how_a_thing_stands(held: bool) -> None:
    reader = Reader({"mug": {"toppled": {"upright": 0.03, "toppled": 0.97}}})
    found = scene(seen("mug", grips=held), Relations(HELD if held else ON_COUNTERTOP), reader=reader)
    assert (("toppled", "mug") in found.facts) is not held
    assert found.knows(("toppled", "mug")) is not held


def test_what_is_seen_is_not_behind_a_closed_door() -> None:
    relations, inside = Relations(("at", "mug", "fridge")), {("at", "mug", "fridge")}
    for closed, known in ((0.9, False), (0.1, True)):
        reader = Reader({"fridge": {"open": {"closed": closed, "open": 1 - closed}}})
        found = scene(seen("mug", "fridge"), relations, START, reader=reader)
        assert (inside <= found.facts, found.knows((PLACE, "mug"))) == (known, known)


def test_pieces_are_where_one_is_seen_or_believed() -> None:
    sliced = START - {("at", "bread", "countertop")} | {("sliced", "bread slice"), ("at", "bread slice", "countertop")}
    found = scene(seen("first bread slice"), Relations(("at", "first bread slice", "countertop")), sliced)
    assert {("sliced", "bread slice"), ("at", "bread slice", "countertop")} <= found.facts
    assert found.knows((PLACE, "bread"))  # it is in pieces
    put = sliced | {("at", "bread slice", "toaster")}
    hidden = scene(seen("first bread slice"), Relations(("at", "first bread slice", "countertop")), put, sliced)
    assert not hidden.knows((PLACE, "bread slice"))
    shown = scene(seen("second bread slice"), Relations(("at", "second bread slice", "toaster")), put, sliced)
    assert {("at", "bread slice", "countertop"), ("at", "bread slice", "toaster")} <= shown.facts


def test_food_that_is_seen_whole_is_not_sliced() -> None:
    found = scene(seen("bread"), Relations(("at", "bread", "countertop")))
    assert found.knows(("sliced", "bread slice"))
    assert ("sliced", "bread slice") not in found.facts


def test_a_reading_is_as_certain_as_it_is_whatever_is_expected() -> None:
    reader = Reader({"fridge": {"open": {"closed": 0.2, "open": 0.8}}})
    for expected in (START, START | {("open", "fridge")}):
        found = scene(seen("fridge"), Relations(), expected, reader=reader)
        assert ("open", "fridge") in found.facts
        assert found.certainty["open", "fridge"] == pytest.approx(0.8)


@pytest.mark.parametrize("inside", [True, False])
def test_what_lies_in_a_vessel_is_not_read_as_its_contents(inside: bool) -> None:
    reader = Reader({"mug": {"filled": {"empty": 0.1, "milk": 0.9}}})
    relations = Relations(("at", "bread", "mug" if inside else "countertop"), ("at", "mug", "countertop"))
    found = scene(seen("mug", "bread"), relations, reader=reader)
    assert (("filled", "mug", "milk") in found.facts) != inside
    assert found.knows(("filled", "mug")) != inside


def test_readings_of_one_value_count_for_less_the_nearer_their_places_are() -> None:
    reader = Reader({"fridge": {"open": {"closed": 0.1, "open": 0.9}}})
    perceiver = watching(Relations(), reader)

    def sure(x_m: float) -> float:
        return perceiver(seen("fridge", x_m=x_m)).certainty["open", "fridge"]

    first, same, other = sure(0.0), sure(0.0), sure(1.5)
    assert first == pytest.approx(0.9)
    assert 0.5 < same < other < first
    reader._found = {"fridge": {"open": {"closed": 0.9, "open": 0.1}}}
    assert sure(0.0) == pytest.approx(0.9), "it has changed"
    reader._found = {"fridge": {"open": {"closed": 0.1, "open": 0.9}}}
    perceiver.expect(START, START | {("cracked", "egg")})
    again, opened = perceiver(seen("fridge", x_m=1.5)), ("open", "fridge")
    assert again.certainty[opened] < other, "an action that leaves it as it was makes no reading new"
    assert again.since_action[opened] == pytest.approx(0.9), "but it may have changed since"
    perceiver.expect(START, START | {("open", "fridge")})
    assert sure(0.0) == pytest.approx(0.9), "an action may have changed it"


def test_many_readings_from_one_place_are_worth_less_than_two_from_elsewhere() -> None:
    place = np.zeros(3, np.float32)
    apart = [place, place + np.float32(2.0)]
    assert worth([place], Alike()) == 1.0
    assert worth([place] * 100, Alike()) < worth(apart, Alike())
    stubborn = Alike(0.8, 0.8)  # what is misread from everywhere
    assert worth(apart, stubborn) == pytest.approx(worth([place] * 2, stubborn))


@pytest.mark.parametrize(
    ("heard", "runs"),
    [
        (Hearing((SoundHeard("running_water", 0.9, 2.0, 5.0),), True, 0.0, 5.0), True),
        (Hearing((), True, 0.0, 5.0), False),
        (Hearing((SoundHeard(UNKNOWN_SOUND, 0.0, 3.0, 5.0),), True, 0.0, 5.0), None),  # it may drown the other one
        (Hearing((), False, 5.0, 5.0), None),  # there is no microphone
        (Hearing((), True, 4.9, 5.0), None),  # the recording is short
    ],
)
def test_a_sound_at_the_end_says_what_runs(heard: Hearing, runs: bool | None) -> None:
    found = scene(seen(), Relations(), START | {("running", "faucet")}, heard=heard)
    assert found.knows(("running", "faucet")) is (runs is not None)
    assert runs is None or (("running", "faucet") in found.facts) is runs


def test_what_shatters_is_what_lies_on_the_floor_and_not_what_stands_in_its_place() -> None:
    ring = SoundHeard(UNKNOWN_SOUND, 0.0, 3.0, 4.0)
    shatters = Hearing((ring,), True, 0.0, 5.0, (SoundHeard("shatter", 0.3, 3.0, 4.0),))
    relations = Relations(("at", "mug", "floor"), ("at", "plate", "countertop"))
    found = scene(seen("plate"), relations, heard=shatters)
    assert ("broken", "mug") in found.facts
    assert found.knows(("broken", "mug"))
    assert ("broken", "plate") not in found.facts
    quiet = scene(seen("plate"), relations, heard=Hearing((ring,), True, 0.0, 5.0))
    assert not quiet.knows(("broken", "mug"))
    nothing_lost = scene(seen("plate"), Relations(("at", "plate", "countertop")), heard=shatters)
    assert nothing_lost.certainty["broken", "mug"] < found.certainty["broken", "mug"]  # it is a hint alone


def test_a_burner_shows_by_its_knob_whether_it_runs() -> None:
    observation = seen("third stove burner", "third stove knob", "stove knob", "mug")
    masks = state_masks(observation, {"third stove burner", "mug"})
    assert masks == {"third stove burner": (2,), "mug": (4,)}
    hidden = seen("third stove knob", "mug")
    assert state_masks(hidden, {"third stove burner", "third stove knob", "mug"}) == {
        "third stove burner": (1,),
        "mug": (2,),
    }
    assert operated_by("stove knob") == "stove burner"
    assert operated_by("mug") is None


def test_an_expected_place_that_is_in_view_and_empty_is_known() -> None:
    gone = scene(seen("countertop"), Relations(("absent", "mug")))
    assert gone.knows((PLACE, "mug"))
    assert not any(fact[1] == "mug" for fact in gone.facts)
    assert not gone.knows((PLACE, "plate"))
    grips = scene(seen("countertop", grips=True), Relations(("absent", "mug")))
    assert not grips.knows((PLACE, "mug")), "it may be what the gripper unexpectedly holds"


def test_what_a_door_should_hide_is_not_gone() -> None:
    stored = START - {("at", "mug", "countertop")} | {("at", "mug", "fridge")}
    absent = Relations(("absent", "mug"))
    assert not scene(seen("fridge"), absent, stored).knows((PLACE, "mug"))
    assert scene(seen("fridge"), absent, stored | {("open", "fridge")}).knows((PLACE, "mug"))
