"""Watches an action while it runs: each frame is compared with what successful demonstrations looked like."""

from __future__ import annotations

from nsrecover.core.actions import Action
from nsrecover.core.glances import RobotState
from nsrecover.core.observation import Observation
from nsrecover.core.scene import SceneGraph, SceneT
from nsrecover.errors import InvalidConfiguration
from nsrecover.monitoring.monitor import Monitor
from nsrecover.monitoring.motion import Judged, MotionModel
from nsrecover.perception.objects.glances import ActionGlances


class During:
    """Watches one action.

    Args:
        model: what happens during an action; None: there is no such model.
        monitor: of the plan; the action is its next one.
        action: what runs.
        time_s: when the first frame was made.

    Attributes:
        judged: the last frame.

    Raises:
        InvalidConfiguration: there is no model, or scenes are facts.
    """

    def __init__(self, model: MotionModel | None, monitor: Monitor[SceneT], action: Action, time_s: float) -> None:
        if model is None:
            raise InvalidConfiguration(
                "expected a system with a model of motions, found none; make it with python -m train.motions"
            )
        before, expected = monitor.graph, monitor.trace.graphs[monitor.num_executed + 1]
        if not isinstance(before, SceneGraph) or not isinstance(expected, SceneGraph):
            raise InvalidConfiguration("expected scenes of boxes while actions are watched, found scenes of facts")
        self._model, self._action = model, action
        self._glances = ActionGlances(before, expected, action.arguments[0], time_s)
        self._names = tuple(name for name in self._glances.names if name != action.arguments[0])
        self.judged: Judged | None = None

    def glanced(self, observation: Observation, robot: RobotState) -> str | None:
        """Judge a frame.

        Returns:
            The object that deviates in two frames in a row, so that the action should be interrupted; None: none does.
        """
        last = self.judged
        self.judged = self._model.judge(self._glances.look(observation, robot))
        limit = self._model.threshold
        if last is None or min(last.score, self.judged.score) <= limit:
            return None
        return self._action.arguments[0] if self.judged.other < 0 else self._names[self.judged.other]
