"""What a session says, as the fields of `nsrecover_interfaces`: nested dictionaries, for any kind of message."""

import json
import math
from collections.abc import Sequence

from nsrecover.core import Action, AnyDeviation, Box, Discrepancy, FactScene, Plan, StepRecord
from nsrecover.core.sessions.requests import Act, Ask, Interrupt, Look, Stopped
from nsrecover.domains.domain import Domain
from nsrecover.explanation.facts import violated_texts
from nsrecover.explanation.reasons import reason_text
from nsrecover.explanation.unseen import missing_texts
from nsrecover.records.bags.images import Message
from nsrecover.records.bags.messages import stamp_fields
from nsrecover.session import AnySession
from nsrecover.util.json_data import to_json

Fields = dict[str, object]

NO_BOX = [0.0] * 6


def header(time_s: float, frame: str) -> Fields:
    """The fields of a std_msgs/Header."""
    return {"stamp": stamp_fields(time_s), "frame_id": frame}


def action_fields(action: Action, stage: str = "") -> Fields:
    """The fields of an Action."""
    return {
        "operator_name": action.operator, "arguments": list(action.arguments), "stage": stage,
        "has_target": action.target is not None, "target": _box(action.target),
    }  # fmt: skip


def plan_fields(plan: Plan | Sequence[Action], stages: Sequence[str]) -> list[Fields]:
    """The fields of the actions of a plan; `stages` has one for each, or none."""
    return [action_fields(action, stages[i] if stages else "") for i, action in enumerate(plan)]


def action_of(message: Message) -> Action:
    """The action of an Action message."""
    target = tuple(float(value) for value in message.target) if message.has_target else None
    return Action(message.operator_name, tuple(message.arguments), target)  # type: ignore[arg-type]


def request_fields(session: AnySession, stages: Sequence[str]) -> Fields:
    """The fields of a Request; `stages` are those of the current plan."""
    request = session.request
    fields: Fields = {"code": request.code}
    match request:
        case Act(action):
            done = session.num_executed
            fields["action"] = action_fields(action, stages[done] if stages else "")
            fields["recovering"] = done < session.num_inserted
        case Interrupt(action, name):
            fields |= {"action": action_fields(action), "names": [name]}
        case Look(names):
            fields["names"] = list(names)
        case Ask(decision):
            way = plan_fields(decision.recovery.actions, ())
            fields |= {"question": decision.question.value, "recovery": way, "text": decision.text}
        case Stopped(why, reason):
            fields |= {"why": why.value, "text": reason}
    return fields


def discrepancy_fields(record: StepRecord[object], domain: Domain, stages: Sequence[str]) -> Fields:
    """The fields of a Discrepancy but for its header and episode; `stages` are those of the plan at that time."""
    found: Discrepancy[object] = record.discrepancy
    return {
        "verdict": found.verdict.value, "phase": found.phase.value, "step": found.step,
        "action": action_fields(found.action, stages[found.step] if found.step < len(stages) else ""),
        "deviations": [_deviation(each, isinstance(found.observed, FactScene)) for each in found.deviations],
        "unmet": list(violated_texts(found, domain)), "missing": list(missing_texts(found)), "text": _text(record),
        "looks": found.looks,
    }  # fmt: skip


def recovery_fields(record: StepRecord[object], stages: Sequence[str]) -> Fields:
    """The fields of a RecoveryPlan but for its header and episode; `stages` are those of the plan before it."""
    found = record.recovery
    assert found is not None
    resumes = found.resumes_at(len(record.plan))
    rest = plan_fields(record.plan.actions[resumes:], stages[resumes:])
    return {
        "status": found.status.value, "reason_code": "" if found.reason_code is None else found.reason_code.value,
        "reason": reason_text(found), "blamed": list(found.blamed), "actions": plan_fields(found.actions, ()),
        "resume_at": resumes if found.found else -1, "resume_stage": rest[0]["stage"] if found.found and rest else "",
        "plan": [*plan_fields(found.actions, ()), *rest] if found.found else [],
        "cost": found.cost if math.isfinite(found.cost) else -1.0, "proven_optimal": found.proven_optimal,
        "seconds": found.seconds, "text": _text(record),
    }  # fmt: skip


def _text(record: StepRecord[object]) -> str:
    return "" if record.explanation is None else record.explanation.text


def _deviation(each: AnyDeviation, of_facts: bool) -> Fields:
    facts = {"expected": to_json(each.expected), "observed": to_json(each.observed)}
    return {
        "name": each.name, "cause": each.cause.value, "meaning": each.cause.meaning,
        "probability": float(each.probability),
        "distance_m": float(each.distance_m) if math.isfinite(each.distance_m) else -1.0,
        "expected": _box(None if of_facts else each.expected), "seen": each.observed is not None,
        "observed": _box(None if of_facts else each.observed), "facts": json.dumps(facts) if of_facts else "",
        "other": each.other or "",
    }  # fmt: skip


def _box(box: Box | None) -> list[float]:
    return NO_BOX if box is None else [float(value) for value in box]
