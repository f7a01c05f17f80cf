"""Successful demonstrations: sampled episodes, carried out without faults and judged by the ground truth."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from nsrecover.core import Action, Observation, Plan
from nsrecover.domains.tabletop.operators import operator_of
from nsrecover.errors import InvalidConfiguration, require_known
from nsrecover.records.recording import Recording
from sim.common.cameras import DEFAULT_RIG, CameraRig
from sim.common.demonstrations import EpisodeOutcome, kept
from sim.common.journal import Journal
from sim.sensors.sensor import EXACT, Sensor
from sim.sensors.world import SensedWorld
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.placing import place_for, true_graph
from sim.tabletop.poses import PoseEstimates
from sim.tabletop.sampling import Structure, sample_plan, sample_scene
from sim.tabletop.scene_mix import DEFAULT_MIX, MOST, SceneMix
from sim.tabletop.scenes import SceneSpec
from sim.tabletop.world import SavedWorld, TabletopWorld

PLACED_M = 0.02
"""A moved object counts as placed within this distance of its goal."""
DISTURBED_M = 0.01
"""Another object that moved farther than this counts as disturbed."""

LOOKS_AT_START = 3
"""Greatest number of first observations; the first one that shows every object of the plan is kept."""


@dataclass(frozen=True)
class DemonstrationMix:
    """The distribution of episodes; all entries of a list are equally likely, so repeat one to draw it more often.

    Attributes:
        objects: numbers of objects; those of the scene mix if None.
        lengths: numbers of actions.
        structures: structures that the plans build, see `sim.tabletop.sampling.Structure`.
        vary_light: whether every episode has its own light, if the scene mix has a distribution of lights.
        scene: distribution of scenes.
        rig: the cameras, and the light if it does not vary.
        fidelity: whether the arm does everything, or objects are carried without one.
        sensor: errors of the images; from `for_demonstrations`.
    """

    objects: tuple[int, ...] | None = None
    lengths: tuple[int, ...] = (2, 3, 4, 4, 5, 6)
    structures: tuple[str, ...] = tuple(str(structure) for structure in Structure)
    vary_light: bool = True
    scene: SceneMix = DEFAULT_MIX
    rig: CameraRig = DEFAULT_RIG
    fidelity: str = "physics"
    sensor: Sensor = EXACT

    def __post_init__(self) -> None:
        counts = self.counts
        object.__setattr__(self, "objects", counts)
        if not counts or not all(2 <= count <= MOST for count in counts):
            raise InvalidConfiguration(f"expected objects as numbers from 2 to {MOST}, found {list(counts)}")
        if not self.lengths or not all(1 <= length <= 8 for length in self.lengths):
            raise InvalidConfiguration(f"expected lengths as numbers from 1 to 8, found {list(self.lengths)}")
        known = [str(structure) for structure in Structure]
        for name in self.structures or ("",):
            require_known(name, known, "structures of the known kinds")
        fidelities = [str(fidelity) for fidelity in Fidelity]
        require_known(self.fidelity, fidelities, "a fidelity")

    @property
    def counts(self) -> tuple[int, ...]:
        """Numbers of objects to draw from."""
        return self.scene.counts if self.objects is None else self.objects

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: everything that decides the episode of a seed and number."""
        data = vars(self) | {"scene": self.scene.to_dict(), "rig": asdict(self.rig), "sensor": self.sensor.to_dict()}
        if self.sensor.exact:  # collections without errors do not depend on what sensors can do
            del data["sensor"]
        plain: dict[str, Any] = json.loads(json.dumps(data))
        return plain


@dataclass(frozen=True)
class DemonstrationSpec:
    """An episode before it is carried out.

    Attributes:
        scene: its start.
        plan: its actions.
        structure: the structure that the plan builds.
        rig: the cameras and the light.
    """

    scene: SceneSpec
    plan: Plan
    structure: Structure
    rig: CameraRig


def for_demonstrations(sensor: Sensor) -> Sensor:
    """The sensor for demonstrations: as it is, but every object has one number in all images.

    Training follows objects by these numbers; they are the ground truth of a demonstration.

    Raises:
        InvalidConfiguration: something happens to its cameras, which would give objects the numbers of others.
    """
    if sensor.events:
        raise InvalidConfiguration(
            f"expected a sensor without events for demonstrations, found {', '.join(e.kind for e in sensor.events)}; "
            "use events in python -m eval.sensing"
        )
    masks = replace(sensor.masks, merged=0.0, split=0.0, phantoms=0.0, ids_per_view=False)
    return replace(sensor, masks=masks)


def specify(mix: DemonstrationMix, seed: int, episode: int) -> DemonstrationSpec:
    """A random episode that depends on the arguments only.

    Raises:
        InvalidConfiguration: no plan of the drawn length was found for the drawn scene.
    """
    rng = np.random.default_rng([seed, episode])
    structure = Structure(str(rng.choice(mix.structures)))
    scene = sample_scene(rng, int(rng.choice(mix.counts)), mix.scene, seed=episode)
    plan = sample_plan(rng, scene, structure, int(rng.choice(mix.lengths)))
    rig = mix.rig
    if mix.vary_light and mix.scene.light is not None:
        rig = replace(rig, light=mix.scene.light.sample(rng))
    return DemonstrationSpec(scene, plan, structure, rig)


def perform(
    mix: DemonstrationMix, seed: int, episode: int, journal: Journal | None = None
) -> tuple[EpisodeOutcome, Recording | None]:
    """Carry out one episode; it is kept if every action has the effect that its operator promises.

    Args:
        mix: distribution of episodes.
        seed: of the collection.
        episode: number of the episode.
        journal: stores observations as they are made. Observations in it are not rendered again, but the arm repeats
            all actions: the simulation is deterministic, and the journal checks the states.

    Returns:
        Its result, and the recording if it is kept.
    """
    try:
        spec = specify(mix, seed, episode)
    except InvalidConfiguration as problem:
        return EpisodeOutcome(episode, "", 0, "no_plan", str(problem)), None
    count = len(spec.scene.objects)
    stream = mix.sensor.stream(len(spec.rig.views), _sensor_seed(seed, episode))
    with TabletopWorld(spec.scene, rig=spec.rig, seed=episode, fidelity=Fidelity(mix.fidelity)) as world:
        sensed = SensedWorld(world, stream)
        observations = [_observe(world, sensed, spec.plan, journal, 0)]
        unseen = _unseen(spec.plan, observations[0])
        if unseen and not mix.sensor.exact:
            return EpisodeOutcome(episode, spec.structure, 0, "unseen", f"no mask of {unseen[0]}", objects=count), None
        for number, action in enumerate(spec.plan, start=1):
            if journal is not None:
                journal.begin(number)
            before = world.estimates()
            world.execute(action)
            wrong = action_failure(action, before, world.estimates())
            if wrong is not None:
                return EpisodeOutcome(episode, spec.structure, 0, *wrong, objects=count), None
            observations.append(_observe(world, sensed, spec.plan, journal, number))
    notes = {
        "seed": seed,
        "episode": episode,
        "structure": str(spec.structure),
        "scene": spec.scene.to_dict(),
        "light": asdict(spec.rig.light),
        "fidelity": mix.fidelity,
        **mix.sensor.notes(),
    }
    outcome = EpisodeOutcome(episode, spec.structure, len(spec.plan), objects=count)
    return kept(outcome, spec.plan, observations, notes)


def _observe(
    world: TabletopWorld, sensed: SensedWorld[SavedWorld], plan: Plan, journal: Journal | None, index: int
) -> Observation:
    """An observation from the journal, or else from the cameras."""
    state = "" if journal is None else _state(world)
    observation = None if journal is None else journal.recall(index, state)
    if observation is None:
        # the errors of an observation depend on its number alone, not on those that the journal has
        sensed.stream.count = index * LOOKS_AT_START
        observation = sensed.observe()
        for _ in range(LOOKS_AT_START - 1):
            if index or sensed.stream.sensor.exact or not _unseen(plan, observation):
                break
            observation = sensed.observe()
        if journal is not None:
            journal.keep(index, state, observation)
    return observation


def _unseen(plan: Plan, observation: Observation) -> list[str]:
    """Objects of a plan without a mask in an observation."""
    names = {name for action in plan for name in action.arguments}
    return sorted(names - set(observation.labels.values()))


def _sensor_seed(seed: int, episode: int) -> int:
    """Seed of the sensor in an episode, independent of the generators of its scene and its faults."""
    return int(np.random.SeedSequence([seed, episode], spawn_key=(1,)).generate_state(1)[0])


def _state(world: TabletopWorld) -> str:
    """Hash of the exact poses of all objects."""
    estimates = world.estimates()
    found = hashlib.sha256(f"{estimates.names} {world.time_s!r}".encode())
    found.update(estimates.positions.tobytes() + estimates.orientations.tobytes())
    return found.hexdigest()


def action_failure(action: Action, before: PoseEstimates, after: PoseEstimates) -> tuple[str, str] | None:
    """Why an action failed: it must have the effect that its operator promises, and no other.

    Args:
        action: the action.
        before: the true poses before it.
        after: the true poses after it.

    Returns:
        None if it succeeded; otherwise a reason (`lost`, `not_achieved`, `off_target`, `disturbed`) and a detail.
    """
    gone = sorted(set(before.names) - set(after.names))
    if gone:
        return "lost", f"{action}: the {gone[0]} fell off the table"
    if not operator_of(action).achieved(true_graph(before), true_graph(after), action):
        return "not_achieved", f"{action}: the promised relation does not hold"
    moved = after.index(action.arguments[0])
    place = place_for(action, before)
    if place is not None:
        error = float(np.linalg.norm(after.positions[moved] - place[0]))
        if error > PLACED_M:
            return "off_target", f"{action}: {1000 * error:.0f} mm off"
    shifts = np.linalg.norm(after.positions - before.positions, axis=1)
    shifts[moved] = 0.0
    if shifts.max() > DISTURBED_M:
        other = after.names[int(shifts.argmax())]
        return "disturbed", f"{action}: the {other} moved by {1000 * shifts.max():.0f} mm"
    return None
