"""Whether a recovery really leads back onto the plan: carried out in the simulator from the true error state."""

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
"""Objects that move farther than this when an error state is put together again count as not restored."""


@dataclass(frozen=True)
class RecoveryRoute:
    """What is carried out: a recovery, without its imagination.

    Attributes:
        actions: from the error state to the subgoal.
        rest: the rest of the plan from there.
        subgoal: number of plan steps that are done in between.
    """

    actions: tuple[Action, ...]
    rest: tuple[Action, ...]
    subgoal: int


@dataclass(frozen=True)
class RejoinOutcome:
    """What became of a way back.

    Attributes:
        wrong: objects that are not where the subgoal truly has them or do not rest on the right support: name -> why.
        wrong_at_the_end: the same after the rest of the plan, compared with the end of the undisturbed course.
        unmet: what the plan's actions promise of the end and does not hold there, though it holds in the undisturbed
            run: relations, wherever they hold.
        log: what the simulator noted while carrying it out.
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
        """Whether everything that the plan promises of its end holds there."""
        return not self.unmet


@dataclass(frozen=True)
class Judgement:
    """What became of several ways back from the same error state.

    Attributes:
        outcomes: by the names of the ways.
        unsteady: objects that did not stay where they were when the error state was put together again.
    """

    outcomes: Mapping[str, RejoinOutcome]
    unsteady: tuple[str, ...]


def judge(state: ErrorState, ways: Mapping[str, RecoveryRoute], fidelity: Fidelity = Fidelity.KINEMATIC) -> Judgement:
    """Carry out ways back from an error state, each from the same start, in a simulator in which nothing goes wrong.

    Args:
        state: where they begin.
        ways: to be judged.
        fidelity: with the arm, or without one for volume.
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
    """Put every object where it is in another state of the same scene, and let it come to rest."""
    for i, name in enumerate(truth.names):
        if not truth.present[i]:
            world.put_out_of_sight(name)
            continue
        world.put(name, truth.positions[i], truth.orientations[i])
    world.settle()


def carry_out(world: TabletopWorld, actions: Iterable[Action]) -> None:
    """Carry out actions one after the other; those of things that are no objects of the scene are left out."""
    for action in actions:
        try:
            world.execute(action)
        except UnknownObject as problem:  # something that perception took for an object
            world.note(f"{action}: {problem}")


def unmet_promises(plan: Plan, scene: SceneSpec, should: Truth, now: Truth) -> tuple[str, ...]:
    """Relations that a plan promises of its end, that hold at the end of the fault-free run, and not now.

    Two-object actions promise their relation; every object that rests on another one at the end of the undisturbed
    run has to rest on it now. Where things stand on the table does not count.

    Args:
        plan: what was to be done.
        scene: says how large everything is.
        should: the end of the undisturbed course.
        now: the state to judge.
    """
    ideal, here = true_graph(poses_of(should, scene)), true_graph(poses_of(now, scene))
    unmet = [
        f"{name} on {support}"
        for name, support in should.supports.items()
        if support not in (None, TABLE) and now.supports[name] != support
    ]
    for action in plan:
        if len(action.arguments) < 2 or not operator_of(action).achieved(ideal, action):
            continue
        if not set(action.arguments) <= set(here.names) or not operator_of(action).achieved(here, action):
            unmet.append(str(action))
    return tuple(dict.fromkeys(unmet))
