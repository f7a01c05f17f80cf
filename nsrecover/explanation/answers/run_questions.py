"""Answers about the run as a whole: is it safe, what is held, what comes next, how much is left, did it work."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Deviation, Phase
from nsrecover.core.episode import Episode, EpisodeStatus, Fate
from nsrecover.explanation.answers.numbering import Turn, clock
from nsrecover.explanation.audience import Phrasing
from nsrecover.explanation.phrases import instruction
from nsrecover.explanation.safety import safety_sentences
from nsrecover.util.english import capital, counted, listed, the

Every = Sequence[Turn]


def about_the_run(episode: Episode, every: Every, question: str, phrasing: Phrasing) -> str | None:
    """Answer a question about the run as a whole; None if it is none.

    Args:
        episode: the run so far.
        every: its turns.
        question: in plain English.
        phrasing: words and readers.
    """
    for asked, answer in _ANSWERS:
        if asked.search(question):
            return answer(episode, every, phrasing)
    return None


def _safe(episode: Episode, every: Every, phrasing: Phrasing) -> str:
    scene = every[-1].record.graph if every else episode.start
    moving = "The run goes on: the robot may move. " if episode.status is EpisodeStatus.RUNNING else ""
    return moving + " ".join(each.text for each in safety_sentences(scene, phrasing.domain))


def _held(episode: Episode, every: Every, phrasing: Phrasing) -> str:
    scene = every[-1].record.graph if every else episode.start
    return safety_sentences(scene, phrasing.domain)[0].text


def _plan(episode: Episode, _every: Every, phrasing: Phrasing) -> str:
    return f"The plan is to {listed([instruction(action, domain=phrasing.domain) for action in episode.plan])}."


def actions_left(episode: Episode) -> tuple[Action, ...]:
    """Return what is left of the plan, a recovery that is followed included."""
    if not episode.records:
        return episode.plan.actions
    record = episode.records[-1]
    found = record.discrepancy
    if record.recovery is not None and record.fate is Fate.ACCEPTED:
        plan = record.plan.actions[record.recovery.resumes_at(len(record.plan)) :]
        return (*record.recovery.actions, *plan)
    return record.plan.actions[found.step + (found.phase is Phase.AFTER) :]


def _next(episode: Episode, _every: Every, phrasing: Phrasing) -> str:
    left = actions_left(episode)
    if not left:
        return "Nothing: every action is done."
    todo = instruction(left[0], domain=phrasing.domain)
    if episode.status is EpisodeStatus.ASKED_FOR_HELP:
        return f"Nothing: the robot has stopped. The next action would be to {todo}."
    return f"Next is to {todo}."


def _remaining(episode: Episode, _every: Every, _phrasing: Phrasing) -> str:
    left = len(actions_left(episode))
    return f"{capital(counted(left, 'action'))} {'is' if left == 1 else 'are'} left." if left else "Nothing is left."


def _worked(episode: Episode, every: Every, phrasing: Phrasing) -> str:
    match episode.status:
        case EpisodeStatus.COMPLETED:
            return "Yes: the robot completed the plan."
        case EpisodeStatus.ASKED_FOR_HELP:
            return f"No: the robot stopped and asked for help: {episode.reason.rstrip('. ')}."
        case EpisodeStatus.REVIEWED:
            return "This is a recording: whether a recovery would have worked is not known."
    return f"The run goes on. {_remaining(episode, every, phrasing)}"


def _vetoes(_episode: Episode, every: Every, _phrasing: Phrasing) -> str:
    vetoed = sum(len(turn.record.vetoed) + (turn.record.fate is Fate.VETOED) for turn in every)
    return f"A person vetoed {counted(vetoed, 'recovery')}." if vetoed else "Nobody vetoed a recovery."


def _wrong(every: Every) -> Turn | None:
    """The last turn at which something was wrong."""
    return next((turn for turn in reversed(every) if turn.discrepancy.deviates), None)


def _when(episode: Episode, every: Every, phrasing: Phrasing) -> str:
    turn = _wrong(every)
    if turn is None:
        return "Nothing has gone wrong so far."
    when = "Before" if turn.discrepancy.phase is Phase.BEFORE else "After"
    step = phrasing.step(turn.step) if turn.step else "an action of the recovery"
    return f"{when} {step}, at {clock(turn.record.time_s - episode.start_s)} of the run."


def _which(_episode: Episode, every: Every, _phrasing: Phrasing) -> str:
    turn = _wrong(every)
    if turn is None:
        return "None: every object is as expected."
    names = [the(name) for name in turn.discrepancy.deviating]
    return f"{capital(listed(names))}." if names else "No object: a condition of the step does not hold."


def _sure(_episode: Episode, every: Every, _phrasing: Phrasing) -> str:
    turn = _wrong(every)
    if turn is None:
        return "Nothing has gone wrong so far."
    likely = [each for each in turn.discrepancy.deviations if isinstance(each, Deviation)]
    said = [f"{the(each.name)} is wrong with a probability of {100 * (1 - each.probability):.0f} %" for each in likely]
    looks = counted(turn.discrepancy.looks, "observation")
    return f"{capital(listed(said))}, after {looks}." if said else f"It was seen in {looks}."


_ANSWERS: tuple[tuple[re.Pattern[str], Callable[[Episode, Every, Phrasing], str]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), answer)
    for pattern, answer in (
        (r"\bsafe(?:ly)?\b|\breach in\b|\bhands?\b.*\bin\b|\bdanger|\bemergency\b|\btouch it\b", _safe),
        (r"\bhold(?:ing)?\b|\bin (?:the|your) (?:gripper|hand)\b", _held),
        (r"\bveto|\bwho (?:decided|said|stopped)\b|\bsaid no\b", _vetoes),
        (r"\b(?:comes|do|doing|happens?) next\b|\bnext (?:step|action)\b|\bwhat now\b|\bwill you\b"
         r"|\bgoing to\b", _next),
        (r"\bhow (?:much|many|long)\b.*\b(?:left|remain\w*|will it take|more|until)\b"
         r"|\balmost (?:done|finished)\b", _remaining),
        (r"\b(?:what|which) is (?:the|your) (?:plan|goal|task)\b|\bsupposed to\b", _plan),
        (r"\bhow (?:sure|certain|confident)\b|\bare you sure\b|\bprobab", _sure),
        (r"\bwhich (?:objects?|things?|ones?|parts?)\b", _which),
        (r"\b(?:since )?when\b|\bwhat time\b|\bat which step\b|\bhow long ago\b", _when),
        (r"\bdid (?:it|that) work\b|\bare you (?:done|finished|ready|stuck)\b|\bis it (?:done|over|finished)\b"
         r"|\bsucce|\bstatus\b|\bhow is it going\b|\bwhy (?:did|have) you stop", _worked),
    )
)  # fmt: skip
