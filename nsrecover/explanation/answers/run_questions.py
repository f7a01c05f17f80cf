"""Answers about the run as a whole: is it safe, what was done, what comes next, how much is left, did it work."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import AnyDeviation, Cause, Deviation, Phase
from nsrecover.core.episode import Episode, EpisodeStatus, Fate
from nsrecover.core.facts import FactScene
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneGraph
from nsrecover.domains.base import Role
from nsrecover.domains.domain import Domain
from nsrecover.domains.properties import facts_with
from nsrecover.domains.tabletop.relations import support_name
from nsrecover.explanation.answers.asked import mentioned
from nsrecover.explanation.answers.fates import fate_text, rejoin_text
from nsrecover.explanation.answers.numbering import Turn, clock, duration, how_it_stopped, turns
from nsrecover.explanation.audience import Phrasing, participle
from nsrecover.explanation.facts import PLACED, facts_of
from nsrecover.explanation.grounded import GroundedExplainer
from nsrecover.explanation.phrases import instruction
from nsrecover.explanation.reasons import reason_text
from nsrecover.explanation.safety import held_sentence, safety_sentences
from nsrecover.explanation.templates import ALTHOUGH, PHRASES, in_short
from nsrecover.explanation.why import why
from nsrecover.util.english import Forms, capital, counted, listed, number, objects, the

PLACES = (Role.LOCATION, Role.HELD, Role.BELIEVED)
"""Roles of the relations that say where an object is."""
SHORTEST_S = 0.5
"""Less time counts as none."""
MOST_ACTIONS = 8
"""An answer lists so many actions at most, the last ones."""


@dataclass(frozen=True, eq=False)
class AskedRun:
    """A run that is asked about.

    Attributes:
        episode: the run so far.
        every: its turns.
        phrasing: words and readers.
        waits_for: what a person is asked now; empty if the robot waits for nobody.
    """

    episode: Episode
    every: Sequence[Turn]
    phrasing: Phrasing
    waits_for: str = ""

    @property
    def domain(self) -> Domain:
        """Has the words of facts and actions."""
        return self.phrasing.domain

    @property
    def scene(self) -> SceneGraph | FactScene:
        """As it was seen last."""
        return self.every[-1].record.graph if self.every else self.episode.start

    @property
    def names(self) -> list[str]:
        """All objects that were seen, or that the plan needs."""
        scenes = (self.episode.start, *(turn.record.graph for turn in self.every))
        planned = {name for action in self.episode.plan for name in action.arguments}
        return sorted(planned.union(*(scene.names for scene in scenes)))

    @property
    def done(self) -> list[tuple[Turn, Action]]:
        """The executed actions."""
        return [(turn, turn.record.action) for turn in self.every if turn.record.action is not None]

    @property
    def errors(self) -> list[Turn]:
        """The turns at which something was wrong."""
        return [turn for turn in self.every if turn.discrepancy.deviates]

    @property
    def decisive(self) -> Turn | None:
        """The error that stopped the run, or is being recovered from; of a run that ended well, what cost most."""
        if self.episode.status in (EpisodeStatus.COMPLETED, EpisodeStatus.REVIEWED):
            return max(self.errors, key=lambda turn: len(turn.carried_out), default=None)
        return self.errors[-1] if self.errors else None

    def when(self, turn: Turn) -> str:
        """When a turn was."""
        when = "before" if turn.discrepancy.phase is Phase.BEFORE else "after"
        step = self.phrasing.step(turn.step) if turn.step else "an action of the recovery"
        at_s = turn.record.time_s - self.episode.start_s
        return f"{when} {step}" + (f", at {clock(at_s)} of the run" if at_s > 0 else "")

    def instruction(self, action: Action) -> str:
        """An action as an instruction."""
        return instruction(action, domain=self.domain)


def recoveries(every: Sequence[Turn]) -> list[tuple[Turn, Recovery]]:
    """Return the recoveries of a run, with the turns at which they were found."""
    return [(turn, turn.recovery) for turn in every if turn.discrepancy.deviates and turn.recovery is not None]


def safe(run: AskedRun) -> str:
    """Whether it is safe to reach in."""
    return " ".join(each.text for each in safety_sentences(run.episode, run.domain, bool(run.waits_for)))


def held(run: AskedRun) -> str:
    """What the robot holds."""
    return held_sentence(run.episode, run.domain)


def plan(run: AskedRun) -> str:
    """What the plan is."""
    return f"The plan is to {listed(map(run.instruction, run.episode.plan))}."


def actions_left(episode: Episode) -> tuple[Action, ...]:
    """Return what is left of the plan, a recovery that is followed included."""
    if not episode.records:
        return episode.plan.actions
    record = episode.records[-1]
    found = record.discrepancy
    if record.recovery is not None and record.fate is Fate.ACCEPTED:
        left = record.plan.actions[record.recovery.resumes_at(len(record.plan)) :]
        return (*record.recovery.actions, *left)
    return record.plan.actions[found.step + (found.phase is Phase.AFTER) :]


def following(run: AskedRun) -> str:
    """What comes next."""
    left = actions_left(run.episode)
    if run.waits_for:
        return f"Nothing before a person has answered: {run.waits_for}"
    if run.episode.status is EpisodeStatus.COMPLETED or not left:
        return "Nothing: every action is done."
    todo = run.instruction(left[0])
    if run.episode.status is EpisodeStatus.ASKED_FOR_HELP:
        return f"Nothing: the robot has stopped. The next action would be to {todo}."
    return f"Next is to {todo}."


def remaining(run: AskedRun) -> str:
    """How much is left."""
    left = 0 if run.episode.status is EpisodeStatus.COMPLETED else len(actions_left(run.episode))
    return (
        f"{capital(counted(left, 'action'))} {'is' if left == 1 else 'are'} left."
        if left
        else "Nothing is left: every action is done."
    )


def worked(run: AskedRun) -> str:
    """Whether it worked."""
    match run.episode.status:
        case EpisodeStatus.COMPLETED:
            return "The robot completed the plan, and what it needs was seen in place in the end."
        case EpisodeStatus.ASKED_FOR_HELP:
            return how_it_stopped(run.episode)
        case EpisodeStatus.REVIEWED:
            return "This is a recording: whether a recovery would have worked is not known."
    return f"The run goes on. {remaining(run)}"


def helped(run: AskedRun) -> str:
    """Whether a person is needed."""
    match run.episode.status:
        case EpisodeStatus.ASKED_FOR_HELP:
            reason = run.episode.reason.rstrip(". ")
            return f"A person is needed: {reason}. Put that right and let the robot look again, or finish by hand."
        case EpisodeStatus.RUNNING if run.waits_for:
            return f"The robot waits for your answer: {run.waits_for}"
        case EpisodeStatus.RUNNING:
            return "No help is needed now; if it is, the live page asks for a decision."
    return "No help is needed: the run is over."


def decided(run: AskedRun) -> str:
    """What people decided."""
    vetoed = sum(len(turn.record.vetoed) + (turn.record.fate is Fate.VETOED) for turn in run.every)
    made = [each for turn in run.every for each in turn.record.decided]
    text = "Nobody vetoed a recovery."
    if vetoed:
        text = f"{capital(counted(vetoed, 'recovery'))} {'was' if vetoed == 1 else 'were'} vetoed."
    if made:
        said = [f"{each.answer.replace('_', ' ')} ({each.by or 'without a name'})" for each in made]
        text += f" The answers were: {', '.join(said)}."
    if run.episode.status is EpisodeStatus.ASKED_FOR_HELP:
        text += f" The run stopped: {run.episode.reason.rstrip('. ')}."
    return text


def when(run: AskedRun) -> str:
    """When it went wrong."""
    turn = run.decisive
    if turn is None:
        return "Nothing has gone wrong so far."
    return f"{capital(run.when(turn))}; it was to {run.instruction(turn.discrepancy.action)}."


def which(run: AskedRun) -> str:
    """Which objects are wrong."""
    turn = run.decisive
    if turn is None:
        return "None: every object is as expected."
    states = [state_of(each, turn.record.graph, run.domain) for each in turn.discrepancy.deviations]
    return f"{capital('; '.join(states))}." if states else "No object: a condition of the step does not hold."


def sure(run: AskedRun, question: str) -> str:
    """How sure the robot is, and what that rests on."""
    turn, named = run.decisive, mentioned(question, run.names)
    looks = counted((turn or run.every[-1]).discrepancy.looks, "observation") if run.every else "no observation"
    compared = f"The scene was compared with the one that the plan leads to, in {looks}"
    found = [] if turn is None else [each for each in turn.discrepancy.deviations if not named or each.name in named]
    if not found:
        return (
            f"{compared}: {objects(named)} {'were' if len(named) > 1 else 'was'} as expected."
            if named
            else f"{compared}."
        )
    likely = [each for each in found if isinstance(each, Deviation)]
    said = [f"{the(each.name)} is wrong with a probability of {100 * (1 - each.probability):.0f} %" for each in likely]
    said = said or [state_of(each, run.scene, run.domain) for each in found]
    return f"{compared}: {listed(said)}."


def lasted(run: AskedRun) -> str:
    """How long the run took, and what the recoveries cost."""
    total = run.every[-1].record.time_s - run.episode.start_s if run.every else 0.0
    extra = [turn for turn in run.every if turn.record.recovering and turn.record.action is not None]
    if total <= 0.0:
        return "How long it took, and how much time was lost, is not recorded."
    took = duration(total)
    text = f"{'So far it' if run.episode.status is EpisodeStatus.RUNNING else 'It'} took {took}."
    lost = lost_s(run.episode)
    steps = [turn.step for turn in run.every if turn.record.action is not None and not turn.record.recovering]
    if lost < SHORTEST_S and not extra and len(steps) == len(set(steps)):
        return f"{text} No time was lost to recoveries, repeated steps or further looks."
    many = f"{number(len(extra))} of its {counted(len(run.done), 'action')} belonged to recoveries" if extra else ""
    spent = f"{duration(lost)} of that {'were' if lost >= SHORTEST_S else 'was'}"
    return f"{text} {spent} lost to errors: {many or 'steps were repeated, or looked at again'}."


def lost_s(episode: Episode) -> float:
    """Return the time lost to errors, seconds: all but the last execution of each step of the plan.

    So recoveries, repeated steps, and further looks with the waiting before them are lost.
    """
    times = (episode.start_s, *(record.time_s for record in episode.records))
    took = [max(now - before, 0.0) for before, now in pairwise(times)]
    steps = {turn.step: s for s, turn in zip(took, turns(episode), strict=True) if turn.step and turn.record.action}
    return sum(took) - sum(steps.values())


def number_of_errors(run: AskedRun) -> str:
    """How often something went wrong in this run, and what."""
    text = (
        f"{capital(counted(len(run.errors), 'error'))} {'was' if len(run.errors) == 1 else 'were'} noticed in this run"
    )
    short = dict.fromkeys(in_short(facts_of(each.discrepancy, None, run.domain), run.domain) for each in run.errors)
    return f"{text}: {'; '.join(short)}." if short else f"{text}."


def blame(run: AskedRun) -> str:
    """Who or what did it: the robot, or something else."""
    said = dict.fromkeys(
        f"{capital(run.when(turn))}: {in_short(facts_of(turn.discrepancy, None, run.domain), run.domain)}. "
        f"{cause_of(turn, run.domain)}"
        for turn in run.errors
    )
    return " ".join(said) or "Nothing went wrong."


def cause_of(turn: Turn, domain: Domain, names: Collection[str] | None = None) -> str:
    """Why objects were not as expected at a turn, all of them if none is named."""
    return " ".join(each.text for each in why(turn.discrepancy, turn.by_hand, domain, names))


def alternatives(run: AskedRun) -> str:
    """Whether there was another or a shorter way back."""
    texts = []
    for _, recovery in recoveries(run.every):
        many = counted(len(recovery.actions), "action")
        if not recovery.found:
            texts.append(f"There was no recovery: {reason_text(recovery).rstrip('. ')}.")
        elif recovery.proven_optimal:
            texts.append(f"The way back takes {many}, and there is no shorter one.")
        else:
            texts.append(f"The way back takes {many}, the shortest that was found; a shorter one is not ruled out.")
    return " ".join(dict.fromkeys(texts)) or _no_search(run)


def _no_search(run: AskedRun) -> str:
    if run.errors:
        return "The run ended before a way back was searched for."
    return "Nothing went wrong, so no way back was searched for."


def thought(run: AskedRun) -> str:
    """How long the robot searched for a way back."""
    found = [recovery for _, recovery in recoveries(run.every)]
    if not found:
        return _no_search(run)
    return f"The search for a way back took {sum(each.seconds for each in found):.2f} s."


def layout(run: AskedRun) -> str:
    """What stands where."""
    scene = run.scene
    if isinstance(scene, FactScene):
        places = facts_with(PLACES, scene.facts, run.domain)
        return f"{capital(listed([run.domain.text(fact) for fact in places]) or 'nothing is known')}."
    order = [i for i in np.argsort(-scene.boxes[:, 1]) if not scene.missing[i]]
    said = [f"{the(scene.names[i])} on {the(support_name(scene, int(i)))}" for i in order]
    return f"From left to right, as it was seen last: {listed(said)}."


def summary(run: AskedRun) -> str:
    """What went wrong, what was done about it, and how the run ended."""
    if not run.errors:
        return f"{wrong(run)} {worked(run)}"
    return f"{wrong(run)} {recovered(run)} {lasted(run)} {worked(run)}"


def acted(run: AskedRun) -> str:
    """What was done."""
    done = run.done
    if not done:
        return "No action has been carried out."
    shown = [participle(action, run.domain) for _, action in done[-MOST_ACTIONS:]]
    begun = f"{capital(counted(len(done), 'action'))} {'was' if len(done) == 1 else 'were'} carried out"
    return f"{begun}{', the last ones' if len(done) > len(shown) else ''}: {listed(shown)}."


def moved(run: AskedRun) -> str:
    """Which objects were moved, and how many."""
    names = list(dict.fromkeys(action.arguments[0] for _, action in run.done if action.arguments))
    return f"{capital(counted(len(names), 'object'))}: {objects(names)}." if names else "None so far."


def wrong(run: AskedRun) -> str:
    """What went wrong: the decisive error, and in short what else there was."""
    turn, doubts = run.decisive, [turn for turn in run.every if not turn.discrepancy.as_expected]
    turn = turn or (doubts[-1] if doubts else None)
    if turn is None:
        stopped = run.episode.status is EpisodeStatus.ASKED_FOR_HELP
        return f"The robot stopped: {run.episode.reason.rstrip('. ')}." if stopped else "Nothing went wrong."
    text = GroundedExplainer(run.domain, run.phrasing.audience)(turn.discrepancy, None).text
    text = f"{text} {cause_of(turn, run.domain)}".rstrip()
    others = [each for each in doubts if each is not turn]
    if not others:
        return text
    short = dict.fromkeys(in_short(facts_of(each.discrepancy, None, run.domain), run.domain) for each in others)
    return f"{text} There {'was' if len(others) == 1 else 'were'} also: {'; '.join(short)}."


def recovered(run: AskedRun) -> str:
    """What was done about it."""
    texts = []
    for turn, recovery in recoveries(run.every):
        if not recovery.found:
            texts.append(f"There was no recovery: {reason_text(recovery).rstrip('. ')}.")
        elif not recovery.actions:
            texts.append(f"No recovery was needed. {rejoin_text(turn)}")
        else:
            steps = [goal(action, recovery, number, run.domain) for number, action in enumerate(recovery.actions)]
            texts.append(f"The way back was to {listed(steps)}. {fate_text(turn)} {rejoin_text(turn)}")
    return " ".join(texts) or _no_search(run)


def goal(action: Action, recovery: Recovery, number: int, domain: Domain) -> str:
    """Return an action of a recovery as an instruction, with the support of the object afterwards."""
    graphs = recovery.graphs
    boxes = number < len(graphs) and isinstance(graphs[number], SceneGraph)
    place = support_name(graphs[number], graphs[number].index(action.arguments[0])) if boxes else None
    return instruction(action, place, domain)


def state_of(deviation: AnyDeviation, scene: SceneGraph | FactScene, domain: Domain) -> str:
    """Return the deviation of an object as a clause."""
    name, cause = deviation.name, deviation.cause
    phrase = PHRASES[cause].partition(",")[0].replace("[is]", "[was]").replace("[has]", "had")
    if not isinstance(scene, SceneGraph) and cause in ALTHOUGH and deviation.observed:
        return listed(domain.text(fact) for fact in deviation.observed)
    if cause is Cause.SWAPPED:
        phrase += f" with {the(deviation.other or 'something else')}"
    elif cause is Cause.REPLACED:
        phrase += f" by {the(deviation.other or 'something else')}"
    elif cause is Cause.BLOCKING and deviation.other:
        phrase += f" of {the(deviation.other)}"
    elif not isinstance(scene, SceneGraph):
        now = [domain.text(fact) for fact in deviation.observed or ()]
        now = now or [domain.text(fact, holds=False) for fact in deviation.expected]
        phrase += f": {listed(now)}"
    elif cause in PLACED:
        still = "still " if cause is Cause.NOT_LIFTED else ""
        phrase += f", and [was] {still}on {the(support_name(scene, scene.index(name)))}"
    return f"{the(name)} {Forms.of([name]).agree(phrase)}"
