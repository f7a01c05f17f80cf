"""Recovery of symbolic plans: grounded tasks, heuristics and repair."""

from nsrecover.planning.symbolic.grounding import Interrupted
from nsrecover.planning.symbolic.repair import Repair, repair, stopping, what_is_left
from nsrecover.planning.symbolic.symbolic_model import SymbolicModel

__all__ = ["Interrupted", "Repair", "SymbolicModel", "repair", "stopping", "what_is_left"]
