"""Checks that the parts of an episode log fit together."""

import math
from collections.abc import Iterable, Iterator
from itertools import pairwise

from nsrecover.core import (
    Action,
    Discrepancy,
    Episode,
    EpisodeStatus,
    Fate,
    Phase,
    Plan,
    Recovery,
    SceneGraph,
    StepRecord,
    Unseen,
)


def check_consistent(episode: Episode) -> None:
    """Check that an episode could have happened.

    Raises:
        ValueError: its parts contradict each other; says the number of the record, from 1, and what.
    """
    stopped = episode.status is EpisodeStatus.ASKED_FOR_HELP
    if not stopped == bool(episode.reason) == (episode.why is not None):
        raise ValueError(
            f"expected a code and a reason if and only if help was asked for, found {episode.status} with the code "
            f"{episode.why} and the reason {episode.reason[:60]!r}"
        )
    for number, record in enumerate(episode.records, start=1):
        for problem in _problems(record, episode.start):
            raise ValueError(f"record {number}: {problem}")
    times = [episode.start_s, *(record.time_s for record in episode.records)]
    for number, (before, after) in enumerate(pairwise(times), start=1):
        if not (math.isfinite(after) and after >= before):
            raise ValueError(f"record {number}: expected a time after {before:g} s, found {after:g} s")
    for number, problem in _order_problems(episode):
        raise ValueError(f"record {number}: {problem}")


def _problems(record: StepRecord, start: SceneGraph) -> Iterator[str]:
    found = record.discrepancy
    if not record.plan and found.step == 0:
        pass  # nothing was left of the plan, and its goal was looked at
    elif not 0 <= found.step < len(record.plan):
        yield f"expected a step of the plan, from 0 to {len(record.plan) - 1}, found {found.step}"
    elif not _same(found.action, record.plan[found.step]):
        yield f"expected the action {record.plan[found.step]}, step {found.step} of the plan, found {found.action}"
    if record.action is not None and not _same(record.action, found.action):
        yield f"expected the action that was judged, {found.action}, found {record.action}"
    if isinstance(start, SceneGraph):
        objects = {*start.names, *record.graph.names}
        yield from _unknown("arguments of actions", _arguments(record.plan), objects)
        yield from _unknown("objects with states", (*start.states, *record.graph.states), objects)
        yield from _discrepancy_problems(found, {*objects, *found.expected.names})
        if record.recovery is not None:
            yield from _unknown("arguments of recovery actions", _arguments(record.recovery.actions), objects)
            yield from _unknown("objects that stay", record.recovery.staying, objects)
    if record.recovery is not None:
        yield from _recovery_problems(record.recovery, record.plan)
    if record.explanation is not None and record.explanation.step != found.step + 1:
        yield f"expected an explanation of step {found.step + 1}, found one of step {record.explanation.step}"


def _discrepancy_problems(found: Discrepancy, objects: set[str]) -> Iterator[str]:
    if len(found.probabilities) not in (len(found.expected.names), len(found.observed.names)):
        yield f"expected a probability for each object, found {len(found.probabilities)}"
    if not all(0 <= value <= 1 for value in found.probabilities.tolist()):
        yield f"expected probabilities from 0 to 1, found {found.probabilities.tolist()}"
    yield from _unknown("deviating objects", found.deviating, objects)
    yield from _unknown("unseen objects", (each.name for each in found.unseen), objects)
    missing = (each.name for each in found.missing_to_tell if isinstance(each, Unseen))
    yield from _unknown("objects that are missing for a verdict", missing, objects)


def _recovery_problems(recovery: Recovery, plan: Plan) -> Iterator[str]:
    if recovery.subgoal is not None and not 0 <= recovery.subgoal <= len(plan):
        yield f"expected a recovery to a step from 0 to {len(plan)}, found {recovery.subgoal}"
    if recovery.found != (recovery.subgoal is not None):
        yield f"expected the step that a recovery leads to if and only if there is one, found {recovery.status}"
    if len(recovery.graphs) not in (0, len(recovery.actions)):  # facts are not imagined
        yield f"expected a scene after each of {len(recovery.actions)} recovery actions, found {len(recovery.graphs)}"


def _order_problems(episode: Episode) -> Iterator[tuple[int, str]]:
    """Records that do not go on where the one before has ended: its number, and what is wrong."""
    plan, step, before = tuple(episode.plan), 0, ""
    for number, record in enumerate(episode.records, start=1):
        if list(map(_key, record.plan)) != list(map(_key, plan)):
            yield number, f"expected the plan {str(Plan(plan))!r}, found {str(record.plan)!r}"
        # what is seen at the end of a plan, or judged again, is compared with what the last action should have led to
        due = max(step - (record.action is None and (step == len(plan) or record.discrepancy.phase is Phase.AFTER)), 0)
        if record.discrepancy.step != due:
            yield number, f"expected step {due}{before}, found step {record.discrepancy.step}"
        before = f" after step {step}"
        step += record.action is not None
        recovery = record.recovery
        if recovery is not None and record.fate is Fate.ACCEPTED:
            plan, step = (*recovery.actions, *plan[recovery.resumes_at(len(plan)) :]), 0


def _key(action: Action) -> tuple[str, tuple[str, ...]]:
    return action.operator, action.arguments


def _same(one: Action, other: Action) -> bool:
    """Whether two actions are the same but for their targets, which are rounded in logs."""
    return _key(one) == _key(other)


def _arguments(actions: Iterable[Action]) -> list[str]:
    return [name for action in actions for name in action.arguments]


def _unknown(what: str, names: Iterable[str], objects: set[str]) -> Iterator[str]:
    if strange := sorted({*names} - objects):
        yield f"expected {what} to be in the scene, found {', '.join(map(repr, strange))}"
