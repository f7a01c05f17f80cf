"""Records of episodes made by hand."""

from typing import Any

from eval.sweep.records import ActionRecord, EpisodeRecord, OptimumRecord, RecoveryRecord


def action(wrong: str = "", noticed: bool | None = None, culprits: str = "", step: int | None = 0) -> ActionRecord:
    """An action; `wrong` and `culprits` are letters, one for each object; noticed if there are culprits."""
    said = bool(culprits) if noticed is None else noticed
    named = dict.fromkeys(culprits, "moved")
    return ActionRecord("top(a, b)", step, ("slip",) * bool(wrong), dict.fromkeys(wrong, "off"), True, said, named, ())


def recovery(after: int = 1, **changes: Any) -> RecoveryRecord:
    """A right recovery of one error in object a: two actions where two are the best, in 20 ms, two steps to go."""
    given: dict[str, Any] = {
        "after": after, "step": 0, "phase": "after", "errors": 1, "faults": ("slip",), "wrong": {"a": "off"},
        "culprits": {"a": "moved"}, "violated": (), "lost": {}, "status": "recovered", "actions": ("x", "y"),
        "subgoal": 1, "cost": 4.0, "proven": True, "expansions": 3, "seconds": 0.02, "cpu_s": 0.01, "reason": "",
        "blamed": (), "right": True, "astray": {}, "best": OptimumRecord(4, 2, 2),
    }  # fmt: skip
    return RecoveryRecord(**(given | changes))


def record(number: int = 0, **changes: Any) -> EpisodeRecord:
    """An episode with one error that is noticed and recovered."""
    given: dict[str, Any] = {
        "dataset": "I", "episode": number, "objects": 5, "length": 3, "scheduled": 1,
        "recoverable": True, "actions": (action("a", culprits="a"), *[action()] * 4), "recoveries": (recovery(),),
        "status": "completed", "reason": "", "deviations": {}, "unmet": (), "unnoticed": (), "seconds": 2.0,
        "cpu_s": 1.5, "planning_s": 0.02, "planning_cpu_s": 0.01,
    }  # fmt: skip
    return EpisodeRecord(**(given | changes))
