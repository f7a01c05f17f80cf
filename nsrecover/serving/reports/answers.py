"""Answers to the questions of readers: what went wrong, when, why, what is done, did it work, and is it safe."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nsrecover.core.discrepancy import Phase
from nsrecover.core.episode import Episode, EpisodeStatus, Fate, StopCode
from nsrecover.core.explanation import Explanation, Sentence
from nsrecover.core.recovery import RecoveryStatus
from nsrecover.domains.domain import Domain
from nsrecover.explanation.answers.course import lasted
from nsrecover.explanation.answers.fates import fate_fact, fate_text, rejoin_text
from nsrecover.explanation.answers.numbering import Turn, how_it_stopped
from nsrecover.explanation.answers.run import AskedRun, lost_s
from nsrecover.explanation.audience import Audience, Phrasing
from nsrecover.explanation.safety import safety_sentences
from nsrecover.explanation.why import why
from nsrecover.serving.reports.media import GoalJudgement
from nsrecover.serving.reports.model import Line, MarkedAs, ReaderAnswer
from nsrecover.serving.reports.wording import Found, Wording
from nsrecover.util.english import capital, counted, number, ordinal, past

QUESTIONS = {
    "what": "What went wrong?",
    "when": "When?",
    "why": "Why?",
    "done": "What is done about it?",
    "worked": "Did it work?",
    "long": "How long did it take, and how much time was lost?",
    "safe": "Is it safe to reach in?",
}
"""Key -> question."""
MOST_LINES = 3
"""Maximum number of sentences of an answer; the step shows all of them."""
MOST_ACTIONS = 3
"""Longer recoveries are shown in the list only, not in an answer."""
LONG = 120
"""Longer reasons are left out of the summary, characters."""

_RECOVERY = {
    "recovery", "does", "rejoins", "stays", "steps_done", "optimal", "searched", "reason", "blamed", "lost", "closest",
}  # fmt: skip
_REASONS = {"plan", "cause", "unseen", "unknown", "sensor"}


@dataclass(frozen=True, eq=False)
class Moment:
    """A turn of an episode in a report.

    Attributes:
        turn: the turn, with step numbers of the original plan.
        kind: how it is marked.
        explanation: the sentences; None if all is as expected.
        way_step: number of the action in a recovery, from 1; None for a step of the plan.
    """

    turn: Turn
    kind: MarkedAs
    explanation: Explanation | None
    way_step: int | None

    @property
    def found(self) -> Found:
        """The comparison."""
        return self.turn.discrepancy

    def label(self, steps: int) -> str:
        """Which step it is: `Step 4 of 6`, `Recovery, action 2`."""
        if self.turn.step is None:
            return f"Recovery, action {self.way_step}"
        return f"Step {self.turn.step} of {steps}"


def lines_of(sentences: Iterable[Sentence]) -> tuple[Line, ...]:
    """Sentences with their facts as text."""
    return tuple(Line(each.text, tuple(map(str, each.facts))) for each in sentences)


def main_moment(episode: Episode, moments: Sequence[Moment]) -> int | None:
    """Number of the moment that the top of the page is about.

    That is what stopped the run; of a run that went on, the error that cost the most actions, else help, else doubt.
    None if nothing stands out, or if the run stopped for a reason that is no moment.
    """
    if episode.status is EpisodeStatus.ASKED_FOR_HELP:
        return len(moments) - 1 if moments and moments[-1].kind is not MarkedAs.OK else None
    for kind in (MarkedAs.ERROR, MarkedAs.HELP, MarkedAs.DOUBT):
        fitting = [i for i, moment in enumerate(moments) if moment.kind is kind]
        if fitting:
            return max(fitting, key=lambda i: (len(moments[i].turn.carried_out), -i))
    return None


def answers_of(
    episode: Episode, moments: Sequence[Moment], wording: Wording, judgement: GoalJudgement | None
) -> tuple[ReaderAnswer, ...]:
    """The answers, in the order of `QUESTIONS`."""
    main = main_moment(episode, moments)
    worked = _worked(episode, judgement)
    told: dict[str, tuple[Line, ...]]
    if main is None and episode.reason:
        begun, reason = bool(episode.records), f"{capital(episode.reason.rstrip('. '))}."
        told = {
            "what": (Line("The robot asked for help." if begun else "The run could not begin."),),
            "when": (Line("After the last step that is shown." if begun else "Before the first step."),),
            "why": (Line(reason),),
            "done": (Line("The robot needs a person."),),
        }
        if earlier := _others(moments, None):
            told["what"] = (*told["what"], Line(earlier))
    elif main is None:
        told = {
            "what": (Line("Nothing went wrong."),),
            "when": (Line("At no step."),),
            "why": (Line("Everything was as expected."),),
            "done": (Line("Nothing was needed."),),
        }
    else:
        what, why = parted(moments[main], wording.domain)
        if others := _others(moments, main):
            what = (*what, Line(others))
        told = {
            "what": what,
            "when": (_when(episode, moments[main]),),
            "why": why,
            "done": _done(episode, moments[main]),
        }
    told["worked"] = worked
    run = AskedRun(episode, [moment.turn for moment in moments], Phrasing(Audience.LAY, wording.domain))
    told["long"] = (Line(lasted(run), (f"lost_s({lost_s(episode):.1f})",)),)
    told["safe"] = lines_of(safety_sentences(episode, wording.domain))
    return tuple(ReaderAnswer(key, question, told[key]) for key, question in QUESTIONS.items())


def summary_of(episode: Episode, moments: Sequence[Moment], wording: Wording, judgement: GoalJudgement | None) -> str:
    """The episode in one sentence."""
    main, steps = main_moment(episode, moments), len(episode.plan)
    if main is None:
        if not episode.records:
            return f"The run could not begin: {episode.reason.rstrip('. ')}."
        if others := _others(moments, None):
            return f"{capital(_end(episode, judgement))}. {others}"
        if episode.status is EpisodeStatus.RUNNING:
            return "So far everything went as expected."
        which = {1: "The only step", 2: "Both steps"}.get(steps, f"All {number(steps)} steps")
        if episode.status is EpisodeStatus.ASKED_FOR_HELP or (judgement is not None and not judgement.reached):
            return f"Nothing unexpected was noticed, but {_end(episode, judgement)}."
        return f"{which} of the plan went as expected."
    moment = moments[main]
    doing = wording.doing(moment.found.action)
    where = f"{'Before' if moment.found.phase is Phase.BEFORE else 'At'} {moment.label(steps).lower()}, {doing}"
    if moment.kind is MarkedAs.DOUBT:
        return f"{where}, the scene could not be judged; {_end(episode, judgement)}."
    others = _others(moments, main)
    more = f" {others}" if others else ""
    return f"{where}, {past(wording.in_short(moment.found))}; {_done_in_short(moment, episode, judgement)}.{more}"


def parted(moment: Moment, domain: Domain) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """The sentences about what went wrong, and why."""
    assert moment.explanation is not None
    headline, *others = moment.explanation.sentences
    reasons = [each for each in others if _about(each, _REASONS)]
    what = [headline, *(each for each in others if not _about(each, _REASONS | _RECOVERY))]
    told = lines_of(what[: MOST_LINES - 1])
    if moment.kind is MarkedAs.HELP:
        told = (Line("Nothing: part of the plan is already done."), *lines_of(what[1:MOST_LINES]))
    return told, _why(moment, reasons, domain)


def _about(sentence: Sentence, predicates: set[str]) -> bool:
    return bool(sentence.facts) and sentence.facts[0].predicate in predicates


def _why(moment: Moment, reasons: Sequence[Sentence], domain: Domain) -> tuple[Line, ...]:
    causes = why(moment.found, moment.turn.by_hand, domain)
    if told := lines_of([*causes[: MOST_LINES - 1], *reasons, *causes[MOST_LINES - 1 :]][:MOST_LINES]):
        return told
    unmet = tuple(map(str, moment.found.unmet))
    return (Line("Every object is as expected, and yet the step cannot be done: the plan is wrong here.", unmet),)


def _done(episode: Episode, moment: Moment) -> tuple[Line, ...]:
    turn, recovery, vetoed = moment.turn, moment.turn.recovery, len(moment.turn.record.vetoed)
    assert moment.explanation is not None
    sentences = [each for each in moment.explanation.sentences if _about(each, _RECOVERY)]
    if recovery is None:
        later = episode.records[episode.records.index(turn.record) + 1 :]
        acted = "and then went on" if any(record.action for record in later) else "and did nothing after that"
        looks = counted(moment.found.looks, "observation")
        return (Line(f"The robot made {looks}, {acted}.", (f"looks({moment.found.looks})",)),)
    fate = " ".join(filter(None, (fate_text(turn), rejoin_text(turn))))
    told = [Line(fate, (fate_fact(turn),))] if fate else []
    if vetoed:
        told.append(Line(f"A person vetoed {counted(vetoed, 'other recovery')} before.", (f"vetoed({vetoed})",)))
    if recovery.status is RecoveryStatus.RECOVERED and len(recovery.actions) > MOST_ACTIONS:
        facts = (f"recovery({recovery.status.value}, {len(recovery.actions)})",)
        short = Line(f"The recovery takes {counted(len(recovery.actions), 'action')}; see the list.", facts)
        others = [each for each in sentences if not _about(each, {"recovery", "does", "rejoins"})]
        return (short, *told, *lines_of(others[: MOST_LINES - 1]))
    return (*lines_of(each for each in sentences[:MOST_LINES] if not _about(each, {"rejoins"})), *told)


def _when(episode: Episode, moment: Moment) -> Line:
    when = "Before" if moment.found.phase is Phase.BEFORE else "At"
    if moment.turn.step is None:
        step = f"the {ordinal(moment.way_step or 0)} action of a recovery"
    else:
        step = f"step {moment.turn.step} of {len(episode.plan)}"
    seconds = moment.turn.record.time_s - episode.start_s
    after = f", {seconds:.0f} seconds after the start" if seconds >= 1.0 else ""
    fact = f"step({moment.found.step + 1}, {moment.found.action}, {moment.found.phase.value})"
    return Line(f"{when} {step}{after}.", (fact,))


def _worked(episode: Episode, judgement: GoalJudgement | None) -> tuple[Line, ...]:
    facts: tuple[str, ...] = (f"status({episode.status.value})",)
    if episode.why is not None:
        facts = (*facts, f"why({episode.why.value})")
    ended = facts
    if judgement is not None:
        facts = (*facts, f"goal({'reached' if judgement.reached else 'not reached'})")
    own = {
        EpisodeStatus.RUNNING: "Not known yet: the run goes on.",
        EpisodeStatus.COMPLETED: "The robot completed the plan.",
        EpisodeStatus.ASKED_FOR_HELP: how_it_stopped(episode),
        EpisodeStatus.REVIEWED: "Unknown: this is a recording, and no recovery was executed.",
    }[episode.status]
    if judgement is not None:
        return (Line(f"{'Yes' if judgement.reached else 'No'}. {judgement.text}", facts), Line(own, ended))
    answer = {EpisodeStatus.COMPLETED: "Yes. ", EpisodeStatus.ASKED_FOR_HELP: "No. "}.get(episode.status, "")
    return (Line(f"{answer}{own}", facts),)


def _others(moments: Sequence[Moment], main: int | None) -> str:
    """A sentence about the other errors; empty if there are none."""
    others = [moment.turn for i, moment in enumerate(moments) if i != main and moment.kind is MarkedAs.ERROR]
    if not others:
        return ""
    more = "" if main is None else "other "
    return f"{capital(counted(len(others), f'{more}thing'))} went wrong, too; the steps are marked in the list."


def _done_in_short(moment: Moment, episode: Episode, judgement: GoalJudgement | None) -> str:
    """Return what was done about a moment, and how the episode ended."""
    turn, recovery = moment.turn, moment.turn.recovery
    reviewed = episode.status is EpisodeStatus.REVIEWED
    if recovery is None or not recovery.found:
        return f"no recovery was {'searched for' if recovery is None else 'found'}" + (
            "" if reviewed else f", and {_end(episode, judgement)}"
        )
    count = counted(len(recovery.actions), "action")
    done = len(turn.carried_out)
    if recovery.actions and done == len(recovery.actions):
        did = f"a recovery of {count} was carried out"
    elif recovery.actions:
        was = "was" if done < 2 else "were"
        fate = {Fate.VETOED: ", which a person vetoed", Fate.PROPOSED: ""}
        begun = f", of which {number(done) if done else 'none'} {was} carried out"
        did = f"a recovery of {count} was found{fate.get(turn.record.fate, begun)}"
    else:
        steps = moment.found.step + (moment.found.phase is Phase.AFTER)
        again = recovery.subgoal is not None and recovery.subgoal < steps
        did = "the step can be repeated" if again else "no recovery was needed"
    if reviewed:
        return did
    good = episode.status is EpisodeStatus.COMPLETED and (judgement is None or judgement.reached)
    return f"{did}, {'and' if good else 'but'} {_end(episode, judgement)}"


def _end(episode: Episode, judgement: GoalJudgement | None) -> str:
    """How the episode ended, as a clause."""
    if judgement is not None and episode.status is EpisodeStatus.COMPLETED:
        return "the goal was reached" if judgement.reached else "the goal was not reached"
    reason = episode.reason.rstrip(". ")
    ended = "the run was ended" if episode.why is StopCode.STOPPED else "the robot asked for help"
    return {
        EpisodeStatus.RUNNING: "the run goes on",
        EpisodeStatus.COMPLETED: "the plan was completed",
        EpisodeStatus.ASKED_FOR_HELP: ended + f" ({reason})" * (len(reason) < LONG),
        EpisodeStatus.REVIEWED: "the recording was only reviewed",
    }[episode.status]
