"""`python -m eval.states`: how well the states of household objects are read from images, in layouts held out."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from eval.common.statistics import Share, grouped, mean, share_of
from eval.common.tables import columns_table, document, markdown_table, percent_of
from eval.metrics import Metric, columns, share, summary, total
from eval.run import Measurement, Run, Settings, in_workers, run
from nsrecover.domains.household.names import noun
from nsrecover.errors import InvalidConfiguration
from nsrecover.models.states import SHIPPED, StateModel
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
    path = Path(folder) / f"{seed}_{varied:g}_{episode:05d}.joblib"
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
    with atomic_write(path) as file:
        joblib.dump(frames, file, compress=3)
    return path


def _frame(world: KitchenWorld, episode: int) -> Frame:
    observation = world.observe()
    truth = values_of(true_state(world.cell), shown_in(observation), visible_variables().values())
    masks = state_masks(observation, truth)
    return Frame(episode, state_crops(observation, masks, CROP), truth)


_BATCH = 4
"""Episodes that are carried out before the number of frames is looked at."""


@dataclass
class StatesConfig(Settings):
    """Measure how well the states of household objects are read from images, in layouts held out from training.

      python -m eval.states                                       250 observations; ten minutes on 2 cores
      python -m eval.states frames=40 seed=3                      a quick look
      python -m eval.states checkpoint=outputs/train/states       your own model

    Writes metrics.json and table.md to out=DIR.

    Attributes:
        seed: another seed gives other kitchens.
        frames: number of observations, of as many episodes as that takes, in the layouts that are held out.
        varied: share of the vessels that no action touches that are filled at the start, and of those that are dirty.
        checkpoint: folder of a state model; the shipped one if null.
        footage: folder for crops and true states of the episodes; can be deleted.
    """

    seed: int = 2026
    frames: int = 250
    varied: float = 0.6
    checkpoint: str | None = None
    footage: str = "data/footage/states"


@dataclass(frozen=True)
class Reading:
    """One variable of one visible object in one frame.

    Attributes:
        kind: of the object.
        variable: name.
        true: its value, from the simulator.
        read: the value that was read; None: unknown.
        best: the most probable value, even if it is unknown; None: not visible by geometry.
        probability: of `best`.
    """

    kind: str
    variable: str
    true: str
    read: str | None
    best: str | None
    probability: float


def check(config: StatesConfig) -> None:
    """Refuse a share that is none, and a model that cannot be loaded."""
    if not 0 <= config.varied <= 1:
        raise InvalidConfiguration(f"expected varied from 0 to 1, found {config.varied}")
    StateModel.load(config.checkpoint)


def measure(config: StatesConfig, run: Run) -> dict[str, Any]:
    """Read the states in every frame, and compare them with the simulator's."""
    model = StateModel.load(config.checkpoint)
    frames = _frames(config)
    readings: list[Reading] = []
    seconds = 0.0
    for frame in frames:
        began = time.perf_counter()
        found = model.read(frame.crops)
        seconds += time.perf_counter() - began
        readings += list(_readings(model, frame, found))
    variables = {
        variable: summary([r for r in readings if r.variable == variable], METRICS)
        for variable in model.config.variables
    }
    return {
        "seed": config.seed,
        "frames": len(frames),
        "episodes": len({frame.episode for frame in frames}),
        "layouts": list(HELD_OUT_LAYOUTS),
        "ms_per_frame": round(1000 * seconds / len(frames), 2),
        "variables": variables,
        "kinds_read": {name: list(kinds) for name, kinds in model.config.read.items()},
        "values_read": {name: list(values) for name, values in model.config.values.items()},
    }


def _frames(config: StatesConfig) -> list[Frame]:
    """As many frames as asked for, of as many episodes as that takes, in order."""
    Path(config.footage).mkdir(parents=True, exist_ok=True)
    task = partial(film, seed=config.seed, varied=config.varied, folder=config.footage)
    frames: list[Frame] = []
    for begin in itertools.count(0, _BATCH):
        numbers = range(begin, begin + _BATCH)
        for path in in_workers(task, numbers, config.workers, "episode", f"{len(frames)} of {config.frames} frames"):
            frames += joblib.load(path)
        if len(frames) >= config.frames:
            return frames[: config.frames]
    raise AssertionError


def _readings(model: StateModel, frame: Frame, found: Any) -> Any:
    crops, logits = frame.crops, model.logits(frame.crops)
    for row, name in enumerate(crops.names):
        own = np.flatnonzero(crops.owners == row)
        for variable in model.variables_of(name) if len(own) else ():
            values = model.config.variables[variable]
            chances = model.chances(variable, logits[model.showing(variable, crops, own)])
            given = found[name][variable]
            yield Reading(
                noun(name),
                variable,
                frame.truth[name][variable],
                max(given, key=lambda value: given[value]) if given else None,
                None if chances is None else values[int(chances.argmax())],
                0.0 if chances is None else float(chances.max()),
            )


def _right(reading: Reading) -> bool:
    return reading.read == reading.true


def _given(reading: Reading) -> bool:
    return reading.read is not None


def _by(readings: Sequence[Reading], key: Callable[[Reading], str]) -> dict[str, Share]:
    groups = grouped([reading for reading in readings if _given(reading)], key)
    return {name: share_of(map(_right, own)) for name, own in groups.items()}


METRICS = (
    total("objects", ""),
    share("accuracy", "right, if given", _right, _given),
    share("given", "given", _given),
    share("visible_by_geometry", "", lambda r: r.best is not None),
    share("accuracy_visible_by_geometry", "right, if visible by geometry", lambda r: r.best == r.true,
          lambda r: r.best is not None),
    share("not_visible_called_unknown", "not visible called unknown", lambda r: not _given(r),
          lambda r: r.best is None),
    Metric("mean_probability_of_given", "", lambda rows: mean([r.probability for r in rows if _given(r)], 4), str),
    Metric("by_kind", "", lambda rows: _by(rows, lambda r: r.kind), str),
    Metric("by_true_value", "", lambda rows: _by(rows, lambda r: r.true), str),
    Metric("wrong", "", lambda rows: dict(Counter(
        f"{r.kind}: {r.true} read as {r.read}" for r in rows if _given(r) and not _right(r)
    ).most_common()), str),
)  # fmt: skip


def table_of(metrics: dict[str, Any]) -> str:
    """The contents of metrics.json as Markdown."""
    more = [
        [f"{name}: {key}", percent_of(found, 1), found["of"]]
        for name, each in metrics["variables"].items()
        for key, found in (each["by_kind"] | each["by_true_value"]).items()
    ]
    wrong = [[f"{name}, {text}", n] for name, each in metrics["variables"].items() for text, n in each["wrong"].items()]
    return document(
        f"{metrics['frames']} observations of {metrics['episodes']} episodes in layouts "
        f"{', '.join(map(str, metrics['layouts']))}, seed {metrics['seed']}; {metrics['ms_per_frame']:g} ms for an "
        "observation.",
        columns_table(["variable"], metrics["variables"], columns(METRICS)),
        markdown_table(["kind or true value", "right, if given", "of"], more),
        markdown_table(["wrong readings", "number"], wrong) if wrong else "No reading is wrong.",
    )


MEASUREMENT = Measurement(StatesConfig, measure, table_of, check=check, least={"frames": 1}, checkpoint=str(SHIPPED))

if __name__ == "__main__":
    run(MEASUREMENT)
