"""Report of the errors in an episode from its log, as text and as JSON data, without torch."""

from __future__ import annotations

from typing import Any

from nsrecover.core.discrepancy import Unknown, Unseen, Verdict
from nsrecover.core.episode import Episode, EpisodeStatus
from nsrecover.core.explanation import Explanation
from nsrecover.domains.domain import Domain
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.explanation.answers.numbering import Turn, clock, how_it_stopped, turns
from nsrecover.explanation.audience import Audience
from nsrecover.explanation.facts import violated_texts
from nsrecover.explanation.grounded import GroundedExplainer
from nsrecover.explanation.templates import WORST_FIRST
from nsrecover.util.english import capital, counted, ordinal

SENSING = "sensing"
"""Kind of a step of which the robot could not tell whether it went well."""

MOST_ERRORS = 3
"""If there are more, all but the first and the last are told in one sentence."""
PRECONDITION = "precondition"
"""Root cause of a step that is infeasible although the scene is as expected: the plan is wrong."""


def report_of_episode(episode: Episode, audience: Audience = Audience.LAY, domain: Domain = TABLETOP) -> dict[str, Any]:
    """Return the report that `nsrecover explain LOG --json` prints for an episode.

    Args:
        episode: from `nsrecover.records.episode_log.load`.
        audience: readers of the text.
        domain: has the words of facts and actions.

    Returns:
        The same fields as for logs of other robots. For the first error: `kind` (execution; planning if a step is
        infeasible although the scene is as expected; sensing; none), `root_cause` (a `Cause`, or `precondition`),
        `objects` (the worst first), `correction` (actions; null if there is no recovery). For all errors: `steps`
        (times since the start), `text`, `verified`, and `errors` with the fields of each. A step of which the robot
        could not tell is listed among them, with the kind `sensing` and the root cause `cannot_tell`.
    """
    errors = [turn for turn in turns(episode) if not turn.discrepancy.as_expected]
    explain = GroundedExplainer(domain, audience)
    explanations = [explain(turn.discrepancy, turn.recovery) for turn in errors]
    found = [_error(turn, words, episode, domain) for turn, words in zip(errors, explanations, strict=True)]
    first: dict[str, Any] = next(
        (error for error in found if error["kind"] != SENSING),
        found[0] if found else {"kind": "none", "root_cause": "none", "objects": [], "correction": []},
    )
    return {
        "kind": first["kind"],
        "steps": [error["time"] for error in found],
        "root_cause": first["root_cause"],
        "objects": first["objects"],
        "text": _text(episode, errors, explanations, audience),
        "correction": first["correction"],
        "verified": all(words.verified for words in explanations),
        "status": episode.status.value,
        "errors": found,
    }


def _error(turn: Turn, words: Explanation, episode: Episode, domain: Domain) -> dict[str, Any]:
    deviations = sorted(turn.discrepancy.deviations, key=lambda deviation: WORST_FIRST.index(deviation.cause))
    recovery = turn.recovery
    unseen = [each.name for each in turn.discrepancy.missing_to_tell if isinstance(each, Unseen | Unknown)]
    kind, names = "execution", [each.name for each in deviations]
    cause = deviations[0].cause.value if deviations else ""
    if turn.discrepancy.verdict is Verdict.CANNOT_TELL:
        kind, cause, names = SENSING, Verdict.CANNOT_TELL.value, unseen
    elif not deviations:
        kind, cause, names = "planning", PRECONDITION, list(turn.discrepancy.action.arguments)
    return {
        "time": clock(turn.record.time_s - episode.start_s),
        "step": turn.step,
        "action": str(turn.discrepancy.action),
        "phase": turn.discrepancy.phase.value,
        "kind": kind,
        "verdict": turn.discrepancy.verdict.value,
        "looks": turn.discrepancy.looks,
        "root_cause": cause,
        "objects": names,
        "causes": {deviation.name: deviation.cause.value for deviation in deviations},
        "violated": list(violated_texts(turn.discrepancy, domain)),
        "text": words.text,
        "correction": None if recovery is None or not recovery.found else [str(each) for each in recovery.actions],
        "verified": words.verified,
    }


def _text(episode: Episode, errors: list[Turn], explanations: list[Explanation], audience: Audience) -> str:
    """Return the text about all errors and the end of the episode."""
    asked = episode.status is EpisodeStatus.ASKED_FOR_HELP
    if not errors and not asked:
        return f"Nothing went wrong: {_all_steps(len(episode.plan))}."
    parts = []
    count = sum(turn.discrepancy.deviates for turn in errors)
    if count == 0:
        parts.append(f"No error was noticed{', but not everything could be seen' if errors else ''}.")
    elif len(errors) > 1:
        parts.append(f"{capital(counted(count, 'error'))} {'was' if count == 1 else 'were'} noticed.")
    whole = range(len(errors)) if len(errors) <= MOST_ERRORS else (0, len(errors) - 1)
    for number, (turn, words) in enumerate(zip(errors, explanations, strict=True), start=1):
        if number - 1 not in whole:
            parts.append(f"The {ordinal(number)}: {words.sentences[0].text}")
            continue
        if turn.step is None:
            parts.append("Then, during the recovery:")
        elif count == len(errors) > 1 and audience is Audience.LAY:
            parts.append(f"The {ordinal(number)}:")
        parts.append(words.text)
    match episode.status:
        case EpisodeStatus.COMPLETED:
            parts.append("In the end the plan was completed.")
        case EpisodeStatus.ASKED_FOR_HELP:
            parts.append(how_it_stopped(episode))
        case EpisodeStatus.REVIEWED:
            pass
    return " ".join(parts)


def _all_steps(count: int) -> str:
    if count == 1:
        return "the only step worked"
    return f"{'both steps' if count == 2 else 'all ' + counted(count, 'step')} worked"
