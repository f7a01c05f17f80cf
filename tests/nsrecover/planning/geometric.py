"""Planning models without learning: exact geometry in place of the networks, and hand-made scenes."""

from dataclasses import dataclass, replace

import numpy as np

from nsrecover.core import Action, Cause, Deviation, Discrepancy, Phase, Plan, Recovery, SceneGraph, Trace
from nsrecover.domains.tabletop.operators import OPERATORS, moved_object, operator_of
from nsrecover.explanation import reason_text
from nsrecover.planning.planner import RecoveryPlanner

SIDE = 0.05
H = SIDE / 2
FIVE = ((0.5, 0.0), (0.4, 0.2), (0.4, -0.2), (0.6, 0.2), (0.6, -0.2))
GAP = 0.03
DIRECTIONS = {"left": (0, 1), "right": (0, -1), "front": (-1, 0), "behind": (1, 0)}
COLOURS = ("red", "green", "blue", "yellow", "white", "black", "pink", "orange", "purple", "brown")


@dataclass
class GeometricModels:
    """`top` is centred above, beside leaves a gap of 30 mm, same is within 2 cm in place and 1.5 cm in size."""

    threshold: float = 0.5
    tolerance_m: float = 0.02
    workspace: tuple[float, float, float, float] = (0.3, -0.35, 0.75, 0.35)
    reach_m: tuple[float, float] = (0.25, 0.85)
    room_m: float | None = None

    def predict(self, visual, boxes, operators, moved, reference):
        box, names = boxes[np.arange(len(boxes)), moved].copy(), list(OPERATORS)
        for row, operator in enumerate(operators):
            other = boxes[row, reference[row]]
            if names[operator] == "top":
                box[row, :2] = other[:2]
                box[row, 2] = other[2] + (other[5] + box[row, 5]) / 2
            else:
                direction = np.array(DIRECTIONS[names[operator]])
                box[row, :2] = other[:2] + direction * ((other[3:5] + box[row, 3:5]) / 2 + GAP)
                box[row, 2] = other[2] - other[5] / 2 + box[row, 5] / 2
        return box, visual[np.arange(len(boxes)), moved]

    def learned(self, visual):
        return visual

    def same(self, visual_a, boxes_a, visual_b, boxes_b):
        away = np.linalg.norm(boxes_a[:, :3] - boxes_b[:, :3], axis=1)
        size = np.abs(boxes_a[:, 3:] - boxes_b[:, 3:]).max(axis=1)
        right = (away < 0.02) & (size < 0.015)
        return np.where(right, 0.97, 0.02 + 0.1 * np.exp(-away / 0.1)).astype(np.float32)

    def free_box(self, boxes, moved):
        """The object's own place: a proposal that is always wrong when the place is needed."""
        return np.asarray(boxes)[np.arange(len(boxes)), moved].copy()


def scene(*places: tuple[float, float, float], side: float = SIDE) -> SceneGraph:
    """Cubes with these centres, named after their colours."""
    boxes = np.array([[*place, side, side, side] for place in places], dtype=np.float32)
    visual = np.eye(len(places), 16, dtype=np.float32)
    return SceneGraph(
        tuple(f"{colour} cube" for colour in COLOURS[: len(places)]), visual, boxes, np.ones(len(places), bool)
    )


def table(*places: tuple[float, float]) -> SceneGraph:
    """Cubes on the table."""
    return scene(*((x, y, SIDE / 2) for x, y in places))


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


def step(models: GeometricModels, graph: SceneGraph, action: Action) -> SceneGraph:
    """The scene after an action."""
    index = moved_object(graph, action)
    if action.target is not None:
        return graph.with_node(index, action.target)
    box, _ = models.predict(
        graph.visual[None],
        graph.boxes[None],
        [list(OPERATORS).index(action.operator)],
        [index],
        [graph.index(action.arguments[1])],
    )
    return graph.with_node(index, box[0])


def imagine(models: GeometricModels, graph: SceneGraph, steps: Plan) -> Trace:
    """The trace of a plan."""
    graphs = [graph]
    for action in steps:
        graphs.append(step(models, graphs[-1], action))
    return Trace(steps, tuple(graphs))


def compare(models: GeometricModels, graph: SceneGraph, trace: Trace, number: int, **causes: Cause) -> Discrepancy:
    """What a monitor would report after step `number`; causes by colour where they matter."""
    expected = trace.graphs[number + 1]
    same = models.same(expected.visual, expected.boxes, graph.visual, graph.boxes) * graph.seen
    deviations = []
    for i in np.flatnonzero(same < models.threshold):
        name = graph.names[i]
        cause = causes.get(name.split()[0], Cause.MOVED if graph.seen[i] else Cause.MISSING)
        observed = None if cause is Cause.MISSING else tuple(map(float, graph.boxes[i]))
        away = float(np.linalg.norm(expected.boxes[i, :3] - graph.boxes[i, :3]))
        deviations.append(Deviation(name, cause, float(same[i]), away, tuple(map(float, expected.boxes[i])), observed))
    return Discrepancy(
        number,
        Phase.AFTER,
        trace.plan[number],
        expected,
        graph,
        tuple(deviations),
        probabilities=same,
        threshold=models.threshold,
    )


def recovered(models: GeometricModels, graph: SceneGraph, trace: Trace, number: int, **settings: object) -> Recovery:
    """Plan, and check that what comes back is sound: runnable, in step with its graphs, ending at the subgoal."""
    recovery = RecoveryPlanner(models).recover(graph, trace, compare(models, graph, trace, number), **settings)
    if not recovery.found:
        assert recovery.actions == ()
        assert reason_text(recovery)
        return recovery
    now = graph
    for action, imagined in zip(recovery.actions, recovery.graphs, strict=True):
        assert operator_of(action).violated(now, action) == (), str(action)
        if action.operator in ("free", "restore"):
            assert action.target is not None
        now = step(models, now, action)
        np.testing.assert_allclose(now.boxes, imagined.boxes, atol=1e-5)
    goal = trace.graphs[recovery.subgoal]
    assert (models.same(goal.visual, goal.boxes, now.visual, now.boxes) >= models.threshold).all()
    assert recovery.cost == len(recovery.actions) + len(trace.plan) - recovery.subgoal
    return recovery
