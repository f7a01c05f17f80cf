"""What the monitor says, as the fields of `nsrecover_interfaces`: nested dictionaries, for any kind of message."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from nsrecover.core.actions import Action, Plan
from nsrecover.core.discrepancy import Deviation, Discrepancy
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import Box
from nsrecover.domains.domain import Domain
from nsrecover.explanation.facts import violated_texts
from nsrecover.explanation.reasons import reason_text
from nsrecover.explanation.unseen import missing_texts
from nsrecover.records.bags.messages import stamp_fields

Fields = dict[str, Any]

NO_BOX = [0.0] * 6


def header(time_s: float, frame: str) -> Fields:
    """The fields of a std_msgs/Header."""
    return {"stamp": stamp_fields(time_s), "frame_id": frame}


def action_fields(action: Action, stage: str = "") -> Fields:
    """The fields of an Action."""
    return {
        "operator": action.operator, "arguments": list(action.arguments), "stage": stage,
        "has_target": action.target is not None, "target": _box(action.target),
    }  # fmt: skip


def plan_fields(plan: Plan | Sequence[Action], stages: Sequence[str]) -> list[Fields]:
    """The fields of the actions of a plan; `stages` may be empty."""
    return [action_fields(action, stages[i] if i < len(stages) else "") for i, action in enumerate(plan)]


def action_of(message: Any) -> Action:
    """The action of an Action message."""
    target = tuple(float(value) for value in message.target) if message.has_target else None
    return Action(message.operator, tuple(message.arguments), target)  # type: ignore[arg-type]


def discrepancy_fields(
    found: Discrepancy, domain: Domain, *, header: Fields, episode: str, stage: str, text: str
) -> Fields:
    """The fields of a Discrepancy."""
    return {
        "header": header, "episode": episode, "verdict": found.verdict.value, "phase": found.phase.value,
        "step": found.step, "action": action_fields(found.action, stage),
        "deviations": [_deviation(each) for each in found.deviations], "unmet": list(violated_texts(found, domain)),
        "missing": list(missing_texts(found)), "text": text, "looks": found.looks,
    }  # fmt: skip


def recovery_fields(
    found: Recovery, plan: Sequence[Fields], *, header: Fields, episode: str, resume_stage: str, text: str
) -> Fields:
    """The fields of a RecoveryPlan; `plan` has those of the new plan."""
    return {
        "header": header, "episode": episode, "status": found.status.value,
        "reason_code": "" if found.reason_code is None else found.reason_code.value, "reason": reason_text(found),
        "blamed": list(found.blamed), "actions": plan_fields(found.actions, ()),
        "resume_at": found.subgoal if found.found and found.subgoal is not None else -1, "resume_stage": resume_stage,
        "plan": list(plan), "cost": found.cost if math.isfinite(found.cost) else -1.0,
        "proven_optimal": found.proven_optimal, "seconds": found.seconds, "text": text,
    }  # fmt: skip


def _deviation(each: Deviation) -> Fields:
    return {
        "name": each.name, "cause": each.cause.value, "meaning": each.cause.meaning,
        "probability": float(each.probability),
        "distance_m": float(each.distance_m) if math.isfinite(each.distance_m) else -1.0,
        "expected": _box(each.expected), "seen": each.observed is not None, "observed": _box(each.observed),
        "other": each.other or "",
    }  # fmt: skip


def _box(box: Box | None) -> list[float]:
    return NO_BOX if box is None else [float(value) for value in box]
