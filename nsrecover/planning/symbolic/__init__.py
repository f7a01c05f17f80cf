"""Recovery of symbolic plans: grounded tasks, heuristics and repair."""

from nsrecover.planning.symbolic.repair import Repair, SymbolicModel, repair, what_is_left

__all__ = ["Repair", "SymbolicModel", "repair", "what_is_left"]
