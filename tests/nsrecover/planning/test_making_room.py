"""If an object is not lifted again and again, what is next to it goes first."""

from collections.abc import Mapping

import numpy as np

from nsrecover import Action, Plan, RecoveryAgent, SceneGraph, geometric, scene_of_boxes
from nsrecover.core import Discrepancy, EpisodeStatus, RecoveryStatus
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.planning.making_room import FINGERS_M, not_lifted, with_room
from tests.scenarios import Boxes

SIDE_M = 0.05
PLAN = Plan.parse("top(green, red)")


def scene(**places: tuple[float, float]) -> SceneGraph:
    return scene_of_boxes({name: (x, y, SIDE_M / 2, *3 * [SIDE_M]) for name, (x, y) in places.items()})


class Leaning(Boxes):
    """The green block is not lifted while the white one leans on it."""

    def carry_out(self, action: Action) -> None:
        apart = np.subtract(self.boxes["green"][:2], self.boxes["white"][:2])
        if action.arguments[0] != "green" or np.abs(apart).max() - SIDE_M >= 0.01:
            super().carry_out(action)


CLOSE = {
    "red": (0.45, 0.2),
    "green": (0.45, 0.0),
    "blue": (0.45, -SIDE_M - 0.012),
    "white": (0.45 + SIDE_M + 0.004, 0.0),
}


def failed(given: Mapping[str, tuple[float, float]], action: str = "top(green, red)") -> tuple[SceneGraph, Discrepancy]:
    """A scene that an action has not changed, and what is wrong."""
    monitor = geometric().monitor(PLAN, seen := scene(**given))
    return seen, monitor.step(Action.parse(action), seen)


def test_an_agent_makes_room_when_the_same_way_back_has_not_helped() -> None:
    world = Leaning(boxes=dict(zip(CLOSE, map(tuple, scene(**CLOSE).boxes.tolist()), strict=True)))
    episode = RecoveryAgent(geometric(), world).run(PLAN)
    assert episode.status is EpisodeStatus.COMPLETED, episode.reason
    assert [each for each in world.log if each != "look"][:3] == [*["act top(green, red)"] * 2, "act free(white)"]
    np.testing.assert_allclose(np.subtract(world.boxes["green"], world.boxes["red"])[:3], (0, 0, SIDE_M), atol=1e-3)
    np.testing.assert_allclose(world.boxes["white"][:2], CLOSE["white"], atol=1e-3)


def test_the_nearest_neighbour_goes_first_to_where_nothing_is_or_will_be() -> None:
    seen, found = failed(CLOSE)
    assert not_lifted(found) == "green"
    ways = list(with_room(geometric().model.models, TABLETOP, seen, found))
    assert [actions[0].arguments for actions, _ in ways] == [("white",), ("blue",)]
    for (clearing, again), graphs in ways:
        assert again == Action.parse("top(green, red)")
        place = np.array(clearing.target)
        gaps = np.abs(seen.boxes[:, :2] - place[:2]).max(axis=1) - SIDE_M
        assert gaps.min() > 0
        np.testing.assert_allclose(graphs[1].boxes[seen.index("green")], found.expected.boxes[seen.index("green")])


def test_far_objects_covered_ones_and_arguments_stay() -> None:
    far = {"red": (0.45, SIDE_M + 0.01), "green": (0.45, 0.0), "blue": (0.45 + SIDE_M + FINGERS_M + 0.01, 0.0)}
    seen, found = failed(far)
    assert list(with_room(geometric().model.models, TABLETOP, seen, found)) == []
    assert geometric().planner.otherwise(seen, geometric().imagination.trace(seen, PLAN), found) is None


def test_the_way_is_no_proof_and_costs_its_actions() -> None:
    seen, found = failed(CLOSE)
    trace = geometric().imagination.trace(seen, PLAN)
    way = geometric().planner.otherwise(seen, trace, found)
    assert way is not None
    assert way.status is RecoveryStatus.RECOVERED
    assert [str(action) for action in way.actions[:2]] == ["free(white)", "top(green, red)"]
    assert len(way.graphs) == len(way.actions)
    assert way.cost == len(way.actions) + len(way.rest)
    assert not way.proven_optimal
    assert geometric().planner.otherwise(seen, trace, found, budget_s=0) is None
    assert geometric().planner.otherwise(seen, trace, found, cancelled=lambda: True) is None


def test_what_the_object_is_to_be_put_on_stays_though_it_is_nearest() -> None:
    seen = scene(**CLOSE | {"red": (0.45, SIDE_M + 0.002)})
    on_red = (0.45, SIDE_M + 0.002, 3 * SIDE_M / 2, *3 * [SIDE_M])
    action = Action("restore", ("green",), on_red)
    monitor = geometric().monitor(Plan((action,)), seen)
    found = monitor.step(action, seen)
    assert not_lifted(found) == "green"
    ways = list(with_room(geometric().model.models, TABLETOP, seen, found))
    assert [actions[0].arguments for actions, _ in ways] == [("white",), ("blue",)]
