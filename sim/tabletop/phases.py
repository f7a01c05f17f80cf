"""The phases of a pick-and-place."""

from enum import StrEnum


class SkillPhase(StrEnum):
    """The phases of a pick-and-place, in order."""

    APPROACH = "approach"
    """From home to the object, fingers open."""
    GRASP = "grasp"
    """Closing the fingers."""
    LIFT = "lift"
    """Straight up to transit height."""
    TRANSPORT = "transport"
    """Sideways, at transit height."""
    LOWER = "lower"
    """Down to the place."""
    RELEASE = "release"
    """Opening the fingers."""
    RETREAT = "retreat"
    """Up and back home."""
