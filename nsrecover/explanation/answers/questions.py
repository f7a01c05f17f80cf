"""Answers to questions about an episode from its log: reasons, locations, errors and counterfactuals.

Questions are recognised by keywords, not by a model. Reasons come from the facts of the episode; "what if you had not"
is answered by a search in which that object may not be moved (`nsrecover.explanation.answers.counterfactuals`).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import AnyDeviation, Cause, Phase, Unknown
from nsrecover.core.episode import Episode, Fate
from nsrecover.core.facts import PLACE, FactScene
from nsrecover.core.geometry import intersects
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneGraph, Visibility
from nsrecover.domains.base import Role
from nsrecover.domains.domain import Domain
from nsrecover.domains.properties import facts_with
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.domains.tabletop.relations import resting_on, support_name
from nsrecover.explanation.answers.counterfactuals import without
from nsrecover.explanation.answers.fates import fate_text
from nsrecover.explanation.answers.numbering import Turn, turns
from nsrecover.explanation.answers.run_questions import about_the_run
from nsrecover.explanation.audience import Audience, Phrasing
from nsrecover.explanation.facts import PLACED
from nsrecover.explanation.grounded import GroundedExplainer
from nsrecover.explanation.phrases import instruction
from nsrecover.explanation.reasons import reason_text
from nsrecover.explanation.templates import PHRASES
from nsrecover.util.english import Forms, capital, listed, the

asks_why = re.compile(r"\bwhy\b|\bwhat for\b|\bhow come\b", re.IGNORECASE).search
"""Find the words in a question that ask for a reason; None if there are none."""

asks_what_if = re.compile(
    r"\bwhat if\b|\bhad(?:n't| not)\b|\bwithout (?:moving|touching)\b|\bwhat would\b", re.IGNORECASE
).search
"""Find the words that make a question counterfactual; None if there are none."""

asks_what_went_wrong = re.compile(
    r"\b(?:wrong|happen(?:ed)?|fail(?:ed|ure)?|error|problem|explain|notice[d]?)\b", re.IGNORECASE
).search
"""Find the words in a question that ask what went wrong; None if there are none."""

asks_what_was_done = re.compile(
    r"\b(?:what|how|which)\b.*\b(?:do|did|done|plan|fix|recover|correct\w*|way back)\b", re.IGNORECASE
).search
"""Find the words in a question that ask for the recovery; None if there are none."""

KNOWN = (
    "what went wrong?", "why?", "which objects are wrong?", "since when?", "how sure are you?",
    "what did you do about it?", "why did you move the {}?", "why did you not move the {}?",
    "what if you had not moved the {}?", "what happened to the {}?", "where is the {}?", "is it safe to reach in?",
    "what do you hold?", "what comes next?", "how much is left?", "did it work?", "did anybody veto?",
    "what is the plan?",
)  # fmt: skip
"""Questions that are understood."""

_NOT = re.compile(r"\b(?:not|n't|never)\b|n't\b", re.IGNORECASE)
_WHERE = re.compile(r"\bwhere\b", re.IGNORECASE)

Scene = SceneGraph | FactScene


@dataclass(frozen=True)
class Answer:
    """The answer to a question.

    Attributes:
        question: the question.
        text: the answer.
        understood: whether the question was recognised; if not, the text lists possible questions.
        objects: the objects that the answer is about.
    """

    question: str
    text: str
    understood: bool = True
    objects: tuple[str, ...] = ()


def ask(
    episode: Episode, questions: Sequence[str], audience: Audience = Audience.LAY, domain: Domain = TABLETOP
) -> tuple[Answer, ...]:
    """Answer questions about an episode; a "what if" without an object refers to that of the previous question.

    Args:
        episode: from `nsrecover.records.episode_log.load`.
        questions: in plain English.
        audience: readers of the answers.
        domain: has the words of facts and actions.
    """
    answers: list[Answer] = []
    about: tuple[str, ...] = ()
    for question in questions:
        answer = _answer(episode, question, about, Phrasing(audience, domain))
        about = answer.objects or about
        answers.append(answer)
    return tuple(answers)


def _answer(episode: Episode, question: str, about: tuple[str, ...], phrasing: Phrasing) -> Answer:
    every = tuple(turns(episode))
    scenes = (episode.start, *(record.graph for record in episode.records))
    names = sorted({name for scene in scenes for name in scene.names})
    named = mentioned(question, names)
    unknown = _unknown(question, named)
    subjects = named or about
    if unknown:
        pass
    elif asks_what_if(question):
        subjects = subjects or _first_moved(every)
        if subjects:
            return Answer(question, _what_if(every, subjects[0], phrasing), objects=subjects[:1])
    elif asks_why(question) and named:
        negated = bool(_NOT.search(question))
        return Answer(question, _why(every, named[0], negated, phrasing), objects=named[:1])
    elif _WHERE.search(question) and named:
        return Answer(question, _where(episode, named[0], phrasing), objects=named[:1])
    elif (state := about_the_run(episode, every, question, phrasing)) is not None:
        return Answer(question, state)
    elif asks_what_went_wrong(question) or asks_why(question):
        return Answer(question, _wrong(every, named, phrasing), objects=named)
    elif asks_what_was_done(question):
        return Answer(question, _did(every, phrasing), objects=_first_moved(every))
    return Answer(question, _help(names, unknown, question), understood=False)


def mentioned(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the objects that a text names, in order; `the red block` is the red cube if it is the only red object."""
    found: dict[int, str] = {}
    masked = text.lower()
    for name in sorted(names, key=len, reverse=True):
        place = re.search(rf"(?<!\w){re.escape(name.lower())}(?!\w)", masked)
        if place:
            found[place.start()] = name
            masked = masked[: place.start()] + " " * len(place[0]) + masked[place.end() :]
    if not found:
        for place in re.finditer(r"(\w+) (?:block|one|thing|object|piece)\b", masked):
            fitting = [name for name in names if name.lower().split()[0] == place[1]]
            if len(fitting) == 1:
                found[place.start()] = fitting[0]
    return tuple(found[place] for place in sorted(found))


def _unknown(question: str, named: Sequence[str]) -> str:
    """Return the name of an unknown object in a question, such as `purple cube`; empty if there is none."""
    if named:
        return ""
    place = re.search(r"\bthe (\w+ (?:cube|die|lego|block|brick|box|object|thing))\b", question, re.IGNORECASE)
    return place[1] if place else ""


def _help(names: Sequence[str], unknown: str, question: str) -> str:
    problem = f"There is no single {unknown} in this episode. " if unknown else "I did not understand the question. "
    example = names[0] if names else "red cube"
    known = [each.format(example) for each in KNOWN]
    near = difflib.get_close_matches(question.lower(), known, n=3, cutoff=0.0)
    return (
        f"{problem}The nearest that I can answer: {' '.join(near)} "
        f"The objects are {listed([the(name) for name in names])}."
    )


def _recoveries(every: Sequence[Turn]) -> list[tuple[Turn, Recovery]]:
    return [(turn, turn.recovery) for turn in every if turn.discrepancy.deviates and turn.recovery is not None]


def _first_moved(every: Sequence[Turn]) -> tuple[str, ...]:
    moved = [action.arguments[0] for _, recovery in _recoveries(every) for action in recovery.actions]
    return tuple(moved[:1])


def _moves(every: Sequence[Turn], name: str) -> tuple[Turn, Recovery, int] | None:
    """Return the first recovery that has moved an object, else one that would have, and the number of the action."""
    found = [
        (turn, recovery, number)
        for turn, recovery in _recoveries(every)
        for number, action in enumerate(recovery.actions)
        if action.arguments[0] == name
    ]
    return min(found, key=lambda each: each[2] >= each[0].carried_out, default=None)


def _planned(every: Sequence[Turn], name: str) -> Turn | None:
    """Return the first step of the plan that moves an object."""
    return next((turn for turn in every if turn.step and turn.discrepancy.action.arguments[0] == name), None)


def _why(every: Sequence[Turn], name: str, negated: bool, phrasing: Phrasing) -> str:
    found, planned = _moves(every, name), _planned(every, name)
    if negated or not (found or planned):
        return _why_not(every, name, bool(found or planned), phrasing)
    if found is None:
        assert planned is not None
        return _was_planned(planned, phrasing)
    turn, recovery, number = found
    action, scene = recovery.actions[number], turn.record.graph
    text = f"After {phrasing.step(turn.step)}, " if turn.step else ""
    deviation = _deviation(turn, name)
    if deviation is not None:
        state, to_do = _state(deviation, scene, phrasing), _goal(action, recovery, number, phrasing)
        return capital(f"{text}{state}. {_so(turn, number, to_do)}")
    reason, to_do = _in_the_way(recovery, number, scene), _instruction(action, phrasing)
    if reason:
        return capital(f"{text}{the(name)} was in its place, but {reason}. {_so(turn, number, to_do)}")
    if turn.discrepancy.action.arguments[0] == name:
        return capital(f"{text}the step was about {the(name)}. {_so(turn, number, to_do)}")
    return f"The rest of the plan needs {the(name)}. {_so(turn, number, to_do)}"


def _so(turn: Turn, number: int, to_do: str) -> str:
    """Return what an action of a recovery is for, as it was done or not."""
    if number < turn.carried_out:
        return f"So I had to {to_do}."
    return f"The way back was to {to_do}, which I have not done. {fate_text(turn)}"


def _was_planned(planned: Turn, phrasing: Phrasing) -> str:
    step, to_do = phrasing.step(planned.step or 0), _instruction(planned.discrepancy.action, phrasing)
    if planned.record.action is None:
        return f"{capital(step)} of the plan is to {to_do}. I have not done it."
    return f"{capital(step)} of the plan was to {to_do}."


def _instruction(action: Action, phrasing: Phrasing) -> str:
    return instruction(action, domain=phrasing.domain)


def _deviation(turn: Turn, name: str) -> AnyDeviation | None:
    return next((each for each in turn.discrepancy.deviations if each.name == name), None)


def _state(deviation: AnyDeviation, scene: Scene, phrasing: Phrasing) -> str:
    """Return the deviation of an object as a clause."""
    name, cause = deviation.name, deviation.cause
    phrase = PHRASES[cause].partition(",")[0].replace("[is]", "[was]").replace("[has]", "had")
    if cause is Cause.SWAPPED:
        phrase += f" with {the(deviation.other or 'something else')}"
    elif cause is Cause.REPLACED:
        phrase += f" by {the(deviation.other or 'something else')}"
    elif cause is Cause.BLOCKING and deviation.other:
        phrase += f" of {the(deviation.other)}"
    elif not isinstance(scene, SceneGraph):
        now = [phrasing.domain.text(fact) for fact in deviation.observed or ()]
        now = now or [phrasing.domain.text(fact, holds=False) for fact in deviation.expected]
        phrase += f": {listed(now)}"
    elif cause in PLACED:
        still = "still " if cause is Cause.NOT_LIFTED else ""
        phrase += f", and [was] {still}on {the(support_name(scene, scene.index(name)))}"
    return f"{the(name)} {Forms.of([name]).agree(phrase)}"


def _goal(action: Action, recovery: Recovery, number: int, phrasing: Phrasing) -> str:
    """Return an action as an instruction, with the support of the object afterwards."""
    graphs = recovery.graphs
    place = support_name(graphs[number], graphs[number].index(action.arguments[0])) if number < len(graphs) else None
    return instruction(action, place, phrasing.domain)


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


def _why_not(every: Sequence[Turn], name: str, moved: bool, phrasing: Phrasing) -> str:
    if moved:
        done = (turn.record.action for turn in every if turn.record.action is not None)
        action = next((action for action in done if action.arguments[0] == name), None)
        if action is not None:
            return f"I did: {_instruction(action, phrasing)}."
        found = _moves(every, name)
        fate = fate_text(found[0]) if found is not None else "That step was not done."
        return f"I have not moved {the(name)}, though the {'plan' if found is None else 'way back'} would. {fate}"
    for turn, recovery in _recoveries(every):
        deviation = _deviation(turn, name)
        if deviation is None:
            continue
        state = _state(deviation, turn.record.graph, phrasing)
        if name in recovery.staying:
            return f"{capital(state)}. It could stay there: no later step needed it elsewhere."
        if not recovery.found:
            return f"{capital(state)}, and there was no recovery: {reason_text(recovery).rstrip('. ')}."
        return f"{capital(state)}. The rest of the plan was possible without moving it."
    return f"I did not move {the(name)}: it was in its place and blocked nothing."


def _what_if(every: Sequence[Turn], name: str, phrasing: Phrasing) -> str:
    found = _moves(every, name)
    if found is None:
        planned = _planned(every, name)
        if planned is None:
            return f"Nothing would be different: I did not move {the(name)} at all."
        return f"{_was_planned(planned, phrasing)} Without it the plan would not have been completed."
    turn, recovery, number = found
    so_far = f"I have not moved {the(name)}. {fate_text(turn)} " if number >= turn.carried_out else ""
    if not isinstance(turn.record.graph, SceneGraph):
        return f"{so_far}A log of facts cannot answer what would be different: ask while the robot is running."
    return f"{so_far}{without(turn.record.graph, recovery, name)}"


def _where(episode: Episode, name: str, phrasing: Phrasing) -> str:
    graph: Scene = episode.records[-1].graph if episode.records else episode.start
    if isinstance(graph, FactScene):
        places = facts_with((Role.LOCATION, Role.HELD, Role.BELIEVED), graph.facts, phrasing.domain)
        said = [phrasing.domain.text(fact) for fact in places if fact[1] == name]
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


def _wrong(every: Sequence[Turn], named: Sequence[str], phrasing: Phrasing) -> str:
    errors = [turn for turn in every if not turn.discrepancy.as_expected]
    if not named:
        explain = GroundedExplainer(phrasing.domain, phrasing.audience)
        texts = [explain(turn.discrepancy, None).text for turn in errors]
        return " ".join(texts) or "Nothing went wrong."
    for turn in errors:
        for deviation in turn.discrepancy.deviations:
            if deviation.name in named:
                when = "Before" if turn.discrepancy.phase is Phase.BEFORE else "After"
                step = f"{when} {phrasing.step(turn.step)}, " if turn.step else "During the recovery, "
                return f"{step}{_state(deviation, turn.record.graph, phrasing)}."
    for turn in every:
        unknown = (each.name for each in turn.discrepancy.missing_to_tell if isinstance(each, Unknown))
        if named[0] in (*unknown, *(each.name for each in turn.discrepancy.unseen if each.moved)):
            return f"I do not know: {the(named[0])} was not seen after {phrasing.step(turn.step or 1)}."
    return f"Nothing happened to {the(named[0])}: it was always as expected."


def _went_on(recovery: Recovery, turn: Turn, phrasing: Phrasing) -> str:
    """Return with what the plan went on without a recovery, or would have."""
    at = phrasing.step(recovery.subgoal + 1) if turn.step and recovery.subgoal is not None else "its next step"
    if turn.record.fate is Fate.ACCEPTED:
        return f"No recovery was needed: the plan went on with {at}."
    who = ", and a person vetoed that" if turn.record.fate is Fate.VETOED else ", which was not done"
    return f"The plan could go on with {at}{who}."


def _did(every: Sequence[Turn], phrasing: Phrasing) -> str:
    texts = []
    for turn, recovery in _recoveries(every):
        if not recovery.found:
            texts.append(f"There was no recovery: {reason_text(recovery).rstrip('. ')}.")
        elif not recovery.actions:
            texts.append(_went_on(recovery, turn, phrasing))
        else:
            steps = [_goal(action, recovery, number, phrasing) for number, action in enumerate(recovery.actions)]
            texts.append(f"The way back was to {listed(steps)}. {fate_text(turn)}")
    return " ".join(texts) or "Nothing went wrong, so no recovery was needed."
