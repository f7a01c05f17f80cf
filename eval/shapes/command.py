"""`python -m eval.shapes`: the monitor and the arm with objects of other shapes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from conf.command import options
from eval.common.runner import Measurement, Run, Settings
from eval.sensing.command import all_steps, conditions_of
from eval.sensing.conditions import Condition
from eval.shapes import tables
from eval.shapes.grasps import GraspTry, grasp
from nsrecover.errors import InvalidConfiguration
from sim.datasets.kinds import generate
from sim.datasets.shapes import family_of
from sim.datasets.spec import ErrorEpisode


@dataclass
class ShapesConfig(Settings):
    """Measure the monitor and the arm with cylinders, mugs, bottles and random shapes at any yaw.

    Accuracy, false alarms, recall and exact culprits behind every sensor, and how often the arm grasps and places which
    shape.

      python -m eval.shapes                                   all families, three sensors; half an hour on 2 cores
      python -m eval.shapes 'episodes={mugs: 20}' out=DIR     one family
      python -m eval.shapes seed=7 tries=0 out=DIR            fresh episodes, without the arm
      python -m eval.shapes conditions=presets out=DIR        behind every sensor preset
      python -m eval.shapes checkpoint=nsrecover/checkpoints/tabletop_sensors out=DIR        another checkpoint

    The monitor is the one that agents use: it looks up to three times before an alarm. Motion is kinematic in the
    episodes, and physical in the tries of the arm. The 2 cm rule compares the centres of the same boxes.

    Writes metrics.json, table.md, and every episode, step and try (rows.jsonl) to out=DIR.

    Attributes:
        seed: another seed gives other scenes, plans and errors.
        episodes: number of episodes of each family; episodes.mugs=0 leaves one out. Every episode has 4 actions and 2
            errors. blobs: 800 of the 1,000 random_urdfs of pybullet_data, held_out_blobs: the other 200, on which
            nothing is tuned.
        tries: tries of the arm for each family: an object alone is taken and put down at a place.
        views: names of the cameras: left, right, front; for sensors that do not name their own.
        looks: largest number of observations of one step; the monitor looks again if the verdict is not "as expected".
        footage: folder for exact camera images of the episodes, which every sensor sees; can be deleted.
        checkpoint: folder of a checkpoint; the shipped one if null.
        conditions: an option of conf/conditions.
    """

    episodes: dict[str, int] = field(
        default_factory=lambda: {
            "boxes": 15,
            "cylinders": 15,
            "mugs": 15,
            "bottles": 15,
            "blobs": 0,
            "held_out_blobs": 15,
        }
    )
    tries: int = 40
    conditions: dict[str, Any] = options("shapes")
    views: list[str] = field(default_factory=lambda: ["left", "right"])
    looks: int = 3
    footage: str = "data/footage"
    checkpoint: str | None = None
    out: str = "outputs/shapes"


def _conditions(config: ShapesConfig) -> dict[str, Condition]:
    return conditions_of(config, config.conditions, config.views)


def _counts(config: ShapesConfig) -> dict[str, int]:
    return {name: count for name, count in config.episodes.items() if family_of(name) and count > 0}


def check(config: ShapesConfig) -> None:
    """Refuse settings that cannot be used."""
    if not _counts(config) or config.tries < 0:
        raise InvalidConfiguration(
            "expected episodes of at least one family and at least 0 tries, found "
            f"episodes={dict(config.episodes)}, tries={config.tries}"
        )
    _conditions(config)


def measure(config: ShapesConfig, run: Run) -> dict[str, Any]:
    """Judge every episode behind every sensor, and let the arm try every family."""
    conditions, counts = _conditions(config), _counts(config)
    wanted = [(name, number) for name, count in counts.items() for number in range(count)]
    lines = run.each(partial(_generated, seed=config.seed), wanted, "simulated episode")
    steps = all_steps(config, run, conditions, {None: [ErrorEpisode.from_json(line) for line in lines]})
    tried = [(name, number) for name in counts for number in range(config.tries)]
    tries = run.each(partial(_grasped, seed=config.seed), tried, "try")
    found = {each.name or key: tables.summary(steps[key]) for key, each in conditions.items()}
    return {"seed": config.seed, "episodes": counts, "sensors": found, "grasps": tables.grasp_summary(tries)}


def _generated(each: tuple[str, int], seed: int) -> str:
    return generate(family_of(each[0]), seed, each[1]).episode.to_json()


def _grasped(each: tuple[str, int], seed: int) -> GraspTry:
    return grasp(*each, seed)


MEASUREMENT = Measurement(
    ShapesConfig,
    measure,
    lambda metrics: tables.markdown(metrics["sensors"], metrics["grasps"]),
    check=check,
    adds=("tries",),
)
