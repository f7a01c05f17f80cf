"""What is missing for a verdict, in words."""

from __future__ import annotations

from nsrecover.core.discrepancy import Discrepancy, Unknown, Unseen, UnseenReason
from nsrecover.core.explanation import Fact
from nsrecover.core.facts import PLACE
from nsrecover.core.sensing import ADVICE, SensorFinding, SensorProblem
from nsrecover.util.english import the

NOWHERE = "nowhere"
"""Argument of a fact if an object has no partner, support or place."""

_WHY = {
    UnseenReason.OCCLUDED: "no camera sees the place of {0}",
    UnseenReason.NO_MASK: "something is in the place of {0}, but the segmenter gives no mask of it",
    UnseenReason.NO_DEPTH: "no camera has enough depth readings of {0}, or at its place",
    UnseenReason.MERGED_MASKS: "{0} and {1} share one mask",
    UnseenReason.NO_CAMERA: "no camera can be relied on to see {0}",
    UnseenReason.LOOKS_DISAGREE: "the observations disagree on whether {0} is in its place",
}


def missing_facts(discrepancy: Discrepancy[object]) -> list[Fact]:
    """Return the facts about what is missing.

    The predicates are `unseen` (object, reason, other object), `sensor` (problem, camera, finding) and, in symbolic
    domains, `unknown` (object, property).
    """
    return [_missing_fact(each) for each in discrepancy.missing_to_tell]


def _missing_fact(missing: Unseen | SensorFinding | Unknown) -> Fact:
    match missing:
        case Unseen():
            return Fact("unseen", (missing.name, missing.reason.value, missing.other or NOWHERE))
        case Unknown():
            return Fact("unknown", (missing.name, missing.property))
        case _:
            return Fact("sensor", (missing.problem.value, missing.camera, missing.found))


def missing_text(fact: Fact) -> str:
    """Return a fact of `missing_facts` as a clause without a full stop."""
    if fact.predicate == "sensor":
        problem, camera, found = fact.arguments
        whose = f"camera {camera}" if camera else "the cameras"
        return f"{whose}: {found} ({ADVICE[SensorProblem(problem)]})"
    if fact.predicate == "unknown":
        name, prop = fact.arguments
        what = "place" if prop == PLACE else f"state '{prop.replace('_', ' ')}'"
        return f"the {what} of {the(name)} is unknown"
    name, reason, other = fact.arguments
    return next(words for code, words in _WHY.items() if code.value == reason).format(the(name), the(other))


def missing_texts(discrepancy: Discrepancy[object]) -> tuple[str, ...]:
    """Return what is missing for a verdict, as clauses without full stops."""
    return tuple(map(missing_text, missing_facts(discrepancy)))
