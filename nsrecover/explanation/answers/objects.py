"""Answers about one object: why it was moved or not, what would be without it, what became of it, and its state."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from nsrecover.core.discrepancy import AnyDeviation, Deviation, Unknown
from nsrecover.core.facts import PLACE, FactScene
from nsrecover.core.geometry import intersects
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneGraph, Visibility
from nsrecover.domains.base import Role
from nsrecover.domains.properties import facts_with, property_of
from nsrecover.domains.tabletop.relations import resting_on, support_name
from nsrecover.domains.values import stored
from nsrecover.explanation.answers.asked import fits, mentioned, values_named
from nsrecover.explanation.answers.counterfactuals import without
from nsrecover.explanation.answers.fates import fate_text
from nsrecover.explanation.answers.numbering import Turn
from nsrecover.explanation.answers.run_questions import PLACES, AskedRun, cause_of, goal, recoveries, state_of, wrong
from nsrecover.explanation.reasons import reason_text
from nsrecover.util.english import capital, listed, past, the

_NOT = re.compile(r"\b(?:not|never)\b|n't\b", re.IGNORECASE)
_MOVED = re.compile(r"\b(?:mov|touch|tak|took|pick|put|plac|us)(?:e|es|ed|en|ing)?\b", re.IGNORECASE)
_DONE = re.compile(r"\bdo\b|\bdone\b", re.IGNORECASE)

Scene = SceneGraph | FactScene


def first_moved(every: Sequence[Turn]) -> tuple[str, ...]:
    """Return the object that the first recovery moves first, if there is one."""
    moved = [action.arguments[0] for _, recovery in recoveries(every) for action in recovery.actions]
    return tuple(moved[:1])


def why(run: AskedRun, question: str, name: str) -> str | None:
    """Why an object was moved, or was not; None if the question is about something else that was done with it."""
    found, planned = _moves(run, name, question), _planned(run, name, question)
    if _NOT.search(question) or not (found or planned):
        return _why_not(run, name, question) if _NOT.search(question) or _MOVED.search(question) else None
    if found is None:
        assert planned is not None
        return _was_planned(run, planned)
    turn, recovery, number = found
    action, scene = recovery.actions[number], turn.record.graph
    text = f"After {run.phrasing.step(turn.step)}, " if turn.step else ""
    deviation = _deviation(turn, name)
    if deviation is not None:
        to_do = goal(action, recovery, number, run.domain)
        return capital(f"{text}{past(state_of(deviation, scene, run.domain))}. {_so(turn, number, to_do)}")
    reason, to_do = _in_the_way(recovery, number, scene), run.instruction(action)
    if reason:
        return capital(f"{text}{the(name)} was in its place, but {reason}. {_so(turn, number, to_do)}")
    if turn.discrepancy.action.arguments[0] == name:
        return capital(f"{text}the step was about {the(name)}. {_so(turn, number, to_do)}")
    return f"The rest of the plan needs {the(name)}. {_so(turn, number, to_do)}"


def what_if_not(run: AskedRun, _question: str, name: str) -> str:
    """What would be if an object had not been moved."""
    found = _moves(run, name)
    if found is None:
        planned = _planned(run, name)
        if planned is None:
            return f"Nothing would be different: as far as it is recorded, I did not move {the(name)} at all."
        return f"{_was_planned(run, planned)} Without it the plan would not have been completed."
    turn, recovery, number = found
    so_far = f"No recovery has moved {the(name)}. {fate_text(turn)} " if number not in turn.carried_out else ""
    if not isinstance(turn.record.graph, SceneGraph):
        return (
            f"{so_far}A log of facts cannot answer what would be different: ask while the robot is running. "
            f"What is known: {wrong(run)}"
        )
    return f"{so_far}{without(turn.record.graph, recovery, name)}"


def where(run: AskedRun, _question: str, name: str) -> str:
    """Where an object is."""
    graph = run.scene
    if isinstance(graph, FactScene):
        places = facts_with(PLACES, graph.facts, run.domain, name)
        said = [run.domain.text(fact) for fact in places]
        known = bool(said) and graph.knows((PLACE, name))
        return f"{capital(listed(said))}." if known else f"The place of {the(name)} is unknown."
    if name not in graph.names or graph.missing[graph.index(name)]:
        return f"{capital(the(name))} is missing."
    index = graph.index(name)
    x, y = (round(100 * float(value)) for value in graph.boxes[index, :2])
    side = f"{abs(y)} cm to the {'left' if y > 0 else 'right'}" if y else "straight ahead"
    visibility = graph.visibility(index)
    unseen = {Visibility.OCCLUDED: ", hidden behind something", Visibility.UNKNOWN: ", although I did not see it there"}
    seen = unseen.get(visibility, "")
    return (
        f"When I last looked, {the(name)} stood on {the(support_name(graph, index))}{seen}, "
        f"{x} cm in front of the robot and {side}."
    )


def became(run: AskedRun, _question: str, name: str) -> str:
    """What happened to an object."""
    found = _first_deviation(run, name)
    if found is not None:
        deviation = found[1]
        away = 100 * deviation.distance_m if isinstance(deviation, Deviation) else 0.0
        place = f", about {away:.0f} cm from its place" if 1.0 <= away < math.inf else ""
        return f"{_happened(run, *found)}{place}."
    for turn in run.every:
        unknown = (each.name for each in turn.discrepancy.missing_to_tell if isinstance(each, Unknown))
        if name in (*unknown, *(each.name for each in turn.discrepancy.unseen if each.moved)):
            return f"I do not know: {the(name)} was not seen after {run.phrasing.step(turn.step or 1)}."
    return f"Nothing happened to {the(name)}: it was always as expected."


def all_of(run: AskedRun, name: str) -> str:
    """What is known of an object: what happened to it, what was done with it, and where it is."""
    done = f" {history(run, 'do', name)}" if any(name in action.arguments for _, action in run.done) else ""
    return f"{became(run, '', name)}{done} {where(run, '', name)}"


def in_place(run: AskedRun, question: str, name: str) -> str:
    """Whether an object is as it should be now."""
    deviation = _deviation(run.every[-1], name) if run.every else None
    if deviation is None:
        return f"Yes, as far as it was seen. {where(run, question, name)}"
    return f"No: {state_of(deviation, run.scene, run.domain)}."


def history(run: AskedRun, question: str, name: str) -> str | None:
    """Which actions were carried out with an object, and when; None if the question is about no action."""
    named = mentioned(question, run.names) or (name,)
    fitting = [
        (turn, action, fit)
        for turn, action in run.done
        if set(named) <= set(action.arguments) and (fit := fits(action, question, run.domain))
    ]
    if not any(fit == 2 for *_, fit in fitting) and not (_MOVED.search(question) or _DONE.search(question)):
        return None
    if not fitting:
        text, found = f"No such action was carried out with {listed(map(the, named))}.", _first_deviation(run, name)
        return text if found is None else f"{text} {_happened(run, *found)}. {cause_of(found[0], run.domain, [name])}"
    return f"{capital(listed(f'{run.when(turn)}: {run.instruction(action)}' for turn, action, _ in fitting))}."


def state(run: AskedRun, question: str, name: str) -> str | None:
    """Whether what a question says of an object is the case; None if it says nothing of the sort."""
    scene, domain = run.scene, run.domain
    if not isinstance(scene, FactScene):
        return None
    for variable, value in values_named(question, domain):
        own, normal = (variable.name, name), value == variable.values[0]
        if not scene.knows(own):
            return f"I do not know: {the(name)} was not seen well enough."
        now = next((fact for fact in sorted(scene.facts) if property_of(fact, domain) == own), None)
        asked = stored((*own, value), domain.variables) or stored((*own, variable.values[-1]), domain.variables)
        assert asked is not None
        holds = now is None if normal else now == asked
        said = domain.text((value, name)) if now is None and normal and value in domain.predicates else ""
        return f"{'Yes' if holds else 'No'}: {said or domain.text(now or asked, now is not None)}."
    return None


def contents(run: AskedRun, question: str, name: str) -> str:
    """What is in or on an object, and its other state; or what was, if that was not as expected."""
    if re.search(r"\b(?:was|were)\b", question) and _first_deviation(run, name) is not None:
        return became(run, question, name)
    scene = run.scene
    if isinstance(scene, FactScene):
        found = [fact for fact in sorted(scene.facts) if name in fact[1:] and len(fact) > 1]
        said = [run.domain.text(fact) for fact in found if run.domain.relations.get(fact[0]) is not Role.STATIC]
        return f"{capital(listed(said))}." if said else f"Nothing special is known of {the(name)}."
    if name not in scene.names:
        return where(run, question, name)
    on_it = [the(scene.names[i]) for i in resting_on(scene, scene.index(name))]
    return f"{capital(listed(on_it) or 'nothing')} {'stand' if len(on_it) > 1 else 'stands'} on {the(name)}."


def _moves(run: AskedRun, name: str, question: str = "") -> tuple[Turn, Recovery, int] | None:
    """Return the first recovery that has moved an object, else one that would have, and the number of the action."""
    found = [
        (turn, recovery, number, fit)
        for turn, recovery in recoveries(run.every)
        for number, action in enumerate(recovery.actions)
        if action.arguments[0] == name and (fit := fits(action, question, run.domain))
    ]
    best = min(found, key=lambda each: (-each[3], each[2] not in each[0].carried_out), default=None)
    planned = _planned(run, name, question)
    if best is None or (planned and best[3] < fits(planned.discrepancy.action, question, run.domain)):
        return None
    return best[:3]


def _planned(run: AskedRun, name: str, question: str = "") -> Turn | None:
    """Return the first step of the plan that moves an object, or that a question names by its verb."""
    steps = [(turn, turn.discrepancy.action) for turn in run.every if turn.step]
    own = [(fits(a, question, run.domain), turn) for turn, a in steps if a.arguments[0] == name]
    own += [(1, turn) for turn, a in steps if name in a.arguments[1:] and fits(a, question, run.domain) == 2]
    return max(own, key=lambda each: each[0], default=(0, None))[1] if any(fit for fit, _ in own) else None


def _so(turn: Turn, number: int, to_do: str) -> str:
    """Return what an action of a recovery is for, as it was done or not."""
    if number in turn.carried_out:
        return f"So I had to {to_do}."
    return f"The way back was to {to_do}; this action of it was not carried out. {fate_text(turn)}"


def _was_planned(run: AskedRun, planned: Turn) -> str:
    step, to_do = run.phrasing.step(planned.step or 0), run.instruction(planned.discrepancy.action)
    if planned.discrepancy.action not in [action for _, action in run.done]:
        return f"{capital(step)} of the plan is to {to_do}. I have not done it."
    return f"{capital(step)} of the plan was to {to_do}."


def _deviation(turn: Turn, name: str) -> AnyDeviation | None:
    return next((each for each in turn.discrepancy.deviations if each.name == name), None)


def _first_deviation(run: AskedRun, name: str) -> tuple[Turn, AnyDeviation] | None:
    """Return the first turn at which an object deviated, and how."""
    return next(((turn, each) for turn in run.every if (each := _deviation(turn, name)) is not None), None)


def _happened(run: AskedRun, turn: Turn, deviation: AnyDeviation) -> str:
    """Return when an object deviated, and how, as a clause."""
    return f"{capital(run.when(turn))}, {past(state_of(deviation, turn.record.graph, run.domain))}"


def _in_the_way(recovery: Recovery, number: int, scene: Scene) -> str:
    """Return which object was blocked by an object that was in its own place; of facts, that is not known."""
    name = recovery.actions[number].arguments[0]
    if not isinstance(scene, SceneGraph) or name not in scene.names:
        return ""
    index = scene.index(name)
    for later in recovery.actions[number + 1 :]:
        other = later.arguments[0]
        if other == name or other not in scene.names:
            continue
        if index in resting_on(scene, scene.index(other)):
            return f"it stood on {the(other)}, which had to be moved"
    for position, later in enumerate(recovery.actions):
        other = later.arguments[0]
        if position > number and position < len(recovery.graphs) and other != name:
            after = recovery.graphs[position]
            if bool(intersects(after.boxes[after.index(other)], scene.boxes[[index]])[0]):
                return f"it stood where {the(other)} had to go"
    return ""


def _why_not(run: AskedRun, name: str, question: str) -> str:
    found, planned = _moves(run, name, question), _planned(run, name, question)
    if found or planned:
        action = next((action for _, action in run.done if action.arguments[0] == name), None)
        if action is not None:
            return f"I did: {run.instruction(action)}."
        fate = fate_text(found[0]) if found is not None else "That step was not done."
        return f"I have not moved {the(name)}, though the {'plan' if found is None else 'way back'} would. {fate}"
    for turn, recovery in recoveries(run.every):
        deviation = _deviation(turn, name)
        if deviation is None:
            continue
        said = capital(past(state_of(deviation, turn.record.graph, run.domain)))
        if name in recovery.staying:
            return f"{said}. It could stay there: no later step needed it elsewhere."
        if not recovery.found:
            return f"{said}, and there was no recovery: {reason_text(recovery).rstrip('. ')}."
        return f"{said}. The rest of the plan was possible without moving it."
    return f"As far as it is recorded, I did not move {the(name)}: it was in its place and blocked nothing."
