"""`python -m eval.outcomes`: errors noticed at a promised rate of false alarms, by arm and number of demonstrations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from eval.common.statistics import Share, share
from eval.common.tables import columns_table, document, markdown_table, percent_of, rate
from eval.outcomes.arms import ARMS
from eval.outcomes.nodes import Array, Flags, Nodes
from eval.run import Measurement, Run, Settings, run
from nsrecover.errors import InvalidConfiguration, require_known
from nsrecover.models.outcomes.calibration import ClassCalibration
from nsrecover.models.outcomes.episode import GOOD, ContactEpisode
from nsrecover.models.outcomes.scene import DRAWN, Shape
from nsrecover.training.outcomes import OutcomeExample, example_of
from sim.datasets.build import DatasetsConfig, build
from sim.datasets.spec import EPISODES

REGIONS = (0.68, 0.95)
TOLERANCE_M = 0.02
VIEWS = {"shapes": False, "boxes": True}
"""What is seen of the objects -> whether it is only their axis-aligned boxes."""
DEMONSTRATIONS, CLASSES, THRESHOLD, EXAM = range(4)


@dataclass
class OutcomesConfig(Settings):
    """Measure errors noticed where outcomes are distributions: dataset XI, against rules and trees.

      python -m eval.outcomes                                 three hours on 2 cores, most of it drawing episodes
      python -m eval.outcomes shown=[300] arms=[rigid,perceptron] out=DIR
      python -m eval.outcomes demonstrations=1200 calibration=800 exam=1200 out=DIR      smaller sets

    Every arm learns from the same good episodes, is calibrated by class on others and gets its threshold, for every
    operator, from a third set. The exam has never been seen; half of it has errors.

    Attributes:
        seed: of the episodes; seed to seed + 3 are drawn.
        arms: of fixed (2 cm), rigid (propagation with tolerances by class), trees and trees_density (boosted,
            on hand features), perceptron and graph (networks with mixtures).
        shown: numbers of demonstrations of each operator to learn from; null: all.
        trainings: repetitions of every training with another seed.
        views: shapes (shapes, sides and yaws are seen) or boxes (only axis-aligned boxes are).
        alpha: promised share of good episodes that raise an alarm.
        demonstrations: good episodes to learn from, of all operators together.
        calibration: good episodes for the classes, and as many others for the thresholds.
        exam: episodes of the exam.
        footage: folder for the episodes, which can be used again.
    """

    seed: int = 2031
    arms: list[str] = field(default_factory=lambda: list(ARMS))
    shown: list[int] = field(default_factory=lambda: [100, 300, 1000, 2000])
    trainings: int = 3
    views: list[str] = field(default_factory=lambda: list(VIEWS))
    alpha: float = 0.01
    demonstrations: int = 8000
    calibration: int = 4000
    exam: int = 8000
    footage: str = "data/outcomes"


@dataclass(frozen=True)
class Trial:
    """One training of an arm.

    Attributes:
        arm: key of `ARMS`.
        shown: demonstrations of each operator.
        view: key of `VIEWS`.
        training: number of the repetition.
    """

    arm: str
    shown: int
    view: str
    training: int

    def __str__(self) -> str:
        """Its name in the ledger."""
        return f"{self.arm} {self.shown} {self.view} {self.training}"


@dataclass(frozen=True)
class TrialResult:
    """What an arm noticed in the exam.

    Attributes:
        trial: of which.
        operators: operator of every episode.
        kinds: kind of every episode.
        rolling: whether something in it is known to roll.
        alarms: whether it was reported.
        alarms_without: the same with thresholds of episodes without rolling objects; only these count.
        native: for the fixed rule, whether an object is more than 2 cm away.
        covered: class of probability -> (good objects within the region, objects) for each of `REGIONS`.
        located: of the noticed errors whether the most surprising object is a culprit.
    """

    trial: str
    operators: list[str]
    kinds: list[str]
    rolling: list[bool]
    alarms: list[bool]
    alarms_without: list[bool]
    native: list[bool]
    covered: dict[str, list[list[int]]]
    located: list[bool]


def drawn(config: OutcomesConfig) -> list[list[ContactEpisode]]:
    """The episodes of all four sets; drawn once."""
    counts = (config.demonstrations, config.calibration, config.calibration, config.exam)
    sets = []
    for number, count in enumerate(counts):
        dataset = "XI" if number == EXAM else "XI_demos"
        folder = Path(config.footage) / f"{dataset}_{config.seed + number}"
        settings = DatasetsConfig(dataset, count, config.seed + number, str(folder), config.workers)
        build(settings)
        with (folder / EPISODES).open(encoding="utf-8") as file:
            sets.append([ContactEpisode.from_json(line) for line in file][:count])
    return sets


def measure(config: OutcomesConfig, run_: Run) -> dict[str, Any]:
    """Train and judge every arm."""
    episodes = drawn(config)
    results = []
    for view in config.views:
        sets = [[example_of(each, VIEWS[view]) for each in part] for part in episodes]
        trials = [
            Trial(arm, count, view, training)
            for arm in config.arms
            for count in config.shown
            for training in range(config.trainings if arm not in ("fixed", "rigid") else 1)
            if arm != "fixed" or count == max(config.shown)
        ]
        task = partial(judge_trial, sets=sets, exam=episodes[EXAM], alpha=config.alpha)
        results += run_.each(task, trials, f"training seen as {view}")
    return summarise_trials(results, config)


def judge_trial(
    trial: Trial, sets: Sequence[Sequence[OutcomeExample]], exam: Sequence[ContactEpisode], alpha: float
) -> TrialResult:
    """Fit, calibrate and examine one arm.

    Args:
        trial: which.
        sets: demonstrations, for the classes, for the threshold, exam.
        exam: the episodes of the exam.
        alpha: promised rate of false alarms.
    """
    arm = ARMS[trial.arm]()
    arm.fit(Nodes(_first(sets[DEMONSTRATIONS], trial.shown)), trial.training)
    nodes = [Nodes(part) for part in sets[1:]]
    judged = [arm.judge(each) for each in nodes]
    classes = [each.classes(affected) for each, (_, affected) in zip(nodes, judged, strict=True)]
    if trial.arm == "fixed":
        rarity = [surprise for surprise, _ in judged]
    else:
        movable = ~nodes[0].fixed
        calibration = ClassCalibration.of(judged[0][0][movable], classes[0][movable])
        rarity = [calibration.rarity(found[0], each) for found, each in zip(judged, classes, strict=True)]
    threshold, last = nodes[1], nodes[2]
    scores = [each.worst(found) for each, found in zip(nodes[1:], rarity[1:], strict=True)]
    rolling = [np.logical_or.reduceat(each.rolls, np.cumsum([0, *each.counts[:-1]])) for each in (threshold, last)]
    if trial.view == "boxes":  # what rolls is not seen, and known to the exam only
        rolling[1] = np.array([_rolls(each) for each in exam])
        rolling[0] = np.zeros(len(scores[0]), np.bool_)
    alarms = _alarms(scores, (threshold.operators, last.operators), alpha)
    still = ~rolling[0]
    without = _alarms((scores[0][still], scores[1]), (threshold.operators[still], last.operators), alpha)
    kinds = [each.kind for each in exam]
    return TrialResult(
        str(trial),
        [each.action.operator for each in exam],
        kinds,
        rolling[1].tolist(),
        alarms.tolist(),
        without.tolist(),
        (scores[1] > TOLERANCE_M).tolist() if trial.arm == "fixed" else [],
        _covered(nodes, judged, classes, np.array(kinds) == GOOD),
        _located(last, rarity[2], exam, alarms),
    )


def _first(examples: Sequence[OutcomeExample], count: int) -> list[OutcomeExample]:
    """The first examples of every operator; pushes of boxes are pushes and rolls."""
    seen, found = Counter[str](), []
    for each in examples:
        seen[each.action.operator] += 1
        if seen[each.action.operator] <= count * (2 if each.action.operator == "push_boxes" else 1):
            found.append(each)
    return found


def _rolls(episode: ContactEpisode) -> bool:
    return bool(np.isin(episode.scene.shapes, (Shape.LYING, Shape.BALL)).any())


def _alarms(scores: Sequence[Array], operators: Sequence[Any], alpha: float) -> Flags:
    """Whether an episode of the exam is above the split-conformal threshold of its operator."""
    found = np.zeros(len(scores[1]), np.bool_)
    for operator in np.unique(operators[1]):
        good = np.sort(scores[0][operators[0] == operator])
        rank = int(np.ceil((1 - alpha) * (len(good) + 1)))
        limit = good[rank - 1] if 0 < rank <= len(good) else np.inf
        rows = operators[1] == operator
        found[rows] = scores[1][rows] > limit
    return found


def _covered(
    nodes: Sequence[Nodes], judged: Sequence[tuple[Array, Array]], classes: Sequence[Any], good: Flags
) -> dict[str, list[list[int]]]:
    """Good objects of the exam within the conformal regions of their class, by predicted probability."""
    exam, movable = nodes[2], ~nodes[0].fixed
    rows = np.repeat(good, exam.counts) & ~exam.fixed
    inside = np.zeros((len(REGIONS), len(rows)), np.bool_)
    for name in np.unique(classes[2]):
        known = np.sort(judged[0][0][movable & (classes[0] == name)])
        if not len(known):
            known = np.sort(judged[0][0][movable])
        for k, level in enumerate(REGIONS):
            limit = known[min(len(known) - 1, int(np.ceil(level * (len(known) + 1))) - 1)]
            inside[k, classes[2] == name] = judged[2][0][classes[2] == name] <= limit
    bins = {"target": exam.target}
    bins |= {
        f"{low} to {high}": ~exam.target & (judged[2][1] >= low) & (judged[2][1] < high)
        for low, high in ((0.0, 0.1), (0.1, 0.5), (0.5, 0.9), (0.9, 1.01))
    }
    return {
        name: [[int((inside[k] & chosen & rows).sum()), int((chosen & rows).sum())] for k in range(len(REGIONS))]
        for name, chosen in bins.items()
    }


def _located(nodes: Nodes, rarity: Array, exam: Sequence[ContactEpisode], alarms: Flags) -> list[bool]:
    parts = np.split(np.where(nodes.fixed, -np.inf, rarity), np.cumsum(nodes.counts)[:-1])
    return [
        int(part.argmax()) in each.culprits
        for part, each, alarm in zip(parts, exam, alarms, strict=True)
        if alarm and each.kind != GOOD
    ]


def summarise_trials(results: Sequence[TrialResult], config: OutcomesConfig) -> dict[str, Any]:
    """Shares over the exam; several trainings are pooled, and their recalls are listed."""
    groups: dict[str, list[TrialResult]] = {}
    for each in results:
        groups.setdefault(each.trial.rsplit(" ", 1)[0], []).append(each)
    return {
        "alpha": config.alpha,
        "exam": len(results[0].kinds),
        "arms": {name: _summary(group) for name, group in groups.items()},
    }


def _summary(group: Sequence[TrialResult]) -> dict[str, Any]:
    first = group[0]
    faulty = np.array([kind != GOOD for kind in first.kinds])
    operators, rolling = np.array(first.operators), np.array(first.rolling)

    def shares(alarms: Array, chosen: Flags) -> dict[str, Share]:
        return {"noticed": _share(alarms, chosen & faulty), "false": _share(alarms, chosen & ~faulty)}

    every = np.array([each.alarms for each in group])
    without = np.array([each.alarms_without for each in group])
    kinds = np.array(first.kinds)
    covered = {
        name: [
            share(*map(sum, zip(*(each.covered[name][k] for each in group), strict=True))) for k in range(len(REGIONS))
        ]
        for name in first.covered
    }
    located = [found for each in group for found in each.located]
    return {
        **shares(every, np.ones(len(faulty), np.bool_)),
        "trainings": [round(float(row[faulty].mean()), 4) for row in every],
        "operators": {name: shares(every, operators == name) for name in DRAWN},
        "kinds": {str(name): _share(every, kinds == name) for name in np.unique(kinds) if name != GOOD},
        "without_rolling": shares(without, ~rolling),
        "native": shares(np.array([first.native]), np.ones(len(faulty), np.bool_)) if first.native else {},
        "covered": covered,
        "located": share(sum(located), len(located)),
    }


def _share(alarms: Array, chosen: Flags) -> Share:
    """The mean over trainings, with the interval of one exam: trainings share their episodes."""
    return share(round(float(alarms[:, chosen].sum()) / len(alarms)), int(chosen.sum()))


def table(metrics: Mapping[str, Any]) -> str:
    """The tables of the arms, by operator, and of the regions."""
    arms = metrics["arms"]
    noticed, false = ([(each, rate("operators", each, what)) for each in DRAWN] for what in ("noticed", "false"))
    regions = [
        [name, group, *(percent_of(found, 1) for found in levels), levels[0]["of"]]
        for name, each in arms.items()
        for group, levels in each["covered"].items()
    ]
    heads = ["arm", "P(affected)", *(f"in the {level:.0%} region" for level in REGIONS), "objects"]
    return document(
        "Outcomes that are distributions",
        f"Errors noticed at {100 * metrics['alpha']:g} % promised false alarms, "
        f"{metrics['exam']} episodes of the exam.\n",
        columns_table(
            ["arm, demonstrations, seen"],
            arms,
            [
                ("noticed", rate("noticed")),
                ("false alarms", rate("false")),
                ("without rolling objects", rate("without_rolling", "noticed")),
                *noticed,
                ("culprit named", rate("located")),
            ],
        ),
        columns_table(["false alarms"], arms, false),
        columns_table(
            ["with a tolerance of 2 cm"],
            {name: each["native"] for name, each in arms.items() if each["native"]},
            [("noticed", rate("noticed")), ("false alarms", rate("false"))],
        ),
        markdown_table(heads, regions),
    )


def check(config: OutcomesConfig) -> None:
    """Refuse unknown arms and views."""
    for name in config.arms:
        require_known(name, ARMS, "an arm", InvalidConfiguration)
    for name in config.views:
        require_known(name, VIEWS, "a view of the objects", InvalidConfiguration)


LEAST = {"trainings": 1, "shown": 20, "demonstrations": 80, "calibration": 80, "exam": 80}
MEASUREMENT = Measurement(OutcomesConfig, measure, table, check, LEAST, checkpoint=None)


if __name__ == "__main__":
    run(MEASUREMENT)
