"""What the pick-and-place with an arm and the one without an arm share."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from sim.tabletop.execution import Execution, Interrupted, SkillFailure
from sim.tabletop.poses import PoseEstimates

Array = npt.NDArray[np.float64]


class PickAndPlaceBase(ABC):
    """One pick-and-place: made for one action, run once."""

    def __init__(self, execution: Execution, estimates: PoseEstimates) -> None:
        """Prepare it.

        Args:
            execution: the action.
            estimates: what the controller believes about the objects.
        """
        self._execution, self._action, self._scene = execution, execution.action, execution.scene
        self._estimates = estimates
        self._name = self._action.arguments[0]

    def run(self) -> None:
        """Carry the action out as well as possible; a failure is noted in the scene."""
        missing = [name for name in self._action.arguments if name not in self._estimates]
        if missing:
            self._scene.note(f"{self._action}: the {missing[0]} is not on the table")
            return
        failed = False
        try:
            self._run()
        except Interrupted as reason:
            self._execution.ending = True
            self._scene.note(f"{self._action}: {reason}")
            failed = not self._put_back()
        except SkillFailure as reason:
            self._execution.ending = True
            self._scene.note(f"{self._action}: {reason}")
            failed = True
        self._finish(failed)

    @abstractmethod
    def _run(self) -> None:
        """Pick and place; `SkillFailure` if it cannot be continued."""

    def _put_back(self) -> bool:
        """Put an object that is held back where it was taken from, after an interruption; false: none is held."""
        return False

    @abstractmethod
    def _finish(self, failed: bool) -> None:
        """End the action, after a success or a failure."""

    def _place(self) -> tuple[Array, Array]:
        """Centre (3,) and rotation (3, 3) at which the object is to be put."""
        place = self._execution.goal(self._estimates)
        if place is None:
            raise SkillFailure("there is no free place")
        return place
