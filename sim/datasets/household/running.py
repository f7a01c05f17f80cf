"""Runs of a task's plan, without faults and with them; the same arguments give the same states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

from nsrecover.core import Action, Observation, Plan
from sim.datasets.household.checkpoint import Checkpoint
from sim.datasets.household.spec import HouseholdEpisode
from sim.datasets.household.truth import HouseholdError, judged, reachable
from sim.kitchen.faults import START, Fault, Moment, Snapshot, snapshot
from sim.kitchen.performing import PASSING
from sim.kitchen.tasks import TaskSpec
from sim.kitchen.truth import differences
from sim.kitchen.world import KitchenWorld


@dataclass(frozen=True, eq=False)
class Struck:
    """What comes of an action with faults.

    Attributes:
        after: the kitchen afterwards.
        failure: why the robot's action failed; empty if it did not.
        blocked: why the later action that the faults prevent failed; None if they do not claim that, or it succeeded.
        seen: the observation afterwards; None without images.
    """

    after: Snapshot
    failure: str
    blocked: str | None = None
    seen: Observation | None = None


@dataclass(frozen=True, eq=False)
class ReplayedStep:
    """One action of an episode.

    Attributes:
        step: its number, from 0; -1: the start.
        action: the action of the right plan; None at the start.
        before: the kitchen before it, as expected.
        expected: the kitchen after it without faults.
        truth: the kitchen after it with the faults of the episode.
        error: the error in `truth`; None if there is none.
        seen_expected: the observation without faults; None without images.
        seen: the observation with them.
    """

    step: int
    action: Action | None
    before: Snapshot
    expected: Snapshot
    truth: Snapshot
    error: HouseholdError | None
    seen_expected: Observation | None = None
    seen: Observation | None = None


def strike(faults: tuple[Fault, ...], plan: Plan, step: int, images: bool, tested: bool, world: KitchenWorld) -> Struck:
    """Carry out one action of a plan with faults.

    Args:
        faults: those of the step.
        plan: the right plan.
        step: number of the action; START: the faults have changed the kitchen already.
        images: whether to observe.
        tested: whether to try the later actions that the faults prevent.
        world: in the state before the action; it has carried out as many actions as `step` says.
    """
    failure = ""
    if step > START:
        altered = plan
        for fault in faults:
            altered = fault.altered(altered)
        world.faults, world.plan = faults, None
        if step < len(altered):
            world.execute(altered[step])
            failure = world.failures[-1]
        world.faults = ()
    after, seen = snapshot(world.cell), world.observe() if images else None
    blocked = None
    for fault in faults if tested else ():
        later = fault.prevents(plan)
        if later is not None:
            world.execute(later)
            blocked = world.failures[-1] or None
    return Struck(after, failure, blocked, seen)


class Trunk:
    """The fault-free run of a task, with a checkpoint before every action. Use it as a context manager.

    Attributes:
        spec: the task.
        snapshots: the kitchen before the first action and after each of the T.
        failures: why each action failed; empty if it did not.
        seen: observations at the same moments; empty without images.
    """

    def __init__(self, spec: TaskSpec, images: bool = False, steps: Sequence[int] | None = None) -> None:
        """Carry out the plan.

        Args:
            spec: the task.
            images: whether to observe.
            steps: those at which `strike` will be called; all by default.
        """
        self.spec, self._images = spec, images
        self.failures: list[str] = []
        self.seen: list[Observation] = []
        self._stack = ExitStack()
        self._checkpoints: dict[int, Checkpoint] = {}
        with KitchenWorld(spec.kitchen) as world, ExitStack() as stack:
            self.snapshots = [snapshot(world.cell)]
            self._look(world)
            for step, action in enumerate(spec.plan):
                if steps is None or step in steps:
                    self._checkpoints[step] = stack.enter_context(Checkpoint(world))
                world.execute(action)
                self.snapshots.append(snapshot(world.cell))
                self.failures.append(world.failures[-1])
                self._look(world)
            self._stack = stack.pop_all()

    def _look(self, world: KitchenWorld) -> None:
        if self._images:
            self.seen.append(world.observe())

    def __enter__(self) -> Trunk:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the checkpoints up. A second call does nothing."""
        self._stack.close()

    def moment(self, step: int) -> Moment:
        """An action of the plan, for samplers of faults."""
        return Moment(step, self.spec.plan, self.spec.kitchen, self.snapshots[step], self.snapshots[step + 1])

    def expected(self, step: int) -> Snapshot:
        """The kitchen after a step; START: at the start."""
        return self.snapshots[step + 1]

    def strike(self, faults: Sequence[Fault], step: int, tested: bool = False) -> Struck:
        """What comes of an action with faults; if `tested`, later actions that they prevent are tried, too."""
        faults, plan = tuple(faults), self.spec.plan
        if step == START:
            with KitchenWorld(self.spec.kitchen, faults=faults) as world:
                return strike(faults, plan, step, self._images, tested, world)
        return self._checkpoints[step].run(partial(strike, faults, plan, step, self._images, tested))

    def natural_errors(self) -> Iterator[HouseholdError]:
        """Steps without faults after which something else holds than the domain expects of the plan."""
        for step, domain in enumerate(self.spec.expected()[1:]):
            actual = self.expected(step)
            missing, excess = differences(domain, actual.facts, PASSING)
            if missing or excess or self.failures[step]:
                expected = replace(actual, facts=(actual.facts | missing) - excess)
                can = reachable(self.spec, actual)
                found = judged(step, self.spec.plan[step], (), actual, expected, self.failures[step], can is not False)
                if found is not None:
                    yield found

    def error(self, faults: Sequence[Fault], step: int, struck: Struck) -> HouseholdError | None:
        """The error after an action with faults; None if nothing deviates, or it is not known what can be reached."""
        action = self.spec.plan[max(step, 0)]
        involved = [name for fault in faults for name in fault.touched(action)]
        can = reachable(self.spec, struck.after, involved)
        if can is None:
            return None
        return judged(step, action, faults, struck.after, self.expected(step), struck.failure, can)


def replay(episode: HouseholdEpisode, images: bool = False) -> Iterator[ReplayedStep]:
    """Carry out an episode's plan step by step.

    After a step with faults the kitchen is as without them again, as after a perfect recovery. Every step starts from
    the expected state.

    Args:
        episode: the episode.
        images: whether to observe.

    Yields:
        The start, and the plan's steps; exactly the same for the same episode.
    """
    spec = episode.spec
    with Trunk(spec, images, [fault.at_step for fault in episode.faults]) as trunk:
        natural = {} if episode.faults else {error.step: error for error in trunk.natural_errors()}
        for step in range(START, len(spec.plan)):
            faults = episode.faults_at(step)
            expected = trunk.expected(step)
            seen_expected = trunk.seen[step + 1] if images else None
            truth, seen, error = expected, seen_expected, None
            action = spec.plan[max(step, 0)]
            if faults:
                struck = trunk.strike(faults, step)
                truth, seen, error = struck.after, struck.seen, trunk.error(faults, step, struck)
            error = error or natural.get(step)
            before = trunk.snapshots[max(step, 0)]
            yield ReplayedStep(
                step, None if step == START else action, before, expected, truth, error, seen_expected, seen
            )
