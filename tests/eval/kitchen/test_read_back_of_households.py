"""The reader of explanations of household episodes, on texts of the agent and on others."""

import pytest

import nsrecover
from eval.kitchen.read_back import BEFORE, graded, read
from sim.kitchen.faults import START, Fault
from sim.kitchen.faults.initial import FilledAtStart
from sim.kitchen.faults.people import DoorClosed, Switched, Taken
from sim.kitchen.faults.planning import MissingStep, WrongInPlan
from tests.nsrecover.kitchen_facts import HOME, WATER, WATERED, FactWorld, after

MOVED = after(1, ("at", "mug", "dining table"), less=(("at", "mug", "countertop"),))


def texts(world: FactWorld) -> list[str]:
    records = nsrecover.RecoveryAgent(nsrecover.symbolic(HOME, WATERED), world).run(WATER).records
    return [record.explanation.text for record in records if record.explanation]


def test_object_time_and_kind_are_read_from_the_text() -> None:
    (text,) = texts(FactWorld(hook=MOVED))
    parsed = read(text)
    assert parsed is not None
    assert (parsed.action, dict(parsed.kinds)) == ("pick_up(pot)", {"mug": "moved"})


PLAN = nsrecover.Plan.parse("pick_up(pot); put_in(pot, sink); toggle_on(faucet)")


@pytest.mark.parametrize(
    ("fault", "right"),
    [
        (Taken(0, "mug", (0.0, 0.0, 0.0), 0.0), (True, True, True)),
        (Taken(1, "mug", (0.0, 0.0, 0.0), 0.0), (True, True, False)),
        (Switched(0, "mug", True), (False, True, True)),
        (Taken(0, "egg", (0.0, 0.0, 0.0), 0.0), (False, False, True)),
        (MissingStep(0), (False, False, False)),
    ],
)
def test_a_text_is_graded_by_the_fault_that_was_injected(fault: Fault, right: tuple[bool, bool, bool]) -> None:
    assert graded(texts(FactWorld(hook=MOVED))[0], fault, PLAN) == right


def test_what_was_so_from_the_start_has_no_action() -> None:
    text = (
        "Before step 1, pick_up(pot), something was not as expected: the mug has changed, although no action should "
        "have changed it. The mug is filled with wine."
    )
    parsed = read(text)
    assert parsed is not None
    assert parsed.action == BEFORE
    assert graded(text, FilledAtStart(START, "mug", "wine", 0.2), PLAN) == (True, True, True)


def test_what_is_seen_before_an_action_has_happened_since_the_last_one() -> None:
    text = (
        "Before step 3, open_obj(microwave), the scene is already ahead of the plan. The microwave is already as "
        "it should be later: the microwave is open."
    )
    fault = Switched(0, "microwave", True)
    assert graded(text, fault, PLAN, "pick_up(pot)") == (True, True, True)
    assert graded(text, fault, PLAN, "put_in(pot, sink)") == (True, True, False)


def test_what_kept_an_action_from_being_done_is_read() -> None:
    text = (
        "Step 3, put_in(bowl, fridge), could not be done: the fridge is not open. The bowl was not changed by the "
        "step: it is in the gripper. The fridge is already as it should be after step 4: it is not open."
    )
    plan = nsrecover.Plan.parse("open_obj(fridge); pick_up(bowl); put_in(bowl, fridge); close_obj(fridge)")
    assert graded(text, DoorClosed(1, "fridge"), plan, deviating=("bowl", "fridge")) == (True, True, False)


def test_what_is_said_about_the_plan_is_read() -> None:
    said = (
        "Before step 1, pick_up(tomato), the plan does not reach its goal. From step 1 on, the plan names the tomato "
        "instead of the pot: the pot is not on the plate. The recovery takes two actions."
    )
    assert graded(said, WrongInPlan(0, "pot", "tomato"), PLAN) == (True, True, True)
    assert graded(said, WrongInPlan(1, "pot", "egg"), PLAN) == (True, False, False)
    assert graded(said, MissingStep(2), PLAN) == (False, False, False)
