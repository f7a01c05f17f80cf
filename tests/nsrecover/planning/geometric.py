"""Hand-made scenes of cubes, and what is imagined, noticed and recovered in them by geometry."""

from dataclasses import replace

import numpy as np

from nsrecover.core import Action, Discrepancy, Plan, Recovery, SceneGraph, Trace
from nsrecover.domains.tabletop.operators import operator_of
from nsrecover.explanation import reason_text
from nsrecover.models.geometric import GeometricModels
from nsrecover.monitoring.comparison import Comparison
from nsrecover.monitoring.imagination import Imagination
from nsrecover.planning.planner import RecoveryPlanner

SIDE = 0.05
H = SIDE / 2
FIVE = ((0.5, 0.0), (0.4, 0.2), (0.4, -0.2), (0.6, 0.2), (0.6, -0.2))
MODELS = GeometricModels()
COLOURS = ("red", "green", "blue", "yellow", "white", "black", "pink", "orange", "purple", "brown")


def table(*places: tuple[float, float]) -> SceneGraph:
    """Cubes on the table, named after their colours."""
    boxes = np.array([[*place, H, SIDE, SIDE, SIDE] for place in places], dtype=np.float32)
    names = tuple(f"{colour} cube" for colour in COLOURS[: len(places)])
    return SceneGraph(names, np.eye(len(places), 16, dtype=np.float32), boxes, np.ones(len(places), bool))


def moved(graph: SceneGraph, **places: tuple[float, float, float]) -> SceneGraph:
    """A copy in which cubes, by colour, have other centres."""
    for colour, place in places.items():
        index = graph.index(f"{colour} cube")
        graph = graph.with_node(index, [*place, *graph.boxes[index, 3:]])
    return graph


def unseen(graph: SceneGraph, colour: str) -> SceneGraph:
    """A copy in which a cube is out of sight."""
    seen = graph.seen.copy()
    seen[graph.index(f"{colour} cube")] = False
    return replace(graph, seen=seen)


def plan(text: str) -> Plan:
    """`top green red; ...` with colours for cubes."""
    actions = []
    for part in text.split(";"):
        operator, *colours = part.split()
        actions.append(Action(operator, tuple(f"{colour} cube" for colour in colours)))
    return Plan(tuple(actions))


def step(graph: SceneGraph, action: Action) -> SceneGraph:
    return Imagination(MODELS).step(graph, action)


def imagine(graph: SceneGraph, steps: Plan) -> Trace:
    return Imagination(MODELS).trace(graph, steps)


def compare(graph: SceneGraph, trace: Trace, number: int) -> Discrepancy:
    """What a monitor would report after step `number`."""
    return Comparison(MODELS).after(graph, trace, number)


def recovered(graph: SceneGraph, trace: Trace, number: int, **settings: object) -> Recovery:
    """Plan, and check that what comes back is sound: runnable, in step with its graphs, ending at the subgoal."""
    recovery = RecoveryPlanner(MODELS).recover(graph, trace, compare(graph, trace, number), **settings)
    if not recovery.found:
        assert recovery.actions == ()
        assert reason_text(recovery)
        return recovery
    now = graph
    for action, imagined in zip(recovery.actions, recovery.graphs, strict=True):
        assert operator_of(action).violated(now, action) == (), str(action)
        if action.operator in ("free", "restore"):
            assert action.target is not None
        now = step(now, action)
        np.testing.assert_allclose(now.boxes, imagined.boxes, atol=1e-5)
    goal = trace.graphs[recovery.subgoal]
    assert (MODELS.same(goal.visual, goal.boxes, now.visual, now.boxes) >= MODELS.threshold).all()
    assert recovery.cost == len(recovery.actions) + len(trace.plan) - recovery.subgoal
    return recovery
