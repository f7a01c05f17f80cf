"""Notice plan execution errors from camera images, say why, and find the shortest way back onto the plan."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nsrecover.agent import RecoveryAgent
    from nsrecover.monitor import Monitor
    from nsrecover.observation import Camera, Observation
    from nsrecover.perceive import ScenePerceiver
    from nsrecover.planning.recover import RecoveryPlanner, Rejoin
    from nsrecover.planning.subgoals import Subgoals
    from nsrecover.recording import Recording
    from nsrecover.structs import Action, Discrepancy, Episode, Explanation, Plan, Recovery, SceneGraph, Trace
    from nsrecover.system import System, load

_HOMES = {
    **dict.fromkeys(
        (
            "Action",
            "Discrepancy",
            "Episode",
            "Explanation",
            "Plan",
            "Recovery",
            "SceneGraph",
            "Trace",
        ),
        "nsrecover.structs",
    ),
    "Camera": "nsrecover.observation",
    "Monitor": "nsrecover.monitor",
    "Observation": "nsrecover.observation",
    "Recording": "nsrecover.recording",
    "RecoveryAgent": "nsrecover.agent",
    "RecoveryPlanner": "nsrecover.planning.recover",
    "Rejoin": "nsrecover.planning.recover",
    "ScenePerceiver": "nsrecover.perceive",
    "Subgoals": "nsrecover.planning.subgoals",
    "System": "nsrecover.system",
    "load": "nsrecover.system",
}

__all__ = [
    "Action",
    "Camera",
    "Discrepancy",
    "Episode",
    "Explanation",
    "Monitor",
    "Observation",
    "Plan",
    "Recording",
    "Recovery",
    "RecoveryAgent",
    "RecoveryPlanner",
    "Rejoin",
    "SceneGraph",
    "ScenePerceiver",
    "Subgoals",
    "System",
    "Trace",
    "load",
]


def __getattr__(name: str) -> Any:
    """Import on first use, so that `import nsrecover` is quick and loads no learned part."""
    if name not in _HOMES:
        raise AttributeError(f"module 'nsrecover' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
