"""Settings of `python -m eval.during`, and what its domains share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eval.metrics import Metric, share, total
from eval.run import Settings
from sim.sensors.watched import Motion

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
    which it strikes, one without is a whole task, up to the first interruption. An action is good if nothing strikes
    during it and it succeeds unwatched.

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


@dataclass(frozen=True)
class Watched:
    """One episode of one arm.

    Attributes:
        arm: one of `ARMS`.
        kind: what went wrong, or none.
        episode: its number.
        noticed_s: from the strike to the interruption, or to the observation after the action; infinite: never; NaN:
            nothing struck.
        good: actions in which nothing struck.
        interrupted: those among them that were interrupted.
    """

    arm: str
    kind: str
    episode: int
    noticed_s: float
    good: int
    interrupted: int


def timing(motions: Sequence[Motion], spoilt: Sequence[bool] = ()) -> tuple[float, int, int]:
    """`noticed_s`, `good` and `interrupted` of the actions of an episode.

    Args:
        motions: the actions.
        spoilt: whether each of them fails if nobody watches it, so that it counts for nothing.
    """
    struck = [each for each in motions if math.isfinite(each.struck_s)]
    delays = [min(each.interrupted_s, each.ended_s) - each.struck_s for each in struck]
    own = [each for each, bad in zip(motions, spoilt or [False] * len(motions), strict=True) if not bad]
    interrupted = sum(each.interrupted_s < each.struck_s for each in own)
    good = interrupted + sum(math.isinf(each.struck_s) and math.isinf(each.interrupted_s) for each in own)
    return min(delays, default=math.nan), good, interrupted


def _median(rows: Sequence[Watched]) -> float | None:
    delays = [each.noticed_s for each in rows if not math.isnan(each.noticed_s)]
    return float(np.median(delays)) if delays else None


def delay_text(found: Mapping[str, Any]) -> str:
    """The median delay; empty if nothing struck."""
    return "" if found["median_delay_s"] is None else f"{found['median_delay_s']:.2f} s"


PROMPTNESS = (
    total("struck", "struck", lambda each: not math.isnan(each.noticed_s)),
    share("soon", f"noticed within {SOON_S:g} s", lambda each: each.noticed_s <= SOON_S,
          lambda each: not math.isnan(each.noticed_s), digits=2),
    Metric("median_delay_s", "median delay", _median, delay_text),
)  # fmt: skip
"""How many faults struck, the share of them that was noticed soon, and the median delay."""
GOOD_INTERRUPTED = share(
    "good_interrupted", "good actions interrupted",
    lambda each: [True] * each.interrupted + [False] * (each.good - each.interrupted), digits=2,
)  # fmt: skip
"""Share of the good actions that were interrupted."""
