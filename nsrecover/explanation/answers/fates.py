"""What became of a recovery, in words: every tense follows from what was executed."""

from __future__ import annotations

from nsrecover.core.episode import Fate
from nsrecover.explanation.answers.numbering import Turn
from nsrecover.util.english import counted, number


def way_back(turn: Turn) -> str:
    """Return the beginning of a sentence about what the recovery of a turn is."""
    return "The way back was to" if turn.carried_out else "The way back that was found is to"


def fate_text(turn: Turn) -> str:
    """Return what became of the recovery of a turn, as a sentence; empty if there was none, or nothing to do."""
    recovery = turn.recovery
    if recovery is None or not recovery.found:
        return ""
    if turn.record.fate is Fate.VETOED:
        return "A person vetoed it, so nothing of it was done."
    if turn.record.fate is Fate.PROPOSED:
        return "It was not carried out." if recovery.actions else ""
    done = len(turn.carried_out)
    if done == len(recovery.actions):
        return "It was carried out." if recovery.actions else ""
    if not done:
        return "Nothing of it was carried out."
    was = "was" if done == 1 else "were"
    return f"Of its {counted(len(recovery.actions), 'action')}, {number(done)} {was} carried out."


def rejoin_text(turn: Turn) -> str:
    """Return with which step the plan goes on after the recovery of a turn, as a sentence; empty without a recovery."""
    record = turn.record
    if turn.recovery is None or record.recovery is None or not record.recovery.found:
        return ""
    follows = record.fate is Fate.ACCEPTED
    if record.recovery.resumes_at(len(record.plan)) == len(record.plan):
        return f"The plan {'is then' if follows else 'would then be'} complete."
    step = f" with step {(turn.recovery.subgoal or 0) + 1}" if turn.step is not None else ""
    return f"The plan {'continues' if follows else 'would continue'}{step}."


def fate_fact(turn: Turn) -> str:
    """Return the fact behind `fate_text`: what was decided, and how many actions were executed."""
    return f"fate({turn.record.fate.value}, {len(turn.carried_out)})"
