"""How far frames of a pick-and-place may be from what should be seen, learned from successful demonstrations alone.

An action has three phases: the hand has not taken the object yet, has it, has let it go. In each of them it is known
where the object should be; the demonstrations tell how far beyond its visible part may reach, how much of the place may
be seen through if nothing of it is visible, and how far the fingers may move once they have closed on it. The score of
a frame is the share of these limits that it uses up. The threshold is chosen by split-conformal calibration over whole
actions: of good actions a share of alpha at most is interrupted (Vovk et al., Algorithmic Learning in a Random World,
2005, section 4.2.2).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.core.glances import PHASES, Glance, Numbers, RobotState
from nsrecover.core.observation import Observation
from nsrecover.core.scene import SceneGraph, SceneT
from nsrecover.errors import InvalidCheckpoint, InvalidConfiguration, InvalidRecording
from nsrecover.models.conformal import conformal_threshold
from nsrecover.monitoring.monitor import Monitor
from nsrecover.perception.objects.glances import ActionGlances
from nsrecover.util.atomic_write import atomic_write_bytes
from nsrecover.util.untrusted_json import read_json

FILE = "motions.json"
"""Its file in the folder of a checkpoint."""
SHARE = 0.98
"""Share of the frames of successful actions that are within a limit."""
FINE_M, FINE_HAND_M = 0.008, 0.003
"""No limit of a distance of objects, and of fingers, is below this."""
FINE_EMPTY = 0.25
"""No limit of the share of a surface that is seen through is below this."""


class Judged(NamedTuple):
    """What a frame says.

    Attributes:
        score: 1 and less is as in most demonstrations; above the threshold twice in a row, the action is interrupted.
        other: row of the object that does not fit among those that the action does not move; -1: the moved object.
    """

    score: float
    other: int


@dataclass(frozen=True)
class MotionModel:
    """Limits of what is seen while an action runs.

    Attributes:
        hand_m: of the distance of the fingers from where they have closed on the object.
        beyond_m: of the distance of the moved object from its place in each phase.
        empty: of the share of its place that is seen through in each phase.
        others_m: of the distance of other objects from their places.
        others_empty: of the share of their places that is seen through.
        threshold: for scores of whole actions.
        alpha: share of good actions that are interrupted at most.
        actions: numbers of actions that the limits and the threshold were learned from.
    """

    hand_m: float
    beyond_m: tuple[float, ...]
    empty: tuple[float, ...]
    others_m: float
    others_empty: float
    threshold: float
    alpha: float = 1.0
    actions: tuple[int, int] = (0, 0)

    def frames(self, monitor: Monitor[SceneT], action: Action, time_s: float) -> BoxFrames:
        """What judges the frames of an action; see `nsrecover.monitoring.during.ActionModel`."""
        before, expected = monitor.graph, monitor.trace.graphs[monitor.num_executed + 1]
        if not isinstance(before, SceneGraph) or not isinstance(expected, SceneGraph):
            raise InvalidConfiguration(
                "expected scenes of boxes while actions are watched by a model of motions, found scenes of facts"
            )
        return BoxFrames(self, ActionGlances(before, expected, action.arguments[0], time_s), action.arguments[0])

    def judge(self, glance: Glance) -> Judged:
        """Judge a frame."""
        phase, hidden = PHASES.index(glance.phase), np.isnan(glance.beyond_m)
        own = glance.empty / self.empty[phase] if hidden else glance.beyond_m / self.beyond_m[phase]
        own = max(own, abs(glance.slack_m) / self.hand_m)
        seen = glance.others_m / self.others_m
        others = np.where(np.isnan(seen), glance.others_empty / self.others_empty, seen)
        return Judged(float(max(own, others.max(initial=0.0))), int(others.argmax()) if (others > own).any() else -1)

    def score(self, glances: Sequence[Glance]) -> float:
        """The score of a whole action: the greatest that two frames in a row have."""
        scores = [self.judge(glance).score for glance in glances]
        return max((min(pair) for pair in pairwise(scores)), default=0.0)

    def calibrated(self, actions: Sequence[Sequence[Glance]], alpha: float) -> MotionModel:
        """The same model with a threshold, 1 or more, that interrupts at most a share of alpha of good actions.

        Raises:
            InvalidRecording: there are too few actions for the rate.
            InvalidConfiguration: the rate is out of its range, see `conformal_threshold`.
        """
        scores = sorted(-self.score(glances) for glances in actions)  # low is bad there
        threshold = max(1.0, -conformal_threshold(scores, len(scores), alpha))
        if len(scores) < (needed := int(np.ceil(1 / alpha)) - 1):
            raise InvalidRecording(
                f"expected at least {needed} successful actions to promise {alpha:g}, found {len(scores)}"
            )
        return replace(self, threshold=threshold, alpha=alpha, actions=(self.actions[0], len(scores)))

    def save(self, folder: str | Path) -> None:
        """Write it into the folder of a checkpoint."""
        atomic_write_bytes(Path(folder) / FILE, json.dumps(asdict(self)).encode())

    @classmethod
    def load(cls, folder: str | Path) -> MotionModel:
        """Read it.

        Raises:
            InvalidCheckpoint: it is damaged.
        """
        path = Path(folder) / FILE
        try:
            data = cast("dict[str, Any]", read_json(path))
            parts: dict[str, Any] = {key: tuple(each) if isinstance(each, list) else each for key, each in data.items()}
            made = cls(**parts)
            numbers = [made.hand_m, *made.beyond_m, *made.empty, made.others_m, made.others_empty, made.threshold]
            if len(numbers) != 4 + 2 * len(PHASES) or not all(0 < float(each) < np.inf for each in numbers):
                raise ValueError("its parts do not fit each other")
        except (OSError, ValueError, TypeError, AttributeError) as problem:
            raise InvalidCheckpoint(
                f"expected a model of motions in {path}, found: {problem}; make it with python -m train.motions"
            ) from problem
        return made


class BoxFrames:
    """Judges the frames of one action in a scene of boxes.

    Args:
        model: the limits.
        glances: at the objects.
        moved: the object that the action moves.
    """

    def __init__(self, model: MotionModel, glances: ActionGlances, moved: str) -> None:
        self._model, self._glances, self._moved = model, glances, moved
        self._others, self._beyond = tuple(name for name in glances.names if name != moved), False

    def judge(self, observation: Observation, robot: RobotState) -> tuple[str, ...]:
        """The object that deviates most in this frame, if one does in it and in the frame before."""
        found, before = self._model.judge(self._glances.look(observation, robot)), self._beyond
        self._beyond = found.score > self._model.threshold
        if not (before and self._beyond):
            return ()
        return (self._moved if found.other < 0 else self._others[found.other],)

    def confirmed(self, name: str) -> bool:
        """True: how often good actions are interrupted is calibrated, and an object can fall twice."""
        return True


def fit_motions(actions: Sequence[Sequence[Glance]]) -> MotionModel:
    """Learn the limits from the frames of successful actions.

    Raises:
        InvalidRecording: in none of them something was held.
    """
    glances = [glance for each in actions for glance in each]
    if {glance.phase for glance in glances} != set(PHASES):
        raise InvalidRecording("expected successful actions in which something is taken and let go, found none")
    beyond_m, empty = [], []
    for phase in PHASES:
        own = [glance for glance in glances if glance.phase == phase]
        beyond_m.append(_limit([glance.beyond_m for glance in own], FINE_M))
        empty.append(_limit([glance.empty for glance in own if np.isnan(glance.beyond_m)], FINE_EMPTY))
    others_m = np.concatenate([glance.others_m for glance in glances])
    hidden = np.concatenate([glance.others_empty[np.isnan(glance.others_m)] for glance in glances])
    return MotionModel(
        _limit([abs(glance.slack_m) for glance in glances if glance.phase == PHASES[1]], FINE_HAND_M),
        tuple(beyond_m), tuple(empty), _limit(others_m, FINE_M), _limit(hidden, FINE_EMPTY), 1.0,
        actions=(len(actions), 0),
    )  # fmt: skip


def _limit(values: Sequence[float] | Numbers, least: float) -> float:
    """What a share of the values that are known is within, but not less than the least."""
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    return max(float(np.quantile(known, SHARE)), least) if len(known) else least
