"""Execution of recoveries in the simulator from true error states, and their judgement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from eval.common.error_states import ErrorState
from nsrecover.core.actions import Action, Plan
from nsrecover.domains.tabletop.operators import operator_of
from nsrecover.errors import UnknownObject
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.placing import true_graph
from sim.tabletop.poses import poses_of
from sim.tabletop.scenes import SceneSpec
from sim.tabletop.truth import TABLE, Truth, deviations
from sim.tabletop.world import TabletopWorld

RESTORED_M = 0.005
"""An object that moves farther than this when an error state is restored counts as not restored."""


@dataclass(frozen=True)
class RecoveryRoute:
    """Actions of a recovery and of the rest of the plan.

    Attributes:
        actions: from the error state to the subgoal.
        rest: the rest of the plan from there.
        subgoal: number of plan steps done at the subgoal.
    """

    actions: tuple[Action, ...]
    rest: tuple[Action, ...]
    subgoal: int


@dataclass(frozen=True)
class RejoinOutcome:
    """Outcome of an executed recovery.

    Attributes:
        wrong: objects that deviate from the true subgoal in place or support: name -> deviation.
        wrong_at_the_end: the same after the rest of the plan, compared with the end of the fault-free run.
        unmet: promised relations that hold at the end of the fault-free run and not at this end.
        log: notes of the simulator.
    """

    wrong: Mapping[str, str] = field(default_factory=dict)
    wrong_at_the_end: Mapping[str, str] = field(default_factory=dict)
    unmet: tuple[str, ...] = ()
    log: tuple[str, ...] = ()

    @property
    def recovered(self) -> bool:
        """Whether the subgoal was reached."""
        return not self.wrong

    @property
    def completed(self) -> bool:
        """Whether all promised relations hold at the end."""
        return not self.unmet


@dataclass(frozen=True)
class Judgement:
    """Outcomes of several recoveries from the same error state.

    Attributes:
        outcomes: by the names of the recoveries.
        unsteady: objects that moved when the error state was restored.
    """

    outcomes: Mapping[str, RejoinOutcome]
    unsteady: tuple[str, ...]


def judge(state: ErrorState, ways: Mapping[str, RecoveryRoute], fidelity: Fidelity = Fidelity.KINEMATIC) -> Judgement:
    """Execute recoveries from the same error state in a simulator without faults.

    Args:
        state: the error state.
        ways: recoveries by name.
        fidelity: with or without the arm.
    """
    outcomes = {}
    with TabletopWorld(state.episode.scene, seed=state.episode.seed, fidelity=fidelity) as world:
        put_in_place(world, state.truth)
        unsteady = tuple(deviations(world.truth(), state.truth, RESTORED_M))
        start = world.save()
        for name, way in ways.items():
            world.restore(start)
            world.log.clear()
            carry_out(world, way.actions)
            wrong = deviations(world.truth(), state.fault_free[way.subgoal])
            carry_out(world, way.rest)
            outcomes[name] = RejoinOutcome(
                wrong,
                deviations(world.truth(), state.fault_free[-1]),
                unmet_promises(state.episode.plan, state.episode.scene, state.fault_free[-1], world.truth()),
                tuple(world.log),
            )
    return Judgement(outcomes, unsteady)


def put_in_place(world: TabletopWorld, truth: Truth) -> None:
    """Restore a state of the same scene, and let the objects settle."""
    for i, name in enumerate(truth.names):
        if not truth.present[i]:
            world.put_out_of_sight(name)
            continue
        world.put(name, truth.positions[i], truth.orientations[i])
    world.settle()


def carry_out(world: TabletopWorld, actions: Iterable[Action]) -> None:
    """Execute actions in order; actions on unknown objects are skipped."""
    for action in actions:
        try:
            world.execute(action)
        except UnknownObject as problem:  # a false detection of the perceiver
            world.note(f"{action}: {problem}")


def unmet_promises(plan: Plan, scene: SceneSpec, should: Truth, now: Truth) -> tuple[str, ...]:
    """Return promised relations that hold at the end of the fault-free run and do not hold now.

    Two-object actions promise their relation; every object that rests on another one at the end of the fault-free
    run must rest on it now. Places on the table do not count.

    Args:
        plan: the plan.
        scene: has the sizes of the objects.
        should: the end of the fault-free run.
        now: the state to judge.
    """
    ideal, here = true_graph(poses_of(should, scene)), true_graph(poses_of(now, scene))
    unmet = [
        f"{name} on {support}"
        for name, support in should.supports.items()
        if support not in (None, TABLE) and now.supports[name] != support
    ]
    for action in plan:
        if len(action.arguments) < 2 or not operator_of(action).achieved(ideal, ideal, action):
            continue
        if not set(action.arguments) <= set(here.names) or not operator_of(action).achieved(here, here, action):
            unmet.append(str(action))
    return tuple(dict.fromkeys(unmet))
