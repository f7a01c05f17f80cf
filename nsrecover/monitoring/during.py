"""Watches an action while it runs: the frames that a model of the action finds wrong, two in a row, interrupt it."""

from __future__ import annotations

from typing import Protocol

from nsrecover.core.actions import Action
from nsrecover.core.glances import RobotState
from nsrecover.core.observation import Observation
from nsrecover.core.scene import SceneT
from nsrecover.errors import InvalidConfiguration
from nsrecover.monitoring.monitor import Monitor


class Frames(Protocol):
    """Judges the frames of one action."""

    def judge(self, observation: Observation, robot: RobotState) -> str | None:
        """The object that deviates in a frame; None: none does."""
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
        action: what runs.
        time_s: when the first frame was made.

    Raises:
        InvalidConfiguration: there is no model, or it is for scenes of another type.
    """

    def __init__(self, model: ActionModel | None, monitor: Monitor[SceneT], action: Action, time_s: float) -> None:
        if model is None:
            raise InvalidConfiguration(
                "expected a system with a model of motions, found none; make it with python -m train.motions"
            )
        self._frames, self._before = model.frames(monitor, action, time_s), False

    def glanced(self, observation: Observation, robot: RobotState) -> str | None:
        """Judge a frame.

        Returns:
            The object that deviates in this frame, if one has deviated in the frame before, too, so that the action
            should be interrupted; else None.
        """
        before, name = self._before, self._frames.judge(observation, robot)
        self._before = name is not None
        return name if before else None
