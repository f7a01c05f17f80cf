"""The error datasets of the kitchen: each defines the episodes of a kitchen for every number of a kitchen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.domains.household import LASTING
from nsrecover.errors import InvalidConfiguration
from nsrecover.monitoring.outlook import outlook
from sim.datasets.household.cases import CASES
from sim.datasets.household.running import Struck, Trunk
from sim.datasets.household.spec import HouseholdEpisode
from sim.datasets.household.truth import HouseholdError, goal_of, reachable
from sim.kitchen.faults import FAULTS, START, Fault, FaultClass, Snapshot
from sim.kitchen.scenes import NUM_LAYOUTS
from sim.kitchen.task_list import TASKS
from sim.kitchen.tasks import TaskSpec, draw_task, reaches

REDRAWS = 12
"""Kitchens that are drawn for a number at most."""
TRIES = 6
"""Faults of a kind that are tried in a kitchen at most."""
_SPOILING_TRIES = 14
"""Faults that are tried in a kitchen of H3 at most."""
_SEVERAL = (2, 3, 4)
"""Numbers of failures in an episode of H2."""
Failed = tuple[Sequence[Fault], Sequence[HouseholdError]]
"""Faults and errors of an episode."""
Episodes = Sequence[Failed]


@dataclass
class Effort:
    """What a kitchen's episodes cost.

    Attributes:
        kitchens: those that were drawn before because their plan failed without faults, or offered too few failures.
        tried: faults that were tried in the simulation.
        without_effect: kind -> those of them that were drawn again because nothing that they touch deviated, or the
            search did not decide whether the goal can be reached.
    """

    kitchens: int = 0
    tried: int = 0
    without_effect: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Drawn:
    """The episodes of one kitchen, and their effort."""

    episodes: tuple[HouseholdEpisode, ...]
    effort: Effort


@dataclass(frozen=True)
class HouseholdDataset:
    """A definition of episodes.

    Attributes:
        name: in commands.
        episodes: default number.
        per_kitchen: number of episodes that share a kitchen and its fault-free run.
        tasks: codes of its tasks, equally often.
    """

    name: str
    episodes: int
    per_kitchen: int
    tasks: tuple[str, ...] = tuple(task.code for task in TASKS.values())

    def draw(self, trunk: Trunk, kitchen: int, rng: np.random.Generator, effort: Effort) -> Episodes | None:
        """Faults and errors of the episodes of a kitchen; None if it does not offer enough."""
        raise NotImplementedError


def generate(dataset: HouseholdDataset, seed: int, kitchen: int) -> Drawn:
    """The episodes of a kitchen of a dataset, which depend on the arguments only.

    Args:
        dataset: their dataset.
        seed: of the dataset.
        kitchen: number of the kitchen.

    Raises:
        InvalidConfiguration: no such episodes were found in `REDRAWS` kitchens.
    """
    effort = Effort()
    code = dataset.tasks[kitchen % len(dataset.tasks)]
    for redrawn in range(REDRAWS):
        rng = np.random.default_rng([seed, *dataset.name.encode(), kitchen, redrawn])
        # every layout equally often with every task
        layout = (kitchen // len(dataset.tasks) + 7 * (kitchen % len(dataset.tasks)) + seed + redrawn) % NUM_LAYOUTS
        effort.kitchens = redrawn
        try:
            spec = draw_task(code, int(rng.integers(2**31)), layout)
        except InvalidConfiguration:
            continue
        with Trunk(spec) as trunk:
            if dataset.name != "H4" and not _as_planned(trunk):
                continue
            found = dataset.draw(trunk, kitchen, rng, effort)
        if found is not None:
            start = kitchen * dataset.per_kitchen
            return Drawn(
                tuple(
                    HouseholdEpisode(
                        dataset.name, start + i, code, layout, spec.seed, spec.plan, tuple(faults), tuple(errors)
                    )
                    for i, (faults, errors) in enumerate(found)
                ),
                effort,
            )
    raise InvalidConfiguration(
        f"expected episodes of dataset {dataset.name} in kitchen {kitchen} with seed {seed}, found none in {REDRAWS} "
        "kitchens; use another seed"
    )


def _as_planned(trunk: Trunk) -> bool:
    return not any(trunk.failures) and next(trunk.natural_errors(), None) is None


def try_fault(trunk: Trunk, fault: Fault, effort: Effort) -> HouseholdError | None:
    """The error that a fault causes; None if nothing that it touches deviates, or what it prevents still succeeds."""
    return _tried(trunk, fault, effort)[0]


def _tried(trunk: Trunk, fault: Fault, effort: Effort) -> tuple[HouseholdError | None, Struck]:
    """The error that a fault causes, as from `try_fault`, and what comes of the action with it."""
    effort.tried += 1
    step = fault.at_step
    struck = trunk.strike((fault,), step, tested=True)
    error = trunk.error((fault,), step, struck)
    action = trunk.spec.plan[max(step, 0)]
    shown = (
        error is not None
        and bool(fault.touched(action) & error.deviations.keys())
        and _prevents(trunk, fault, struck)
        and _matters(trunk.spec, fault)
    )
    if not shown:
        effort.without_effect[fault.kind] += 1
        return None, struck
    return error, struck


def _prevents(trunk: Trunk, fault: Fault, struck: Struck) -> bool:
    return fault.prevents(trunk.spec.plan) is None or struck.blocked is not None


def _matters(spec: TaskSpec, fault: Fault) -> bool:
    """Whether the plan that a planning fault leads to does not do the task, in the domain."""
    altered = fault.altered(spec.plan)
    return altered == spec.plan or not reaches(spec.home, spec.start, altered.actions, spec.goal)


def drawn_faults(trunk: Trunk, kind: type[Fault], rng: np.random.Generator, steps: Sequence[int]) -> Iterator[Fault]:
    """Random faults of a kind at random steps, at most `TRIES` of them, none twice."""
    seen = set[Fault]()
    order = [int(step) for step in rng.permutation(np.asarray(steps, int))] if len(steps) else []
    for attempt in range(2):
        for step in order:
            fault = kind.sample(trunk.moment(step), rng)
            if fault is not None and fault not in seen:
                seen.add(fault)
                yield fault
            if len(seen) == TRIES:
                return
        if attempt and not seen:
            return


@dataclass(frozen=True)
class SingleFailures(HouseholdDataset):
    """One failure in each episode, ten different kinds in a kitchen if they fit.

    Liu et al. (2023) have ten failures for each of ten tasks.
    """

    name: str = "H1"
    episodes: int = 1000
    per_kitchen: int = 10

    def draw(self, trunk: Trunk, kitchen: int, rng: np.random.Generator, effort: Effort) -> Episodes | None:
        """Kinds in random order, each once, and then again if the kitchen offers fewer than needed."""
        kinds = [kind for kind in FAULTS.values() if kind.fault_class is not FaultClass.IRREVERSIBLE]
        found = list[Failed]()
        seen = set[Fault]()
        order = [kinds[int(i)] for i in rng.permutation(len(kinds))]
        for kind in order * 3:
            for fault in drawn_faults(trunk, kind, rng, range(len(trunk.spec.plan))):
                if fault in seen:
                    continue
                error = try_fault(trunk, fault, effort)
                if error is not None:
                    seen.add(fault)
                    found.append(((fault,), (error,)))
                    break
            if len(found) == self.per_kitchen:
                return found
        return None


@dataclass(frozen=True)
class SeveralFailures(HouseholdDataset):
    """Two to four failures at different steps of each episode."""

    name: str = "H2"
    episodes: int = 300
    per_kitchen: int = 3

    def draw(self, trunk: Trunk, kitchen: int, rng: np.random.Generator, effort: Effort) -> Episodes | None:
        """Random kinds but those that alter the plan or cannot be undone; the goal can be reached after every one."""
        kinds = [
            kind for kind in FAULTS.values() if kind.fault_class not in (FaultClass.IRREVERSIBLE, FaultClass.PLANNING)
        ]
        found = list[Failed]()
        for number in range(self.per_kitchen):
            count = _SEVERAL[(kitchen * self.per_kitchen + number) % len(_SEVERAL)]
            faults, errors, free = list[Fault](), list[HouseholdError](), list(range(len(trunk.spec.plan)))
            for _ in range(8 * count):
                kind = kinds[int(rng.integers(len(kinds)))]
                fault = next(drawn_faults(trunk, kind, rng, free), None)
                if fault is None or any(fault.at_step == other.at_step for other in faults):
                    continue
                error = try_fault(trunk, fault, effort)
                if error is not None and error.reachable:
                    faults.append(fault)
                    errors.append(error)
                    free = [step for step in free if step != fault.at_step]
                if len(faults) == count:
                    break
            if len(faults) < count:
                return None
            order = sorted(range(count), key=lambda i, faults=faults: faults[i].at_step)  # type: ignore[misc]
            found.append(([faults[i] for i in order], [errors[i] for i in order]))
        return found


@dataclass(frozen=True)
class IrreversibleFailures(HouseholdDataset):
    """Failures after which the goal can no longer be reached (even numbers), and harmless look-alikes (odd ones)."""

    name: str = "H3"
    episodes: int = 300
    per_kitchen: int = 2
    tasks: tuple[str, ...] = ("T2", "T3", "T4", "T5", "T6", "T7", "T9", "T10")

    def draw(self, trunk: Trunk, kitchen: int, rng: np.random.Generator, effort: Effort) -> Episodes | None:
        """The look-alike is of the same kind if the kitchen offers that, otherwise of another one."""
        kinds = [kind for kind in FAULTS.values() if kind.fault_class is FaultClass.IRREVERSIBLE] + [FAULTS["dropped"]]
        steps = range(len(trunk.spec.plan))
        faults = [
            fault for i in rng.permutation(len(kinds)) for fault in drawn_faults(trunk, kinds[int(i)], rng, steps)
        ]
        needed = {term for condition in goal_of(trunk.spec) for term in condition[1:]}
        tried: dict[Fault, HouseholdError | None] = {}

        def first(reachable: bool, ordered: Iterable[Fault]) -> Failed | None:
            for fault in ordered:
                if fault not in tried:
                    if len(tried) == _SPOILING_TRIES:
                        continue
                    tried[fault] = try_fault(trunk, fault, effort)
                error = tried[fault]
                if error is not None and error.reachable is reachable:
                    return (fault,), (error,)
            return None

        def relevant(fault: Fault) -> bool:
            return bool(fault.touched(trunk.spec.plan[fault.at_step]) & needed)

        lost = first(False, (fault for fault in faults if relevant(fault)))
        if lost is None:
            return None
        kind = lost[0][0].kind
        harmless = first(True, sorted(faults, key=lambda fault: (fault.kind != kind, relevant(fault))))
        return None if harmless is None else [lost, harmless]


@dataclass(frozen=True)
class SavableFailures(HouseholdDataset):
    """Failures after which the goal is within reach, and lost for good if the robot goes on with its plan.

    Only who notices in time saves the goal, as in the irreversible failures of Yu et al., "Scene graph-guided proactive
    replanning". Of ours, that is another liquid in the vessel with which the plant is watered.
    """

    name: str = "H5"
    episodes: int = 200
    per_kitchen: int = 2
    tasks: tuple[str, ...] = ("T7",)

    def draw(self, trunk: Trunk, kitchen: int, rng: np.random.Generator, effort: Effort) -> Episodes | None:
        """One before the first action and one later, or two of one kind if the kitchen offers only that."""
        found = dict[Fault, HouseholdError]()
        for kind in (FAULTS["filled_at_start"], FAULTS["wrong_liquid"]) * 2:
            for fault in drawn_faults(trunk, kind, rng, range(len(trunk.spec.plan))):
                if fault in found:
                    continue
                error, struck = _tried(trunk, fault, effort)
                rest = fault.altered(trunk.spec.plan).actions[max(fault.at_step, START) + 1 :]
                involved = fault.touched(trunk.spec.plan[max(fault.at_step, 0)])
                if error is not None and error.reachable and loses(trunk.spec, struck.after, rest, involved):
                    found[fault] = error
                    break
            if len(found) == self.per_kitchen:
                return [((fault,), (error,)) for fault, error in found.items()]
        return None


def loses(spec: TaskSpec, now: Snapshot, actions: Sequence[Action], involved: Iterable[str]) -> bool:
    """Whether actions make a goal unreachable that is within reach now."""
    ahead = outlook(replace(spec.home, domain=LASTING), now.facts, actions, goal_of(spec))
    held = next((fact[1] for fact in sorted(ahead.states[-1]) if fact[0] == "holding"), "")
    then = replace(now, facts=ahead.states[-1], held=held)
    return bool(ahead.missed) and reachable(spec, then, tuple(involved)) is False


@dataclass(frozen=True)
class NoFailures(HouseholdDataset):
    """Nothing is injected; what fails, fails by itself."""

    name: str = "H4"
    episodes: int = 200
    per_kitchen: int = 1

    def draw(self, trunk: Trunk, kitchen: int, rng: np.random.Generator, effort: Effort) -> Episodes | None:
        """Every kitchen."""
        return [((), tuple(trunk.natural_errors()))]


@dataclass(frozen=True)
class IrreversibleCases(HouseholdDataset):
    """The ten cases of table A2 of Yu et al., "Scene graph-guided proactive replanning", in turn.

    What they inject is there before the first action, or an action of the plan that spoils what the task needs. A goal
    counts as saved if it holds in the end.
    """

    name: str = "A2"
    episodes: int = 200
    per_kitchen: int = 1
    tasks: tuple[str, ...] = tuple(task for task, _ in CASES)

    def draw(self, trunk: Trunk, kitchen: int, rng: np.random.Generator, effort: Effort) -> Episodes | None:
        """The case of the kitchen, if the goal is within reach and the failure shows, or the plan loses the goal."""
        spec, start = trunk.spec, trunk.snapshots[0]
        fault = CASES[kitchen % len(CASES)][1](spec)
        if fault.fault_class is FaultClass.PLANNING:
            lost = loses(spec, start, fault.altered(spec.plan).actions, spec.task.things)
            return [((fault,), ())] if lost else None
        error = try_fault(trunk, fault, effort)
        return [((fault,), (error,))] if error is not None and error.reachable else None


HOUSEHOLD_DATASETS: Mapping[str, HouseholdDataset] = {
    dataset.name: dataset
    for dataset in (
        SingleFailures(),
        SeveralFailures(),
        IrreversibleFailures(),
        NoFailures(),
        SavableFailures(),
        IrreversibleCases(),
    )
}
"""Every error dataset of the kitchen by its name."""
