"""Answers about what was done with objects and what happened to them: whether, who, when, why, and what if not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import UNDONE, AnyDeviation, Cause, Deviation, Unknown
from nsrecover.core.episode import EpisodeStatus, StopCode
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneGraph
from nsrecover.domains.tabletop.relations import TABLE, support_name
from nsrecover.explanation.answers.fates import fate_text, way_back
from nsrecover.explanation.answers.needed import needed_for
from nsrecover.explanation.answers.numbering import Turn, duration
from nsrecover.explanation.answers.run import AskedRun, Deed, Happening, state_of
from nsrecover.explanation.phrases import instruction
from nsrecover.explanation.reasons import reason_text
from nsrecover.explanation.why import Agent, why
from nsrecover.language.questions import GENERIC, GRIPPER, AskedQuestion, Bound, Gap, Proposition, Things, When, Who
from nsrecover.util.english import capital, counted, listed, number, objects, past, the

FIRST_TRY, MANY = Bound(When.FIRST, -1), Bound(When.AFTER, -2)
"""What a question says of the number of tries."""
_HAPPENS = {
    "drop": (Cause.DROPPED,),
    "fall": (Cause.TOPPLED, Cause.DROPPED, Cause.LYING),
    "knock": (Cause.TOPPLED, Cause.MOVED, Cause.LEANING, Cause.LYING, Cause.TURNED),
    "lose": (Cause.MISSING, Cause.REPLACED, Cause.DROPPED),
    "swap": (Cause.SWAPPED,),
    "change": tuple(Cause),
    "block": (Cause.BLOCKING,),
    "break": (),
    "spill": (),
    GENERIC: tuple(each for each in Cause if each not in (*UNDONE, Cause.BLOCKING, Cause.LEANING)),
}  # fmt: skip
"""What a question says happened -> the causes that mean it."""


@dataclass(frozen=True)
class RunAnswer:
    """An answer as it is found.

    Attributes:
        text: the facts, without yes or no.
        holds: whether the proposition, not negated, holds; None: that is not known.
        unknown: the sentence that says so.
    """

    text: str
    holds: bool | None = None
    unknown: str = "That is not known."


def acted(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Of an action: whether it was executed, by whom, when, how often, why, or why not."""
    said = asked.said
    if asked.gap is Gap.WHY:
        return RunAnswer(_why_not(run, said) if said.negated else _why(run, said))
    if said.time == "next" or (said.time == "now" and run.running and said.who is Who.ROBOT):
        return _to_come(run, said)
    if said.who in (Who.ME, Who.PERSON):
        return _by_people(run, said)
    done = matching(run, said)
    if asked.gap is Gap.OFTEN or MANY in said.times:
        return RunAnswer(_how_often(run, done), len(done) > 1)
    if asked.gap is Gap.COUNT or (asked.gap in (Gap.WHAT, Gap.WHICH) and not said.place and not said.names):
        return _objects_of(run, said, done)
    if done:
        return _told_deeds(run, asked, done)
    return _not_done(run, said)


def _told_deeds(run: AskedRun, asked: AskedQuestion, done: list[Deed]) -> RunAnswer:
    """What was done, when, and whether it worked; for what another agent did, what else happened to it."""
    said = asked.said
    if Bound(When.FIRST) in said.times or FIRST_TRY in said.times:
        done = done[:1]
    if Bound(When.LAST) in said.times:
        done = done[-1:]
    if asked.gap is Gap.WHERE:
        done = [each for each in done if each.worked or not said.names] or done
    looked = all(each.only_looks for each in done) and not said.names
    seen = FIRST_TRY in said.times or said.who is not Who.ROBOT
    worked = [True if looked else each.worked if seen else each.done for each in done]
    text = run.told(done)
    if said.who is not Who.ROBOT and GENERIC in said.value:
        others = happenings_of(run, said)
        text = f"{text} {_tells(run, others)} {_causes_text(run, others)}".rstrip()
    if asked.gap is Gap.LONG:
        text += f" That took {duration(sum(run.took(each.turn) for each in done))}."
    return RunAnswer(text, True if True in worked else None if None in worked else False)


def _how_often(run: AskedRun, done: Sequence[Deed]) -> str:
    """How often each action was tried."""
    groups = {str(each.action): [other for other in done if str(other.action) == str(each.action)] for each in done}
    told = []
    for group in groups.values():
        missed = sum(each.worked is False for each in group)
        text = f"I tried {counted(len(group), 'time')} to {run.instruction(group[0].action)}"
        told.append(f"{text}; {number(missed)} of these tries did not work" if missed else text)
    return f"{capital('; '.join(told))}. {run.told(done)}" if told else "Not once."


def _objects_of(run: AskedRun, said: Proposition, done: Sequence[Deed]) -> RunAnswer:
    """The objects that were handled, or that were not."""
    names = list(dict.fromkeys(each.action.arguments[0] for each in done if each.action.arguments))
    if said.negated:
        names = [each for each in run.scene.names if each not in names]
    names = names[:1] if Bound(When.FIRST) in said.times else names[-1:] if Bound(When.LAST) in said.times else names
    return RunAnswer(
        f"{capital(counted(len(names), 'object'))}: {objects(names)}." if names else "None so far.", bool(done)
    )


def _not_done(run: AskedRun, said: Proposition) -> RunAnswer:
    """That the robot did not do something, with what happened instead."""
    changed = [each for each in run.happenings if said.names and each.deviation.name in said.names]
    if _stopped_before(run, said):
        return RunAnswer(
            f"The run ended before the result was confirmed: the next action was to {run.instruction(run.left[0])}."
        )
    if given := [each for each in run.by_others if said.names and {*said.names} <= {*each.action.arguments}]:
        return RunAnswer(f"I did not do that myself. {run.told(given)}", False)
    if said.who is Who.ROBOT or not changed:
        about = objects(said.names) if said.names else "that"
        if said.who is not Who.ROBOT and GENERIC in said.value and not said.names:
            return _by_people(run, said)
        text = f"{'In that time, ' * run.cut}I did not {_verb(run, said, about)}. {_tells(run, changed)}"
        return RunAnswer(text.rstrip(), False)
    holds = True if not said.who and GENERIC in said.value else None
    return RunAnswer(f"No action of mine did that. {_tells(run, changed)} {_causes_text(run, changed)}", holds)


def _to_come(run: AskedRun, said: Proposition) -> RunAnswer:
    """Whether an action is still to come, in the plan or in the way back that is followed or proposed."""
    todo = [each for each in run.left if run.every and matches(run, said, Deed(run.every[-1], each))]
    if not run.running:
        text = "The run is over, and I do nothing more."
        return RunAnswer(f"{text} {capital(run.instruction(todo[0]))} was left to do." if todo else text, False)
    about = objects(said.names) if said.names else "that"
    if not todo:
        return RunAnswer(f"As things are, no action that is left is to {_verb(run, said, about)}.", False)
    text = f"{capital(counted(len(todo), 'action'))} of those that are left: {listed(map(run.instruction, todo))}."
    if run.waits_for:
        return RunAnswer(f"{text} Before, I wait for an answer: {run.waits_for}")
    return RunAnswer(text, True)


def happened(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Of something that happened to objects: whether, to which, who did it, when, why, and what became of them."""
    said = asked.said
    found = happenings_of(run, said)
    if said.time == "state" and "lose" in said.value and said.names:
        return _missing(run, said.names)
    if "spill" in said.value or ("block" in said.value and not found):
        text = "Nothing of the kind was noticed, and it is not read as such."
        return RunAnswer(f"{text} {_tells(run, run.happenings)}".rstrip())
    if "break" in said.value and not found:
        return _broken(run, said)
    if not found:
        if any(_unseen(run, each) for each in said.names):
            return RunAnswer(became(run, said.names[0]))
        if said.names:
            others = [each for each in run.happenings if each.deviation.name in said.names]
            if asked.gap is Gap.WHICH or others:
                return RunAnswer(became(run, said.names[0]), False)
        what = objects(said.names) if said.names else "any object"
        return RunAnswer(f"Nothing of the kind was noticed with {what}.", False)
    text = _tells(run, found)
    if asked.gap is Gap.WHY:
        return RunAnswer(_causes_text(run, found))
    if asked.gap is Gap.WHO:
        return RunAnswer(f"{text} {_doers(run, found)} {_causes_text(run, found)}")
    if said.who is not Who.NONE:
        return RunAnswer(f"{text} {_causes_text(run, found)}", did_it(said.who, found))
    if said.time in ("state", "now") and said.names:
        return _still(run, said.names, text)
    return RunAnswer(text, True)


def did_it(who: Who, found: Sequence[Happening]) -> bool | None:
    """Whether the robot, or else a person, brought something about; None if that is not known."""
    agents = {each.agent for each in found}
    own, other = (Agent.ROBOT, Agent.PERSON) if who in (Who.ROBOT, Who.NONE) else (Agent.PERSON, Agent.ROBOT)
    return True if own in agents else False if agents == {other} else None


def became(run: AskedRun, name: str) -> str:
    """What happened to an object."""
    found = next((each for each in run.happenings if each.deviation.name == name), None)
    if found is not None:
        return f"{_tell(run, found)}."
    if unseen := _unseen(run, name):
        return f"I do not know: {the(name)} was not seen after {run.phrasing.step(unseen.step or 1)}."
    return f"Nothing happened to {the(name)}: it was always as expected."


def deviation_of(turn: Turn, name: str) -> AnyDeviation | None:
    """How an object deviates at a turn; None if it does not."""
    return next((each for each in turn.discrepancy.deviations if each.name == name), None)


def what_if_not(run: AskedRun, said: Proposition) -> str:
    """What would be if an object had not been moved by the robot, from the boxes of a run."""
    name = said.names[0]
    found = _moves(run, replace_value(said))
    if found is None:
        planned = _planned(run, said)
        if planned is None:
            return f"Nothing would be different: as far as it is recorded, I did not move {the(name)} at all."
        return f"{_was_planned(run, planned)} Without it the plan would not have been completed."
    turn, recovery, index = found
    so_far = f"No recovery has moved {the(name)}. {fate_text(turn)} " if index not in turn.carried_out else ""
    if not isinstance(turn.record.graph, SceneGraph):
        return (
            f"{so_far}What would be different cannot be computed from a log of facts: ask while the robot is running."
        )
    reason = needed_for(turn.record.graph, recovery, name) or f"{the(name)} stood in the way"
    return f"{so_far}The way back needed it: {reason}. Whether there is one without it was not searched for."


def what_if_it_had_not_happened(run: AskedRun, said: Proposition) -> str:
    """What would be if something had not happened to an object."""
    found = happenings_of(run, said)
    if not found:
        return (
            f"Nothing would be different: nothing of the kind was noticed with {objects(said.names) or 'any object'}."
        )
    turn = found[0].turn
    if all(each.deviation.cause is Cause.HELPED for each in found):
        return f"{_tells(run, found)} Without that, no step could have been skipped: I would have had to do it myself."
    wrong = [each.name for each in turn.discrepancy.deviations if each.name not in said.names]
    then = f"{capital(run.phrasing.step(turn.step))}" if turn.step else "That action of the recovery"
    if said.names and wrong:
        still = f"{objects(wrong)} would still not have been as expected {run.when(turn)}"
        return f"{_tells(run, found)} Without that, {still}."
    last = len(run.episode.plan)
    if turn.step is None or turn.step >= last:
        rest = "the plan would have been complete" if turn.step == last else "the recovery would have gone on"
    else:
        rest = f"the plan would have gone on with {run.phrasing.step(turn.step + 1)}"
    spared = turn.recovery.actions if turn.recovery is not None else ()
    saved = f", without the recovery of {counted(len(spared), 'action')}" if spared and turn.carried_out else ""
    stopped = run.episode.status is EpisodeStatus.ASKED_FOR_HELP and turn is run.errors[-1]
    return (
        f"{_tells(run, found)} Without that, {then[0].lower()}{then[1:]} would have gone as planned, and {rest}{saved}."
        + (" The run would not have stopped there." if stopped else "")
    )


def replace_value(said: Proposition) -> Proposition:
    """The same object with any action."""
    return Proposition("act", (GENERIC,), names=said.names)


def matches(run: AskedRun, said: Proposition, deed: Deed) -> bool:
    """Whether an action is one that a proposition is about."""
    action = deed.action
    verbs = [each.partition(" ") for each in said.value if each != "failed"]
    if GENERIC in said.value:
        if deed.only_looks:
            return False
    elif verbs and not any(own == action.operator and part in ("", *action.arguments) for own, _, part in verbs):
        return False
    if "failed" in said.value and deed.worked is not False:
        return False
    wanted = {*said.names, *(each for each in said.place[1:] if each not in ("", GRIPPER, TABLE))}
    if not wanted <= set(action.arguments):
        return False
    if deed.only_looks:
        return True
    return not said.names or not verbs or action.arguments[:1] == said.names[:1] or not _names_first(run, action)


def _names_first(run: AskedRun, action: Action) -> bool:
    """Whether the words of an action begin with the verb and its first argument, as in `put {thing} in {place}`."""
    operator = run.domain.operators.get(action.operator)
    first = operator.parameters[0].variable.removeprefix("?") if operator is not None and operator.parameters else ""
    return operator is None or operator.words.imperative.partition("{")[2].startswith(first)


def matching(run: AskedRun, said: Proposition) -> list[Deed]:
    """The executed actions that a proposition is about."""
    if said.who in (Who.PERSON, Who.ME):
        return []
    return [each for each in run.deeds if matches(run, said, each)]


def _causes(said: Proposition) -> tuple[Cause, ...]:
    return tuple(cause for each in said.value for cause in _HAPPENS.get(each, ()))


def _names(run: AskedRun, said: Proposition) -> Sequence[str]:
    if said.things is Things.GROUP:
        return run.built
    return said.names or run.names


def happenings_of(run: AskedRun, said: Proposition) -> list[Happening]:
    """What happened unprompted that a proposition is about."""
    causes, names = _causes(said), _names(run, said)
    found = [each for each in run.happenings if each.deviation.cause in causes and each.deviation.name in names]
    picks = {each.when for each in said.times if not each.step and each.event is None}
    return found[:1] if When.FIRST in picks else found[-1:] if When.LAST in picks else found


def _tell(run: AskedRun, each: Happening) -> str:
    """When an object deviated, and how, as a clause."""
    away = 100 * each.deviation.distance_m if isinstance(each.deviation, Deviation) else 0.0
    place = f", about {away:.0f} cm from its place" if 1.0 <= away < math.inf else ""
    return (
        f"{capital(run.when(each.turn))}, {past(state_of(each.deviation, each.turn.record.graph, run.domain))}{place}"
    )


def _tells(run: AskedRun, found: Sequence[Happening]) -> str:
    return " ".join(dict.fromkeys(f"{_tell(run, each)}." for each in found))


def _causes_text(run: AskedRun, found: Sequence[Happening]) -> str:
    turns = dict.fromkeys(each.turn for each in found)
    said = (
        why(turn.discrepancy, turn.by_hand, run.domain, [each.deviation.name for each in found if each.turn is turn])
        for turn in turns
    )
    return " ".join(dict.fromkeys(each.text for group in said for each in group))


def _doers(run: AskedRun, found: Sequence[Happening]) -> str:
    agents = {each.agent for each in found}
    if agents == {Agent.ROBOT}:
        return "It was an action of mine."
    if agents == {Agent.PERSON}:
        return f"It was {found[0].turn.by_hand}, as far as it is recorded."
    return "Who did it is not known."


def _by_people(run: AskedRun, said: Proposition) -> RunAnswer:
    """Whether people moved or changed objects by hand."""
    given = [each for each in run.by_others if not {*said.names} - {*each.action.arguments}]
    if given:
        return RunAnswer(run.told(given), True)
    found = [each for each in run.happenings if not said.names or each.deviation.name in said.names]
    by_hand = [each for each in found if each.agent is Agent.PERSON]
    if by_hand:
        return RunAnswer(f"{_tells(run, by_hand)} {_causes_text(run, by_hand)}", True)
    names = [each.by_hand for each in run.every if each.by_hand]
    if names:
        return RunAnswer(
            f"{capital(names[0])} changed the scene by hand, as the records say; what exactly is not recorded.", None
        )
    unknown = [each for each in found if each.agent is Agent.UNKNOWN]
    if unknown:
        return RunAnswer(f"{_tells(run, unknown)} {_causes_text(run, unknown)}")
    what = objects(said.names) if said.names else "anything"
    return RunAnswer(f"It was not noticed that a person moved or changed {what}.", False)


def _broken(run: AskedRun, said: Proposition) -> RunAnswer:
    """Whether something is broken: only scenes of facts say so."""
    if "broken" not in run.domain.variables:
        return RunAnswer("Whether something is broken is not read by my sensors.")
    facts = sorted(getattr(run.scene, "facts", ()))
    broken = [fact for fact in facts if "broken" in fact and (not said.names or set(said.names) & set(fact[1:]))]
    if broken:
        since = [each for each in run.happenings if each.deviation.name in {fact[1] for fact in broken}]
        told = _tells(run, since) or f"{capital(listed(map(run.domain.text, broken)))}."
        text = f"{told} {_causes_text(run, since)}".rstrip()
        return RunAnswer(text, True if said.who is Who.NONE else did_it(said.who, since))
    return RunAnswer("Nothing of that was seen to be broken.", False)


def _still(run: AskedRun, names: Sequence[str], text: str) -> RunAnswer:
    """Whether what happened is still so, at the last turn."""
    wrong = [each for each in names if run.every and deviation_of(run.every[-1], each) is not None]
    if wrong:
        return RunAnswer(f"{text} It was still so when I looked last.", True)
    moved = {deed.action.arguments[0] for deed in run.deeds if deed.worked and deed.turn.record.recovering}
    if {*names} <= moved:
        were = "was" if len(names) == 1 else "were"
        return RunAnswer(f"{text} When I looked last, {objects(names)} {were} in place again.", False)
    return RunAnswer(text)


def _missing(run: AskedRun, names: Sequence[str]) -> RunAnswer:
    """Whether objects are missing at the last look."""
    told = [became(run, name) for name in names]
    if not isinstance(run.scene, SceneGraph):
        return RunAnswer(" ".join(told))
    gone = [name not in run.scene.names or bool(run.scene.missing[run.scene.index(name)]) for name in names]
    gone = [is_gone or _cause_now(run, name) is Cause.MISSING for is_gone, name in zip(gone, names, strict=True)]
    hidden = [name not in run.scene.names or not run.scene.seen[run.scene.index(name)] for name in names]
    holds = True if all(gone) else None if any(hidden) else False
    return RunAnswer(" ".join(told), holds)


def _cause_now(run: AskedRun, name: str) -> Cause | None:
    found = deviation_of(run.every[-1], name) if run.every else None
    return None if found is None else found.cause


def _unseen(run: AskedRun, name: str) -> Turn | None:
    """The first turn at which an object should have been seen, and was not."""
    for turn in run.every:
        unknown = (each.name for each in turn.discrepancy.missing_to_tell if isinstance(each, Unknown))
        if name in (*unknown, *(each.name for each in turn.discrepancy.unseen if each.moved)):
            return turn
    return None


def _stopped_before(run: AskedRun, said: Proposition) -> bool:
    """Whether a person ended the run, and the action that was next may have begun."""
    ended = run.episode.why in (StopCode.STOPPED, StopCode.EXECUTION_FAILED)
    return ended and bool(run.every and run.left) and matches(run, said, Deed(run.every[-1], run.left[0]))


def _verb(run: AskedRun, said: Proposition, about: str) -> str:
    """An action that was not done, as an infinitive."""
    name, _, part = (said.value or ("",))[0].partition(" ")
    operator = run.domain.operators.get(name)
    if operator is None or part or operator.words.imperative.startswith("{"):
        return f"{part or 'move'} {about}"
    verb, _, rest = operator.words.imperative.partition(" {")
    after = rest.partition("}")[2].partition("{")[0].split()
    return " ".join([verb, about, *(after[:1] if "{" not in rest else [])])


# --- why, and why not


def _moves(run: AskedRun, said: Proposition) -> tuple[Turn, Recovery, int] | None:
    """The first recovery that has done an action, else one that would have, and the number of the action in it."""
    found = [
        (turn, recovery, number)
        for turn, recovery in run.recoveries
        for number, action in enumerate(recovery.actions)
        if action.arguments[:1] == said.names[:1] and matches(run, said, Deed(turn, action))
    ]
    return min(found, key=lambda each: each[2] not in each[0].carried_out, default=None)


def _planned(run: AskedRun, said: Proposition) -> Turn | None:
    """The first step of the plan that is an action."""
    steps = [turn for turn in run.every if turn.step and matches(run, said, Deed(turn, turn.discrepancy.action))]
    return min(steps, key=lambda turn: turn.discrepancy.action.arguments[:1] != said.names[:1], default=None)


def _why(run: AskedRun, said: Proposition) -> str:
    if not said.names:
        return "Name the object: I can say why an action was done with it."
    found = _moves(run, said) or (None if _planned(run, said) else _moves(run, replace_value(said)))
    if found is None:
        planned = _planned(run, said) or _planned(run, replace_value(said))
        if planned is None:
            changed = [each for each in run.happenings if each.deviation.name in said.names]
            text = f"I did not {_verb(run, said, objects(said.names))}."
            return f"{text} {_tells(run, changed)} {_causes_text(run, changed)}" if changed else text
        return _was_planned(run, planned)
    turn, recovery, number = found
    action, scene, name = recovery.actions[number], turn.record.graph, said.names[0]
    text, to_do = (f"After {run.phrasing.step(turn.step)}, " if turn.step else ""), run.instruction(action)
    if (deviation := deviation_of(turn, name)) is not None:
        to_do = goal(run, recovery, number)
        return capital(f"{text}{past(state_of(deviation, scene, run.domain))}. {_so(turn, number, to_do)}")
    if isinstance(scene, SceneGraph) and (reason := needed_for(scene, recovery, name)):
        return capital(f"{text}{reason}. {_so(turn, number, to_do)}")
    if turn.discrepancy.action.arguments[0] == name:
        return capital(f"{text}the step was about {the(name)}. {_so(turn, number, to_do)}")
    found_ = listed(state_of(each, scene, run.domain) for each in turn.discrepancy.deviations)
    return capital(f"{text}{past(found_)}. {_so(turn, number, to_do)}")


def _why_not(run: AskedRun, said: Proposition) -> str:
    """Why the robot did not do something, or that it did."""
    done = matching(run, said)
    if missed := [each for each in done if each.worked is False]:
        found = [each for each in run.happenings if each.turn is missed[0].turn]
        return f"{run.told(done)} {_causes_text(run, found)}"
    if done:
        return f"I did: {run.when(done[0].turn)}, {run.done(done[0])}."
    if not said.names:
        return "It was not part of the plan."
    what = _verb(run, said, objects(said.names))
    if way := _moves(run, said):
        return f"{way_back(way[0])} {run.instruction(way[1].actions[way[2]])}. {fate_text(way[0])}"
    left = [action for action in run.left if matches(run, said, Deed(run.every[-1], action))] if run.every else []
    if left:
        return f"I have not done it: it is a step of the plan that has not been reached, to {run.instruction(left[0])}."
    steps = [n for n, each in enumerate(run.episode.plan, start=1) if matches(run, said, Deed(run.every[-1], each))]
    if steps:
        step = capital(run.phrasing.step(steps[0]))
        return f"{step} of the plan is to {what}; it was skipped.{_rejoined(run, steps[0])}"
    name = said.names[0]
    for turn, recovery in run.recoveries:
        deviation = deviation_of(turn, name)
        if deviation is None:
            continue
        clause = capital(past(state_of(deviation, turn.record.graph, run.domain)))
        if name in recovery.staying:
            return f"{clause}. It could stay there: no later step needed it elsewhere."
        if not recovery.found:
            return f"{clause}, and there was no recovery: {reason_text(recovery).rstrip('. ')}."
        return f"{clause}. The rest of the plan was possible without that."
    if any(each.deviation.name == name for each in run.happenings):
        return f"{became(run, name)} No recovery was searched for."
    known = "it was in its place and blocked nothing" if isinstance(run.scene, SceneGraph) else "nothing needed it"
    return f"I did not {what}: no step of the plan is to do that, and {known}, as far as it was noticed."


def _rejoined(run: AskedRun, step: int) -> str:
    """At which turn the plan was rejoined behind a step."""
    for turn, recovery in run.recoveries:
        if recovery.subgoal is not None and turn.step is not None and turn.step < step <= recovery.subgoal:
            done = run.phrasing.step(recovery.subgoal)
            return f" {capital(run.when(turn))}, the plan was found to be done up to {done}."
    return ""


def goal(run: AskedRun, recovery: Recovery, number: int) -> str:
    """An action of a recovery as an instruction, with the support of the object afterwards."""
    graphs, action = recovery.graphs, recovery.actions[number]
    boxes = number < len(graphs) and isinstance(graphs[number], SceneGraph)
    place = support_name(graphs[number], graphs[number].index(action.arguments[0])) if boxes else None
    return instruction(action, place, run.domain)


def _so(turn: Turn, number: int, to_do: str) -> str:
    """What an action of a recovery is for, as it was done or not."""
    if number in turn.carried_out:
        return f"So I had to {to_do}."
    left_out = "; this action of it was not carried out" if turn.carried_out else ""
    return f"{way_back(turn)} {to_do}{left_out}. {fate_text(turn)}"


def _was_planned(run: AskedRun, planned: Turn) -> str:
    step, to_do = run.phrasing.step(planned.step or 0), run.instruction(planned.discrepancy.action)
    if planned.discrepancy.action not in [each.action for each in run.deeds]:
        return f"{capital(step)} of the plan is to {to_do}. I have not done it."
    return f"{capital(step)} of the plan was to {to_do}."
