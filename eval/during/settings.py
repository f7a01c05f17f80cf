"""Settings of `python -m eval.during`, and what its domains share."""

from __future__ import annotations

from dataclasses import dataclass, field

from eval.common.runner import Settings

NONE = "none"
"""Kind of the episodes without a fault."""
ARMS = {"watched": "watched", "by_hand": "watched, limits set by hand", "after": "after the action"}
SOON_S = 0.5


@dataclass
class DuringConfig(Settings):
    """Let things go wrong while a robot moves, and compare watching with judging after the action.

      python -m eval.during                                  20 episodes of each kind on the tabletop
      python -m eval.during domain=household                 the same in the kitchen
      python -m eval.during seed=7 episodes=5 out=DIR        fewer, of another seed

    All arms carry out the same episodes with the same faults behind the same sensor. On the tabletop the first arm has
    the learned limits, the second limits that a person has set, the third neither. An episode ends with the action at
    which its fault strikes, and the recovery. The fingers stay slack after a drop and a slip, those of the closing
    kinds close. In the kitchen, an action is watched by its conditions; an episode with a fault is the action during
    which it strikes, one without is a whole task.

    Attributes:
        domain: tabletop or household.
        episodes: of each kind.
        kinds: faults that strike while the arm moves, and none; all of the domain if empty.
        arms: watched by the learned limits, by limits set by hand (by_hand, tabletop only), judged after the action
            only (after, only with faults); all of the domain if empty.
        sensor: of the cameras.
        rate_hz: frames a second.
        checkpoint: folder of a checkpoint; the shipped one if null.
    """

    domain: str = "tabletop"
    episodes: int = 20
    kinds: list[str] = field(default_factory=list)
    arms: list[str] = field(default_factory=list)
    sensor: str = "d435"
    rate_hz: float = 10.0
    checkpoint: str | None = None
    out: str = "outputs/during"
