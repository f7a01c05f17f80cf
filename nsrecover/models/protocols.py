"""Protocols of the models for imagination, comparison and planning; `nsrecover.models.bundle.Bundle` has all of them.

`nsrecover.models.geometric.GeometricModels` computes places from boxes alone.
"""

from typing import Protocol, runtime_checkable

import numpy.typing as npt

from nsrecover.core.scene import FloatArray
from nsrecover.models.free_place import Table
from nsrecover.util.python310 import Self


class RecoveryModels(Table, Protocol):
    """What planning needs: the comparison of places, and the table."""

    @property
    def threshold(self) -> float:
        """Probability under which an object counts as wrong."""

    @property
    def tolerance_m(self) -> float:
        """Displacement from which on an object is more likely than not to count as wrong, metres."""

    @property
    def room_m(self) -> float | None:
        """How much wider or higher than expected an object may be, metres; None: that does not count.

        It counts on crowded tables: a brick that lies crosswise in its place bars its neighbours from the fingers.
        """

    def learned(self, visual: npt.ArrayLike) -> FloatArray:
        """The part (..., E) of features (..., D) that tells objects of one colour apart, unit length."""

    def same(
        self, visual_a: npt.ArrayLike, boxes_a: npt.ArrayLike, visual_b: npt.ArrayLike, boxes_b: npt.ArrayLike
    ) -> FloatArray:
        """P(same object in the same place) for M pairs of nodes (M, D), (M, 6): (M,)."""


class SceneModels(RecoveryModels, Protocol):
    """What a `nsrecover.System` needs."""

    @property
    def feature_size(self) -> int | None:
        """D, the length that appearance features must have; None if appearance plays no part."""

    @property
    def learned_size(self) -> int | None:
        """Length of the learned part alone, which suffices for scene graphs from outside; None if there is none."""

    def with_threshold(self, threshold: float) -> Self:
        """The same models with another decision threshold; these stay as they are."""

    def with_tolerance(self, tolerance_m: float) -> Self:
        """The same models with another tolerance; these stay as they are."""

    def with_table(self, workspace: tuple[float, float, float, float], room_m: float | None = None) -> Self:
        """The same models for another table; these stay as they are."""


@runtime_checkable
class Transitions(Protocol):
    """Models that have learned where actions lead."""

    @property
    def operators(self) -> tuple[str, ...]:
        """Names of the operators that were learned."""

    def predict(
        self,
        visual: npt.ArrayLike,
        boxes: npt.ArrayLike,
        operators: npt.ArrayLike,
        moved: npt.ArrayLike,
        reference: npt.ArrayLike,
    ) -> tuple[FloatArray, FloatArray]:
        """The moved objects after B actions: boxes (B, 6) and features (B, D).

        Args:
            visual: (B, N, D).
            boxes: (B, N, 6).
            operators: (B,) index into `operators`.
            moved: (B,) index of the moved object.
            reference: (B,) index of the other argument.
        """


@runtime_checkable
class PushOutcomes(Protocol):
    """Models that know where pushes lead, as distributions of all objects that they touch."""

    def pushed(self, boxes: npt.ArrayLike, moved: int, target: npt.ArrayLike) -> FloatArray:
        """Expected boxes (N, 6) after a push.

        Args:
            boxes: (N, 6) before, metres.
            moved: index of the pushed object.
            target: (6,) box to which it is pushed.
        """

    def push_as_expected(
        self, boxes: npt.ArrayLike, moved: int, target: npt.ArrayLike, after: npt.ArrayLike
    ) -> FloatArray:
        """P(as expected) (N,) of boxes `after` (N, 6), by their likelihood; other arguments as for `pushed`."""
