"""Scenes of facts from observations: what is expected, pieces of food, the gripper, readings and sounds."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from nsrecover.core import PLACE, Camera, FactScene, ObjectStates, Observation
from nsrecover.domains.base import State
from nsrecover.domains.household import LASTING, household
from nsrecover.domains.household.names import operated_by
from nsrecover.perception.household import HouseholdPerceiver, Sign
from nsrecover.perception.sounds import UNKNOWN_SOUND, Hearing, SoundHeard
from nsrecover.perception.states import StateCrops, state_masks

HOME = household(
    ["countertop", "sink", "faucet", "fridge", "bread", "toaster", "mug", "plate"],
    complete=True,
    one_handed=True,
    domain=LASTING,
)
CAMERA = Camera(np.array([[50.0, 0, 20], [0, 50.0, 20], [0, 0, 1]], np.float32), np.eye(4, dtype=np.float32))
START: State = frozenset({("at", "mug", "countertop"), ("at", "plate", "countertop"), ("at", "bread", "countertop")})


def seen(*names: str, grips: bool = False) -> Observation:
    """An observation in which only names and gripper matter."""
    masks = np.zeros((1, 40, 40), np.int32)
    masks[0, 0, : len(names)] = range(1, len(names) + 1)
    images = np.zeros((1, 40, 40, 3), np.uint8), np.ones((1, 40, 40), np.float32)
    labels = dict(enumerate(names, start=1))
    return Observation(*images, masks, (CAMERA,), labels, gripper_opening_m=0.03 if grips else 0.08, holding=grips)


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

    def read(self, crops: StateCrops) -> dict[str, ObjectStates]:
        return {name: states for name, states in self._found.items() if name in crops.names}

    weighed = read


class Ears:
    """Hearing as it is given."""

    def __init__(self, hearing: Hearing) -> None:
        self._hearing = hearing

    def step(self, _: Observation) -> Hearing:
        return self._hearing


def scene(
    observation: Observation,
    relations: Relations,
    expected: State = START,
    before: State = START,
    reader: Reader | None = None,
    ears: Any = None,
    signs: tuple[Sign, ...] = (),
) -> FactScene:
    perceiver = HouseholdPerceiver(HOME, reader, ears, signs)
    perceiver._support = relations  # type: ignore[assignment]
    perceiver.expect(before, expected)
    return perceiver(observation)


def test_what_the_gripper_hides_is_held_if_that_is_expected() -> None:
    taken = START - {("at", "mug", "countertop")} | {("holding", "mug")}
    found = scene(seen(grips=True), Relations(), taken)
    assert ("holding", "mug") in found.facts
    assert found.knows((PLACE, "mug"))


def test_it_is_not_held_if_it_is_seen_where_it_was_or_something_else_is_held() -> None:
    taken = START - {("at", "mug", "countertop")} | {("holding", "mug")}
    still = scene(seen("mug", grips=True), Relations(("at", "mug", "countertop")), taken)
    assert ("holding", "mug") not in still.facts
    other = scene(seen("plate", grips=True), Relations(("holding", "plate")), taken)
    assert ("holding", "mug") not in other.facts
    assert not other.knows((PLACE, "mug"))


def test_with_an_empty_gripper_what_was_held_is_known_to_be_lost() -> None:
    taken = START - {("at", "mug", "countertop")} | {("holding", "mug")}
    found = scene(seen(), Relations(), taken, taken)
    assert found.knows((PLACE, "mug"))
    assert not any(fact[1] == "mug" for fact in found.facts)


def test_what_should_have_been_put_down_is_still_held_if_the_gripper_holds_something() -> None:
    taken = START - {("at", "mug", "countertop")} | {("holding", "mug")}
    assert ("holding", "mug") in scene(seen(grips=True), Relations(), START, taken).facts
    put = scene(seen("mug", grips=True), Relations(("at", "mug", "countertop")), START, taken)
    assert ("holding", "mug") not in put.facts


def test_what_the_fingers_have_missed_and_nothing_shows_is_where_it_was() -> None:
    taken = START - {("at", "mug", "countertop")} | {("holding", "mug")}
    found = scene(seen(), Relations(), taken)
    assert found.knows((PLACE, "mug"))
    assert ("at", "mug", "countertop") in found.facts


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


def test_a_change_that_no_action_was_to_make_needs_a_surer_reading() -> None:
    doubtful, sure = (Reader({"fridge": {"open": {"closed": 1 - p, "open": p}}}) for p in (0.9, 0.999))
    assert (
        not scene(seen("fridge"), Relations(), reader=doubtful).knows(("open", "fridge"))
        or (
            "open",
            "fridge",
        )
        not in scene(seen("fridge"), Relations(), reader=doubtful).facts
    )
    assert ("open", "fridge") in scene(seen("fridge"), Relations(), reader=sure).facts
    acted = scene(seen("fridge"), Relations(), START | {("open", "fridge")}, reader=doubtful)
    assert ("open", "fridge") in acted.facts
    assert acted.certainty["open", "fridge"] == pytest.approx((0.9 * 2 / 3) / (0.9 * 2 / 3 + 0.1 / 3))


def test_looks_from_several_sides_add_up_and_failures_of_actions_count() -> None:
    opened = START | {("open", "fridge")}

    def closed(looks: Sequence[float], failures: int = 0) -> float:
        reader = Reader({})
        perceiver = HouseholdPerceiver(HOME, reader)
        perceiver._support = Relations()  # type: ignore[assignment]
        perceiver.expect(opened, opened, {("open", "fridge"): failures})
        for chance in looks:
            reader._found = {"fridge": {"open": {"closed": chance, "open": 1 - chance}}}
            found = perceiver(seen("fridge"))
        sure = found.certainty.get(("open", "fridge"), 1.0)
        return 1 - sure if ("open", "fridge") in found.facts else sure

    assert closed([0.9]) < 0.5 < closed([0.9, 0.95])
    assert closed([0.9, 0.9]) == pytest.approx(closed([0.9]))  # the same view says nothing new
    assert closed([0.9]) < 0.5 < closed([0.9], failures=3)


@pytest.mark.parametrize("heard", [True, False])
def test_a_sound_at_the_end_says_what_runs(heard: bool) -> None:
    events = (SoundHeard("running_water", 0.9, 2.0, 5.0),) if heard else ()
    sign = Sign("running_water", "running", "faucet", 0.95, 0.01)
    on = START | {("running", "faucet")}
    found = scene(seen(), Relations(), on, ears=Ears(Hearing(events, True, 0.0, 5.0)), signs=(sign,))
    assert found.knows(("running", "faucet"))
    assert (("running", "faucet") in found.facts) is heard


def test_an_unknown_sound_may_drown_the_one_that_is_missing() -> None:
    drowned = (SoundHeard(UNKNOWN_SOUND, 0.0, 3.0, 5.0),)
    sign = Sign("running_water", "running", "faucet", 0.95, 0.01)
    on = START | {("running", "faucet")}
    found = scene(seen(), Relations(), on, ears=Ears(Hearing(drowned, True, 0.0, 5.0)), signs=(sign,))
    assert not found.knows(("running", "faucet"))


def test_what_shatters_is_what_lies_on_the_floor_and_not_what_stands_in_its_place() -> None:
    ring = SoundHeard(UNKNOWN_SOUND, 0.0, 3.0, 4.0)
    shatters = Hearing((ring,), True, 0.0, 5.0, (SoundHeard("shatter", 0.3, 3.0, 4.0),))
    relations = Relations(("at", "mug", "floor"), ("at", "plate", "countertop"))
    found = scene(seen("plate"), relations, ears=Ears(shatters))
    assert ("broken", "mug") in found.facts
    assert found.knows(("broken", "mug"))
    assert ("broken", "plate") not in found.facts
    assert found.knows(("broken", "plate"))
    quiet = scene(seen("plate"), relations, ears=Ears(Hearing((ring,), True, 0.0, 5.0)))
    assert not quiet.knows(("broken", "mug"))
    nothing_lost = scene(seen("plate"), Relations(("at", "plate", "countertop")), ears=Ears(shatters))
    assert ("broken", "mug") not in nothing_lost.facts  # a hint alone is too little


def test_what_an_action_fills_holds_what_it_should_or_what_it_held_and_hardly_anything_else() -> None:
    filled = START | {("filled", "mug", "water")}
    values = HOME.domain.variables["filled"].values

    def read(held: dict[str, float], before: State, expected: State) -> dict[str, float]:
        chances = {value: held.get(value, 0.0) for value in values}
        perceiver = HouseholdPerceiver(HOME, Reader({"mug": {"filled": chances}}))
        perceiver._support = Relations()  # type: ignore[assignment]
        perceiver.expect(before, expected)
        found = perceiver(seen("mug"))
        return {fact[2]: found.certainty["filled", "mug"] for fact in found.facts if fact[:2] == ("filled", "mug")}

    poured = {"empty": 0.02, "wine": 0.96, "water": 0.02}
    assert "wine" in read(poured, START, START | {("filled", "mug", "wine")})
    assert read(poured, filled, START) == {}  # wine comes from nowhere
    assert "wine" in read({"empty": 0.0001, "wine": 0.9999}, filled, START)
    assert "water" in read({"empty": 0.1, "water": 0.9}, filled, START)  # nothing was poured out


def test_a_change_that_was_read_and_not_believed_counts_at_the_next_step() -> None:
    reader = Reader({"fridge": {"open": {"closed": 0.05, "open": 0.95}}})
    perceiver = HouseholdPerceiver(HOME, reader)
    perceiver._support = Relations()  # type: ignore[assignment]
    perceiver.expect(START, START)
    assert ("open", "fridge") not in perceiver(seen("fridge")).facts
    perceiver.expect(START, START)
    assert ("open", "fridge") in perceiver(seen("fridge")).facts
    perceiver.expect(START, START)
    reader._found = {"fridge": {"open": {"closed": 0.5, "open": 0.5}}}
    assert ("open", "fridge") not in perceiver(seen("fridge")).facts  # it alone is never enough


def test_without_a_microphone_or_in_a_short_recording_nothing_is_known() -> None:
    sign = Sign("running_water", "running", "faucet", 0.95, 0.01)
    for hearing in (Hearing((), False, 5.0, 5.0), Hearing((), True, 4.9, 5.0)):
        found = scene(seen(), Relations(), ears=Ears(hearing), signs=(sign,))
        assert not found.knows(("running", "faucet"))


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
