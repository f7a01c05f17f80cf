"""`python -m eval.shapes`: the monitor and the arm with objects of other shapes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any

import numpy as np

from conf.command import options
from eval.common.statistics import grouped, share_of, spread
from eval.common.tables import Columns, columns_table, document, figure, rate
from eval.metrics import columns, levels, share, total
from eval.metrics import summary as numbers
from eval.run import Measurement, Run, Settings, run
from eval.sensing.__main__ import all_steps, bad, begun, conditions_of, good
from eval.sensing.judge import Condition, SensedStep
from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Verdict
from nsrecover.errors import InvalidConfiguration
from sim.datasets.kinds import generate
from sim.datasets.shapes import family_of
from sim.datasets.spec import ErrorEpisode
from sim.tabletop.faults.choosing import in_workspace
from sim.tabletop.placing import place_for
from sim.tabletop.sampling import sample_scene
from sim.tabletop.scenes import SceneSpec
from sim.tabletop.truth import TOLERANCE_M
from sim.tabletop.world import TabletopWorld

NEAR_M, FAR_M = 0.10, 0.30
"""Least and greatest distance between an object and its target."""
TOUCHED_M = 0.01
"""An object that moved less was not taken."""


class GraspOutcome(StrEnum):
    """What came of a pick-and-place."""

    PLACED = "placed"
    """The object's centre is within 2 cm of the target, in height, too."""
    NOT_TAKEN = "not_taken"
    """The object is where it was: no path, or the fingers closed on nothing."""
    ELSEWHERE = "elsewhere"
    """It was pushed, dropped or put down elsewhere, or fell over at its target."""


@dataclass
class GraspTry:
    """One try.

    Attributes:
        family: of the object.
        number: of the try, from 0.
        size: sides of the object, metres.
        model: of a blob; None for other objects.
        outcome: what came of it.
        off_mm: distance of the object from its target.
        note: what the arm reports, if it gave up.
    """

    family: str
    number: int
    size: list[float]
    model: int | None
    outcome: GraspOutcome
    off_mm: float
    note: str = ""


def grasp(family: str, number: int, seed: int) -> GraspTry:
    """Let the arm take an object that stands alone, and put it down elsewhere on the table.

    Args:
        family: of the object.
        number: of the try.
        seed: of the measurement.
    """
    rng = np.random.default_rng([seed, number, *family.encode()])
    scene = sample_scene(rng, 1, family_of(family).mix, number)
    item = scene.objects[0]
    action = Action("free", (item.name,), (*_target(rng, scene), item.size[2] / 2, *item.size))
    with TabletopWorld(scene, seed=number) as world:
        before = world.estimates()
        place = place_for(action, before)
        assert place is not None
        world.execute(action)
        now = world.truth().position(item.name)
        notes = [line for line in world.log if "touches something" not in line]
    off = float(np.linalg.norm(now - place[0]))
    moved = float(np.linalg.norm(now - before.positions[0]))
    outcome = GraspOutcome.PLACED if off <= TOLERANCE_M else GraspOutcome.ELSEWHERE
    if outcome is not GraspOutcome.PLACED and moved < TOUCHED_M:
        outcome = GraspOutcome.NOT_TAKEN
    note = notes[-1].split(": ", 2)[-1] if notes else ""
    return GraspTry(family, number, list(item.size), item.model, outcome, round(1000 * off, 1), note)


def _target(rng: np.random.Generator, scene: SceneSpec) -> tuple[float, float]:
    start = np.array(scene.objects[0].position)
    while True:
        place = np.array([rng.uniform(*span) for span in scene.table.start])
        if NEAR_M <= float(np.linalg.norm(place - start)) <= FAR_M and in_workspace(place, scene.table):
            return round(float(place[0]), 4), round(float(place[1]), 4)


# -- metrics and the tables of `python -m eval.shapes`


EVERY = "all"
"""Key of all families together."""
TRAINED = "boxes"
"""The family whose shapes the shipped checkpoint was trained with, at other yaws."""
UNSEEN = "all but boxes"
"""Key of the families whose shapes were never seen in training."""


_OF_RULE = "of the 2 cm rule"
METRICS = (
    share("accuracy", "accuracy", lambda s: bool(s.blamed) if s.wrong else s.verdict == Verdict.AS_EXPECTED, begun),
    share("rule.accuracy", _OF_RULE, lambda s: bool(s.off_place) == bool(s.wrong), begun),
    share("false_alarms", "false alarms", lambda s: bool(s.blamed), good),
    share("rule.false_alarms", _OF_RULE, lambda s: bool(s.off_place), good),
    share("recall", "recall", lambda s: bool(s.blamed), bad),
    share("rule.recall", _OF_RULE, lambda s: bool(s.off_place), bad),
    share("culprits_exact", "culprits exact", lambda s: {*s.blamed} == {*s.wrong}, lambda s: bad(s) and s.blamed),
    share("rule.culprits_exact", "", lambda s: {*s.off_place} == {*s.wrong}, lambda s: bad(s) and s.off_place),
    share("cannot_tell", "cannot tell, good steps", lambda s: s.verdict == Verdict.CANNOT_TELL, good),
    levels("box_error_mm", "box error median / p95, mm", lambda s: s.errors_mm if begun(s) else ()),
    total("episodes_not_begun", "", lambda s: not begun(s)),
)


def summary(steps: Sequence[SensedStep]) -> dict[str, Any]:
    """Metrics of the steps of one condition: of every family, of those never seen in training, and of all."""
    unseen = [step for step in steps if step.dataset != TRAINED]
    families = grouped(steps, lambda step: step.dataset) | {UNSEEN: unseen, EVERY: list(steps)}
    return {name: numbers(group, METRICS) for name, group in families.items()}


def grasp_summary(tries: Sequence[GraspTry]) -> dict[str, Any]:
    """Metrics of all tries, by family."""
    return {
        name: {
            "placed": share_of(each.outcome == GraspOutcome.PLACED for each in group),
            "outcomes": {str(kind): sum(each.outcome == kind for each in group) for kind in GraspOutcome},
            "off_mm": spread([e.off_mm for e in group if e.outcome == GraspOutcome.PLACED], 1, median=np.median),
            "reasons": dict(Counter(each.note for each in group if each.outcome != GraspOutcome.PLACED and each.note)),
        }
        for name, group in grouped(tries, lambda each: each.family).items()
    }


COLUMNS: Columns = (
    *columns(METRICS),
    ("good / error steps", lambda found: f"{found['false_alarms']['of']} / {found['recall']['of']}"),
)
GRASP_COLUMNS: Columns = (
    ("placed within 2 cm", rate("placed")),
    ("median error, mm", figure("off_mm", "median")),
    ("not taken", lambda found: found["outcomes"][GraspOutcome.NOT_TAKEN]),
    ("elsewhere", lambda found: found["outcomes"][GraspOutcome.ELSEWHERE]),
    ("tries", lambda found: found["placed"]["of"]),
)


def markdown(conditions: Mapping[str, Mapping[str, Any]], grasps: Mapping[str, Any]) -> str:
    """The tables of the monitor and of the arm."""
    rows = {
        (sensor, family.replace("_", " ")): found
        for sensor, families in conditions.items()
        for family, found in families.items()
    }
    tries = {family.replace("_", " "): found for family, found in grasps.items()}
    return document(
        "Other shapes, at any yaw",
        columns_table(["sensor", "family"], rows, COLUMNS),
        *([columns_table(["family"], tries, GRASP_COLUMNS)] if tries else []),
    )


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
    if not _counts(config):
        raise InvalidConfiguration(f"expected episodes of at least one family, found episodes={dict(config.episodes)}")
    _conditions(config)


def measure(config: ShapesConfig, run: Run) -> dict[str, Any]:
    """Judge every episode behind every sensor, and let the arm try every family."""
    conditions, counts = _conditions(config), _counts(config)
    wanted = [(name, number) for name, count in counts.items() for number in range(count)]
    lines = run.each(partial(_generated, seed=config.seed), wanted, "simulated episode")
    steps = all_steps(config, run, conditions, {None: [ErrorEpisode.from_json(line) for line in lines]})
    tried = [(name, number) for name in counts for number in range(config.tries)]
    tries = run.each(partial(_grasped, seed=config.seed), tried, "try")
    found = {each.name or key: summary(steps[key]) for key, each in conditions.items()}
    return {"seed": config.seed, "episodes": counts, "sensors": found, "grasps": grasp_summary(tries)}


def _generated(each: tuple[str, int], seed: int) -> str:
    return generate(family_of(each[0]), seed, each[1]).episode.to_json()


def _grasped(each: tuple[str, int], seed: int) -> GraspTry:
    return grasp(*each, seed)


MEASUREMENT = Measurement(
    ShapesConfig,
    measure,
    lambda metrics: markdown(metrics["sensors"], metrics["grasps"]),
    check=check,
    least={"tries": 0, "looks": 1},
    adds=("tries",),
)

if __name__ == "__main__":
    run(MEASUREMENT)
