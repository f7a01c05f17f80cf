"""The data that flows through the system, and the protocols of what can be plugged in.

Units are metres, radians and seconds; the frame is the robot base with z up. Shape letters: V views, H W pixels,
N objects, D features, T steps.
"""

from nsrecover.core.actions import Action, Plan, Trace
from nsrecover.core.discrepancy import Cause, Culprit, Discrepancy, Phase
from nsrecover.core.episode import Episode, EpisodeStatus, StepRecord
from nsrecover.core.explanation import Explanation, Fact, Sentence
from nsrecover.core.observation import Camera, Observation
from nsrecover.core.recovery import Recovery, RecoveryStatus
from nsrecover.core.scene import Box, FloatArray, SceneGraph

__all__ = [
    "Action",
    "Box",
    "Camera",
    "Cause",
    "Culprit",
    "Discrepancy",
    "Episode",
    "EpisodeStatus",
    "Explanation",
    "Fact",
    "FloatArray",
    "Observation",
    "Phase",
    "Plan",
    "Recovery",
    "RecoveryStatus",
    "SceneGraph",
    "Sentence",
    "StepRecord",
    "Trace",
]
