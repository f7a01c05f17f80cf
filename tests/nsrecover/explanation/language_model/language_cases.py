"""Test failures, and more than a thousand false sentences about them of many kinds."""

import json
from pathlib import Path

from nsrecover.core import Action, Cause, Deviation, Discrepancy, Fact, Phase, Recovery, RecoveryStatus
from tests.nsrecover.explanation.made_failures import BACK, COLLAPSE, ONE_OF_EACH, SIZE, discrepancy, on_table

LATER = Recovery(RecoveryStatus.RECOVERED, (Action.parse("free(dark red cube)"),), (), subgoal=6, cost=1)
DONE = Recovery(RecoveryStatus.ALREADY_AT_SUBGOAL, subgoal=6)
NO_WAY = Recovery(
    RecoveryStatus.IMPOSSIBLE, note="the white lego is missing", blamed=("white lego", "blue cube"), expansions=9
)
OUT_OF_TIME = Recovery(RecoveryStatus.BUDGET_EXHAUSTED, seconds=1.04, expansions=321)
BLOCKED = discrepancy(
    Deviation(
        "dark red cube", Cause.BLOCKING, 0.02, 0.1, (0.6, 0.2, 0.02, SIZE, SIZE, SIZE), on_table(0.5, 0.1), "red cube"
    ),
    phase=Phase.BEFORE,
    unmet=(Fact("covered", ("dark red cube", "red cube")),),
)

CASES: dict[str, tuple[Discrepancy, Recovery | None]] = {
    **{cause.value: (case, None) for cause, case in ONE_OF_EACH.items()},
    "collapse": (COLLAPSE, BACK),
    "collapse, later": (COLLAPSE, LATER),
    "collapse, done": (COLLAPSE, DONE),
    "collapse, no way": (COLLAPSE, NO_WAY),
    "collapse, out of time": (COLLAPSE, OUT_OF_TIME),
    "blocked": (BLOCKED, None),
}

LIES: dict[str, dict[str, list[str]]] = json.loads(Path(__file__).with_name("lies.json").read_text(encoding="utf-8"))
"""Kind of lie -> case -> false sentences about it."""
