"""What a recovery needed an object for, from the boxes of a log and without torch."""

from __future__ import annotations

from nsrecover.core.geometry import intersects
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneGraph
from nsrecover.domains.tabletop.relations import resting_on, support_name
from nsrecover.util.english import the


def needed_for(start: SceneGraph, recovery: Recovery, name: str) -> str:
    """Return what a recovery needed an object for, as a clause; empty if that is not known.

    Args:
        start: the observed scene.
        recovery: what was done from there.
        name: the object, which it moves.
    """
    goal = recovery.graphs[-1] if recovery.graphs else start
    needed = {each for each in goal.names if each not in recovery.staying}
    if name not in start.names or name not in goal.names:
        return ""
    i, j = start.index(name), goal.index(name)
    support = support_name(goal, j)
    here = support_name(start, i)
    if name in needed and _displaced(start, i, goal, j):
        if support == here:
            return f"{the(name)} itself was not in its place"
        return f"{the(name)} itself was on {the(here)}, and the plan needs it on {the(support)}"
    for other in sorted(needed - {name}):
        n, m = start.index(other), goal.index(other)
        if not _displaced(start, n, goal, m):
            continue
        if i in resting_on(start, n):
            return f"{the(name)} stood on {the(other)}, which had to be moved"
        if bool(intersects(goal.boxes[m], start.boxes[[i]])[0]):
            return f"{the(name)} stood where {the(other)} had to go"
    return ""


def _displaced(start: SceneGraph, i: int, goal: SceneGraph, j: int) -> bool:
    return float(abs(start.boxes[i, :3] - goal.boxes[j, :3]).max()) > 0.01
