"""Crops and true states of household episodes in layouts that no training sees, on disk."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nsrecover.errors import InvalidConfiguration
from nsrecover.perception.states import StateCrops, state_crops, state_masks
from nsrecover.util.atomic_write import atomic_write
from sim.kitchen.demonstrations import with_varied_states
from sim.kitchen.scenes import HELD_OUT_LAYOUTS
from sim.kitchen.task_list import TASKS
from sim.kitchen.tasks import TaskSpec, draw_task
from sim.kitchen.truth import true_state
from sim.kitchen.world import KitchenWorld
from train.state_labels import shown_in, values_of, visible_variables

CROP = 48


@dataclass(frozen=True, eq=False)
class Frame:
    """One observation.

    Attributes:
        episode: number of the episode.
        crops: of the objects in it.
        truth: name -> variable -> value, from the simulator.
    """

    episode: int
    crops: StateCrops
    truth: dict[str, dict[str, str]]


def specify(seed: int, episode: int, varied: float) -> TaskSpec | None:
    """A task in a layout that is held out; None if it cannot be done in the drawn kitchen."""
    rng = np.random.default_rng([seed, episode, 25])
    task, layout = str(rng.choice(list(TASKS))), int(rng.choice(HELD_OUT_LAYOUTS))
    try:
        spec = draw_task(task, int(rng.integers(2**31)), layout)
    except InvalidConfiguration:
        return None
    return with_varied_states(spec, varied, rng)


def film(episode: int, seed: int, varied: float, folder: str) -> Path:
    """Carry out one episode and keep its crops and true states; a file that is there already is not made again.

    An episode ends early if an action fails: what is true is known all the same.
    """
    path = Path(folder) / f"{seed}_{varied:g}_{episode:05d}.npz"
    if path.exists():
        return path
    spec = specify(seed, episode, varied)
    frames: list[Frame] = []
    if spec is not None:
        with KitchenWorld(spec.kitchen) as world:
            frames.append(_frame(world, episode))
            for action in spec.plan:
                world.execute(action)
                frames.append(_frame(world, episode))
                if world.failures[-1]:
                    break
    arrays: dict[str, Any] = {}
    for number, frame in enumerate(frames):
        for name in ("images", "owners", "elevation_rad", "pixels", "geometry"):
            arrays[f"{number}_{name}"] = getattr(frame.crops, name)
    about = [{"names": frame.crops.names, "truth": frame.truth} for frame in frames]
    with atomic_write(path) as file:
        np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)
    return path


def frames_in(path: Path) -> Iterator[Frame]:
    """The frames of an episode that was kept."""
    episode = int(path.stem.rsplit("_", 1)[1])
    with np.load(path) as stored:
        for number, each in enumerate(json.loads(str(stored["about"]))):
            own: dict[str, npt.NDArray[Any]] = {
                name: stored[f"{number}_{name}"] for name in ("images", "owners", "elevation_rad", "pixels", "geometry")
            }
            yield Frame(episode, StateCrops(tuple(each["names"]), **own), each["truth"])


def _frame(world: KitchenWorld, episode: int) -> Frame:
    observation = world.observe()
    truth = values_of(true_state(world.cell), shown_in(observation), visible_variables().values())
    masks = state_masks(observation, truth)
    return Frame(episode, state_crops(observation, masks, CROP), truth)
