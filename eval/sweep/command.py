"""`python -m eval`: whole episodes in the simulator under planners, judged by ground truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from conf.command import option, options
from eval.common.episodes import episodes_of
from eval.common.statistics import grouped, paired_difference, share_of
from eval.common.tables import (
    Columns,
    columns_table,
    document,
    duration,
    failed,
    figure,
    markdown_table,
    milliseconds,
    number,
    percent,
    rate,
    sweep_rate,
)  # fmt: skip
from eval.metrics import under_planners
from eval.run import Measurement, Run, Settings
from eval.sweep import metrics
from eval.sweep.evaluation_world import Controller
from eval.sweep.judged_episode import Job, run_job
from eval.sweep.records import EpisodeRecord, succeeded
from nsrecover.errors import InvalidConfiguration, require_known
from sim.common.cameras import DEFAULT_RIG
from sim.common.groups import instantiate_group
from sim.datasets.kinds import DATASETS
from sim.datasets.spec import ErrorEpisode
from sim.sensors.presets import sensor_of

CITATION = "Kalithasan et al."
TABLES: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name("paper.yaml").read_text("utf-8"))
"""Dataset -> planner -> recovered, L/N_err, L/L_opt, T/N_err, T/L_opt, completed (section VII-A)."""


# -- tables of whole episodes: every planner on every dataset, differences from ours, and the paper's numbers


OURS = "ours"
COLUMNS: Columns = (
    ("episodes", figure("episodes", digits=0)),
    ("verdicts right", sweep_rate("detection", "accuracy")),
    ("culprits exact", sweep_rate("culprits_exact")),
    ("recovered", sweep_rate("recovery")),
    ("completed", sweep_rate("completion")),
    ("decided", sweep_rate("decided_right")),
    ("false completion", sweep_rate("false_completion")),
    ("asked for help", sweep_rate("asked_for_help")),
    ("L/N_err", figure("l_per_err", digits=2)),
    ("L/L_opt", figure("l_over_opt", digits=3)),
    ("T/N_err", duration("t_per_err_s", none="-")),
    ("actions", figure("actions", "mean")),
    ("s/episode", figure("wall_s", "mean")),
    ("failed", failed),
)


def markdown(found: Mapping[str, Any]) -> str:
    """All tables for which there are numbers."""
    sweeps = found.get("sweeps", [found])
    parts = [_overview(sweeps)]
    if "ours_minus" in found:
        parts += _compared(found)
    return document(*parts, *_beside_the_paper(sweeps))


def _overview(sweeps: Sequence[Mapping[str, Any]]) -> str:
    """One line for each planner and dataset."""
    return columns_table(["planner", "dataset"], {(each["planner"], each["dataset"]): each for each in sweeps}, COLUMNS)


def _compared(found: Mapping[str, Any]) -> list[str]:
    """Episodes that end as they should, and differences from ours."""
    shares, minus = found["as_they_should"], found["ours_minus"]
    planners, others = list(next(iter(shares.values()))), list(next(iter(minus.values())))
    whole: Columns = [("episodes", lambda each: each[OURS]["of"]), *((one, rate(one, digits=0)) for one in planners)]
    return [
        "Episodes that end as they should: at their goal, or asking for help if there is no way back",
        columns_table(["dataset"], shares, whole),
        "Ours minus another planner, on the same episodes; an interval that contains 0 shows no difference",
        columns_table(["dataset"], minus, [(one, rate(one, digits=0)) for one in others]),
    ]


def _beside_the_paper(sweeps: Sequence[Mapping[str, Any]]) -> list[str]:
    """Tables III to V, with the paper's numbers in brackets."""
    rows = []
    for found in sweeps:
        if theirs := TABLES.get(found["dataset"], {}).get(found["planner"]):
            mine = (
                percent(found["recovery"]), number(found["l_per_err"]), number(found["l_over_opt"]),
                milliseconds(found["t_per_err_s"], none="-"), milliseconds(found["t_over_opt_s"], none="-"),
                percent(found["completion"]),
            )  # fmt: skip
            both = (f"{ours} ({paper})" for ours, paper in zip(mine, theirs, strict=True))
            rows.append([found["planner"], found["dataset"], *both])
    if not rows:
        return []
    head = ["planner", "dataset", "Rec.", "L/N_err", "L/L_opt", "T/N_err", "T/L_opt", "Comp."]
    return [
        f"Tables III to V, numbers of {CITATION} in brackets; their datasets follow the same recipe, their times are "
        "of another machine, and the L of replan includes the rest of the plan",
        markdown_table(head, rows),
    ]


ALL = "all"
"""All datasets together."""


@dataclass
class EvalConfig(Settings):
    """Execute episodes of error datasets with planners, and measure detection, recovery and completion by ground truth.

      python -m eval dataset=I                                all 750 episodes of dataset I with our planner
      python -m eval dataset=[I,II,III] episodes=[50,50,20] seed=7 out=DIR     fewer, and fresh ones
      python -m eval dataset=I episodes=100 planner=[ours,replan,nofree]       Table III of Kalithasan et al.
      python -m eval dataset=I sensor=d435                    seen through a realistic sensor (docs/sensors.md)
      python -m eval during_recovery=0.2                      a fault at every fifth action of a recovery, too
      python -m eval parallel=ray workers=64                  on a Ray cluster

    All planners run the same episodes. More datasets or episodes extend a folder. Writes every finished episode
    (rows.jsonl), metrics.json and table.md to out=DIR. Household episodes: eval.kitchen. Of VII to IX:
    eval.own_operators, eval.changes and eval.clutter.

    Attributes:
        dataset: I, II, III, IV, V, VI or X, or a list of them (python -m sim.datasets --help explains them).
        episodes: number of episodes, the first ones of each dataset, or a list with a number for each; all if null.
        errors: folder of the datasets; data/errors, or data/errors_SEED for another seed, if null.
        planner: options of conf/planner.
        sensor: an option of conf/sensor.
        during_recovery: share of the recovery actions with an additional random fault.
    """

    dataset: Any = "I"
    episodes: Any = None
    errors: str | None = None
    planner: dict[str, Any] = options([OURS])
    sensor: Any = option("clean")
    during_recovery: float = 0.0
    out: str = "outputs/eval"


def sizes(config: EvalConfig) -> dict[str, int]:
    """Dataset -> number of episodes.

    Raises:
        InvalidConfiguration: there is no such dataset, or the numbers do not fit.
    """
    datasets = [config.dataset] if isinstance(config.dataset, str) else list(config.dataset)
    given = list(config.episodes) if isinstance(config.episodes, Sequence) else [config.episodes] * len(datasets)
    for name in datasets:
        require_known(name, DATASETS, "a known dataset")
    if len(given) != len(datasets) or not all(each is None or (isinstance(each, int) and each >= 1) for each in given):
        raise InvalidConfiguration(
            f"expected a number of episodes of at least 1 for each dataset, found dataset={config.dataset}, "
            f"episodes={config.episodes}"
        )
    most = {name: DATASETS[name].episodes for name in datasets}
    return {name: min(count or most[name], most[name]) for name, count in zip(datasets, given, strict=True)}


def controllers_of(config: EvalConfig) -> dict[str, Controller]:
    """Name -> planner.

    Raises:
        NsrecoverError: one cannot be made.
    """
    kept = [{key: value for key, value in each.items() if key != "label"} for each in config.planner.values()]
    every = [instantiate_group("planner", settings) for settings in kept]
    return {each.name: each for each in every}


def check(config: EvalConfig) -> None:
    """Refuse what cannot be used; a missing part is an error of the command, not of an episode."""
    sizes(config)
    if not 0.0 <= config.during_recovery <= 1.0:
        raise InvalidConfiguration(f"expected during_recovery between 0 and 1, found {config.during_recovery}")
    sensor_of(config.sensor).stream(len(DEFAULT_RIG.views), config.seed)
    if not (found := controllers_of(config)):
        raise InvalidConfiguration("expected at least one planner, found none; set planner=[ours]")
    for controller in found.values():
        controller.prepare()


def judged(cell: tuple[str, ErrorEpisode], config: EvalConfig, controllers: Mapping[str, Controller]) -> EpisodeRecord:
    """One episode under one planner."""
    planner, episode = cell
    return run_job(Job(episode, controllers[planner], config.during_recovery, sensor_of(config.sensor), config.seed))


def measure(config: EvalConfig, run: Run) -> dict[str, Any]:
    """Run every episode with every planner."""
    controllers = controllers_of(config)
    rows = under_planners(run, partial(judged, config=config, controllers=controllers), controllers)
    return summary([row for every in zip(*rows.values(), strict=True) for row in every], list(controllers)) | {
        "seed": config.seed,
        "sensor": sensor_of(config.sensor).name,
        "during_recovery": config.during_recovery,
    }


def summary(records: Sequence[EpisodeRecord], planners: Sequence[str]) -> dict[str, Any]:
    """Metrics of each planner on each dataset; with several planners and ours, differences on the same episodes."""
    by_dataset = grouped(records, lambda record: record.dataset)
    sweeps = [
        {"dataset": dataset, "planner": planner, "episodes": len(mine), **metrics.summary(mine)}
        for dataset, found in by_dataset.items()
        for planner in planners
        for mine in [[record for record in found if record.planner == planner]]
    ]
    if len(planners) == 1 or OURS not in planners:
        return sweeps[0] if len(sweeps) == 1 else {"sweeps": sweeps}
    every = {**by_dataset, ALL: list(records)} if len(by_dataset) > 1 else by_dataset
    ends = {
        name: {planner: [succeeded(record) for record in found if record.planner == planner] for planner in planners}
        for name, found in every.items()
    }
    return {
        "sweeps": sweeps,
        "as_they_should": {
            name: {planner: share_of(good) for planner, good in found.items()} for name, found in ends.items()
        },
        "ours_minus": {
            name: {planner: paired_difference(found[OURS], good) for planner, good in found.items() if planner != OURS}
            for name, found in ends.items()
        },
    }


MEASUREMENT = Measurement(
    EvalConfig,
    measure,
    markdown,
    check=check,
    episodes=lambda config: episodes_of(sizes(config), config.seed, config.errors, config.workers),
    checkpoints=lambda config: [each["checkpoint"] for each in config.planner.values() if "checkpoint" in each],
    adds=("dataset", "episodes"),
)
