"""Error states with the plans of all planners and the ground truth: the data of the tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from eval.common.error_states import ErrorState
from eval.common.optimum import fewest, puzzle_of
from eval.common.optimum_check import independent_cost, room_for
from eval.common.plans import Planned
from eval.common.rejoin import Judgement, RejoinOutcome, judge
from sim.datasets.spec import CONSEQUENCE
from sim.tabletop.kinematic import Fidelity

GONE, FAR = "removed", "out_of_reach"
"""Faults that no recovery can undo."""

WORDS = {GONE: "cannot be found", FAR: "out of the robot's reach"}
"""Words that a planner's reason must contain for each of them."""


@dataclass(frozen=True)
class KnownOptimum:
    """True optimum of an error state.

    Attributes:
        cost: actions of the recovery and of the rest of the plan.
        actions: of the recovery alone.
        to: number of a state of the plan -> fewest actions to it, for the subgoals of the planners.
        room: whether the table has room for all objects set aside; if not, the cost is a lower bound.
        independent: the cost by an independent planner; None without a check.
    """

    cost: int
    actions: int
    to: Mapping[int, int]
    room: bool
    independent: int | None = None


@dataclass(frozen=True)
class PlanningCase:
    """Error state with all results.

    Attributes:
        dataset: of the episode.
        episode: its number.
        step: number of the action at which it happened, from 0.
        objects: number of objects.
        errors: N_err, number of errors at this step.
        length: T, actions of the plan.
        causes: faults behind the deviations, each once.
        recoverable: whether a recovery exists.
        lost: object that makes a recovery impossible -> its fault.
        plans: planner -> plan; empty if the monitor did not notice the error.
        outcomes: planner -> outcome of its plan.
        unsteady: objects that moved when the error state was restored.
        best: the optimum; None if it does not exist.
    """

    dataset: str
    episode: int
    step: int
    objects: int
    errors: int
    length: int
    causes: tuple[str, ...]
    recoverable: bool
    lost: Mapping[str, str]
    plans: Mapping[str, Planned]
    outcomes: Mapping[str, RejoinOutcome] = field(default_factory=dict)
    unsteady: tuple[str, ...] = ()
    best: KnownOptimum | None = None

    def label(self) -> str:
        """Name in lists, e.g. `I 12 step 3`."""
        return f"{self.dataset} {self.episode} step {self.step}"

    @property
    def detected(self) -> bool:
        """Whether the monitor noticed the error."""
        return bool(self.plans)

    def decided_right(self, planner: str) -> bool:
        """Whether a planner decides rightly if a recovery exists."""
        return (self.plans[planner].status != "impossible") == self.recoverable

    def explained_right(self, planner: str) -> bool:
        """Whether a planner reports an impossible recovery with the right objects and reason."""
        plan = self.plans[planner]
        words = all(WORDS[fault] in plan.reason for fault in self.lost.values())
        return plan.status == "impossible" and set(plan.blamed) == set(self.lost) and words


@dataclass(frozen=True, eq=False)
class CaseRequest:
    """Task of a worker.

    Attributes:
        state: the error state.
        plans: planner -> plan.
        check: whether an independent planner checks the optimum.
    """

    state: ErrorState
    plans: Mapping[str, Planned]
    check: bool = False


def assess(question: CaseRequest, fidelity: Fidelity) -> PlanningCase:
    """Execute the plans and compute the optimum.

    Args:
        question: an error state with plans.
        fidelity: of the simulator.
    """
    state, episode = question.state, question.state.episode
    ways = {name: plan.way for name, plan in question.plans.items() if plan.way is not None}
    judgement = judge(state, ways, fidelity) if ways else Judgement({}, ())
    subgoals = {way.subgoal for way in ways.values()}
    return PlanningCase(
        dataset=episode.dataset,
        episode=episode.number,
        step=state.step,
        objects=len(episode.scene.objects),
        errors=state.errors,
        length=len(episode.plan),
        causes=tuple(sorted({*state.error.causes.values()} - {CONSEQUENCE})),
        recoverable=episode.recoverable,
        lost={} if episode.recoverable else {name: state.error.causes[name] for name in state.error.deviations},
        plans=question.plans,
        outcomes=judgement.outcomes,
        unsteady=judgement.unsteady,
        best=_best(state, subgoals, question.check) if episode.recoverable else None,
    )


def _best(state: ErrorState, subgoals: set[int], check: bool) -> KnownOptimum | None:
    puzzle = puzzle_of(state)
    found = None if puzzle is None else fewest(puzzle)
    if puzzle is None or found is None:
        return None
    ways = {t: fewest(puzzle, [t]) for t in sorted(subgoals)}
    return KnownOptimum(
        cost=found.cost,
        actions=len(found.steps),
        to={t: len(way.steps) for t, way in ways.items() if way is not None},
        room=room_for(puzzle, found.steps),
        independent=independent_cost(puzzle) if check else None,
    )
