"""The error datasets of the tabletop: each defines an episode for every number."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from nsrecover.core.actions import Action, Plan
from nsrecover.errors import InvalidConfiguration
from sim.datasets.crowded import CrowdedTables
from sim.datasets.drawing import carry_out, injected, undisturbed
from sim.datasets.inject import BY_ROBOT
from sim.datasets.long import LongPlans
from sim.datasets.replay import ideal_states, replay, step_error
from sim.datasets.spec import ErrorEpisode
from sim.tabletop.faults import Displaced, Fault, Moment, OutOfReach, Removed
from sim.tabletop.imprecision import Imprecision
from sim.tabletop.placing import boxes
from sim.tabletop.poses import PoseEstimates
from sim.tabletop.sampling import RISKY, Structure, sample_plan, sample_scene
from sim.tabletop.scene_mix import DEFAULT_MIX, SceneMix
from sim.tabletop.scenes import SceneSpec
from sim.tabletop.world import TabletopWorld

REDRAWS = 200
"""Maximum number of draws for an episode."""


@dataclass(frozen=True)
class Drawn:
    """A generated episode and its effort.

    Attributes:
        episode: the episode.
        redrawn: number of scenes that were rejected before.
        tried: number of faults that were tried in its scene.
    """

    episode: ErrorEpisode
    redrawn: int
    tried: int


class ErrorDataset(Protocol):
    """A definition of episodes."""

    @property
    def name(self) -> str:
        """Name in commands."""
        ...

    @property
    def episodes(self) -> int:
        """Default number of episodes."""
        ...

    @property
    def mix(self) -> SceneMix:
        """Distribution of its scenes."""
        ...

    def draw(self, rng: np.random.Generator, number: int) -> tuple[ErrorEpisode, int] | None:
        """A random episode and the number of faults that were tried; None if this draw does not give an episode."""
        ...


def generate(dataset: ErrorDataset, seed: int, number: int) -> Drawn:
    """An episode of a dataset, which depends on the arguments only.

    Args:
        dataset: its dataset.
        seed: of the dataset.
        number: of the episode.

    Raises:
        InvalidConfiguration: no such episode was found in `REDRAWS` tries.
    """
    for redrawn in range(REDRAWS):
        rng = np.random.default_rng([seed, *dataset.name.encode(), number, redrawn])
        try:
            drawn = dataset.draw(rng, number)
        except InvalidConfiguration:  # no plan in this scene
            continue
        if drawn is not None:
            return Drawn(drawn[0], redrawn, drawn[1])
    raise InvalidConfiguration(
        f"expected an episode {number} of dataset {dataset.name} with seed {seed}, found none in {REDRAWS} tries; "
        "use another seed"
    )


@dataclass(frozen=True)
class InjectedErrors:
    """Faults at one step or at every step (Kalithasan et al., Table I).

    Attributes:
        name: of the dataset.
        episodes: default number.
        objects: numbers of objects, equally often.
        lengths: numbers of actions, equally often.
        errors: numbers of faults at a step, equally often.
        often: kind of fault -> how often it is drawn, so that all kinds show equally often.
        every_step: whether something goes wrong at every step, and not at one of them. At a single step the first fault
            acts through the robot, each kind of `BY_ROBOT` in turn.
        in_place: see `ErrorEpisode.drawn_in_place`.
        mix: distribution of scenes.
    """

    name: str
    episodes: int
    objects: tuple[int, ...]
    lengths: tuple[int, ...]
    errors: tuple[int, ...]
    often: Mapping[str, float]
    every_step: bool = False
    in_place: bool = False
    mix: SceneMix = DEFAULT_MIX

    def draw(self, rng: np.random.Generator, number: int) -> tuple[ErrorEpisode, int] | None:
        """A scene, a plan that succeeds without faults, and faults with an effect."""
        # sizes follow from the number, so that rejected draws do not make hard episodes rarer
        length = self.lengths[number % len(self.lengths)]
        cell = number % (len(self.errors) * len(BY_ROBOT))
        count = self.errors[cell // len(BY_ROBOT)]
        first = None if self.every_step else self._first_kind(cell)
        # a collision needs a tower, and leaves few objects for further faults
        structure = Structure.TOWER if first == BY_ROBOT[0] else Structure(str(rng.choice(list(Structure))))
        scene = sample_scene(rng, int(rng.choice(self.objects)), self.mix, number)
        plan = sample_plan(rng, scene, structure, length)
        lowest = min(2, length - 1) if first == BY_ROBOT[0] else 0
        steps = set(range(length)) if self.every_step else {int(rng.integers(lowest, length))}
        episode = undisturbed(self.name, number, scene, plan, self.mix, rng)
        return injected(replace(episode, drawn_in_place=self.in_place), steps, count, rng, _shares(self.often), first)

    def _first_kind(self, cell: int) -> str:
        """Kind of the first fault: collisions where there are fewest faults, the others in turn."""
        return BY_ROBOT[0] if cell < len(self.errors) else BY_ROBOT[1 + cell % (len(BY_ROBOT) - 1)]


def _shares(often: Mapping[str, float]) -> Mapping[str, float]:
    """Shares that sum to one."""
    total = sum(often.values())
    return {kind: weight / total for kind, weight in often.items()}


@dataclass(frozen=True)
class NaturalErrors:
    """Episodes without faults in which an imprecise arm errs: in tall towers, tight gaps and clutter.

    Attributes:
        name: of the dataset.
        episodes: default number.
        objects: numbers of objects, equally often.
        lengths: numbers of actions, equally often.
        mix: distribution of scenes.
        imprecision: of the arm.
    """

    name: str
    episodes: int
    objects: tuple[int, ...]
    lengths: tuple[int, ...]
    mix: SceneMix
    imprecision: Imprecision

    def draw(self, rng: np.random.Generator, number: int) -> tuple[ErrorEpisode, int] | None:
        """A scene and a plan that an ideal executor can carry out; the arm may fail."""
        scene = sample_scene(rng, int(rng.choice(self.objects)), self.mix, number)
        scene = replace(scene, imprecision=self.imprecision)
        structure = Structure(str(rng.choice([Structure.TOWER, Structure.MIXED])))
        plan = sample_plan(rng, scene, structure, int(rng.choice(self.lengths)), _DARING)
        episode = undisturbed(self.name, number, scene, plan, self.mix, rng)
        if not _holds(episode):
            return None
        errors = tuple(step.error for step in replay(episode) if step.error is not None)
        return replace(episode, errors=errors), 0


@dataclass(frozen=True)
class Unrecoverable:
    """Unrecoverable episodes (even numbers) and similar recoverable ones (odd numbers).

    Attributes:
        name: of the dataset.
        episodes: default number.
        objects: numbers of objects, equally often.
        length: number of actions.
        mix: distribution of scenes.
    """

    name: str
    episodes: int
    objects: tuple[int, ...]
    length: int = 5
    mix: SceneMix = DEFAULT_MIX

    def draw(self, rng: np.random.Generator, number: int) -> tuple[ErrorEpisode, int] | None:
        """The plan's object is removed or put out of reach; in recoverable ones it is put far away, but in reach."""
        reason = _REASONS[number // 2 % len(_REASONS)]
        recoverable = number % 2 == 1
        scene, plan = _scene_and_plan(rng, number, int(rng.choice(self.objects)), self.length, self.mix)
        step = int(rng.integers(self.length - 1))
        episode = undisturbed(self.name, number, scene, plan, self.mix, rng)
        with TabletopWorld(scene, plan=plan, seed=episode.seed) as world:
            if not all(carry_out(world, plan, done) for done in range(step)):
                return None
            moment = carry_out(world, plan, step)
            if moment is None:
                return None
            fault_free = world.truth()
            name = _needed(moment, reason, rng)
            if name is None:
                return None
            fault = _moved_off(moment, name, rng) if recoverable else _lost(moment, name, reason, rng)
            if fault is None:
                return None
            fault.after(world.fault_context, plan[step])
            error = step_error(step, plan[step], (fault,), world.truth(), fault_free)
            if error is None or set(error.deviations) != {name}:
                return None
            # the arm itself decides whether the error can be undone
            box = boxes(moment.after)[moment.after.index(name)]
            world.execute(Action("restore", (name,), tuple(float(value) for value in box)))  # type: ignore[arg-type]
            if recoverable != (step_error(step, plan[step], (fault,), world.truth(), fault_free) is None):
                return None
        return (
            replace(
                episode, faults=(fault,), errors=(error,), recoverable=recoverable, reason="" if recoverable else reason
            ),
            1,
        )


_CROWDED = replace(DEFAULT_MIX, gap_m=0.008, cube_m=(0.034, 0.046), die_m=(0.030, 0.040))
"""Small objects with gaps too narrow for an open finger."""
_DARING = replace(RISKY, hand_room=False, widest=3.0, max_height_m=0.5, clearance_m=0.0)
"""Margins that ignore the hand's room."""
_IMPRECISE = Imprecision(place_m=0.003, place_per_m=0.012, yaw_rad=0.015, force_n=3.0, force_spread=1.1)
"""About a third of the episodes has an error: 7 mm are usual on top of a tower of seven, one grip in fifty slips."""
_AFTERWARDS = {
    "unstack": 0.8, "displaced": 1.7, "push": 1.3, "swap": 4.8, "blocked_place": 2.5, "helping_person": 15.0
}  # fmt: skip
_AFTERWARDS_OF_MORE = {
    "unstack": 1.0, "displaced": 1.2, "push": 0.9, "swap": 1.7, "blocked_place": 2.5, "helping_person": 20.0
}  # fmt: skip
_ANY = {
    "misled": 10.5, "slip": 1.0, "drop": 1.0, "missed_grasp": 0.9, "offset_placement": 1.1, "wrong_support": 1.0,
    "unstack": 2.0, "displaced": 1.2, "push": 1.2, "swap": 1.15, "blocked_place": 2.2, "helping_person": 1.3
}  # fmt: skip
"""How often a kind is drawn: those that rarely fit are drawn more often, so that all kinds show about equally often."""
_REASONS = ("gone", "out_of_reach", "support_missing")
_FAR_M = (0.66, 0.75)
"""Distance from the robot's base in recoverable episodes: almost out of reach."""
_ROOM_M = 0.05
"""Room around an object that is put far away."""


def _scene_and_plan(
    rng: np.random.Generator, number: int, objects: int, length: int, mix: SceneMix
) -> tuple[SceneSpec, Plan]:
    scene = sample_scene(rng, objects, mix, number)
    return scene, sample_plan(rng, scene, Structure(str(rng.choice(list(Structure)))), length)


def _holds(episode: ErrorEpisode) -> bool:
    """Whether a plan succeeds when an ideal executor carries it out."""
    truths = ideal_states(episode)
    return all(
        truth.supports[action.arguments[0]] == action.arguments[1]
        for action, truth in zip(episode.plan, truths, strict=True)
        if action.operator == "top"
    ) and all(truth.present.all() for truth in truths)


def _needed(moment: Moment, reason: str, rng: np.random.Generator) -> str | None:
    """A random object that the rest of the plan needs and that nothing stands on.

    With the reason `support_missing`, a later action stacks something on it.
    """
    rest = moment.plan.actions[moment.step + 1 :]
    graph_names = _clear(moment.after)
    if reason == "support_missing":
        names = {action.arguments[1] for action in rest if action.operator == "top"}
    else:
        names = {action.arguments[0] for action in rest}
    names -= {moment.action.arguments[0]}
    choices = sorted(names & graph_names)
    return choices[int(rng.integers(len(choices)))] if choices else None


def _clear(estimates: PoseEstimates) -> set[str]:
    """Objects with nothing on them."""
    every = boxes(estimates)
    tops = every[:, 2] + every[:, 5] / 2
    bottoms = every[:, 2] - every[:, 5] / 2
    clear = set()
    for i, name in enumerate(estimates.names):
        beside = np.abs(every[:, :2] - every[i, :2]) > (every[:, 3:5] + every[i, 3:5]) / 2
        on_top = ~beside.any(axis=1) & (bottoms > tops[i] - 0.01)
        if not on_top.any():
            clear.add(name)
    return clear


def _lost(moment: Moment, name: str, reason: str, rng: np.random.Generator) -> Fault | None:
    others = frozenset(moment.after.names) - {name}
    kinds: Sequence[type[Fault]] = (Removed,) if reason == "gone" else (OutOfReach,)
    if reason == "support_missing":
        kinds = (Removed, OutOfReach)
    return kinds[int(rng.integers(len(kinds)))].sample(replace(moment, taken=others), rng)


def _moved_off(moment: Moment, name: str, rng: np.random.Generator) -> Fault | None:
    """A fault that puts the object on an empty place at the edge of the arm's reach."""
    row = moment.after.index(name)
    here, others = moment.after.positions[row], np.delete(boxes(moment.after), row, axis=0)
    for _ in range(100):
        radius, angle = rng.uniform(*_FAR_M), rng.uniform(-0.45, 0.45)
        place = np.array([radius * math.cos(angle), radius * math.sin(angle)])
        gap = (np.abs(others[:, :2] - place) - (others[:, 3:5] + moment.after.sizes[row].max()) / 2).max(axis=1)
        if gap.min() > _ROOM_M and np.linalg.norm(place - here[:2]) > 0.1:
            offset = (round(float(place[0] - here[0]), 4), round(float(place[1] - here[1]), 4))
            return Displaced(moment.step, name, offset)
    return None


DATASETS: dict[str, ErrorDataset] = {
    dataset.name: dataset
    for dataset in (
        InjectedErrors("I", 750, (5,), (5,), errors=(1, 2, 3, 4, 5), often=_AFTERWARDS),
        InjectedErrors("II", 1300, (5,), (1, 2, 3, 4, 5, 6, 7, 8), (1,), _ANY, every_step=True, in_place=True),
        InjectedErrors("III", 200, (6, 7, 8, 9, 10), (5,), errors=(2, 5, 5, 5, 5, 5), often=_AFTERWARDS_OF_MORE),
        NaturalErrors("IV", 200, objects=(10, 11, 12, 13, 14), lengths=(7, 8), mix=_CROWDED, imprecision=_IMPRECISE),
        Unrecoverable("V", 120, objects=(5, 6, 7)),
        CrowdedTables("VI", 60, objects=(8, 9, 10, 11, 12, 13, 14, 15), lengths=(2, 3)),
        LongPlans("X", 60, lengths=(20, 40)),
    )
}
"""Every error dataset by its name."""
