"""What the scene would be if an unerring hand had carried an action out: the truth that errors are judged by."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from eval.rejoin import carry_out, put_in_place
from nsrecover.structs import Action
from sim.scenes import SceneSpec
from sim.truth import Truth
from sim.world import Fidelity, TabletopWorld


class IdealHand:
    """A second simulator of the same scene without an arm, in which nothing goes wrong; use it as a context manager.

    Args:
        scene: of the episode.
        seed: of the episode.
    """

    def __init__(self, scene: SceneSpec, seed: int) -> None:
        self._world = TabletopWorld(scene, seed=seed, fidelity=Fidelity.KINEMATIC)

    def start(self) -> Truth:
        """The scene as it is; at first as the episode begins."""
        return self._world.truth()

    def after(self, truth: Truth, actions: Sequence[Action]) -> list[Truth]:
        """The scene after each of some actions that begin in a true state."""
        put_in_place(self._world, truth)
        found = []
        for action in actions:
            carry_out(self._world, [action])
            found.append(self._world.truth())
        return found

    def __enter__(self) -> IdealHand:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._world.close()
