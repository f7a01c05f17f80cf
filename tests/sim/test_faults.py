"""Every fault really changes what it claims to change, only that, only then, and always in the same way."""

from dataclasses import dataclass

import numpy as np
import pytest

from nsrecover.errors import InvalidConfiguration
from nsrecover.structs import Action, Plan
from sim.faults import FAULTS, Displaced, Drop, Fault, HelpingPerson, Misled, Slip, Swap
from sim.scenes import ObjectKind, ObjectSpec, SceneSpec
from sim.truth import Truth, deviations
from sim.world import TabletopWorld


def _cube(colour: str, x: float, y: float, side: float = 0.045) -> ObjectSpec:
    return ObjectSpec(f"{colour} cube", ObjectKind.CUBE, colour, (side, side, side), (x, y))


SCENE = SceneSpec(
    (
        _cube("red", 0.45, 0.0),
        _cube("green", 0.45, 0.2),
        _cube("blue", 0.45, -0.22),
        _cube("yellow", 0.60, 0.12, 0.04),
        _cube("cyan", 0.60, -0.12, 0.05),
    )
)
PLAN = Plan.parse("top(green cube, red cube); top(blue cube, green cube); left(yellow cube, cyan cube)")


@dataclass(frozen=True)
class Case:
    """A fault that strikes at step 1 of `PLAN`, and which objects are elsewhere than in the twin run after it."""

    fault: Fault
    changed: set[str]
    at_least: bool = False


CASES = {
    "slip": Case(Slip(1), {"blue cube"}),
    "drop": Case(Drop(1, progress=0.4), {"blue cube"}),
    "misled": Case(
        Misled(1, ("red cube", "green cube"), height_share=0.05), {"green cube", "blue cube"}, at_least=True
    ),
    "swap": Case(Swap(1, "yellow cube", "cyan cube"), {"yellow cube", "cyan cube"}),
    "helping_person": Case(HelpingPerson(1, (PLAN[2],)), {"yellow cube"}),
    "displaced": Case(Displaced(1, "cyan cube", (0.05, -0.05)), {"cyan cube"}),
}


def _run(*faults: Fault, steps: int = 2) -> list[Truth]:
    """The truth after each of the first steps."""
    with TabletopWorld(SCENE, faults) as world:
        truths = []
        for action in PLAN.actions[:steps]:
            world.execute(action)
            truths.append(world.truth())
        return truths


@pytest.fixture(scope="module")
def twin() -> list[Truth]:
    return _run(steps=3)


def test_every_fault_has_a_case():
    assert set(CASES) == set(FAULTS)
    assert all(isinstance(CASES[name].fault, kind) for name, kind in FAULTS.items())


@pytest.mark.parametrize("name", list(FAULTS))
def test_a_fault_changes_what_it_claims_and_nothing_before(name, twin):
    case = CASES[name]
    before, after = _run(case.fault)
    assert deviations(before, twin[0]) == {}
    changed = set(deviations(after, twin[1]))
    assert changed >= case.changed
    assert case.at_least or changed == case.changed
    assert after.present.all()
    # the same again, to the last bit
    np.testing.assert_array_equal(_run(case.fault)[1].positions, after.positions)


@pytest.mark.parametrize("name", list(FAULTS))
def test_a_fault_at_another_step_changes_nothing_yet(name, twin):
    fields = dict(vars(CASES[name].fault)) | {"at_step": 7}
    truths = _run(FAULTS[name](**fields), steps=1)
    np.testing.assert_array_equal(truths[0].positions, twin[0].positions)


def test_a_slipping_object_falls_between_its_place_and_its_goal(twin):
    fallen = _run(Drop(1, progress=0.4))[1]
    assert fallen.supports["blue cube"] == "table"
    assert -0.2 < fallen.position("blue cube")[1] < -0.03


def test_a_slip_may_happen_in_another_phase():
    fallen = _run(Slip(1, progress=0.0))[1]
    assert np.linalg.norm(fallen.position("blue cube")[:2] - [0.45, -0.22]) < 0.03


def test_the_grip_is_as_strong_as_ever_after_a_slip(twin):
    last = _run(Drop(1, progress=0.4), steps=3)[2]
    assert set(deviations(last, twin[2])) == {"blue cube"}


def test_swapped_objects_stand_at_each_others_places(twin):
    after = _run(CASES["swap"].fault)[1]
    for name, other in (("yellow cube", "cyan cube"), ("cyan cube", "yellow cube")):
        assert np.linalg.norm(after.position(name)[:2] - twin[1].position(other)[:2]) < 0.005
        assert after.supports[name] == "table"


def test_the_person_does_what_the_robot_would_have_done(twin):
    after = _run(CASES["helping_person"].fault)[1]
    assert deviations(after, twin[2]) == {}


def test_a_misled_arm_knocks_the_tower_over():
    after = _run(CASES["misled"].fault)[1]
    assert after.supports["green cube"] != "red cube"


def test_an_object_cannot_be_swapped_with_itself():
    with pytest.raises(InvalidConfiguration, match="two different objects"):
        Swap(0, "red cube", "red cube")


def test_what_cannot_be_done_by_hand_is_noted():
    far = Action("top", ("red cube", "purple cube"))
    with TabletopWorld(SCENE, (HelpingPerson(0, (far,)), Swap(0, "red cube", "purple cube"))) as world:
        world.execute(PLAN[0])
        assert sum("cannot" in line for line in world.log) == 2
