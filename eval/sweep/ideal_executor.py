"""Reference executor without errors: the states that real actions are judged against."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from types import TracebackType

import pybullet

from eval.common.rejoin import carry_out, put_in_place
from nsrecover.core.actions import Action
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.scenes import SceneSpec
from sim.tabletop.truth import Truth, deviations
from sim.tabletop.world import TabletopWorld


class IdealExecutor:
    """Second simulator of the same scene, without an arm and without errors; use it as a context manager.

    Args:
        scene: of the episode.
        seed: of the episode.
    """

    def __init__(self, scene: SceneSpec, seed: int) -> None:
        self._world = TabletopWorld(scene, seed=seed, fidelity=Fidelity.KINEMATIC)
        self._masses: dict[str, float] = {}

    def start(self) -> Truth:
        """Return the current state; at first the start of the episode."""
        return self._world.truth()

    def after(self, truth: Truth, actions: Sequence[Action]) -> list[Truth]:
        """Return the state after each of some actions that start from a true state."""
        put_in_place(self._world, truth)
        steady = not deviations(self._world.truth(), truth)
        with nullcontext() if steady else self._held(truth):
            return [self._carried_out(action) for action in actions]

    def _carried_out(self, action: Action) -> Truth:
        if self._masses:
            self._hold(self._world.truth(), moving=action.arguments[0])
        carry_out(self._world, [action])
        return self._world.truth()

    @contextmanager
    def _held(self, truth: Truth) -> Iterator[None]:
        """Fix all objects except the moved ones: a high tower may fall when its poses are restored."""
        client = self._world.client
        self._masses = {
            name: pybullet.getDynamicsInfo(self._world.body(name), -1, physicsClientId=client)[0]
            for name, present in zip(truth.names, truth.present, strict=True)
            if present
        }
        try:
            self._hold(truth)
            put_in_place(self._world, truth)
            yield
        finally:
            self._set_masses(self._masses)
            self._masses = {}

    def _hold(self, truth: Truth, moving: str | None = None) -> None:
        """Fix all objects except one and those that rest on it."""
        free = {moving}
        while more := {name for name, below in truth.supports.items() if below in free and below is not None} - free:
            free |= more
        self._set_masses({name: mass if name in free else 0.0 for name, mass in self._masses.items()})

    def _set_masses(self, masses: Mapping[str, float]) -> None:
        """Set the masses of objects; an object without mass does not move."""
        for name, mass in masses.items():
            pybullet.changeDynamics(self._world.body(name), -1, mass=mass, physicsClientId=self._world.client)

    def __enter__(self) -> IdealExecutor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._world.close()
