"""Watches an action while it runs: frames that a model of the action finds wrong interrupt it."""

from __future__ import annotations

from typing import Protocol

from nsrecover.core.actions import Action
from nsrecover.core.glances import RobotState
from nsrecover.core.observation import Observation
from nsrecover.core.scene import SceneT
from nsrecover.core.sessions.requests import Act
from nsrecover.errors import InvalidConfiguration
from nsrecover.monitoring.monitor import Monitor


class Frames(Protocol):
    """Judges the frames of one action."""

    def judge(self, observation: Observation, robot: RobotState) -> tuple[str, ...]:
        """The objects that deviate in this frame and for long enough before it, the one that matters most first."""
        ...

    def confirmed(self, name: str) -> bool:
        """Whether an object for which the action was interrupted deviates in the scene that was observed afterwards."""
        ...


class ActionModel(Protocol):
    """Says what should be seen while actions run."""

    def frames(self, monitor: Monitor[SceneT], action: Action, time_s: float) -> Frames:
        """What judges the frames of an action.

        Args:
            monitor: of the plan; the action is its next one.
            action: what runs.
            time_s: when the first frame was made.

        Raises:
            InvalidConfiguration: the model is for scenes of another type.
        """
        ...


class During:
    """Watches one action.

    Args:
        model: what should be seen while it runs; None: there is no such model.
        monitor: of the plan; the action is its next one.
        turn: the request to carry out the action.
        time_s: when the first frame was made.
        previous: what has watched the action before this one. If that was the same action, objects for which it was
            interrupted, and that the scene afterwards has not shown to deviate, do not interrupt it again.

    Raises:
        InvalidConfiguration: there is no model, or it is for scenes of another type.
    """

    def __init__(
        self,
        model: ActionModel | None,
        monitor: Monitor[SceneT],
        turn: Act,
        time_s: float,
        previous: During | None = None,
    ) -> None:
        if model is None:
            raise InvalidConfiguration(
                "expected a system with a model of motions, found none; make it with python -m train.motions"
            )
        self.turn, self._frames = turn, model.frames(monitor, turn.action, time_s)
        self._named = frozenset[str]()
        self._doubted = frozenset[str]() if previous is None else previous.doubted(turn.action)

    def glanced(self, observation: Observation, robot: RobotState) -> str | None:
        """Judge a frame.

        Returns:
            The object that deviates, so that the action should be interrupted; None: there is none.
        """
        wrong = self._frames.judge(observation, robot)
        found = next((name for name in wrong if name not in self._doubted), None)
        if found is not None:
            self._named |= {found}
        return found

    def doubted(self, action: Action) -> frozenset[str]:
        """The objects that interrupted this action without deviating in the scene that was observed afterwards."""
        if action != self.turn.action:
            return frozenset()
        return self._doubted.union(name for name in self._named if not self._frames.confirmed(name))
