"""What the collections of all domains share: results of episodes, and episodes that survive a kill on disk."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from nsrecover.core import Observation, Plan
from nsrecover.records.archive import write_archive
from nsrecover.records.recording import Recording
from nsrecover.util.atomic_write import atomic_write_bytes
from sim.common.journal import Journal


@dataclass(frozen=True)
class EpisodeOutcome:
    """Result of an episode.

    Attributes:
        episode: its number.
        structure: the structure of its plan, or its task.
        transitions: recorded actions; 0 if the episode was dropped.
        reason: why the episode was dropped; empty if it was kept.
        detail: the action that failed and how, in words.
        objects: number of objects.
        operators: number of uses of each operator, if it was kept.
    """

    episode: int
    structure: str
    transitions: int
    reason: str = ""
    detail: str = ""
    objects: int = 0
    operators: dict[str, int] | None = None


def kept(
    outcome: EpisodeOutcome, plan: Plan, observations: Sequence[Observation], notes: Mapping[str, Any]
) -> tuple[EpisodeOutcome, Recording]:
    """The result of an episode that is kept, and its recording.

    Args:
        outcome: without the operators.
        plan: that was carried out.
        observations: the first one, and one after every action.
        notes: about the episode.
    """
    counts = Counter(action.operator for action in plan)
    recording = Recording(plan, tuple(observations), {"source": "sim.collect", **notes})
    return replace(outcome, operators=dict(sorted(counts.items()))), recording


def record_episode(
    perform: Callable[[int, Journal], tuple[EpisodeOutcome, Recording | None]], parts: str | Path, episode: int
) -> EpisodeOutcome:
    """Carry out one episode and record it, or continue it where a killed process stopped.

    Every observation is in the episode's journal before the next action begins. A kept episode becomes the file
    `parts/000123.h5`; its result becomes `parts/000123.json`.

    Args:
        perform: carries out an episode with a journal; returns its result, and the recording if it is kept.
        parts: folder for journals and finished episodes.
        episode: number of the episode.

    Returns:
        Its result.
    """
    parts = Path(parts)
    with Journal(parts / f"{episode:06d}") as journal:
        ended = parts / f"{episode:06d}.json"
        outcome = _read_outcome(ended)
        if outcome is None or not (outcome.reason or part_path(parts, episode).is_file()):
            outcome, recording = perform(episode, journal)
            if recording is not None:
                write_archive(part_path(parts, episode), {episode: recording})
            atomic_write_bytes(ended, json.dumps(asdict(outcome), sort_keys=True).encode())
        journal.clear()
    return outcome


def part_path(parts: Path, episode: int) -> Path:
    """File of a finished episode until all episodes are merged into one file."""
    return parts / f"{episode:06d}.h5"


def _read_outcome(path: Path) -> EpisodeOutcome | None:
    try:
        return EpisodeOutcome(**json.loads(path.read_bytes()))
    except (FileNotFoundError, ValueError, TypeError):
        return None
