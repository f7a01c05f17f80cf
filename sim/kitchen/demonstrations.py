"""Successful demonstrations of household tasks: carried out without faults and judged by the true state."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from nsrecover.core.observation import Observation
from nsrecover.domains.household.kinds import LIQUIDS, Trait, traits_of
from nsrecover.errors import InvalidConfiguration
from nsrecover.records.recording import Recording
from sim.common.cameras import CameraRig
from sim.common.demonstrations import EpisodeOutcome, kept
from sim.common.journal import Journal
from sim.kitchen.cameras import MAST_RIG
from sim.kitchen.performing import carry_out_one, unmet
from sim.kitchen.scenes import HELD_OUT_LAYOUTS, TRAINING_LAYOUTS
from sim.kitchen.sounding import microphone_in
from sim.kitchen.task_list import TASKS, task_of
from sim.kitchen.tasks import TaskSpec, draw_task
from sim.kitchen.truth import FILLED_L
from sim.kitchen.world import KitchenWorld
from sim.sensors.sensor import EXACT, Sensor, SensorStream


@dataclass(frozen=True)
class KitchenMix:
    """The distribution of episodes; all entries of a list are equally likely, so repeat one to draw it more often.

    Attributes:
        tasks: names or codes of tasks, see `sim.kitchen.tasks`.
        layouts: numbers of layouts; None: all that are not held out from training.
        rig: the cameras, in the frame of the base.
        microphone: whether the robot has a microphone on its mast; its noise differs between episodes.
        varied: share of the vessels that the plan does not touch that are filled at the start, and of those that are
            dirty; for training that is to know contents and stains which no task needs.
        sensor: errors of the images; from `for_demonstrations`.
    """

    tasks: tuple[str, ...] = tuple(TASKS)
    layouts: tuple[int, ...] | None = None
    rig: CameraRig = MAST_RIG
    microphone: bool = False
    varied: float = 0.0
    sensor: Sensor = EXACT

    def __post_init__(self) -> None:
        if not self.tasks:
            raise InvalidConfiguration("expected at least one household task, found none")
        object.__setattr__(self, "tasks", tuple(task_of(name).name for name in self.tasks))
        chosen = TRAINING_LAYOUTS if self.layouts is None else self.layouts
        for number in chosen or (-1,):
            if number not in TRAINING_LAYOUTS:
                raise InvalidConfiguration(
                    f"expected layouts for training ({', '.join(map(str, TRAINING_LAYOUTS))}), found {number}; layouts "
                    f"{', '.join(map(str, HELD_OUT_LAYOUTS))} are held out"
                )
        object.__setattr__(self, "layouts", chosen)
        if not 0 <= self.varied <= 1:
            raise InvalidConfiguration(f"expected varied as a share from 0 to 1, found {self.varied}")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: everything that decides the episode of a seed and number."""
        data = vars(self) | {"domain": "household", "rig": asdict(self.rig), "sensor": self.sensor.to_dict()}
        plain: dict[str, Any] = json.loads(json.dumps(data))
        for name, usual in (("microphone", False), ("varied", 0.0), ("sensor", EXACT.to_dict())):
            if plain[name] == usual:
                del plain[name]  # so that collections from before there was a choice can be continued
        return plain


def specify(mix: KitchenMix, seed: int, episode: int) -> TaskSpec:
    """A random episode that depends on the arguments only.

    Raises:
        InvalidConfiguration: the drawn task cannot be done in the drawn layout.
    """
    rng = np.random.default_rng([seed, episode, 24])
    assert mix.layouts is not None, "the layouts are filled in"
    spec = draw_task(str(rng.choice(mix.tasks)), int(rng.integers(2**31)), int(rng.choice(mix.layouts)))
    return with_varied_states(spec, mix.varied, rng) if mix.varied else spec


def with_varied_states(spec: TaskSpec, share: float, rng: np.random.Generator) -> TaskSpec:
    """A task in the same kitchen, where some of the vessels that its plan does not touch are filled or dirty."""
    used = {name for action in spec.plan for name in action.arguments} | {name for fact in spec.goal for name in fact}
    things = []
    for thing in spec.kitchen.things:
        capacity, state = thing.kind.capacity_l, thing.state
        if capacity > 0 and thing.name not in used:
            state = replace(state, dirty=bool(rng.uniform() < share))
            if rng.uniform() < share and Trait.VESSEL in traits_of(thing.name):
                volume = max(1.5 * FILLED_L, float(rng.uniform(0.4, 0.8)) * capacity)
                if volume <= capacity:
                    state = replace(state, liquid=str(rng.choice(LIQUIDS)), volume_l=volume)
        things.append(replace(thing, state=state))
    return replace(spec, kitchen=replace(spec.kitchen, things=tuple(things)))


def perform(
    mix: KitchenMix, seed: int, episode: int, journal: Journal | None = None
) -> tuple[EpisodeOutcome, Recording | None]:
    """Carry out one episode; it is kept if after every action what the domain expects is true, and nothing else.

    Args:
        mix: distribution of episodes.
        seed: of the collection.
        episode: number of the episode.
        journal: stores observations as they are made. Observations in it are not rendered again, but the robot repeats
            all actions: the simulation is deterministic, and the journal checks the states.

    Returns:
        Its result, and the recording if it is kept.
    """
    try:
        spec = specify(mix, seed, episode)
    except InvalidConfiguration as problem:
        return EpisodeOutcome(episode, "", 0, "no_plan", str(problem)), None
    name, count = spec.task.name, len(spec.kitchen.things)
    states = spec.expected()
    microphone = microphone_in(spec.kitchen, seed=spec.seed) if mix.microphone else None
    stream = mix.sensor.stream(len(mix.rig.views), spec.seed)
    with KitchenWorld(spec.kitchen, mix.rig, microphone=microphone) as world:
        observations = [_observe(world, stream, journal, 0)]
        for number, action in enumerate(spec.plan, start=1):
            if journal is not None:
                journal.begin(number)
            outcome = carry_out_one(world, action, states[number])
            if outcome.reason:
                reason = "skill_failed" if outcome.failure else "not_as_expected"
                return EpisodeOutcome(episode, name, 0, reason, f"{action}: {outcome.reason}", count), None
            observations.append(_observe(world, stream, journal, number))
        missing = unmet(outcome.truth, spec)
    if missing:
        detail = ", ".join(" ".join(fact) for fact in missing)
        return EpisodeOutcome(episode, name, 0, "goal_missed", detail, count), None
    notes = {
        "domain": "household",
        "seed": seed,
        "episode": episode,
        "task": name,
        "task_seed": spec.seed,
        "layout": spec.kitchen.layout,
        "goal": [list(fact) for fact in spec.goal],
        "start": sorted(list(fact) for fact in spec.start),
        **mix.sensor.notes(),
    }
    return kept(EpisodeOutcome(episode, name, len(spec.plan), objects=count), spec.plan, observations, notes)


def _observe(world: KitchenWorld, stream: SensorStream, journal: Journal | None, index: int) -> Observation:
    """An observation from the journal, or else from the cameras."""
    if journal is None:
        return stream.observe(world.observe_from)
    state = _state(world)
    observation = journal.recall(index, state)
    if observation is None:
        observation = stream.observe(world.observe_from)
        journal.keep(index, state, observation)
    else:
        stream.count += 1  # the errors of each observation follow from its number
        world.cell.visuals.update(world.cell.states)  # so that what is rendered later is shown in the same way
        if world.hearing is not None:
            world.hearing.listen()  # so that the next recording begins here
    return observation


def _state(world: KitchenWorld) -> str:
    """Hash of the exact poses and states of everything."""
    found = hashlib.sha256(f"{world.cell.time_s!r} {sorted(world.cell.states.items())!r}".encode())
    for name in world.cell.things:
        position, rotation = world.cell.pose(name)
        found.update(position.tobytes() + rotation.tobytes())
    return found.hexdigest()
