"""List of executed actions: the steps of the plan, the recoveries, what they skip, and where they rejoin the plan."""

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Phase
from nsrecover.core.episode import Episode, Fate, StepRecord
from nsrecover.core.recovery import Recovery
from nsrecover.serving.reports.model import Mark, MarkedAs, WayEntry
from nsrecover.serving.reports.wording import Wording, kind_of

Due = tuple[int | None, Action]
"""An action to be done and its number in the plan, from 1; None for actions of a recovery."""

HELPED = "Part of the plan is already done"
LAST_LOOK, ANOTHER_LOOK = "A look at the end", "Another look"


def way_of(episode: Episode, wording: Wording) -> tuple[WayEntry, ...]:
    """The list for an episode."""
    return _Way(episode, wording).entries()


class _Way:
    def __init__(self, episode: Episode, wording: Wording) -> None:
        self._episode, self._wording = episode, wording
        self._found: list[WayEntry] = []
        self._plan: list[Due] = list(enumerate(episode.plan, start=1))
        self._next = 0
        self._skipped: list[Due] = []
        self._on_way = False

    def entries(self) -> tuple[WayEntry, ...]:
        """The list."""
        for turn, record in enumerate(self._episode.records):
            self._take(turn, record)
            recovery = record.recovery
            for vetoed in record.vetoed:
                self._propose(vetoed, Mark.VETOED)
            if recovery is not None and record.fate is Fate.ACCEPTED:
                self._turn_back(recovery)
            elif recovery is not None and recovery.found:
                self._propose(recovery, Mark.VETOED if record.fate is Fate.VETOED else Mark.PROPOSED)
        for number, action in self._plan[self._next :]:
            self._add(Mark.PROPOSED if number is None else Mark.NOT_DONE, number, action)
        return tuple(self._found)

    def _take(self, turn: int, record: StepRecord) -> None:
        """Add what one turn did and found."""
        kind = kind_of(record.discrepancy)
        ended = self._next == len(self._plan)
        if ended or (record.action is None and record.discrepancy.phase is Phase.AFTER):
            mark = Mark.FAILED if kind is MarkedAs.ERROR else Mark.DONE
            self._found.append(WayEntry(mark, None, LAST_LOOK if ended else ANOTHER_LOOK, "", turn))
            return
        number, action = self._plan[self._next]
        if record.action is not None:
            as_planned = Mark.DONE if number is not None else Mark.RECOVERY
            self._add(Mark.FAILED if kind is MarkedAs.ERROR else as_planned, number, action, turn)
            self._next += 1
        elif kind is MarkedAs.ERROR:
            self._add(Mark.STOPPED, number, action, turn)
        if kind is MarkedAs.HELP:
            self._found.append(WayEntry(Mark.HELPED, None, HELPED, "", turn))
        if kind is not MarkedAs.ERROR:  # what went wrong at the end of a recovery does not rejoin the plan
            self._rejoin()

    def _turn_back(self, recovery: Recovery) -> None:
        """Put the actions of a recovery before what is left of the plan."""
        rest = recovery.resumes_at(len(self._plan))
        self._skipped += [due for due in self._plan[self._next : rest] if due[0] is not None]
        self._plan = [*((None, action) for action in recovery.actions), *self._plan[rest:]]
        self._next, self._on_way = 0, True
        self._rejoin()

    def _rejoin(self) -> None:
        """Say that the plan goes on, once the actions of the recovery are done."""
        left = self._plan[self._next :]
        if not self._on_way or (left and left[0][0] is None):
            return
        for number, action in self._skipped:
            self._add(Mark.SKIPPED, number, action)
        self._found.append(
            WayEntry(Mark.REJOIN, None, _rejoining("continues", "is then", left[0][0] if left else None), "", None)
        )
        self._skipped, self._on_way = [], False

    def _propose(self, recovery: Recovery, mark: Mark) -> None:
        """Add a recovery that is not carried out."""
        for action in recovery.actions:
            self._add(mark, None, action)
        if mark is Mark.VETOED:
            return
        rest = recovery.resumes_at(len(self._plan))
        number = next((number for number, _ in self._plan[rest:] if number is not None), None)
        self._found.append(WayEntry(Mark.REJOIN, None, _rejoining("would continue", "would then be", number), "", None))

    def _add(self, mark: Mark, number: int | None, action: Action, turn: int | None = None) -> None:
        self._found.append(WayEntry(mark, number, self._wording.heading(action), str(action), turn))


def _rejoining(continues: str, ends: str, number: int | None) -> str:
    return f"The plan {ends} complete" if number is None else f"The plan {continues} with step {number}"
