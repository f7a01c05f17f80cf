"""What sensors do to a run: it never raises, no false alarm moves anything, and the agent asks when it cannot tell."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from nsrecover import Action, Plan, RecoveryAgent, SceneGraph, geometric, scene_of_boxes
from nsrecover.core import Episode, EpisodeStatus, Verdict
from nsrecover.errors import InvalidObservation, UnknownObject

PLAN = Plan.parse("top(green, red); right(blue, red)")
SIDE_M = 0.05
Seen = Mapping[str, tuple[float, ...] | None]
GARBAGE: Seen = {"red": (float("nan"),) * 6}


class Table:
    """Cubes that go where actions lead; `errors[n]` changes what the n-th observation shows of them."""

    def __init__(self, errors: Mapping[int, Seen] | None = None, works: bool = True) -> None:
        rows = {"red": 0.2, "green": 0.05, "blue": -0.1, "grey": -0.25}
        self.scene = scene_of_boxes({name: (0.5, y, SIDE_M / 2, *3 * [SIDE_M]) for name, y in rows.items()})
        self.errors, self.works = errors or {}, works
        self.observations = 0
        self.executed: list[str] = []

    def observe(self) -> Seen:
        error = self.errors.get(self.observations, {})
        self.observations += 1
        true = {name: tuple(map(float, box)) for name, box in zip(self.scene.names, self.scene.boxes, strict=True)}
        return {name: box for name, box in {**true, **error}.items() if box != GONE}

    def execute(self, action: Action) -> None:
        self.executed.append(str(action))
        if self.works:
            self.scene = geometric().imagination.step(self.scene, action)


GONE = (0.0,) * 6
"""Of an object that the detector does not report."""


def always(seen: Seen, start: int = 1) -> dict[int, Seen]:
    return dict.fromkeys(range(start, 100), seen)


def verdicts(episode: Episode) -> list[Verdict]:
    return [record.discrepancy.verdict for record in episode.records]


@pytest.mark.parametrize(
    "error",
    [
        {"grey": GONE},
        {"grey": (0.5, -0.3, SIDE_M / 2, *3 * [SIDE_M])},
        {"green": None},
        {"green": GONE},
        {"grey": GONE, "red": (0.5, 0.26, SIDE_M / 2, *3 * [SIDE_M]), "blue": None},
        {"phantom": (0.4, 0.0, 0.02, 0.04, 0.04, 0.04)},
    ],
)
@pytest.mark.parametrize("when", [1, 2])
def test_an_error_of_one_observation_changes_nothing(error: Seen, when: int) -> None:
    world = Table({when: error})
    episode = RecoveryAgent(geometric(), world).run(PLAN)
    assert episode.status is EpisodeStatus.COMPLETED
    assert world.executed == list(map(str, PLAN))
    assert verdicts(episode) == 2 * [Verdict.AS_EXPECTED]
    # what the last action did is looked at once more
    assert world.observations - 4 == sum(record.discrepancy.looks - 1 for record in episode.records) or when == 2


def test_it_goes_on_while_what_it_cannot_see_is_not_used_and_says_so_in_the_end() -> None:
    world = Table(always({"green": None}))
    episode = RecoveryAgent(geometric(), world).run(PLAN)
    assert world.executed == list(map(str, PLAN))
    assert verdicts(episode) == 2 * [Verdict.CANNOT_TELL]
    assert episode.status is EpisodeStatus.ASKED_FOR_HELP
    assert "every action is done, but the green" in episode.reason
    # two more looks after the step that moved it; what was looked for in vain is not looked for again
    assert [record.discrepancy.looks for record in episode.records] == [3, 1]
    explanation = episode.records[0].explanation
    assert explanation is not None
    assert explanation.verified
    assert "the scene cannot be judged" in explanation.text
    assert "No camera sees the place of the green." in explanation.text


def test_an_unusable_observation_is_made_again() -> None:
    for when in range(4):
        world = Table({when: GARBAGE, when + 1: GARBAGE})
        assert RecoveryAgent(geometric(), world).run(PLAN).status is EpisodeStatus.COMPLETED
        assert world.executed == list(map(str, PLAN))


def test_sensors_that_fail_during_the_run_are_a_reason_to_ask_and_no_exception() -> None:
    world = Table(always(GARBAGE))
    episode = RecoveryAgent(geometric(), world).run(PLAN)
    assert episode.status is EpisodeStatus.ASKED_FOR_HELP
    assert "expected a box of 'red'" in episode.reason
    with pytest.raises(InvalidObservation):
        RecoveryAgent(geometric(), Table(always(GARBAGE, 0))).run(PLAN)


def test_an_object_that_the_first_observation_does_not_show_is_looked_for_again() -> None:
    world = Table({0: {"green": GONE}})
    assert RecoveryAgent(geometric(), world).run(PLAN).status is EpisodeStatus.COMPLETED
    world = Table(always({"green": GONE}, 0))
    with pytest.raises(UnknownObject):
        RecoveryAgent(geometric(), world).run(PLAN)
    assert (world.observations, world.executed) == (3, [])


def test_a_bystander_that_is_gone_is_reported_once() -> None:
    world = Table(always({"grey": GONE}))
    episode = RecoveryAgent(geometric(), world).run(PLAN)
    assert episode.status is EpisodeStatus.COMPLETED
    assert [record.discrepancy.deviating for record in episode.records] == [("grey",), ()]
    assert world.executed == list(map(str, PLAN))


def test_a_newcomer_in_the_way_is_waited_for_and_then_asked_about() -> None:
    hand: Seen = {"hand": (0.5, 0.2, SIDE_M + 0.05, 0.06, 0.06, 0.1)}
    plan = Plan.parse("right(blue, red); top(green, red)")
    world = Table({1: hand, 2: hand})
    episode = RecoveryAgent(geometric(), world).run(plan)
    assert (episode.status, world.executed) == (EpisodeStatus.COMPLETED, list(map(str, plan)))
    world = Table(always(hand))
    episode = RecoveryAgent(geometric(), world).run(plan)
    assert episode.status is EpisodeStatus.ASKED_FOR_HELP
    assert "the hand is in the way" in episode.reason
    assert world.executed == ["right(blue, red)"]


class Unreliable(Table):
    """A table behind sensors that err at random: in 5 of `kinds` sightings of an object."""

    def __init__(self, seed: int, kinds: int) -> None:
        super().__init__()
        self.rng, self.kinds = np.random.default_rng(seed), kinds

    def observe(self) -> Seen:
        seen = dict(super().observe())
        if self.observations > 3:
            for name, box in list(seen.items()):
                if box is None:
                    continue
                match int(self.rng.integers(self.kinds)):
                    case 0:
                        del seen[name]
                    case 1:
                        seen[name] = None
                    case 2:
                        seen[name] = (*(np.array(box[:3]) + self.rng.normal(0, 0.05, 3)).tolist(), *box[3:])
                    case 3:
                        seen[name] = (*box[:3], *(np.array(box[3:]) * self.rng.uniform(0.3, 2, 3)).tolist())
                    case 4:
                        seen[f"new object {self.rng.integers(5)}"] = (*self.rng.uniform(0, 0.6, 3).tolist(), *box[3:])
        if self.rng.random() < 0.05 * (self.observations > 3):
            return GARBAGE
        return seen


def _actions(episode: Episode) -> Sequence[Action]:
    return [action for record in episode.records if record.recovery for action in record.recovery.actions]


@pytest.mark.parametrize(("kinds", "fewest"), [(12, 25), (6, 4)])
def test_no_error_of_sensors_makes_a_run_raise_or_move_what_is_not_part_of_it(kinds: int, fewest: int) -> None:
    completed = 0
    for seed in range(60):
        world = Unreliable(seed, kinds)
        episode = RecoveryAgent(geometric(), world).run(PLAN)
        completed += episode.status is EpisodeStatus.COMPLETED
        assert {name for action in _actions(episode) for name in action.arguments} <= set(world.scene.names)
        assert len(episode.records) < 40
        alarms = [
            (sorted((each.name, each.cause) for each in record.discrepancy.deviations), str(record.recovery.actions))
            for record in episode.records
            if record.recovery is not None
        ]
        assert all(alarms.count(alarm) <= 3 for alarm in alarms)
    assert completed >= fewest


def test_a_scene_graph_may_say_itself_what_is_unknown() -> None:
    class Graphs(Table):
        def observe(self) -> SceneGraph:  # type: ignore[override]
            self.observations += 1
            doubtful = ["green"] if self.observations > 1 else []
            return self.scene.doubted(doubtful)

    episode = RecoveryAgent(geometric(), Graphs()).run(PLAN)
    assert [str(each) for each in episode.records[0].discrepancy.missing_to_tell] == ["green: no_mask"]
