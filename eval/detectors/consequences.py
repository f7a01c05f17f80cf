"""Consequences of unnoticed errors: the first later action that fails; computed once and stored."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from nsrecover.core.actions import Action
from nsrecover.util.atomic_write import atomic_write_bytes
from sim.datasets.spec import ErrorEpisode
from sim.tabletop.demonstrations import action_failure
from sim.tabletop.poses import PoseEstimates
from sim.tabletop.world import TabletopWorld


def failing_later(episode: ErrorEpisode, folder: Path) -> dict[int, int | None]:
    """Continue the plan after each error without a recovery.

    Args:
        episode: with its errors.
        folder: of the stored result.

    Returns:
        Step of an error -> the first later step whose action does not achieve its operator's effect; None if all do.
    """
    path = folder / f"{hashlib.sha256(f'blind {episode.to_json()}'.encode()).hexdigest()[:24]}.json"
    if path.is_file():
        found = json.loads(path.read_text(encoding="utf-8"))
    else:
        found = _carry_on(episode)
        atomic_write_bytes(path, json.dumps(found).encode())
    return {int(step): failing for step, failing in found.items()}


def _carry_on(episode: ErrorEpisode) -> dict[int, int | None]:
    errors = {error.step for error in episode.errors}
    found: dict[int, int | None] = {}
    if not errors:
        return found
    with TabletopWorld(episode.scene, plan=episode.plan, seed=episode.seed) as world:
        for step in range(max(errors) + 1):
            start = world.save()
            if step in errors:
                world.faults = episode.faults_at(step)
                world.execute(episode.plan[step])
                world.faults = ()
                found[step] = _first_failure(world, episode, step + 1)
            world.restore(start)
            world.release(start)
            world.execute(episode.plan[step])
    return found


def _first_failure(world: TabletopWorld, episode: ErrorEpisode, begin: int) -> int | None:
    for step in range(begin, len(episode.plan)):
        before = world.estimates()
        world.execute(episode.plan[step])
        if not _well_done(episode.plan[step], before, world.estimates()):
            return step
    return None


def _well_done(action: Action, before: PoseEstimates, after: PoseEstimates) -> bool:
    there = all(name in before and name in after for name in action.arguments)
    return there and action_failure(action, before, after) is None
