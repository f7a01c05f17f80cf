"""Causes on hand-built scenes: each one is read off the boxes, and only that one."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nsrecover.core import Cause, Plan, ReasonCode, RecoveryStatus, SceneGraph, Trace
from nsrecover.monitoring.box_causes import Situation, cause_of

SIDE = 0.04
LYING = (SIDE + 0.015, SIDE + 0.012, SIDE)
NAMES = ("base", "middle", "top", "side", "other")
START = {"base": (0.5, 0, 0.02), "middle": (0.5, 0, 0.06), "top": (0.5, 0.2, 0.02), "side": (0.4, 0.1, 0.02),
         "other": (0.4, -0.1, 0.02)}  # fmt: skip
STACKED = {**START, "top": (0.5, 0, 0.10)}
HELPED = {**STACKED, "side": (0.5, 0, 0.14)}


def graph(
    centres: dict[str, tuple[float, float, float]], unseen: tuple[str, ...] = (), lying: tuple[str, ...] = ()
) -> SceneGraph:
    sizes = {name: LYING if name in lying else (SIDE, SIDE, SIDE) for name in NAMES}
    boxes = np.array([[*centres[name], *sizes[name]] for name in NAMES], np.float32)
    return SceneGraph(NAMES, np.eye(5, dtype=np.float32), boxes, np.array([name not in unseen for name in NAMES]))


def course(action: str, last: dict[str, tuple[float, float, float]]) -> Trace:
    return Trace(Plan.parse(f"top(top, middle); {action}"), (graph(START), graph(STACKED), graph(last)))


UPON = course("top(side, top)", HELPED)
BESIDE = course("left(side, other)", {**STACKED, "side": (0.3, 0.2, 0.02)})


def situation(observed: SceneGraph, trace: Trace = UPON) -> Situation:
    """After the first action."""
    apart = [np.linalg.norm(g.boxes[:, :3] - observed.boxes[:, :3], axis=1) for g in trace.graphs]
    same = np.array([distance < 0.02 for distance in apart]) & observed.seen
    later = same.copy()
    later[:2] = False
    wrong = tuple(np.flatnonzero(~same[1]).tolist())
    return Situation(trace, 1, NAMES.index("top"), observed, same[1].astype(np.float32), wrong, later)


@pytest.mark.parametrize(
    ("trace", "changes", "lying", "culprit", "cause", "other"),
    [
        (UPON, {"top": START["top"]}, (), "top", Cause.NOT_LIFTED, "table"),
        (UPON, {"top": (0.5, 0.13, 0.02)}, (), "top", Cause.DROPPED, "table"),
        (UPON, {"top": (0.5, 0.045, 0.02)}, (), "top", Cause.DROPPED, "table"),
        (UPON, {"top": (0.525, 0, 0.10)}, (), "top", Cause.MISPLACED, "middle"),
        (UPON, {"middle": (0.56, 0, 0.02)}, (), "middle", Cause.TOPPLED, "table"),
        (UPON, {"base": (0.55, 0.05, 0.02)}, (), "base", Cause.MOVED, "table"),
        (UPON, {"side": START["other"], "other": START["side"]}, (), "side", Cause.SWAPPED, "other"),
        (UPON, {"side": START["other"], "other": START["side"]}, (), "other", Cause.SWAPPED, "side"),
        (UPON, {"side": HELPED["side"]}, (), "side", Cause.HELPED, "top"),
        # the way goes from (0.5, 0.2) to (0.5, 0)
        (BESIDE, {"top": (0.5, 0.12, 0.02)}, (), "top", Cause.DROPPED, "table"),
        (BESIDE, {"top": (0.3, -0.2, 0.02)}, (), "top", Cause.MISPLACED, "table"),
        (BESIDE, {"top": (0.3, -0.2, 0.02)}, ("top",), "top", Cause.DROPPED, "table"),
        (BESIDE, {"top": (0.4, -0.1, 0.06)}, (), "top", Cause.MISPLACED, "other"),
        (BESIDE, {"middle": (0.3, -0.2, 0.02)}, (), "middle", Cause.MOVED, "table"),
        (BESIDE, {"middle": (0.3, -0.2, 0.02)}, ("middle",), "middle", Cause.TOPPLED, "table"),
        (BESIDE, {"other": (0.31, 0.2, 0.02)}, (), "other", Cause.BLOCKING, "side"),
        (BESIDE, {"other": (0.4, 0.1, 0.06)}, (), "other", Cause.BLOCKING, "side"),
        (BESIDE, {"side": (0.3, 0.2, 0.02)}, (), "side", Cause.HELPED, "table"),
        # it goes away before anything comes there
        (BESIDE, {"side": (0.31, 0.1, 0.02)}, (), "side", Cause.MOVED, "table"),
    ],
)
def test_the_cause_is_read_off_the_scene(
    trace: Trace,
    changes: dict[str, tuple[float, float, float]],
    lying: tuple[str, ...],
    culprit: str,
    cause: Cause,
    other: str,
) -> None:
    found = cause_of(situation(graph({**STACKED, **changes}, lying=lying), trace), NAMES.index(culprit))
    assert (found.name, found.cause, found.other) == (culprit, cause, other)
    assert found.distance_m > 0.02


def test_an_object_that_is_gone_is_missing_at_an_infinite_distance() -> None:
    found = cause_of(situation(graph(STACKED, unseen=("side",))), NAMES.index("side"))
    assert (found.cause, found.observed, found.distance_m) == (Cause.MISSING, None, float("inf"))


def test_help_names_the_step_after_which_it_is_right() -> None:
    assert cause_of(situation(graph(HELPED)), NAMES.index("side")).subgoal == 2


def test_one_of_a_pile_that_tumbled_fell_with_the_rest() -> None:
    """Both came down from one pile; that one of them lies another way says that nobody carried them."""
    trace = Trace(Plan.parse("top(side, top)"), (graph(STACKED), graph(HELPED)))
    down = {"top": (0.3, -0.2, 0.02), "middle": (0.3, 0.25, 0.02), "side": (0.5, 0.0, 0.06)}
    wrong = tuple(map(NAMES.index, down))
    for lying, cause in (((), Cause.MOVED), (("middle",), Cause.TOPPLED)):
        seen = graph({**HELPED, **down}, lying=lying)
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
