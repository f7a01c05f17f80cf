"""Error states with the plans of all planners and the ground truth: the data of the tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from eval.common.error_states import ErrorState
from eval.common.optimum import Optimum, fewest, puzzle_of
from eval.common.plans import Planned
from eval.common.rejoin import Judgement, RejoinOutcome, judge
from sim.datasets.spec import CONSEQUENCE
from sim.tabletop.kinematic import Fidelity

GONE, FAR = "removed", "out_of_reach"
"""Faults that no recovery can undo."""

WORDS = {GONE: "cannot be found", FAR: "out of the robot's reach"}
"""Words that a planner's reason must contain for each of them."""


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
    best: Optimum | None = None

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


def assess(planned: tuple[ErrorState, Mapping[str, Planned]], fidelity: Fidelity) -> PlanningCase:
    """Execute the plans and compute the optimum.

    Args:
        planned: an error state, and planner -> plan.
        fidelity: of the simulator.
    """
    state, plans = planned
    episode = state.episode
    ways = {name: plan.way for name, plan in plans.items() if plan.way is not None}
    judgement = judge(state, ways, fidelity) if ways else Judgement({}, ())
    puzzle = puzzle_of(state) if episode.recoverable else None
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
        plans=plans,
        outcomes=judgement.outcomes,
        unsteady=judgement.unsteady,
        best=None if puzzle is None else fewest(puzzle),
    )
