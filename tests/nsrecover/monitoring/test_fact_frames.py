"""What an action of a household needs while it runs, as frames show it."""

from collections.abc import Iterator

import pytest

import nsrecover
from nsrecover import Act, Action, Interrupt, Look, Observation, Plan, RobotState
from nsrecover.core import FactScene
from nsrecover.errors import InvalidRecording
from nsrecover.loading import HouseholdSystem
from nsrecover.models.household import HouseholdModels
from nsrecover.monitoring.fact_frames import CARRIED, ConditionModel, FactFrames, Frame, WrongFor, fit_patience
from nsrecover.session import AnySession
from sim.common.arm import STEP_S
from sim.kitchen.person import Person
from sim.kitchen.truth import household_of
from sim.kitchen.world import KitchenWorld
from tests.nsrecover.kitchen_facts import HOME, START
from tests.sim.kitchen.kitchens import CLEAN, TOP, kitchen

SPEC = kitchen(("mug", TOP, (0.0, 0.0), 180, CLEAN), ("egg", TOP, (0.0, 0.3), 0, CLEAN))
LONG_S = 3.0
"""No property may be wrong for so long."""
OPEN, HOLDS = RobotState(0.08, (0.4, 0.0, 0.5), gripping=False), RobotState(0.03, (0.4, 0.0, 0.5), gripping=True)


@pytest.fixture
def world() -> Iterator[KitchenWorld]:
    with KitchenWorld(SPEC) as made:
        made.execute(Action("look_at", (TOP,)))
        yield made


def begun(world: KitchenWorld, plan: str) -> AnySession:
    """A session that asks for the first action of a plan."""
    system = HouseholdSystem(HouseholdModels.load()).system(household_of(SPEC), reads=False, hears=False)
    session = system.session(Plan.parse(plan), world.observe())
    while isinstance(session.request, Look):
        session.observed(world.observe())
    assert isinstance(session.request, Act)
    return session


def frame(world: KitchenWorld, wait_s: float = 0.2) -> Observation:
    """What is seen some time later."""
    world.cell.settle(round(wait_s / STEP_S))
    return world.observe()


def test_what_is_taken_away_for_long_enough_interrupts(world: KitchenWorld) -> None:
    session = begun(world, "pick_up(mug)")
    for _ in range(3):
        session.glanced(frame(world), OPEN)
    assert isinstance(session.request, Act), "nothing was wrong"
    Person(world.cell).carry("mug", (*world.cell.bottom("mug")[:2], -5.0))
    session.glanced(frame(world), OPEN)
    assert isinstance(session.request, Act), "one frame may err"
    session.glanced(frame(world, LONG_S), OPEN)
    assert repr(session.request) == repr(Interrupt(Action("pick_up", ("mug",)), "mug"))


def test_what_was_not_confirmed_does_not_interrupt_the_same_action_again(world: KitchenWorld) -> None:
    session = begun(world, "pick_up(mug)")
    person, place = Person(world.cell), world.cell.bottom("mug")
    person.carry("mug", (*place[:2], -5.0))
    for _ in range(2):
        session.glanced(frame(world, LONG_S), OPEN)
    assert isinstance(session.request, Interrupt)
    person.carry("mug", place)
    session.observed(frame(world))
    while isinstance(session.request, Look):
        session.observed(frame(world))
    assert repr(session.request) == repr(Act(Action("pick_up", ("mug",))))
    person.carry("mug", (*place[:2], -5.0))
    for _ in range(2):
        session.glanced(frame(world, LONG_S), OPEN)
    assert isinstance(session.request, Act)


def test_what_an_action_does_not_need_may_change(world: KitchenWorld) -> None:
    session = begun(world, "pick_up(mug)")
    Person(world.cell).carry("egg", (*world.cell.bottom("egg")[:2], -5.0))
    for _ in range(3):
        session.glanced(frame(world, LONG_S), OPEN)
    assert isinstance(session.request, Act)


def test_what_seems_to_be_in_an_empty_cup_is_looked_at_after_the_action() -> None:
    """Milk in the mug may be spilled while it is carried; that an empty mug reads as full does no harm meanwhile."""
    for contents, watched in ((set(), False), ({("filled", "mug", "milk")}, True)):
        state = frozenset(START | {("holding", "mug")} | contents) - {("at", "mug", "countertop")}
        monitor = nsrecover.symbolic(HOME).monitor(Plan.parse("put_on(mug, dining table)"), FactScene(state))
        frames = FactFrames(ConditionModel(), monitor.belief, monitor.next_action)
        assert (("filled", "mug") in frames.watched) is watched
        assert ("broken", "mug") in frames.watched


def test_fingers_that_have_felt_something_and_feel_nothing_have_lost_it(world: KitchenWorld) -> None:
    world.execute(Action("pick_up", ("egg",)))
    session = begun(world, "put_on(egg, dining table)")
    session.glanced(frame(world), HOLDS)
    robot = world.cell.robot
    robot.unlatch()
    robot.arm.weaken_grip(0.0, 0.0)
    for _ in range(2):
        robot.arm.wait(120, world.cell.tick, True)
        session.glanced(world.observe(), HOLDS)
    assert isinstance(session.request, Interrupt)
    assert session.request.name == "egg"


def action(wrong_s: float, what: str = CARRIED) -> list[Frame]:
    """The frames of an action, 0.2 s apart, in which something is wrong for some time."""
    return [(0.2 * number, {(what, "pan"): 1.0} if 5 <= number <= 5 + wrong_s / 0.2 else {}) for number in range(40)]


def test_patience_is_what_good_actions_need_and_no_more() -> None:
    learned = ConditionModel(fit_patience([action(wrong_s) for wrong_s in (0.4, 0.2) * 20], 0.05))
    assert learned.patience(CARRIED) == pytest.approx(0.5), "with half a period, in which it may have begun or ended"
    assert learned.patience("broken") == pytest.approx(0.1)
    more = ConditionModel(fit_patience([action(0.4), action(0.8, "broken")] * 20, 0.05))
    assert more.patience(CARRIED) == pytest.approx(9 * 0.5), "what no action of the first half shows has its own limit"
    with pytest.raises(InvalidRecording, match="40"):
        fit_patience([action(0.4)] * 39, 0.05)


@pytest.mark.parametrize("rate_hz", [5, 10, 30])
def test_frames_count_for_their_time_and_by_their_probability_at_any_rate(rate_hz: int) -> None:
    sure, unsure, key = WrongFor(), WrongFor(), ("filled", "mug")
    for number in range(rate_hz + 1):
        sure.add((number / rate_hz, {key: 1.0}))
        unsure.add((number / rate_hz, {key: 0.5}))
    assert sure.seconds[key] == pytest.approx(1.0)
    assert unsure.seconds[key] == pytest.approx(0.5)
    sure.add((2.5, {key: -1.0}))
    assert key not in sure.seconds, "it was seen to fit for long enough"


def test_what_the_robot_sets_down_to_grasp_it_anew_is_not_lost(world: KitchenWorld) -> None:
    world.execute(Action("pick_up", ("egg",)))
    session = begun(world, "put_on(egg, dining table)")
    session.glanced(frame(world), HOLDS)
    world.execute(Action("put_on", ("egg", TOP)))
    for _ in range(3):
        session.glanced(frame(world), OPEN)
    assert isinstance(session.request, Act)
    Person(world.cell).carry("egg", (*world.cell.bottom("egg")[:2], -5.0))
    for _ in range(2):
        session.glanced(frame(world, LONG_S), HOLDS)
    assert isinstance(session.request, Interrupt)
