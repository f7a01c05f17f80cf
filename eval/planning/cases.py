"""Error states with what planners made of them and what is true: what the tables of `eval.planning` are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from eval.common.error_states import ErrorState
from eval.common.optimum import fewest, puzzle_of
from eval.common.optimum_check import independent_cost
from eval.common.optimum_room import room_for
from eval.common.plans import Planned
from eval.common.rejoin import Judgement, RejoinOutcome, judge
from sim.datasets.spec import CONSEQUENCE
from sim.tabletop.kinematic import Fidelity

GONE, FAR = "removed", "out_of_reach"
"""Faults that no recovery can undo."""

WORDS = {GONE: "cannot be found", FAR: "out of the robot's reach"}
"""What a planner's reason has to say of what each of them did."""


@dataclass(frozen=True)
class KnownOptimum:
    """What is truly the best that can be done.

    Attributes:
        cost: actions of the recovery and of the rest of the plan.
        actions: of the recovery alone.
        to: number of a state of the course -> fewest actions to get there, for the subgoals that planners chose.
        room: whether the table has room for everything that this sets aside; if not, it is a lower bound.
        independent: the same cost by an independent planner; None if it was not asked.
    """

    cost: int
    actions: int
    to: Mapping[int, int]
    room: bool
    independent: int | None = None


@dataclass(frozen=True)
class PlanningCase:
    """An error state and everything that was measured of it.

    Attributes:
        dataset: of the episode.
        episode: its number.
        step: number of the action at which it happened, from 0.
        objects: how many there are.
        errors: N_err, how many things went wrong at this step.
        length: T, actions of the plan.
        causes: faults that put objects out of place, each once.
        recoverable: whether there is a way back.
        lost: object that makes it impossible -> the fault that took it away.
        plans: planner -> what it found; empty if the monitor did not notice the error.
        outcomes: planner -> what became of it, if it found a way.
        unsteady: objects that did not stay where they were when the error state was put together again.
        best: the optimum; None if there is no way back or nobody asked.
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
        """What to call it in a list, e.g. `I 12 step 3`."""
        return f"{self.dataset} {self.episode} step {self.step}"

    @property
    def detected(self) -> bool:
        """Whether the monitor noticed the error, so that planning was asked for."""
        return bool(self.plans)

    def decided_right(self, planner: str) -> bool:
        """Whether a planner says rightly that there is a way back or that there is none."""
        return (self.plans[planner].status != "impossible") == self.recoverable

    def explained_right(self, planner: str) -> bool:
        """Of what is impossible: whether it says so, and blames the right object for the right reason."""
        plan = self.plans[planner]
        words = all(WORDS[fault] in plan.reason for fault in self.lost.values())
        return plan.status == "impossible" and set(plan.blamed) == set(self.lost) and words


@dataclass(frozen=True, eq=False)
class CaseRequest:
    """What a worker is asked about an error state.

    Attributes:
        state: the error state.
        plans: planner -> what it found.
        check: whether an independent planner is asked for the optimum as well.
    """

    state: ErrorState
    plans: Mapping[str, Planned]
    check: bool = False


def assess(question: CaseRequest, fidelity: Fidelity) -> PlanningCase:
    """Carry out what planners found, and find what is best.

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
