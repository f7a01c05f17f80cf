"""What perceivers report of an observation besides the scene."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nsrecover.core.discrepancy import Unseen
from nsrecover.core.sensing import SensorFinding


@dataclass(frozen=True)
class Reported:
    """What is known of an observation besides the scene that was made of it.

    Attributes:
        unseen: why objects are not visible.
        findings: what is wrong with cameras.
        unnamed: objects that the detector has not named.
        short_m: how much shorter than the objects boxes may be because all cameras look from one side, metres.
    """

    unseen: Mapping[str, Unseen] = field(default_factory=dict)
    findings: tuple[SensorFinding, ...] = ()
    unnamed: frozenset[str] = frozenset()
    short_m: float = 0.0


NOTHING_REPORTED = Reported()
