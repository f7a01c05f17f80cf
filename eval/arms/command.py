"""`python -m eval.arms`: episodes that end as they should by arm and dataset, and differences from ours.

An arm is a planner of `python -m eval`. All arms run the same episodes with the same seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from conf.command import option
from eval.common.episodes import episodes_of
from eval.common.runner import Measurement, Run, Settings
from eval.common.statistics import grouped, paired_interval, share_of
from eval.common.tables import document, markdown_table, percent, percent_of
from eval.sweep.controllers import Blind, recovering
from eval.sweep.evaluation_world import Controller
from eval.sweep.failures import succeeded
from eval.sweep.judged_episode import Job, run_job
from eval.sweep.oracle import Oracle
from nsrecover.errors import InvalidConfiguration, did_you_mean
from sim.datasets.spec import ErrorEpisode
from sim.sensors.presets import sensor_of

OURS = "ours"
RULES: Mapping[str, tuple[str, ...]] = {
    OURS: (),
    "minus T": ("transition",),
    "minus K": ("discriminator",),
    "rules only": ("transition", "discriminator"),
}
"""Arm -> learned parts that rules replace."""
TRANSFORMER = "with transformer"
"""What is set aside goes where the free-space transformer proposes, not to the nearest free place."""
ARMS = ("oracle", *RULES, TRANSFORMER, "replan", "open loop")


@dataclass
class ArmsConfig(Settings):
    """Run the same episodes with the library, with rules in place of learned parts, and with baselines.

      python -m eval.arms                                     all arms; an hour on 2 cores
      python -m eval.arms 'episodes={VI: 60}' 'arms=[ours, minus K, rules only]' seed=7 out=DIR

    VII to IX have measurements of their own: eval.own_operators, eval.changes and eval.clutter.

    Attributes:
        episodes: number of episodes of each error dataset.
        errors: folder of the datasets; one that depends on the seed if null.
        checkpoint: folder of a checkpoint; the shipped one if null.
        arms: oracle, ours, minus T, minus K, rules only, with transformer, replan, open loop.
        sensor: an option of conf/sensor.
        replan_nodes: nodes of a search of the arm replan.
    """

    episodes: dict[str, int] = field(
        default_factory=lambda: {"I": 40, "II": 40, "III": 20, "IV": 40, "V": 20, "VI": 20, "X": 10}
    )
    errors: str | None = None
    checkpoint: str | None = None
    arms: list[str] = field(default_factory=lambda: list(ARMS))
    sensor: Any = option("clean")
    replan_nodes: int = 300
    out: str = "outputs/arms"


def controller_of(arm: str, config: ArmsConfig) -> Controller:
    """What carries out the episodes in an arm.

    Raises:
        InvalidConfiguration: there is no such arm.
    """
    if arm not in ARMS:
        raise InvalidConfiguration(f"expected arms among {', '.join(ARMS)}, found {arm!r}.{did_you_mean(arm, ARMS)}")
    if arm == "oracle":
        return Oracle()
    if arm == "open loop":
        return Blind()
    if arm == "replan":
        nodes = config.replan_nodes
        return recovering(arm, {"method": "replan"}, checkpoint=config.checkpoint, max_expansions=nodes)
    if arm == TRANSFORMER:
        return recovering(arm, {"free_places": "learned"}, checkpoint=config.checkpoint)
    return recovering(arm, {}, checkpoint=config.checkpoint, rules=RULES[arm])


def ended_well(cell: tuple[str, ErrorEpisode], config: ArmsConfig) -> bool:
    """Whether an episode ends as it should in an arm."""
    arm, episode = cell
    job = Job(episode.number, episode, controller_of(arm, config), sensor=sensor_of(config.sensor), seed=config.seed)
    return succeeded(run_job(job))


def cell_of(cell: tuple[str, ErrorEpisode]) -> str:
    """Name of an arm and an episode."""
    return f"{cell[0]}: {cell[1].dataset} {cell[1].number}"


def measure(config: ArmsConfig, run: Run) -> dict[str, Any]:
    """Run all arms on all episodes."""
    cells = [(arm, episode) for episode in run.episodes for arm in config.arms]
    reached: dict[str, dict[str, bool]] = {arm: {} for arm in config.arms}
    for (arm, episode), good in zip(
        cells, run.each(partial(ended_well, config=config), cells, "episode", cell_of), strict=True
    ):
        reached[arm][f"{episode.dataset} {episode.number}"] = good
    return {"seed": config.seed, "sensor": sensor_of(config.sensor).name, "episodes": dict(config.episodes)} | summary(
        reached
    )


def check(config: ArmsConfig) -> None:
    """Refuse arms and sensors that do not exist; the others are compared with ours."""
    sensor_of(config.sensor)
    for arm in config.arms:
        controller_of(arm, config).prepare()
    if OURS not in config.arms:
        raise InvalidConfiguration(f"expected {OURS} among the arms, found {list(config.arms)}; add it")


def summary(reached: Mapping[str, Mapping[str, bool]]) -> dict[str, Any]:
    """Shares by dataset and arm, and differences from ours.

    Args:
        reached: arm -> episode -> whether it ended as it should. An episode begins with the name of its dataset.
    """
    datasets = {**grouped(reached[OURS], lambda episode: episode.split()[0]), "all": list(reached[OURS])}
    return {
        "arms": {
            name: {arm: share_of(found[episode] for episode in episodes) for arm, found in reached.items()}
            for name, episodes in datasets.items()
        },
        "ours_minus": {
            name: {arm: _difference(reached[OURS], found, episodes) for arm, found in reached.items() if arm != OURS}
            for name, episodes in datasets.items()
        },
    }


def _difference(ours: Mapping[str, bool], other: Mapping[str, bool], episodes: Sequence[str]) -> dict[str, Any]:
    both = sum(ours[each] and other[each] for each in episodes)
    first, second = sum(ours[each] for each in episodes), sum(other[each] for each in episodes)
    low, high = paired_interval(both, first - both, second - both, len(episodes))
    return {"value": (first - second) / len(episodes), "low": low, "high": high, "of": len(episodes)}


def table(metrics: Mapping[str, Any]) -> str:
    """Tables of the shares, and of the differences from ours."""
    arms = list(next(iter(metrics["arms"].values())))
    shares = [
        [name, found[OURS]["of"], *(percent_of(found[arm], 0) for arm in arms)]
        for name, found in metrics["arms"].items()
    ]
    others = [arm for arm in arms if arm != OURS]
    differences = [
        [name, *(percent(found[arm]["value"], (found[arm]["low"], found[arm]["high"]), 0) for arm in others)]
        for name, found in metrics["ours_minus"].items()
    ]
    return document(
        f"Episodes that end as they should, `sensor={metrics['sensor']}`, 95 % intervals",
        markdown_table(["dataset", "episodes", *arms], shares),
        "Ours minus another arm, on the same episodes; an interval that contains 0 shows no difference",
        markdown_table(["dataset", *others], differences),
    )


MEASUREMENT = Measurement(
    ArmsConfig,
    measure,
    table,
    check=check,
    episodes=lambda config: episodes_of(config.episodes, config.seed, config.errors, config.workers),
    adds=("episodes", "arms"),
)
