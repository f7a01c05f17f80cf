"""What happens while a pick-and-place runs, learned from successful demonstrations alone.

An action has phases that follow each other (a left-to-right hidden Markov model of the robot's own state, found by
alternating between the best division of every demonstration and the statistics of its parts). In each phase the moved
object is in one of three places, where it was, in the gripper, or where it belongs; the demonstrations tell in which,
how far beyond its visible part may reach, and how much of it may be seen through. A frame that fits no phase that can
be reached deviates. The threshold is chosen by split-conformal calibration over whole actions: of good actions a share
of alpha at most is interrupted (Vovk et al., Algorithmic Learning in a Random World, 2005, section 4.2.2).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from nsrecover.core.glances import Glance, Numbers
from nsrecover.errors import InvalidCheckpoint, InvalidRecording
from nsrecover.models.conformal import conformal_threshold
from nsrecover.util.atomic_write import atomic_write_bytes
from nsrecover.util.untrusted_json import read_json

FILE = "motions.json"
"""Its file in the folder of a checkpoint."""
PHASES = 7
ROUNDS = 20
"""Rounds of the alternation; it ends before, if nothing changes."""
USED = 0.02
"""A place counts as one of a phase if visible parts reach beyond it by at most so much more than beyond the best one,
metres."""
SHARE = 0.98
"""Share of the frames of successful actions that are within a limit."""
FINE_M = 0.005
"""No limit of a distance is below this, metres."""
FINE_EMPTY = 0.15
"""No limit of the share of a surface that is seen through is below this."""
FINE_FEATURES = np.array([0.1, 0.1, 0.005, 0.005, 0.003, 0.003])
"""No scale of a feature of `Glance.features` is below these."""
HAND = 4
"""The feature of `Glance.features` that says how much wider than the object the gripper is."""
UNLIKELY = 12.0
"""A phase whose best division of the frames is less likely than the best of all by this factor's logarithm is ruled
out."""


class Judged(NamedTuple):
    """What a frame says.

    Attributes:
        score: 1 and less is as in most demonstrations; above the threshold twice in a row, the action is interrupted.
        phase: number of the likeliest phase.
        other: row of the object that does not fit among those that the action does not move; -1: the moved object.
    """

    score: float
    phase: int
    other: int


@dataclass(frozen=True, eq=False)
class MotionModel:
    """The phases of an action.

    Attributes:
        means: (K, 6) of `Glance.features` in each phase.
        scales: (K, 6) their standard deviations.
        robot: (K,) greatest deviation of a feature in standard deviations.
        hand_m: (K,) greatest deviation of the opening from its mean difference to the width of the object.
        beyond_m: (K, 3) limit for each place of the moved object; infinite where it is not in this phase.
        empty: (K, 3) limit of the share that is seen through.
        others_m: the limit for objects that are not moved.
        others_empty: the same for the share that is seen through.
        threshold: for scores of whole actions.
        alpha: share of good actions that are interrupted at most.
        actions: numbers of actions that the limits and the threshold were learned from.
    """

    means: Numbers
    scales: Numbers
    robot: Numbers
    hand_m: Numbers
    beyond_m: Numbers
    empty: Numbers
    others_m: float
    others_empty: float
    threshold: float = np.inf
    alpha: float = 1.0
    actions: tuple[int, int] = (0, 0)

    def judge(self, frames: Numbers | None, glance: Glance) -> tuple[Numbers, Judged]:
        """Judge a frame.

        Args:
            frames: (K,) what the frames before it said about the phases; None: it is the first.
            glance: the frame.

        Returns:
            What it and the frames before it say about the phases, for the next call; and the judgement.
        """
        fits = self._fits(glance.features[None])[0]
        logs = np.where(np.arange(len(fits)) == 0, 0.0, -np.inf) if frames is None else _ways(frames).max(axis=0)
        logs = logs + fits
        logs -= logs.max()
        scores = np.where(logs >= -UNLIKELY, self._scores(glance), np.inf)
        other, row = self._others(glance)
        return logs, Judged(float(max(scores.min(), other)), int(np.argmax(logs)), row if other > scores.min() else -1)

    def score(self, glances: Sequence[Glance]) -> float:
        """The score of a whole action: the greatest that two frames in a row have."""
        logs, before, worst = None, 0.0, 0.0
        for glance in glances:
            logs, judged = self.judge(logs, glance)
            worst, before = max(worst, min(before, judged.score)), judged.score
        return worst

    def calibrated(self, actions: Sequence[Sequence[Glance]], alpha: float) -> MotionModel:
        """The same model with a threshold that interrupts at most a share of alpha of good actions.

        Raises:
            InvalidRecording: there are too few actions for the rate.
            InvalidConfiguration: the rate is out of its range, see `conformal_threshold`.
        """
        scores = sorted(-self.score(glances) for glances in actions)  # low is bad there
        threshold = -conformal_threshold(scores, len(scores), alpha)
        if len(scores) < (needed := int(np.ceil(1 / alpha)) - 1):
            raise InvalidRecording(
                f"expected at least {needed} successful actions to promise {alpha:g}, found {len(scores)}"
            )
        return replace(self, threshold=threshold, alpha=alpha, actions=(self.actions[0], len(scores)))

    def save(self, folder: str | Path) -> None:
        """Write it into the folder of a checkpoint."""
        data = {each.name: np.asarray(getattr(self, each.name)) for each in fields(self)}
        plain = {name: np.where(np.isfinite(value), value, None).tolist() for name, value in data.items()}  # type: ignore[call-overload]
        atomic_write_bytes(Path(folder) / FILE, json.dumps(plain).encode())

    @classmethod
    def load(cls, folder: str | Path) -> MotionModel:
        """Read it.

        Raises:
            InvalidCheckpoint: it is damaged.
        """
        path = Path(folder) / FILE
        try:
            data = cast("dict[str, Any]", read_json(path))
            parts: dict[str, Any] = {name: _finite_or_not(value) for name, value in data.items()}
            made = cls(**{**parts, "actions": tuple(data["actions"])})
            if made.means.shape != made.scales.shape or made.beyond_m.shape != (len(made.means), 3):
                raise ValueError("its parts do not fit each other")
        except (OSError, ValueError, TypeError, KeyError) as problem:
            raise InvalidCheckpoint(
                f"expected a model of motions in {path}, found: {problem}; make it with python -m train.motions"
            ) from problem
        return made

    def _fits(self, features: Numbers) -> Numbers:
        """Logarithm of the likelihood of features (T, 6) in each phase, (T, K)."""
        return _likelihoods(features, self.means, self.scales)

    def _scores(self, glance: Glance) -> Numbers:
        """How much of the limits of each phase the moved object and the robot use up, (K,)."""
        robot = np.abs((glance.features - self.means) / self.scales).max(axis=1) / self.robot
        robot = np.maximum(robot, np.abs(glance.features - self.means)[:, HAND] / self.hand_m)
        beyond = np.where(np.isnan(glance.beyond_m), 0.0, glance.beyond_m)
        empty = np.where(np.isnan(glance.beyond_m), glance.empty, 0.0)
        used = np.isfinite(self.beyond_m)
        places = np.where(used, np.maximum(beyond / self.beyond_m, empty / self.empty), np.inf)
        return np.asarray(np.maximum(robot, places.min(axis=1)))

    def _others(self, glance: Glance) -> tuple[float, int]:
        if not len(glance.others_m):
            return 0.0, -1
        seen = np.nan_to_num(glance.others_m) / self.others_m
        scores = np.maximum(seen, np.where(np.isnan(glance.others_m), glance.others_empty, 0.0) / self.others_empty)
        return float(scores.max()), int(scores.argmax())


def _finite_or_not(value: object) -> object:
    """An array or a number from plain data, in which null stands for infinity."""
    found = np.array(value, dtype=np.float64)
    found = np.where(np.isnan(found), np.inf, found)
    return found if found.ndim else float(found)


def fit_motions(actions: Sequence[Sequence[Glance]], phases: int = PHASES) -> MotionModel:
    """Learn the phases of successful actions.

    Args:
        actions: the frames of each.
        phases: their number K.

    Raises:
        InvalidRecording: there are no actions with as many frames as phases.
    """
    usable = [each for each in actions if len(each) >= phases]
    if len(usable) < phases:
        raise InvalidRecording(
            f"expected at least {phases} successful actions of {phases} frames each, found {len(usable)}"
        )
    features = [np.array([glance.features for glance in each]) for each in usable]
    paths: list[npt.NDArray[Any]] = [np.arange(len(each)) * phases // len(each) for each in features]
    for _ in range(ROUNDS):
        means, scales = _statistics(np.concatenate(features), np.concatenate(paths), phases)
        before, paths = paths, [_best_path(_likelihoods(each, means, scales)) for each in features]
        if all(np.array_equal(one, other) for one, other in zip(before, paths, strict=True)):
            break
    return _with_limits(
        means, scales, [glance for each in usable for glance in each], np.concatenate(paths), len(usable)
    )


def _with_limits(means: Numbers, scales: Numbers, glances: Sequence[Glance], path: Numbers, count: int) -> MotionModel:
    beyond_m, empty = np.full((len(means), 3), np.inf), np.full((len(means), 3), 1.0)
    robot, hand_m = np.ones((2, len(means)))
    reached, through = (np.array([getattr(glance, name) for glance in glances]) for name in ("beyond_m", "empty"))
    features = np.array([glance.features for glance in glances])
    for phase in range(len(means)):
        own = path == phase
        robot[phase] = np.quantile(np.abs((features[own] - means[phase]) / scales[phase]).max(axis=1), SHARE)
        hand = np.abs(features[own] - means[phase])[:, HAND]
        hand_m[phase] = max(float(np.quantile(hand, SHARE)), FINE_M)
        middle = np.nanmedian(reached[own], axis=0) if not np.isnan(reached[own]).all() else np.zeros(3)
        used = np.flatnonzero(middle <= np.nanmin(middle) + USED)
        best = reached[own][~np.isnan(reached[own][:, 0])][:, used].min(axis=1)
        beyond_m[phase, used] = max(float(np.quantile(best, SHARE)), FINE_M) if len(best) else FINE_M
        empty[phase, used] = max(float(np.quantile(through[own][:, used].min(axis=1), SHARE)), FINE_EMPTY)
    others = np.concatenate([glance.others_m for glance in glances])
    unseen = np.concatenate([glance.others_empty[np.isnan(glance.others_m)] for glance in glances])
    return MotionModel(
        means, scales, robot, hand_m, beyond_m, empty,
        max(float(np.nanquantile(others, SHARE)), FINE_M) if len(others) else FINE_M,
        max(float(np.quantile(unseen, SHARE)), FINE_EMPTY) if len(unseen) else FINE_EMPTY,
        actions=(count, 0),
    )  # fmt: skip


def _statistics(features: Numbers, path: Numbers, phases: int) -> tuple[Numbers, Numbers]:
    parts = [features[path == phase] for phase in range(phases)]
    parts = [part if len(part) else features for part in parts]
    return np.array([part.mean(axis=0) for part in parts]), np.array(
        [np.maximum(part.std(axis=0), FINE_FEATURES) for part in parts]
    )


def _likelihoods(features: Numbers, means: Numbers, scales: Numbers) -> Numbers:
    z = (features[:, None] - means) / scales
    return np.asarray(-0.5 * (z**2).sum(axis=-1) - np.log(scales).sum(axis=-1))


def _ways(logs: Numbers) -> Numbers:
    """What each phase has from the frame before, (3, K): if it stays, comes from the one before, or skips one."""
    return np.stack([np.concatenate([np.full(n, -np.inf), logs[: len(logs) - n]]) for n in range(3)])


def _best_path(fits: Numbers) -> Numbers:
    """The likeliest division of T frames into phases that begins with the first, (T,), from likelihoods (T, K)."""
    logs, steps = np.where(np.arange(fits.shape[1]) == 0, fits[0], -np.inf), []
    for row in fits[1:]:
        ways = _ways(logs)
        steps.append(ways.argmax(axis=0))
        logs = ways.max(axis=0) + row
    path = [int(logs.argmax())]
    for step in reversed(steps):
        path.append(path[-1] - int(step[path[-1]]))
    return np.array(path[::-1])
