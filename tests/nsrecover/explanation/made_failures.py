"""Failures of a tower of boxes, and a recovery, for tests of explanations."""

import numpy as np

from nsrecover.core import Action, Box, Cause, Deviation, Discrepancy, Fact, Phase, Recovery, RecoveryStatus, SceneGraph

SIZE = 0.04
PLACES: dict[str, Box] = {
    "white lego": (0.5, 0.0, 0.02, SIZE, SIZE, SIZE),
    "green die": (0.5, 0.0, 0.06, SIZE, SIZE, SIZE),
    "blue cube": (0.5, 0.0, 0.10, SIZE, SIZE, SIZE),
    "red cube": (0.5, 0.0, 0.14, SIZE, SIZE, SIZE),
    "dark red cube": (0.6, 0.2, 0.02, SIZE, SIZE, SIZE),
}
"""A tower of four, and one cube next to it."""


def graph(**moved: Box) -> SceneGraph:
    """Return the tower with moved objects; keyword names have underscores for spaces."""
    boxes = {**PLACES, **{name.replace("_", " "): box for name, box in moved.items()}}
    return SceneGraph(
        tuple(boxes),
        np.eye(len(boxes), dtype=np.float32),
        np.asarray(list(boxes.values()), np.float32),
        np.ones(len(boxes), np.bool_),
    )


def on_table(x: float, y: float) -> Box:
    return (x, y, 0.02, SIZE, SIZE, SIZE)


def culprit(
    name: str, cause: Cause, observed: Box | None, other: str | None = None, subgoal: int | None = None
) -> Deviation:
    expected = PLACES[name]
    distance = float("inf") if observed is None else float(np.linalg.norm(np.subtract(observed[:3], expected[:3])))
    return Deviation(name, cause, 0.02, distance, expected, observed, other, subgoal)


def discrepancy(
    *culprits: Deviation,
    action: str = "top(red cube, blue cube)",
    phase: Phase = Phase.AFTER,
    unmet: tuple[Fact, ...] = (),
) -> Discrepancy:
    expected = graph()
    observed = graph(**{c.name.replace(" ", "_"): c.observed for c in culprits if c.observed is not None})
    wrong = {c.name for c in culprits}
    probabilities = np.asarray([0.02 if name in wrong else 0.99 for name in expected.names], np.float32)
    return Discrepancy(
        3,
        phase,
        Action.parse(action),
        expected,
        observed,
        culprits,
        unmet,
        probabilities=probabilities,
    )


COLLAPSE = discrepancy(
    culprit("green die", Cause.TOPPLED, on_table(0.4, 0.1), "table"),
    culprit("blue cube", Cause.TOPPLED, on_table(0.35, 0.0), "table"),
    culprit("red cube", Cause.DROPPED, on_table(0.3, -0.1), "table"),
)

ONE_OF_EACH = {
    Cause.TOPPLED: discrepancy(culprit("blue cube", Cause.TOPPLED, on_table(0.4, 0.1), "table")),
    Cause.DROPPED: discrepancy(culprit("red cube", Cause.DROPPED, on_table(0.5, -0.3), "table")),
    Cause.NOT_LIFTED: discrepancy(culprit("red cube", Cause.NOT_LIFTED, on_table(0.3, -0.3), "table")),
    Cause.MISPLACED: discrepancy(culprit("red cube", Cause.MISPLACED, (0.47, 0.0, 0.14, SIZE, SIZE, SIZE))),
    Cause.MISSING: discrepancy(culprit("dark red cube", Cause.MISSING, None)),
    Cause.SWAPPED: discrepancy(
        culprit("white lego", Cause.SWAPPED, PLACES["dark red cube"], "dark red cube"),
        culprit("dark red cube", Cause.SWAPPED, PLACES["white lego"], "white lego"),
    ),
    Cause.MOVED: discrepancy(culprit("dark red cube", Cause.MOVED, on_table(0.6, 0.27))),
    Cause.BLOCKING: discrepancy(
        culprit("dark red cube", Cause.BLOCKING, (0.5, 0, 0.18, SIZE, SIZE, SIZE), "red cube"), phase=Phase.BEFORE
    ),
    Cause.HELPED: discrepancy(culprit("red cube", Cause.HELPED, PLACES["red cube"], None, 5), phase=Phase.BEFORE),
}
"""A failure of boxes for every cause that they have."""


BACK = Recovery(
    RecoveryStatus.RECOVERED,
    tuple(map(Action.parse, ("restore(green die)", "restore(blue cube)", "top(red cube, blue cube)"))),
    (
        graph(blue_cube=on_table(0.35, 0.0), red_cube=on_table(0.3, -0.1)),
        graph(red_cube=on_table(0.3, -0.1)),
        graph(),
    ),
    subgoal=4,
    cost=3,
    proven_optimal=True,
)
