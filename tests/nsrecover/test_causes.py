"""Causes on hand-built scenes: each one is read off the boxes, and only that one."""

import numpy as np
import pytest

from nsrecover.causes import Situation, cause_of
from nsrecover.structs import Cause, Plan, SceneGraph, Trace

SIDE = 0.04
NAMES = ("base", "middle", "top", "side", "other")
START = {"base": (0.5, 0, 0.02), "middle": (0.5, 0, 0.06), "top": (0.5, 0.2, 0.02), "side": (0.4, 0.1, 0.02),
         "other": (0.4, -0.1, 0.02)}  # fmt: skip
STACKED = {**START, "top": (0.5, 0, 0.10)}
HELPED = {**STACKED, "side": (0.5, 0, 0.14)}


def graph(centres: dict[str, tuple[float, float, float]], unseen: tuple[str, ...] = ()) -> SceneGraph:
    boxes = np.array([[*centres[name], SIDE, SIDE, SIDE] for name in NAMES], np.float32)
    return SceneGraph(NAMES, np.eye(5, dtype=np.float32), boxes, np.array([name not in unseen for name in NAMES]))


def situation(observed: SceneGraph, moved: bool = True) -> Situation:
    plan = Plan.parse("top(top, middle); top(side, top)")
    trace = Trace(plan, (graph(START), graph(STACKED), graph(HELPED)))
    apart = [np.linalg.norm(g.boxes[:, :3] - observed.boxes[:, :3], axis=1) for g in trace.graphs]
    same = np.array([distance < 0.02 for distance in apart]) & observed.seen
    later = same.copy()
    later[:2] = False
    return Situation(
        trace=trace,
        done=1,
        moved=NAMES.index("top") if moved else None,
        observed=observed,
        probabilities=same[1].astype(np.float32),
        wrong=tuple(int(i) for i in np.flatnonzero(~same[1])),
        later=later,
    )


@pytest.mark.parametrize(
    ("changes", "culprit", "cause", "other"),
    [
        ({"top": START["top"]}, "top", Cause.NOT_LIFTED, "table"),
        ({"top": (0.5, 0.13, 0.02)}, "top", Cause.DROPPED, "table"),
        ({"top": (0.5, 0.045, 0.02)}, "top", Cause.DROPPED, "table"),
        ({"top": (0.525, 0, 0.10)}, "top", Cause.MISPLACED, "middle"),
        ({"middle": (0.56, 0, 0.02)}, "middle", Cause.TOPPLED, "table"),
        ({"base": (0.55, 0.05, 0.02)}, "base", Cause.MOVED, "table"),
        ({"side": START["other"], "other": START["side"]}, "side", Cause.SWAPPED, "other"),
        ({"side": START["other"], "other": START["side"]}, "other", Cause.SWAPPED, "side"),
        ({"side": HELPED["side"]}, "side", Cause.HELPED, "top"),
    ],
)
def test_the_cause_is_read_off_the_scene(
    changes: dict[str, tuple[float, float, float]], culprit: str, cause: Cause, other: str
) -> None:
    found = cause_of(situation(graph({**STACKED, **changes})), NAMES.index(culprit))
    assert (found.name, found.cause, found.other) == (culprit, cause, other)
    assert found.distance_m > 0.02


def test_an_object_that_is_gone_is_missing_at_an_infinite_distance() -> None:
    found = cause_of(situation(graph(STACKED, unseen=("side",))), NAMES.index("side"))
    assert found.cause is Cause.MISSING
    assert found.observed is None
    assert found.distance_m == float("inf")


def test_help_names_the_step_after_which_it_is_right() -> None:
    found = cause_of(situation(graph(HELPED)), NAMES.index("side"))
    assert found.subgoal == 2
