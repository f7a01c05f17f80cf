"""Robots that fail, hang, raise errors or are stopped; worlds that change at the wrong moment."""

import threading
from collections.abc import Callable

import pytest

from nsrecover import Action, Plan, RecoveryAgent, geometric
from nsrecover.core import EpisodeStatus, SceneGraph, StepRecord
from tests.nsrecover.test_agent_and_sensors import PLAN, SIDE_M, Table

TOWER = Plan.parse("top(green, red); top(blue, green)")
Change = Callable[[SceneGraph], SceneGraph]


def moved(name: str, x: float, y: float) -> Change:
    return lambda scene: scene.with_node(scene.index(name), (x, y, SIDE_M / 2, *3 * [SIDE_M]))


class Disturbed(Table):
    """A table on which something else happens after the n-th action, or the action itself fails."""

    def __init__(self, after: dict[int, Change] | None = None, failing: tuple[int, ...] = ()) -> None:
        super().__init__()
        self.after, self.failing = after or {}, failing

    def execute(self, action: Action) -> None:
        self.works = len(self.executed) + 1 not in self.failing
        super().execute(action)
        self.scene = self.after.get(len(self.executed), lambda scene: scene)(self.scene)


def stands_on(world: Table, name: str, below: str) -> bool:
    a, b = (world.scene.boxes[world.scene.index(each)] for each in (name, below))
    return bool(abs(a[:2] - b[:2]).max() < 0.01 and abs(a[2] - b[2] - SIDE_M) < 0.01)


def tower_stands(world: Table) -> bool:
    return stands_on(world, "green", "red") and stands_on(world, "blue", "green")


@pytest.mark.parametrize(
    "world",
    [
        Disturbed({1: moved("green", 0.6, -0.05)}, failing=(2,)),  # the recovery's action fails once
        Disturbed({1: moved("green", 0.6, -0.05), 2: moved("red", 0.4, 0.25)}),  # another error during the recovery
        Disturbed({2: moved("green", 0.6, -0.05)}, failing=(1, 4)),
    ],
    ids=["failing recovery", "error during recovery", "failures before and after an error"],
)
def test_errors_during_a_recovery_are_recovered_from_too(world: Disturbed) -> None:
    episode = RecoveryAgent(geometric(), world).run(TOWER)
    assert episode.status is EpisodeStatus.COMPLETED
    assert tower_stands(world)
    assert sum(record.recovery is not None for record in episode.records) >= 2


def test_what_changes_while_the_robot_plans_is_noticed_after_the_next_action() -> None:
    world = Disturbed({1: moved("green", 0.6, -0.05)})

    def meanwhile(record: StepRecord) -> None:
        if record.recovery is not None and len(world.executed) == 1:
            world.scene = moved("red", 0.35, 0.3)(world.scene)

    episode = RecoveryAgent(geometric(), world).run(TOWER, on_record=meanwhile)
    assert episode.status is EpisodeStatus.COMPLETED
    assert tower_stands(world)
    assert any("red" in record.discrepancy.deviating for record in episode.records[1:])


def test_a_goal_that_is_undone_after_the_end_is_reached_again_by_the_same_plan() -> None:
    world = Disturbed()
    agent = RecoveryAgent(geometric(), world)
    assert agent.run(TOWER).status is EpisodeStatus.COMPLETED
    world.scene = moved("blue", 0.6, -0.1)(world.scene)
    assert agent.run(TOWER).status is EpisodeStatus.COMPLETED
    assert tower_stands(world)


class Raising(Table):
    def execute(self, action: Action) -> None:
        super().execute(action)
        raise ConnectionError("the arm's controller is gone")


def test_a_robot_that_raises_an_error_ends_the_run_with_the_reason(caplog: pytest.LogCaptureFixture) -> None:
    world = Raising()
    episode = RecoveryAgent(geometric(), world).run(PLAN)
    assert episode.status is EpisodeStatus.ASKED_FOR_HELP
    assert "the robot raised an error" in episode.reason
    assert world.executed == ["top(green, red)"]
    assert "Traceback" in caplog.text


class Hanging(Table):
    def __init__(self) -> None:
        super().__init__()
        self.released = threading.Event()

    def execute(self, action: Action) -> None:
        super().execute(action)
        self.released.wait(30)


def test_a_robot_that_never_returns_ends_the_run_after_the_limit() -> None:
    world = Hanging()
    try:
        episode = RecoveryAgent(geometric(), world, action_limit_s=0.05).run(PLAN)
    finally:
        world.released.set()
    assert episode.status is EpisodeStatus.ASKED_FOR_HELP
    assert "top(green, red) did not end within 0.05 s, so" in episode.reason
    assert world.executed == ["top(green, red)"]


def test_with_a_limit_a_robot_that_works_does_the_same_and_its_errors_are_reasons() -> None:
    world = Disturbed({1: moved("green", 0.6, -0.05)})
    assert RecoveryAgent(geometric(), world, action_limit_s=30).run(TOWER).status is EpisodeStatus.COMPLETED
    assert tower_stands(world)
    assert "ConnectionError" in RecoveryAgent(geometric(), Raising(), action_limit_s=30).run(PLAN).reason


class Stopping(Table):
    """Somebody stops the robot, from another thread, during its n-th action."""

    def __init__(self, during: int) -> None:
        super().__init__()
        self.during, self.agent = during, RecoveryAgent(geometric(), self)

    def execute(self, action: Action) -> None:
        super().execute(action)
        if len(self.executed) == self.during:
            for _ in range(2):  # twice is the same
                thread = threading.Thread(target=self.agent.stop)
                thread.start()
                thread.join()


def test_a_run_can_be_stopped_at_any_time_and_begun_again() -> None:
    world = Stopping(during=1)
    episode = world.agent.run(TOWER)
    assert episode.status is EpisodeStatus.ASKED_FOR_HELP
    assert episode.reason == "it was stopped before top(blue, green)"
    assert world.executed == ["top(green, red)"]
    assert [record.action for record in episode.records] == list(TOWER)[:1], "the action under way is judged"
    world.agent.stop()
    assert world.agent.run(TOWER).reason == "it was stopped before top(green, red)"
    assert len(world.executed) == 1
    assert world.agent.run(TOWER).status is EpisodeStatus.COMPLETED
    assert tower_stands(world)
