"""The household domain: its kinds of objects, what can be done with them, and what follows by law."""

from nsrecover.domains.household.domain import HOUSEHOLD, LASTING
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.household.scene import HouseholdScene, household

__all__ = ["HOUSEHOLD", "LASTING", "HouseholdScene", "Trait", "household"]
