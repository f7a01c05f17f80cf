"""Variants of the monitor, judged on the same recorded episodes; runs in worker processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from eval.common.recordings import load_recording, record_episode
from eval.common.step_verdicts import ImaginationAccuracy, MonitorSetting, StepVerdict, judge_steps
from eval.common.systems import system_of
from sim.datasets.spec import ErrorEpisode
from sim.sensors.sensor import EXACT, Sensor


@dataclass
class Variant(MonitorSetting):
    """One way to run the monitor; an entry of conf/variants.

    Attributes:
        checkpoint: folder; that of the command if None.
        views: names of the cameras.
        name: for the tables; the key of the variant if None.
    """

    checkpoint: str | None = None
    views: list[str] = field(default_factory=lambda: ["left", "right"])
    name: str | None = None


JudgedVariants = Mapping[str, tuple[Sequence[StepVerdict], Sequence[ImaginationAccuracy]]]
"""Name of a variant -> its verdicts on one episode, and how accurate its imagination is."""


def assess(
    episode: ErrorEpisode, folder: str, variants: Mapping[str, Variant], sensor: Sensor = EXACT
) -> JudgedVariants:
    """Judge the steps of an episode with every variant; the episode is recorded first if necessary.

    Args:
        episode: of an error dataset.
        folder: of the recordings.
        variants: by name.
        sensor: that the episode is seen through. A variant that does not see every object of the plan before the first
            action judges no step of it.
    """
    recorded = load_recording(episode, record_episode(episode, Path(folder)))
    judged = dict[str, tuple[Sequence[StepVerdict], Sequence[ImaginationAccuracy]]]()
    for name, variant in variants.items():
        seen = recorded.through(variant.views).sensed(sensor)
        begins = seen.exact is None or not seen.unseen
        judged[name] = judge_steps(seen, system_of(variant.checkpoint), variant) if begins else ((), ())
    return judged
