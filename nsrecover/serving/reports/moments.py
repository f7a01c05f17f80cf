"""The turns of an episode in a report, its summary, and the answers to the questions of readers."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nsrecover.core.discrepancy import Phase
from nsrecover.core.episode import Episode, EpisodeStatus, Fate, StopCode
from nsrecover.core.explanation import Explanation, Sentence
from nsrecover.domains.domain import Domain
from nsrecover.explanation.answers.fates import fate_fact
from nsrecover.explanation.answers.numbering import Turn
from nsrecover.explanation.answers.questions import ask
from nsrecover.explanation.audience import Audience
from nsrecover.explanation.facts import facts_of
from nsrecover.explanation.safety import safety_sentences
from nsrecover.explanation.why import why
from nsrecover.serving.reports.media import GoalJudgement
from nsrecover.serving.reports.model import Line, MarkedAs, ReaderAnswer
from nsrecover.serving.reports.wording import Found, Wording
from nsrecover.util.english import capital, counted, number, past

QUESTIONS = {
    "what": "What went wrong?",
    "when": "When did it go wrong?",
    "why": "Why did it go wrong?",
    "done": "What did you do about it?",
    "worked": "Did it work?",
    "long": "How long did it take?",
    "safe": "Is it safe to reach in?",
}
"""Key -> question."""
LONG = 120
"""Longer reasons are left out of the summary, characters."""
_SENTENCE = re.compile(r"(?<=[.?!]) (?=[A-Z])")


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
    episode: Episode, moments: Sequence[Moment], domain: Domain, judgement: GoalJudgement | None
) -> tuple[ReaderAnswer, ...]:
    """The answers, in the order of `QUESTIONS`, with the facts of the turn that the page is about."""
    main = main_moment(episode, moments)
    turn = None if main is None else moments[main].turn
    status = (f"status({episode.status.value})", *([f"why({episode.why.value})"] if episode.why is not None else ()))
    facts = {"worked": status, "what": status, "why": status}
    if turn is not None:
        found = tuple(map(str, facts_of(turn.discrepancy, turn.recovery, domain)))
        causes = why(turn.discrepancy, turn.by_hand, domain)
        facts |= {"what": found, "why": tuple(str(fact) for each in causes for fact in each.facts) or found}
        facts["done"] = (fate_fact(turn), *found)
    told = list[ReaderAnswer]()
    for key, answer in zip(QUESTIONS, ask(episode, list(QUESTIONS.values()), Audience.LAY, domain), strict=True):
        lines = tuple(Line(text, facts.get(key, status)) for text in _SENTENCE.split(answer.text))
        if key == "worked" and judgement is not None:
            own = capital(answer.text.removeprefix("Yes: ").removeprefix("No: "))
            lines = (Line(f"{'Yes' if judgement.reached else 'No'}. {judgement.text}", status), Line(own, status))
        told.append(
            ReaderAnswer(key, QUESTIONS[key], lines_of(safety_sentences(episode, domain)) if key == "safe" else lines)
        )
    return tuple(told)


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
        begun = f", of which {number(done)} {was} carried out" if done else " and not begun"
        did = f"a recovery of {count} was found{fate.get(turn.record.fate, begun)}"
    else:
        steps = moment.found.step + (moment.found.phase is Phase.AFTER)
        again = recovery.subgoal is not None and recovery.subgoal < steps
        did = "the step can be repeated" if again else "no recovery was needed"
    if reviewed:
        return did
    good = episode.status is EpisodeStatus.COMPLETED and (judgement is None or judgement.reached)
    return f"{did}, {'but' if done and not good else 'and'} {_end(episode, judgement)}"


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
