"""What is kept of an episode: everything the tables need, as plain data and one JSON line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from nsrecover.core.episode import EpisodeStatus
from nsrecover.core.recovery import RecoveryStatus

FORMAT = 2
"""Version of a line; raised when what is in it, or how it comes about, changes."""

CRASHED = "crashed"
"""Status of an episode that could not go on, beside those of `nsrecover.core.episode.EpisodeStatus`."""


class Failure(StrEnum):
    """Why an episode did not end as it should."""

    LOST = "lost"
    """Something was really gone or out of reach when something was noticed: there was no way back from there."""
    NOT_NOTICED = "not_noticed"
    """Something is out of its place at the end that went wrong without being noticed, or because something else did."""
    FALSE_ALARM = "false_alarm"
    """It asked for help where nothing was wrong."""
    GIVEN_UP = "given_up"
    """It says that there is no way back, and there is one."""
    OUT_OF_BUDGET = "out_of_budget"
    """The search stopped before it found a way back."""
    KEPT_FAILING = "kept_failing"
    """It asked for help after too many recoveries."""
    LEFT = "left"
    """It noticed what is wrong and did not put it right."""
    WRONG_WAY = "wrong_way"
    """A recovery does not lead back, even when an unerring hand carries it out."""
    DRIFT = "drift"
    """Deviations none of which was an error have added up."""
    WENT_ON = "went_on"
    """There was no way back, and it went on."""
    CRASHED = "crashed"
    """The run could not go on."""


@dataclass(frozen=True)
class ActionRecord:
    """An action that was carried out.

    Attributes:
        action: the action.
        step: its number in the original plan, from 0; None within a recovery.
        faults: kinds of the faults that struck.
        wrong: objects that are not where an unerring hand would have left them: name -> how, in words.
        looked: whether the planner looked at the scene afterwards.
        noticed: whether it says that something is wrong.
        culprits: the objects that it blames -> what it says happened to them.
        notes: what the simulator notes.
    """

    action: str
    step: int | None
    faults: tuple[str, ...]
    wrong: Mapping[str, str]
    looked: bool
    noticed: bool
    culprits: Mapping[str, str]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class OptimumRecord:
    """The true optimum at an error (`eval.common.optimum`).

    Attributes:
        cost: fewest actions back onto the plan and along its rest.
        actions: of these, those back onto the plan.
        to_subgoal: fewest actions to the state that was chosen; None if it cannot be reached.
    """

    cost: int
    actions: int
    to_subgoal: int | None = None


@dataclass(frozen=True)
class RecoveryRecord:
    """A moment at which a planner said that something is wrong, and what it planned.

    Attributes:
        after: number of actions carried out before it.
        step: number of the action in the original plan at which it was, from 0; None within a recovery.
        phase: before or after that action.
        errors: N_err, how many things had gone wrong since the last recovery; 0 for a false alarm.
        faults: kinds of the faults among them.
        wrong: objects that really were not as they should be, name -> how.
        culprits: objects that are blamed -> cause.
        violated: preconditions that do not hold, as the planner says.
        lost: objects without which nothing can be put right -> where they are.
        status: how planning ended (`nsrecover.core.recovery.RecoveryStatus`).
        actions: what it decided to do.
        subgoal: number of steps of the original plan that are done then; None in the middle of an earlier recovery.
        cost: of the recovery and the rest of the plan; None if none was found.
        proven: whether no cheaper way exists, as far as the planner knows.
        expansions: nodes of the search.
        seconds: wall time of planning.
        cpu_s: processor time of planning.
        reason: in words, why there is no way.
        blamed: objects to blame for that.
        right: whether it leads back when an unerring hand carries it out; None if no way was found.
        astray: objects that are not where the subgoal has them then.
        best: the optimum; None if there is no way back.
    """

    after: int
    step: int | None
    phase: str
    errors: int
    faults: tuple[str, ...]
    wrong: Mapping[str, str]
    culprits: Mapping[str, str]
    violated: tuple[str, ...]
    lost: Mapping[str, str]
    status: str
    actions: tuple[str, ...]
    subgoal: int | None
    cost: float | None
    proven: bool
    expansions: int
    seconds: float
    cpu_s: float
    reason: str
    blamed: tuple[str, ...]
    right: bool | None
    astray: Mapping[str, str]
    best: OptimumRecord | None

    @property
    def found(self) -> bool:
        """Whether the planner found a way to go on."""
        return self.status in (RecoveryStatus.RECOVERED, RecoveryStatus.ALREADY_AT_SUBGOAL)


@dataclass(frozen=True)
class EpisodeRecord:
    """An episode under a planner.

    Attributes:
        index: number of the line, from 0.
        dataset: of the episode.
        episode: its number there.
        objects: how many there are.
        length: actions of the plan.
        scheduled: the most faults at a step.
        recoverable: whether the dataset says that there is a way back.
        actions: everything that was carried out.
        recoveries: every time that something was said to be wrong.
        status: how it ended, as the planner says (`nsrecover.core.episode.EpisodeStatus`), or `CRASHED`.
        reason: why it did not complete, as the planner says.
        deviations: objects that are not within 2 cm of where the plan without faults puts them, or on another support.
        unmet: relations that the plan promises of its end and that do not hold.
        unnoticed: objects that went wrong and were never noticed.
        seconds: wall time of the episode, rendering and judging included.
        cpu_s: processor time of the same.
        planning_s: wall time of all planning.
        planning_cpu_s: processor time of all planning.
    """

    index: int
    dataset: str
    episode: int
    objects: int
    length: int
    scheduled: int
    recoverable: bool
    actions: tuple[ActionRecord, ...]
    recoveries: tuple[RecoveryRecord, ...]
    status: str
    reason: str
    deviations: Mapping[str, str]
    unmet: tuple[str, ...]
    unnoticed: tuple[str, ...]
    seconds: float
    cpu_s: float
    planning_s: float
    planning_cpu_s: float

    @property
    def lost(self) -> bool:
        """Whether there really was no way back from where something was noticed; another planner may not get there."""
        return any(recovery.lost for recovery in self.recoveries) or not self.recoverable

    @property
    def completed(self) -> bool:
        """Whether the goal was reached: every object where the plan without faults puts it."""
        return self.status == EpisodeStatus.COMPLETED and not self.deviations

    @property
    def promised(self) -> bool:
        """Whether the plan was carried out to its end and every relation that it promises holds."""
        return self.status == EpisodeStatus.COMPLETED and not self.unmet

    @property
    def decided_right(self) -> bool:
        """Whether it asked for help if, and only if, there is no way back."""
        return self.status != CRASHED and (self.status == EpisodeStatus.ASKED_FOR_HELP) != self.recoverable

    def label(self) -> str:
        """What to call it in a list, e.g. `I 12`."""
        return f"{self.dataset} {self.episode}"

    def to_json(self) -> str:
        """One line, without a line feed."""
        return json.dumps({"format": FORMAT, **asdict(self)}, sort_keys=True)

    @classmethod
    def from_json(cls, line: str) -> EpisodeRecord:
        """The inverse of `to_json`.

        Raises:
            ValueError, KeyError, TypeError: the line is no record of this format.
        """
        data = json.loads(line)
        if data.pop("format") != FORMAT:
            raise ValueError(f"expected a record of format {FORMAT}")
        data["actions"] = tuple(ActionRecord(**_tuples(item)) for item in data["actions"])
        data["recoveries"] = tuple(
            RecoveryRecord(**(_tuples(item) | {"best": item["best"] and OptimumRecord(**item["best"])}))
            for item in data["recoveries"]
        )
        return cls(**_tuples(data))


def _tuples(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}
