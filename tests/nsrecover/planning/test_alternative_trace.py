"""What may stay where it is: recoveries that restore relations instead of places."""

import numpy as np
import pytest

from nsrecover.core import Recovery, SceneGraph, Trace
from nsrecover.domains.tabletop.operators import operator_of
from nsrecover.monitoring.resting_places import rejoined
from nsrecover.planning.planner import RecoveryPlanner, Rejoin
from tests.nsrecover.planning.geometric import FIVE, MODELS, SIDE, H, compare, imagine, moved, plan, step, table

TOWER = "top green red; top blue green; top yellow blue"


def both(graph: SceneGraph, trace: Trace, number: int) -> dict[Rejoin, Recovery]:
    """Recoveries by place and by relation, each carried out along with the rest of the plan."""
    found = {}
    for kind in Rejoin:
        planner = RecoveryPlanner(MODELS, rejoin=kind)
        recovery = planner.recover(graph, trace, compare(graph, trace, number), budget_s=None)
        found[kind] = recovery
        if not recovery.found:
            continue
        assert recovery.proven_optimal
        course = rejoined(graph, trace, recovery)
        now = graph
        for action, imagined in zip(course.plan, course.graphs[1:], strict=True):
            assert operator_of(action).violated(now, action) == (), str(action)
            now = step(now, action)
            assert (MODELS.same(imagined.visual, imagined.boxes, now.visual, now.boxes) >= 0.5).all(), str(action)
        for action in trace.plan:  # what the plan was for
            assert operator_of(action).achieved(now, now, action), str(action)
    return found


def test_a_displaced_object_stays_if_that_is_cheaper_by_as_little_as_a_millionth() -> None:
    trace = imagine(table(*FIVE), plan(TOWER))
    fallen = moved(trace.graphs[1], red=(0.5, 0.09, H), green=(0.4, 0.05, H))
    planner = RecoveryPlanner(MODELS, lambda a: 1e-6 if a.arguments[0] == "red cube" else 1.0, Rejoin.RELATIONS)
    found = planner.recover(fallen, trace, compare(fallen, trace, 0), budget_s=None)
    assert (found.cost, found.lower_bound, found.proven_optimal) == (3.0, pytest.approx(3.0, abs=1e-9), True)
    assert found.staying == ("red cube",)


def test_it_does_not_stay_where_a_later_step_needs_the_place() -> None:
    trace = imagine(table(*FIVE), plan("top green red; left blue red"))
    in_way = moved(trace.graphs[1], white=(0.5, 0.09, H))  # left of red
    found = both(in_way, trace, 0)
    assert found[Rejoin.RELATIONS].cost == found[Rejoin.POSE].cost == 2


def test_it_does_not_stay_where_something_would_come_to_rest_on_it_too() -> None:
    """Red will carry a wide brick, which would reach over to white, as high as red and close beside it."""
    graph = table(*FIVE)
    wide = graph.boxes[graph.index("green cube")].copy()
    wide[4] = 0.13  # sideways
    graph = graph.with_node(graph.index("green cube"), wide)
    trace = imagine(graph, plan("behind blue yellow; top green red"))
    beside = moved(trace.graphs[1], white=(0.5, 0.055, H))
    found = both(beside, trace, 0)
    assert [str(action) for action in found[Rejoin.RELATIONS].actions] == ["restore(white cube)"]
    farther = both(moved(trace.graphs[1], white=(0.5, 0.12, H)), trace, 0)
    assert farther[Rejoin.RELATIONS].actions == ()


@pytest.mark.parametrize("seed", range(30))
def test_restoring_relations_never_takes_more_actions(seed: int) -> None:
    """Random collapses and pushes on random plans."""
    rng = np.random.default_rng(seed)
    colours = ["green", "blue", "yellow", "white"]
    rng.shuffle(colours)
    text, top, base = [], "red", "red"
    for colour in colours[:3]:
        if rng.random() < 0.6:
            text.append(f"top {colour} {top}")
            top = colour
        else:
            text.append(f"{rng.choice(['left', 'behind'])} {colour} {base}")
            top = base = colour
    trace = imagine(table(*FIVE), plan("; ".join(text)))
    number = int(rng.integers(3))
    graph = trace.graphs[number + 1]
    for name in rng.permutation(graph.names)[: int(rng.integers(1, 4))]:
        if any(operator_of(action).violated(graph, action) for action in plan(f"free {name.split()[0]}")):
            continue  # something stands on it
        for _ in range(100):
            place = np.array([rng.uniform(0.35, 0.7), rng.uniform(-0.3, 0.3), H])
            others = np.delete(graph.boxes, graph.index(name), axis=0)
            if (np.abs(others[:, :2] - place[:2]).max(axis=1) > SIDE + 0.01).all():
                graph = moved(graph, **{name.split()[0]: tuple(place)})
                break
    found = both(graph, trace, number)
    assert found[Rejoin.RELATIONS].found == found[Rejoin.POSE].found
    assert found[Rejoin.RELATIONS].cost <= found[Rejoin.POSE].cost
