"""`python -m eval.shapes`: the monitor with objects of other shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from conf.command import options
from eval.common.statistics import grouped
from eval.common.tables import columns_table, document
from eval.metrics import columns, share
from eval.metrics import summary as numbers
from eval.run import Measurement, Run, Settings, run
from eval.sensing import __main__ as sensing
from eval.sensing.judge import SensedStep
from nsrecover.core.discrepancy import Verdict
from nsrecover.errors import InvalidConfiguration
from sim.datasets.kinds import generate
from sim.datasets.shapes import family_of
from sim.datasets.spec import ErrorEpisode

TRAINED = "boxes"
"""The family whose shapes the shipped checkpoint was trained with, at other yaws."""

METRICS = (
    share("accuracy", "accuracy", lambda s: bool(s.blamed) if s.wrong else s.verdict == Verdict.AS_EXPECTED,
          sensing.begun),
    share("rule.accuracy", "of the 2 cm rule", lambda s: bool(s.off_place) == bool(s.wrong), sensing.begun),
    *(metric for metric in sensing.METRICS if metric.name != "accuracy"),
)  # fmt: skip


@dataclass
class ShapesConfig(Settings):
    """Measure the monitor with cylinders, mugs, bottles and random shapes at any yaw.

      python -m eval.shapes                                   all families, three sensors; half an hour on 2 cores
      python -m eval.shapes 'episodes={mugs: 20}' out=DIR     one family
      python -m eval.shapes conditions=presets out=DIR        behind every sensor preset

    The metrics are those of eval.sensing; an episode has 4 actions and 2 errors, without an arm. The 2 cm rule compares
    the centres of the same boxes.

    Attributes:
        seed: another seed gives other scenes, plans and errors.
        episodes: number of episodes of each family; episodes.mugs=0 leaves one out. blobs: 800 of the 1,000
            random_urdfs of pybullet_data, held_out_blobs: the other 200, on which nothing is tuned.
        views: names of the cameras: left, right, front; for sensors that do not name their own.
        looks: largest number of observations of one step.
        footage: folder for exact camera images of the episodes; can be deleted.
        checkpoint: folder of a checkpoint; the shipped one if null.
        conditions: an option of conf/conditions.
    """

    episodes: dict[str, int] = field(
        default_factory=lambda: {
            "boxes": 15, "cylinders": 15, "mugs": 15, "bottles": 15, "blobs": 0, "held_out_blobs": 15,
        }
    )  # fmt: skip
    conditions: dict[str, Any] = options("shapes")
    views: list[str] = field(default_factory=lambda: ["left", "right"])
    looks: int = 3
    footage: str = "data/footage"
    checkpoint: str | None = None


def summary(steps: Sequence[SensedStep]) -> dict[str, Any]:
    """Metrics of the steps of one condition: of every family, of those never seen in training, and of all."""
    unseen = [step for step in steps if step.dataset != TRAINED]
    families = grouped(steps, lambda step: step.dataset) | {"all but boxes": unseen, "all": list(steps)}
    return {name: numbers(group, METRICS) for name, group in families.items()}


def table(found: dict[str, Any]) -> str:
    """The metrics of every family behind every sensor."""
    rows = {
        (sensor, family.replace("_", " ")): each
        for sensor, families in found["sensors"].items()
        for family, each in families.items()
    }
    return document("Other shapes, at any yaw", columns_table(["sensor", "family"], rows, columns(METRICS)))


def check(config: ShapesConfig) -> None:
    """Refuse settings that cannot be used."""
    if not any(count for name, count in config.episodes.items() if family_of(name)):
        raise InvalidConfiguration(f"expected episodes of at least one family, found episodes={dict(config.episodes)}")
    sensing.conditions_of(config, config.conditions, config.views)


def measure(config: ShapesConfig, run: Run) -> dict[str, Any]:
    """Judge every episode behind every sensor."""
    conditions = sensing.conditions_of(config, config.conditions, config.views)
    wanted = [(name, number) for name, count in config.episodes.items() for number in range(count)]
    lines = run.each(partial(_generated, seed=config.seed), wanted, "simulated episode")
    episodes: sensing.Episodes = {None: [ErrorEpisode.from_json(line) for line in lines]}
    steps = sensing.all_steps(config, run, conditions, episodes)
    found = {each.name or key: summary(steps[key]) for key, each in conditions.items()}
    return {"seed": config.seed, "episodes": dict(config.episodes), "sensors": found}


def _generated(each: tuple[str, int], seed: int) -> str:
    return generate(family_of(each[0]), seed, each[1]).episode.to_json()


MEASUREMENT = Measurement(ShapesConfig, measure, table, check=check, least={"looks": 1})

if __name__ == "__main__":
    run(MEASUREMENT)
