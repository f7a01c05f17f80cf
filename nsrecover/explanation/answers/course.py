"""Answers about the course of a run: what went wrong, what was done, how it ended, and what is open."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from nsrecover.core.discrepancy import AnyDeviation, Deviation, Verdict
from nsrecover.core.episode import EpisodeStatus, Fate, StopCode
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneGraph
from nsrecover.domains.domain import Domain
from nsrecover.domains.tabletop.relations import support_name
from nsrecover.explanation.answers.events import FIRST_TRY, RunAnswer, did_it, goal
from nsrecover.explanation.answers.fates import fate_text, rejoin_text, way_back
from nsrecover.explanation.answers.numbering import Turn, duration, how_it_stopped
from nsrecover.explanation.answers.run import MOST_ACTIONS, AskedRun, lost_s, state_of, waited_s
from nsrecover.explanation.audience import participle
from nsrecover.explanation.facts import facts_of
from nsrecover.explanation.grounded import GroundedExplainer
from nsrecover.explanation.reasons import reason_text
from nsrecover.explanation.safety import NO_EMERGENCY_STOP, NOT_KNOWN, safety_sentences
from nsrecover.explanation.templates import in_short
from nsrecover.explanation.why import Agent, why
from nsrecover.language.questions import AskedQuestion, Gap, Proposition, Things, When, Who
from nsrecover.util.english import capital, counted, listed, number, objects, the

MOST_RECOVERIES = 3
"""More are counted."""
SHORTEST_S = 0.5
"""Less time counts as none."""
_ALL_WELL = "Nothing went wrong, as far as it was noticed."
_ANY = Proposition("wrong")
_RUNS = (Who.NONE, Who.ROBOT)
"""Doers of stopping without whom it is asked whether the run stopped at all."""


def safe(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Whether it is safe to reach in."""
    verdict, *rest = [each.text for each in safety_sentences(run.episode, run.domain, bool(run.waits_for))]
    text = " ".join(rest)
    if verdict == NOT_KNOWN and asked.gap is Gap.POLAR:
        return RunAnswer(text, None, NOT_KNOWN)
    return RunAnswer(f"{verdict} {text}", None if verdict == NOT_KNOWN else False)


def hurt(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Whether the robot may hurt a person: it does not know where people are."""
    return replace(safe(run, asked), holds=None)


def moving(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Whether the robot moves now, and why not."""
    if asked.gap is Gap.WHY:
        return waiting(run, asked)
    if run.running and run.waits_for:
        return RunAnswer(f"I wait for a person, and may move as soon as I have an answer: {run.waits_for}", False)
    if run.running:
        return RunAnswer("The run goes on, and I may move at any time.", True)
    if run.episode.status is EpisodeStatus.REVIEWED:
        return RunAnswer("This is a recording.")
    return RunAnswer("The run is over, and I move nothing more.", False)


def done(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Whether it worked, or is finished."""
    if asked.said.time == "next" or asked.gap is Gap.LONG:
        return left(run, asked)
    if asked.gap is Gap.WHY and not asked.said.negated and not run.errors:
        return RunAnswer("Nothing went wrong.")
    if asked.gap is Gap.WHY:
        return stopped(run, asked)
    if run.cut:
        return _part_done(run)
    if asked.gap is Gap.WHEN and run.every:
        return RunAnswer(f"{how_it_ended(run)} That was {run.when(run.every[-1])}.")
    if asked.gap in (Gap.WHAT, Gap.WHICH) and asked.said.negated:
        return skipped(run, asked)
    status, why_ = run.episode.status, run.episode.why
    everything = asked.said.things in (Things.EVERY, Things.ANY) or FIRST_TRY in asked.said.times
    if status is EpisodeStatus.COMPLETED:
        text = "I completed the plan, and what it needs was seen in place in the end."
        text += f" Left as it is: {'; '.join(run.still_otherwise)}." if run.still_otherwise else ""
        if given_up := listed(run.domain.text(fact) for fact in run.episode.given_up):
            return RunAnswer(f"This part of the goal was given up: {given_up}.", None, "Only in part.")
        if everything and run.errors:
            return RunAnswer(f"{number_of_errors(run)} {text}", False)
        return RunAnswer(text, True)
    if status is EpisodeStatus.ASKED_FOR_HELP:
        return RunAnswer(
            how_it_stopped(run.episode), None if why_ in (StopCode.GOAL_UNSEEN, StopCode.CANNOT_TELL) else False
        )
    if status is EpisodeStatus.REVIEWED:
        return RunAnswer("This is a recording: whether a recovery would have worked is not known.")
    return RunAnswer(f"The run goes on. {_left_text(run)}", False)


def over(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Whether the run has ended, well or not."""
    return RunAnswer(how_it_ended(run), not run.running)


def planned(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Whether the plan has to do with objects."""
    steps = [run.instruction(each) for each in run.episode.plan if {*asked.said.names} & {*each.arguments}]
    if not asked.said.names:
        return (extra if asked.said.negated else plan)(run, asked)
    return RunAnswer(f"Steps of the plan with it: {listed(steps)}." if steps else plan(run, asked).text, bool(steps))


def longest(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Which action took the longest."""
    deed = max(run.deeds, key=lambda each: run.took(each.turn), default=None)
    if deed is None or not run.took(deed.turn):
        return RunAnswer("How long the actions took is not recorded.")
    return RunAnswer(f"{capital(run.when(deed.turn))}, {run.done(deed)}: that took {duration(run.took(deed.turn))}.")


def asked_people(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Whether the robot asked a person for something."""
    made = bool(run.by_others) or any(turn.record.decided or turn.record.vetoed for turn in run.every)
    waits = bool(run.waits_for) or run.episode.status is EpisodeStatus.ASKED_FOR_HELP
    given = run.told(run.by_others)
    return RunAnswer(f"{given} {vetoed(run, asked).text}".strip(), made or waits)


def _part_done(run: AskedRun) -> RunAnswer:
    """Whether the actions of a part of a run worked."""
    worked = [deed.worked for deed in run.deeds]
    texts = [f"{capital(run.when(deed.turn))}, {run.done(deed)}." for deed in run.deeds]
    wrong_ = f" {_wrong_text(run, run.errors[0])}" if run.errors else ""
    holds = None if not worked or None in worked else False not in worked and not run.errors
    return RunAnswer(f"{' '.join(texts) or 'Nothing was done then.'}{wrong_}", holds)


def how_it_ended(run: AskedRun) -> str:
    """How a run ended, or that it goes on, as a sentence."""
    return {
        EpisodeStatus.COMPLETED: "I completed the plan.",
        EpisodeStatus.ASKED_FOR_HELP: how_it_stopped(run.episode),
        EpisodeStatus.REVIEWED: "This is a recording.",
    }.get(run.episode.status, "The run goes on.")


def stopped(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Whether the run stopped before its end, and why."""
    status = run.episode.status
    if status is EpisodeStatus.ASKED_FOR_HELP:
        turn = run.every[-1] if run.every else None
        when = f" That was {run.when(turn)}." if turn is not None and asked.gap is Gap.WHEN else ""
        by_others = run.episode.why is StopCode.STOPPED
        holds = None if by_others else asked.said.who not in (Who.PERSON, Who.ME, Who.ANYONE)
        return RunAnswer(f"{how_it_stopped(run.episode)}{when}", True if asked.said.who in _RUNS else holds)
    if status is EpisodeStatus.COMPLETED:
        return RunAnswer("I did not stop: I completed the plan.", False)
    if status is EpisodeStatus.REVIEWED:
        return RunAnswer("This is a recording: nothing was stopped by the review.", False)
    if run.waits_for:
        return RunAnswer(f"I stand still until a person has answered: {run.waits_for}", True)
    return RunAnswer("I have not stopped: the run goes on.", False)


def told_to_stop(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """How to stop the robot: an answer to a question does not."""
    if not run.running:
        return RunAnswer("The run is over, and I move nothing more.")
    return RunAnswer("I only answer questions here. Press Stop on the live page, or use the robot's emergency stop.")


def goes_on(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Whether the robot can go on alone."""
    if run.running and not run.waits_for:
        return RunAnswer(f"The run goes on. {_left_text(run)}", True)
    if run.episode.status is EpisodeStatus.COMPLETED:
        return RunAnswer("Nothing is left: every action is done.", True)
    return RunAnswer(needs(run, asked).text, False)


def needs(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """What a person should do now: the request that is open, and what it is about."""
    if asked.gap is Gap.LONG:
        return left(run, asked)
    if asked.gap is Gap.WHY and asked.said.time == "past" and run.by_others:
        return asked_people(run, asked)
    match run.episode.status:
        case EpisodeStatus.ASKED_FOR_HELP if run.episode.why is StopCode.STOPPED:
            text = f"{how_it_stopped(run.episode)} {_left_text(run)} Start it again, or finish by hand."
            return RunAnswer(text, bool(run.left))
        case EpisodeStatus.ASKED_FOR_HELP:
            reason = run.episode.reason.rstrip(". ")
            return RunAnswer(f"A person is needed: {reason}. {_by_hand(run)}", True)
        case EpisodeStatus.RUNNING if run.waits_for:
            return RunAnswer(f"The robot waits for your answer: {run.waits_for} {_by_hand(run)}".rstrip(), True)
        case EpisodeStatus.RUNNING:
            return RunAnswer("No help is needed now; if it is, the live page asks for a decision.", False)
    still = run.still_otherwise
    return RunAnswer(
        "No help is needed: the run is over." + (f" Left as it is: {'; '.join(still)}." if still else ""), False
    )


def waiting(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """What the robot waits for."""
    if run.running and run.waits_for:
        return RunAnswer(f"I wait for a person to answer: {run.waits_for}", True)
    if run.running:
        return RunAnswer("I wait for nobody: the run goes on.", False)
    if run.episode.status is EpisodeStatus.ASKED_FOR_HELP:
        return RunAnswer(how_it_stopped(run.episode), None)
    return RunAnswer("I wait for nobody: the run is over.", False)


def following(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """What comes next."""
    if asked.said.who is Who.ME:
        return needs(run, asked)
    todo = [run.instruction(action) for action in run.left[:1]]
    if run.running and run.waits_for:
        way = run.proposed
        if way is not None and way.found and way.actions:
            steps = [goal(run, way, number) for number in range(len(way.actions))]
            then = f" If the answer is yes, I would {listed(steps)}: {counted(len(steps), 'action')}."
            return RunAnswer(f"Nothing before a person has answered: {run.waits_for}{then}")
        return RunAnswer(f"Nothing before a person has answered: {run.waits_for}")
    if run.episode.status is EpisodeStatus.COMPLETED or not todo:
        return RunAnswer("Nothing: every action is done.")
    if run.running:
        return RunAnswer(f"Next is to {todo[0]}.")
    return RunAnswer(f"Nothing: the run is over. The next action would be to {todo[0]}.")


def left(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """How much is left."""
    text, holds = _left_text(run), run.episode.status is not EpisodeStatus.COMPLETED and bool(run.left)
    if asked.gap is Gap.LONG and holds and run.deeds and run.took(run.deeds[-1].turn) >= SHORTEST_S:
        each_s = sum(run.took(deed.turn) for deed in run.deeds) / len(run.deeds)
        text += f" So far an action took {duration(each_s)} on average; people's answers come on top."
    return RunAnswer(text, holds)


def plan(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """What the plan is."""
    steps = list(map(run.instruction, run.episode.plan))
    for bound in asked.said.times:
        number_ = len(steps) if bound.step == -1 else bound.step
        if 0 < number_ <= len(steps):
            return RunAnswer(f"{capital(run.phrasing.step(number_))} of the plan is to {steps[number_ - 1]}.", True)
    return RunAnswer(f"The plan has {counted(len(steps), 'step')}: {listed(steps)}.", bool(steps))


def did(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """What was done, is being done, or will be."""
    said = asked.said
    if said.who is Who.ME or (said.who in (Who.PERSON, Who.ANYONE) and asked.gap is Gap.WHAT):
        return needs(run, asked) if said.time != "past" else helped(run, asked)
    if said.who is not Who.ROBOT:
        return wrong(run, asked)
    if said.time in ("next", "should"):
        return following(run, asked)
    if said.time == "now" and run.running:
        return (
            following(run, asked) if run.waits_for else RunAnswer(f"I carry out the plan. {following(run, asked).text}")
        )
    if asked.gap is Gap.WHY:
        return chosen(run)
    if said.time == "now" and asked.gap is Gap.WHAT:
        return RunAnswer(following(run, asked).text)
    picks = {each.when for each in said.times if not each.step and each.event is None}
    if said.value == ("worked",):
        run = replace(run, every=[deed.turn for deed in run.deeds if deed.worked])
    deeds = run.deeds[:1] if When.FIRST in picks else run.deeds[-1:] if When.LAST in picks else run.deeds
    if not deeds:
        return RunAnswer("Nothing was done then." if run.cut else "No action has been carried out.", False)
    if picks or run.cut:
        return RunAnswer(run.told(deeds), True)
    shown = [participle(each.action, run.domain) for each in deeds[-MOST_ACTIONS:]]
    begun = f"{capital(counted(len(deeds), 'action'))} {'was' if len(deeds) == 1 else 'were'} carried out"
    text = f"{begun}{', the last ones' if len(deeds) > len(shown) else ''}: {listed(shown)}."
    return RunAnswer(text, True)


def wrong(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """What went wrong, when, why, with which objects, how often, and whose doing it was."""
    turn, gap = run.decisive, asked.gap
    if run.cut and turn is None and gap in (Gap.WHAT, Gap.WHICH):
        return RunAnswer(f"{did(run, replace(asked, said=replace(asked.said, who=Who.ROBOT))).text} {_ALL_WELL}", False)
    doubts = [each for each in run.every if not each.discrepancy.as_expected]
    if gap is Gap.COUNT:
        return RunAnswer(number_of_errors(run))
    if turn is None and run.changes:
        return RunAnswer(f"Nothing: part of the plan is already done. {_wrong_text(run, run.changes[-1])}", False)
    if turn is None:
        if doubts and gap is not Gap.WHO:
            return RunAnswer(_wrong_text(run, doubts[-1]), None)
        over = not run.cut and run.episode.status is EpisodeStatus.ASKED_FOR_HELP
        text = f"No error was noticed, but {how_it_stopped(run.episode)[0].lower()}{how_it_stopped(run.episode)[1:]}"
        return RunAnswer(text if over else _ALL_WELL, None if over else False)
    if gap is Gap.WHEN:
        return RunAnswer(f"{capital(run.when(turn))}; it was to {run.instruction(turn.discrepancy.action)}.")
    if gap is Gap.WHY:
        return RunAnswer(cause_of(turn, run.domain) or _wrong_text(run, turn))
    if gap is Gap.WHO or asked.said.who in (Who.ME, Who.PERSON):
        return fault(run, asked)
    return RunAnswer(_wrong_text(run, turn), True)


def fault(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Whose doing the errors were, with what that rests on."""
    said = dict.fromkeys(
        f"{capital(run.when(turn))}: {_short(turn, run.domain)}. {cause_of(turn, run.domain)}" for turn in run.errors
    )
    holds = did_it(asked.said.who, run.happenings)
    return RunAnswer(" ".join(said), holds) if said else RunAnswer("Nothing went wrong.", False)


def noticed(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Whether, when and how an error was noticed."""
    if asked.gap is Gap.WHEN:
        return wrong(run, AskedQuestion(Gap.WHEN, asked.said))
    if asked.gap in (Gap.WHAT, Gap.WHICH):
        return wrong(run, AskedQuestion(Gap.WHAT, asked.said))
    if asked.said.value == ("done",):
        looks = counted(run.every[-1].discrepancy.looks, "observation") if run.every else "no observation"
        wrong_ = bool(run.every) and not run.every[-1].discrepancy.as_expected
        text = f"{how_it_ended(run)} What was seen last, in {looks}, was {'not ' * wrong_}as expected."
        return RunAnswer(text, run.episode.status is EpisodeStatus.COMPLETED)
    told = sure(run, asked)
    return RunAnswer(f"{number_of_errors(run)} {told.text}" if asked.gap is Gap.POLAR else told.text, bool(run.errors))


def sure(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """How sure the robot is, and what that rests on."""
    turn, named = run.decisive, asked.said.names
    known = bool(run.every) and run.every[-1].discrepancy.verdict is not Verdict.CANNOT_TELL
    looks = counted((turn or run.every[-1]).discrepancy.looks, "observation") if run.every else "no observation"
    compared = f"The scene was compared with the one that the plan leads to, in {looks}"
    if asked.said.predicate == "sure" and not named and run.every and run.every[-1].discrepancy.as_expected:
        return RunAnswer(f"{compared}. What was seen last was as expected.", known)
    found = [] if turn is None else [each for each in turn.discrepancy.deviations if not named or each.name in named]
    if not found:
        fine = f": {objects(named)} {'were' if len(named) > 1 else 'was'} as expected" if named else ""
        return RunAnswer(f"{compared}{fine}.", known)
    likely = [each for each in found if isinstance(each, Deviation) and each.distance_m]
    said = [
        f"{the(each.name)} is not as expected with a probability of {100 * (1 - each.probability):.0f} %"
        for each in likely
    ]
    text = f"{compared}: {listed(said or [state_of(each, run.scene, run.domain) for each in found])}."
    text += " What was seen last was as expected." * run.every[-1].discrepancy.as_expected
    return RunAnswer(text, known)


def recovered(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """What was done about what went wrong."""
    if asked.gap is Gap.WHY:
        return chosen(run)
    texts = []
    for turn, recovery in run.recoveries:
        if not recovery.found:
            texts.append(f"There was no recovery: {reason_text(recovery).rstrip('. ')}.")
        elif not recovery.actions:
            texts.append(f"No recovery was needed. {rejoin_text(turn)}")
        else:
            steps = [goal(run, recovery, k) for k in range(len(recovery.actions))]
            many = counted(len(steps), "action")
            texts.append(f"{way_back(turn)} {listed(steps)}: {many}. {fate_text(turn)} {rejoin_text(turn)}".rstrip())
    if len(texts) > MOST_RECOVERIES:
        texts = [*texts[:MOST_RECOVERIES], f"There were {counted(len(texts) - MOST_RECOVERIES, 'more recovery')}."]
    carried = any(turn.carried_out for turn, _ in run.recoveries)
    return RunAnswer(" ".join(texts) or _no_search(run), carried)


def chosen(run: AskedRun) -> RunAnswer:
    """Why the robot took its way back."""
    told = alternative(run, AskedQuestion(Gap.WHAT, _ANY)).text
    wrong_ = "; ".join(_short(turn, run.domain) for turn, recovery in run.recoveries if recovery.actions)
    return RunAnswer(f"It puts this right: {wrong_}. {told}" if wrong_ else told)


def alternative(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Whether there was a way back, another one, or a better one."""
    found = [recovery for _, recovery in run.recoveries]
    least = all(each.proven_optimal or not each.actions for each in found if each.found)
    holds = any(each.found for each in found) if not asked.said.value else False if found and least else None
    texts = []
    for recovery in found:
        many = counted(len(recovery.actions), "action")
        if not recovery.found:
            texts.append(f"There was no recovery: {reason_text(recovery).rstrip('. ')}.")
        elif not recovery.actions:
            texts.append("No recovery was needed.")
        elif recovery.proven_optimal:
            texts.append(f"The way back takes {many}, and there is no shorter one.")
        else:
            texts.append(f"The way back takes {many}, the shortest that was found; a shorter one is not ruled out.")
    if asked.said.value == ("other",):
        texts.append("Whether there is another one was not searched for.")
    known = holds if found and asked.said.value != ("other",) else None
    return RunAnswer(" ".join(dict.fromkeys(texts)) or _no_search(run), known)


def thought(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """How long the robot searched for a way back, or how many places it searched."""
    if asked.gap in (Gap.COUNT, Gap.WHICH, Gap.WHERE):
        searches = [deed.action for deed in run.deeds if run.instruction(deed.action).startswith("find ")]
        places = list(dict.fromkeys(action.arguments[-1] for action in searches))
        picks = {each.when for each in asked.said.times}
        places = places[:1] if When.FIRST in picks else places[-1:] if When.LAST in picks else places
        return RunAnswer(
            f"{capital(counted(len(places), 'place'))}{': ' * bool(places)}{objects(places) if places else ''}."
        )
    found = [recovery for _, recovery in run.recoveries]
    if not found:
        return RunAnswer(_no_search(run))
    return RunAnswer(f"The search for a way back took {sum(each.seconds for each in found):.2f} s.", True)


def looked(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """How often the robot looked at the scene, and after which steps more than once."""
    looks = [turn.discrepancy.looks for turn in run.every]
    again = [run.when(turn) for turn in run.every if turn.discrepancy.looks > 1]
    text = f"{capital(counted(sum(looks), 'observation'))} {'was' if sum(looks) == 1 else 'were'} used for verdicts"
    return RunAnswer(
        f"{text}, more than one {listed(again)}." if again else f"{text}, one after each action.", bool(again)
    )


def repeated(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Which steps of the plan were executed more than once."""
    steps = [deed.turn.step for deed in run.deeds if deed.turn.step is not None]
    often = sorted({step for step in steps if steps.count(step) > 1})
    many = [str(each.action) for each in run.deeds]
    doubled = list(dict.fromkeys(each.action for each in run.deeds if many.count(str(each.action)) > 1))
    if not often and not doubled:
        return RunAnswer("No action was carried out twice.", False)
    said = [f"{run.phrasing.step(step)}, {participle(run.episode.plan[step - 1], run.domain)}" for step in often]
    said = said or [participle(action, run.domain) for action in doubled]
    return RunAnswer(f"{capital(listed(said))}.", True)


def skipped(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Which steps of the plan were left out, and what was given up."""
    given_up = [run.domain.text(fact) for fact in run.episode.given_up]
    texts = [f"This part of the goal was given up: {listed(given_up)}."] if given_up else []
    executed = {str(deed.action) for deed in run.deeds}
    missed = [number for number, action in enumerate(run.episode.plan, start=1) if str(action) not in executed]
    if missed:
        names = listed([run.phrasing.step(number) for number in missed])
        ended = "" if run.episode.status is EpisodeStatus.COMPLETED else " so far"
        texts.append(f"Not executed{ended}: {names}.")
    return RunAnswer(" ".join(texts) or f"Nothing was left out. {_left_text(run)}", bool(given_up or missed))


def helped(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Whether a person has helped or interfered, as far as the records say."""
    if asked.said.who is Who.ME and asked.said.time in ("now", "should", "next"):
        return needs(run, asked)
    given = [each for each in run.by_others if not {*asked.said.names} - {*each.action.arguments}]
    if given:
        return RunAnswer(run.told(given), True)
    by_hand = list(dict.fromkeys(turn.by_hand for turn in run.every if turn.by_hand))
    ahead = [each for each in run.happenings if each.deviation.cause.value == "helped"]
    if by_hand:
        return RunAnswer(f"{capital(listed(by_hand))} changed the scene by hand, as the records say.", True)
    if ahead:
        when = capital(run.when(ahead[0].turn))
        said = listed(list(dict.fromkeys(state_of(each.deviation, run.scene, run.domain) for each in ahead)))
        return RunAnswer(f"{when}, {said}. No action of mine did that; who did it is not recorded.", None)
    unknown = [each for each in run.happenings if each.agent is Agent.UNKNOWN]
    if unknown:
        return RunAnswer(f"The records name nobody. {fault(run, asked).text}", None)
    return RunAnswer("The records name nobody, and nothing was noticed that only a person can have done.", False)


def vetoed(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """What people decided."""
    vetoes = sum(len(turn.record.vetoed) + (turn.record.fate is Fate.VETOED) for turn in run.every)
    made = [each for turn in run.every for each in turn.record.decided]
    text = "Nobody vetoed a recovery."
    if vetoes:
        text = f"{capital(counted(vetoes, 'recovery'))} {'was' if vetoes == 1 else 'were'} vetoed."
    if made:
        said = [f"{each.answer.replace('_', ' ')} ({each.by or 'without a name'})" for each in made]
        text += f" The answers were: {', '.join(said)}."
    if run.episode.status is EpisodeStatus.ASKED_FOR_HELP:
        text += f" {how_it_stopped(run.episode)}"
    return RunAnswer(text, bool(vetoes))


def took(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """How long the run took, and what of it was lost."""
    if asked.said.time == "next" and run.running:
        return left(run, asked)
    if asked.gap is Gap.WHY:
        return RunAnswer(f"{lasted(run)} {number_of_errors(run)}")
    if not run.cut:
        return RunAnswer(lasted(run))
    seconds = sum(map(run.took, run.every))
    return RunAnswer(f"That took {duration(seconds)}." if seconds > 0 else "How long that took is not recorded.")


def decided(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """What comes of a person's answer to the request that is open."""
    if not (run.running and run.waits_for):
        return RunAnswer("No question is open now, so there is nothing to decide.")
    way = run.proposed
    steps = [goal(run, way, k) for k in range(len(way.actions))] if way is not None and way.found else []
    match asked.said.value[0]:
        case "yes":
            return RunAnswer(
                f"Then I would {listed(steps)}: {counted(len(steps), 'action')}." if steps else run.waits_for
            )
        case "no":
            return RunAnswer("Then nothing of it is done: I look for another way, or ask for help if there is none.")
    return RunAnswer(f"I do nothing before I have an answer, and the run ends if none comes in time. {run.waits_for}")


def lacking(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Whether the plan can be finished without an object."""
    needing = [run.instruction(each) for each in run.left if {*asked.said.names} & {*each.arguments}]
    if not run.running and run.episode.status is EpisodeStatus.COMPLETED:
        return RunAnswer(_left_text(run), True)
    about = objects(asked.said.names)
    if needing:
        many = f"{capital(counted(len(needing), 'action'))} of those that are left"
        return RunAnswer(f"{many} {'needs' if len(needing) == 1 else 'need'} {about}: {listed(needing)}.", False)
    return RunAnswer(f"No action that is left needs {about}.", None)


def ordered(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Why objects or places came in an order: the plan has it, or the way back."""
    names, told = asked.said.names, list[str]()
    if not names:
        return RunAnswer("Name the objects: I can say in which order they came, and why.")
    for name in names:
        first = next((deed for deed in run.deeds if name in deed.action.arguments), None)
        if first is None:
            told.append(f"I did nothing with {the(name)}.")
        elif first.turn.step is not None:
            told.append(
                f"{capital(run.phrasing.step(first.turn.step))} of the plan is to {run.instruction(first.action)}."
            )
        else:
            told.append(f"{capital(run.when(first.turn))}, {run.done(first)}: that was part of a way back.")
    return RunAnswer(f"{' '.join(dict.fromkeys(told))} No other reason for the order is recorded.")


def extra(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Which actions were not in the plan."""
    deeds = [deed for deed in run.deeds if deed.turn.record.recovering]
    if not deeds:
        return RunAnswer("Every action that was carried out is one of the plan.", False)
    said = listed(participle(each.action, run.domain) for each in deeds)
    return RunAnswer(f"{capital(counted(len(deeds), 'action'))} for a recovery: {said}.", True)


def by_a_person(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Whether a person should do something by hand: what is needed, and that it is not known to be safe."""
    return RunAnswer(f"{needs(run, asked).text} {NO_EMERGENCY_STOP}")


def people(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Whether a person is there: that is not watched."""
    return RunAnswer("Where people are is not watched.")


def sought(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Whether an object was searched for: only looks are recorded."""
    return RunAnswer(f"No action of mine was to search for {objects(asked.said.names)}. {looked(run, asked).text}")


def necessary(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Whether the recovery was necessary."""
    if not run.recoveries:
        return RunAnswer(_no_search(run), False)
    return RunAnswer(f"{chosen(run).text} What the plan would have come to without it was not tried.")


def lasted(run: AskedRun) -> str:
    """How long the run took, what the recoveries cost, and how long people took."""
    total = run.every[-1].record.time_s - run.episode.start_s if run.every else 0.0
    extra = [turn for turn in run.every if turn.record.recovering and turn.record.action is not None]
    if total <= 0.0:
        return "How long it took, and how much time was lost, is not recorded."
    text = f"{'So far it' if run.running else 'It'} took {duration(total)}."
    lost, waited = lost_s(run.episode), waited_s(run.episode)
    steps = [turn.step for turn in run.every if turn.record.action is not None and not turn.record.recovering]
    waits = f" {capital(duration(waited))} of it people worked by hand." if waited >= SHORTEST_S else ""
    if lost < SHORTEST_S and not extra and len(steps) == len(set(steps)):
        return f"{text}{waits} No time was lost to recoveries, repeated steps or further looks."
    many = f"{number(len(extra))} of its {counted(len(run.deeds), 'action')} belonged to recoveries" if extra else ""
    spent = f"{duration(lost)} of that {'were' if lost >= SHORTEST_S else 'was'}"
    return f"{text}{waits} {spent} lost to errors: {many or 'steps were repeated, or looked at again'}."


def number_of_errors(run: AskedRun) -> str:
    """How often something went wrong in this run, and what."""
    errors = run.errors
    text = f"{capital(counted(len(errors), 'error'))} {'was' if len(errors) == 1 else 'were'} noticed in this run"
    short = dict.fromkeys(_short(each, run.domain) for each in errors)
    return f"{text}: {'; '.join(short)}." if short else f"{text}."


def cause_of(turn: Turn, domain: Domain, names: Collection[str] | None = None) -> str:
    """Why objects were not as expected at a turn, all of them if none is named."""
    return " ".join(each.text for each in why(turn.discrepancy, turn.by_hand, domain, names))


def _short(turn: Turn, domain: Domain) -> str:
    return in_short(facts_of(turn.discrepancy, None, domain), domain)


def _wrong_text(run: AskedRun, turn: Turn) -> str:
    """What was wrong at a turn, and in short what else there was."""
    text = GroundedExplainer(run.domain, run.phrasing.audience)(turn.discrepancy, None).text
    short = dict.fromkeys(_short(each, run.domain) for each in run.errors if each is not turn)
    return f"{text} There {'was' if len(short) == 1 else 'were'} also: {'; '.join(short)}." if short else text


def _left_text(run: AskedRun) -> str:
    many = 0 if run.episode.status is EpisodeStatus.COMPLETED else len(run.left)
    if not many:
        return "Nothing is left: every action is done."
    return f"{capital(counted(many, 'action'))} {'is' if many == 1 else 'are'} left."


def _by_hand(run: AskedRun) -> str:
    """What a person can put right by hand: the way back that was found last, else what is not as expected."""
    way: Recovery | None = next((recovery for _, recovery in reversed(run.recoveries) if recovery.actions), None)
    turn = run.every[-1] if run.every else None
    if turn is None or turn.discrepancy.as_expected:
        return "Put that right and let the robot look again, or finish by hand." if not run.running else ""
    if way is not None and way.found:
        steps = [goal(run, way, number) for number in range(len(way.actions))]
        return f"By hand that is: {listed(steps)}. Then let the robot look again."
    wanted = [should_be(run, turn, each) for each in turn.discrepancy.deviations]
    return (
        f"Put that right{': ' + '; '.join(wanted) if wanted else ''}. Then let the robot look again, or finish by hand."
    )


def should_be(run: AskedRun, turn: Turn, deviation: AnyDeviation) -> str:
    """How an object that is not as expected should be, as a clause."""
    scene, name = turn.discrepancy.expected, deviation.name
    if isinstance(scene, SceneGraph):
        place = f"on {the(support_name(scene, scene.index(name)))}" if name in scene.names else "there"
        return f"{the(name)} should be {place}"
    facts = [run.domain.text(fact) for fact in deviation.expected]
    facts = facts or [run.domain.text(fact, holds=False) for fact in deviation.observed or ()]
    return f"what is needed is that {listed(facts)}"


def _no_search(run: AskedRun) -> str:
    if run.errors:
        return "The run ended before a way back was searched for."
    return "Nothing went wrong, so no way back was searched for."
