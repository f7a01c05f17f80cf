"""`python -m eval.own_operators`: goals reached and errors of the imagination, by number of demonstrations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

import numpy as np

from eval.common.statistics import grouped, paired_difference
from eval.common.tables import columns_table, difference, document, figure, markdown_table, percent
from eval.metrics import columns, levels, share, summary, total
from eval.own_operators.rule import write_rule
from eval.run import Measurement, Run, Settings, run
from nsrecover import Action, Plan, RecoveryAgent, SceneGraph, geometric, scene_of_boxes
from nsrecover.core import Box, EpisodeStatus
from nsrecover.core.geometry import as_box
from nsrecover.domains.base import Parameter, Words
from nsrecover.domains.tabletop.operators import CLEAR, TABLETOP
from nsrecover.domains.tabletop.spatial import SpatialOperator
from nsrecover.models.effects.context import Shown
from nsrecover.models.effects.effect import LearnedEffect, fit
from nsrecover.models.effects.operator import operator_with
from sim.datasets.own_operators.conventions import Array, Boxes, Convention, convention
from sim.datasets.own_operators.scenes import (
    ARM_NOISE_M,
    OPERATOR,
    TABLE,
    Demonstration,
    Episode,
    demonstrations,
    episode,
    noisy,
)

ORACLE, OURS, WITHOUT, RULE = "oracle", "ours", "without learning", "rule"
TURNED_DEG = 90.0


@dataclass
class OwnOperatorsConfig(Settings):
    """Measure operators that are learned from demonstrations, against the truth and rules by hand.

    Goals reached and errors of the imagination, against the true convention, the strongest rule by hand, and the
    nearest shipped operator.

      python -m eval.own_operators                            20 worlds; about a quarter of an hour on 2 cores
      python -m eval.own_operators seed=7 worlds=40 out=DIR   other conventions
      python -m eval.own_operators shown=[50] episodes=5 out=DIR

    Attributes:
        seed: another seed gives other conventions, demonstrations and episodes; 0 to 9 were used in development.
        worlds: number of worlds, each with its own convention; 20 families take turns.
        episodes: episodes of one or two actions in each world; something goes wrong in half of them.
        shown: numbers of demonstrations to learn from.
    """

    seed: int = 2026
    worlds: int = 20
    episodes: int = 15
    shown: list[int] = field(default_factory=lambda: [20, 50, 200, 1000])


@dataclass(frozen=True)
class Places:
    """The place of an operator as another source has it: from a scene's boxes by name and arguments."""

    source: Callable[[Boxes, Sequence[str]], Array]

    def __call__(self, graph: SceneGraph, action: Action) -> Box:
        """The moved object's box."""
        boxes = dict(zip(graph.names, graph.boxes.astype(float), strict=True))
        return as_box(self.source(boxes, action.arguments))


def _operator(arity: int, place: Callable[[SceneGraph, Action], Box], relative: bool) -> SpatialOperator:
    names = ("?moved", "?reference", "?third")[:arity]
    return SpatialOperator(
        OPERATOR, tuple(Parameter(name, "movable") for name in names), (CLEAR,), words=Words("place {moved}"),
        promise=lambda before, after, action: bool(
            np.linalg.norm(after.boxes[after.index(action.arguments[0]), :3] - place(before, action)[:3]) < 0.02
        ),
        place=place, relative=relative,
    )  # fmt: skip


def shipped(shown: Sequence[Demonstration]) -> Callable[[Boxes, Sequence[str]], Array]:
    """What the library has without learning: the shipped operator that is nearest to the demonstrations."""
    if len(shown[0].arguments) == 1:
        return lambda boxes, arguments: boxes[arguments[0]]

    def place(name: str, boxes: Boxes, arguments: Sequence[str]) -> Array:
        action = Action(name, tuple(arguments[:2]))
        known = TABLETOP.operators[name].place
        assert known is not None
        return np.array(known(scene_of_boxes(boxes), action))

    def error(name: str) -> float:
        away = [place(name, each.before, each.arguments) - each.after[each.arguments[0]] for each in shown]
        return float(np.median(np.linalg.norm(np.array(away)[:, :3], axis=1)))

    return partial(place, min(("top", "left", "right", "front", "behind"), key=error))


class Laboratory:
    """A table on which an arm puts objects where the operator's place says; one action may go wrong.

    Args:
        plan: the episode.
        place: of the operator, from what is seen.
        rng: of sensor and arm.
    """

    def __init__(self, plan: Episode, place: Callable[[SceneGraph, Action], Box], rng: np.random.Generator) -> None:
        self.boxes = {name: box.copy() for name, box in plan.scenes[0].items()}
        self._plan, self._place, self._rng, self._fault = plan, place, rng, plan.fault
        self._seen: dict[str, Array] = {}

    def observe(self) -> dict[str, Box]:
        """What is seen, with noise."""
        self._seen = noisy(self._rng, self.boxes)
        return {name: as_box(box) for name, box in self._seen.items()}

    def execute(self, action: Action) -> None:
        """Put the object at its target."""
        target = action.target or self._place(scene_of_boxes(self._seen), action)
        box = self.boxes[action.arguments[0]]
        if (target[3] > target[4]) != (box[3] > box[4]) and abs(target[3] - target[4]) > 0.01:
            box[3:5] = box[4:2:-1]
        box[:3] = np.array(target[:3]) + self._rng.normal(size=3) * np.array([ARM_NOISE_M, ARM_NOISE_M, 0.0])
        if (
            self._fault is not None
            and action.operator == OPERATOR
            and action.arguments == self._plan.actions[self._fault]
        ):
            box[:2] += self._plan.shift
            box[2], self._fault = box[5] / 2, None


def reached(boxes: Boxes, plan: Episode, world: Convention) -> bool:
    """Whether every object of a plan is where the convention has it, and as it is turned there."""
    last = plan.scenes[-1]
    pairs = [(boxes[name], last[name]) for name, *_ in plan.actions]
    return all(_error(box, wanted) <= world.tolerance_m and not _turn(box, wanted) for box, wanted in pairs)


def _error(box: Array, wanted: Array) -> float:
    return float(np.linalg.norm(box[:3] - wanted[:3]))


def _turn(box: Array, wanted: Array) -> bool:
    return bool(abs(wanted[3] - wanted[4]) > 0.012 and (box[3] > box[4]) != (wanted[3] > wanted[4]))


def _runs(operator: SpatialOperator, world: Convention, episodes: Sequence[Episode], seed: int) -> dict[str, list[Any]]:
    """Goals reached, plans said to be done, and errors of the imagination in millimetres and degrees."""
    domain = replace(TABLETOP, operators={**TABLETOP.operators, OPERATOR: operator})
    system = geometric(workspace=TABLE, reach_m=(0.1, 1.4), domain=domain)
    good, done, errors, turns = list[bool](), list[bool](), list[float](), list[float]()
    for index, plan in enumerate(episodes):
        rng = np.random.default_rng([seed, index, 3])
        assert operator.place is not None
        for before, after, arguments in zip(plan.scenes, plan.scenes[1:], plan.actions, strict=False):
            imagined = np.array(operator.place(scene_of_boxes(noisy(rng, before)), Action(OPERATOR, arguments)))
            wanted = after[arguments[0]]
            errors.append(1000 * _error(imagined, wanted))
            turns.append(TURNED_DEG * _turn(imagined, wanted))
        lab = Laboratory(plan, operator.place, rng)
        actions = Plan(tuple(Action(OPERATOR, arguments) for arguments in plan.actions))
        ended = RecoveryAgent(system, cast(Any, lab), budget_s=None).run(actions)
        done.append(ended.status is EpisodeStatus.COMPLETED)
        good.append(reached(lab.boxes, plan, world))
    return {"good": good, "done": done, "errors_mm": errors, "turns_deg": turns}


def measure_world(config: OwnOperatorsConfig, number_: int) -> list[dict[str, Any]]:
    """All arms in one world, on the same episodes: plain records."""
    world = convention(config.seed, number_)
    every = demonstrations(config.seed, number_, world, max(config.shown))
    episodes = [episode(config.seed, number_, world, index) for index in range(config.episodes)]
    relative = world.arguments == 1 or world.family.startswith("side where")
    arms: list[tuple[str, int, SpatialOperator, str]] = [
        (ORACLE, 0, _operator(world.arguments, Places(world.place), relative), "")
    ]
    for count in config.shown:
        shown = every[:count]
        effect: LearnedEffect = fit([
            Shown(scene_of_boxes(each.before), each.arguments, as_box(each.after[each.arguments[0]])) for each in shown
        ])  # fmt: skip
        rule = write_rule(shown)
        arms.append((OURS, count, operator_with(OPERATOR, effect), f"{1000 * effect.spread_m:.1f} mm"))
        arms.append((RULE, count, _operator(world.arguments, Places(rule), relative), rule.name))
        arms.append((WITHOUT, count, _operator(world.arguments, Places(shipped(shown)), relative), ""))
    records = []
    for arm, count, operator, note in arms:
        found = _runs(operator, world, episodes, config.seed + number_)
        records.append({"world": number_, "family": world.family, "arm": arm, "shown": count, **found, "note": note})
    return records


def _world(number_: int, config: OwnOperatorsConfig) -> list[dict[str, Any]]:
    return measure_world(config, number_)


def measure(config: OwnOperatorsConfig, run: Run) -> dict[str, Any]:
    """Measure every world."""
    found = run.each(partial(_world, config=config), range(config.worlds), "world")
    records = [record for world in found for record in world]
    arms = {
        f"{arm} {count}": summary(group, METRICS)
        for (arm, count), group in grouped(records, lambda each: (each["arm"], each["shown"])).items()
    }
    return {
        "shown": list(config.shown),
        "arms": arms,
        "differences": _differences(records, config.shown),
        "families": {
            family: {f"{e['arm']} {e['shown']}": round(float(np.mean(e["good"])), 3) for e in group}
            for family, group in grouped(records, lambda each: each["family"]).items()
        },
        "worlds": [{key: value for key, value in each.items() if key[-3:] not in ("_mm", "deg")} for each in records],
    }  # fmt: skip


METRICS = (
    share("goals", "goals reached", lambda each: each["good"]),
    replace(levels("error_mm", "error, median, mm", lambda each: each["errors_mm"], median=np.median,
                   p90=lambda v: np.quantile(v, 0.9)), cell=figure("error_mm", "median")),
    replace(levels("turn_deg", "turned wrongly, mean, °", lambda each: each["turns_deg"], mean=np.mean),
            cell=figure("turn_deg", "mean")),
    share("false_completion", "false completion",
          lambda each: [end and not good for end, good in zip(each["done"], each["good"], strict=True)]),
    share("asked_for_help", "asked for help", lambda each: [not end for end in each["done"]]),
    total("episodes", "episodes", lambda each: len(each["good"])),
)  # fmt: skip
"""Of the records of one arm."""


def _differences(records: Sequence[dict[str, Any]], shown: Sequence[int]) -> dict[str, Any]:
    """Differences in goals reached of the same episodes, with 95 % intervals."""

    def goals(arm: str, count: int) -> list[bool]:
        return [good for each in records if (each["arm"], each["shown"]) == (arm, count) for good in each["good"]]

    pairs = [((ORACLE, 0), (OURS, n)) for n in shown] + [
        ((OURS, n), (other, n)) for n in shown for other in (RULE, WITHOUT)
    ]
    return {f"{one[0]} - {other[0]} {other[1]}": paired_difference(goals(*one), goals(*other)) for one, other in pairs}


def table(metrics: dict[str, Any]) -> str:
    """The tables of the arms, of their differences, and of the families."""
    few = min(metrics["shown"], key=lambda n: abs(n - 200))
    arms = [f"{ORACLE} 0", *(f"{arm} {few}" for arm in (OURS, RULE, WITHOUT))]
    families = [[name, *(percent(found[arm], None, 0) for arm in arms)] for name, found in metrics["families"].items()]
    every = {name.removesuffix(" 0"): arm for name, arm in metrics["arms"].items()}
    return document(
        "Own operators from demonstrations",
        columns_table(["arm, demonstrations"], every, columns(METRICS)),
        columns_table(["goals reached, same episodes"], metrics["differences"], [("difference", difference)]),
        markdown_table(["family", *(arm.removesuffix(" 0") for arm in arms)], families),
    )


LEAST = {"worlds": 1, "episodes": 1, "shown": 10}
MEASUREMENT = Measurement(OwnOperatorsConfig, measure, table, least=LEAST, checkpoint=None, adds=("worlds",))


if __name__ == "__main__":
    run(MEASUREMENT)
