"""`python -m eval.inspect`: labels of LeRobot episodes, from successes alone, beside three simple monitors."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from eval.common.systems import system_of
from eval.common.tables import columns_table, document
from eval.metrics import columns, share, summary
from eval.run import Measurement, Run, Settings, run
from nsrecover.bridges.lerobot import EpisodeFiles, episodes_of
from nsrecover.core import FloatArray
from nsrecover.errors import InvalidConfiguration
from nsrecover.inspection.appearance import features_of
from nsrecover.inspection.inspecting import eyes_for, label_of
from nsrecover.inspection.labels import Label
from nsrecover.inspection.subtasks import learn
from nsrecover.inspection.watching import WatchedEpisode
from nsrecover.models.conformal import conformal_threshold
from sim.policies.command import GOOD, OTHERS, TRUTH
from sim.policies.recording import Truth

MOMENTS = 8
"""Moments of an episode at which its pictures are compared."""


@dataclass
class InspectConfig(Settings):
    """Label episodes of a scripted policy that python -m sim.policies recorded, and compare with the truth.

      python -m sim.policies out=data/policies; python -m eval.inspect

    The monitors beside it know the same successes and have the same promise: the pixels of the last frame, learned
    features of the picture in the course of the episode with a conformal band, and the time that an episode takes.

    Attributes:
        recorded: folder that python -m sim.policies wrote.
        few: successes of a task for the second row.
        alpha: share of successes that may be taken for failures.
        checkpoint: folder of a checkpoint; the shipped one if null.
    """

    recorded: str = "data/policies"
    few: int = 20
    alpha: float = 0.02
    checkpoint: str | None = None


@dataclass(frozen=True)
class Look:
    """What is kept of an episode: where objects are, and its pictures."""

    task: str
    names: tuple[str, ...]
    times_s: list[float]
    boxes: list[list[list[float]]]
    seen: list[list[bool]]
    missing: list[list[bool]]
    last: list[int]
    moments: list[list[float]]

    def watched(self, index: int) -> WatchedEpisode:
        """The same for `nsrecover.inspection`."""
        times, boxes = (np.array(each, np.float32) for each in (self.times_s, self.boxes))
        seen, missing = (np.array(each, np.bool_) for each in (self.seen, self.missing))
        none = np.zeros((len(self.names), 0), np.float32)
        return WatchedEpisode(index, self.task, self.names, none, times, boxes, seen, missing)


def look(item: tuple[str, int], config: InspectConfig) -> Look:
    """Perceive an episode, as `nsrecover inspect` does."""
    folder, system = Path(config.recorded) / item[0], system_of(config.checkpoint)
    listed = next(each for each in episodes_of(folder) if each.index == item[1])
    eyes = eyes_for(folder, system)
    found = eyes.watch(folder, listed)
    files = EpisodeFiles(folder, item[1])
    rows = files.rows()
    chosen = [rows[n] for n in np.linspace(0, len(rows) - 1, MOMENTS).round().astype(int)]
    pictures = files.images(eyes.colours[0], chosen)
    plain = [np.round(each, 4).tolist() for each in (found.times_s, found.boxes)]
    return Look(
        listed.task, found.names, plain[0], plain[1], found.seen.tolist(), found.missing.tolist(),
        np.asarray(pictures[-1], np.float32)[4::8, 4::8].astype(int).ravel().tolist(),
        np.round(features_of(pictures, system.model.bundle), 3).tolist(),
    )  # fmt: skip


def _scores_by_time(successes: Sequence[Look], each: Look) -> float:
    return max(each.times_s[-1] - float(np.median([one.times_s[-1] for one in successes])), 0.0)


def _scores_by_pixels(successes: Sequence[Look], each: Look) -> float:
    return float(np.linalg.norm(np.array([one.last for one in successes]) - np.array(each.last), axis=1).min())


def _scores_by_features(successes: Sequence[Look], each: Look) -> float:
    away: FloatArray = np.linalg.norm(np.array([one.moments for one in successes]) - np.array(each.moments), axis=2)
    return float(away.min(axis=0).max())


MONITORS: dict[str, Callable[[Sequence[Look], Look], float]] = {
    "last frame": _scores_by_pixels,
    "features with a band": _scores_by_features,
    "time limit": _scores_by_time,
}


def simple_labels(name: str, successes: Sequence[Look], others: Sequence[Look], alpha: float) -> list[Label]:
    """Labels of a monitor that has a score, calibrated on the successes, each left out in turn."""
    score = MONITORS[name]
    own = [score([*successes[:n], *successes[n + 1 :]], each) for n, each in enumerate(successes)]
    limit = -conformal_threshold(sorted(-each for each in own), len(own), max(alpha, 1 / (len(own) + 1)))
    return [Label(n, each.task, score(successes, each) <= limit) for n, each in enumerate(others)]


def labels_of(successes: Sequence[Look], others: Sequence[Look], alpha: float) -> list[Label]:
    """Labels of `nsrecover inspect`."""
    task = learn([each.watched(n) for n, each in enumerate(successes)], alpha)
    return [label_of(task, each.watched(n)) for n, each in enumerate(others)]


METRICS = (
    share("outcome", "success or failure", lambda pair: pair[0].succeeded == pair[1].succeeded),
    share("noticed", "failures noticed", lambda pair: not pair[0].succeeded, lambda pair: not pair[1].succeeded),
    share("false_alarms", "false alarms", lambda pair: not pair[0].succeeded, lambda pair: pair[1].succeeded),
    share("subtask", "failed subtask", lambda pair: _same_subtask(*pair), lambda pair: not pair[1].succeeded),
    share("object", "object", lambda pair: pair[0].object in pair[1].objects, lambda pair: not pair[1].succeeded),
)
"""Of pairs of a label and the truth."""


def _same_subtask(label: Label, truth: Truth) -> bool:
    """Whether the failed subtask moves the object that the failed step should have moved."""
    meant = label.task.split(", then ")[truth.step].split()
    return label.subtask is not None and label.subtask.split()[:4] == meant[:4]


def measure(config: InspectConfig, run: Run) -> dict[str, Any]:
    """Look at all episodes, and label the others from all and from few successes."""
    data = Path(config.recorded)
    items = [(part, each.index) for part in (GOOD, OTHERS) for each in episodes_of(data / part)]
    looks = dict(zip(items, run.each(partial(look, config=config), items, "episode", str), strict=True))
    told = json.loads((data / TRUTH).read_text(encoding="utf-8"))
    truths = [Truth(**{**each, "objects": tuple(each["objects"])}) for each in told]
    arms: dict[str, list[tuple[Label, Truth]]] = {}
    for task in dict.fromkeys(each.task for each in looks.values()):
        good = [each for (part, _), each in looks.items() if part == GOOD and each.task == task]
        numbers = [n for (part, n), each in looks.items() if part == OTHERS and each.task == task]
        others, own = [looks[OTHERS, n] for n in numbers], [truths[n] for n in numbers]
        found = {f"subtasks, {name} successes": labels_of(some, others, config.alpha)
                 for name, some in (("all", good), (str(config.few), good[: config.few]))}  # fmt: skip
        found |= {name: simple_labels(name, good, others, config.alpha) for name in MONITORS}
        for name, labels in found.items():
            arms.setdefault(name, []).extend(zip(labels, own, strict=True))
    wrong = [
        {"task": label.task, "kind": truth.kind, "step": truth.step, "objects": truth.objects, **label.to_dict()}
        for label, truth in next(iter(arms.values()))
        if label.succeeded != truth.succeeded
        or not (truth.succeeded or (_same_subtask(label, truth) and label.object in truth.objects))
    ]
    return {
        "successes": len(items) - len(truths), "episodes": len(truths), "alpha": config.alpha,
        "failed": sum(not each.succeeded for each in truths),
        "arms": {name: summary(pairs, METRICS) for name, pairs in arms.items()}, "wrong": wrong,
    }  # fmt: skip


def table(metrics: dict[str, Any]) -> str:
    """Table of all monitors."""
    title = (
        f"Episodes of a policy without a plan: {metrics['episodes']}, of which {metrics['failed']} failed; "
        f"{metrics['successes']} successes to learn from"
    )
    return document(title, columns_table(["from"], metrics["arms"], columns(METRICS)))


def check(config: InspectConfig) -> None:
    """Refuse folders that are none, and promises that cannot be kept."""
    system_of(config.checkpoint)
    if not (Path(config.recorded) / TRUTH).is_file():
        raise InvalidConfiguration(
            f"expected a folder of python -m sim.policies, found no {TRUTH} in {config.recorded}; run that first"
        )


MEASUREMENT = Measurement(InspectConfig, measure, table, check=check)

if __name__ == "__main__":
    run(MEASUREMENT)
