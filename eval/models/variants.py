"""Variants of the monitor, judged on the same recorded episodes; runs in worker processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from eval.common.recordings import load_recording, record_episode
from eval.common.step_verdicts import ImaginationAccuracy, MonitorSetting, StepVerdict, judge_steps
from eval.common.systems import system_of
from sim.datasets.spec import ErrorEpisode


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


def assess(episode: ErrorEpisode, folder: str, variants: Mapping[str, Variant]) -> JudgedVariants:
    """Judge the steps of an episode with every variant; the episode is recorded first if necessary."""
    recorded = load_recording(episode, record_episode(episode, Path(folder)))
    return {
        name: judge_steps(recorded.through(variant.views), system_of(variant.checkpoint), variant)
        for name, variant in variants.items()
    }
