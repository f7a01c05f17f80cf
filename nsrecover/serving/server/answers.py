"""Answers of sessions as JSON data; `nsrecover.serving.server.messages` has their schema."""

import math

from nsrecover.core import Deviation, Discrepancy, FactScene, Plan, Recovery, SceneGraph, StepRecord
from nsrecover.core.explanation import Explanation
from nsrecover.core.sessions.requests import Act, Ask, Done, Look, Request, Stopped
from nsrecover.domains.domain import Domain
from nsrecover.explanation.facts import violated_texts
from nsrecover.explanation.reasons import reason_text
from nsrecover.records.episode_log import to_document
from nsrecover.session import Session
from nsrecover.util.json_data import Json, to_json

DIGITS = 4
"""Decimals of numbers: boxes to a tenth of a millimetre."""

Fields = dict[str, object]


def session_answer(session: Session[SceneGraph] | Session[FactScene], turns: list[StepRecord[object]]) -> Json:
    """The state of a session, and the turns that the last report has concluded."""
    words, found = session.system.domain, session.discrepancy
    return _json(
        request=_request(session.request, words),
        plan=session.plan.actions,
        step=session.num_executed,
        problem=session.problem,
        **_scene(session.scene, found),
        discrepancy=None if found is None else _discrepancy(found, words),
        turns=[_turn(each, words) for each in turns],
    )


def episode_answer(session: Session[SceneGraph] | Session[FactScene], turns: list[StepRecord[object]]) -> Json:
    """The log of an episode so far, as `nsrecover report` and `nsrecover explain` read it."""
    return to_document(session.episode, session.system.domain)


def compared_event(found: Discrepancy[object]) -> Json:
    """A comparison in short."""
    return _json(
        verdict=found.verdict,
        phase=found.phase,
        step=found.step,
        action=str(found.action),
        deviations=[{"name": each.name, "cause": each.cause} for each in found.deviations],
    )


def improvement_event(found: Recovery[object], session: Session[SceneGraph] | Session[FactScene]) -> Json:
    """A recovery that a search has found."""
    return _json(**_recovery(found, session.plan))


def turn_event(record: StepRecord[object], session: Session[SceneGraph] | Session[FactScene]) -> Json:
    """A turn."""
    return _json(**_turn(record, session.system.domain))


def _json(**fields: object) -> Json:
    return to_json(fields, digits=DIGITS)


def _request(request: Request[object], words: Domain) -> Fields:
    fields: Fields
    match request:
        case Ask(decision):
            plan, recovery = decision.plan, _recovery(decision.recovery, decision.plan)
            fields = {"question": decision.question, "recovery": recovery, "plan": plan.actions, "text": decision.text}
        case Act() | Look() | Done() | Stopped():
            fields = vars(request)
    return {"code": request.code, **fields}


def _scene(scene: SceneGraph | FactScene | None, found: Discrepancy[object] | None) -> Fields:
    if isinstance(scene, FactScene):
        certainty = [[[variable, name], sure] for (variable, name), sure in sorted(scene.certainty.items())]
        return {"objects": [], "facts": {"facts": scene.facts, "certainty": certainty}}
    if scene is None:
        return {"objects": [], "facts": None}
    chances = {} if found is None else found.chances
    objects = [
        {
            "name": name, "box": scene.boxes[row], "seen": bool(scene.seen[row]), "visibility": scene.visibility(row),
            "probability": chances.get(name),
        }
        for row, name in enumerate(scene.names)
    ]  # fmt: skip
    return {"objects": objects, "facts": None}


def _turn(record: StepRecord[object], words: Domain) -> Fields:
    recovery, explanation = record.recovery, record.explanation
    return {
        "action": record.action,
        "recovering": record.recovering,
        "discrepancy": _discrepancy(record.discrepancy, words),
        "recovery": None if recovery is None else _recovery(recovery, record.plan),
        "explanation": None if explanation is None else _explanation(explanation),
    }


def _discrepancy(found: Discrepancy[object], words: Domain) -> Fields:
    kept = (
        "verdict", "phase", "step", "action", "looks", "missing_to_tell", "unseen", "sensors", "newcomers", "threshold",
        "total", "plan_problem",
    )  # fmt: skip
    fields = {name: getattr(found, name) for name in kept}
    return fields | {"unmet": violated_texts(found, words), "deviations": list(map(_deviation, found.deviations))}


def _deviation(found: Deviation[object]) -> Fields:
    return {**vars(found), "distance_m": found.distance_m if math.isfinite(found.distance_m) else None}


def _recovery(found: Recovery[object], plan: Plan) -> Fields:
    kept = (
        "status", "actions", "subgoal", "staying", "proven_optimal", "expansions", "seconds", "reason_code", "blamed",
        "lost",
    )  # fmt: skip
    rest = plan.actions[found.resumes_at(len(plan)) :] if found.found else ()
    return {name: getattr(found, name) for name in kept} | {
        "plan": (*found.actions, *rest),
        "cost": found.cost if math.isfinite(found.cost) else None,
        "reason": reason_text(found),
    }


def _explanation(found: Explanation) -> Fields:
    return {"text": found.text, **vars(found)}
