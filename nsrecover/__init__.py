"""Notice plan execution errors from camera images, say why, and find the shortest way back onto the plan.

The names in `__all__` are the public interface; they follow semantic versioning. They are imported on first use, so
that `import nsrecover` is quick; torch is loaded by `load()`, and by nothing before.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nsrecover.agent import RecoveryAgent
    from nsrecover.core.actions import Action, Plan, Trace
    from nsrecover.core.discrepancy import Cause, Culprit, Discrepancy
    from nsrecover.core.episode import Episode
    from nsrecover.core.explanation import Explanation
    from nsrecover.core.observation import Camera, Observation
    from nsrecover.core.protocols import Explainer, LanguageModel, Operator, Perceiver, PlacingOperator, World
    from nsrecover.core.recovery import Recovery, RecoveryStatus
    from nsrecover.core.scene import SceneGraph
    from nsrecover.domains.tabletop.operators import register
    from nsrecover.monitoring.comparison import Comparison
    from nsrecover.monitoring.monitor import Monitor
    from nsrecover.perception.boxes import BoxesPerceiver, scene_of_boxes
    from nsrecover.perception.perceiver import ScenePerceiver
    from nsrecover.planning.planner import RecoveryPlanner, Rejoin
    from nsrecover.planning.subgoals import Subgoals
    from nsrecover.records.recording import Recording
    from nsrecover.system import System, geometric, load

__version__ = "0.1.0"

_HOMES = {
    "nsrecover.agent": ("RecoveryAgent",),
    "nsrecover.perception.boxes": (
        "BoxesPerceiver",
        "scene_of_boxes",
    ),
    "nsrecover.monitoring.comparison": ("Comparison",),
    "nsrecover.monitoring.monitor": ("Monitor",),
    "nsrecover.core.observation": (
        "Camera",
        "Observation",
    ),
    "nsrecover.domains.tabletop.operators": ("register",),
    "nsrecover.perception.perceiver": ("ScenePerceiver",),
    "nsrecover.planning.planner": (
        "RecoveryPlanner",
        "Rejoin",
    ),
    "nsrecover.planning.subgoals": ("Subgoals",),
    "nsrecover.core.protocols": (
        "Explainer",
        "LanguageModel",
        "Operator",
        "Perceiver",
        "PlacingOperator",
        "World",
    ),
    "nsrecover.records.recording": ("Recording",),
    "nsrecover.core": (
        "Action",
        "Cause",
        "Culprit",
        "Discrepancy",
        "Episode",
        "Explanation",
        "Plan",
        "Recovery",
        "RecoveryStatus",
        "SceneGraph",
        "Trace",
    ),
    "nsrecover.system": (
        "System",
        "geometric",
        "load",
    ),
}

__all__ = [
    "Action",
    "BoxesPerceiver",
    "Camera",
    "Cause",
    "Comparison",
    "Culprit",
    "Discrepancy",
    "Episode",
    "Explainer",
    "Explanation",
    "LanguageModel",
    "Monitor",
    "Observation",
    "Operator",
    "Perceiver",
    "PlacingOperator",
    "Plan",
    "Recording",
    "Recovery",
    "RecoveryAgent",
    "RecoveryPlanner",
    "RecoveryStatus",
    "Rejoin",
    "SceneGraph",
    "ScenePerceiver",
    "Subgoals",
    "System",
    "Trace",
    "World",
    "__version__",
    "geometric",
    "load",
    "register",
    "scene_of_boxes",
]


def __getattr__(name: str) -> Any:
    """Import on first use."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'nsrecover' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public interface, also before it is imported."""
    return sorted(__all__)
