"""Notice plan execution errors from camera images, say why, and find the shortest way back onto the plan.

The names in `__all__` are the public interface; they follow semantic versioning. They are imported on first use, so
that `import nsrecover` is quick; torch is loaded by `load()`, and by nothing before.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nsrecover.agent import RecoveryAgent
    from nsrecover.boxes import BoxesPerceiver, scene_of_boxes
    from nsrecover.compare import Comparison
    from nsrecover.monitor import Monitor
    from nsrecover.observation import Camera, Observation
    from nsrecover.operators import register
    from nsrecover.perceive import ScenePerceiver
    from nsrecover.planning.recover import RecoveryPlanner, Rejoin
    from nsrecover.planning.subgoals import Subgoals
    from nsrecover.protocols import Explainer, LanguageModel, Operator, Perceiver, PlacingOperator, World
    from nsrecover.recording import Recording
    from nsrecover.structs import (
        Action,
        Cause,
        Culprit,
        Discrepancy,
        Episode,
        Explanation,
        Plan,
        Recovery,
        RecoveryStatus,
        SceneGraph,
        Trace,
    )
    from nsrecover.system import System, geometric, load

__version__ = "0.1.0"

_HOMES = {
    "nsrecover.agent": ("RecoveryAgent",),
    "nsrecover.boxes": (
        "BoxesPerceiver",
        "scene_of_boxes",
    ),
    "nsrecover.compare": ("Comparison",),
    "nsrecover.monitor": ("Monitor",),
    "nsrecover.observation": (
        "Camera",
        "Observation",
    ),
    "nsrecover.operators": ("register",),
    "nsrecover.perceive": ("ScenePerceiver",),
    "nsrecover.planning.recover": (
        "RecoveryPlanner",
        "Rejoin",
    ),
    "nsrecover.planning.subgoals": ("Subgoals",),
    "nsrecover.protocols": (
        "Explainer",
        "LanguageModel",
        "Operator",
        "Perceiver",
        "PlacingOperator",
        "World",
    ),
    "nsrecover.recording": ("Recording",),
    "nsrecover.structs": (
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
