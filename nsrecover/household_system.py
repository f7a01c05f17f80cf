"""Household tasks monitored from images and sound: what `nsrecover.load("household")` returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nsrecover.core.facts import StateFact
from nsrecover.domains.instance import Instance
from nsrecover.fact_system import FactSystem, symbolic

if TYPE_CHECKING:
    from nsrecover.models.household import HouseholdModels  # loads torch


@dataclass(frozen=True)
class HouseholdSystem:
    """The learned parts of a household; with the objects of a scene and a goal they make a `FactSystem`.

    Attributes:
        models: the learned parts of a checkpoint.
    """

    models: HouseholdModels

    def system(
        self,
        instance: Instance,
        goal: Sequence[StateFact] | None = None,
        durations: Mapping[str, float] | None = None,
        *,
        reads: bool = True,
        hears: bool = True,
    ) -> FactSystem:
        """A system whose observations are `nsrecover.Observation`s: images with the names of objects, and sound.

        Args:
            instance: the household over the objects of the scene, from `nsrecover.domains.household.household`.
            goal: conditions that hold in the end; None: what a plan brings about.
            durations: operator -> seconds, the cost of a recovery; None: as demonstrated.
            reads: whether states are read from images; False for comparisons.
            hears: whether recordings count; False for comparisons.

        Raises:
            InvalidConfiguration: the goal contradicts itself, an operator is unknown, or a duration is not positive.
        """
        known = self.models.config.durations
        costs = {name: known[name] for name in instance.domain.operators if name in known}
        made = symbolic(instance, goal, durations or costs or None)
        return replace(made, perceiver=lambda home: self.models.perceiver(home, reads, hears), visits=True)
