"""Relations and operators on hand-built scenes."""

import numpy as np
import pytest

from nsrecover.core import Action, Fact, SceneGraph
from nsrecover.domains.tabletop.operators import TABLETOP, operator_of
from nsrecover.domains.tabletop.relations import Edge, Relation, landed, relations

SIDE = 0.04


def scene(**centres: tuple[float, float, float]) -> SceneGraph:
    boxes = np.array([[*centre, SIDE, SIDE, SIDE] for centre in centres.values()], np.float32)
    return SceneGraph(tuple(centres), np.zeros((len(boxes), 4), np.float32), boxes, np.ones(len(boxes), bool))


TOWER = scene(a=(0.5, 0, 0.02), b=(0.505, 0.003, 0.061), c=(0.5, 0.0, 0.1), d=(0.5, 0.07, 0.02))


@pytest.mark.parametrize(("height", "lands"), [(0.125, 0.14), (0.155, 0.14), (0.165, 0.165), (0.110, 0.101)])
def test_a_box_lands_on_what_is_just_below_it_or_just_inside_it(height: float, lands: float) -> None:
    box = landed(TOWER, 3, (0.5, 0.0, height, SIDE, SIDE, SIDE), 0.02)
    assert box[2] == pytest.approx(lands)
    for low, on in ((0.03, SIDE / 2), (0.012, SIDE / 2), (0.05, 0.05)):
        assert landed(TOWER, 3, (0.6, 0.1, low, SIDE, SIDE, SIDE), 0.02)[2] == pytest.approx(on)


def test_putting_something_back_allows_for_heights_that_were_measured_badly() -> None:
    back = operator_of(Action("restore", ("d",), (0.5, 0.0, 0.125, SIDE, SIDE, SIDE)))
    assert back.violated(TOWER, Action("restore", ("d",), (0.5, 0.0, 0.125, SIDE, SIDE, SIDE))) == ()
    inside = back.violated(TOWER, Action("restore", ("d",), (0.5, 0.0, 0.110, SIDE, SIDE, SIDE)))
    assert inside[0] == Fact("in_the_way", ("c", "d"))


def test_relations_name_supports_and_neighbours() -> None:
    found = relations(TOWER)
    for edge in (
        Edge("a", Relation.ON, "table"),
        Edge("b", Relation.ON, "a"),
        Edge("d", Relation.LEFT, "a"),
        Edge("a", Relation.RIGHT, "d"),
    ):
        assert edge in found
    assert Edge("c", Relation.ON, "a") not in found
    assert not any(edge.relation is Relation.LEFT and edge.object == "c" for edge in found)


@pytest.mark.parametrize(
    ("relation", "offset"), [("left", (0, 0.07)), ("right", (0, -0.07)), ("front", (-0.07, 0)), ("behind", (0.07, 0))]
)
def test_sides_are_the_robots_own(relation: str, offset: tuple[float, float]) -> None:
    graph = scene(a=(0.5 + offset[0], offset[1], 0.02), b=(0.5, 0, 0.02))
    assert operator_of(Action(relation, ("a", "b"))).achieved(graph, graph, Action(relation, ("a", "b")))
    assert not operator_of(Action(relation, ("b", "a"))).achieved(graph, graph, Action(relation, ("b", "a")))


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (Action("top", ("d", "c")), ()),
        (Action("top", ("b", "d")), ("the c stands on the b",)),
        (Action("top", ("d", "a")), ("the b already stands on the a",)),
        (Action("free", ("a",)), ("the b stands on the a",)),
        (Action("restore", ("c",), (0.5, 0.07, 0.02, SIDE, SIDE, SIDE)), ("the d stands where the c has to go",)),
        (Action("restore", ("c",), (0.4, 0.0, 0.06, SIDE, SIDE, SIDE)), ("there is no support for the c",)),
        (Action("restore", ("c",), (0.4, 0.0, 0.02, SIDE, SIDE, SIDE)), ()),
        (Action("left", ("c", "a")), ("the d already stands to the left of the a",)),
    ],
)
def test_preconditions_say_what_is_in_the_way(action: Action, words: tuple[str, ...]) -> None:
    assert tuple(map(TABLETOP.text, operator_of(action).violated(TOWER, action))) == words


def test_effects_of_actions_with_a_target_are_judged_by_distance() -> None:
    near, far = ((0.5, 0.01, 0.1, SIDE, SIDE, SIDE), (0.5, 0.03, 0.1, SIDE, SIDE, SIDE))
    for target, reached in ((near, True), (far, False)):
        action = Action("restore", ("c",), target)
        assert operator_of(action).achieved(TOWER, TOWER, action) is reached
