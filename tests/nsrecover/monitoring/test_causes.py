"""Causes on hand-built scenes: each one is read off the boxes, and only that one."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nsrecover.core import Cause, Plan, ReasonCode, RecoveryStatus, SceneGraph, Trace
from nsrecover.monitoring.box_causes import Situation, cause_of

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
    assert (found.cause, found.observed, found.distance_m) == (Cause.MISSING, None, float("inf"))
    assert found.distance_m > 0.02


def test_help_names_the_step_after_which_it_is_right() -> None:
    found = cause_of(situation(graph(HELPED)), NAMES.index("side"))
    assert found.subgoal == 2


LATER = {**STACKED, "side": (0.3, 0.2, 0.02)}


def on_the_way(
    observed: dict[str, tuple[float, float, float]], sizes: dict[str, tuple[float, float, float]]
) -> Situation:
    """After `top(top, middle)`, with `left(side, ...)` still to come: its place is at (0.3, 0.2)."""
    plan = Plan.parse("top(top, middle); left(side, other)")
    trace = Trace(plan, (graph(START), graph(STACKED), graph(LATER)))
    seen = graph({**STACKED, **observed})
    for name, size in sizes.items():
        seen.boxes[NAMES.index(name), 3:] = size
    apart = [np.linalg.norm(g.boxes[:, :3] - seen.boxes[:, :3], axis=1) for g in trace.graphs]
    same = np.array([distance < 0.02 for distance in apart])
    later = same.copy()
    later[:2] = False
    wrong = tuple(int(i) for i in np.flatnonzero(~same[1]))
    return Situation(trace, 1, NAMES.index("top"), seen, same[1].astype(np.float32), wrong, later)


LYING = (SIDE + 0.015, SIDE + 0.012, SIDE)


@pytest.mark.parametrize(
    ("observed", "sizes", "culprit", "cause", "other"),
    [
        # the way goes from (0.5, 0.2) to (0.5, 0)
        ({"top": (0.5, 0.12, 0.02)}, {}, "top", Cause.DROPPED, "table"),
        ({"top": (0.3, -0.2, 0.02)}, {}, "top", Cause.MISPLACED, "table"),
        ({"top": (0.3, -0.2, 0.02)}, {"top": LYING}, "top", Cause.DROPPED, "table"),
        ({"top": (0.4, -0.1, 0.06)}, {}, "top", Cause.MISPLACED, "other"),
        ({"middle": (0.3, -0.2, 0.02)}, {}, "middle", Cause.MOVED, "table"),
        ({"middle": (0.3, -0.2, 0.02)}, {"middle": LYING}, "middle", Cause.TOPPLED, "table"),
        ({"other": (0.31, 0.2, 0.02)}, {}, "other", Cause.BLOCKING, "side"),
        ({"other": (0.4, 0.1, 0.06)}, {}, "other", Cause.BLOCKING, "side"),
        ({"side": (0.3, 0.2, 0.02)}, {}, "side", Cause.HELPED, "table"),
    ],
)
def test_what_fell_is_told_from_what_was_put(
    observed: dict[str, tuple[float, float, float]],
    sizes: dict[str, tuple[float, float, float]],
    culprit: str,
    cause: Cause,
    other: str,
) -> None:
    found = cause_of(on_the_way(observed, sizes), NAMES.index(culprit))
    assert (found.cause, found.other) == (cause, other)


def test_what_goes_away_before_is_not_in_the_way() -> None:
    there = on_the_way({"side": (0.31, 0.1, 0.02)}, {})
    assert cause_of(there, NAMES.index("side")).cause is Cause.MOVED


def test_one_of_a_pile_that_tumbled_fell_with_the_rest() -> None:
    """Both came down from one pile; that one of them lies another way says that nobody carried them."""
    pile = {**STACKED, "side": (0.5, 0, 0.14), "middle": (0.5, 0, 0.06)}
    trace = Trace(Plan.parse("top(side, top)"), (graph(STACKED), graph(pile)))
    down = {"top": (0.3, -0.2, 0.02), "middle": (0.3, 0.25, 0.02), "side": (0.5, 0.0, 0.06)}
    for tumbled, cause in ((False, Cause.MOVED), (True, Cause.TOPPLED)):
        seen = graph({**pile, **down})
        if tumbled:
            seen.boxes[NAMES.index("middle"), 3:] = LYING
        wrong = tuple(NAMES.index(name) for name in down)
        found = Situation(
            trace, 1, NAMES.index("side"), seen, np.zeros(5, np.float32), wrong, np.zeros((2, 5), np.bool_)
        )
        assert cause_of(found, NAMES.index("top")).cause is cause


@pytest.mark.parametrize(("newcomer", "cause"), [("side", Cause.REPLACED), ("other", Cause.MISSING)])
def test_an_object_is_replaced_only_by_a_new_one_in_its_place(newcomer: str, cause: Cause) -> None:
    seen = graph({**STACKED, "side": STACKED["base"]}, unseen=("base",))
    found = cause_of(replace(situation(seen), newcomers=(newcomer,)), NAMES.index("base"))
    assert (found.cause, found.other) == (cause, newcomer if cause is Cause.REPLACED else None)
    assert found.observed is None


# -- cause codes are stable and documented: the page is the enumeration


PAGE = (Path(__file__).parents[3] / "docs" / "causes.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", PAGE, flags=re.MULTILINE))


def test_no_code_was_renamed_or_taken_away() -> None:
    first_published = {
        "moved", "missing", "not_lifted", "dropped", "misplaced", "toppled", "swapped", "helped", "blocking"
    }  # fmt: skip
    assert first_published <= {cause.value for cause in Cause}


def test_the_page_lists_exactly_the_codes_and_their_meanings() -> None:
    assert {cause.value: cause.meaning for cause in Cause}.items() <= ROWS.items()
    assert set(ROWS) == {code.value for code in (*Cause, *RecoveryStatus, *ReasonCode)}
